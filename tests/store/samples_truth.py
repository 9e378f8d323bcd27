"""What the queries of ``samples.cypher`` must answer, by brute force over the Parquet files of a dataset that is called ``d``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
                told = {"subject": provenance["head"], "relation": provenance["relation"]}
                self.rows.append({**row, **told, "split": split, "number": len(self.rows), "hops": _hops(row)})
        self.rejected: list[dict[str, Any]] = pq.read_table(folder / "rejected.parquet").to_pylist()
        entities, documents = workspace.read_table("entities").to_pylist(), workspace.read_table("documents").to_pylist()
        self.names: dict[str, str | None] = {row["id"]: row["label"] for row in entities}
        self.titles: dict[str, str | None] = {row["id"]: row["title"] for row in documents}
        self.places = {row["id"]: number for table in (entities, documents) for number, row in enumerate(table)}

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
        yield from self._lists()
        yield from self._bridges()
        yield from self._rejected()
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
        return [(name, self.names[name], n) for name, n in self._most(counts)]

    def _most(self, counts: Mapping[str, int]) -> list[tuple[str, int]]:
        """The most frequent first; of equal ones that which comes first in its table."""
        return sorted(counts.items(), key=lambda pair: (-pair[1], self.places[pair[0]]))

    def _lists(self) -> Iterator[Question]:
        def shown(rows: Iterable[dict[str, Any]], *fields: str) -> Rows:
            return [(row["id"], "d", *(row[field] for field in fields), row["question"], row["answers"][0]) for row in rows]

        for relation in sorted({row["relation"] for row in self.rows}):
            of = [row for row in self.rows if row["relation"] == relation]
            yield "samples_of_relation", {"relation": relation, "limit": MANY}, shown(of, "split", "hops")
            narrow = [row for row in of if row["split"] == "dev" and row["hops"] == 2]
            yield (
                "samples_of_relation",
                {"relation": relation, "dataset": "d", "split": "dev", "hops": "2"},
                shown(narrow, "split", "hops")[:50],
            )
            yield "samples_of_relation", {"relation": relation, "dataset": "another"}, []
        splits = Counter(row["split"] for row in self.rows)
        yield "loaded_datasets", {}, [("d", split, n) for split, n in splits.items()]
        for split in SPLITS:
            of = [row for row in self.rows if row["split"] == split]
            yield "samples_of_split", {"split": split, "limit": MANY}, shown(of, "hops", "relation")
            yield "samples_of_split", {"split": split, "hops": "3"}, shown((row for row in of if row["hops"] == 3), "hops", "relation")[:50]
        for hops in (1, 2, 3):
            yield (
                "samples_of_length",
                {"hops": str(hops), "limit": MANY},
                shown((row for row in self.rows if row["hops"] == hops), "split", "relation"),
            )
        for document in sorted({paragraph["id"] for row in self.rows[::EVERY] for paragraph in row["paragraphs"]}):
            with_it = [row for row in self.rows if document in {paragraph["id"] for paragraph in row["paragraphs"]}]
            rows: Rows = [
                (row["id"], "d", row["split"], row["question"], row["answers"][0], document in _supporting(row)) for row in with_it
            ]
            yield "samples_with_document", {"document": document, "limit": MANY}, rows

    def _bridges(self) -> Iterator[Question]:
        for split in ("", "dev"):
            counts: Counter[str] = Counter()
            for row in self.rows:
                if split in {"", row["split"]}:
                    counts.update({place for chain in _chains_of(row)[row["answer_id"]] for place in chain[2:-1:2]})
            items: Rows = [(name, self.names[name], n) for name, n in self._most(counts)]
            yield "used_bridges", {"split": split, "limit": MANY}, items
            yield "used_bridges", {"split": split}, items[:20]
        over: dict[str, Rows] = {}
        for row in self.rows:
            for bridge in {place for chain in _chains_of(row)[row["answer_id"]] for place in chain[2:-1:2]}:
                over.setdefault(bridge, []).append((row["id"], "d", row["split"], row["question"], row["answers"][0]))
        for bridge in sorted(over):
            yield "samples_over", {"entity": bridge, "limit": MANY}, over[bridge]
        yield "samples_over", {"entity": max(over, key=lambda name: len(over[name])), "limit": "2"}, max(over.values(), key=len)[:2]
        yield "samples_over", {"entity": min(over), "dataset": "another"}, []
        for first, second in (("train", "test"), ("dev", "train")):
            one, two = (
                Counter(paragraph["id"] for row in self.rows if row["split"] == split for paragraph in row["paragraphs"])
                for split in (first, second)
            )
            both = self._most({name: one[name] + two[name] for name in one if name in two})
            rows: Rows = [(name, self.titles[name], one[name], two[name]) for name, _ in both]
            yield "documents_of_two_splits", {"split": first, "other": second, "limit": MANY}, rows

    def _rejected(self) -> Iterator[Question]:
        def shown(rows: Iterable[dict[str, Any]], *fields: str) -> Rows:
            return [(row["id"], "d", row["question"], self.names[row["answer"]], *(row[field] for field in fields)) for row in rows]

        stages = {row["reason"]: (row["stage"], row["setting"]) for row in self.rejected}
        counts = Counter(row["reason"] for row in self.rejected)
        rows: Rows = [("d", stages[reason][0], reason, stages[reason][1], n) for reason, n in counts.most_common()]
        yield "rejected_counts", {}, rows
        for part in ("states", "min_candidates", "no such filter", ""):
            blocked = [row for row in self.rejected if part in row["reason"] or part in row["setting"]]
            yield "rejected_by_filter", {"filter": part, "limit": MANY}, shown(blocked, "reason", "value", "threshold")
        for relation in sorted({row["relation"] for row in self.rejected}):
            of = [row for row in self.rejected if row["relation"] == relation]
            yield "rejected_of_relation", {"relation": relation, "limit": "20"}, shown(of, "stage", "reason", "detail")[:20]
        for entity in sorted({row["subject"] for row in self.rejected[:: 10 * EVERY]}):
            around = [row for row in self.rejected if entity in {row["subject"], row["answer"]}]
            yield "rejected_around", {"entity": entity, "limit": MANY}, shown(around, "stage", "reason", "value", "threshold")
        for setting, least in (
            ("min_candidates", 1.0),
            ("evidence.grade", 0.1),
            ("evidence.odds", 2.0),
            ("max_candidates", 1e6),
            ("", 0.1),
        ):
            back = [
                row
                for row in self.rejected
                if setting in row["setting"] and row["value"] is not None
                and (row["threshold"] > row["value"] >= least or row["threshold"] < row["value"] <= least)
            ]  # fmt: skip
            yield (
                "rejected_at_threshold",
                {"setting": setting, "threshold": str(least), "limit": MANY},
                shown(back, "reason", "value", "threshold"),
            )

    def _by_grade(self, minimum: float, maximum: float) -> Rows:
        items: Rows = []
        for row in self.rows:
            grades = dict(zip((candidate["id"] for candidate in row["candidates"]), _grades(row), strict=True))
            grade, *words = grades.pop(row["answer_id"])
            if grade is not None and minimum <= grade <= maximum:
                others = [other[0] for other in grades.values() if other[0] is not None]
                items.append((row["id"], "d", row["split"], row["question"], row["answers"][0], grade, *words, max(others, default=None)))
        # Of equal ones, that which comes first in the dataset.
        return sorted(items, key=lambda entry: -entry[5])  # type: ignore[operator]

    def _sample(self, row: dict[str, Any]) -> Iterator[Question]:
        sample = {"sample": row["id"]}
        chains, answer = _chains_of(row), row["answer_id"]
        yield (
            "sample_candidates",
            sample,
            [("d", n, self.names[n], n == answer, len(chains[n]), *grade) for n, grade in zip(chains, _grades(row), strict=True)],
        )
        supporting = _supporting(row)
        documents = [paragraph["id"] for paragraph in row["paragraphs"]]
        yield "sample_documents", sample, [("d", name, self.titles[name], name in supporting) for name in documents]
        yield "sample_chain", sample, self._places(chains[answer], is_answer=True)
        for candidate, found in chains.items():
            yield "sample_chain", {**sample, "candidate": candidate}, self._places(found, is_answer=candidate == answer)
        yield "sample_chain", {**sample, "candidate": "nobody"}, []

    def _places(self, chains: Iterable[list[str]], *, is_answer: bool) -> Rows:
        rows: Rows = []
        for number, chain in enumerate(chains):
            for position, name in enumerate(chain):
                kind, names = ("Document", self.titles) if position % 2 else ("Entity", self.names)
                last = "answer" if is_answer else "candidate"
                role = "document" if position % 2 else {0: "subject", len(chain) - 1: last}.get(position, "bridge")
                rows.append(("d", number, position, role, kind, name, names[name]))
        return rows


def _chains_of(row: dict[str, Any]) -> dict[str, list[list[str]]]:
    return {candidate["id"]: found for candidate, found in zip(row["candidates"], row["chains"], strict=True)}


def _hops(row: dict[str, Any]) -> int:
    return min(len(chain) // 2 for chain in _chains_of(row)[row["answer_id"]])


def _supporting(row: dict[str, Any]) -> set[str]:
    return {document for chain in _chains_of(row)[row["answer_id"]] for document in chain[1::2]}


def _grades(row: dict[str, Any]) -> list[tuple[float | None, str | None, str | None]]:
    """For each candidate its grade, path and text; the grade as the shortest decimal number that a file rounds to what it holds."""
    grades = row.get("grades") or [None] * len(row["candidates"])
    return [
        (float(np.format_float_positional(np.float32(grade["confidence"]))), grade["path"], grade["text"]) if grade else (None, None, None)
        for grade in grades
    ]
