"""Applies gates and filters, counts the items that each rejects in the funnel, and lists rejected questions in a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.recipes.qangaroo.gates import Gate, SampleGate
from kgqa.recipes.qangaroo.samples import BoolArray, Questions, Samples
from kgqa.runs.funnel import FunnelRow, removals


class _Selectable(Protocol):
    def __len__(self) -> int: ...
    def select(self, mask: BoolArray) -> Self: ...


T = TypeVar("T", bound=_Selectable)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedQuestions:
    """The questions that one gate rejected, as columns."""

    gate: type[Gate]
    questions: Questions
    value: npt.NDArray[np.float64]
    """The number that the gate compared for each question; nan if it compared none, or not only that."""
    threshold: npt.NDArray[np.float64]
    """The number that it was compared with; nan like ``value``."""


@dataclass(slots=True)
class FilteredChains:
    """Chains of queries as rows of a frame, and a funnel row for each filter that was applied to them.

    >>> chains = FilteredChains("paths", pl.DataFrame({"answer": [3, 4]}))
    >>> chains.keep(chains["answer"] > 3, "the answer is too small", "qangaroo.paths")
    >>> len(chains.frame), chains.rows[0].removed, chains.rows[0].left
    (1, 1, 1)
    """

    what: str
    """The kind of item in the funnel."""
    frame: pl.DataFrame
    rows: list[FunnelRow] = field(default_factory=list)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        """A column as an array."""
        return self.frame[column].to_numpy()

    def keep(self, mask: BoolArray, reason: str, setting: str) -> None:
        """Keep the chains with a true entry in ``mask``, and count the others."""
        remaining = int(mask.sum())
        self.rows.append(traverse_row(self.what, reason, setting, removed=len(mask) - remaining, left=remaining))
        self.frame = self.frame.filter(pl.Series(mask, dtype=pl.Boolean))


def traverse_row(what: str, reason: str, setting: str = "", *, removed: int | None = None, left: int | None = None) -> FunnelRow:
    """A funnel row of the stage ``traverse``; a remark if neither ``removed`` nor ``left`` is given."""
    return FunnelRow(stage="traverse", what=what, reason=reason, removed=removed, left=left, setting=setting)


def pass_gates(items: T, gates: Iterable[Gate]) -> tuple[T, list[RejectedQuestions]]:
    """Apply the gates in order; return the items that pass all of them, and those that each gate rejects. kept + rejected = input."""
    rejections = []
    for gate in gates:
        rejected_mask = gate.rejected(items)  # type: ignore[attr-defined]
        questions = items.questions if isinstance(items, Samples) else items
        assert isinstance(questions, Questions)
        value, threshold = _measures(gate, items, rejected_mask)
        rejections.append(RejectedQuestions(gate=type(gate), questions=questions.select(rejected_mask), value=value, threshold=threshold))
        items = items.select(~rejected_mask)
    return items, rejections


def _measures(gate: Gate, items: object, is_rejected: BoolArray) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The number that the gate compares for each rejected item, and the threshold; nan if there is none."""
    measure = gate.measured(items) if isinstance(gate, SampleGate) and isinstance(items, Samples) and is_rejected.any() else None
    no_values = np.full(len(is_rejected), np.nan)
    value, threshold = (no_values, no_values) if measure is None else measure
    return value[is_rejected], np.where(np.isnan(value), np.nan, threshold)[is_rejected]


def gate_rows(stage: str, sample_count: int, rejections: list[RejectedQuestions]) -> list[FunnelRow]:
    """A funnel row for each gate; a gate that was applied twice has one row. ``sample_count``: number of items before the first gate."""
    drops = Counter[str]()
    for rejection in rejections:
        drops[rejection.gate.reason] += len(rejection.questions)
    settings = {rejection.gate.reason: rejection.gate.setting for rejection in rejections}
    return removals(stage, "questions", drops, entering=sample_count, settings=settings)


def empty_sentence(
    funnel: Iterable[FunnelRow], *, what: Collection[str] = ("questions",), nothing: str = "no question was generated from the facts."
) -> str:
    """The message if no sample is left: how many items of the kinds ``what`` each rule removed, and the settings to change first.

    These are the settings of the last rule, because it would also reject what an earlier rule lets through, and of the rule that removed
    most. ``nothing`` is the message if no rule removed anything.
    """
    rows_removing = [row for row in funnel if row.removed and row.what in what]
    if not rows_removing:
        return nothing
    most_first = sorted(rows_removing, key=lambda row: -(row.removed or 0))
    reasons = "; ".join(f"{row.removed:,} because {row.reason}" for row in most_first)
    change = " or ".join(dict.fromkeys((rows_removing[-1].setting, most_first[0].setting)))
    return f"no sample is left: {reasons}. Change {change} first, or add documents and facts."


def rejected_table(rejections: list[RejectedQuestions]) -> pa.Table:
    """All rejected questions: ``id, split, head, relation, answer, gate, value, threshold``; the last two may be null."""
    parts = []
    for r in rejections:
        columns = {"gate": pa.repeat(r.gate.__name__, len(r.questions))}
        columns |= {name: pa.array(getattr(r, name), pa.float64(), from_pandas=True) for name in ("value", "threshold")}
        table = r.questions.to_table()
        for name, column in columns.items():
            table = table.append_column(name, column)
        parts.append(table)
    return pa.concat_tables(parts)
