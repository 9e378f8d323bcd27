"""DiRe's scores of readers (Trivedi et al. 2020): the transforms of the questions, and what predictions for them are worth.

Facts are paragraphs, and are called by their ids. A question with several answers scores as with the best of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kgqa.formats.provenance import noted, noted_sufficiency
from kgqa.metrics import dire
from kgqa.metrics.hotpotqa import answer_overlap
from kgqa.metrics.scores import Scores
from kgqa.recipes.contrasts.facts import NAME
from kgqa.recipes.contrasts.transforms import Settings
from kgqa.records import Instance
from kgqa.runs.funnel import Rejection
from kgqa.training.reader import Prediction

ANSWER, SUPPORT = (f"{heading}: f1" for heading in dire.HEADINGS[:2])
Floats = npt.NDArray[np.float64]
Scorer = Callable[[Sequence[dire.DiReGold], Sequence[dire.DiRePrediction]], Scores]
SCORERS: dict[str, Scorer] = {
    "probe": dire.dire_probe,
    "sufficiency": dire.dire_sufficiency,
    "probe-of-sufficiency": dire.dire_probe_of_sufficiency,
}
"""Kind of transform → how a question's instances are scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """The instances that a transform makes of questions."""

    kind: str
    instances: tuple[Instance, ...]
    questions: tuple[Instance, ...]
    """Those that it could be made of, in order."""


def transformed(questions: Iterable[Instance], kind: str, *, max_facts: int, seed: int) -> Transformation:
    """Contrasts of ``questions``; questions that cannot be transformed are left out."""
    settings = Settings(kind=kind, seed=seed, max_facts=max_facts)
    make = settings.maker(lambda: iter(()))
    used_questions, instances = [], []
    for question in questions:
        result = make(question)
        if not isinstance(result, Rejection) and not settings.faults(question, result):
            used_questions.append(question)
            instances += result
    return Transformation(kind=kind, instances=tuple(instances), questions=tuple(used_questions))


def scores_of(transformation: Transformation, predictions: Iterable[Prediction]) -> dict[str, Floats]:
    """:data:`ANSWER` and :data:`SUPPORT` → F1 of each question, from 0 to 1; ``predictions`` in the order of the instances."""
    dire_predictions = [
        _prediction(instance, prediction) for instance, prediction in zip(transformation.instances, predictions, strict=True)
    ]
    answers = {question.id: question.answers for question in transformation.questions}
    best = {name: np.zeros(len(transformation.questions)) for name in (ANSWER, SUPPORT)}
    for number in range(max(map(len, answers.values()), default=0)):
        gold = [_gold(instance, answers[_question(instance)], number) for instance in transformation.instances]
        scores = SCORERS[transformation.kind](gold, dire_predictions).per_record
        for name, values in best.items():
            np.maximum(values, [scores[name][question.id] for question in transformation.questions], out=values)
    return best


def whole_score(question: Instance, prediction: Prediction) -> float:
    """Answer F1 on the whole question, as DiRe's scorer has it."""
    return max(answer_overlap(prediction.answer, answer).f1 for answer in question.answers)


def label_of(instance: Instance) -> int:
    """The sufficiency of a transform's instance; 1 where it has none."""
    label = noted_sufficiency(instance)
    return 1 if label is None else label


def answered(transformation: Transformation) -> list[Instance]:
    """Instances with their questions' answers, so that a guesser knows whether yes and no are possible."""
    answers = {question.id: question.answers for question in transformation.questions}
    return [replace(instance, answers=answers[_question(instance)]) for instance in transformation.instances]


def _question(instance: Instance) -> str:
    return str(noted(instance, NAME)["question"])


def _gold(instance: Instance, answers: Sequence[str], number: int) -> dire.DiReGold:
    note = noted(instance, NAME)
    context = {paragraph.id for paragraph in instance.paragraphs}
    return dire.DiReGold(
        question_id=note["question"],
        answer=answers[min(number, len(answers) - 1)],
        support=frozenset((key, 0) for key, _ in note["supporting"] if key in context),
        bipartition=note["bipartition"] or 0,
        sufficiency=note["sufficiency"],
        sub_idx=note["sub_idx"],
    )


def _prediction(instance: Instance, prediction: Prediction) -> dire.DiRePrediction:
    note = noted(instance, NAME)
    return dire.DiRePrediction(
        question_id=note["question"],
        answer=prediction.answer,
        paragraphs=frozenset(prediction.supporting),
        sentences=frozenset(),
        confidence=prediction.confidence,
        sufficiency=prediction.sufficiency,
        sub_idx=note["sub_idx"],
    )
