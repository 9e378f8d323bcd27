"""The manifest of a result: inputs, settings as passed and as resolved, seed, versions, counts, seconds."""

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
    """Versions of kgqa, Python and the packages that can influence a dataset; cached, because looking them up is slow."""
    package_versions = {"kgqa": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            package_versions[package] = version(package)
        except PackageNotFoundError:
            package_versions[package] = "not installed"
    return package_versions


def run_record(*, options: dict[str, Any], resolved: dict[str, Any], inputs: dict[str, str]) -> dict[str, Any]:
    """The part of a manifest that is known before the run; counts and seconds follow at its end."""
    return {"passed": options, "settings": resolved, "inputs": inputs, "versions": versions()}


def write_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    """Write the manifest into ``folder``, as its last file: a folder with a manifest is complete."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True)
    # The name of a folder may contain bytes that are not UTF-8; they are escaped.
    (folder / MANIFEST).write_text(text + "\n", "utf-8", "backslashreplace")
