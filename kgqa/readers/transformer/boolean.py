"""The boolean reader: yes or no, from the question or its steps, with or without paragraphs (Geva et al. 2021, section 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from kgqa.errors import MissingInput
from kgqa.progress import Progress
from kgqa.readers.decompositions import filled_question
from kgqa.readers.transformer.numeric.boolean import BooleanHead
from kgqa.readers.transformer.numeric.reader import TypedReader
from kgqa.readers.transformer.numeric.task import TypedTask
from kgqa.records import Instance
from kgqa.settings.reader import BooleanSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction

ABSENT = "the set does not decompose the question"


class BooleanTask(TypedTask):
    """Learns from the questions that have the input."""

    _settings: BooleanSettings

    def fault(self, instance: Instance) -> str | None:
        """Whether the decomposition that is read is missing."""
        return ABSENT if self._settings.input != "question" and not instance.decomposition else None


class BooleanReader(TypedReader):
    """A reader with one head."""

    settings: BooleanSettings
    task_type = BooleanTask

    def view(self, questions: Questions) -> Questions:
        """What the settings say of each question."""
        return questions.shown(self._visible_part, f"input {self.settings.input}, context {self.settings.context}")

    def _visible_part(self, instance: Instance) -> Instance:
        paragraphs = instance.paragraphs if self.settings.context else ()
        return replace(instance, question=_text(instance, self.settings.input), paragraphs=paragraphs, candidates=None)

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """A prediction for each question. Raises MissingInput if it reads decompositions, and a question has none."""
        if self.settings.input != "question":
            for instance in questions:
                if not instance.decomposition:
                    raise MissingInput(
                        f"question {instance.id} has no decomposition, which this reader was trained on; give a set with decompositions, "
                        'or train it with input = "question".'
                    )
        return super().predict(questions, progress)


def _text(instance: Instance, kind: str) -> str:
    steps = instance.decomposition
    if kind == "question" or not steps:
        return instance.question
    if kind == "decomposition":
        return " ".join([instance.question, *(step.question for step in steps)])
    answers = {step.id: step.answer for step in steps[:-1] if step.answer is not None}
    return filled_question(len(steps) - 1, steps, answers)


boolean = partial(BooleanReader, heads=(BooleanHead.name,))
"""The boolean reader."""
