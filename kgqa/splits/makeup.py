"""Makeup of splits: which relations, last hops, shapes and answers they have, and with which shares."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from kgqa.formats.native import answer_chains, split_files

KINDS = {"relation": "relation", "last": "last hop", "shape": "shape", "answer": "answer"}
"""Trait of a question → its name in reports."""
COMPARED = ("relation", "last", "shape")
"""Traits that every split ought to have; answers differ on purpose."""
LARGE = 0.2
"""A value with this share of a split or more ..."""
ABSENT = 0.1
"""... is nearly absent from another split where its share is at most this part of it."""
EXPECTED = 5
"""A split is too small to tell unless this many questions with the value are expected in it."""


@dataclass(slots=True)
class Makeup:
    """The relations, last hops, shapes and answers of one split, with their counts."""

    questions: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in KINDS})
    """Key of ``KINDS`` → value → number of questions with it."""

    def share(self, kind: str, value: str) -> float:
        """Share of the questions that have the value; 0 in an empty split."""
        return self.counts[kind][value] / max(1, self.questions)

    def most(self, kind: str, count: int) -> list[tuple[str, int]]:
        """The ``count`` most frequent values with their numbers of questions; ties in alphabetical order."""
        return sorted(self.counts[kind].items(), key=lambda entry: (-entry[1], entry[0]))[:count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """A value that is frequent in one split and nearly absent from another."""

    kind: str
    value: str
    split: str
    """The split with the largest share."""
    share: float
    other_split: str
    """The split with the smallest share among those that are large enough to tell."""
    other_share: float

    def __str__(self) -> str:
        """The difference as one sentence for the console and the card."""
        return (
            f"{KINDS[self.kind].capitalize()} {self.value!r}: {100 * self.share:.0f}% of {self.split}, "
            f"{100 * self.other_share:.0f}% of {self.other_split}."
        )


def makeups(dataset: Path, labels: Mapping[str, str]) -> dict[str, Makeup]:
    """The makeup of each split of the dataset's folder. ``labels``: id of a relation → its label; others are shown by their id.

    Reads provenance, answers and chains only, not the texts.
    """
    return {split: _makeup(path, labels) for split, path in split_files(dataset).items()}


def skews(splits: Mapping[str, Makeup]) -> list[Skew]:
    """Each skewed value once, the largest share first."""
    sentences = []
    for kind in COMPARED:
        for value in sorted({value for makeup in splits.values() for value in makeup.counts[kind]}):
            split = max(splits, key=lambda name: splits[name].share(kind, value))
            share = splits[split].share(kind, value)
            other_splits = [name for name in splits if name != split and splits[name].questions * share >= EXPECTED]
            if share < LARGE or not other_splits:
                continue
            lowest_split = min(other_splits, key=lambda name: splits[name].share(kind, value))
            other_share = splits[lowest_split].share(kind, value)
            if other_share <= ABSENT * share:
                sentences.append(Skew(kind=kind, value=value, split=split, share=share, other_split=lowest_split, other_share=other_share))
    return sorted(sentences, key=lambda skew: -skew.share)


def _makeup(path: Path, labels: Mapping[str, str]) -> Makeup:
    makeup = Makeup()
    documents = _documents(path)
    with path.open("rb") as parquet_file, pq.ParquetFile(parquet_file) as file:
        for batch in file.iter_batches(columns=["id", "provenance", "answers"]):
            for row in batch.to_pylist():
                makeup.questions += 1
                # A question counts once for a value, however often it has it.
                for kind, value in {*_traits(json.loads(row["provenance"] or "{}"), labels)}:
                    makeup.counts[kind][value] += 1
                if (length := documents.get(row["id"])) is not None:
                    makeup.counts["shape"][f"{length} document{'s' * (length > 1)}"] += 1
                makeup.counts["answer"][row["answers"][0] if row["answers"] else "(none)"] += 1
    return makeup


def _documents(path: Path) -> dict[str, int]:
    """Question → number of documents on the shortest chain to its answer; only questions with chains."""
    rows = (
        answer_chains(path)
        .filter(pl.col("chains").list.len() > 0)
        # A chain alternates entities and documents and ends with an entity.
        .select("id", pl.col("chains").list.eval(pl.element().list.len()).list.min() // 2)
        .collect()
    )
    return dict(rows.iter_rows())


def _traits(notes: dict[str, Any], labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs of kind and value that the notes of a recipe give."""
    if isinstance(relation := notes.get("relation"), str):
        yield "relation", labels.get(relation, relation)
        last = relation.rpartition("/")[2]
        if last != relation:  # a path of relations
            name = last.removeprefix("^")
            yield "last", labels.get(last, labels.get(name, name))
    if composed := notes.get("compose"):
        hops = composed.get("relations") or []
        yield from (("relation", name) for hop in hops for name in hop)
        yield from (("last", name) for name in (hops[-1] if hops else ()))
        if composed.get("shape"):
            yield "shape", composed["shape"]
    for recipe in ("generate", "strategy"):
        if pattern := notes.get(recipe, {}).get("pattern"):
            yield "shape", pattern
