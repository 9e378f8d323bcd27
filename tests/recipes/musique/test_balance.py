"""What stays in a split keeps the limits that its own size has, and dev and test are of many parts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kgqa.arrays.rows import Adjacency
from kgqa.recipes.musique.balance import SMALL, Features, excluded_chains
from kgqa.recipes.musique.choice import ALWAYS
from kgqa.recipes.musique.splitting import spread
from kgqa.settings.musique import LeakageSettings


def facts(chains: list[Features]) -> int:
    return sum(len(chain.relations) for chain in chains)


def drawn(count: int, seed: int) -> list[Features]:
    """Chains with a few common answers, last hops and relations among many seldom ones."""
    rng = np.random.default_rng(seed)
    skewed = rng.zipf(1.4, (count, 4)) % 200
    return [
        Features(answer=f"a{a}", last=f"l{b}", relations=(f"r{c % 40}", f"s{d % 40}"), template=f"t{c % 60} {d % 60}", hops=hops)
        for (a, b, c, d), hops in zip(
            skewed.tolist(), rng.choice(["2hop", "3hop", "4hop"], count, p=[0.8, 0.15, 0.05]).tolist(), strict=True
        )
    ]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_what_stays_keeps_all_limits(seed: int) -> None:
    data = drawn(3000, seed)
    rng = np.random.default_rng(seed)
    split = rng.choice(np.array([-1, 0, 1, 2], np.int8), 3000, p=[0.1, 0.6, 0.2, 0.1])
    draws = rng.integers(0, 1 << 60, 3000).astype(np.uint64)
    settings = LeakageSettings(max_answer_share=0.02, max_relation_share=0.1, max_template_share=0.05, max_last_share=0.3)
    dropped = excluded_chains(split, draws, data, settings)
    assert dropped == excluded_chains(split, draws, data, settings)
    assert all(split[row] >= 0 for row in dropped)
    for number in range(3):
        remaining = [data[row] for row in np.flatnonzero(split == number).tolist() if row not in dropped]
        assert len(remaining) > SMALL
        # A limit is that of the size that was tried, which is no larger than what stays, and whole questions are counted.
        assert max(Counter(item.answer for item in remaining).values()) <= max(ALWAYS, 0.02 * len(remaining) + 1)
        assert max(Counter(name for item in remaining for name in item.relations).values()) <= 0.1 * facts(remaining) + 2
        assert max(Counter(item.template for item in remaining).values()) <= 0.05 * len(remaining) + 1
        guessed = Counter[str]()
        for last in {item.last for item in remaining}:
            most = max(Counter(item.answer for item in remaining if item.last == last).values())
            guessed[last] = most if most > 1 else 0
        assert guessed.total() <= 0.3 * len(remaining) + 1
    train = [data[row] for row in np.flatnonzero(split == 0).tolist() if row not in dropped]
    assert Counter(item.hops for item in train)["2hop"] <= 0.8 * len(train) + 1


def test_a_relation_is_limited_by_the_facts_of_what_stays() -> None:
    """Two thirds have four facts and one answer, so most of them go; the others have two facts."""
    data = [
        Features(answer="a", last=f"l{row}", relations=tuple(f"r{row} {k}" for k in range(4)), template=f"t{row}", hops="4hop")
        for row in range(600)
    ]
    data += [
        Features(
            answer=f"b{row}", last=f"m{row}", relations=("common" if row % 4 else f"q{row}", f"s{row}"), template=f"u{row}", hops="2hop"
        )
        for row in range(300)
    ]
    dropped = excluded_chains(
        np.zeros(900, np.int8), np.arange(900).astype(np.uint64), data, LeakageSettings(max_relation_share=0.1, shapes={})
    )
    remaining = [data[row] for row in range(900) if row not in dropped]
    assert len(remaining) > SMALL
    assert sum(chain.relations.count("common") for chain in remaining) <= 0.1 * facts(remaining) + 1


def test_each_answer_keeps_a_question_before_another_one_has_several() -> None:
    own = [Features(answer=f"own{i}", last=f"o{i}", relations=("common",), template="t", hops="2hop") for i in range(20)]
    same = [Features(answer=f"same{i % 5}", last=f"s{i}", relations=(f"rare{i}",), template="t", hops="2hop") for i in range(100)]
    other = [Features(answer=f"x{i}", last=f"x{i}", relations=(f"y{i}",), template=f"z{i}", hops="3hop") for i in range(280)]
    data = own + same + other
    settings = LeakageSettings(max_template_share=0.1, shapes={})
    dropped = excluded_chains(np.ones(len(data), np.int8), np.arange(len(data), dtype=np.uint64), data, settings)
    assert dropped
    remaining = {item.answer for row, item in enumerate(data) if row not in dropped}
    assert remaining >= {item.answer for item in own + same}


def test_of_few_questions_only_answers_and_last_hops_are_counted() -> None:
    data = [Features(answer=f"a{row}", last="l", relations=("r",), template="t", hops="2hop") for row in range(20)]
    assert excluded_chains(np.zeros(20, np.int8), np.arange(20).astype(np.uint64), data, LeakageSettings()) == {}
    copy = [Features(answer="a", last=f"l{row}", relations=("r",), template="t", hops="2hop") for row in range(20)]
    dropped = excluded_chains(np.zeros(20, np.int8), np.arange(20).astype(np.uint64), copy, LeakageSettings())
    assert dropped == dict.fromkeys(range(ALWAYS, 20), "answer")


def test_dev_and_test_are_of_many_small_parts() -> None:
    """One part with half of the questions, and 50 of ten, of which each second has one answer alone."""
    part = np.array([0] * 500 + [1 + row // 10 for row in range(500)])
    data = [
        Features(answer=f"a{row if part[row] % 2 else part[row]}", last="l", relations=(), template="t", hops="2hop") for row in range(1000)
    ]
    items = Adjacency.from_pairs(np.arange(1000), part, 1000)
    result = spread(items, (0.8, 0.1, 0.1), data, np.zeros(1000, np.int8), seed=0)
    assert result.dropped == 0
    assert result.kept == (800, 100, 100)
    assert all(len(set(result.split[part == number].tolist())) == 1 for number in range(51))
    for number in (1, 2):
        assert len({data[row].answer for row in np.flatnonzero(result.split == number).tolist()}) == 100


def test_where_everything_hangs_together_it_is_cut() -> None:
    items = Adjacency.from_pairs(np.repeat(np.arange(100), 2), np.concatenate([[row, row + 1] for row in range(100)]), 100)
    data = [Features(answer=f"a{row}", last="l", relations=(), template="t", hops="2hop") for row in range(100)]
    result = spread(items, (0.8, 0.1, 0.1), data, np.zeros(100, np.int8), seed=0)
    assert min(result.kept) >= 5
    assert result.dropped >= 2
