"""Step execution: decompose a question, then answer it step by step with a single-hop reader (Trivedi et al. 2022, section 7.2.1).

The executor processes all questions in rounds. Each round answers every step whose earlier steps have answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

from kgqa.errors import MissingInput
from kgqa.progress import Progress
from kgqa.readers.decompositions import single_hop, single_hop_instance
from kgqa.readers.stages import StagedReader
from kgqa.readers.transformer.decomposer import RewritingReader, decomposer
from kgqa.readers.transformer.end_to_end import end_to_end
from kgqa.readers.transformer.select_answer import select_answer
from kgqa.records import Instance, Step
from kgqa.runs.files import key_of
from kgqa.settings.reader import SelectSettings
from kgqa.settings.seq2seq import ExecutionSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction, Reader

DECOMPOSER, READER = "decomposer", "reader"
Maker = Callable[[str, SelectSettings, TrainingSettings], Reader]


@dataclass(slots=True, kw_only=True)
class Execution:
    """The progress of one question."""

    steps: tuple[Step, ...]
    predictions: dict[int, Prediction] = field(default_factory=dict)
    """Number of the step, from 0 → the single-hop reader's prediction."""

    def ready(self) -> list[int]:
        """The steps to answer next. If steps depend on each other in a circle, the first is answered unresolved, so that execution ends."""
        numbers = {step.id: number for number, step in enumerate(self.steps)}
        unanswered = [number for number in range(len(self.steps)) if number not in self.predictions]
        askable = [
            number
            for number in unanswered
            if all(numbers[name] in self.predictions for name in self.steps[number].depends_on if name in numbers)
        ]
        return askable or unanswered[:1]

    @property
    def answers(self) -> dict[str, str]:
        """Step id → answer, for steps with an answer."""
        return {self.steps[number].id: prediction.answer for number, prediction in self.predictions.items() if prediction.answer}


