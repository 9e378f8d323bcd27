"""Questions and samples pass gates; what each gate rejected is counted in the funnel and listed in a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.recipes.qangaroo.gates import Gate, SampleGate
from kgqa.recipes.qangaroo.samples import BoolArray, Questions, Samples
from kgqa.runs.funnel import FunnelRow


class _Selectable(Protocol):
    def __len__(self) -> int: ...
    def select(self, mask: BoolArray) -> Self: ...


T = TypeVar("T", bound=_Selectable)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedQuestions:
    """What one gate took out of a batch of questions or samples, as columns."""

    gate: type[Gate]
    questions: Questions
    value: npt.NDArray[np.float64]
    """What the gate compared of each; nan where it compared no number, or not that alone."""
    threshold: npt.NDArray[np.float64]
    """With what."""


def pass_gates(items: T, gates: Iterable[Gate]) -> tuple[T, list[RejectedQuestions]]:
    """Let ``items`` through the gates in order; what remains, and what each gate rejected. kept + rejected = input."""
    rejections = []
    for gate in gates:
        rejected = gate.rejected(items)  # type: ignore[attr-defined]
        questions = items.questions if isinstance(items, Samples) else items
        assert isinstance(questions, Questions)
        value, threshold = _measured(gate, items, rejected)
        rejections.append(RejectedQuestions(gate=type(gate), questions=questions.select(rejected), value=value, threshold=threshold))
        items = items.select(~rejected)
    return items, rejections


def _measured(gate: Gate, items: object, rejected: BoolArray) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What the gate compares of each of the ``rejected``, and with what; nan where there is nothing of the kind."""
    measure = gate.measured(items) if isinstance(gate, SampleGate) and isinstance(items, Samples) and rejected.any() else None
    missing = np.full(len(rejected), np.nan)
    value, threshold = (missing, missing) if measure is None else measure
    return value[rejected], np.where(np.isnan(value), np.nan, threshold)[rejected]


def gate_rows(stage: str, entering: int, rejections: list[RejectedQuestions]) -> list[FunnelRow]:
    """A funnel row for each gate, with what is left after it; a gate that is passed twice has one row."""
    removed: dict[type[Gate], int] = {}
    for rejection in rejections:
        removed[rejection.gate] = removed.get(rejection.gate, 0) + len(rejection.questions)
    rows = []
    for gate, count in removed.items():
        entering -= count
        rows.append(FunnelRow(stage=stage, what="questions", reason=gate.reason, removed=count, left=entering, setting=gate.setting))
    return rows


def empty_sentence(funnel: list[FunnelRow]) -> str:
    """What to say when nothing is left: what each rule removed, and what to change.

    That is what the last rule obeys, since whatever an earlier one lets through goes on to it, or the rule that removed most.
    """
    biting = [row for row in funnel if row.removed and row.what == "questions"]
    if not biting:
        return "no fact was asked."
    most_first = sorted(biting, key=lambda row: -(row.removed or 0))
    reasons = "; ".join(f"{row.removed:,} because {row.reason}" for row in most_first)
    change = " or ".join(dict.fromkeys((biting[-1].setting, most_first[0].setting)))
    return f"no sample is left: {reasons}. Change {change} first, or add documents and facts."


def rejected_table(rejections: list[RejectedQuestions]) -> pa.Table:
    """``id, split, head, relation, answer, gate, value, threshold`` of everything that was rejected; the last two may be null."""
    parts = []
    for r in rejections:
        columns = {"gate": pa.repeat(r.gate.__name__, len(r.questions))}
        columns |= {name: pa.array(getattr(r, name), pa.float64(), from_pandas=True) for name in ("value", "threshold")}
        table = r.questions.to_table()
        for name, column in columns.items():
            table = table.append_column(name, column)
        parts.append(table)
    return pa.concat_tables(parts)
