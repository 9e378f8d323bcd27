"""Steps S1 and S2 (Trivedi et al. 2022): detect English texts, for which the rules on kinds of names hold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kgqa.arrays.words import words
from kgqa.resources import word_lists

FREQUENT = frozenset(word_lists(Path(__file__).with_name("words.txt"))["frequent"])
LEAST = 0.12
"""Minimum share of these words: English has 20% to 35%, languages that share some of them less than 10% ("in", "was" in German, "is",
"had" in Dutch)."""


def are_english(texts: Iterable[str]) -> bool:
    """Whether the frequent words of English are frequent in the texts as a whole; other scripts have none of them.

    >>> are_english(["The tower was built by an engineer."]), are_english(["Der Turm war das Werk von einem Ingenieur in Wien."])
    (True, False)
    """
    tokens = [word for text in texts for word in words(text)]
    return sum(word in FREQUENT for word in tokens) >= LEAST * max(1, len(tokens))
