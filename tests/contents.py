"""What folders hold, for comparing them byte by byte."""

from __future__ import annotations

import json
from pathlib import Path

from kgqa.runs.files import file_hash


def files(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder`` with its bytes; empty where there is no such folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def dataset(folder: Path, *, but: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Every file of a dataset; of the manifest all but the seconds and those of the passed arguments that are named in ``but``."""
    found = files(folder)
    manifest = json.loads(found["manifest.json"])
    assert set(manifest["seconds"]) >= {"read_sources", "write_dataset"}
    del manifest["seconds"]
    for name in but:
        del manifest["passed"][name]
    return {**found, "manifest.json": json.dumps(manifest, sort_keys=True).encode()}


def renew_manifest(folder: Path) -> None:
    """The manifest of a dataset names its files as they are now, so that what a test changed passes for made by kgqa."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["files"] = {name: file_hash(folder / name) for name in manifest["files"]}
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def leftovers(folder: Path) -> list[str]:
    """Temporary files."""
    return [path.as_posix() for path in folder.rglob("*partial*")]
