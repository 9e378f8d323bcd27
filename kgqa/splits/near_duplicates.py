"""Near-duplicate texts by MinHash and banding (Broder 1997; Leskovec et al. 2020, chapter 3), without comparing all pairs.

A text's signature is the minimum of its shingles' hashes under each of ``BANDS`` × ``ROWS`` hash functions. Two texts of Jaccard similarity
s agree under one function with probability s, and in all rows of some band with probability 1 - (1 - s^rows)^bands. Such pairs are
candidates. Each candidate pair is then compared by its shingles, so that no reported pair is below the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.parallel import Engine, Threads
from kgqa.splits.shingles import Shingles, jaccard

BANDS, ROWS = 24, 6
THRESHOLD = 0.8
WINDOW = 64
"""In a larger bucket each text is compared only with this many texts that follow it in the order of the next band's keys: thousands of
texts from one template must not cause millions of comparisons.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs of texts whose similarity is at least the threshold, each once, sorted."""

    one: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    """Index of the second text, larger than that of the first."""
    similarity: npt.NDArray[np.float64]
    """The Jaccard similarity of the hashed shingles."""
    not_compared: int
    """Candidate pairs of large buckets outside the window; 0: all were compared."""

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.one)


def recall(similarity: float, *, bands: int = BANDS, rows: int = ROWS) -> float:
    """The probability that a pair of this similarity becomes a candidate: 99.9% at 0.8 and 31% at 0.5, with 24 bands of 6 rows.

    >>> round(recall(0.8), 3), round(recall(0.5), 2)
    (0.999, 0.31)
    """
    return 1 - (1 - similarity**rows) ** bands


def near_duplicates(
    shingles: Shingles,
    *,
    sides: npt.NDArray[np.uint64] | None = None,
    labels: npt.NDArray[np.uint64] | None = None,
    identities: npt.NDArray[np.uint64] | None = None,
    threshold: float = THRESHOLD,
    seed: int = 0,
    window: int = WINDOW,
    engine: Engine | None = None,
) -> Pairs:
    """All pairs of texts found at ``threshold`` or above; texts without shingles are in none.

    ``sides`` has a bit for each split that contains the text; pairs within one split are skipped. Only texts of equal ``labels`` are
    compared. ``identities`` distinguish texts of one label: with them, the pairs compared in a large bucket do not depend on the texts'
    order.

    Memory: 4 bytes per shingle, 4 bytes per text and band, about 20 bytes per text and worker for sorting a band, and 24 bytes per pair
    found, three times while pairs are sorted. Thousands of texts from one template with one label give up to ``window`` × ``BANDS`` pairs
    each. The result does not depend on ``engine`` (by default threads).
    """
    assert 0 < threshold <= 1
    rows = np.flatnonzero(np.diff(shingles.offsets))
    sides = np.zeros(0, np.uint64) if sides is None else sides
    labels = np.zeros(len(shingles), np.uint64) if labels is None else labels
    ties = rows if identities is None else identities[rows]
    seeds = np.random.default_rng(seed).integers(1, 1 << 32, (BANDS, ROWS), np.uint32)
    engine = engine or Threads()
    keys = np.stack(list(engine.map(_keys_of_band, range(BANDS), (shingles.offsets, shingles.values, rows, labels, seeds))))
    shared = (ties, keys, rows, shingles.offsets, shingles.values, sides, labels, threshold, window)
    results = list(engine.map(_search_band, range(BANDS), shared))
    one, other, similarity = (np.concatenate([part[i] for part in results]) for i in range(3))
    order = np.lexsort((other, one))
    return Pairs(one=one[order], other=other[order], similarity=similarity[order], not_compared=sum(part[3] for part in results))


def _keys_of_band(
    band: int, offsets: npt.NDArray[np.int64], values: npt.NDArray[np.uint32], rows: npt.NDArray[np.int64],
    labels: npt.NDArray[np.uint64], seeds: npt.NDArray[np.uint32],
) -> npt.NDArray[np.uint32]:  # fmt: skip
    keys = np.empty(len(rows), np.uint32)
    _band_keys(offsets, values, rows, labels, seeds[band], keys)
    return keys


def _search_band(
    band: int, ties: npt.NDArray[np.generic], keys: npt.NDArray[np.uint32], *others: Any
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64], int]:
    # Equal keys stand together, in the order of the next band, so that those that agree there too are neighbours.
    order = np.lexsort((ties, keys[(band + 1) % BANDS], keys[band]))
    return _search(keys, band, order, *others)


@kernel(inline=True)
def _hashed(value, seed):  # type: ignore[no-untyped-def]
    """The finaliser of MurmurHash3: a permutation of 32-bit numbers for each seed. Numba computes in 64 bits unless cast at each step."""
    value = np.uint32(value ^ seed)
    value = np.uint32(value ^ np.uint32(value >> np.uint32(16)))
    value = np.uint32(value * np.uint32(0x85EBCA6B))
    value = np.uint32(value ^ np.uint32(value >> np.uint32(13)))
    value = np.uint32(value * np.uint32(0xC2B2AE35))
    return np.uint32(value ^ np.uint32(value >> np.uint32(16)))


@kernel
def _band_keys(offsets, values, texts, labels, seeds, out):  # type: ignore[no-untyped-def]
    """Hash each text's minima within a band. The label is part of the key, so that texts of other labels do not fill a bucket."""
    for i in range(len(texts)):
        begin, end = offsets[texts[i]], offsets[texts[i] + 1]
        key = np.uint32(labels[texts[i]])
        for row in range(len(seeds)):
            smallest = np.uint32(0xFFFFFFFF)
            for k in range(begin, end):
                smallest = np.uint32(min(smallest, _hashed(values[k], seeds[row])))
            key = _hashed(np.uint32(key + np.uint32(row)), smallest)
        out[i] = key


