"""Texts of one split that are almost, but not exactly, those of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.tokens import word_hashes
from kgqa.splits.near_duplicates import THRESHOLD, near_duplicates
from kgqa.splits.shingles import Shingles, concatenate, shingle

MAX_SIDES = 63
"""Each is a bit of a 64-bit number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearShared:
    """What ``later`` has that is almost what ``earlier`` has."""

    earlier: str
    later: str
    texts: int
    """Distinct texts of ``later`` that are not in ``earlier`` but have a near-duplicate there; one with two labels counts as two."""
    of: int
    """Distinct texts of ``later``."""
    most_alike: tuple[tuple[float, int, int], ...]
    """Similarity, and the numbers of the questions in ``later`` and ``earlier`` that have the texts; the most alike first."""


class NearSharedTexts:
    """Collects the distinct texts of all sides and finds near-duplicates between them.

    A text is known by its key and its label, so that nothing depends on the order in which the texts come. Memory: 4 bytes a shingle (about
    one a word) and about 280 bytes a distinct text, and what ``near_duplicates`` says.
    """

    def __init__(self, *, width: int, threshold: float = THRESHOLD, seed: int = 0) -> None:
        """Shingles of ``width`` words; texts are near-duplicates from a Jaccard similarity of ``threshold`` on."""
        self.width, self.threshold, self._seed = width, threshold, seed
        self.not_compared = 0
        self._known: dict[tuple[int, int], int] = {}
        self._parts: list[Shingles] = []
        self._sides: list[int] = []
        self._bits: dict[str, int] = {}
        self._first: dict[str, tuple[list[int], list[int]]] = {}

    def update(self, side: str, keys: Sequence[int], texts: Sequence[str], numbers: Sequence[int], labels: Sequence[int]) -> None:
        """Take texts of ``side`` with their keys (equal keys: the same text) and question numbers; only equal ``labels`` are compared.

        There are at most ``MAX_SIDES`` sides.
        """
        bit = 1 << self._bits.setdefault(side, len(self._bits))
        assert len(self._bits) <= MAX_SIDES
        first_text, first_number = self._first.setdefault(side, ([], []))
        fresh = []
        for key, text, number, label in zip(keys, texts, numbers, labels, strict=True):
            at = self._known.setdefault((key, label), len(self._sides))
            if at == len(self._sides):
                fresh.append(text)
                self._sides.append(0)
            if not self._sides[at] & bit:
                self._sides[at] |= bit
                first_text.append(at)
                first_number.append(number)
        self._parts.append(shingle(word_hashes(pa.array(fresh, pa.string())), width=self.width))

    def shared(self, pairs: Sequence[tuple[str, str]], *, most: int) -> list[NearShared]:
        """For each (earlier, later) pair of sides what is almost shared, with the ``most`` alike texts."""
        self._parts = [concatenate(self._parts)]
        sides = np.array(self._sides, np.uint64)
        keys, labels = np.fromiter(chain.from_iterable(self._known), np.uint64).reshape(-1, 2).T
        found = near_duplicates(
            self._parts[0], sides=sides, labels=labels, identities=keys, threshold=self.threshold, seed=self._seed
        )  # fmt: skip
        self.not_compared = found.not_compared
        both = np.concatenate([found.one, found.other]), np.concatenate([found.other, found.one])
        similarity = np.tile(found.similarity, 2)
        return [self._between(earlier, later, sides, *both, similarity, most) for earlier, later in pairs]

    def _between(
        self,
        earlier: str,
        later: str,
        sides: npt.NDArray[np.uint64],
        mine: npt.NDArray[np.int64],
        theirs: npt.NDArray[np.int64],
        similarity: npt.NDArray[np.float64],
        most: int,
    ) -> NearShared:
        bits = [np.uint64(1 << self._bits[side]) if side in self._bits else np.uint64(0) for side in (earlier, later)]
        here = ((sides[mine] & bits[1]) > 0) & ((sides[mine] & bits[0]) == 0) & ((sides[theirs] & bits[0]) > 0)
        mine, theirs, similarity = mine[here], theirs[here], similarity[here]
        order = np.lexsort((theirs, mine, -similarity))
        _, first = np.unique(mine[order], return_index=True)
        chosen = order[np.sort(first)][:most]
        numbers = zip(self._numbers(later, mine[chosen]), self._numbers(earlier, theirs[chosen]), strict=True)
        return NearShared(
            earlier=earlier,
            later=later,
            texts=len(first),
            of=int(((sides & bits[1]) > 0).sum()),
            most_alike=tuple((alike, *pair) for alike, pair in zip(similarity[chosen].tolist(), numbers, strict=True)),
        )

    def _numbers(self, side: str, texts: npt.NDArray[np.int64]) -> list[int]:
        """The number of the first question of ``side`` that has each text."""
        known, numbers = (np.array(part, np.int64) for part in self._first.get(side, ([], [])))
        order = np.argsort(known)
        return numbers[order][np.searchsorted(known[order], texts)].tolist()  # type: ignore[no-any-return]
