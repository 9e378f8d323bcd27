"""kgqa's own format: Parquet, one Instance a row, one file a split."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, DuplicateId, MissingInput, storage_errors
from kgqa.formats.columns import OPTIONAL, SCHEMA, table_of
from kgqa.formats.json.validate import Ids
from kgqa.formats.native_faults import first_fault, same_kind
from kgqa.records import SPLITS, Candidate, Grade, Instance, Mention, Paragraph, Step
from kgqa.runs.files import write_parquet
from kgqa.settings.small_files import read_small

BATCH_ROWS = 2048
PURPOSE = "kgqa's own Parquet, one Instance a row, which holds all of it"


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write ``instances`` to one Parquet file."""
    write_parquet(table_of(list(instances)), path)


def read(path: Path, *, batch: int = 256) -> Iterator[Instance]:
    """The Instances of one file, in order, ``batch`` rows and all ids in memory at a time.

    A column that is OPTIONAL may be missing. Raises MissingInput where the file or another column is missing, BrokenInput where it is not
    Parquet or a row is no Instance, DuplicateId where two questions of the file, or two paragraphs of a question, have the same id.
    """
    ids = Ids()
    first = 1
    with _opened(path) as file:
        for rows in file.iter_batches(batch_size=batch, columns=SCHEMA.names):
            for number, found in enumerate(_sound(rows, path, first), start=first):
                ids.add(found.id, f"{path.name}, row {number}")
                yield found
            first += rows.num_rows
        if first - 1 != file.metadata.num_rows:
            raise BrokenInput(f"{path}: the file ends before the last of its {file.metadata.num_rows:,} rows; make the dataset again.")


def _sound(rows: pa.RecordBatch, path: Path, first: int) -> Iterator[Instance]:
    """The Instances in ``rows``, the first of which is the file's row number ``first``."""
    fault = first_fault(rows)
    for number, row in enumerate(rows.to_pylist() if fault is None else rows.slice(0, fault[0]).to_pylist(), start=first):
        found = instance(row)
        if len({paragraph.id for paragraph in found.paragraphs}) < len(found.paragraphs):
            raise DuplicateId(f"{path.name}, row {number}: two paragraphs of question {found.id} have the same id; make the dataset again.")
        yield found
    if fault is not None:
        raise BrokenInput(f"{path.name}, row {first + fault[0]}, {fault[1]}; make the dataset again.")


def read_fields(path: Path, *fields: str, batch: int = 1024) -> Iterator[dict[str, Any]]:
    """Some fields of each row, as ``paragraphs.list.element.id``; far faster than :func:`read` where texts are not needed.

    A column that is OPTIONAL and missing is null. Raises as :func:`read` does.
    """
    with _opened(path) as file:
        missing = dict.fromkeys({field.split(".")[0] for field in fields}.difference(file.schema_arrow.names))
        for rows in file.iter_batches(batch_size=batch, columns=list(fields)):
            yield from ({**row, **missing} for row in rows.to_pylist())


def read_columns(path: Path, *fields: str) -> pa.Table:
    """Some fields of all rows as columns, as ``paragraphs.list.element.id``; one that is OPTIONAL and missing is not there. Raises as
    :func:`read` does."""
    with _opened(path) as file:
        return file.read(columns=list(fields))


def find(path: Path, id: str) -> Instance | None:  # noqa: A002 - what the field is called
    """The Instance with this ``id``, or None. Raises as :func:`read` does."""
    return next(take(path, (id,)), None)


def take(path: Path, ids: Collection[str]) -> Iterator[Instance]:
    """The Instances with these ``ids``, in the file's order; of the other rows only the ids are read. Raises as :func:`read` does."""
    before = 0
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            found = file.read_row_group(group, columns=["id"])["id"].to_pylist()
            places = [place for place, each in enumerate(found) if each in ids]
            if places:
                rows = file.read_row_group(group, columns=SCHEMA.names)
                for place in places:
                    yield from _sound(rows.slice(place, 1).combine_chunks().to_batches()[0], path, before + place + 1)
            before += len(found)


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    if not path.is_file():
        raise MissingInput(f"{path}: there is no such file; make the dataset again.")
    try:
        with storage_errors(path), path.open("rb") as opened, pq.ParquetFile(opened) as file:
            _check_columns(file.schema_arrow, path)
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise BrokenInput(f"{path}: this is not a whole Parquet file; make the dataset again.") from None


