"""Step S7 (Trivedi et al. 2022): the checks that every composed question must pass, whatever composer wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgqa.metrics.normalize import normalize
from kgqa.recipes.musique.composers.chain import Chain, Hop
from kgqa.recipes.names.statements import names, states
from kgqa.rules.strategy_checks import MARKS

REASONS = {
    "no question": 'the question does not end with "?"',
    "long": "the question has too many words",
    "answer": "the question says its answer, or that of one of its hops",
    "lost": "a name that one of the hops is given stands nowhere in the question",
    "copy": "the question is that of one of its hops",
    "stammer": "the question says some words twice in a row, which no hop does",
    "sign": "the question holds signs that cannot be printed",
}
"""Reason for leaving out a composed question → the sentence in reports."""
RUN = 8
"""Maximum length of a repeated sequence, in words."""
ALIKE = "another chain makes the same question"
_WORD = re.compile(r"(?<![\w'’])\w[\w.'’:,-]*")
_POSSESSIVE = re.compile(r"['’]s\b")
JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Characters that join letters within words of some scripts; they cannot be printed alone."""
LETTERS_PER_WORD = 20
"""Maximum mean characters per word: a question may have ``max_words`` times as many."""


def faults(question: str, chain: Chain, *, max_words: int) -> Iterator[str]:
    """Yield the keys of ``REASONS`` for which the question fails."""
    if not question.rstrip().endswith(MARKS):
        yield "no question"
    if len(question.split()) > max_words or len(question) > LETTERS_PER_WORD * max_words:
        yield "long"
        return
    if any(states(question, names(forbidden_names(hop))) for hop in chain.hops):
        yield "answer"
    words = normalize(question)
    said_words = f" {_words(question)} "
    if any(f" {word} " not in said_words for hop in chain.hops for word in required_names(hop)):
        yield "lost"
    if any(normalize(hop.question) == words for hop in chain.hops):
        yield "copy"
    twice = _said_twice(question)
    if twice and twice.difference(*(_said_twice(hop.question) for hop in chain.hops)):
        yield "stammer"
    if not question.translate(JOINERS).isprintable():
        yield "sign"


def _said_twice(question: str) -> set[tuple[str, ...]]:
    """Sequences of at most ``RUN`` words that the question repeats immediately."""
    words = [word.strip("?.,;") for word in question.lower().split()]
    runs = set()
    for length in range(1, RUN + 1):
        for begin in range(len(words) - 2 * length + 1):
            middle = begin + length
            if words[begin] == words[middle] and words[begin:middle] == words[middle : middle + length]:
                runs.add(tuple(words[begin:middle]))
    return runs


def forbidden_names(hop: Hop) -> tuple[str, ...]:
    """Names that the composed question must not contain: the hop's answer and, for entities of a graph, their aliases."""
    return (hop.answer, *hop.aliases) if hop.names else (hop.answer,)


def required_names(hop: Hop) -> list[str]:
    """The names and figures in a hop's question that a composed question must keep, normalised.

    Names that earlier hops answer are left out. Of a question that people wrote, so is the first word; of one made from a template only
    its names count, as some languages write all nouns with a capital.
    """
    if hop.names:
        needed_slots = {need.slot for need in hop.needs}
        text, begin = " ".join(name for slot, name in enumerate(hop.names) if slot not in needed_slots), 0
    else:
        text = hop.question
        for need in sorted(hop.needs, key=lambda need: -need.start):
            text = f"{text[: need.start]} {text[need.end :]}"
        first_word = re.match(r"\s*\w+", text)
        begins_with_name = any(need.start == 0 for need in hop.needs)
        begin = first_word.end() if first_word and not begins_with_name and " >> " not in hop.question else 0
    words = (match[0] for match in _WORD.finditer(text) if match.start() >= begin)
    names = (_words(word) for word in words if word[0].isdigit() or word != word.lower())
    return [word for word in names if word]


def _words(text: str) -> str:
    """The normalised text without possessive endings."""
    return normalize(_POSSESSIVE.sub(" ", text.translate(JOINERS)).rstrip("".join(MARKS)))
