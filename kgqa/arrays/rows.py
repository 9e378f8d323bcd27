"""Ragged rows as two flat arrays, searchable rows, and pairs of row numbers, for graphs, samples and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kgqa.arrays.int32 import check_fits

IntArray = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Ragged rows: row i is ``targets[offsets[i]:offsets[i + 1]]``, in any order."""

    offsets: Offsets
    targets: IntArray

    @classmethod
    def from_counts(cls, counts: npt.NDArray[np.integer], targets: IntArray) -> Self:
        """Rows with these ``counts`` of entries, one after the other in ``targets``."""
        offsets = offsets_of(counts)
        assert offsets[-1] == len(targets)
        return cls(offsets=offsets, targets=targets)

    @classmethod
    def numbering(cls, counts: npt.NDArray[np.integer], what: str, remedy: str) -> Self:
        """Rows with these ``counts`` of entries, which number all of ``what`` from 0; ``remedy`` is for :func:`check_fits`."""
        total = int(counts.sum(dtype=np.int64))
        check_fits(total, what, remedy)
        return cls.from_counts(counts, np.arange(total, dtype=np.int32))

    def places(self) -> Offsets:
        """The position of each entry of ``targets`` in its row, from 0."""
        return spread(np.zeros(len(self.offsets) - 1, np.int64), self.counts())

    def sources(self) -> IntArray:
        """The row of each entry of ``targets`` (int32)."""
        check_fits(len(self.offsets) - 1, "rows", "make the dataset in parts")
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def counts(self) -> Offsets:
        """The number of entries of each row (int64)."""
        return np.diff(self.offsets)

    def take(self, rows: npt.NDArray[np.integer]) -> Self:
        """These ``rows``, in this order."""
        counts = self.counts()[rows]
        return self.from_counts(counts, self.targets[spread(self.offsets[rows], counts)])

    def keep(self, mask: npt.NDArray[np.bool_]) -> Self:
        """The same rows with only the entries that ``mask`` (one bool per entry of ``targets``) selects."""
        total = np.concatenate([[0], np.cumsum(mask)])
        return type(self)(offsets=total[self.offsets].astype(np.int64), targets=self.targets[mask])


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjacency(Rows):
    """Searchable rows: the entries of each row ascend without repetition."""

    def __post_init__(self) -> None:
        """Check the order, since a search in unordered rows would silently miss entries. O(n)."""
        ascends = self.targets[1:] > self.targets[:-1]
        begins = self.offsets[1:-1]
        ascends[begins[(begins > 0) & (begins < len(self.targets))] - 1] = True
        assert ascends.all(), "the neighbours of a row do not ascend"

    @classmethod
    def from_pairs(cls, source: npt.NDArray[np.integer], target: npt.NDArray[np.integer], rows: int) -> Self:
        """Rows from pairs in any order, repeated or not. O(n log n); memory: 16 bytes per pair."""
        check_fits(max(rows, int(target.max(initial=0))), "rows", "make the dataset in parts")
        keys = distinct(paired(source, target))
        return cls(offsets=row_bounds(keys >> 32, rows), targets=(keys & 0xFFFFFFFF).astype(np.int32))

    def reversed(self, rows: int) -> Adjacency:
        """The same pairs with source and target exchanged; ``rows`` is the number of targets."""
        return Adjacency.from_pairs(self.targets, self.sources(), rows)

    def contains(self, source: npt.NDArray[np.integer], target: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Whether each pair is in the rows. O(pairs × log n)."""
        return find(paired(self.sources(), self.targets), paired(source, target)) >= 0


def offsets_of(counts: Sequence[int] | npt.NDArray[np.integer]) -> Offsets:
    """Where each row of a table with these numbers of entries begins, and the end (int64, rows + 1).

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def spread(starts: npt.NDArray[np.integer], counts: npt.NDArray[np.integer]) -> Offsets:
    """The positions ``starts[i], starts[i] + 1, …`` (``counts[i]`` of them) of all i, one after the other.

    >>> spread(np.array([10, 20]), np.array([2, 3])).tolist()
    [10, 11, 20, 21, 22]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts)


def row_bounds(sources: npt.NDArray[np.integer], rows: int) -> Offsets:
    """The offsets (rows + 1) of each row in ``sources``, which are ascending row numbers."""
    return np.searchsorted(sources, np.arange(rows + 1)).astype(np.int64)


def paired(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> Offsets:
    """Two row numbers packed into one int64, which sorts by the first, then by the second."""
    return (first.astype(np.int64) << 32) | second.astype(np.int64)


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The distinct ``values``, ascending.

    np.unique would hash them, which takes many times as long as sorting.
    """
    sorted_values = np.sort(values)
    return sorted_values[np.append(True, sorted_values[1:] != sorted_values[:-1])[: len(sorted_values)]]


def find(values: npt.NDArray[Any], queries: npt.NDArray[Any]) -> Offsets:
    """The index of each of ``queries`` in ``values``, which ascend, or -1. O(queries × log values).

    >>> find(np.array([2, 5, 9]), np.array([5, 6])).tolist()
    [1, -1]
    """
    if not len(values):
        return np.full(len(queries), -1, np.int64)
    at = np.minimum(np.searchsorted(values, queries), len(values) - 1)
    return np.where(values[at] == queries, at, -1)
