"""All bi-partitions and subsets of a question's supporting facts, in a defined order; facts are numbers from 0."""

from __future__ import annotations

from functools import cache
from itertools import combinations

Part = tuple[int, ...]


@cache
def bipartitions(count: int) -> tuple[tuple[Part, Part], ...]:
    """The 2^(count-1) - 1 proper bi-partitions of ``count`` facts; fact 0 is always in the first part.

    A proper bi-partition has two non-empty parts (Trivedi et al. 2020, section 3.1). They are ordered by the binary number whose bit i - 1
    is set if fact i is in the first part.

    >>> bipartitions(3)
    (((0,), (1, 2)), ((0, 1), (2,)), ((0, 2), (1,)))
    """
    other_facts = range(1, count)
    parts = []
    for number in range(2 ** (count - 1) - 1):
        first_part = (0, *(fact for fact in other_facts if number >> (fact - 1) & 1))
        parts.append((first_part, tuple(fact for fact in other_facts if not number >> (fact - 1) & 1)))
    return tuple(parts)


@cache
def proper_subsets(count: int) -> tuple[Part, ...]:
    """The 2^count - 2 proper non-empty subsets of ``count`` facts, small ones first, then in the order of the facts.

    >>> proper_subsets(3)
    ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    """
    return tuple(part for size in range(1, count) for part in combinations(range(count), size))
