"""``kgqa export``: a finished dataset in the papers' own formats, under their own file names."""

from __future__ import annotations

import json
import os
from pathlib import Path

from kgqa.errors import MissingInput, SettingsError, StorageError, storage_errors, suggestion
from kgqa.formats import native, qangaroo

FORMATS = ("qangaroo",)


def export(dataset: str | Path, *, to: str, out: str | Path) -> list[Path]:
    """Write ``dataset`` (a folder of ours) in format ``to`` into the folder ``out``; return the files.

    For ``qangaroo``: ``train.json``, ``dev.json``, ``test.json`` and a ``.masked.json`` twin of each. Existing files are never replaced.
    Raises KgqaError; nothing is left behind where it does.
    """
    if to not in FORMATS:
        raise SettingsError(f"format {to!r} is not known; {suggestion(to, FORMATS)}")
    dataset, out = Path(dataset), Path(out)
    jobs = [(path, out / f"{split}.json") for split, path in native.split_files(dataset).items()]
    if (dataset / "masked").is_dir():
        jobs += [(path, out / f"{split}.masked.json") for split, path in native.split_files(dataset / "masked").items()]
    _require_whole(dataset)
    for _, target in jobs:
        if target.exists():
            raise StorageError(f"{target}: this file is already there; choose another --out, or remove it.")
    partial = [(source, target, target.with_name(f".{target.name}.{os.getpid()}.partial")) for source, target in jobs]
    with storage_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        renamed: list[Path] = []
        try:
            for source, _, temporary in partial:
                qangaroo.write(native.read(source), temporary)
            for _, target, temporary in partial:
                temporary.rename(target)
                renamed.append(target)
        except BaseException:
            for target in renamed:
                target.unlink(missing_ok=True)
            raise
        finally:
            for _, _, temporary in partial:
                temporary.unlink(missing_ok=True)
    return [target for _, target in jobs]


def _require_whole(dataset: Path) -> None:
    """Raise MissingInput where the manifest names a file that is not there."""
    try:
        files = list(json.loads((dataset / "manifest.json").read_text("utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    for name in files:
        if not (dataset / name).is_file():
            raise MissingInput(f"{dataset / name}: this part of the dataset is missing; make the dataset again.")
