"""Which words are everyday English: a list that is frozen here, because what it says decides what links."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).with_name("english-words.txt.gz")
"""``english-words.md`` beside it says where it comes from and under which licence it stands."""


@lru_cache(maxsize=4)
def plain_words(zipf: float) -> frozenset[str]:
    """Small-letter words of at least this Zipf frequency, which is log10 of occurrences per billion words (wordfreq, Speer 2022).

    The 321,180 words have 1.01 or more; others are not among them for any ``zipf``. O(words returned).
    """
    found: list[str] = []
    with gzip.open(FILE, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            frequency, _, words = line.removesuffix("\n").partition("\t")
            if float(frequency) < zipf:
                break
            found += words.split(" ")
    return frozenset(found)
