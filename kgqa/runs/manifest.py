"""The manifest of a result: inputs, settings as passed and as resolved, seed, versions, counts, seconds."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kgqa.runs.files import file_hashes
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


def content_digest(files: Mapping[str, str]) -> str:
    """One hash of all files of a dataset except card and manifest: ``files`` maps name → SHA-256, in any order.

    >>> content_digest({"a": "1", "b": "2"}) == content_digest({"b": "2", "a": "1"})
    True
    """
    return hashlib.sha256("".join(f"{name} {files[name]}\n" for name in sorted(files)).encode()).hexdigest()


def write_card(folder: Path, card: Callable[[str], str]) -> dict[str, Any]:
    """Hash the data in ``folder`` and write the card, a function of the content hash. Returns ``content`` and ``files`` of the manifest."""
    files = file_hashes(folder)
    digest = content_digest(files)
    (folder / "README.md").write_text(card(digest), "utf-8", "backslashreplace")
    return {"content": digest, "files": file_hashes(folder, files)}


def write_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    """Write the manifest into ``folder``, as its last file: a folder with a manifest is complete."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True)
    # The name of a folder may contain bytes that are not UTF-8; they are escaped.
    (folder / MANIFEST).write_text(text + "\n", "utf-8", "backslashreplace")
