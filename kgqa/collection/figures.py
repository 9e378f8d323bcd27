"""Figures of a project, from the tables of its journal: progress, people, time, agreement, drift against gold items, labels.

``docs/annotate-figures.md`` says how each is defined. Nothing here depends on the clock or on random draws. Answers of people who withdrew,
answers that were undone, and items that are left out of the results count for nothing unless a field says otherwise; models' answers count
for nothing but the figures of models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from kgqa.collection.state import STATES, State
from kgqa.metrics.agreement import Agreement, Measure, agreement, cohen
from kgqa.metrics.wilson import wilson

WINDOWS = 10
"""Parts into which a person's answers to gold items are cut, in their order."""
MOST_LABELS = 50
"""Labels of a question that are listed, the most frequent first."""
_QUESTION = ("step", "question")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of cases with its 95% interval after Wilson."""

    count: int
    of: int
    share: float
    low: float
    high: float

    @property
    def percent(self) -> str:
        """``73.3 (55.6 to 85.8)``."""
        return f"{100 * self.share:.1f} ({100 * self.low:.1f} to {100 * self.high:.1f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The work items of one step; gold items and those of the qualification are not among them."""

    step: str
    items: int
    states: dict[str, int]
    """State → items; each key of ``STATES``."""
    seats: int
    """Answers that these items need together."""
    answers: int
    """Answers of people that they have, of each item at most as many as it has seats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds per answer: lower quartile, median and upper quartile, by linear interpolation."""

    step: str
    answers: int
    lower: float
    median: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What one person, or one model, did."""

    person: str
    model: bool
    submitted: int
    """Submissions, whatever became of them."""
    answers: int
    """Current answers."""
    undone: int
    skipped: int
    flagged: int
    adjudicated: int
    """Disagreements that this person settled as a lead."""
    seconds: float
    """Time at items over all submissions."""
    median: float | None
    """Median seconds of the current answers."""
    withdrawn: str | None
    """Reason why this person's answers are left out; None if they count."""
    tries: int
    """Finished tries of the qualification."""
    passed: bool | None
    """Whether the last of them was passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAgreement:
    """Agreement of the people on one question."""

    step: str
    question: str
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Agreement of two people on one question, over the items that both answered."""

    step: str
    question: str
    first: str
    second: str
    same: Share
    kappa: Measure
    """Cohen's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAgreement:
    """Agreement of a model with the people: its label against the one that more of them gave than any other."""

    person: str
    """The model's name."""
    step: str
    question: str
    same: Share
    kappa: Measure
    """Cohen's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Answers to gold items that are right, that is, have all labels of the known answer."""

    person: str
    """Empty: all people together."""
    right: Share
    windows: tuple[Share, ...]
    """The same for each tenth of these answers, in their order; fewer answers than tenths give one window each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFigures:
    """One label of a question."""

    label: str
    """Empty: an answer without a label for the question, where others gave one."""
    answers: Share
    """Answers with this label. The interval takes answers to the same item for independent, which makes it too narrow where they agree."""
    decided: int
    """Items that were decided with this label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How often each label of a question was given."""

    step: str
    question: str
    distinct: int
    """Number of different labels."""
    labels: tuple[LabelFigures, ...]
    """The most frequent ``MOST_LABELS``; of equally frequent ones the first by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All figures of a project."""

    events: int
    items: dict[str, int]
    """Purpose (work, gold, qualification) → items."""
    progress: tuple[Progress, ...]
    people: tuple[Person, ...]
    left_out: int
    """Answers of people who withdrew."""
    times: tuple[Times, ...]
    agreement: tuple[QuestionAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    models: tuple[ModelAgreement, ...]
    drift: tuple[Drift, ...]
    labels: tuple[Distribution, ...]
    refused: dict[str, int]
    """Reason → items that are left out of the results."""
    flags: dict[str, int]
    """Reason → flags."""
    skips: dict[str, int]
    """Reason → skips."""

    def record(self) -> dict[str, Any]:
        """The figures as data that JSON can hold."""
        return asdict(self)


def figures(state: State) -> Figures:
    """The figures of a journal."""
    work = state.items.filter(pl.col("purpose") == "work")
    answers = state.answers
    results = work.filter(pl.col("state") != "refused").select("item")
    labels = _labels(state, answers.join(results, on="item", how="semi"))
    by_people = labels.filter(~pl.col("model"))
    purposes = state.items.group_by("purpose").len().sort("purpose")
    return Figures(
        events=state.events,
        items=dict(purposes.iter_rows()),
        progress=tuple(_progress(work)),
        people=tuple(_people(state, answers)),
        left_out=state.submissions.filter(pl.col("status") == "withdrawn").height,
        times=tuple(_times(answers.filter(pl.col("purpose") == "work", ~pl.col("model")))),
        agreement=tuple(_agreement(by_people)),
        pairs=tuple(_pairs(by_people)),
        models=tuple(_models(labels)),
        drift=tuple(_drift(state, answers)),
        labels=tuple(_distributions(by_people, state.labels_of(state.decisions.filter(~pl.col("disputed"))))),
        refused=_reasons(state.refused),
        flags=_reasons(state.flags),
        skips=_reasons(state.skips),
    )


def share(count: int, of: int) -> Share:
    """The share with its interval; ``of`` is above 0."""
    interval = wilson(count, of)
    return Share(count=count, of=of, share=interval.mean, low=interval.low, high=interval.high)


def _labels(state: State, answers: pl.DataFrame) -> pl.DataFrame:
    """``item, step, question, person, model, label``, one row per answer and question that anyone labelled at its item.

    A person without a label where others gave one gave none, as in :func:`kgqa.collection.task.majority`.
    """
    labels = state.labels_of(answers.select("item", "step", "person", "model", "labels"))
    questions = labels.select("item", "question").unique()
    return (
        answers.select("item", "step", "person", "model")
        .join(questions, on="item", how="inner")
        .join(labels.select("item", "question", "person", "label"), on=["item", "question", "person"], how="left")
        .with_columns(pl.col("label").fill_null(""))
        .sort("step", "question", "item", "person")
    )


def _progress(work: pl.DataFrame) -> Iterator[Progress]:
    for (step,), items in work.group_by("step", maintain_order=True):
        counts = dict(items.group_by("state").len().iter_rows())
        yield Progress(
            step=str(step),
            items=items.height,
            states={state: counts.get(state, 0) for state in STATES},
            seats=int(items["seats"].sum()),
            answers=int(items.select(pl.min_horizontal("answers", "seats").sum()).item()),
        )


def _times(answers: pl.DataFrame) -> Iterator[Times]:
    quartiles = [pl.col("seconds").quantile(q, "linear").alias(name) for name, q in (("lower", 0.25), ("median", 0.5), ("upper", 0.75))]
    for row in answers.group_by("step").agg(pl.len().alias("answers"), *quartiles).sort("step").iter_rows(named=True):
        yield Times(**row)


def _people(state: State, answers: pl.DataFrame) -> Iterator[Person]:
    medians = answers.group_by("person").agg(median=pl.col("seconds").median())
    for row in state.people.join(medians, on="person", how="left", maintain_order="left").iter_rows(named=True):
        yield Person(**row)


def _agreement(labels: pl.DataFrame) -> Iterator[QuestionAgreement]:
    for (step, question), rows in labels.group_by(_QUESTION, maintain_order=True):
        coefficients = agreement(_codes(rows["item"]), _codes(rows["label"]))
        yield QuestionAgreement(step=str(step), question=str(question), agreement=coefficients)


def _pairs(labels: pl.DataFrame) -> Iterator[PairAgreement]:
    other = labels.select(*_QUESTION, "item", second="person", other="label")
    pairs = labels.join(other, on=[*_QUESTION, "item"]).filter(pl.col("person") < pl.col("second"))
    keys = (*_QUESTION, "person", "second")
    for (step, question, first, second), rows in pairs.sort(*keys).group_by(keys, maintain_order=True):
        share, kappa = _two(rows["label"], rows["other"])
        yield PairAgreement(step=str(step), question=str(question), first=str(first), second=str(second), same=share, kappa=kappa)


def _models(labels: pl.DataFrame) -> Iterator[ModelAgreement]:
    keys = [*_QUESTION, "item"]
    votes = labels.filter(~pl.col("model")).group_by(*keys, "label").len()
    most = votes.filter(pl.col("len") == pl.col("len").max().over(keys))
    alone = most.filter(pl.len().over(keys) == 1).select(*keys, other="label")
    pairs = labels.filter(pl.col("model")).join(alone, on=keys)
    names = ("person", *_QUESTION)
    for (person, step, question), rows in pairs.sort(*names).group_by(names, maintain_order=True):
        share, kappa = _two(rows["label"], rows["other"])
        yield ModelAgreement(person=str(person), step=str(step), question=str(question), same=share, kappa=kappa)


def _two(first: pl.Series, second: pl.Series) -> tuple[Share, Measure]:
    codes = _codes(pl.concat([first, second]))
    return share(int((first == second).sum()), len(first)), cohen(codes[: len(first)], codes[len(first) :])


def _codes(values: pl.Series) -> np.ndarray[Any, np.dtype[np.int64]]:
    return values.rank("dense").cast(pl.Int64).to_numpy()


def _drift(state: State, answers: pl.DataFrame) -> Iterator[Drift]:
    gold = state.items.filter(pl.col("purpose") == "gold").select("item", labels="gold_labels")
    gold_labels = state.labels_of(gold).rename({"label": "known"})
    labels = state.labels_of(answers.select("number", "item", "labels"))
    rows = (
        answers.select("number", "item", "person", "model")
        .join(gold_labels, on="item", how="inner")
        .join(labels, on=["number", "item", "question"], how="left")
        .group_by("number", "person", "model")
        .agg(right=pl.col("label").eq_missing(pl.col("known")).all())
        .sort("number")
    )
    by_people = rows.filter(~pl.col("model"))
    if by_people.height:
        yield _windows("", by_people)
    for (person,), own in rows.sort("person", "number").group_by("person", maintain_order=True):
        yield _windows(str(person), own)


def _windows(person: str, rows: pl.DataFrame) -> Drift:
    right = rows["right"].to_numpy().astype(np.int64)
    window = np.arange(len(right)) * WINDOWS // len(right)
    numbers = np.unique(window)
    sums, sizes = np.bincount(window, weights=right)[numbers], np.bincount(window)[numbers]
    windows = tuple(share(int(count), int(of)) for count, of in zip(sums, sizes, strict=True))
    return Drift(person=person, right=share(int(right.sum()), len(right)), windows=windows)


def _distributions(labels: pl.DataFrame, decided: pl.DataFrame) -> Iterator[Distribution]:
    decisions = labels.select("item", *_QUESTION).unique().join(decided.select("item", "question", "label"), on=["item", "question"])
    decisions = decisions.group_by(*_QUESTION, "label").agg(decided=pl.len())
    counts = labels.group_by(*_QUESTION, "label").agg(answers=pl.len()).with_columns(of=pl.col("answers").sum().over(_QUESTION))
    counts = counts.join(decisions, on=[*_QUESTION, "label"], how="left").with_columns(pl.col("decided").fill_null(0))
    counts = counts.sort(*_QUESTION, "answers", "label", descending=[False, False, True, False])
    for (step, question), rows in counts.group_by(_QUESTION, maintain_order=True):
        listed = (
            LabelFigures(label=row["label"], answers=share(row["answers"], row["of"]), decided=row["decided"])
            for row in rows.head(MOST_LABELS).iter_rows(named=True)
        )
        yield Distribution(step=str(step), question=str(question), distinct=rows.height, labels=tuple(listed))


def _reasons(rows: pl.DataFrame) -> dict[str, int]:
    return dict(rows.group_by("reason").len().sort("reason").iter_rows())
