"""Whether texts are English, which what kinds names are is told by."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kgqa.arrays.words import words
from kgqa.resources import word_lists

FREQUENT = frozenset(word_lists(Path(__file__).with_name("words.txt"))["frequent"])
LEAST = 0.12
"""The share of these words: 20% to 35% in English, where they are the most frequent ones; below 10% in languages that share some of them
("in", "was" in German, "is", "had" in Dutch)."""


def are_english(texts: Iterable[str]) -> bool:
    """Whether the frequent words of English are frequent in all the texts together; texts of another script have none of them.

    >>> are_english(["The tower was built by an engineer."]), are_english(["Der Turm war das Werk von einem Ingenieur in Wien."])
    (True, False)
    """
    tokens = [word for text in texts for word in words(text)]
    return sum(word in FREQUENT for word in tokens) >= LEAST * max(1, len(tokens))
