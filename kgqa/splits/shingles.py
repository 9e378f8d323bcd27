"""Texts as sets of hashed word shingles, for finding near-duplicates (Broder 1997)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import kernel
from kgqa.arrays.tokens import TOKEN_STEP, Hashes


@dataclass(frozen=True, slots=True)
class Shingles:
    """The distinct shingles of each text, in ascending order."""

    offsets: npt.NDArray[np.int64]
    """Length: number of texts + 1."""
    values: npt.NDArray[np.uint32]
    """32 bits of each shingle's hash: fewer than one pair of 100-word texts in 400,000 shares one by chance."""

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.offsets) - 1

    def jaccard(self, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """For each pair of texts the Jaccard similarity of their shingles; 1 if both have none."""
        return _jaccard_of_pairs(self.offsets, self.values, one.astype(np.int64), other.astype(np.int64))


def shingle(words: Hashes, *, width: int) -> Shingles:
    """The distinct runs of ``width`` words of each text; a shorter text is one shingle, an empty one has none."""
    assert width > 0
    return Shingles(*_shingles(*words, width))


def concatenate(parts: list[Shingles]) -> Shingles:
    """The texts of all ``parts``, in order."""
    offsets, end = [np.zeros(1, np.int64)], 0
    for part in parts:
        offsets.append(part.offsets[1:] - part.offsets[0] + end)
        end += int(part.offsets[-1] - part.offsets[0])
    values = [part.values[part.offsets[0] : part.offsets[-1]] for part in parts]
    return Shingles(np.concatenate(offsets), np.concatenate([np.empty(0, np.uint32), *values]))


@kernel
def _shingles(bounds, words, width):  # type: ignore[no-untyped-def]
    offsets = np.zeros(len(bounds), np.int64)
    values = np.empty(len(words), np.uint32)
    for i in range(len(bounds) - 1):
        first, last = bounds[i], bounds[i + 1]
        if last == first:
            offsets[i + 1] = offsets[i]
            continue
        begin = offsets[i]
        at = begin
        for start in range(first, max(first + 1, last - width + 1)):
            code = np.uint64(0)
            for k in range(start, min(start + width, last)):
                code = (code + words[k]) * TOKEN_STEP
            values[at] = np.uint32(mixed(mixed(code)) >> np.uint64(32))
            at += 1
        values[begin:at].sort()
        end = begin + 1
        for k in range(begin + 1, at):
            if values[k] != values[end - 1]:
                values[end] = values[k]
                end += 1
        offsets[i + 1] = end
    return offsets, values[: offsets[-1]].copy()


@kernel(inline=True)
def jaccard(offsets, values, first_text, second_text):  # type: ignore[no-untyped-def]
    """The Jaccard similarity of two texts, by merging their sorted shingles."""
    a, a_end, b, b_end = offsets[first_text], offsets[first_text + 1], offsets[second_text], offsets[second_text + 1]
    union = (a_end - a) + (b_end - b)
    shared = 0
    while a < a_end and b < b_end:
        x, y = values[a], values[b]
        if x == y:
            shared += 1
        a += x <= y
        b += y <= x
    union -= shared
    return shared / union if union else 1.0


@kernel
def _jaccard_of_pairs(offsets, values, first_texts, second_texts):  # type: ignore[no-untyped-def]
    out = np.empty(len(first_texts), np.float64)
    for i in range(len(first_texts)):
        out[i] = jaccard(offsets, values, first_texts[i], second_texts[i])
    return out
