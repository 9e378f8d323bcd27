"""The reader ``llm`` with the methods of all readers: it learns nothing but the form of the answers, and draws its examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from kgqa.chat.asking import Asker, Conversation
from kgqa.chat.connection import Connection
from kgqa.chat.endpoint import NO_KEY, Endpoint
from kgqa.chat.recording import Recording
from kgqa.errors import SettingsError
from kgqa.formats.provenance import noted_sufficiency
from kgqa.progress import Progress, Silent
from kgqa.readers.answers import is_option
from kgqa.readers.cost import Job, folds_of_job
from kgqa.readers.llm.answer_form import TYPES, Form, Wanted
from kgqa.readers.llm.context import InTheBox, Shown
from kgqa.readers.llm.reader import LlmReader, draw_examples, expected_tokens
from kgqa.readers.registry import LLM
from kgqa.readers.specification import Specification
from kgqa.records import Instance
from kgqa.settings.llm import EndpointReaderSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction

HIDDEN = "(The question is hidden. Give the answer that a question about these paragraphs is most likely to have.)"
"""Instead of the question, for ``shows = "context"``."""
WHAT = "the reader llm"
FEWER = ", or give fewer questions"


class EndpointReader:
    """A model behind an endpoint."""

    def __init__(self, name: str, settings: EndpointReaderSettings, training: TrainingSettings) -> None:
        """``training`` has no meaning here."""
        self.name, self._settings = name, settings
        self._wanted = Wanted(types=("span",))
        self._examples: list[tuple[Shown, Form]] = []
        self._connection: Connection | None = None

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """See which types of answers there are, and draw the examples with the fit's seed. Raises SettingsError for too few."""
        settings, self._connection = self._settings, fitting.connection
        self._wanted = _wanted(train, settings)
        if settings.shots and settings.shows != "paragraph":
            seeded = settings.model_copy(update={"seed": settings.seed + fitting.seed})
            self._examples = draw_examples(self._seen(train), self._context, seeded, self._wanted)

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in order. Raises SettingsError, EndpointError, BrokenInput, StorageError, WorkspaceBusy."""
        if self._connection is None:
            raise SettingsError("the reader llm needs a file that records its answers; use it in kgqa predict, audit or compose.")
        with self._connection.recording() as recording:
            asker = asker_of(self._settings, self._connection, recording)
            predictions = self._reader().predict(self._seen(questions), asker, progress)
            if self._settings.shows != "paragraph":
                yield from predictions
                return
            for instance in questions:
                yield self._best(instance, list(islice(predictions, len(instance.paragraphs))))

    def conversations(self, questions: Questions, asker: Asker) -> Iterator[tuple[str, Conversation[Any]]]:
        """The first requests that :meth:`predict` will send, each after its hash."""
        return self._reader().keyed(self._seen(questions), asker)

    def save(self, folder: Path) -> None:
        """Raise SettingsError: nothing was learned."""
        raise SettingsError("the reader llm cannot be saved, because it is not trained.")

    def load(self, folder: Path) -> None:
        """Raise SettingsError: nothing was saved."""
        raise SettingsError(f"{folder}: the reader llm is never saved; train another reader.")

    @property
    def _context(self) -> InTheBox:
        return InTheBox(by_sentence=False, without=self._settings.shows == "question" or self._settings.retrieve == 0)

    def _reader(self) -> LlmReader:
        return LlmReader(self._settings, self._context, self._wanted, examples=self._examples)

    def _seen(self, questions: Questions) -> Questions:
        """The questions as the model sees them; with ``paragraph``, each one once with every one of its paragraphs."""
        if self._settings.shows == "context":
            return questions.shown(lambda instance: replace(instance, question=HIDDEN), "llm, context")
        if self._settings.shows != "paragraph":
            return questions

        def read() -> Iterator[Instance]:
            for instance in questions:
                yield from (replace(instance, paragraphs=(paragraph,)) for paragraph in instance.paragraphs)

        return replace(questions, read=read, count=sum(len(instance.paragraphs) for instance in questions), keep=None)

    def _best(self, instance: Instance, predictions: list[Prediction]) -> Prediction:
        """The answer from the paragraph that suffices best, the first of several; without paragraphs there is none."""
        if not predictions:
            return Prediction(id=instance.id, answer="")
        best = max(predictions, key=lambda prediction: (prediction.sufficiency, prediction.confidence))
        return replace(best, sufficiency=int(best.sufficiency == 1), answerable=bool(best.answer))


def _wanted(train: Questions, settings: EndpointReaderSettings) -> Wanted:
    """The form of the answers: the types that the training questions have, in the order of ``TYPES``.

    DiRe's labels ask for the best answer in any case, and who sees no paragraphs or only one cannot know that there is none.
    """
    found: set[str] = set()
    is_labelled = False
    for instance in train:
        is_labelled = is_labelled or noted_sufficiency(instance) is not None
        found.add("none" if not instance.answerable else "boolean" if is_option(instance) else instance.answer_type)
    can_be_none = not is_labelled and settings.shows in {"all", "context"}
    types = tuple(name for name in TYPES if name in found and (name != "none" or can_be_none))
    if not set(types) - {"none"}:
        types = ("span", *types)
    return Wanted(types=types, sufficiency=is_labelled or settings.shows == "paragraph", reasoning=settings.reasoning)


def asker_of(settings: EndpointReaderSettings, connection: Connection, recording: Recording) -> Asker:
    """Who sends the reader's requests. Raises SettingsError."""
    return Asker(_endpoint(settings, connection), recording, settings, fewer=FEWER)


