"""Why a question cannot be transformed."""

from __future__ import annotations

from dataclasses import dataclass

from kgqa.records import Instance, Step

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


def step_elsewhere(instance: Instance) -> Step | None:
    """The first step that names a paragraph which is not among those shown."""
    shown = {paragraph.id for paragraph in instance.paragraphs}
    return next((step for step in instance.decomposition or () if step.paragraph_id is not None and step.paragraph_id not in shown), None)