class StepExecution(StagedReader):
    """A decomposer and a single-hop reader."""

    settings: ExecutionSettings

    def __init__(self, name: str, settings: ExecutionSettings, training: TrainingSettings, *, maker: Maker) -> None:
        """``maker`` makes the single-hop reader from a name, settings and training settings."""
        self._maker = maker
        super().__init__(name, settings, training)

    def _make_stages(self) -> None:
        self._decomposer: RewritingReader | None = None
        if self.settings.decompositions == "predicted":
            self._decomposer = decomposer(DECOMPOSER, self.settings.writing, self._training)
        reader_settings = {name: getattr(self.settings, name) for name in SelectSettings.model_fields}
        self._reader = self._maker(READER, SelectSettings(**reader_settings), self._training)

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Fit both parts separately. Raises MissingInput if ``train`` has no decomposition."""
        if not any(instance.decomposition for instance in train):
            raise MissingInput(
                f"{self.name} learns from decompositions, and no question of the train split has one; give a set that has them, as "
                "MuSiQue, or take ee or sa."
            )
        if self._decomposer is not None:
            self._decomposer.fit(train, dev, self._decomposer_fitting(fitting.part(DECOMPOSER)))
        self._reader.fit(single_hop(train), None if dev is None else single_hop(dev), fitting.part(READER))

    def _decomposer_fitting(self, fitting: Fitting) -> Fitting:
        """The decomposer's own epochs and learning rate: writing short texts takes more epochs to learn than reading."""
        training = {"epochs": self.settings.decomposer_epochs, "learning_rate": self.settings.decomposer_learning_rate}
        return replace(fitting, settings=fitting.settings.model_copy(update=training))

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in their order. Memory: the steps of all questions, with their predictions."""
        return execute(questions, self._decompositions(questions, progress), self._reader, progress)

    def _decompositions(self, questions: Questions, progress: Progress) -> list[tuple[Step, ...]]:
        if self._decomposer is not None:
            return [prediction.steps for prediction in self._decomposer.predict(questions, progress)]
        return [self._gold(instance) for instance in questions]

    def _gold(self, instance: Instance) -> tuple[Step, ...]:
        if not instance.decomposition:
            raise MissingInput(
                f"question {instance.id} has no decomposition, which {self.name} with decompositions = gold executes; give a set that has "
                "them, as MuSiQue, or take ee or sa."
            )
        return instance.decomposition

    def _stages(self) -> Iterator[tuple[str, Reader]]:
        if self._decomposer is not None:
            yield DECOMPOSER, self._decomposer
        yield READER, self._reader


def execute(questions: Questions, steps: Sequence[tuple[Step, ...]], reader: Reader, progress: Progress) -> Iterator[Prediction]:
    """Predict the steps of all questions with ``reader``, round by round; yield the predictions for the questions."""
    executions = [Execution(steps=step) for step in steps]
    while any(rounds := [execution.ready() for execution in executions]):
        step_questions = _questions_of_round(questions, executions, rounds)
        predictions = reader.predict(step_questions, progress)
        # All at once, since the questions that are being read depend on what was found.
        for (execution, number), prediction in zip(_steps_of_round(executions, rounds), list(predictions), strict=True):
            execution.predictions[number] = prediction
    yield from map(_combined_prediction, questions, executions)


def _steps_of_round(executions: Sequence[Execution], rounds: Sequence[Sequence[int]]) -> Iterator[tuple[Execution, int]]:
    return ((execution, number) for execution, numbers in zip(executions, rounds, strict=True) for number in numbers)


def _questions_of_round(questions: Questions, executions: Sequence[Execution], rounds: Sequence[Sequence[int]]) -> Questions:
    """The steps of a round, as questions."""

    def read() -> Iterator[Instance]:
        for instance, execution, numbers in zip(questions, executions, rounds, strict=True):
            yield from (single_hop_instance(instance, number, execution.steps, execution.answers) for number in numbers)

    state = [
        [(number, repr(execution.steps), execution.answers) for number in numbers]
        for execution, numbers in zip(executions, rounds, strict=True)
    ]
    row_numbers = None if questions.keep is None else questions.rows().tolist()
    key = key_of("round", questions.key, row_numbers, state)
    return Questions(read=read, key=key, count=sum(map(len, rounds)), engine=questions.engine)


def _combined_prediction(instance: Instance, execution: Execution) -> Prediction:
    """The last step's answer, and the best paragraph of each step; sufficient if all steps are."""
    predictions = [execution.predictions[number] for number in range(len(execution.steps))]
    paragraph_ids = [best_paragraph(prediction) for prediction in predictions]
    supporting = tuple(paragraph.id for paragraph in instance.paragraphs if paragraph.id in paragraph_ids)
    scores = [dict(prediction.paragraph_scores) for prediction in predictions]
    sentences = {
        place
        for prediction, name in zip(predictions, paragraph_ids, strict=True)
        for place in prediction.supporting_sentences
        if place[0] == name
    }
    is_sufficient = all(prediction.answerable for prediction in predictions)
    return Prediction(
        id=instance.id,
        answer=predictions[-1].answer,
        candidate=predictions[-1].candidate,
        # That all answers are right, if one depends on no other's chance.
        confidence=prod(prediction.confidence for prediction in predictions),
        supporting=supporting,
        supporting_sentences=tuple(sorted(sentences)),
        answerable=is_sufficient,
        sufficiency=int(is_sufficient),
        paragraph_scores=tuple(
            (paragraph.id, max(scores_of_step.get(paragraph.id, 0.0) for scores_of_step in scores))
            for paragraph in instance.paragraphs
            if any(paragraph.id in scores_of_step for scores_of_step in scores)
        ),
        steps=tuple(
            replace(step, answer=prediction.answer, paragraph_id=name)
            for step, prediction, name in zip(execution.steps, predictions, paragraph_ids, strict=True)
        ),
    )


def best_paragraph(prediction: Prediction) -> str | None:
    """The most probable paragraph, the first in a tie; None if the reader does not predict support."""
    if prediction.paragraph_scores:
        return max(prediction.paragraph_scores, key=lambda each: each[1])[0]
    return prediction.supporting[0] if prediction.supporting else None


ex_ee = partial(StepExecution, maker=end_to_end)
"""Step execution with End2End as the single-hop reader."""
ex_sa = partial(StepExecution, maker=select_answer)
"""Step execution with Select+Answer as the single-hop reader."""
