"""Figures of tables: the share of each verdict and mark with its interval, and the agreement of two annotators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgqa.errors import InputError
from kgqa.metrics.bootstrap import Interval
from kgqa.metrics.kappa import PairAgreement, cohen
from kgqa.metrics.wilson import wilson
from kgqa.reviews.draw import Origin
from kgqa.reviews.table import Judgement
from kgqa.reviews.verdicts import MARKS, VALID, VERDICTS

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
    """Figures of one annotator."""

    reader: str
    table: str
    """The name of the table's file."""
    read: int
    """Samples with a verdict, which all shares are of."""
    drawn: int
    """Samples in the draw."""
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """Agreement of two annotators on one category."""

    question: str
    """``verdict``: which of all; else one category: yes or no."""
    agreement: PairAgreement
    same: Interval
    """Share of samples with the same judgement, with its 95% interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFigures:
    """Figures of one or two annotators for one draw."""

    origin: Origin
    available: int
    """Samples among which were drawn."""
    readers: tuple[Figures, ...]
    agreed: tuple[Agreed, ...]
    """Agreement on samples with a verdict of both; empty with one annotator or without such a sample."""


def figures(judgements: Sequence[Judgement], *, reader: str, table: str, drawn: int) -> Figures:
    """The shares of one reader; InputError where no sample has a verdict."""
    given = [each for each in judgements if each.verdict]
    if not given:
        raise InputError(f"{table}: no sample has a verdict yet; read some with kgqa review.")
    counts = {name: sum(test(each) for each in given) for name, test in _questions().items()}
    shares = tuple(Share(category=name, count=count, interval=wilson(count, len(given))) for name, count in counts.items())
    return Figures(reader=reader, table=table, read=len(given), drawn=drawn, shares=shares)


def agreement(first: Sequence[Judgement], second: Sequence[Judgement]) -> tuple[Agreed, ...]:
    """Agreement of two annotators on samples with a verdict of both: over all verdicts, and by category."""
    mine, theirs = ({each.sample: each for each in judgements if each.verdict} for judgements in (first, second))
    both = [(mine[sample], theirs[sample]) for sample in mine if sample in theirs]
    if not both:
        return ()
    asked: dict[str, Callable[[Judgement], str]] = {VERDICT: lambda each: each.verdict}
    asked |= {name: lambda each, test=test: str(test(each)) for name, test in _questions().items()}  # type: ignore[misc]
    found = {name: cohen([say(one) for one, _ in both], [say(other) for _, other in both]) for name, say in asked.items()}
    return tuple(Agreed(question=name, agreement=each, same=wilson(each.same, each.items)) for name, each in found.items())


def _questions() -> Mapping[str, Callable[[Judgement], bool]]:
    """Category → whether a judgement is of it."""
    asked: dict[str, Callable[[Judgement], bool]] = {VALIDITY: lambda each: each.verdict in VALID}
    asked |= {name: lambda each, name=name: each.verdict == name for name in VERDICTS}  # type: ignore[misc]
    asked |= {name: lambda each, name=name: name in each.marks for name in MARKS}  # type: ignore[misc]
    return asked
