"""Where a result comes from: inputs, settings as passed and as resolved, seed, versions, counts, seconds."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kgqa.version import __version__

MANIFEST = "manifest.json"
PACKAGES = ("ladybug", "numba", "numpy", "polars", "pyarrow", "pydantic")


@cache
def versions() -> Mapping[str, str]:
    """kgqa's, Python's and every package's version that can influence a dataset; to look them up takes as long as to score a small set."""
    package_versions = {"kgqa": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            package_versions[package] = version(package)
        except PackageNotFoundError:
            package_versions[package] = "not installed"
    return package_versions


def run_record(*, options: dict[str, Any], resolved: dict[str, Any], inputs: dict[str, str]) -> dict[str, Any]:
    """Facts known before a run; counts and seconds are added at its end."""
    return {"passed": options, "settings": resolved, "inputs": inputs, "versions": versions()}


def write_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    """Put it into a folder, whose last file it is."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True)
    # A folder's name need not be UTF-8; what it has instead is written as an escape.
    (folder / MANIFEST).write_text(text + "\n", "utf-8", "backslashreplace")
