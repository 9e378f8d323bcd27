"""How a fact is asked and said: templates with names in them, or with phrases that say what earlier questions answer.

Phrases are long, so that whatever can is put before them: a question that goes on after the name is asked by the noun phrase instead ("What
is the birthplace of …?"), and of two facts the one about a name comes first. A phrase with two facts begins with "both", which shows where
it ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kgqa.recipes.names.kinds import NOUNS, PERSON
from kgqa.settings.musique import TemplateSettings

FORWARD, INVERSE, BOTH, ASKED = "forward", "inverse", "both", "asked"
"""Kinds of a single-hop question: what a head has, what has a tail, what has two tails, and one that somebody asked in words."""
_PLACE = re.compile(r"\{(?:head|tail|a tail)\}")
_VOWELS = frozenset("aeiouAEIOU")
_NONE: frozenset[int] = frozenset()


def said(template: str, name: str) -> str:
    """``template`` with ``name`` in its place, ``{a tail}`` with its article."""
    return _PLACE.sub(lambda place: with_article(name) if place[0] == "{a tail}" else name, template)


def with_article(name: str) -> str:
    """``a painter``, ``an actor``; a name that has an article keeps it."""
    if name.lower().startswith(("the ", "a ", "an ")):
        return name
    return f"{'an' if name[:1] in _VOWELS else 'a'} {name}"


def question(kind: str, templates: Sequence[TemplateSettings], names: Sequence[str], noun: str, nested: Collection[int] = _NONE) -> str:
    """The single-hop question of this kind over the ``names``, of which the ``nested`` ones are phrases; ``noun`` is what is asked for."""
    if kind != FORWARD:
        return f"Which {noun} {_clauses(templates, names, nested, is_phrase=False)}?"
    if nested and not templates[0].question.endswith("{head}?"):
        return f"What is {said(templates[0].phrase, names[0])}?"
    return said(templates[0].question, names[0])


def phrase(kind: str, templates: Sequence[TemplateSettings], names: Sequence[str], noun: str, nested: Collection[int] = _NONE) -> str:
    """Its answer as a noun phrase."""
    if kind == FORWARD:
        return said(templates[0].phrase, names[0])
    return f"the {noun} {relative(noun)} {_clauses(templates, names, nested, is_phrase=True)}"


def relative(noun: str) -> str:
    """The pronoun that goes with a noun."""
    last = noun.rpartition(" ")[2]
    return "who" if NOUNS.get(last, last) == PERSON else "that"


def _clauses(templates: Sequence[TemplateSettings], names: Sequence[str], nested: Collection[int], *, is_phrase: bool) -> str:
    if len(names) == 1:
        return said(templates[0].clause, names[0])
    first, second = sorted(range(2), key=lambda place: place in nested)
    is_plain = first not in nested or " and " not in names[first]  # of "both A and B and C" nobody knows where it is divided
    if templates[0].clause == templates[1].clause and "{a tail}" not in templates[0].clause and is_plain:
        return said(templates[0].clause, f"both {names[first]} and {names[second]}")
    ones, others = (said(templates[place].clause, names[place]) for place in (first, second))
    joint = ", and " if first in nested else " and "
    return f"both {ones}{joint}{others}" if is_phrase else f"{ones}{joint}{others}"
