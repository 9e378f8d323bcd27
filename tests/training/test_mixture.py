"""A mixture has all base questions and the asked share of others, drawn the same each time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kgqa.training.mixture import mixture
from kgqa.training.questions import Questions, of_list
from tests.small_questions import question


def some(count: int, name: str) -> Questions:
    return of_list([replace(question(0), id=f"{name}{number}", group=f"{name}{number}") for number in range(count)])


@pytest.mark.parametrize("seed", [0, 1])
def test_others_are_drawn_by_weight(seed: int) -> None:
    mixed = mixture(some(80, "q"), [(some(50, "s"), 3), (some(50, "d"), 1)], share=0.2, seed=seed)
    ids = [instance.id for instance in mixed]
    assert ids[:80] == [f"q{number}" for number in range(80)]
    assert Counter(name[:3] for name in ids[80:]) == {"1/s": 15, "2/d": 5}
    assert len(set(ids)) == len(ids) == len(mixed) == mixed.count == 100
    again = mixture(some(80, "q"), [(some(50, "s"), 3), (some(50, "d"), 1)], share=0.2, seed=seed)
    assert [instance.id for instance in again] == ids
    assert again.key == mixed.key


def test_seeds_draw_others_and_equal_ids_stay_apart() -> None:
    first, second = (mixture(some(8, "q"), [(some(50, "q"), 1)], share=0.5, seed=seed) for seed in (0, 1))
    assert first.key != second.key
    assert len({instance.id for instance in first}) == 16


def test_a_small_set_gives_all_and_a_part_of_a_split_stays_a_part() -> None:
    part = some(10, "q").only(np.arange(10) < 4)
    mixed = mixture(part, [(some(2, "s"), 1)], share=0.5, seed=0)
    assert [instance.id for instance in mixed][:4] == ["q0", "q1", "q2", "q3"]
    assert len(mixed) == 6
