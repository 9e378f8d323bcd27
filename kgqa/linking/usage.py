"""Letter case of words in the texts: with a small first letter, or with a capital that no sentence start explains.

This tells a name from an ordinary word without a word list: where a corpus mostly writes "common", the capital of "Common" says little.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.texts import decode, text_buffers
from kgqa.arrays.tokens import TABLE_SIZE, character_tables, tokenize
from kgqa.linking.surroundings import opens
from kgqa.linking.trie import Trie, find_token

SAMPLE = 12_000_000
"""Bytes of text to count; more would hardly change the shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of each token of a trie in lower case, and with a capital that no sentence start explains.

    Words of a script without capitals are not counted, since their lower case means nothing.
    """

    small: npt.NDArray[np.int64]
    capital: npt.NDArray[np.int64]

    def small_share(self) -> npt.NDArray[np.float64]:
        """Share of lower case among the places of each token; 0 for tokens without a place."""
        return self.small / np.maximum(self.small + self.capital, 1)


def usage(trie: Trie, texts: pa.ChunkedArray, *, sample: int = SAMPLE) -> Usage:
    """Count the tokens of ``trie`` in every n-th text, about ``sample`` bytes in all. O(bytes read)."""
    data, offsets = text_buffers(texts)
    step = max(1, -(-int(offsets[-1] - offsets[0]) // sample))
    lower_counts, capital_counts = np.zeros(len(trie.nodes), np.int64), np.zeros(len(trie.nodes), np.int64)
    _count(data, offsets, step, *character_tables(), caseless_letters(), trie.vocabulary, lower_counts, capital_counts)
    return Usage(small=lower_counts, capital=capital_counts)


@lru_cache(maxsize=1)
def caseless_letters() -> npt.NDArray[np.bool_]:
    """For each character of the BMP, whether it is a letter of a script without case, such as Arabic or Chinese."""
    return np.array([unicodedata.category(chr(code)) == "Lo" for code in range(TABLE_SIZE)])


@kernel
def _count(data, offsets, step, classes, folded, plain, caseless, vocabulary, lower_counts, capital_counts):  # type: ignore[no-untyped-def]
    longest = 1
    for text in range(0, len(offsets) - 1, step):
        longest = max(longest, offsets[text + 1] - offsets[text])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    spellings, initials = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    for text in range(0, len(offsets) - 1, step):
        begin = offsets[text]
        count = tokenize(data, begin, offsets[text + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        for i in range(count):
            token = find_token(hashes[i], vocabulary)
            if token < 0:
                continue
            if initials[i] == np.uint64(0):
                character = decode(data, begin + starts[i])[0]
                if character < len(caseless) and not caseless[character]:
                    lower_counts[token] += 1
            elif not opens(data, begin, i, starts, ends):
                capital_counts[token] += 1
