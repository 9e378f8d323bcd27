"""DROP as its official script scores it (Dua et al. 2019), and IIRC, which uses a variant of it (Ferguson et al. 2020); in percent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.metrics.normalize import ARTICLES, without_punctuation
from kgqa.metrics.overlap import harmonic
from kgqa.metrics.scores import Scores, unmatched

NONE = "none"
"""IIRC's answer, and answer type, for a question without an answer."""
Spans = Sequence[str]
Bag = frozenset[str]
WORDS = 1 << 16
"""Words whose normal form is remembered; most of a set's words are among a few."""
_BREAKS = re.compile("[ -]")
NAMES = ("Exact-match accuracy", "F1 score")
TYPES = "types"
"""In ``official``: type of answer → ``n``, its questions, and ``NAMES``."""
FEW = 32
"""Up to this many predicted spans, plain Python is faster than NumPy."""


def drop(
    gold: Mapping[str, Sequence[Spans]],
    predictions: Mapping[str, str | Spans],
    *,
    types: Mapping[str, Sequence[str]] | None = None,
) -> Scores:
    """DROP's scores, averaged over questions; each gold answer is a list of spans. A missing id counts 0, an unknown one is ignored.

    EM and F1 are each maximised over the gold answers. An answer without spans, or with a blank first span, does not count. With ``types``
    (id → the type of each gold answer) ``official`` also has the script's lines per type. A question has the type of its best gold answer,
    or of its first one if there is no prediction. Where no gold answer counts the script crashes; here the type is ``NONE``.
    """
    missing, extra = unmatched(gold, predictions)
    per_record: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    type_of: dict[str, str] = {}
    for key, answers in gold.items():
        answer_types = types[key] if types is not None else [NONE] * len(answers)
        if key in predictions:
            *scores, type_of[key] = _best(_as_spans(predictions[key]), answers, answer_types)
        else:
            scores, type_of[key] = [0.0, 0.0], answer_types[0] if answer_types else NONE
        for name, value in zip(NAMES, scores, strict=True):
            per_record[name][key] = value
    # The script averages with NumPy, whose pairwise sum may differ from a plain one in the last bit.
    means = {name: float(np.mean(list(values.values()))) * 100 for name, values in per_record.items()}
    official: dict[str, Any] = {name: round(value, 2) for name, value in means.items()}
    if types is not None:
        official[TYPES] = _by_type(per_record, type_of)
    return Scores(official=official, unrounded=means, per_record=per_record, missing=missing, extra=extra)


def _best(prediction: Spans, answers: Sequence[Spans], types: Sequence[str]) -> tuple[float, float, str]:
    """EM and F1, each the maximum over the gold answers, and the type that the script reports for the question.

    The script keeps the type of the last answer that, when compared, was at least as good as the best so far in one of the two scores.
    """
    normalized_spans = _Normalized(prediction)
    em, f1, best_type = 0.0, 0.0, NONE
    for answer, answer_type in zip(answers, types, strict=True):
        if answer and answer[0].strip():
            exact, overlap = _em_and_f1(normalized_spans, _Normalized(answer))
            em, f1 = max(em, exact), max(f1, overlap)
            if exact == em or overlap == f1:
                best_type = answer_type
    return em, f1, best_type


