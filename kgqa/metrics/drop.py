"""DROP as its official script scores it (Dua et al. 2019), and IIRC, which uses a variant of it (Ferguson et al. 2020); in percent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.metrics.assignment import largest
from kgqa.metrics.normalize import ARTICLES, without_punctuation
from kgqa.metrics.overlap import harmonic
from kgqa.metrics.scores import Scores, unmatched

NONE = "none"
"""What IIRC takes for the answer of a question that has none, and for its type."""
Spans = Sequence[str]
Bag = frozenset[str]
WORDS = 1 << 16
"""Words whose normal form is remembered; most of a set's words are among a few."""
_BREAKS = re.compile("[ -]")
NAMES = ("Exact-match accuracy", "F1 score")
TYPES = "types"
"""In ``official``: type of answer → ``n``, its questions, and ``NAMES``."""
FEW = 32
"""Predicted spans up to which plain Python is faster than NumPy."""


def drop(
    gold: Mapping[str, Sequence[Spans]],
    predictions: Mapping[str, str | Spans],
    *,
    types: Mapping[str, Sequence[str]] | None = None,
) -> Scores:
    """Means over id → gold answers, of which each is a list of spans; a missing id counts 0, an unknown one is ignored.

    EM and F1 are each maximised over the gold answers; an answer without spans or with a blank first one does not count. With ``types``,
    id → the type of each gold answer, ``official`` has the script's lines for each type too; a question is of the type of the gold answer
    that was best, and without a prediction of that of the first. Where none counts the script stops; here the type is ``NONE``.
    """
    missing, extra = unmatched(gold, predictions)
    per_record: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    type_of: dict[str, str] = {}
    for key, answers in gold.items():
        known = types[key] if types is not None else [NONE] * len(answers)
        if key in predictions:
            *found, type_of[key] = _best(_spans(predictions[key]), answers, known)
        else:
            found, type_of[key] = [0.0, 0.0], known[0] if known else NONE
        for name, value in zip(NAMES, found, strict=True):
            per_record[name][key] = value
    # The script averages with NumPy, whose pairwise sum may differ from a plain one in the last bit.
    means = {name: float(np.mean(list(values.values()))) * 100 for name, values in per_record.items()}
    official: dict[str, Any] = {name: round(value, 2) for name, value in means.items()}
    if types is not None:
        official[TYPES] = _by_type(per_record, type_of)
    return Scores(official=official, unrounded=means, per_record=per_record, missing=missing, extra=extra)


def _best(predicted: Spans, answers: Sequence[Spans], types: Sequence[str]) -> tuple[float, float, str]:
    """EM and F1, each the best over the gold answers, and the type of the last answer that was, when its turn came, as good in either.

    So goes the script: a later answer of another type takes over where it is no worse in one of the two.
    """
    given = _Normalized(predicted)
    em, f1, best_type = 0.0, 0.0, NONE
    for answer, answer_type in zip(answers, types, strict=True):
        if answer and answer[0].strip():
            exact, overlap = _scores(given, _Normalized(answer))
            em, f1 = max(em, exact), max(f1, overlap)
            if exact == em or overlap == f1:
                best_type = answer_type
    return em, f1, best_type


