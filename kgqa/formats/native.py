"""kgqa's own format: Parquet with one Instance per row and one file per split."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, DuplicateId, MissingInput, storage_errors
from kgqa.formats.columns import OPTIONAL, SCHEMA, table_of
from kgqa.formats.json.validate import Ids
from kgqa.formats.native_faults import first_fault, same_kind
from kgqa.records import SPLITS, Candidate, Grade, Instance, Mention, Paragraph, Step
from kgqa.runs.files import known_hash, write_parquet
from kgqa.settings.small_files import read_small

MASKED = "masked"
"""Folder of the masked twin, inside that of the dataset."""
BATCH_ROWS = 2048
PARQUET: dict[str, Any] = {"compression": "zstd", "compression_level": 1}
PURPOSE = "kgqa's own Parquet with one Instance per row, which holds all of it"


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write ``instances`` to one Parquet file."""
    write_parquet(table_of(list(instances)), path)


def read(path: Path, *, batch: int = 256) -> Iterator[Instance]:
    """The Instances of one file, in order. Memory: ``batch`` rows and all ids.

    OPTIONAL columns may be missing. Raises MissingInput for a missing file or column, BrokenInput for a file that is not Parquet or a row
    that is not an Instance, DuplicateId for two questions of the file or two paragraphs of a question with the same id.
    """
    ids = Ids()
    first_row = 1
    with _open_parquet(path) as file:
        for rows in file.iter_batches(batch_size=batch, columns=SCHEMA.names):
            for number, row_instance in enumerate(_instances(rows, path, first_row), start=first_row):
                ids.add(row_instance.id, f"{path.name}, row {number}")
                yield row_instance
            first_row += rows.num_rows
        if first_row - 1 != file.metadata.num_rows:
            raise BrokenInput(f"{path}: the file ends before the last of its {file.metadata.num_rows:,} rows; generate the dataset again.")


def _instances(rows: pa.RecordBatch, path: Path, first_row: int) -> Iterator[Instance]:
    """The Instances in ``rows``; ``first_row`` is the number of the first row in the file. Raises BrokenInput at the first faulty row."""
    fault = first_fault(rows)
    for number, row in enumerate(rows.to_pylist() if fault is None else rows.slice(0, fault[0]).to_pylist(), start=first_row):
        result = instance(row)
        if len({paragraph.id for paragraph in result.paragraphs}) < len(result.paragraphs):
            raise DuplicateId(
                f"{path.name}, row {number}: two paragraphs of question {result.id} have the same id; generate the dataset again."
            )
        yield result
    if fault is not None:
        raise BrokenInput(f"{path.name}, row {first_row + fault[0]}, {fault[1]}; generate the dataset again.")


def read_fields(path: Path, *fields: str, batch: int = 1024) -> Iterator[dict[str, Any]]:
    """Some fields of each row, as ``paragraphs.list.element.id``; far faster than :func:`read` if texts are not needed.

    A missing OPTIONAL column is null. Raises as :func:`read` does.
    """
    with _open_parquet(path) as file:
        missing_columns = dict.fromkeys({field.split(".")[0] for field in fields}.difference(file.schema_arrow.names))
        for rows in file.iter_batches(batch_size=batch, columns=list(fields)):
            yield from ({**row, **missing_columns} for row in rows.to_pylist())


def read_columns(path: Path, *fields: str) -> pa.Table:
    """Some fields of all rows as columns, as ``paragraphs.list.element.id``, without missing OPTIONAL ones. Raises as :func:`read` does."""
    with _open_parquet(path) as file:
        return file.read(columns=list(fields))


def answer_chains(path: Path) -> pl.LazyFrame:
    """``id`` and ``chains`` (lists of lists of ids) of the answers of one file, a row per question that has candidates with chains.

    Reads neither texts nor provenance.
    """
    return (
        pl.scan_parquet(path, glob=False)
        .select("id", "answer_id", pl.col("candidates").list.eval(pl.element().struct.field("id")), "chains")
        .filter(pl.col("candidates").list.len() == pl.col("chains").list.len())
        .explode("candidates", "chains")
        .filter(pl.col("candidates") == pl.col("answer_id"))
        .select("id", "chains")
    )


