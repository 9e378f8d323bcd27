"""Questions in words: a form of the pattern, filled with phrases for the linked entities and for what the articles say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import Formatter

from kgqa.recipes.musique.wording import FORWARD, at_end, fill, phrase, pick, question
from kgqa.settings.musique import TemplateSettings, forms

OF_HEAD = " of {head}"
NESTED = frozenset({0})
"""The name in a question about a linked entity is a phrase."""
Place = Callable[[], str]


def described(hop: Mapping[str, object], templates: Mapping[str, TemplateSettings], draw: int) -> str:
    """The answer of a single-hop question as a noun phrase: ``the director of Alien``."""
    relations, names = hop["relations"], hop["names"]
    assert isinstance(relations, list)
    assert isinstance(names, list)
    return phrase(str(hop["kind"]), [templates[name] for name in relations], names, str(hop["noun"]), draw=draw)


def asked_about(hop: Mapping[str, object], templates: Mapping[str, TemplateSettings], name: str, draw: int, *, nested: bool = True) -> str:
    """A single-hop question with another ``name``: a phrase that describes its subject, or ``#1``."""
    relations = hop["relations"]
    assert isinstance(relations, list)
    relation_templates = [templates[relation] for relation in relations]
    return question(str(hop["kind"]), relation_templates, [name], str(hop["noun"]), NESTED if nested else frozenset(), draw=draw)


def noun_of(template: TemplateSettings, draw: int) -> str:
    """The relation as a noun, ``birthplace`` of ``the birthplace of {head}``; empty where no form has one."""
    nouns = [
        form.removeprefix("the ").removesuffix(OF_HEAD)
        for form in forms(template.phrase)
        if form.startswith("the ") and form.endswith(OF_HEAD)
    ]
    return nouns[draw % len(nouns)] if nouns else ""


def its(template: TemplateSettings, name: str, draw: int) -> str:
    """``the birthplace of the director of Alien``."""
    return fill(pick(at_end(template.phrase, nested_numbers=True), draw), name)


def worded(forms_of_pattern: str | tuple[str, ...], places: Mapping[str, Place], draw: int) -> str | None:
    """One of the forms, drawn from those whose places can all be filled; None if there are none."""
    question_forms = list(forms(forms_of_pattern))
    while question_forms:
        form = question_forms.pop(draw % len(question_forms))
        text = _filled(form, places)
        if text is not None:
            return text[0].upper() + text[1:]
    return None


def _filled(form: str, places: Mapping[str, Place]) -> str | None:
    parts = []
    for text, name, _, _ in Formatter().parse(form):
        parts.append(text)
        if name is not None:
            value = places[name]() if name in places else ""
            if not value:
                return None
            parts.append(value)
    return "".join(parts)


def listed(names: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


__all__ = ["FORWARD", "asked_about", "described", "its", "listed", "noun_of", "worded"]
