"""The ways to divide a question's supporting facts, in a defined order; facts are numbers from 0."""

from __future__ import annotations

from functools import cache
from itertools import combinations

Part = tuple[int, ...]


@cache
def bipartitions(count: int) -> tuple[tuple[Part, Part], ...]:
    """The 2^(count-1) - 1 proper bi-partitions of ``count`` facts, each once: fact 0 is always in the first part.

    A proper bi-partition has two parts, neither empty (Trivedi et al. 2020, section 3.1). In the order of the binary number whose bit i - 1
    says whether fact i is in the first part.

    >>> bipartitions(3)
    (((0,), (1, 2)), ((0, 1), (2,)), ((0, 2), (1,)))
    """
    rest = range(1, count)
    found = []
    for number in range(2 ** (count - 1) - 1):
        first = (0, *(fact for fact in rest if number >> (fact - 1) & 1))
        found.append((first, tuple(fact for fact in rest if not number >> (fact - 1) & 1)))
    return tuple(found)


@cache
def proper_subsets(count: int) -> tuple[Part, ...]:
    """The 2^count - 2 subsets of ``count`` facts that are neither empty nor everything, small ones first, then in the order of the facts.

    >>> proper_subsets(3)
    ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    """
    return tuple(part for size in range(1, count) for part in combinations(range(count), size))