def _check_columns(found: pa.Schema, path: Path) -> None:
    for field in SCHEMA:
        if field.name not in found.names:
            if field.name in OPTIONAL:
                continue
            raise MissingInput(f"{path}: the column {field.name!r} is missing, so these are not Instances of kgqa.")
        if found.names.count(field.name) > 1:
            raise BrokenInput(f"{path}: the column {field.name!r} is there twice; make the dataset again.")
        if not same_kind(found.field(field.name).type, field.type):
            raise BrokenInput(f"{path}: the column {field.name!r} is of another type than an Instance's; make the dataset again.")


def instance(row: dict[str, Any]) -> Instance:
    """The Instance in one row."""
    return Instance(
        **{
            **row,
            "paragraphs": tuple(_paragraph(entry) for entry in row["paragraphs"]),
            "answers": tuple(row["answers"]),
            "alternatives": _each(row.get("alternatives"), tuple),
            "candidates": _each(row["candidates"], lambda entry: Candidate(**entry)),
            "chains": _each(row["chains"], lambda chains: tuple(tuple(chain) for chain in chains)),
            "grades": _each(row.get("grades"), lambda entry: None if entry is None else Grade(**entry)),
            "decomposition": _each(row["decomposition"], lambda entry: Step(**{**entry, "depends_on": tuple(entry["depends_on"])})),
        }
    )


def _paragraph(row: dict[str, Any]) -> Paragraph:
    return Paragraph(
        **{
            **row,
            "mentions": _each(row["mentions"], lambda entry: Mention(**entry)),
            "sentences": _each(row["sentences"], int),
            "supporting_sentences": _each(row["supporting_sentences"], int),
        }
    )


def _each(values: list[Any] | None, make: Any) -> tuple[Any, ...] | None:
    return None if values is None else tuple(make(value) for value in values)


def split_files(dataset: Path) -> dict[str, Path]:
    """The split files of a dataset folder; raises MissingInput where it has none."""
    with storage_errors(dataset):
        files = {split: dataset / f"{split}.parquet" for split in SPLITS if (dataset / f"{split}.parquet").is_file()}
        what = "this is a file, and no dataset's folder" if dataset.is_file() else "this folder holds no dataset"
    if not files:
        raise MissingInput(
            f"{dataset}: {what} (no train.parquet, dev.parquet or test.parquet); give one that kgqa generate made, or that kgqa convert "
            "--to native made of a set of another format."
        )
    counts = manifest_of(dataset).get("counts")
    made = [split for split, count in counts.items() if count] if isinstance(counts, dict) else []
    gone = next((split for split in SPLITS if split not in files and split in made), None)
    if gone is not None:
        raise MissingInput(
            f"{dataset / gone}.parquet: this part of the dataset is missing, which its manifest names; get it again, or give another part."
        )
    return files


def manifest_of(folder: Path) -> dict[str, Any]:
    """What a dataset's folder says about how it was made; empty where it says nothing that can be read."""
    try:
        found = json.loads(read_small(folder / "manifest.json"))
    except (OSError, ValueError, RecursionError, BrokenInput):
        return {}
    return found if isinstance(found, dict) else {}


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a dataset of ours, or one Parquet file of it."""
    files = [path] if path.suffix == ".parquet" else [path / f"{split}.parquet" for split in SPLITS]
    return any(_holds_instances(file) for file in files if file.is_file())


def _holds_instances(path: Path) -> bool:
    try:
        # By an open file: Arrow takes no name that is not UTF-8.
        with path.open("rb") as file:
            return set(SCHEMA.names) - OPTIONAL <= set(pq.read_schema(file).names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return False


def splits(path: Path) -> dict[str, Path]:
    """Split → file, of a dataset folder or of one Parquet file; raises as :func:`split_files`."""
    if not path.is_file():
        return split_files(path)
    return {path.stem if path.stem in SPLITS else "test": path}


def write_folder(splits: Mapping[str, Iterable[Instance]], folder: Path) -> None:
    """One file a split in the new ``folder``, a batch of rows in memory at a time."""
    folder.mkdir()
    for split, instances in splits.items():
        with (
            (folder / f"{split}.parquet").open("wb") as file,
            pq.ParquetWriter(file, SCHEMA, compression="zstd", compression_level=1) as writer,
        ):
            for batch in batched(instances, BATCH_ROWS):
                writer.write_table(table_of(batch))


def batched(instances: Iterable[Instance], size: int) -> Iterator[list[Instance]]:
    """Lists of ``size`` Instances; the last may be shorter."""
    remaining = iter(instances)
    while batch := list(islice(remaining, size)):
        yield batch


def check_whole(dataset: Path) -> None:
    """Raise MissingInput where the manifest names a file that is not there."""
    files = manifest_of(dataset).get("files")
    for name in files if isinstance(files, dict) else ():
        if not (dataset / name).is_file():
            raise MissingInput(f"{dataset / name}: this part of the dataset is missing; make the dataset again.")
