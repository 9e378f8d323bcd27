"""Cohen's kappa: a worked example, its bounds, and what it cannot be computed for; the majority."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import InputError
from kgqa.metrics.kappa import cohen, majority


@pytest.mark.parametrize(("categories", "chosen"), [("aab", "a"), ("aabb", None), ("abc", None), ("", None), ("b", "b")])
def test_a_majority_is_more_than_half(categories: str, chosen: str | None) -> None:
    assert majority(categories) == chosen


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