def row_count(path: Path) -> int:
    """The number of Instances in a file. Raises as :func:`read` does."""
    with _open_parquet(path) as file:
        return int(file.metadata.num_rows)


def find(path: Path, name: str) -> Instance | None:
    """The Instance with the id ``name``, or None. Raises as :func:`read` does."""
    return next(take(path, (name,)), None)


def take(path: Path, ids: Collection[str]) -> Iterator[Instance]:
    """The Instances with these ``ids``, in the file's order; only their rows are read whole. Raises as :func:`read` does."""
    row_count = 0
    with _open_parquet(path) as file:
        for group in range(file.num_row_groups):
            group_ids = file.read_row_group(group, columns=["id"])["id"].to_pylist()
            places = [place for place, name in enumerate(group_ids) if name in ids]
            if places:
                rows = file.read_row_group(group, columns=SCHEMA.names)
                for place in places:
                    yield from _instances(rows.slice(place, 1).combine_chunks().to_batches()[0], path, row_count + place + 1)
            row_count += len(group_ids)


@contextmanager
def _open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    if not path.is_file():
        raise MissingInput(f"{path}: there is no such file; generate the dataset again.")
    check_intact(path)
    try:
        with storage_errors(path), path.open("rb") as file, pq.ParquetFile(file) as parquet:
            _check_columns(parquet.schema_arrow, path)
            yield parquet
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise BrokenInput(f"{path}: this is not a complete Parquet file; generate the dataset again.") from None


def _check_columns(schema: pa.Schema, path: Path) -> None:
    for field in SCHEMA:
        if field.name not in schema.names:
            if field.name in OPTIONAL:
                continue
            raise MissingInput(
                f"{path}: the column {field.name!r} is missing, so these are not Instances of kgqa; generate the dataset again."
            )
        if schema.names.count(field.name) > 1:
            raise BrokenInput(f"{path}: the column {field.name!r} occurs twice; generate the dataset again.")
        if not same_kind(schema.field(field.name).type, field.type):
            raise BrokenInput(f"{path}: the column {field.name!r} is of another type than an Instance's; generate the dataset again.")


def instance(row: dict[str, Any]) -> Instance:
    """The Instance in one row."""
    return Instance(
        **{
            **row,
            "paragraphs": tuple(_paragraph(entry) for entry in row["paragraphs"]),
            "answers": tuple(row["answers"]),
            "alternatives": _tuple_of(row.get("alternatives"), tuple),
            "candidates": _tuple_of(row["candidates"], lambda entry: Candidate(**entry)),
            "chains": _tuple_of(row["chains"], lambda chains: tuple(tuple(chain) for chain in chains)),
            "grades": _tuple_of(row.get("grades"), lambda entry: None if entry is None else Grade(**entry)),
            "decomposition": _tuple_of(row["decomposition"], lambda entry: Step(**{**entry, "depends_on": tuple(entry["depends_on"])})),
        }
    )


def _paragraph(row: dict[str, Any]) -> Paragraph:
    return Paragraph(
        **{
            **row,
            "mentions": _tuple_of(row["mentions"], lambda entry: Mention(**entry)),
            "sentences": _tuple_of(row["sentences"], int),
            "supporting_sentences": _tuple_of(row["supporting_sentences"], int),
        }
    )


def _tuple_of(values: list[Any] | None, make: Any) -> tuple[Any, ...] | None:
    return None if values is None else tuple(make(value) for value in values)


