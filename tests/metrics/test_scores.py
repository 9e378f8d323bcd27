"""What all scorers share: who is missing and who is extra, how means are made, and that nothing is scored on nothing."""

from __future__ import annotations

from math import fsum

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import InputError
from kgqa.metrics.scores import listed, mean, total, unmatched

KEYS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(gold=KEYS.filter(bool), predicted=KEYS)
def test_every_id_is_matched_missing_or_extra(gold: list[str], predicted: list[str]) -> None:
    missing, extra = unmatched(gold, predicted)
    assert missing == tuple(key for key in gold if key not in predicted)
    assert extra == tuple(key for key in predicted if key not in gold)


def test_without_gold_there_is_nothing_to_score() -> None:
    with pytest.raises(InputError, match="no question"):
        unmatched([], ["a"])


def test_sums_are_made_one_by_one_from_the_left() -> None:
    values = [0.1] * 10
    assert total(values) == 0.9999999999999999
    assert fsum(values) == 1.0
    assert mean(dict.fromkeys("abc", 0.5)) == 0.5
    assert mean({}) == 0.0


@given(st.lists(st.text(min_size=1), max_size=12))
def test_a_message_names_a_few_ids_and_counts_the_rest(keys: list[str]) -> None:
    text = listed(keys)
    assert text.startswith(", ".join(keys[:5]))
    assert text.endswith(f" and {len(keys) - 5} more") == (len(keys) > 5)