def _by_type(per_record: Mapping[str, Mapping[str, float]], type_of: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Type → number of questions, and the means that the script prints for them, in percent with three decimals."""
    found: dict[str, dict[str, float]] = {}
    for name in sorted(set(type_of.values())):
        keys = [key for key, answer_type in type_of.items() if answer_type == name]
        means = {score: round(100.0 * float(np.mean([values[key] for key in keys])), 3) for score, values in per_record.items()}
        found[name] = {"n": len(keys), **means}
    return found


def iirc(
    gold: Mapping[str, Sequence[Spans]],
    predictions: Mapping[str, str | Spans],
    *,
    types: Mapping[str, Sequence[str]] | None = None,
) -> Scores:
    """As :func:`drop`, where binary answers are "yes" and "no" and values have no units.

    An answer without spans is the span "none", whose type is ``NONE``.
    """
    if types is not None:
        types = {key: [known if answer else NONE for answer, known in zip(gold[key], types[key], strict=True)] for key in gold}
    return drop({key: [answer or (NONE,) for answer in answers] for key, answers in gold.items()}, predictions, types=types)


def answer_spans(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """The spans of an answer in DROP's JSON (``number``, ``spans``, ``date``): the first of these that is not empty, else nothing."""
    if answer.get("number"):
        return (str(answer["number"]),)
    if answer.get("spans"):
        return tuple(answer["spans"])
    date = answer.get("date") or {}
    return (f"{date['day']} {date['month']} {date['year']}",) if any(date.values()) else ()


def answer_type(answer: Mapping[str, Any]) -> str:
    """What the script takes an answer in DROP's JSON for: one that is neither a number nor spans is a date, if only an empty one."""
    if answer.get("number"):
        return "number"
    if spans := answer.get("spans"):
        return "span" if len(spans) == 1 else "spans"
    return "date" if "date" in answer else NONE


def _spans(prediction: str | Spans) -> Spans:
    return (prediction,) if isinstance(prediction, str) else prediction


def spans_scores(predicted: Spans, gold: Spans) -> tuple[float, float]:
    """EM and F1 of one list of spans against another.

    EM: the same normalised spans, and as many. F1: the mean over spans aligned one to one as well as possible, where the longer list's
    other spans count 0; rounded to two decimals, as the script does for each question.
    """
    return _scores(_Normalized(predicted), _Normalized(gold))


class _Normalized:
    """The normal forms of a list of spans, and their tokens as sets."""

    def __init__(self, spans: Spans) -> None:
        self.spans = [normalize_span(span) for span in spans]
        self.bags = [frozenset(span.split()) for span in self.spans]


def _scores(given: _Normalized, wanted: _Normalized) -> tuple[float, float]:
    exact = float(len(given.spans) == len(wanted.spans) and set(given.spans) == set(wanted.spans))
    bags, gold_bags = given.bags, wanted.bags
    if len(gold_bags) == 1 or len(bags) <= 1:
        found = [f1 for gold_bag in gold_bags for f1 in _bag_f1s(bags, gold_bag)]
        mean = max(found, default=0.0) / max(len(bags), len(gold_bags))
    else:
        # NumPy's mean and its rounding (2.675 becomes 2.68, in Python 2.67), because the script uses them.
        padding = [0.0] * (len(bags) - len(gold_bags))
        mean = float(np.mean(largest(_table(bags, gold_bags)) + padding))
    return exact, round(mean * 100) / 100


def _table(bags: Sequence[Bag], gold_bags: Sequence[Bag]) -> Sequence[Sequence[float]] | NDArray[np.float64]:
    """F1 of each gold bag, a row, with each predicted one; in memory as a whole, 8 bytes a pair."""
    if len(bags) <= FEW:
        return [_bag_f1s(bags, gold_bag) for gold_bag in gold_bags]
    places: dict[str, list[int]] = {}
    for place, bag in enumerate(bags):
        for token in bag:
            places.setdefault(token, []).append(place)
    holding = {token: np.array(places[token]) for token in frozenset().union(*gold_bags) & places.keys()}
    sizes = np.array([len(bag) for bag in bags])
    table = np.empty((len(gold_bags), len(bags)))
    for row, gold_bag in zip(table, gold_bags, strict=True):
        row[:] = _row(gold_bag, holding, sizes)
    return table


def _row(gold: Bag, holding: Mapping[str, NDArray[np.int64]], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """What :func:`_bag_f1s` gives, by the same operations; ``holding``: token → the bags that have it, ``sizes``: tokens of each bag."""
    common = np.zeros(len(sizes))
    for token in gold & holding.keys():
        common[holding[token]] += 1
    precision = np.where(sizes > 0, common / np.maximum(sizes, 1), 1.0)
    recall = common / len(gold) if gold else np.ones(len(sizes))
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros(len(sizes)), where=both > 0)
    if numbers := {token for token in gold if _is_number(token)}:
        shared = np.zeros(len(sizes), dtype=bool)
        for number in numbers & holding.keys():
            shared[holding[number]] = True
        f1[~shared] = 0.0
    return f1


def _bag_f1s(bags: Sequence[Bag], gold: Bag) -> list[float]:
    """F1 of each bag over sets of tokens; an empty side has precision or recall 1. Gold numbers need one of them to be predicted."""
    numbers = {token for token in gold if _is_number(token)}
    return [_bag_f1(bag, gold) if not numbers or numbers & bag else 0.0 for bag in bags]


def _bag_f1(predicted: Bag, gold: Bag) -> float:
    common = len(predicted & gold)
    precision = common / len(predicted) if predicted else 1.0
    recall = common / len(gold) if gold else 1.0
    return harmonic(precision, recall)


def normalize_span(span: str) -> str:
    """The span's tokens between spaces and hyphens, each in lower case without punctuation and articles; numbers as floats.

    >>> normalize_span("The twenty-one $1,000 bills, 3.50 each")
    'twenty one 1000.0 bills 3.5 each'
    """
    return " ".join(token for token in map(_token, _BREAKS.split(span)) if token)


@lru_cache(maxsize=WORDS)
def _token(token: str) -> str:
    lowered = token.lower()
    bare = lowered if _is_number(lowered) else without_punctuation(lowered)
    return " ".join(ARTICLES.sub(" ", str(float(bare)) if _is_number(bare) else bare).split())


@lru_cache(maxsize=WORDS)
def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True
