"""Writing the splits of a contrast, what was left out of them, and the training portion of an inoculated set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgqa.errors import EmptyResult
from kgqa.formats.columns import SCHEMA, table_of
from kgqa.formats.question_set import QuestionSet
from kgqa.formats.split_names import in_order
from kgqa.progress import Progress
from kgqa.recipes.contrasts.inoculation import choose_groups
from kgqa.recipes.contrasts.questions import REASONS
from kgqa.recipes.contrasts.transforms import Settings
from kgqa.records import Instance
from kgqa.runs.funnel import FunnelRow, Rejection

INSTANCES = 4096
"""So many are in memory before they are written; a question's own are written together."""
REJECTED = pa.schema([(name, pa.string()) for name in ("id", "split", "stage", "reason", "detail")])
BROKEN = "what was made of the question does not keep the transform's invariant"
PARQUET: dict[str, Any] = {"compression": "zstd", "compression_level": 1}


class Splits:
    """The splits of a contrast in a folder, and what was left out of them."""

    def __init__(self, source: QuestionSet, settings: Settings, folder: Path, progress: Progress) -> None:
        """None is written yet."""
        self._source, self._settings, self._folder, self._progress = source, settings, folder, progress
        self.counts: dict[str, int] = {}
        """Instances of each split."""
        self._groups: dict[str, set[str]] = {}
        self._reasons: Counter[str] = Counter()

    def group_counts(self) -> dict[str, int]:
        """Groups of each split."""
        return {split: len(groups) for split, groups in self._groups.items()}

    def transform(self) -> list[FunnelRow]:
        """Write every split and ``rejected.parquet``; EmptyResult where a split with questions comes out empty, or there are none."""
        read = 0
        with (self._folder / "rejected.parquet").open("wb") as file, pq.ParquetWriter(file, REJECTED, **PARQUET) as rejected:
            for split in self._source.files:
                read += self._transform_split(split, rejected)
        if not read:
            raise EmptyResult(f"{self._source.path}: the set holds no question; give one that does.")
        rows = [FunnelRow(stage="read", what="questions", reason="read", removed=None, left=read)]
        for reason, count in sorted(self._reasons.items(), key=lambda item: (-item[1], item[0])):
            read -= count
            setting = "max_facts" if reason == REASONS["many"] else ""
            rows.append(FunnelRow(stage="contrast", what="questions", reason=reason, removed=count, left=read, setting=setting))
        made = sum(self.counts.values())
        return [*rows, FunnelRow(stage="contrast", what="instances", reason="made of the questions left", removed=None, left=made)]

    def _transform_split(self, split: str, rejected: pq.ParquetWriter) -> int:
        """One split; how many questions it has."""
        self._progress.start(f"Transforming {split}", None, "questions")
        make, groups = self._settings.maker(lambda: self._source.read(split)), set[str]()
        reasons, count, read = Counter[str](), 0, 0
        with (self._folder / f"{split}.parquet").open("wb") as file, pq.ParquetWriter(file, SCHEMA, **PARQUET) as writer:
            waiting: list[Instance] = []
            refused: list[tuple[str, Rejection]] = []
            for instance in self._source.read(split):
                read += 1
                made = self._kept(instance, make(instance))
                self._progress.advance(1)
                if isinstance(made, Rejection):
                    refused.append((instance.id, made))
                    continue
                waiting += made
                groups.add(instance.group)
                if len(waiting) >= INSTANCES:
                    count += _write(writer, waiting)
            count += _write(writer, waiting)
        reasons.update(rejection.reason for _, rejection in refused)
        rejected.write_table(_rejected(refused, split))
        if read and not count:
            raise EmptyResult(self._empty(split, reasons))
        self._reasons += reasons
        self.counts[split], self._groups[split] = count, groups
        self._progress.finish(f"{count:,} instances of {read - len(refused):,} questions, {len(refused):,} left out")
        return read

    def _kept(self, instance: Instance, made: list[Instance] | Rejection) -> list[Instance] | Rejection:
        """What was made, or that it is not what the transform promises: nobody knows all that a source can hold."""
        broken = [] if isinstance(made, Rejection) else self._settings.broken(instance, made)
        return Rejection(reason=BROKEN, detail="; ".join(dict.fromkeys(broken))) if broken else made

    def _empty(self, split: str, reasons: Counter[str]) -> str:
        found = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(3))
        return f"{self._source.path}: no question of {split} can be transformed by {self._settings.kind}: {found}; give another set."

    def inoculate(self, percent: int) -> FunnelRow:
        """Make the train split a training portion of whole groups; what is taken from another split is gone there."""
        given = ["train"] if self.counts.get("train") else [split for split in self.counts if split != "train"]
        chosen = choose_groups((group for split in given for group in self._groups[split]), percent, seed=self._settings.seed)
        tables = {split: _table(self._folder / f"{split}.parquet") for split in given}
        masks = {split: pc.is_in(table["group"], pa.array(sorted(chosen))) for split, table in tables.items()}
        portion = pa.concat_tables([table.filter(masks[split]) for split, table in tables.items()])
        left = {split: table.filter(pc.invert(masks[split])) for split, table in tables.items() if split != "train"}
        before = sum(self.counts.values())
        for split, table in {"train": portion, **left}.items():
            if not table.num_rows and self.counts.get(split, 1):
                raise EmptyResult(f"{self._source.path}: {percent}% of the groups leave nothing in {split}; the set is too small for that.")
            with (self._folder / f"{split}.parquet").open("wb") as file:
                pq.write_table(table, file, **PARQUET)
            self.counts[split], self._groups[split] = table.num_rows, set(table["group"].to_pylist())
        self.counts = in_order(self.counts)
        removed = before - sum(self.counts.values())
        reason = f"training portion: {percent}% of the groups of {' and '.join(given)}"
        return FunnelRow(
            stage="inoculate", what="instances", reason=reason, removed=removed, left=sum(self.counts.values()), setting="inoculation"
        )


def _table(path: Path) -> pa.Table:
    """All of a file; opened first, since Arrow takes no name that is not UTF-8."""
    with path.open("rb") as file:
        return pq.read_table(file)


def _write(writer: pq.ParquetWriter, waiting: list[Instance]) -> int:
    """Write and forget them; how many they were."""
    count = len(waiting)
    if count:
        writer.write_table(table_of(waiting))
        waiting.clear()
    return count


def _rejected(refused: list[tuple[str, Rejection]], split: str) -> pa.Table:
    rows = [(id, split, "contrast", rejection.reason, rejection.detail) for id, rejection in refused]  # noqa: A001 - what the field is called
    columns = list(zip(*rows, strict=True)) or [()] * len(REJECTED)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=REJECTED)
