"""Why a question cannot be transformed."""

from __future__ import annotations

from dataclasses import dataclass

from kgqa.records import Instance

UNANSWERABLE = "the question has no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A question that cannot be transformed."""

    reason: str
    """A sentence, the same for all questions with this fault."""
    detail: str
    """What was found."""


def without_answer(instance: Instance) -> Rejection | None:
    """The rejection of a question without an answer, or with an empty one."""
    if instance.answerable and any(map(str.strip, instance.answers)):
        return None
    return Rejection(reason=UNANSWERABLE, detail="no answer" if instance.answerable else "marked as unanswerable")