def _endpoint(settings: EndpointReaderSettings, connection: Connection) -> Endpoint:
    return Endpoint(connection.address, settings.model, settings, what=WHAT, named=f"model in the settings of {WHAT}")


def check_connection(readers: Iterable[Specification], connection: Connection) -> None:
    """Raise SettingsError, before anything is read, if one of the ``readers`` is an ``llm`` that cannot ask."""
    for settings in (reader.settings for reader in readers):
        if isinstance(settings, EndpointReaderSettings):
            endpoint = _endpoint(settings, connection)
            if endpoint.is_without_key and not connection.path.is_file():
                raise SettingsError(NO_KEY)


def show_cost(jobs: Iterable[Job], connection: Connection, progress: Progress, *, folds: int, seeds: Iterable[int]) -> None:
    """Show what the requests of all ``jobs`` cost together; nothing is sent.

    Raises SettingsError if this is more than ``max_cost``, or without a key. Memory: a hash for each request.
    """
    asking = [job for job in jobs if job.reader.name == LLM]
    if not asking:
        return
    settings = asking[0].reader.settings
    assert isinstance(settings, EndpointReaderSettings)
    progress.start("Estimating what the endpoint costs")
    with connection.recording() as recording:
        asker = asker_of(settings, connection, recording)
        hashes: set[str] = set()

        def requests() -> Iterator[tuple[str, Conversation[Any]]]:
            for job in asking:
                for key, conversation in _requests(job, asker, connection, folds=folds, seeds=tuple(seeds)):
                    if key not in hashes:
                        hashes.add(key)
                        yield key, conversation

        progress.finish(asker.estimate(requests(), output_tokens=expected_tokens(settings)))


def _requests(
    job: Job, asker: Asker, connection: Connection, *, folds: int, seeds: tuple[int, ...]
) -> Iterator[tuple[str, Conversation[Any]]]:
    for fold in folds_of_job(job, folds=folds):
        for seed in seeds:
            reader = job.reader.make()
            assert isinstance(reader, EndpointReader)
            fitting = Fitting(
                place=Path(), settings=job.reader.training, seed=seed, progress=Silent(), record=lambda _: None, connection=connection
            )
            reader.fit(fold.train, fold.dev, fitting)
            for questions in fold.read.values():
                yield from reader.conversations(questions, asker)
