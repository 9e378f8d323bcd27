"""Agreement of several annotators: published worked examples, the definitions spelled out, and what is not defined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.metrics import kappa
from kgqa.metrics.agreement import Agreement, Measure, agreement, cohen
from tests.lengths import example_count

Items = Sequence[Sequence[str]]
ITEMS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=8)

FLEISS_1971 = """
0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1 / 7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / 0 2 2 3 7
"""
"""Ten subjects, 14 raters, five categories: the worked example that textbooks give of Fleiss' kappa."""
KRIPPENDORFF_2011 = ("1233214 12...", "123322412 5.3", ".33323422 51.", "12332441 2 51.")
"""Four observers, 12 units, five values, some missing: section C of "Computing Krippendorff's alpha-reliability"; Gwet uses it too."""


def measured(items: Items) -> Agreement:
    codes = {label: number for number, label in enumerate(sorted({label for item in items for label in item}))}
    numbers = [number for number, item in enumerate(items) for _ in item]
    return agreement(np.array(numbers, np.int64), np.array([codes[label] for item in items for label in item], np.int64))


def units(observers: Sequence[str]) -> list[str]:
    return ["".join(value for value in unit if value != ".") for unit in zip(*(row.replace(" ", "") for row in observers), strict=True)]


def test_fleiss_worked_example() -> None:
    counts = [[int(count) for count in row.split()] for row in FLEISS_1971.strip().split(" / ")]
    found = measured(["".join(letter * count for letter, count in zip("abcde", row, strict=True)) for row in counts])
    assert (found.items, found.annotators, found.answers) == (10, 14, 140)
    assert found.observed == pytest.approx(0.378, abs=5e-4)
    assert found.fleiss.value == pytest.approx(0.210, abs=5e-4)


def test_krippendorffs_worked_examples() -> None:
    # Section A: two observers, ten units, binary data, none missing: 0.095.
    assert measured([a + b for a, b in zip("0100000010", "1110010000", strict=True)]).alpha.value == pytest.approx(0.095, abs=5e-4)
    # Section C: 0.743. Gwet's AC1 of the same table is 0.775 (Gwet 2014, "Handbook of Inter-Rater Reliability").
    found = measured(units(KRIPPENDORFF_2011))
    assert (found.items, found.answers) == (11, 40)
    assert found.alpha.value == pytest.approx(0.743, abs=5e-4)
    assert found.ac1.value == pytest.approx(0.77544, abs=5e-6)


def test_gwets_worked_example() -> None:
    # Gwet 2002, "Kappa statistic is not satisfactory": 118 both yes, 5 and 2 one of them, none both no.
    found = measured(["yy"] * 118 + ["yn"] * 5 + ["ny"] * 2)
    assert found.ac1.value == pytest.approx(0.9408, abs=5e-5)
    assert found.observed == pytest.approx(0.944)
    first, second = np.array([1] * 123 + [0] * 2), np.array([1] * 118 + [0] * 5 + [1] * 2)
    assert cohen(first, second).value == pytest.approx(-0.0234, abs=5e-5)


def by_pairs(items: Items) -> dict[str, float | None]:
    """The coefficients from their definitions, pair by pair."""
    twice = [item for item in items if len(item) >= 2]
    values = [label for item in twice for label in item]
    observed = [sum(a == b for a, b in permutations(item, 2)) / (len(item) * (len(item) - 1)) for item in twice]
    result: dict[str, float | None] = {"alpha": None, "ac1": None}
    # Alpha: disagreement of the pairs within units against that of all pairs of values.
    expected = sum(a != b for a, b in permutations(values, 2)) / max(1, len(values) * (len(values) - 1))
    if expected:
        within = sum((1 - same) * len(item) for same, item in zip(observed, twice, strict=True)) / len(values)
        result["alpha"] = 1 - within / expected
    labels = {label for item in items for label in item}
    if twice and len(labels) > 1:
        shares = [sum(item.count(label) / len(item) for item in items) / len(items) for label in labels]
        chance = sum(share * (1 - share) for share in shares) / (len(labels) - 1)
        result["ac1"] = (sum(observed) / len(observed) - chance) / (1 - chance)
    return result


