"""Figures of tables: the share of each verdict and mark with its interval, and the agreement of two annotators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgqa.collection.draw import Origin
from kgqa.collection.verdict_tables.table import Judgement
from kgqa.collection.verdicts import TABLE_MARKS, VALID, VERDICTS
from kgqa.errors import InputError
from kgqa.metrics.agreement import cohen
from kgqa.metrics.bootstrap import Interval
from kgqa.metrics.wilson import wilson

VERDICT = "verdict"
VALIDITY = " or ".join(VALID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Samples of one category among those with a verdict of the annotator."""

    category: str
    """A verdict, a mark, or ``follows or likely``."""
    count: int
    interval: Interval
    """The share with its 95% interval after Wilson, between 0 and 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Shares of the verdicts and marks of one annotator."""

    reader: str
    table: str
    """The name of the table's file."""
    read: int
    """Samples with a verdict; the denominator of all shares."""
    drawn: int
    """Samples in the draw."""
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryAgreement:
    """Agreement of two annotators on one category."""

    question: str
    """``verdict`` for all verdicts together; else one category, as yes or no."""
    items: int
    """Samples with a verdict of both."""
    same: Interval
    """Share of them with the same judgement, with its 95% interval."""
    kappa: float | None
    """Cohen's; None if both chose the same category throughout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigures:
    """Figures of one or two annotators for one draw."""

    origin: Origin
    available: int
    """Samples in the population."""
    readers: tuple[Figures, ...]
    agreed: tuple[CategoryAgreement, ...]
    """Agreement on samples with a verdict of both; empty with one annotator or without such a sample."""


def figures(judgements: Sequence[Judgement], *, reader: str, table: str, drawn: int) -> Figures:
    """The shares of one annotator. Raises InputError if no sample has a verdict."""
    valued = [judgement for judgement in judgements if judgement.verdict]
    if not valued:
        raise InputError(f"{table}: no sample has a verdict; give a table with verdicts.")
    counts = {name: sum(test(judgement) for judgement in valued) for name, test in _category_tests().items()}
    shares = tuple(Share(category=name, count=count, interval=wilson(count, len(valued))) for name, count in counts.items())
    return Figures(reader=reader, table=table, read=len(valued), drawn=drawn, shares=shares)


def agreement(first: Sequence[Judgement], second: Sequence[Judgement]) -> tuple[CategoryAgreement, ...]:
    """Agreement of two annotators on samples judged by both: over all verdicts, and per category."""
    first_judgements, second_judgements = (
        {judgement.sample: judgement for judgement in judgements if judgement.verdict} for judgements in (first, second)
    )
    pairs = [(first_judgements[sample], second_judgements[sample]) for sample in first_judgements if sample in second_judgements]
    if not pairs:
        return ()
    category_of: dict[str, Callable[[Judgement], str]] = {VERDICT: lambda judgement: judgement.verdict}
    category_of |= {name: lambda judgement, test=test: str(test(judgement)) for name, test in _category_tests().items()}  # type: ignore[misc]
    agreements = []
    for name, category in category_of.items():
        one, other = (np.array([category(pair[place]) for pair in pairs]) for place in (0, 1))
        same = wilson(int((one == other).sum()), len(pairs))
        agreements.append(CategoryAgreement(question=name, items=len(pairs), same=same, kappa=cohen(one, other).value))
    return tuple(agreements)


def _category_tests() -> Mapping[str, Callable[[Judgement], bool]]:
    """Category → test whether a judgement belongs to it."""
    tests: dict[str, Callable[[Judgement], bool]] = {VALIDITY: lambda judgement: judgement.verdict in VALID}
    tests |= {name: lambda judgement, name=name: judgement.verdict == name for name in VERDICTS}  # type: ignore[misc]
    tests |= {name: lambda judgement, name=name: name in judgement.marks for name in TABLE_MARKS}  # type: ignore[misc]
    return tests
