"""Step S7 (Trivedi et al. 2022): the forms of English verbs that turning a question needs, such as the past tense after "did"."""

from __future__ import annotations

import re
from pathlib import Path

from kgqa.resources import word_lists

_LISTS = word_lists(Path(__file__).with_name("verbs.txt"))
PAST = dict(zip(_LISTS["irregular"][::2], _LISTS["irregular"][1::2], strict=True))
"""Verb → its irregular past."""
PARTICIPLES = frozenset(_LISTS["participles"])
COPULAS = frozenset({"is", "was", "are", "were"})
AUXILIARIES = COPULAS | {"has", "had", "have", "can", "could", "will", "would", "may", "might", "must", "should", "do", "does", "did"}
_PAST_FORMS = frozenset(PAST.values())


def past(verb: str) -> str:
    """``wrote`` for write, ``moved`` for move, ``carried`` for carry, ``stopped`` for stop."""
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if len(verb) > 2 and verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb):
        return f"{verb}{verb[-1]}ed"
    return f"{verb}ed"


def present(verb: str) -> str:
    """``writes`` for write, ``goes`` for go."""
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if len(verb) > 2 and verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


def is_participle(word: str) -> bool:
    """Whether the word is a participle in lower case: ``made``, ``moved``."""
    return word in PARTICIPLES or (word.endswith("ed") and word.islower() and len(word) > 4)


def is_past(word: str) -> bool:
    """Whether the word is a past tense: ``wrote``, ``moved``."""
    return word in _PAST_FORMS or (word.endswith("ed") and word.islower() and len(word) > 4)


def is_finite(word: str) -> bool:
    """Whether it can be the finite verb: past, auxiliary, or third person (which plural nouns resemble)."""
    return is_past(word) or word in AUXILIARIES or (word.endswith("s") and word.islower() and len(word) > 3 and not word.endswith("ss"))
