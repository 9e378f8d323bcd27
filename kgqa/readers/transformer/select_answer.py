"""Select+Answer: a selector ranks the paragraphs, and an answerer reads only the highest-ranked ones.

These are Quark and SAE as MuSiQue uses them (Trivedi et al. 2022, section 7.2.1). With a single paragraph, and a selector trained on which
paragraphs state the answer, it is 1-Para (section 7.2.2), which cannot connect two paragraphs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from kgqa.errors import storage_errors
from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.readers.transformer.end_to_end import SpanReader
from kgqa.readers.transformer.examples import Targets
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import EncoderSettings, SelectSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.intermediate import kept
from kgqa.training.loop import FitResult
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction

SELECTOR, ANSWERER = "selector", "answerer"


class SelectAnswer:
    """Two networks that are fitted separately."""

    def __init__(self, name: str, settings: SelectSettings, training: TrainingSettings, *, support: str) -> None:
        """``support``: the positive paragraphs of the selector; see ``Targets``."""
        self.name, self.settings = name, settings
        self._selector = SpanReader(f"{name}-{SELECTOR}", settings, training, targets=Targets(answer=False, support=support))
        self._answerer = SpanReader(f"{name}-{ANSWERER}", settings, training, targets=Targets())

    @property
    def fitted(self) -> FitResult | None:
        """The result of the answerer's fit, with the steps of both networks."""
        first, second = self._selector.fitted, self._answerer.fitted
        if first is None or second is None:
            return None
        return FitResult(
            steps=first.steps + second.steps, questions=second.questions, faults=second.faults, best=second.best, best_step=second.best_step
        )  # fmt: skip

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Fit the selector, then the answerer on the selected paragraphs."""
        self._selector.fit(train, dev, fitting.part(SELECTOR))
        train_part = self._with_selection(train, fitting.progress, fitting.place / "train.json")
        dev_part = None if dev is None else self._with_selection(dev, fitting.progress, fitting.place / "dev.json")
        self._answerer.fit(train_part, dev_part, fitting.part(ANSWERER))

    def _with_selection(self, questions: Questions, progress: Progress, note: Path | None = None) -> Questions:
        """The questions with the paragraphs that the selector ranks highest; written to ``note``, so that a resumed fit has the same."""
        find = partial(self._selected_ids, questions, progress)
        paragraph_ids = find() if note is None else kept(note, find)
        return questions.shown(SelectedParagraphs(paragraph_ids), key_of("selected", list(paragraph_ids.items())))

    def _selected_ids(self, questions: Questions, progress: Progress) -> dict[str, list[str]]:
        """Question → ids of the paragraphs that the selector ranks highest."""
        paragraph_ids = {}
        for prediction in self._selector.predict(questions, progress):
            ranked = sorted(prediction.paragraph_scores, key=lambda scored: -scored[1])
            paragraph_ids[prediction.id] = sorted(name for name, _ in ranked[: self.settings.selected])
        return paragraph_ids

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in their order. Memory: both networks, and the ids of the selected paragraphs."""
        return self._answerer.predict(self._with_selection(questions, progress), progress)

    def save(self, folder: Path) -> None:
        """Write both networks to folders of their own."""
        for name, part in ((SELECTOR, self._selector), (ANSWERER, self._answerer)):
            with storage_errors(folder):
                (folder / name).mkdir()
            part.save(folder / name)
        saved.write(folder, self.name, settings=self.settings.model_dump(mode="json"))

    def load(self, folder: Path) -> None:
        """Load the settings, the selector and the answerer."""
        description = saved.read(folder, self.name)
        with saved.described(folder):
            self.settings = SelectSettings.model_validate(description["settings"])
        self._selector.load(folder / SELECTOR)
        self._answerer.load(folder / ANSWERER)


class SelectedParagraphs:
    """A view that shows only the selected paragraphs."""

    def __init__(self, chosen: Mapping[str, Collection[str]]) -> None:
        """Question id → paragraph ids."""
        self._paragraph_ids = chosen

    def __call__(self, instance: Instance) -> Instance:
        """The question with these paragraphs only; with all of them if none were selected."""
        paragraph_ids = self._paragraph_ids.get(instance.id)
        if paragraph_ids is None:
            return instance
        return replace(instance, paragraphs=tuple(paragraph for paragraph in instance.paragraphs if paragraph.id in paragraph_ids))


def select_answer(name: str, settings: SelectSettings, training: TrainingSettings) -> SelectAnswer:
    """Make Select+Answer, whose selector is trained on supporting marks."""
    return SelectAnswer(name, settings, training, support="supporting")


def one_paragraph(name: str, settings: EncoderSettings, training: TrainingSettings) -> SelectAnswer:
    """Make 1-Para, whose selector is trained on which paragraphs state the answer."""
    return SelectAnswer(name, SelectSettings(**settings.model_dump(), selected=1), training, support="has-answer")
