"""Ragged rows as two flat arrays, rows that can be searched, and row numbers in pairs: what graphs, samples and texts are kept in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kgqa.arrays.narrow import check_fits

IntArray = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Ragged rows: row i is ``targets[offsets[i]:offsets[i + 1]]``, in any order."""

    offsets: Offsets
    targets: IntArray

    @classmethod
    def from_counts(cls, counts: npt.NDArray[np.integer], targets: IntArray) -> Self:
        """Rows of the given lengths, one after the other in ``targets``."""
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        assert offsets[-1] == len(targets)
        return cls(offsets=offsets, targets=targets)

    @classmethod
    def numbering(cls, counts: npt.NDArray[np.integer], what: str, remedy: str) -> Self:
        """Rows of the given lengths that hold 0, 1, 2, … in turn: the numbers of ``what``; ``remedy`` is for :func:`check_fits`."""
        total = int(counts.sum(dtype=np.int64))
        check_fits(total, what, remedy)
        return cls.from_counts(counts, np.arange(total, dtype=np.int32))

    def places(self) -> Offsets:
        """For each entry of ``targets`` its place in its row, from 0."""
        return spread(np.zeros(len(self.offsets) - 1, np.int64), self.counts())

    def sources(self) -> IntArray:
        """For each entry of ``targets`` the row that it belongs to."""
        check_fits(len(self.offsets) - 1, "rows", "make the dataset in parts")
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def counts(self) -> Offsets:
        """Entries of each row."""
        counts: Offsets = np.diff(self.offsets)
        return counts

    def take(self, rows: npt.NDArray[np.integer]) -> Self:
        """The given rows, in the given order."""
        counts = self.counts()[rows]
        return self.from_counts(counts, self.targets[spread(self.offsets[rows], counts)])

    def keep(self, kept: npt.NDArray[np.bool_]) -> Self:
        """The same rows with only those entries for which ``kept`` (one bool per entry of ``targets``) holds."""
        total = np.concatenate([[0], np.cumsum(kept)])
        return type(self)(offsets=total[self.offsets].astype(np.int64), targets=self.targets[kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjacency(Rows):
    """Rows that can be searched: the neighbours of each ascend, without repetition."""

    def __post_init__(self) -> None:
        """What is not in order is refused, because a search would silently miss what is there; O(n)."""
        ascends = self.targets[1:] > self.targets[:-1]
        begins = self.offsets[1:-1]
        ascends[begins[(begins > 0) & (begins < len(self.targets))] - 1] = True
        assert ascends.all(), "the neighbours of a row do not ascend"

    @classmethod
    def from_pairs(cls, source: npt.NDArray[np.integer], target: npt.NDArray[np.integer], rows: int) -> Self:
        """Sort and de-duplicate (source, target) pairs; O(n log n), 16 bytes a pair while it runs."""
        check_fits(max(rows, int(target.max(initial=0))), "rows", "make the dataset in parts")
        keys = distinct(paired(source, target))
        return cls(offsets=row_bounds(keys >> 32, rows), targets=(keys & 0xFFFFFFFF).astype(np.int32))

    def reversed(self, rows: int) -> Adjacency:
        """The same pairs from the other side; ``rows`` is how many rows that side has."""
        return Adjacency.from_pairs(self.targets, self.sources(), rows)

    def contains(self, source: npt.NDArray[np.integer], target: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """For each pair whether it is there; O(pairs × log n)."""
        return find(paired(self.sources(), self.targets), paired(source, target)) >= 0


def spread(starts: npt.NDArray[np.integer], counts: npt.NDArray[np.integer]) -> Offsets:
    """The positions ``starts[i], starts[i] + 1, …`` (``counts[i]`` of them) of all i, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    positions: Offsets = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts)
    return positions


def row_bounds(sources: npt.NDArray[np.integer], rows: int) -> Offsets:
    """Where each row begins in ``sources``, ascending row numbers, and where the last one ends (rows + 1)."""
    return np.searchsorted(sources, np.arange(rows + 1)).astype(np.int64)


def paired(one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> Offsets:
    """Two row numbers as one: it sorts by the first, then by the second, and is the same only where both are."""
    return (one.astype(np.int64) << 32) | other.astype(np.int64)


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The ``values``, ascending and once each.

    Not np.unique: without counts or inverse it hashes, which takes many times as long as sorting, and by rows it takes longer still.
    """
    ordered = np.sort(values)
    kept: npt.NDArray[Any] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return kept


def find(known: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> Offsets:
    """The place of each ``wanted`` value among the ``known``, which ascend, or -1; O(wanted × log known)."""
    if not len(known):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, at, -1)
