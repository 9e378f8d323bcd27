"""Items that two splits, or two sets, share, counted while the second one is read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kgqa.formats.native import BATCH_ROWS, batched
from kgqa.records import SPLITS, Instance
from kgqa.splits.items import ItemBatch, Items

Keys = npt.NDArray[np.uint64]
EXAMPLES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Items of ``later`` that ``earlier`` also has."""

    earlier: str
    later: str
    questions: int
    """Questions of ``later`` with at least one such item."""
    of: int
    """Questions of ``later`` that have items of this kind."""
    items: int
    """Distinct items in both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A question of a later split that shares items with a question of an earlier split."""

    items: int
    """Number of shared items."""
    earlier: str
    later: str
    number: int
    """Index of the question in its split; ``counterpart`` is the index of the first question with the same item."""
    counterpart: int


@dataclass(slots=True)
class _Side:
    """The items of one split: batches while it is read, then sorted and distinct."""

    batches: list[tuple[Keys, npt.NDArray[np.int64]]] = field(default_factory=list)
    keys: Keys | None = None
    first: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    questions: int = 0

    def seal(self) -> Keys:
        """Sort the collected batches; afterwards ``keys`` are distinct and ``first`` holds the first question with each key."""
        if self.keys is None:
            keys = np.concatenate([np.empty((0, 2), np.uint64), *(batch[0] for batch in self.batches)])
            number = np.concatenate([np.empty(0, np.int64), *(batch[1] for batch in self.batches)])
            order = np.lexsort((number, keys[:, 1], keys[:, 0]))
            keys = keys[order]
            is_new = np.ones(len(keys), np.bool_)
            is_new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
            self.keys, self.first = keys[is_new], number[order][is_new]
            self.batches.clear()
        return self.keys


@dataclass(slots=True)
class _Count:
    questions: int = 0
    sightings: list[Sighting] = field(default_factory=list)


class SharedItems:
    """Counts the items of one kind that sides share; sides are read one after the other.

    Memory: 24 bytes per item while a side is read, and per distinct item of the earlier sides.
    """

    def __init__(self) -> None:
        """Sides are added one after the other."""
        self._sides: dict[str, _Side] = {}
        self._counts: dict[tuple[str, str], _Count] = {}

    def update(self, side: str, items: Items, *, first: int, earlier: Sequence[str]) -> None:
        """Add a batch of ``side`` whose first question has number ``first``, and compare it with the ``earlier`` sides."""
        side_items = self._sides.setdefault(side, _Side())
        assert side_items.keys is None, "a side that others were compared with cannot grow"
        number = items.owner + first
        side_items.batches.append((items.keys, number))
        side_items.questions += len(np.unique(items.owner))
        for earlier_side in earlier:
            self._compare(earlier_side, side, items.keys, number)

    def _compare(self, earlier: str, later: str, keys: Keys, number: npt.NDArray[np.int64]) -> None:
        count = self._counts.setdefault((earlier, later), _Count())
        earlier_items = self._sides.setdefault(earlier, _Side())
        positions = _positions(earlier_items.seal(), keys)
        is_shared = positions >= 0
        questions, begin, shared = np.unique(number[is_shared], return_index=True, return_counts=True)
        count.questions += len(questions)
        counterpart = earlier_items.first[positions[is_shared][begin]] if len(begin) else begin
        count.sightings += [
            Sighting(items=items, earlier=earlier, later=later, number=question, counterpart=counterpart_)
            for question, items, counterpart_ in zip(questions.tolist(), shared.tolist(), counterpart.tolist(), strict=True)
        ]
        count.sightings.sort(key=lambda sighting: (-sighting.items, sighting.number))
        del count.sightings[EXAMPLES:]

    @property
    def compared(self) -> bool:
        """Whether any two sides were compared."""
        return bool(self._counts)

    def shared(self) -> list[Shared]:
        """The shared items of each compared pair of sides."""
        return [
            Shared(earlier=a, later=b, questions=count.questions, of=self._sides[b].questions, items=self.common(a, b))
            for (a, b), count in self._counts.items()
        ]

    def sightings(self) -> list[Sighting]:
        """For each pair of sides the questions that share most items."""
        return [sighting for count in self._counts.values() for sighting in count.sightings]

    def common(self, first: str, second: str) -> int:
        """The number of distinct items that both sides have."""
        return int((_positions(self._sides[first].seal(), self._sides[second].seal()) >= 0).sum())

    def digests(self) -> dict[str, tuple[int, str]]:
        """For each side the number of its distinct items and the SHA-256 of their sorted keys, 16 bytes each."""
        digest_of = {name: side.seal() for name, side in self._sides.items()}
        return {name: (len(keys), hashlib.sha256(keys.astype(">u8").tobytes()).hexdigest()) for name, keys in digest_of.items()}


def add_split(shared: Mapping[str, SharedItems], split: str, instances: Sequence[Instance]) -> None:
    """Add the questions of ``split`` to each kind of item, and compare them with the splits before it, which were added before."""
    begin = 0
    for batch in batched(instances, BATCH_ROWS):
        items = ItemBatch(batch)
        for kind, sides in shared.items():
            sides.update(split, items.of(kind), first=begin, earlier=SPLITS[: SPLITS.index(split)])
        begin += len(batch)


def _positions(known_keys: Keys, keys: Keys) -> npt.NDArray[np.int64]:
    """The position of each key among the sorted ``known_keys``, or -1; two keys share their first half with a chance of 1 in 2^64."""
    if not len(known_keys):
        return np.full(len(keys), -1, np.int64)
    positions = np.minimum(np.searchsorted(known_keys[:, 0], keys[:, 0]), len(known_keys) - 1)
    return np.where((known_keys[positions] == keys).all(axis=1), positions, -1)
