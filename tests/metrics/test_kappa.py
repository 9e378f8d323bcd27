"""Fleiss' kappa and Cohen's: worked examples, their bounds, and what they cannot be computed for."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import InputError
from kgqa.metrics.kappa import cohen, fleiss, majority

ITEMS = st.integers(2, 5).flatmap(
    lambda annotators: st.lists(st.lists(st.sampled_from("abc"), min_size=annotators, max_size=annotators), min_size=1)
)


def test_worked_example() -> None:
    # Observed: (1 + 1/3 + 0) / 3 = 4/9. Chosen: a 5, b 3, c 1 of 9, so expected (25 + 9 + 1) / 81 = 35/81. (36 - 35) / (81 - 35) = 1/46.
    found = fleiss(["aaa", "abb", "abc"])
    assert (found.items, found.annotators, found.without_majority) == (3, 3, 1 / 3)
    assert found.kappa == pytest.approx(1 / 46)


@given(ITEMS)
def test_kappa_is_at_most_1_and_1_only_where_all_agree(items: list[list[str]]) -> None:
    found = fleiss(items)
    agreed = all(len(set(categories)) == 1 for categories in items)
    if found.kappa is None:
        assert len({category for categories in items for category in categories}) == 1
    else:
        assert -1 <= found.kappa <= 1 + 1e-9
        assert (found.kappa == pytest.approx(1)) == agreed
        renamed = fleiss(
            [[{"a": "x", "b": "y", "c": "z"}[category] for category in reversed(categories)] for categories in reversed(items)]
        )
        assert renamed.kappa == pytest.approx(found.kappa)
    assert found.without_majority == sum(max(map(item.count, item)) * 2 <= len(item) for item in items) / len(items)


@pytest.mark.parametrize(("categories", "chosen"), [("aab", "a"), ("aabb", None), ("abc", None), ("", None), ("b", "b")])
def test_a_majority_is_more_than_half(categories: str, chosen: str | None) -> None:
    assert majority(categories) == chosen


@pytest.mark.parametrize(("items", "words"), [([], "at least one item"), (["a"], "two or more"), (["ab", "abc"], "item 2: it has 3")])
def test_what_has_no_kappa_is_refused(items: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        fleiss(items)


def test_cohens_worked_example() -> None:
    # 20 both yes, 5 only the first, 10 only the second, 15 both no: same 0.7, by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    found = cohen(first, second)
    assert (found.items, found.same) == (50, 35)
    assert found.kappa == pytest.approx(0.4)
    assert cohen(second, first) == found


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_cohens_kappa_is_1_where_they_always_agree_alone(pairs: list[tuple[str, str]]) -> None:
    found = cohen([one for one, _ in pairs], [other for _, other in pairs])
    if found.kappa is None:
        assert len({category for pair in pairs for category in pair}) == 1
    else:
        assert -1 <= found.kappa <= 1
        assert (found.kappa == 1) == (found.same == found.items)


@pytest.mark.parametrize(("first", "second"), [([], []), (["a"], ["a", "b"])])
def test_cohens_kappa_needs_items_that_both_judged(first: list[str], second: list[str]) -> None:
    with pytest.raises(InputError, match="items that both judged"):
        cohen(first, second)
