"""Questions and samples pass gates; what each gate rejected is counted in the funnel and listed in a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import pyarrow as pa

from kgqa.recipes.qangaroo.gates import Gate
from kgqa.recipes.qangaroo.samples import BoolArray, Questions, Samples
from kgqa.runs.funnel import FunnelRow


class _Selectable(Protocol):
    def __len__(self) -> int: ...
    def select(self, kept: BoolArray) -> Self: ...


T = TypeVar("T", bound=_Selectable)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedQuestions:
    """What one gate took out of a batch of questions or samples, as columns."""

    gate: type[Gate]
    questions: Questions


def pass_gates(items: T, gates: Iterable[Gate]) -> tuple[T, list[RejectedQuestions]]:
    """Let ``items`` through the gates in order; what remains, and what each gate rejected. kept + rejected = input."""
    rejections = []
    for gate in gates:
        rejected = gate.rejected(items)  # type: ignore[attr-defined]
        questions = items.questions if isinstance(items, Samples) else items
        assert isinstance(questions, Questions)
        rejections.append(RejectedQuestions(gate=type(gate), questions=questions.select(rejected)))
        items = items.select(~rejected)
    return items, rejections


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
    """``id, split, head, relation, answer, gate`` of everything that was rejected."""
    parts = [r.questions.to_table().append_column("gate", pa.repeat(r.gate.__name__, len(r.questions))) for r in rejections]
    return pa.concat_tables(parts)
