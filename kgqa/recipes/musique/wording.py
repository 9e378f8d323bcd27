"""How a fact is asked and said: templates with names in them."""

from __future__ import annotations

from collections.abc import Sequence

from kgqa.recipes.names.kinds import NOUNS, PERSON
from kgqa.settings.musique import TemplateSettings

FORWARD, INVERSE, BOTH, ASKED = "forward", "inverse", "both", "asked"
"""Kinds of a single-hop question: what a head has, what has a tail, what has two tails, and one that somebody asked in words."""
_VOWELS = frozenset("aeiouAEIOU")


def said(template: str, name: str) -> str:
    """``template`` with ``name`` in its place, ``{a tail}`` with its article."""
    return template.replace("{head}", name).replace("{tail}", name).replace("{a tail}", with_article(name))


def with_article(name: str) -> str:
    """``a painter``, ``an actor``; a name that has an article keeps it."""
    if name.startswith(("the ", "The ", "a ", "an ")):
        return name
    return f"{'an' if name[:1] in _VOWELS else 'a'} {name}"


def question(kind: str, templates: Sequence[TemplateSettings], names: Sequence[str]) -> str:
    """The single-hop question of this kind over the ``names``."""
    if kind == FORWARD:
        return said(templates[0].question, names[0])
    return f"Which {templates[0].noun} {_clauses(templates, names)}?"


def phrase(kind: str, templates: Sequence[TemplateSettings], names: Sequence[str]) -> str:
    """Its answer as a noun phrase."""
    if kind == FORWARD:
        return said(templates[0].phrase, names[0])
    return f"the {templates[0].noun} {relative(templates[0].noun)} {_clauses(templates, names)}"


def relative(noun: str) -> str:
    """The pronoun that goes with a noun."""
    last = noun.rpartition(" ")[2]
    return "who" if NOUNS.get(last, last) == PERSON else "that"


def _clauses(templates: Sequence[TemplateSettings], names: Sequence[str]) -> str:
    return " and ".join(said(template.clause, name) for template, name in zip(templates, names, strict=True))
