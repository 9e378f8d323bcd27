"""Step S5 (Trivedi et al. 2022): splits without leakage whose dev and test cover many small components and many answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.arrays.rows import Adjacency
from kgqa.recipes.musique.balance import Features
from kgqa.splits.components import components_of
from kgqa.splits.cut import Cut, leak_free

MISSING = 0.1
"""Share of dev and test that may be missing after the small components before the largest one is cut."""
LEAST = 0.1
"""Minimum different answers per question of a component in dev or test. The limits of even splits would drop most questions of others."""
LONG = 2.0
"""Weight of a question of three or four hops; one of two hops with an answer of its own weighs 1. Long questions are rare outside train."""


def spread(
    items: Adjacency, shares: tuple[float, float, float], chain_features: Sequence[Features], kinds: npt.NDArray[np.int8], *, seed: int
) -> Cut:
    """Splits of about these ``shares`` without a common item; ``items``: chain → its questions, answers and paragraphs.

    Small components fill dev and test in turn, so that both get as many answers for their shares. Those with most answers and long
    questions for their size come first. If they do not suffice, :func:`leak_free` cuts what is missing off the largest component. The
    rest is train.
    """
    components = components_of(items)
    sizes = np.bincount(components)
    if not len(sizes):
        return leak_free(items, shares, seed=seed, kinds=kinds)
    largest = int(np.argmax(sizes))
    targets = [share * len(components) for share in shares]
    split = _filled(components, largest, targets, chain_features, seed)[components]
    missing = [max(0, int(targets[number]) - int((split == number).sum())) for number in (1, 2)]
    if sum(missing) > MISSING * (targets[1] + targets[2]):
        rows = np.flatnonzero(components == largest)
        first, second = (count / max(len(rows), 2 * sum(missing)) for count in missing)  # train keeps at least half
        split[rows] = leak_free(items.take(rows), (1 - first - second, first, second), seed=seed, kinds=kinds[rows]).split
    return Cut(split=split, kept=tuple(int((split == number).sum()) for number in range(3)))


def _filled(
    components: npt.NDArray[np.integer], largest: int, targets: Sequence[float], chain_features: Sequence[Features], seed: int
) -> npt.NDArray[np.int8]:
    """The split of each component; dev and test hold at most their ``targets``, in chains, and the largest component is train."""
    sizes = np.bincount(components)
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    long_counts = Counter[int]()
    for component, chain in zip(components.tolist(), chain_features, strict=True):
        answers[component][chain.answer] += 1
        long_counts[component] += chain.hops != "2hop"
    draw = np.random.default_rng(seed).permutation(len(sizes))
    worth = np.array([(len(answers[index]) + LONG * long_counts[index]) / max(1, sizes[index]) for index in range(len(sizes))])
    split = np.zeros(len(sizes), np.int8)
    fill_shares = [0.0, 0.0, 0.0]
    answer_counts = [0, 0, 0]
    for component in np.lexsort((draw, -worth)).tolist():
        if component == largest or len(answers[component]) < LEAST * sizes[component]:
            continue
        side = 1 if answer_counts[1] * targets[2] <= answer_counts[2] * targets[1] else 2
        for number in (side, 3 - side):
            # With few chains a share is below one, and some dev is better than none.
            is_first = targets[number] > 0 and not fill_shares[number] and sizes[component] <= 2 * max(1.0, targets[number])
            if is_first or fill_shares[number] + sizes[component] <= targets[number]:
                split[component] = number
                fill_shares[number] += sizes[component]
                answer_counts[number] += len(answers[component])
                break
    return split
