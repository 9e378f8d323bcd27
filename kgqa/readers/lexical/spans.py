"""Names and numbers in paragraphs, recognised by their spelling: possible answers in sets without candidates."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby

from kgqa.records import Instance

_WORD = re.compile(r"[^\W_]+(?:[-'’.&/,][^\W_]+)*")
"""Also ``3,000``, ``U.S`` and ``Jean-Luc``."""
_BETWEEN = re.compile(r"\s+|\.\s")
"""Allowed between two words of a name: ``J. Smith``."""
_NameRun = tuple[tuple[str, ...], tuple[int, ...], int]
"""Its words in lower case, their starts, and the end of the last one."""


def name_like(instance: Instance) -> list[str]:
    """The distinct runs of words in its paragraphs that begin with a capital or a digit, in the order of the texts.

    Leading words that the paragraphs also have in lower case (*The*, *After*) are dropped, and so are runs that occur in the question.
    O(words).
    """
    words_and_runs = [_lower_words_and_runs(paragraph.text) for paragraph in instance.paragraphs]
    lower_words = frozenset[str]().union(*(lower for lower, _ in words_and_runs))
    question_words = f" {' '.join(_lower_tokens(instance.question))} "
    spans: dict[str, None] = {}
    for paragraph, (_, runs) in zip(instance.paragraphs, words_and_runs, strict=True):
        for words, starts, end in runs:
            first = 0
            while first < len(words) and words[first] in lower_words:
                first += 1
            if first < len(words) and f" {' '.join(words[first:])} " not in question_words:
                spans[paragraph.text[starts[first] : end]] = None
    return list(spans)


@lru_cache(maxsize=1 << 14)  # a paragraph is shown with many questions
def _lower_words_and_runs(text: str) -> tuple[frozenset[str], list[_NameRun]]:
    """The lower-case words, and the runs."""
    words = list(_WORD.finditer(text))
    lower_words = frozenset(match[0] for match in words if match[0].islower())
    return lower_words, [
        (tuple(match[0].lower() for match in run), tuple(match.start() for match in run), run[-1].end()) for run in _runs(text, words)
    ]


def name_places(text: str) -> list[tuple[int, int]]:
    """Spans of such runs in one text, regardless of the question; a word that also occurs in lower case begins none."""
    words = list(_WORD.finditer(text))
    lower_words = {match[0] for match in words if match[0].islower()}
    spans = []
    for run in _runs(text, words):
        while run and run[0][0].lower() in lower_words:
            run = run[1:]  # noqa: PLW2901 - what is left of it
        if run:
            spans.append((run[0].start(), run[-1].end()))
    return spans


def _lower_tokens(text: str) -> list[str]:
    return [match[0].lower() for match in _WORD.finditer(text)]


def _runs(text: str, words: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Runs of words that begin with a capital or a digit, separated only by spaces or by a point after a single letter."""
    number, earlier, runs = 0, None, []
    for match in words:
        is_new_run = earlier is None or not _is_joined(text, earlier, match)
        number, earlier = number + is_new_run, match
        runs.append((number, match[0][0].isupper() or match[0][0].isdigit(), match))
    return [[match for _, _, match in group] for (_, is_name), group in groupby(runs, key=lambda entry: entry[:2]) if is_name]


def _is_joined(text: str, earlier: re.Match[str], match: re.Match[str]) -> bool:
    between = text[earlier.end() : match.start()]
    return between.isspace() or (len(earlier[0]) == 1 and _BETWEEN.fullmatch(between) is not None)
