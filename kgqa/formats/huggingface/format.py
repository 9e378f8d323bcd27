"""Folders for ``datasets.load_dataset``: Parquet in ``data/`` with a README that names the splits; and sets on the Hugging Face hub.

Sets are written with the columns of the native format. The parser reads these columns, and the flat forms that common sets have on the hub
(``rows.py``). It reads a local folder with pyarrow alone, so that nothing is copied into a cache. Only
``hf://owner/name[@revision][#config]`` needs the ``datasets`` package and a connection; its rows are streamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.formats import native
from kgqa.formats.huggingface import hub
from kgqa.formats.huggingface.hub import HubAddress, Place
from kgqa.formats.huggingface.rows import instances, is_row
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids
from kgqa.formats.split_names import in_order, split_in
from kgqa.records import HUB_SPLITS, Instance
from kgqa.version import __version__

__all__ = ["PURPOSE", "files_of", "is_folder", "is_row", "read", "splits", "write_folder"]

PURPOSE = "Parquet as the datasets package and the Hugging Face hub have it"
BATCH_ROWS = 256
_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.parquet")


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a Parquet file, or a folder with Parquet files whose names contain a split."""
    if path.is_file():
        return path.suffix == ".parquet"
    return any(_split_of(file, path) for file in _files(path))


def splits(path: Path) -> dict[str, Path]:
    """Split → its file, or a glob pattern for its shards. Raises MissingInput for a missing shard."""
    if path.is_file():
        return {_split_of(path, path.parent) or "test": path}
    of_split: dict[str, list[Path]] = {}
    for file in _files(path):
        if split := _split_of(file, path):
            of_split.setdefault(split, []).append(file)
    if not of_split:
        raise MissingInput(f"{path}: no Parquet file here is named train, validation or test; give one of its files.")
    return {split: _pattern(path, split, files) for split, files in in_order(of_split).items()}


def _files(folder: Path) -> list[Path]:
    """The Parquet files in a folder and two levels below it, as the hub lays them out, without hidden folders."""
    files = [file for pattern in ("*.parquet", "*/*.parquet", "*/*/*.parquet") for file in folder.glob(pattern)]
    return sorted(file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts))


def _split_of(file: Path, folder: Path) -> str | None:
    """The split in the file's name, else in the name of its folder, else None."""
    return split_in(file.stem) or (split_in(file.parent.name) if file.parent != folder else None)


def _pattern(folder: Path, split: str, files: list[Path]) -> Path:
    """The one file of a split, or the glob pattern that exactly its shards match; InputError if they do not form one split."""
    parents = sorted({file.parent for file in files})
    if len(parents) > 1:
        choice = ", ".join(parent.relative_to(folder).as_posix() for parent in parents)
        raise BrokenInput(f"{folder}: its {split} split is in several folders ({choice}); give one of these.")
    shards = [_SHARD.fullmatch(file.name) for file in files]
    kinds = {(shard["stem"], shard["count"]) for shard in shards if shard}
    if len(kinds) == 1 and all(shards):
        ((stem, count),) = kinds
        numbers = {int(shard["number"]) for shard in shards if shard}
        absent = next((number for number in range(int(count)) if number not in numbers), None)
        if absent is not None:
            raise MissingInput(
                f"{parents[0] / stem}-{absent:05}-of-{count}.parquet: this part is missing; download it, or the whole set again."
            )
    if len(files) == 1:
        return files[0]
    if len(kinds) == 1 and all(shards):
        return parents[0] / f"{stem}-*-of-{count}.parquet"
    if all(file.stem.isdigit() for file in files):
        return parents[0] / "*.parquet"
    raise BrokenInput(f"{folder}: both {files[0].name} and {files[1].name} are its {split} split; give one of the files.")


def files_of(path: Path) -> list[Path]:
    """The one file of a split, or its shards in order."""
    return [path] if path.is_file() else sorted(path.parent.glob(path.name))


def read(path: Place) -> Iterator[Instance]:
    """The Instances of a split in order. Memory: a batch of rows and all ids. Raises InputError with file, row and field."""
    ids = Ids()
    is_empty = True
    for location, instance in instances(hub.rows(path)) if isinstance(path, HubAddress) else _from_files(path):
        is_empty = False
        ids.add(instance.id, location)
        yield instance
    if is_empty:
        raise BrokenInput(f"{path.name}: the split has no rows; choose one that has.")


def _from_files(path: Path) -> Iterator[tuple[str, Instance]]:
    files = files_of(path)
    if not files:
        raise MissingInput(f"{path}: there is no such file; correct the path.")
    for file in files:
        if native.is_folder(file):
            yield from ((f"{file.name}, row {number}", instance) for number, instance in enumerate(native.read(file), start=1))
        elif file.suffix == ".parquet":
            yield from instances(_rows(file))
        else:
            yield from instances(stream.values(file))


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with _open_parquet(file) as parquet:
        names = parquet.schema_arrow.names
        if len(set(names)) < len(names):
            raise BrokenInput(f"{file.name}: two columns have the same name; rename one of them.")
        number = 0
        for batch in parquet.iter_batches(batch_size=BATCH_ROWS):
            for row in batch.to_pylist():
                number += 1
                yield f"{file.name}, row {number}", row


@contextmanager
def _open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        with storage_errors(path), path.open("rb") as file, pq.ParquetFile(file) as parquet:
            yield parquet
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise BrokenInput(f"{path.name}: this is not a complete Parquet file; download it again.") from None


def write_folder(splits: Mapping[str, Iterable[Instance]], folder: Path) -> None:
    """Write ``data/<split>-00000-of-00001.parquet``, and the README that ``datasets`` needs. Memory: a batch of rows."""
    folder.mkdir()
    native.write_folder(splits, folder / "data")
    for split in splits:
        (folder / "data" / f"{split}.parquet").rename(folder / "data" / f"{HUB_SPLITS[split]}-00000-of-00001.parquet")
    files = "".join(f"  - split: {HUB_SPLITS[split]}\n    path: data/{HUB_SPLITS[split]}-*.parquet\n" for split in splits)
    head = f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n"
    (folder / "README.md").write_text(f"{head}\n# Questions in the normal form of kgqa\n\nWritten by kgqa {__version__}.\n", "utf-8")
