"""End2End: one network that predicts answer, support and sufficiency; and its context-only and single-hop variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from kgqa.readers.decompositions import single_hop
from kgqa.readers.neural import NeuralReader
from kgqa.readers.transformer.encoder import ENCODER, Encoder, saved_encoder
from kgqa.readers.transformer.examples import Targets
from kgqa.readers.transformer.reading import ReadingTask, Supervision, supervision_of
from kgqa.readers.transformer.resizing import encoder_of
from kgqa.readers.transformer.windows import Cutter
from kgqa.records import Instance
from kgqa.settings.reader import EncoderSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting
from kgqa.training.task import Task


class SpanReader(NeuralReader):
    """Reads windows and predicts spans."""

    settings: EncoderSettings

    def __init__(
        self, name: str, settings: EncoderSettings, training: TrainingSettings, *, targets: Targets, hides_question: bool = False
    ) -> None:
        """``hides_question`` makes it the context-only reader."""
        super().__init__(name, settings, training)
        self._targets, self._hides_question = targets, hides_question
        self._encoder: Encoder | None = None
        self._supervision: Supervision | None = None

    @property
    def connects(self) -> bool:
        """Whether it reads several paragraphs at once, and so can answer from two of which neither gives the answer alone."""
        assert self._encoder is not None, "fit or load comes first"
        return Cutter(self._encoder, self.settings, options=False, reads_apart=self._targets.reads_apart).packs

    def new_task(self, train: Questions) -> Task:
        """The task on the pretrained encoder."""
        self._encoder, self._supervision = encoder_of(self.settings), supervision_of(train)
        return self._make_task()

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task on an encoder of the saved configuration."""
        self._encoder, self._supervision = saved_encoder(folder / ENCODER), Supervision(**state["learned"])
        return self._make_task()

    def task_from(self, folder: Path, state: Mapping[str, Any], train: Questions) -> Task:
        """The task with the supervision of both sets; a head that either set trained stays in use."""
        old, new = asdict(Supervision(**state["learned"])), asdict(supervision_of(train))
        counts = {name: old[name] or new[name] for name in old}
        return self.saved_task(folder, {"learned": {**counts, "label_weights": new["label_weights"]}})

    def _make_task(self) -> Task:
        assert self._encoder is not None
        assert self._supervision is not None
        return ReadingTask(self._encoder, self.settings, self._supervision, self._targets)

    def state(self) -> Mapping[str, Any]:
        """The supervision of the training questions; the key ``learned`` is part of the file format."""
        assert self._supervision is not None
        return {"learned": asdict(self._supervision)}

    def save_beside(self, folder: Path) -> None:
        """Write the encoder's configuration and tokenizer."""
        assert self._encoder is not None
        self._encoder.save(folder / ENCODER)

    def view(self, questions: Questions) -> Questions:
        """The questions, without their text for the context-only reader."""
        return questions.shown(without_question, "without question") if self._hides_question else questions


class SingleHopReader(SpanReader):
    """End2End trained on the steps of decompositions (section 7.2.1); it predicts questions as they are."""

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Train on the steps; a question without a decomposition is used as it is."""
        super().fit(single_hop(train), None if dev is None else single_hop(dev), fitting)


def without_question(instance: Instance) -> Instance:
    """Context only (Trivedi et al. 2022, section 7.2.2): the paragraphs with an empty question."""
    return replace(instance, question="")


end_to_end = partial(SpanReader, targets=Targets())
"""EE (Trivedi et al. 2022, section 7.2.1)."""
context_only = partial(SpanReader, targets=Targets(), hides_question=True)
"""C-only (section 7.2.2): EE without the question."""
single_hop_reader = partial(SingleHopReader, targets=Targets())
"""A single-hop reader on any encoder."""
