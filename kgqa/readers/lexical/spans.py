"""Names and numbers in paragraphs, by how they are written: what an answer may be where a set has no candidates."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby

from kgqa.records import Instance

_WORD = re.compile(r"[^\W_]+(?:[-'’.&/,][^\W_]+)*")
"""Also ``3,000``, ``U.S`` and ``Jean-Luc``."""
_BETWEEN = re.compile(r"\s+|\.\s")
"""What may stand between two words of a name: ``J. Smith``."""
_Run = tuple[tuple[str, ...], tuple[int, ...], int]
"""Its words in small letters, where each begins, and where the last ends."""


def name_like(instance: Instance) -> list[str]:
    """The different runs of words in its paragraphs that begin with a capital or a figure, in the order of the texts.

    The first words of a run do not count where the paragraphs have them in small letters too (*The*, *After*), nor does a run that the
    question has. O(words).
    """
    read = [_read(paragraph.text) for paragraph in instance.paragraphs]
    small = frozenset[str]().union(*(written for written, _ in read))
    asked = f" {' '.join(_folded(instance.question))} "
    spans: dict[str, None] = {}
    for paragraph, (_, runs) in zip(instance.paragraphs, read, strict=True):
        for words, starts, end in runs:
            first = 0
            while first < len(words) and words[first] in small:
                first += 1
            if first < len(words) and f" {' '.join(words[first:])} " not in asked:
                spans[paragraph.text[starts[first] : end]] = None
    return list(spans)


@lru_cache(maxsize=1 << 14)  # a paragraph is shown with many questions
def _read(text: str) -> tuple[frozenset[str], list[_Run]]:
    """The words in small letters, and the runs."""
    words = list(_WORD.finditer(text))
    small = frozenset(match[0] for match in words if match[0].islower())
    return small, [
        (tuple(match[0].lower() for match in run), tuple(match.start() for match in run), run[-1].end()) for run in _runs(text, words)
    ]


def name_places(text: str) -> list[tuple[int, int]]:
    """Where such runs are in one text, whatever is asked; a word that it has in small letters too begins none."""
    words = list(_WORD.finditer(text))
    small = {match[0] for match in words if match[0].islower()}
    found = []
    for run in _runs(text, words):
        while run and run[0][0].lower() in small:
            run = run[1:]  # noqa: PLW2901 - what is left of it
        if run:
            found.append((run[0].start(), run[-1].end()))
    return found


def _folded(text: str) -> list[str]:
    return [match[0].lower() for match in _WORD.finditer(text)]


def _runs(text: str, words: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Words that begin so, of which nothing but a space, or a point after one letter, keeps the next from the last."""
    number, before, runs = 0, None, []
    for match in words:
        apart = before is None or not _joined(text, before, match)
        number, before = number + apart, match
        runs.append((number, match[0][0].isupper() or match[0][0].isdigit(), match))
    return [[match for _, _, match in group] for (_, named), group in groupby(runs, key=lambda entry: entry[:2]) if named]


def _joined(text: str, before: re.Match[str], match: re.Match[str]) -> bool:
    between = text[before.end() : match.start()]
    return between.isspace() or (len(before[0]) == 1 and _BETWEEN.fullmatch(between) is not None)
