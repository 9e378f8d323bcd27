"""Writing the splits of a contrast, the rejected questions, and the training portion of an inoculated set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgqa.arrays.parallel import Engine, Threads
from kgqa.errors import EmptyResult
from kgqa.formats.native import PARQUET, batched, write_split
from kgqa.formats.question_set import QuestionSet
from kgqa.formats.split_names import in_order
from kgqa.progress import Progress
from kgqa.recipes.contrasts.inoculation import choose_groups
from kgqa.recipes.contrasts.questions import REASONS
from kgqa.recipes.contrasts.transforms import Maker, Settings
from kgqa.records import Instance
from kgqa.runs.funnel import FunnelRow, Rejection, removals

BATCH = 64
"""Questions of a part: a question with six facts makes 63 instances."""
REJECTED = pa.schema([(name, pa.string()) for name in ("id", "split", "stage", "reason", "detail")])
BROKEN = "what was made of the question does not keep the transform's invariant"


class Splits:
    """Writes the splits of a contrast and their rejected questions into a folder."""

    def __init__(self, source: QuestionSet, settings: Settings, folder: Path, progress: Progress, engine: Engine | None = None) -> None:
        """Nothing is written before :meth:`transform`. The result does not depend on ``engine`` (by default this thread)."""
        self._engine = engine or Threads(1)
        self._source, self._settings, self._folder, self._progress = source, settings, folder, progress
        self.counts: dict[str, int] = {}
        """Instances of each split."""
        self._groups: dict[str, set[str]] = {}
        self._reasons: Counter[str] = Counter()

    def group_counts(self) -> dict[str, int]:
        """The number of groups in each split."""
        return {split: len(groups) for split, groups in self._groups.items()}

    def transform(self) -> list[FunnelRow]:
        """Write every split and ``rejected.parquet``. Raises EmptyResult for a set without questions, or a split without results."""
        questions = 0
        with (self._folder / "rejected.parquet").open("wb") as file, pq.ParquetWriter(file, REJECTED, **PARQUET) as rejections:
            for split in self._source.files:
                questions += self._transform_split(split, rejections)
        if not questions:
            raise EmptyResult(f"{self._source.path}: the set has no questions; choose one that has.")
        rows = [FunnelRow(stage="read", what="questions", reason="read", left=questions)]
        drops = dict(sorted(self._reasons.items(), key=lambda item: (-item[1], item[0])))
        rows += removals("contrast", "questions", drops, entering=questions, settings={REASONS["many"]: "max_facts"})
        instances = sum(self.counts.values())
        return [*rows, FunnelRow(stage="contrast", what="instances", reason="made of the questions left", left=instances)]

    def _transform_split(self, split: str, rejection_writer: pq.ParquetWriter) -> int:
        """Write one split; return the number of its questions."""
        self._progress.start(f"Transforming {split}", None, "questions")
        maker, groups = self._settings.maker(lambda: self._source.read(split)), set[str]()
        rejections: list[tuple[str, Rejection]] = []
        questions = 0

        def transformed() -> Iterator[Instance]:
            nonlocal questions
            parts = batched(self._source.read(split), BATCH)
            for results in self._engine.map(_transformed, parts, (self._settings, maker)):
                questions += len(results)
                self._progress.advance(len(results))
                for instance_id, group, result in results:
                    if isinstance(result, Rejection):
                        rejections.append((instance_id, result))
                        continue
                    groups.add(group)
                    yield from result

        count = write_split(transformed(), self._folder / f"{split}.parquet")
        reasons = Counter(rejection.reason for _, rejection in rejections)
        rejection_writer.write_table(_rejection_table(rejections, split))
        if questions and not count:
            raise EmptyResult(self._empty(split, reasons))
        self._reasons += reasons
        self.counts[split], self._groups[split] = count, groups
        self._progress.finish(f"{count:,} instances of {questions - len(rejections):,} questions, {len(rejections):,} left out")
        return questions

    def _empty(self, split: str, reasons: Counter[str]) -> str:
        top_reasons = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(3))
        return f"{self._source.path}: no question of {split} can be transformed by {self._settings.kind}: {top_reasons}; give another set."

    def inoculate(self, percent: int) -> FunnelRow:
        """Reduce the train split to a training portion of whole groups; without a train split, move groups from the other splits."""
        splits = ["train"] if self.counts.get("train") else [split for split in self.counts if split != "train"]
        groups = choose_groups((group for split in splits for group in self._groups[split]), percent, seed=self._settings.seed)
        tables = {split: _table(self._folder / f"{split}.parquet") for split in splits}
        masks = {split: pc.is_in(table["group"], pa.array(sorted(groups))) for split, table in tables.items()}
        portion = pa.concat_tables([table.filter(masks[split]) for split, table in tables.items()])
        remainder = {split: table.filter(pc.invert(masks[split])) for split, table in tables.items() if split != "train"}
        count_before = sum(self.counts.values())
        for split, table in {"train": portion, **remainder}.items():
            if not table.num_rows and self.counts.get(split, 1):
                raise EmptyResult(f"{self._source.path}: {percent}% of the groups leave nothing in {split}; the set is too small for that.")
            with (self._folder / f"{split}.parquet").open("wb") as file:
                pq.write_table(table, file, **PARQUET)
            self.counts[split], self._groups[split] = table.num_rows, set(table["group"].to_pylist())
        self.counts = in_order(self.counts)
        removed_count = count_before - sum(self.counts.values())
        reason = f"training portion: {percent}% of the groups of {' and '.join(splits)}"
        return FunnelRow(
            stage="inoculate", what="instances", reason=reason, removed=removed_count, left=sum(self.counts.values()), setting="inoculation"
        )


def _transformed(instances: list[Instance], settings: Settings, maker: Maker) -> list[tuple[str, str, list[Instance] | Rejection]]:
    """Id and group of each question, and what is made of it."""
    return [(instance.id, instance.group, _checked(instance, maker(instance), settings)) for instance in instances]


def _checked(instance: Instance, result: list[Instance] | Rejection, settings: Settings) -> list[Instance] | Rejection:
    """The instances, or a rejection if they break the transform's invariant, which an unusual source may cause."""
    faults = [] if isinstance(result, Rejection) else settings.faults(instance, result)
    return Rejection(reason=BROKEN, detail="; ".join(dict.fromkeys(faults))) if faults else result


def _table(path: Path) -> pa.Table:
    """The table in a file, opened first, since Arrow refuses names that are not UTF-8."""
    with path.open("rb") as file:
        return pq.read_table(file)


def _rejection_table(rejections: list[tuple[str, Rejection]], split: str) -> pa.Table:
    rows = [(name, split, "contrast", rejection.reason, rejection.detail) for name, rejection in rejections]
    columns = list(zip(*rows, strict=True)) or [()] * len(REJECTED)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=REJECTED)
