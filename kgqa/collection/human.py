"""How well people answer a dataset's questions, by the dataset's own metric, and how well they agree (Trivedi et al. 2022, section 6).

Three figures per score: the most frequent answer against the dataset's, ties broken by a draw (Rajpurkar et al. 2018); the best of the
people's answers (Yang et al. 2018); and one person's answer, drawn, against the others', of which the best match counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from kgqa.arrays.draws import draw
from kgqa.metrics.bootstrap import Interval, intervals
from kgqa.metrics.drop import spans_scores
from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import set_overlap
from kgqa.metrics.squad import gold_scores
from kgqa.metrics.wilson import percent
from kgqa.records import Instance
from kgqa.scoring.metrics import METRICS, MetricOptions
from kgqa.scoring.prediction_files import write_predictions
from kgqa.training.reader import Prediction

SPANS = ("drop", "iirc")
"""Metrics that score an answer as a list of spans."""
WITHOUT_ANSWER = ("squad2", "iirc")
"""Metrics that also score questions without an answer."""
EXACT = ("qangaroo", "strategyqa")
"""Metrics by which an answer is right or wrong."""

PerRecord = dict[str, dict[str, float]]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAnswer:
    """One person's answer to one question."""

    person: str
    parts: tuple[str, ...]
    """The spans, the number, yes, no, or the candidate's text; none if the paragraphs do not answer the question."""
    unit: str = ""
    """Unit of a number; metrics of spans leave it out, as their gold does."""
    candidate: str | None = None
    support: frozenset[str] = frozenset()
    """Ids of the supporting paragraphs, those of ``sentences`` among them."""
    sentences: frozenset[tuple[str, int]] = frozenset()
    """Paragraph id and number of the sentence."""

    @property
    def text(self) -> str:
        """The answer as one text; empty if there is none."""
        return f"{', '.join(self.parts)} {self.unit}".strip()

    @property
    def key(self) -> str:
        """Equal for answers that count as the same."""
        return self.candidate or "\t".join(sorted(normalize(part) for part in self.parts)) + normalize(self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question of the dataset with people's answers, in the order of submission; at least one."""

    instance: Instance
    answers: tuple[HumanAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanFigures:
    """Scores of people, in per cent with 95% intervals (bootstrap over questions; Wilson for shares)."""

    metric: str
    questions: int
    """Questions with an answer that were scored."""
    score: Mapping[str, Interval]
    """Name of a score → the most frequent answer's."""
    best: Mapping[str, Interval]
    """Name of a score → the best answer's."""
    people: Mapping[str, Mapping[str, Interval]]
    """Person → the scores of their answers."""
    compared: int
    """Questions that several people answered."""
    agreement: Mapping[str, Interval]
    """Name of a score → one answer's against the others'."""
    answerability: tuple[Interval, int] | None
    """Share of questions of which most people say rightly whether there is an answer, and their number; None if all have one."""


def human_figures(items: Sequence[Answered], *, metric: str, seed: int) -> HumanFigures:
    """The figures of people's answers by ``metric``, a key of ``METRICS``. Hidden answers are left out of the scores. Raises KgqaError."""
    scored_items = [item for item in items if not item.instance.hidden and (item.instance.answerable or metric in WITHOUT_ANSWER)]
    several = [item for item in items if len(item.answers) > 1]
    people = dict.fromkeys(answer.person for item in scored_items for answer in item.answers)
    by_person = {
        person: _scores([(item.instance, answer) for item in scored_items for answer in item.answers if answer.person == person], metric)
        for person in people
    }
    agreed: PerRecord = {}
    for item in several:
        place_of_answer = draw(purpose="human agreement", seed=seed, id=item.instance.id) % len(item.answers)
        others = [answer for place, answer in enumerate(item.answers) if place != place_of_answer]
        _keep_best(agreed, item.instance.id, (_match(item.answers[place_of_answer], other, metric) for other in others))
    best: PerRecord = {}
    for scores in by_person.values():
        for name, values in scores.items():
            for key, value in values.items():
                best.setdefault(name, {})[key] = max(value, best.get(name, {}).get(key, 0.0))
    most_frequent = _scores([(item.instance, _most_frequent(item, seed)) for item in scored_items], metric)

    def summary(scores: PerRecord) -> dict[str, Interval]:
        return intervals(scores, scale=100.0, seed=seed)

    return HumanFigures(
        metric=metric,
        questions=len(scored_items),
        score=summary(most_frequent),
        best=summary(best),
        people={person: summary(scores) for person, scores in by_person.items()},
        compared=len(several),
        agreement=summary(agreed),
        answerability=_answerability(items, seed),
    )


def right(item: Answered, *, metric: str, seed: int) -> bool:
    """Whether the most frequent answer is the dataset's, exactly."""
    instance = item.instance
    if instance.hidden:
        return False
    answer = _most_frequent(item, seed)
    if not instance.answerable or not answer.parts:
        return instance.answerable == bool(answer.parts)
    if instance.candidates:
        return answer.candidate == instance.answer_id
    if instance.answer_type == "spans" or metric in SPANS:
        return any(spans_scores(answer.parts, whole)[0] == 1.0 for whole in instance.whole_answers)
    return normalize(answer.text) in {normalize(text) for text in instance.answers}


def _scores(pairs: Sequence[tuple[Instance, HumanAnswer]], metric: str) -> PerRecord:
    """The headline scores of one answer to each question, as ``kgqa evaluate`` computes them from a file of predictions."""
    if not pairs:
        return {}
    entry, instances = METRICS[metric], [instance for instance, _ in pairs]
    if metric in SPANS:
        predictions: object = {instance.id: answer.parts or ("none",) for instance, answer in pairs}
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "predictions"
            write_predictions(metric, instances, [_prediction(instance, answer) for instance, answer in pairs], path)
            predictions = entry.read(path)
    gold = [(entry.key(instance), entry.gold(instance)) for instance in instances]
    per_record = entry.score(gold, predictions, MetricOptions()).per_record
    return {name: per_record[name] for name in entry.headline if name in per_record}


def _prediction(instance: Instance, answer: HumanAnswer) -> Prediction:
    return Prediction(
        id=instance.id,
        answer=answer.text,
        candidate=answer.candidate,
        supporting=tuple(paragraph.id for paragraph in instance.paragraphs if paragraph.id in answer.support),
        supporting_sentences=tuple(sorted(answer.sentences)),
        answerable=bool(answer.parts),
    )


def _match(answer: HumanAnswer, gold: HumanAnswer, metric: str) -> dict[str, float]:
    """Scores of one person's answer with another's as gold, without gold that only the dataset has."""
    if metric in EXACT:
        return {"accuracy": float(answer.key == gold.key)}
    if metric in SPANS:
        exact, f1 = spans_scores(answer.parts or ("none",), gold.parts or ("none",))
        return {"exact_match": exact, "f1": f1}
    exact, f1 = gold_scores(answer.text, [gold.text])
    scores = {"answer_em": exact, "answer_f1": f1}
    if answer.support or gold.support:
        scores["support_f1"] = set_overlap(answer.support, gold.support).f1
    return scores


def _keep_best(per_record: PerRecord, key: str, matches: Iterable[Mapping[str, float]]) -> None:
    for match in matches:
        for name, value in match.items():
            values = per_record.setdefault(name, {})
            values[key] = max(value, values.get(key, 0.0))


def _most_frequent(item: Answered, seed: int) -> HumanAnswer:
    """The most frequent answer with the most frequent support, each chosen for itself; ties are broken by a draw."""
    answer = _commonest(item.answers, lambda entry: entry.key, f"answer to {item.instance.id}", seed)
    support = _commonest(item.answers, lambda entry: (entry.support, entry.sentences), f"support of {item.instance.id}", seed)
    return replace(answer, support=support.support, sentences=support.sentences)


def _commonest(values: Sequence[Value], key: Callable[[Value], Hashable], id: str, seed: int) -> Value:  # noqa: A002 - what it is drawn for
    groups: dict[Hashable, list[Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    most = max(map(len, groups.values()))
    tied = [group[0] for group in groups.values() if len(group) == most]
    return tied[draw(purpose="most frequent", seed=seed, id=id) % len(tied)]


def _answerability(items: Sequence[Answered], seed: int) -> tuple[Interval, int] | None:
    open_items = [item for item in items if not item.instance.hidden]
    if all(item.instance.answerable for item in open_items):
        return None
    says = [
        bool(_commonest(item.answers, lambda answer: bool(answer.parts), f"answerability of {item.instance.id}", seed).parts)
        for item in open_items
    ]
    agreements = [answer == item.instance.answerable for answer, item in zip(says, open_items, strict=True)]
    return percent(sum(agreements), len(agreements)), len(agreements)
