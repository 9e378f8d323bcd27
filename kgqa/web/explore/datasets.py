"""The datasets of a workspace, their samples page by page, and one sample."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import UnknownId, storage_errors, suggestion
from kgqa.formats import native
from kgqa.records import SPLITS, Instance

PAGE = 30
"""Samples on one page of a list."""
COLUMNS = ("id", "question", "answers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One dataset of the workspace."""

    name: str
    path: Path
    counts: dict[str, int]
    """Split → number of samples."""
    masked: bool
    """Whether it has a masked twin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of a list of samples."""

    id: str
    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some lines of a split."""

    samples: tuple[Listed, ...]
    number: int
    """Number of the page, from 1."""
    pages: int
    total: int
    """Samples that match a search."""


def datasets(workspace: Path) -> list[Dataset]:
    """The datasets in ``workspace``, by name; none where it has none."""
    folder = workspace / "datasets"
    with storage_errors(folder):
        names = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
        entries = []
        for name in names:
            files = {split: folder / name / f"{split}.parquet" for split in SPLITS if (folder / name / f"{split}.parquet").is_file()}
            if files:
                counts = {split: native.row_count(path) for split, path in files.items()}
                has_masked = all((folder / name / "masked" / path.name).is_file() for path in files.values())
                entries.append(Dataset(name=name, path=folder / name, counts=counts, masked=has_masked))
        return entries


def dataset(workspace: Path, name: str) -> Dataset:
    """The dataset with this name, never a path; raises UnknownId."""
    by_name = {entry.name: entry for entry in datasets(workspace)}
    if name not in by_name:
        hint = suggestion(name, list(by_name)) if by_name else "kgqa generate makes one."
        raise UnknownId(f"{workspace}: there is no dataset {name!r}; {hint}")
    return by_name[name]


def samples(source: Dataset, split: str, *, text: str = "", page: int = 1) -> Page:
    """One page of a split; ``text`` keeps samples whose id, question or first answer contains it. Memory: three columns of the split."""
    table = native.read_columns(split_file(source, split), *COLUMNS)
    answers = pc.list_element(pc.if_else(pc.greater(pc.list_value_length(table["answers"]), 0), table["answers"], pa.scalar([""])), 0)
    rows = pa.table({"id": table["id"], "question": table["question"], "answer": answers})
    if text:
        matches = [pc.match_substring(rows[name], text, ignore_case=True) for name in rows.column_names]
        rows = rows.filter(pc.or_(pc.or_(matches[0], matches[1]), matches[2]))
    pages = max(1, -(-rows.num_rows // PAGE))
    number = min(max(1, page), pages)
    lines = rows.slice((number - 1) * PAGE, PAGE).to_pylist()
    return Page(samples=tuple(Listed(**line) for line in lines), number=number, pages=pages, total=rows.num_rows)


def sample(source: Dataset, split: str, id: str, *, masked: bool = False) -> Instance:  # noqa: A002 - what the field is called
    """One sample, or its masked twin; raises UnknownId."""
    path = split_file(source, split, masked=masked)
    instance = native.find(path, id)
    if instance is None:
        raise UnknownId(f"{source.name}, {split}: there is no sample {id!r}; look for it in the list.")
    return instance


def beside(source: Dataset, split: str, id: str) -> tuple[str, str]:  # noqa: A002
    """The ids of the samples before and after this one; empty at the ends."""
    ids = native.read_columns(split_file(source, split), "id")["id"]
    at = pc.index(ids, id).as_py()
    return (ids[at - 1].as_py() if at > 0 else ""), (ids[at + 1].as_py() if 0 <= at < len(ids) - 1 else "")


def head_of(instance: Instance) -> str:
    """The subject of the question, from the record's provenance or its chains; empty if it is in neither."""
    try:
        head = json.loads(instance.provenance or "{}").get("head", "")
    except (ValueError, AttributeError):
        head = ""
    firsts = [chain[0] for chains in instance.chains or () for chain in chains if chain]
    return str(head or (firsts[0] if firsts else ""))


def split_file(source: Dataset, split: str, *, masked: bool = False) -> Path:
    """The file of a split; raises UnknownId for one that the dataset lacks."""
    if split not in source.counts:
        raise UnknownId(f"{source.name}: there is no split {split!r}; {suggestion(split, list(source.counts))}")
    if masked and not source.masked:
        raise UnknownId(f"{source.name}: the dataset has no masked twin; open the sample itself.")
    return (source.path / "masked" if masked else source.path) / f"{split}.parquet"