@kernel(inline=True)
def _agree_before(keys, band, a, b):  # type: ignore[no-untyped-def]
    for earlier in range(band):  # noqa: SIM110 - Numba knows no any() of a generator
        if keys[earlier, a] == keys[earlier, b]:
            return True
    return False


@kernel
def _search(keys, band, order, texts, offsets, values, sides, labels, threshold, window):  # type: ignore[no-untyped-def]
    """Compare texts that share a key of ``band`` but of no earlier band, so that each pair comes up once."""
    pairs, similarity, pair_count = np.empty((1024, 2), np.int64), np.empty(1024, np.float64), 0
    skip_count = 0
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and keys[band, order[end]] == keys[band, order[start]]:
            end += 1
        # A bucket: texts with the same key. In a large one, each text is compared only with the next ``window`` ones.
        size = end - start
        reach = size - 1 if size <= window else window
        outside = size - 1 - reach
        skip_count += outside * (outside + 1) // 2
        for i in range(start, end):
            for j in range(i + 1, min(end, i + 1 + reach)):
                a, b = order[i], order[j]
                first_text, second_text = texts[a], texts[b]
                if labels[first_text] != labels[second_text]:
                    continue
                # Both texts are in one and the same split only, so the pair cannot leak between splits.
                if len(sides) and sides[first_text] == sides[second_text] and sides[first_text] & (sides[first_text] - np.uint64(1)) == 0:
                    continue
                if _agree_before(keys, band, a, b):
                    continue
                jaccard_similarity = jaccard(offsets, values, first_text, second_text)
                if jaccard_similarity >= threshold:
                    if pair_count == len(pairs):
                        pairs, similarity = grown(pairs, pair_count + 1), grown(similarity, pair_count + 1)
                    pairs[pair_count, 0], pairs[pair_count, 1], similarity[pair_count] = (
                        min(first_text, second_text),
                        max(first_text, second_text),
                        jaccard_similarity,
                    )
                    pair_count += 1
        start = end
    return pairs[:pair_count, 0].copy(), pairs[:pair_count, 1].copy(), similarity[:pair_count].copy(), skip_count