def _by_type(per_record: Mapping[str, Mapping[str, float]], type_of: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Type → number of questions, and the means that the script prints for them, in percent with three decimals."""
    means_by_type: dict[str, dict[str, float]] = {}
    for name in sorted(set(type_of.values())):
        keys = [key for key, answer_type in type_of.items() if answer_type == name]
        means = {score: round(100.0 * float(np.mean([values[key] for key in keys])), 3) for score, values in per_record.items()}
        means_by_type[name] = {"n": len(keys), **means}
    return means_by_type


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
        types = {key: [answer_type if answer else NONE for answer, answer_type in zip(gold[key], types[key], strict=True)] for key in gold}
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
    """The type that the script assigns to an answer in DROP's JSON; anything that is neither a number nor spans is a date, even an empty
    one.
    """
    if answer.get("number"):
        return "number"
    if spans := answer.get("spans"):
        return "span" if len(spans) == 1 else "spans"
    return "date" if "date" in answer else NONE


def _as_spans(prediction: str | Spans) -> Spans:
    return (prediction,) if isinstance(prediction, str) else prediction


def spans_scores(prediction: Spans, gold: Spans) -> tuple[float, float]:
    """EM and F1 of one list of spans against another.

    EM is 1 if both have the same normalised spans and the same number of them. F1 is the mean over the best one-to-one alignment, in which
    unaligned spans of the longer list count 0. It is rounded to two decimals, as the script does for each question.
    """
    return _em_and_f1(_Normalized(prediction), _Normalized(gold))


class _Normalized:
    """The normal forms of a list of spans, and their tokens as sets."""

    def __init__(self, spans: Spans) -> None:
        self.spans = [normalize_span(span) for span in spans]
        self.bags = [frozenset(span.split()) for span in self.spans]


def _em_and_f1(prediction: _Normalized, gold: _Normalized) -> tuple[float, float]:
    exact = float(len(prediction.spans) == len(gold.spans) and set(prediction.spans) == set(gold.spans))
    bags, gold_bags = prediction.bags, gold.bags
    if len(gold_bags) == 1 or len(bags) <= 1:
        f1s = [f1 for gold_bag in gold_bags for f1 in _bag_f1s(bags, gold_bag)]
        mean = max(f1s, default=0.0) / max(len(bags), len(gold_bags))
    else:
        # NumPy's mean and its rounding (2.675 becomes 2.68, in Python 2.67), because the script uses them.
        padding = [0.0] * (len(bags) - len(gold_bags))
        mean = float(np.mean(assignment_values(_f1_table(bags, gold_bags)) + padding))
    return exact, round(mean * 100) / 100


def assignment_values(values: Sequence[Sequence[float]] | NDArray[np.float64]) -> list[float]:
    """The value of each row in a one-to-one assignment of rows and columns with the largest sum; 0 for a row without a column.

    DROP's script aligns spans with SciPy's solver too: the sums of two optimal assignments may differ in the last bit. O(n² · m) at worst,
    for n ≤ m rows and columns.
    """
    from scipy.optimize import linear_sum_assignment  # the import takes half a second, and most runs do not need it

    table = np.asarray(values, dtype=np.float64)
    row_values = np.zeros(len(table))
    if table.size:
        rows, columns = linear_sum_assignment(table, maximize=True)
        row_values[rows] = table[rows, columns]
    return row_values.tolist()


def _f1_table(bags: Sequence[Bag], gold_bags: Sequence[Bag]) -> Sequence[Sequence[float]] | NDArray[np.float64]:
    """F1 of each gold bag, a row, with each predicted one; in memory as a whole, 8 bytes a pair."""
    if len(bags) <= FEW:
        return [_bag_f1s(bags, gold_bag) for gold_bag in gold_bags]
    bags_of_token: dict[str, list[int]] = {}
    for number, bag in enumerate(bags):
        for token in bag:
            bags_of_token.setdefault(token, []).append(number)
    bags_with_token = {token: np.array(bags_of_token[token]) for token in frozenset().union(*gold_bags) & bags_of_token.keys()}
    sizes = np.array([len(bag) for bag in bags])
    table = np.empty((len(gold_bags), len(bags)))
    for row, gold_bag in zip(table, gold_bags, strict=True):
        row[:] = _f1_row(gold_bag, bags_with_token, sizes)
    return table


def _f1_row(gold: Bag, bags_with_token: Mapping[str, NDArray[np.int64]], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """:func:`_bag_f1s` in NumPy, with the same operations. ``bags_with_token``: token → indices of bags; ``sizes``: tokens of each bag."""
    common_counts = np.zeros(len(sizes))
    for token in gold & bags_with_token.keys():
        common_counts[bags_with_token[token]] += 1
    precision = np.where(sizes > 0, common_counts / np.maximum(sizes, 1), 1.0)
    recall = common_counts / len(gold) if gold else np.ones(len(sizes))
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros(len(sizes)), where=total > 0)
    if numbers := {token for token in gold if _is_number(token)}:
        has_number = np.zeros(len(sizes), dtype=bool)
        for number in numbers & bags_with_token.keys():
            has_number[bags_with_token[number]] = True
        f1[~has_number] = 0.0
    return f1


def _bag_f1s(bags: Sequence[Bag], gold: Bag) -> list[float]:
    """F1 of each bag over sets of tokens; an empty side has precision or recall 1.

    If the gold has numbers, a bag without one of them scores 0.
    """
    numbers = {token for token in gold if _is_number(token)}
    return [_bag_f1(bag, gold) if not numbers or numbers & bag else 0.0 for bag in bags]


def _bag_f1(prediction: Bag, gold: Bag) -> float:
    overlap = len(prediction & gold)
    precision = overlap / len(prediction) if prediction else 1.0
    recall = overlap / len(gold) if gold else 1.0
    return harmonic(precision, recall)


def normalize_span(span: str) -> str:
    """The span's tokens between spaces and hyphens, each in lower case without punctuation and articles; numbers as floats.

    >>> normalize_span("The twenty-one $1,000 bills, 3.50 each")
    'twenty one 1000.0 bills 3.5 each'
    """
    return " ".join(token for token in map(_normalized_token, _BREAKS.split(span)) if token)


@lru_cache(maxsize=WORDS)
def _normalized_token(token: str) -> str:
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
