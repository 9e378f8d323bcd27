"""Splits whose dev and test are spread over what hangs together: many small parts, of many answers, and not one corner (step S5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.arrays.rows import Adjacency
from kgqa.recipes.musique.evening import Features
from kgqa.splits.components import components_of
from kgqa.splits.cut import Cut, leak_free

LONG = 2.0
"""So much a question of more than two hops counts, where one of two hops with an answer of its own counts 1: few are not in train."""


def spread(
    items: Adjacency, shares: tuple[float, float, float], known: Sequence[Features], kinds: npt.NDArray[np.int8], *, seed: int
) -> Cut:
    """Splits of about these ``shares`` that have no item in common; ``items``: chain → what it has, ``known``: what is counted of each.

    Where small components are enough for dev and test, they take turns with those that have most answers of their own and most long
    questions for their size, and the rest is train. Else everything hangs together, and is cut.
    """
    components = components_of(items)
    sizes = np.bincount(components)
    largest = int(np.argmax(sizes)) if len(sizes) else 0
    wanted = [share * len(components) for share in shares]
    if not len(sizes) or len(components) - sizes[largest] < wanted[1] + wanted[2]:
        return leak_free(items, shares, seed=seed, kinds=kinds)
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    long = Counter[int]()
    for component, chain in zip(components.tolist(), known, strict=True):
        answers[component][chain.answer] += 1
        long[component] += chain.hops != "2hop"
    draw = np.random.default_rng(seed).permutation(len(sizes))
    worth = np.array([(len(answers[each]) + LONG * long[each]) / max(1, sizes[each]) for each in range(len(sizes))])
    split = np.zeros(len(sizes), np.int8)
    filled = [0.0, 0.0, 0.0]
    for component in np.lexsort((draw, -worth)).tolist():
        if component == largest:
            continue
        side = 1 if filled[1] * wanted[2] <= filled[2] * wanted[1] else 2
        for number in (side, 3 - side):
            # Of few chains a share is less than one, and some dev is better than none.
            is_first = shares[number] > 0 and not filled[number] and sizes[component] <= 2 * max(1.0, wanted[number])
            if is_first or filled[number] + sizes[component] <= wanted[number]:
                split[component] = number
                filled[number] += sizes[component]
                break
    found = split[components]
    return Cut(split=found, kept=tuple(int((found == number).sum()) for number in range(3)))
