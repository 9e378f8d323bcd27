"""Select+Answer: a selector ranks the paragraphs, and an answerer reads those that it ranks highest, and nothing else.

Quark and SAE, as MuSiQue has them (Trivedi et al. 2022, section 7.2.1). With one paragraph, and a selector that looks for the answer and
not for support, it is 1-Para (section 7.2.2), which cannot connect two paragraphs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kgqa.errors import BrokenInput, storage_errors
from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.readers.transformer.end_to_end import SpanReader
from kgqa.readers.transformer.examples import Lessons
from kgqa.readers.views import Selecting
from kgqa.runs.files import key_of, write_whole
from kgqa.settings.reader import EncoderSettings, SelectSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.loop import Fitted
from kgqa.training.processes import first_alone
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction

SELECTOR, ANSWERER = "selector", "answerer"


class SelectAnswer:
    """Two networks, each fitted on its own."""

    def __init__(self, name: str, settings: SelectSettings, training: TrainingSettings, *, support: str) -> None:
        """``support``: which paragraphs the selector learns to rank first; see ``Lessons``."""
        self.name, self.settings = name, settings
        self._selector = SpanReader(f"{name}-{SELECTOR}", settings, training, lessons=Lessons(answer=False, support=support))
        self._answerer = SpanReader(f"{name}-{ANSWERER}", settings, training, lessons=Lessons())

    @property
    def fitted(self) -> Fitted | None:
        """How the answerer's fit went, with the steps of both."""
        first, second = self._selector.fitted, self._answerer.fitted
        if first is None or second is None:
            return None
        return Fitted(
            steps=first.steps + second.steps, questions=second.questions, faults=second.faults, best=second.best, best_step=second.best_step
        )  # fmt: skip

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """The selector first, then the answerer on what it selects."""
        self._selector.fit(train, dev, fitting.part(SELECTOR))
        shown = self._shown(train, fitting.progress, fitting.place / "train.json")
        dev_shown = None if dev is None else self._shown(dev, fitting.progress, fitting.place / "dev.json")
        self._answerer.fit(shown, dev_shown, fitting.part(ANSWERER))

    def _shown(self, questions: Questions, progress: Progress, keep: Path | None = None) -> Questions:
        """The questions with the paragraphs that the selector ranks highest; noted in ``keep``, so that they stay the same."""
        if keep is None:
            chosen = self._chosen(questions, progress)
        else:
            with first_alone():
                if not keep.is_file():
                    write_whole(keep, json.dumps(self._chosen(questions, progress)))
            try:
                with storage_errors(keep):
                    chosen = json.loads(keep.read_text("utf-8"))
            except (ValueError, RecursionError):
                raise BrokenInput(f"{keep}: this is not what the selector chose; remove it, and kgqa writes it again.") from None
        return questions.shown(Selecting(chosen), key_of("selected", list(chosen.items())))

    def _chosen(self, questions: Questions, progress: Progress) -> dict[str, list[str]]:
        """Question → the paragraphs that the selector ranks highest."""
        found = {}
        for each in self._selector.predict(questions, progress):
            ranked = sorted(each.paragraph_scores, key=lambda scored: -scored[1])
            found[each.id] = sorted(name for name, _ in ranked[: self.settings.selected])
        return found

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """Memory beside the networks': the ids of the paragraphs that are selected."""
        return self._answerer.predict(self._shown(questions, progress), progress)

    def save(self, folder: Path) -> None:
        """Both networks, in folders of their own."""
        for name, part in ((SELECTOR, self._selector), (ANSWERER, self._answerer)):
            with storage_errors(folder):
                (folder / name).mkdir()
            part.save(folder / name)
        saved.write(folder, self.name, settings=self.settings.model_dump(mode="json"))

    def load(self, folder: Path) -> None:
        """Load the settings, the selector and the answerer."""
        found = saved.read(folder, self.name)
        with saved.described(folder):
            self.settings = SelectSettings.model_validate(found["settings"])
        self._selector.load(folder / SELECTOR)
        self._answerer.load(folder / ANSWERER)


def select_answer(name: str, settings: SelectSettings, training: TrainingSettings) -> SelectAnswer:
    """Make Select+Answer, whose selector learns from supporting marks."""
    return SelectAnswer(name, settings, training, support="supporting")


def one_paragraph(name: str, settings: EncoderSettings, training: TrainingSettings) -> SelectAnswer:
    """Make 1-Para, whose selector learns which paragraphs have the answer."""
    return SelectAnswer(name, SelectSettings(**settings.model_dump(), selected=1), training, support="has-answer")
