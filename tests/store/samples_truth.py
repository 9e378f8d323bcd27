"""What the queries of ``samples.cypher`` must answer, by brute force over the Parquet files of a dataset that is called ``d``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from kgqa.runs.workspace import Workspace

Rows = list[tuple[object, ...]]
Question = tuple[str, dict[str, str], Rows]
"""Name of a query, arguments as typed, and the rows that it must give."""
SPLITS = ("train", "dev", "test")
EVERY = 12
"""Of the samples with all their candidates one in so many is asked for; of the rest all."""
MANY = "100000"


class SamplesTruth:
    """All samples of a dataset, as the files hold them."""

    def __init__(self, folder: Path, workspace: Workspace) -> None:
        self.rows: list[dict[str, Any]] = []
        for split in SPLITS:
            for row in pq.read_table(folder / f"{split}.parquet").to_pylist():
                provenance = json.loads(row["provenance"])
                self.rows.append({**row, "split": split, "subject": provenance["head"]})
        entities, documents = workspace.read_table("entities").to_pylist(), workspace.read_table("documents").to_pylist()
        self.names: dict[str, str | None] = {row["id"]: row["label"] for row in entities}
        self.titles: dict[str, str | None] = {row["id"]: row["title"] for row in documents}

    def queries(self) -> set[str]:
        """The queries that are asked."""
        return {name for name, _, _ in self.questions()}

    def questions(self) -> Iterator[Question]:
        """About every subject and answer, and about every so-manyth sample."""
        for subject in sorted({row["subject"] for row in self.rows}):
            yield "samples_about", {"entity": subject, "limit": MANY}, self._about(subject)
        for answer in sorted({row["answer_id"] for row in self.rows}):
            yield "samples_answered_by", {"entity": answer, "limit": MANY}, self._answered_by(answer)
            yield "samples_answered_by", {"entity": answer, "limit": "2"}, self._answered_by(answer)[:2]
        most = max(Counter(row["subject"] for row in self.rows).items(), key=lambda pair: pair[1])[0]
        yield "samples_about", {"entity": most, "limit": "2"}, self._about(most)[:2]
        for dataset in ("", "d"):
            yield "sample_answer_counts", {"dataset": dataset, "limit": MANY}, self._answer_counts()
            yield "sample_answer_counts", {"dataset": dataset}, self._answer_counts()[:20]
        yield "sample_answer_counts", {"dataset": "another"}, []
        for minimum, maximum in (("0", "1"), ("0.2", "0.9"), ("0.9", "0.9"), ("0.95", "0.3")):
            yield (
                "samples_by_grade",
                {"minimum": minimum, "maximum": maximum, "limit": MANY},
                self._by_grade(float(minimum), float(maximum)),
            )
        yield "samples_by_grade", {"dataset": "d", "limit": "3"}, self._by_grade(0, 1)[:3]
        yield "samples_by_grade", {"dataset": "another"}, []
        for row in self.rows[::EVERY]:
            yield from self._sample(row)
        for name in ("samples_about", "samples_answered_by"):
            yield name, {"entity": "nobody"}, []
        for name in ("sample_chain", "sample_candidates", "sample_documents"):
            yield name, {"sample": "nothing"}, []

    def _about(self, subject: str) -> Rows:
        rows = [row for row in self.rows if row["subject"] == subject]
        return [(row["id"], "d", row["split"], row["question"], row["answers"][0]) for row in rows]

    def _answered_by(self, answer: str) -> Rows:
        return [(row["id"], "d", row["split"], row["question"]) for row in self.rows if row["answer_id"] == answer]

    def _answer_counts(self) -> Rows:
        counts = Counter(row["answer_id"] for row in self.rows)
        return [(name, self.names[name], n) for name, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]

    def _by_grade(self, minimum: float, maximum: float) -> Rows:
        found: Rows = []
        for row in self.rows:
            grades = dict(zip((candidate["id"] for candidate in row["candidates"]), _grades(row), strict=True))
            grade, *words = grades.pop(row["answer_id"])
            if grade is not None and minimum <= grade <= maximum:
                others = [other[0] for other in grades.values() if other[0] is not None]
                found.append((row["id"], "d", row["split"], row["question"], row["answers"][0], grade, *words, max(others, default=None)))
        # Of equal ones, that which comes first in the dataset.
        return sorted(found, key=lambda entry: -entry[5])  # type: ignore[operator]

    def _sample(self, row: dict[str, Any]) -> Iterator[Question]:
        sample = {"sample": row["id"]}
        chains = {candidate["id"]: found for candidate, found in zip(row["candidates"], row["chains"], strict=True)}
        answer = row["answer_id"]
        yield (
            "sample_candidates",
            sample,
            [("d", n, self.names[n], n == answer, len(chains[n]), *grade) for n, grade in zip(chains, _grades(row), strict=True)],
        )
        supporting = {document for chain in chains[answer] for document in chain[1::2]}
        documents = [paragraph["id"] for paragraph in row["paragraphs"]]
        yield "sample_documents", sample, [("d", name, self.titles[name], name in supporting) for name in documents]
        yield "sample_chain", sample, self._places(chains[answer])
        for candidate, found in chains.items():
            yield "sample_chain", {**sample, "candidate": candidate}, self._places(found)
        yield "sample_chain", {**sample, "candidate": "nobody"}, []

    def _places(self, chains: Iterable[list[str]]) -> Rows:
        rows: Rows = []
        for number, chain in enumerate(chains):
            for position, name in enumerate(chain):
                kind, names = ("Document", self.titles) if position % 2 else ("Entity", self.names)
                rows.append(("d", number, position, kind, name, names[name]))
        return rows


def _grades(row: dict[str, Any]) -> list[tuple[float | None, str | None, str | None]]:
    """For each candidate its grade, path and text; the grade as the shortest decimal number that a file rounds to what it holds."""
    grades = row.get("grades") or [None] * len(row["candidates"])
    return [
        (float(np.format_float_positional(np.float32(grade["confidence"]))), grade["path"], grade["text"]) if grade else (None, None, None)
        for grade in grades
    ]
