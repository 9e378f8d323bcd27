"""English words by how frequent they are, from wordfreq: ``python -m tools.english_words`` writes what ``kgqa.linking.words`` reads."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import wordfreq

from kgqa.linking.words import FILE


def lines() -> Iterator[str]:
    """A line for each hundredth of Zipf frequency, the most frequent first: the frequency, a tab, and its words in order."""
    for hundredths, words in zip(range(900, -1, -1), wordfreq.get_frequency_list("en"), strict=False):
        assert not any(character.isspace() for word in words for character in word)
        if words:
            yield f"{hundredths / 100:.2f}\t{' '.join(sorted(words))}\n"


if __name__ == "__main__":
    FILE.write_bytes(gzip.compress("".join(lines()).encode(), 9, mtime=0))
