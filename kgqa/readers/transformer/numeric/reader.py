"""The numeric reader: one encoder, and a head for each type of answer (Dua et al. 2019; Ran et al. 2019; Ferguson et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgqa.errors import EmptyResult
from kgqa.readers.transformer.encoder import ENCODER, saved_encoder
from kgqa.readers.transformer.end_to_end import SpanReader
from kgqa.readers.transformer.examples import Targets
from kgqa.readers.transformer.numeric.examples import with_question
from kgqa.readers.transformer.numeric.heads import HEADS, OF_TYPE
from kgqa.readers.transformer.numeric.task import TypedSupervision, TypedTask
from kgqa.readers.transformer.reading import supervision_of
from kgqa.readers.transformer.resizing import encoder_of
from kgqa.settings.reader import EncoderSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.task import Task


class TypedReader(SpanReader):
    """Gives answers by the heads that the training questions train."""

    task_type: type[TypedTask] = TypedTask

    def __init__(self, name: str, settings: EncoderSettings, training: TrainingSettings, *, heads: Sequence[str] = tuple(HEADS)) -> None:
        """``heads``: names of those that it may have."""
        super().__init__(name, settings, training, targets=Targets())
        self._heads = heads

    def new_task(self, train: Questions) -> Task:
        """The task on the pretrained encoder. Raises EmptyResult if no question has an answer of a type that the heads give."""
        self._encoder, self._supervision = encoder_of(self.settings), self._supervision_of(train)
        return self._make_task()

    def _supervision_of(self, train: Questions) -> TypedSupervision:
        types = {instance.answer_type if instance.answerable else "none" for instance in train if not instance.hidden}
        heads = {head for answer_type in types for head in OF_TYPE[answer_type]}
        used_heads = tuple(head for head in HEADS if head in heads and head in self._heads)
        if not used_heads:
            raise EmptyResult(
                f"the reader {self.name} has no head for the answers of the train split ({', '.join(sorted(types)) or 'all are hidden'}); "
                "give another set, or another reader."
            )
        # Heads for yes and no, and for none, take the place of the words before each text and of the label of sufficiency.
        return TypedSupervision(**{**asdict(supervision_of(train)), "options": False, "sufficiency": False}, heads=used_heads)

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task on an encoder of the saved configuration."""
        learned_state = dict(state["learned"])
        self._encoder = saved_encoder(folder / ENCODER)
        self._supervision = TypedSupervision(**{**learned_state, "heads": tuple(name for name in HEADS if name in learned_state["heads"])})
        return self._make_task()

    def task_from(self, folder: Path, state: Mapping[str, Any], train: Questions) -> Task:
        """The task with the heads of the saved reader; a training question that none of them answers is a fault, which is counted."""
        return self.saved_task(folder, state)

    def _make_task(self) -> Task:
        assert self._encoder is not None
        assert isinstance(self._supervision, TypedSupervision)
        return self.task_type(self._encoder, self.settings, self._supervision, self._targets)

    def view(self, questions: Questions) -> Questions:
        """The questions as paragraphs of their own too."""
        return questions.shown(with_question, "with the question as a paragraph")