def split_files(dataset: Path) -> dict[str, Path]:
    """Split → file, of a dataset folder. Raises MissingInput for a folder without splits, or without one that its manifest names."""
    with storage_errors(dataset):
        files = {split: dataset / f"{split}.parquet" for split in SPLITS if (dataset / f"{split}.parquet").is_file()}
        problem = (
            "this folder holds no dataset"
            if dataset.is_dir()
            else "this is a file, and no dataset's folder"
            if dataset.exists()
            else "there is no such folder of a dataset"
        )
    if not files:
        raise MissingInput(
            f"{dataset}: {problem} (no train.parquet, dev.parquet or test.parquet); give one that kgqa generate made, or that kgqa convert "
            "--to native made of a set of another format."
        )
    counts = manifest_of(dataset).get("counts")
    missing_split = next((split for split in SPLITS if isinstance(counts, dict) and counts.get(split) and split not in files), None)
    if missing_split is not None:
        raise MissingInput(
            f"{dataset / missing_split}.parquet: this part of the dataset is missing, which its manifest names; get it again, or give "
            "another part."
        )
    return files


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of a dataset's folder; empty if there is none. Raises BrokenInput for one that is damaged, StorageError."""
    path = folder / "manifest.json"
    try:
        with storage_errors(path):
            manifest = json.loads(read_small(path)) if os.path.lexists(path) else {}
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        fault = "is damaged"
    elif not _are_hashes(manifest.get("files", {})):
        fault = "is damaged, since its 'files' are not names of files with their hashes"
    else:
        return manifest
    raise BrokenInput(f"{path}: this manifest {fault}; get or make the dataset again, or remove the file to read the data unchecked.")


def _are_hashes(files: object) -> bool:
    return isinstance(files, dict) and all(isinstance(digest, str) for digest in files.values())


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a dataset in this format, or one Parquet file of it."""
    files = [path] if path.suffix == ".parquet" else [path / f"{split}.parquet" for split in SPLITS]
    return any(_holds_instances(file) for file in files if file.is_file())


def _holds_instances(path: Path) -> bool:
    try:
        # An open file, since Arrow refuses names that are not UTF-8.
        with path.open("rb") as file:
            return set(SCHEMA.names) - OPTIONAL <= set(pq.read_schema(file).names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return False


def splits(path: Path) -> dict[str, Path]:
    """Split → file, of a dataset folder or of one Parquet file. Raises as :func:`split_files` does."""
    if not path.is_file():
        return split_files(path)
    return {path.stem if path.stem in SPLITS else "test": path}


def write_folder(splits: Mapping[str, Iterable[Instance]], folder: Path) -> None:
    """Write one file per split into the new ``folder``. Memory: a batch of rows."""
    folder.mkdir()
    for split, instances in splits.items():
        write_split(instances, folder / f"{split}.parquet")


def write_split(
    instances: Iterable[Instance], path: Path, schema: pa.Schema = SCHEMA, *, advance: Callable[[int], object] = lambda _: None
) -> int:
    """Write the Instances of one split; return their number. ``advance`` gets the size of each batch. Memory: a batch of rows."""
    count = 0
    with path.open("wb") as file, pq.ParquetWriter(file, schema, **PARQUET) as writer:
        for batch in batched(instances, BATCH_ROWS):
            writer.write_table(table_of(batch, schema))
            count += len(batch)
            advance(len(batch))
    return count


def batched(instances: Iterable[Instance], size: int) -> Iterator[list[Instance]]:
    """Lists of ``size`` Instances; the last one may be shorter."""
    iterator = iter(instances)
    while batch := list(islice(iterator, size)):
        yield batch


def check_intact(path: Path) -> None:
    """Raise BrokenInput if the manifest of its dataset names another hash for a file; a file that no manifest names is not checked.

    Parquet itself does not notice every flipped bit: rows would be missing or different without a word.
    """
    # A masked twin lies one level below the manifest.
    for folder in (path.parent, *([path.parent.parent] if path.parent.name == MASKED else [])):
        if digest := manifest_of(folder).get("files", {}).get(path.relative_to(folder).as_posix()):
            with storage_errors(path):
                if known_hash(path) != digest:
                    raise BrokenInput(
                        f"{path}: the file differs from its hash in manifest.json, so it was damaged or changed; get or make the dataset "
                        "again, or remove the manifest if you changed the file yourself."
                    )
            return


def check_whole(dataset: Path) -> None:
    """Raise MissingInput for a file that the manifest names and the folder lacks."""
    for name in manifest_of(dataset).get("files", {}):
        if not (dataset / name).is_file():
            raise MissingInput(f"{dataset / name}: this part of the dataset is missing; generate the dataset again.")
