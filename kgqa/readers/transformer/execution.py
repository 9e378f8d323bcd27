"""Step execution: decompose a question, then ask a single-hop reader step by step (Trivedi et al. 2022, section 7.2.1).

The executor goes round by round over all questions at once: in a round it asks every step whose earlier steps have their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from pathlib import Path

from kgqa.errors import MissingInput
from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.readers.hops import hop, single_hop
from kgqa.readers.transformer.decomposer import RewritingReader, decomposer
from kgqa.readers.transformer.end_to_end import end_to_end
from kgqa.readers.transformer.select_answer import select_answer
from kgqa.records import Instance, Step
from kgqa.runs.files import key_of
from kgqa.settings.reader import SelectSettings
from kgqa.settings.seq2seq import ExecutionSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.loop import Fitted
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction, Reader

DECOMPOSER, READER = "decomposer", "reader"
Maker = Callable[[str, SelectSettings, TrainingSettings], Reader]


@dataclass(slots=True, kw_only=True)
class Execution:
    """How far one question is."""

    steps: tuple[Step, ...]
    found: dict[int, Prediction] = field(default_factory=dict)
    """Number of the step, from 0 → what the single-hop reader said."""

    def ready(self) -> list[int]:
        """The steps to ask now. Of steps that wait for each other the first is asked as it stands, so that there is an end."""
        numbers = {step.id: number for number, step in enumerate(self.steps)}
        open_ = [number for number in range(len(self.steps)) if number not in self.found]
        free = [number for number in open_ if all(numbers[name] in self.found for name in self.steps[number].depends_on if name in numbers)]
        return free or open_[:1]

    @property
    def answers(self) -> dict[str, str]:
        """Step id → answer, of those that have one."""
        return {self.steps[number].id: each.answer for number, each in self.found.items() if each.answer}


class StepExecution:
    """A decomposer and a single-hop reader."""

    def __init__(self, name: str, settings: ExecutionSettings, training: TrainingSettings, *, maker: Maker) -> None:
        """``maker`` makes the single-hop reader, from a name, settings and those of the training."""
        self.name, self.settings, self._training, self._maker = name, settings, training, maker
        self._make_parts()

    def _make_parts(self) -> None:
        self._decomposer: RewritingReader | None = None
        if self.settings.decompositions == "predicted":
            self._decomposer = decomposer(DECOMPOSER, self.settings.writing, self._training)
        given = {name: getattr(self.settings, name) for name in SelectSettings.model_fields}
        self._reader = self._maker(READER, SelectSettings(**given), self._training)

    @property
    def fitted(self) -> Fitted | None:
        """How the single-hop reader's fit went, with the steps of all parts."""
        fits: list[Fitted | None] = [getattr(part, "fitted", None) for _, part in self._parts()]
        last = fits[-1]
        return None if last is None else replace(last, steps=sum(each.steps for each in fits if each is not None))

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Both parts, on their own. Raises MissingInput where ``train`` has no decomposition."""
        if not any(instance.decomposition for instance in train):
            raise MissingInput(
                f"{self.name} learns from decompositions, and no question of the train split has one; give a set that has them, as "
                "MuSiQue, or take ee or sa."
            )
        if self._decomposer is not None:
            self._decomposer.fit(train, dev, self._slower(fitting.part(DECOMPOSER)))
        self._reader.fit(single_hop(train), None if dev is None else single_hop(dev), fitting.part(READER))

    def _slower(self, fitting: Fitting) -> Fitting:
        """Writing takes more epochs to learn than reading, of much shorter texts."""
        said = {"epochs": self.settings.decomposer_epochs, "learning_rate": self.settings.decomposer_learning_rate}
        return replace(fitting, settings=fitting.settings.model_copy(update=said))

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction for each question, in their order. Memory: the steps of all questions, with what was said about each."""
        return execute(questions, self._decomposed(questions, progress), self._reader, progress)

    def _decomposed(self, questions: Questions, progress: Progress) -> list[tuple[Step, ...]]:
        if self._decomposer is not None:
            return [each.steps for each in self._decomposer.predict(questions, progress)]
        return [self._gold(instance) for instance in questions]

    def _gold(self, instance: Instance) -> tuple[Step, ...]:
        if not instance.decomposition:
            raise MissingInput(
                f"question {instance.id} has no decomposition, which {self.name} with decompositions = gold executes; give a set that has "
                "them, as MuSiQue, or take ee or sa."
            )
        return instance.decomposition

    def save(self, folder: Path) -> None:
        """The parts in folders of their own."""
        for name, part in self._parts():
            (folder / name).mkdir()
            part.save(folder / name)
        saved.write(folder, self.name, settings=self.settings.model_dump(mode="json"))

    def load(self, folder: Path) -> None:
        """Load the settings and both parts of a saved reader."""
        found = saved.read(folder, self.name)
        with saved.described(folder):
            self.settings = ExecutionSettings.model_validate(found["settings"])
        self._make_parts()
        for name, part in self._parts():
            part.load(folder / name)

    def _parts(self) -> Iterator[tuple[str, Reader]]:
        if self._decomposer is not None:
            yield DECOMPOSER, self._decomposer
        yield READER, self._reader


