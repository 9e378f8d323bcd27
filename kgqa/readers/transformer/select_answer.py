"""Select+Answer: a selector ranks the paragraphs, and an answerer reads only the highest-ranked ones.

These are Quark and SAE as MuSiQue uses them (Trivedi et al. 2022, section 7.2.1): the selector reads one paragraph at a time, the answerer
all selected ones. With a single paragraph, and a selector trained on which paragraphs state the answer, it is 1-Para (section 7.2.2), which
cannot connect two paragraphs.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from kgqa.progress import Progress, Within
from kgqa.readers.stages import StagedReader
from kgqa.readers.transformer.end_to_end import SpanReader
from kgqa.readers.transformer.examples import Targets
from kgqa.readers.transformer.resizing import encoder_of
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import OneParagraphSettings, SelectSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.folds import folds_of
from kgqa.training.intermediate import Lists, kept
from kgqa.training.processes import is_first_process
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction, Reader

SELECTOR, ANSWERER = "selector", "answerer"


class SelectAnswer(StagedReader):
    """Two networks that are fitted separately."""

    settings: SelectSettings

    def __init__(self, name: str, settings: SelectSettings, training: TrainingSettings, *, support: str) -> None:
        """``support``: the positive paragraphs of the selector; see ``Targets``."""
        self._support = support
        super().__init__(name, settings, training)

    def _make_stages(self) -> None:
        self._selector = self._make_selector()
        settings = self.settings.model_copy(update={"encoder": self.settings.answerer_encoder or self.settings.encoder})
        self._answerer = SpanReader(f"{self.name}-{ANSWERER}", settings, self._training, targets=Targets())

    def _stages(self) -> Iterator[tuple[str, Reader]]:
        yield SELECTOR, self._selector
        yield ANSWERER, self._answerer

    def _make_selector(self) -> SpanReader:
        # It reads one paragraph at a time, and needs no more positions than it has.
        settings = self.settings.model_copy(update={"positions": None})
        return SpanReader(f"{self.name}-{SELECTOR}", settings, self._training, targets=Targets(answer=False, support=self._support))

    @property
    def connects(self) -> bool:
        """Whether the answerer reads several paragraphs at once."""
        return self.settings.selected > 1 and self._answerer.connects

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Fit the selector, then the answerer on selected paragraphs; those of the training questions come from cross-fitting.

        Raises SettingsError if there are fewer groups of training questions than folds, and the errors of both encoders.
        """
        if fitting.start is None:
            encoder_of(self._answerer.settings)  # an encoder that cannot be loaded is known before the selectors are trained
        self._selector.fit(train, dev, fitting.part(SELECTOR))
        if self.settings.folds == 1:
            train_ids = kept(fitting.place / "train.json", partial(self._selected_ids, self._selector, train, fitting.progress))
        else:
            train_ids = self._cross_fitted_ids(train, dev, fitting)
        dev_part = None
        if dev is not None:
            find = partial(self._selected_ids, self._selector, dev, fitting.progress)
            dev_part = _with_selection(dev, kept(fitting.place / "dev.json", find))
        self._answerer.fit(_with_selection(train, train_ids), dev_part, fitting.part(ANSWERER))

    def _cross_fitted_ids(self, train: Questions, dev: Questions | None, fitting: Fitting) -> Lists:
        """Question → ids of the paragraphs that a selector selects which was trained on no question of its group.

        The selections of a fold are written to a file, so that a resumed fit has the same.
        """
        folds = self.settings.folds
        train = train if train.tokens else replace(train, tokens=fitting.place / "tokens")  # so that all folds encode them once
        fold_of_row = np.full(train.count, -1)
        fold_of_row[train.rows()] = folds_of([instance.group for instance in train], folds, seed=fitting.seed)
        ids: Lists = {}
        for number in range(folds):
            file = fitting.place / f"fold-{number}.json"
            selector, progress = self._make_selector(), Within(fitting.progress, f"fold {number + 1} of {folds}")
            if not file.is_file():
                start = None if fitting.start is None else fitting.start / SELECTOR
                part = replace(fitting.part(f"{SELECTOR}-{number}"), progress=progress, start=start)
                selector.fit(train.only((fold_of_row >= 0) & (fold_of_row != number)), dev, part)
            ids |= kept(file, partial(self._selected_ids, selector, train.only(fold_of_row == number), progress))
            if is_first_process():
                shutil.rmtree(fitting.place / f"{SELECTOR}-{number}", ignore_errors=True)
        return ids

    def _selected_ids(self, selector: SpanReader, questions: Questions, progress: Progress) -> Lists:
        """Question → ids of the paragraphs that the selector ranks highest."""
        ids = {}
        for prediction in selector.predict(questions, progress):
            best_first = sorted(prediction.paragraph_scores, key=lambda scored: -scored[1])
            ids[prediction.id] = sorted(name for name, _ in best_first[: self.settings.selected])
        return ids

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in their order. Memory: both networks, and the ids of the selected paragraphs."""
        ids = self._selected_ids(self._selector, questions, progress)
        return self._answerer.predict(_with_selection(questions, ids), progress)


def _with_selection(questions: Questions, ids: Lists) -> Questions:
    """The questions with the selected paragraphs only."""
    return questions.shown(SelectedParagraphs(ids), key_of("selected", list(ids.items())))


class SelectedParagraphs:
    """A view that shows only the selected paragraphs."""

    def __init__(self, paragraph_ids: Mapping[str, Collection[str]]) -> None:
        """Question id → paragraph ids."""
        self._paragraph_ids = paragraph_ids

    def __call__(self, instance: Instance) -> Instance:
        """The question with these paragraphs only; with all of them if none were selected."""
        paragraph_ids = self._paragraph_ids.get(instance.id)
        if paragraph_ids is None:
            return instance
        return replace(instance, paragraphs=tuple(paragraph for paragraph in instance.paragraphs if paragraph.id in paragraph_ids))


select_answer = partial(SelectAnswer, support="supporting")
"""Select+Answer, whose selector is trained on supporting marks."""


def one_paragraph(name: str, settings: OneParagraphSettings, training: TrainingSettings) -> SelectAnswer:
    """Make 1-Para, whose selector is trained on which paragraphs state the answer."""
    return SelectAnswer(name, SelectSettings(**settings.model_dump(), selected=1), training, support="has-answer")
