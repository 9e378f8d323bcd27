"""Everyday English words: a frozen list, because links depend on it."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.tokens import token_hashes

FILE = Path(__file__).with_name("english-words.txt.gz")
"""``english-words.md`` gives its source and licence."""


@lru_cache(maxsize=4)
def plain_words(zipf: float) -> frozenset[str]:
    """Lower-case words with at least this Zipf frequency: log10 of occurrences per billion words (wordfreq, Speer 2022).

    The list has 321,180 words, all with 1.01 or more. O(words returned).
    """
    result: list[str] = []
    with gzip.open(FILE, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            frequency, _, words = line.removesuffix("\n").partition("\t")
            if float(frequency) < zipf:
                break
            result += words.split(" ")
    return frozenset(result)


def token_frequencies(tokens: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """The Zipf frequency of each token, given by its hash; 0 for tokens that are no English words."""
    hashes, frequencies = _hashed()
    at = np.minimum(np.searchsorted(hashes, tokens), len(hashes) - 1)
    return np.where(hashes[at] == tokens, frequencies[at], 0.0)


@lru_cache(maxsize=1)
def _hashed() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]:
    """Hashes of the words with a single token, sorted, and their frequencies."""
    words: list[str] = []
    frequencies: list[float] = []
    with gzip.open(FILE, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            frequency, _, word = line.removesuffix("\n").partition("\t")
            entries = word.split(" ")
            words += entries
            frequencies += [float(frequency)] * len(entries)
    bounds, hashes = token_hashes(pa.array(words, pa.string()))
    single = np.diff(bounds) == 1
    hashes, zipf = hashes[bounds[:-1][single]], np.array(frequencies)[single]
    order = np.argsort(hashes, kind="stable")
    return hashes[order], zipf[order]
