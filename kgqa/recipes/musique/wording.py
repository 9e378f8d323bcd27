"""Steps S1 and S7 (Trivedi et al. 2022): put facts into words, by templates with names or with phrases that replace names.

Phrases are long, so anything shorter goes before them. A question that continues after the name uses the noun phrase instead ("What is the
birthplace of …?"), and of two facts the one about a name comes first. An attribute right after a noun needs no clause ("the movie directed
by Ridley Scott that features Sting"). A random number picks one of the forms of a template.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kgqa.recipes.names.kinds import NOUNS, PERSON
from kgqa.settings.musique import TemplateSettings, forms

FORWARD, INVERSE, BOTH, ASKED = "forward", "inverse", "both", "asked"
"""Kinds of single-hop questions: for a tail, for a head, for the head of two facts, and questions that annotators wrote."""
_PLACE = re.compile(r"\{(?:head|tail|a tail)\}")
_VOWELS = frozenset("aeiouAEIOU")
_NONE: frozenset[int] = frozenset()
LONG = 10
"""Words of a phrase above which a sentence should not go on after it; also where it has two clauses."""
_CLAUSES = frozenset({"that", "who", "where", "which"})


def fill(template: str, name: str) -> str:
    """``template`` filled with ``name``; ``{a tail}`` gets an article."""
    if name.startswith("the ") and name.endswith("s"):  # "the Beatles' band"
        template = template.replace("}'s", "}'")
    return _PLACE.sub(lambda place: with_article(name) if place[0] == "{a tail}" else name, template)


def with_article(name: str) -> str:
    """``a painter``, ``an actor``; a name with an article stays as it is."""
    if name.lower().startswith(("the ", "a ", "an ")):
        return name
    return f"{'an' if name[:1] in _VOWELS else 'a'} {name}"


def pick(value: str | tuple[str, ...], draw: int) -> str:
    """One of the forms, chosen by ``draw``; empty if there are no forms."""
    options = forms(value)
    return options[draw % len(options)] if options else ""


def at_end(value: str | tuple[str, ...], nested_numbers: bool) -> str | tuple[str, ...]:
    """The forms that end with the name, if a phrase replaces the name and such forms exist; else all. A long phrase hides what follows."""
    end_forms = tuple(form for form in forms(value) if form.endswith(("}", "}?")))
    return end_forms if nested_numbers and end_forms else value


def is_long(phrase: str) -> bool:
    """Whether a sentence that goes on after this phrase is hard to read."""
    words = phrase.split()
    return len(words) > LONG or sum(word in _CLAUSES for word in words) > 1


def question(
    kind: str,
    templates: Sequence[TemplateSettings],
    names: Sequence[str],
    noun: str,
    nested_numbers: Collection[int] = _NONE,
    *,
    draw: int = 0,
) -> str:
    """The single-hop question of this kind over ``names``; ``noun``: class of its answer; ``nested_numbers``: names that are phrases."""
    if kind != FORWARD:
        return _asking(templates, names, noun, nested_numbers, draw)
    first = templates[0]
    if nested_numbers and first.nested:
        return fill(pick(first.nested, draw), names[0])
    text = pick(at_end(first.question, bool(nested_numbers) and is_long(names[0])), draw)
    return fill(text, names[0])


def phrase(
    kind: str,
    templates: Sequence[TemplateSettings],
    names: Sequence[str],
    noun: str,
    nested_numbers: Collection[int] = _NONE,
    *,
    draw: int = 0,
) -> str:
    """The answer of a single-hop question as a noun phrase."""
    if kind == FORWARD:
        form = (nested_numbers and templates[0].nested_phrase) or at_end(templates[0].phrase, bool(nested_numbers))
        if nested_numbers:  # "the director of Alien's birthplace" is hard to read
            form = tuple(option for option in forms(form) if "}'s" not in option) or form
        return fill(pick(form, draw), names[0])
    right_after, clauses = _facts(templates, names, nested_numbers, draw)
    relatives = [f"{relative(noun)} {clause}" for clause in clauses]
    joint = ", and " if nested_numbers and len(relatives) > 1 and 0 in nested_numbers and 1 in nested_numbers else " and "
    return " ".join(part for part in (f"the {noun}", right_after, joint.join(relatives)) if part)


def statement(
    kind: str,
    templates: Sequence[TemplateSettings],
    names: Sequence[str],
    noun: str,
    nested_numbers: Collection[int] = _NONE,
    *,
    draw: int = 0,
) -> str | None:
    """A sentence that introduces the answer, for a later sentence to refer to; None for a FORWARD question, which has a phrase only."""
    if kind == FORWARD:
        return None
    clauses = _facts(templates, names, nested_numbers, draw, attributes=False)[1]
    return f"{with_article(noun).capitalize()} {' and '.join(clauses)}."


def relative(noun: str) -> str:
    """The relative pronoun of a noun."""
    last_word = noun.rpartition(" ")[2]
    return "who" if NOUNS.get(last_word, last_word) == PERSON else "that"


def _asking(templates: Sequence[TemplateSettings], names: Sequence[str], noun: str, nested_numbers: Collection[int], draw: int) -> str:
    """A question for the head of one or two facts."""
    with_attribute = len(names) > 1 and bool(draw & 1) and noun != PERSON
    right_after, clauses = _facts(templates, names, nested_numbers, draw >> 1, attributes=with_attribute)
    opening = "Who" if noun == PERSON else f"{'What' if draw & 2 and not right_after else 'Which'} {noun}"
    if right_after and not clauses:  # the attribute is the only fact
        return f"{opening} {_facts(templates, names, nested_numbers, draw >> 1, attributes=False)[1][0]}?"
    joint = ", and " if 0 in nested_numbers and 1 in nested_numbers else " and "
    return " ".join(part for part in (opening, right_after, joint.join(clauses)) if part) + "?"


def _facts(
    templates: Sequence[TemplateSettings], names: Sequence[str], nested_numbers: Collection[int], draw: int, *, attributes: bool = True
) -> tuple[str, list[str]]:
    """The attribute right after the noun (maybe empty) and the clauses after it; facts about names come before facts about phrases."""
    first, second = sorted(range(len(names)), key=lambda place: place in nested_numbers) if len(names) > 1 else (0, 0)
    first_template, second_template = templates[first], templates[second]
    is_plain = first not in nested_numbers or " and " not in names[first]  # "both A and B and C" is ambiguous
    if len(names) > 1 and first_template == second_template and "{a tail}" not in pick(first_template.clause, draw) and is_plain:
        names = [f"both {names[first]} and {names[second]}"]
        first = second = 0
    is_hard = [number in nested_numbers and is_long(name) for number, name in enumerate(names)]
    if second == first:
        attribute = pick(at_end(first_template.attribute, is_hard[first]), draw) if attributes else ""
        if attribute and (attribute.endswith("}") or first not in nested_numbers):
            return fill(attribute, names[first]), []
        return "", [fill(pick(at_end(first_template.clause, is_hard[first]), draw), names[first])]
    last_clause = fill(pick(at_end(second_template.clause, is_hard[second]), draw), names[second])
    attribute = pick(first_template.attribute, draw) if attributes else ""
    if attribute and first not in nested_numbers:
        return fill(attribute, names[first]), [last_clause]
    return "", [fill(pick(first_template.clause, draw), names[first]), last_clause]