@given(ITEMS)
def test_they_are_what_their_definitions_say(items: list[list[str]]) -> None:
    found, expected = measured(items), by_pairs(items)
    assert found.alpha.value == (None if expected["alpha"] is None else pytest.approx(expected["alpha"], abs=1e-9))
    assert found.ac1.value == (None if expected["ac1"] is None else pytest.approx(expected["ac1"], abs=1e-9))
    sizes = Counter(len(item) for item in items if len(item) > 1)
    assert found.annotators == max(sizes, key=lambda size: (sizes[size], size), default=0)
    assert found.unanimous == sum(len(item) > 1 and len(set(item)) == 1 for item in items)
    whole = [item for item in items if len(item) == found.annotators > 1]
    assert found.fleiss.items == len(whole)
    assert found.fleiss.value == (pytest.approx(fleiss(whole)) if fleiss(whole) is not None else None)


def fleiss(items: Items) -> float | None:
    labels = [label for item in items for label in item]
    shares = [count / len(labels) for count in Counter(labels).values()]
    if len(shares) < 2:
        return None
    observed = [sum(a == b for a, b in combinations(item, 2)) / (len(item) * (len(item) - 1) / 2) for item in items]
    expected = sum(share * share for share in shares)
    return (sum(observed) / len(observed) - expected) / (1 - expected)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=8))
def test_cohens_kappa_is_the_one_without_an_interval(pairs: list[tuple[str, str]]) -> None:
    first, second = (np.array([ord(pair[side]) for pair in pairs]) for side in (0, 1))
    expected = kappa.cohen([a for a, _ in pairs], [b for _, b in pairs]).kappa
    assert cohen(first, second).value == (None if expected is None else pytest.approx(expected, abs=1e-9))


def jackknife(items: list[list[str]], measure: Callable[[list[list[str]]], float | None]) -> tuple[float, float] | None:
    whole, without = measure(items), [measure(items[:i] + items[i + 1 :]) for i in range(len(items))]
    values = [value for value in without if value is not None]
    if whole is None or len(values) < len(items) or len(items) < 2:
        return None
    mean = sum(values) / len(values)
    half = 1.959963984540054 * sqrt((len(values) - 1) / len(values) * sum((value - mean) ** 2 for value in values))
    return max(-1, whole - half), min(1, whole + half)


def interval(measure: Measure) -> tuple[float, float] | None:
    return None if measure.low is None or measure.high is None else (measure.low, measure.high)


@settings(max_examples=example_count(50))
@given(ITEMS)
def test_intervals_leave_out_one_item_in_turn(items: list[list[str]]) -> None:
    twice = [item for item in items if len(item) > 1]
    found = measured(items)
    expected = jackknife(twice, lambda some: by_pairs(some)["alpha"])
    assert interval(found.alpha) == (None if expected is None else pytest.approx(expected, abs=1e-6))
    whole = [item for item in items if len(item) == found.annotators > 1]
    expected = jackknife(whole, fleiss)
    assert interval(found.fleiss) == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(("truth", "name"), [(0.6, "alpha"), (0.6, "fleiss")])
def test_intervals_hold_the_truth_about_as_often_as_they_say(truth: float, name: str) -> None:
    # With chance `truth` both give the item's label, otherwise each draws its own: the expected coefficient is `truth`.
    rng, held = np.random.default_rng(0), 0
    for _ in range(400):
        item = np.repeat(np.arange(60), 3)
        own, shared = rng.integers(0, 3, 180), np.repeat(rng.integers(0, 3, 60), 3)
        measure: Measure = getattr(agreement(item, np.where(np.repeat(rng.random(60) < truth, 3), shared, own)), name)
        held += measure.low is not None and measure.high is not None and measure.low <= truth <= measure.high
    assert 0.91 <= held / 400 <= 0.98


def test_what_is_not_defined_is_none() -> None:
    nothing = measured([])
    assert (nothing.items, nothing.observed, nothing.fleiss.value, nothing.alpha.value, nothing.ac1.value) == (0, None, None, None, None)
    once = measured(["a", "b"])
    assert (once.items, once.alpha.value, once.ac1.value, once.annotators) == (0, None, None, 0)
    alike = measured(["aa", "aa"])
    assert (alike.observed, alike.unanimous) == (1.0, 2)
    assert alike.fleiss.value is alike.alpha.value is alike.ac1.value is None
    # Without its first item all answers are the same: a value, but no interval.
    one = measured(["ab", "aa"])
    assert one.alpha.value is not None
    assert interval(one.alpha) is None
    assert cohen(np.array([], np.int64), np.array([], np.int64)).value is None