def execute(questions: Questions, steps: Sequence[tuple[Step, ...]], reader: Reader, progress: Progress) -> Iterator[Prediction]:
    """Ask ``reader`` the steps of each question, those of a round all at once; what is said about the questions."""
    executions = [Execution(steps=each) for each in steps]
    while any(rounds := [execution.ready() for execution in executions]):
        asked = _round(questions, executions, rounds)
        said = reader.predict(asked, progress)
        # All at once, since the questions that are being read depend on what was found.
        for (execution, number), prediction in zip(_places(executions, rounds), list(said), strict=True):
            execution.found[number] = prediction
    yield from map(_whole, questions, executions)


def _places(executions: Sequence[Execution], rounds: Sequence[Sequence[int]]) -> Iterator[tuple[Execution, int]]:
    return ((execution, number) for execution, numbers in zip(executions, rounds, strict=True) for number in numbers)


def _round(questions: Questions, executions: Sequence[Execution], rounds: Sequence[Sequence[int]]) -> Questions:
    """The steps of a round, as questions."""

    def read() -> Iterator[Instance]:
        for instance, execution, numbers in zip(questions, executions, rounds, strict=True):
            yield from (hop(instance, number, execution.steps, execution.answers) for number in numbers)

    asked = [
        [(number, repr(execution.steps), execution.answers) for number in numbers]
        for execution, numbers in zip(executions, rounds, strict=True)
    ]
    kept = None if questions.keep is None else questions.rows().tolist()
    return Questions(read=read, key=key_of("round", questions.key, kept, asked), count=sum(map(len, rounds)))


def _whole(instance: Instance, execution: Execution) -> Prediction:
    """The last step's answer, the paragraph of each step, and sufficiency only where all steps have it."""
    said = [execution.found[number] for number in range(len(execution.steps))]
    best = [best_paragraph(each) for each in said]
    supporting = tuple(each.id for each in instance.paragraphs if each.id in best)
    scores = [dict(each.paragraph_scores) for each in said]
    sentences = {place for each, name in zip(said, best, strict=True) for place in each.supporting_sentences if place[0] == name}
    suffices = all(each.answerable for each in said)
    return Prediction(
        id=instance.id,
        answer=said[-1].answer,
        candidate=said[-1].candidate,
        # That all answers are right, if one depends on no other's chance.
        confidence=prod(each.confidence for each in said),
        supporting=supporting,
        supporting_sentences=tuple(sorted(sentences)),
        answerable=suffices,
        sufficiency=int(suffices),
        paragraph_scores=tuple(
            (each.id, max(found.get(each.id, 0.0) for found in scores))
            for each in instance.paragraphs
            if any(each.id in found for found in scores)
        ),
        steps=tuple(
            replace(step, answer=each.answer, paragraph_id=name) for step, each, name in zip(execution.steps, said, best, strict=True)
        ),
    )


def best_paragraph(prediction: Prediction) -> str | None:
    """The likeliest paragraph, the first of several; None where the reader says nothing about paragraphs."""
    if prediction.paragraph_scores:
        return max(prediction.paragraph_scores, key=lambda each: each[1])[0]
    return prediction.supporting[0] if prediction.supporting else None


ex_ee = partial(StepExecution, maker=end_to_end)
"""Step execution with End2End as the single-hop reader."""
ex_sa = partial(StepExecution, maker=select_answer)
"""Step execution with Select+Answer as the single-hop reader."""
