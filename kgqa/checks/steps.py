"""Steps of a decomposition: their answers are in their paragraphs, and the last one answers the question."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.metrics.normalize import normalize
from kgqa.recipes.names.statements import names, paragraph_states
from kgqa.records import Instance, Step


class StepAnswers(ShareCheck):
    """Whether each step's answer is stated in the step's own paragraph, its title included.

    The last step may be answered by an alias of the question's answer.
    """

    name = "step-answers"
    family = "fault"
    title = "A step's answer is not in its paragraph"
    meaning = "The share of questions with a step whose answer is not stated in the paragraph that the step names."
    remedy = "Name another paragraph for the step, add the alias that the paragraph uses, or drop the question."
    nothing = "No question has steps with an answer and a paragraph."

    def outcomes(self, batch: Batch) -> Floats:
        """1 where a step's answer is missing."""
        return np.array([_share_with_fault(instance) for instance in batch.instances], np.float64)

    def describe(self, batch: Batch, number: int) -> str:
        """The first step whose paragraph lacks its answer, in words."""
        instance = batch.instances[number]
        step, _ = next(entry for entry in _located(instance) if not entry[1])
        return f"“{step.answer}” is not in {step.paragraph_id}, which answers “{step.question}”: {instance.question}"


class LastStep(ShareCheck):
    """Whether the last step's answer is the answer of the question, or an alias of it; case, articles and punctuation do not matter."""

    name = "last-step"
    family = "fault"
    title = "The last step does not give the answer"
    meaning = "The share of questions whose last step has an answer that is none of the question's."
    remedy = "Mend the decomposition or the answer."
    nothing = "No question has both an answer and a last step with one."

    def outcomes(self, batch: Batch) -> Floats:
        """1 where the two differ."""
        return np.array([_differs(instance) for instance in batch.instances], np.float64)

    def describe(self, batch: Batch, number: int) -> str:
        """The last step's answer and the question's answer."""
        instance = batch.instances[number]
        last_step = (instance.decomposition or ())[-1]
        return f"the last step gives “{last_step.answer}”, the answer is “{instance.answers[0]}”: {instance.question}"


def _located(instance: Instance) -> list[tuple[Step, bool]]:
    """Each step whose answer can be looked up, and whether its paragraph states it."""
    paragraphs = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    steps = instance.decomposition or ()
    result = []
    for step in steps:
        paragraph = paragraphs.get(step.paragraph_id or "")
        aliases = instance.answers if step is steps[-1] else ()
        answers = names([step.answer or "", *aliases])
        if paragraph is not None and step.answer and names([step.answer]):
            result.append((step, paragraph_states(paragraph, answers)))
    return result


def _share_with_fault(instance: Instance) -> float:
    # An unanswerable question lacks the paragraph of a step on purpose.
    steps = _located(instance) if instance.answerable else []
    return float(not all(is_stated for _, is_stated in steps)) if steps else np.nan


def _differs(instance: Instance) -> float:
    last_answer = instance.decomposition[-1].answer if instance.decomposition else None
    if not (instance.answerable and instance.answers and last_answer):
        return np.nan
    return float(normalize(last_answer) not in {normalize(answer) for answer in instance.answers})
