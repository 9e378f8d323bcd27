"""Texts of one split that are near-duplicates, but not copies, of texts of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.parallel import Engine
from kgqa.arrays.tokens import word_hashes
from kgqa.splits.near_duplicates import THRESHOLD, near_duplicates
from kgqa.splits.shingles import Shingles, concatenate, shingle

MAX_SIDES = 63
"""Each side is a bit of a 64-bit number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearShared:
    """Texts of ``later`` with a near-duplicate in ``earlier``."""

    earlier: str
    later: str
    texts: int
    """Distinct texts of ``later`` that are not in ``earlier`` but have a near-duplicate there; one with two labels counts as two."""
    of: int
    """Distinct texts of ``later``."""
    most_alike: tuple[tuple[float, int, int], ...]
    """Similarity, and the numbers of the questions in ``later`` and ``earlier`` that have the texts; the most alike first."""


class NearSharedTexts:
    """Collects the distinct texts of all sides and finds near-duplicates between sides.

    A text is identified by its key and label, so the order of the texts does not matter. Memory: 4 bytes per shingle (about one per word),
    about 280 bytes per distinct text, and the memory of ``near_duplicates``.
    """

    def __init__(self, *, width: int, threshold: float = THRESHOLD, seed: int = 0) -> None:
        """Shingles have ``width`` words; texts are near-duplicates from a Jaccard similarity of ``threshold`` on."""
        self.width, self.threshold, self._seed = width, threshold, seed
        self.not_compared = 0
        self._index_of_text: dict[tuple[int, int], int] = {}
        self._parts: list[Shingles] = []
        self._sides: list[int] = []
        self._bits: dict[str, int] = {}
        self._first: dict[str, tuple[list[int], list[int]]] = {}

    def update(self, side: str, keys: Sequence[int], texts: Sequence[str], numbers: Sequence[int], labels: Sequence[int]) -> None:
        """Add texts of ``side`` with their keys (equal keys: the same text) and question numbers; only equal ``labels`` are compared.

        There are at most ``MAX_SIDES`` sides.
        """
        bit = 1 << self._bits.setdefault(side, len(self._bits))
        assert len(self._bits) <= MAX_SIDES
        first_text, first_number = self._first.setdefault(side, ([], []))
        new_texts = []
        for key, text, number, label in zip(keys, texts, numbers, labels, strict=True):
            index = self._index_of_text.setdefault((key, label), len(self._sides))
            if index == len(self._sides):
                new_texts.append(text)
                self._sides.append(0)
            if not self._sides[index] & bit:
                self._sides[index] |= bit
                first_text.append(index)
                first_number.append(number)
        self._parts.append(shingle(word_hashes(pa.array(new_texts, pa.string())), width=self.width))

    def shared(self, pairs: Sequence[tuple[str, str]], *, most: int, engine: Engine | None = None) -> list[NearShared]:
        """The near-duplicates of each (earlier, later) pair of sides, with the ``most`` similar texts; ``engine`` is by default threads."""
        self._parts = [concatenate(self._parts)]
        sides = np.array(self._sides, np.uint64)
        keys, labels = np.fromiter(chain.from_iterable(self._index_of_text), np.uint64).reshape(-1, 2).T
        pairs_found = near_duplicates(
            self._parts[0], sides=sides, labels=labels, identities=keys, threshold=self.threshold, seed=self._seed, engine=engine
        )  # fmt: skip
        self.not_compared = pairs_found.not_compared
        both_directions = np.concatenate([pairs_found.one, pairs_found.other]), np.concatenate([pairs_found.other, pairs_found.one])
        similarity = np.tile(pairs_found.similarity, 2)
        return [self._between(earlier, later, sides, *both_directions, similarity, most) for earlier, later in pairs]

    def _between(
        self,
        earlier: str,
        later: str,
        sides: npt.NDArray[np.uint64],
        later_texts: npt.NDArray[np.int64],
        earlier_texts: npt.NDArray[np.int64],
        similarity: npt.NDArray[np.float64],
        most: int,
    ) -> NearShared:
        bits = [np.uint64(1 << self._bits[side]) if side in self._bits else np.uint64(0) for side in (earlier, later)]
        is_between = ((sides[later_texts] & bits[1]) > 0) & ((sides[later_texts] & bits[0]) == 0) & ((sides[earlier_texts] & bits[0]) > 0)
        later_texts, earlier_texts, similarity = later_texts[is_between], earlier_texts[is_between], similarity[is_between]
        order = np.lexsort((earlier_texts, later_texts, -similarity))
        _, first_rows = np.unique(later_texts[order], return_index=True)
        most_alike = order[np.sort(first_rows)][:most]
        numbers = zip(self._numbers(later, later_texts[most_alike]), self._numbers(earlier, earlier_texts[most_alike]), strict=True)
        return NearShared(
            earlier=earlier,
            later=later,
            texts=len(first_rows),
            of=int(((sides & bits[1]) > 0).sum()),
            most_alike=tuple((similarity_, *pair) for similarity_, pair in zip(similarity[most_alike].tolist(), numbers, strict=True)),
        )

    def _numbers(self, side: str, texts: npt.NDArray[np.int64]) -> list[int]:
        """The number of the first question of ``side`` that has each text."""
        texts_of_side, numbers = (np.array(part, np.int64) for part in self._first.get(side, ([], [])))
        order = np.argsort(texts_of_side)
        return numbers[order][np.searchsorted(texts_of_side[order], texts)].tolist()
