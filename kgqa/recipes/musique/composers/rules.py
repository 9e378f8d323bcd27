"""Composition by rules: the answer of each hop is said by its own question, as a noun phrase, where a later hop names it."""

from __future__ import annotations

from collections.abc import Mapping

from kgqa.recipes.musique import wording
from kgqa.recipes.musique.composers.chain import Chain, Hop
from kgqa.recipes.musique.composers.forms import noun_phrase
from kgqa.recipes.musique.wording import ASKED
from kgqa.settings.musique import TemplateSettings

REFUSED = {
    "form": "one of the questions has a form that the rules cannot turn into a noun phrase",
    "place": "the place of a name cannot take a noun phrase",
}
"""Why the rules refuse a chain → the sentence that reports show."""
DETERMINERS = frozenset({"a", "an", "the", "this", "that", "his", "her", "its", "their", "every", "each", "no"})
_RELATION = " >> "


class Refused(Exception):
    """The rules cannot compose a chain; its text is a key of ``REFUSED``."""


def compose(chain: Chain, templates: Mapping[str, TemplateSettings]) -> str:
    """The whole question. Raises Refused."""
    phrases: list[str] = []
    for hop in chain.hops[:-1]:
        phrases.append(_phrase(hop, phrases, templates))
    return _sentence(_question(chain.hops[-1], phrases, templates))


def _names(hop: Hop, phrases: list[str]) -> list[str]:
    """The names of a question from a template, those that earlier hops answer said by them."""
    said = {need.slot: phrases[need.hop] for need in hop.needs}
    return [said.get(slot, name) for slot, name in enumerate(hop.names)]


def _phrase(hop: Hop, phrases: list[str], templates: Mapping[str, TemplateSettings]) -> str:
    if hop.kind != ASKED:
        return wording.phrase(hop.kind, [templates[name] for name in hop.relations], _names(hop, phrases))
    found = noun_phrase(_filled(hop, phrases), person=hop.is_person)
    if found is None:
        raise Refused("form")
    return found


def _question(hop: Hop, phrases: list[str], templates: Mapping[str, TemplateSettings]) -> str:
    if hop.kind != ASKED:
        return wording.question(hop.kind, [templates[name] for name in hop.relations], _names(hop, phrases))
    text = _filled(hop, phrases)
    if _RELATION not in text:
        return text
    asked = noun_phrase(text, person=False)
    if asked is None:
        raise Refused("form")
    return f"What is {asked}"


def _filled(hop: Hop, phrases: list[str]) -> str:
    """The question with the phrases in their places."""
    text = hop.question
    for need in sorted(hop.needs, key=lambda need: -need.start):
        before, after = text[: need.start].rstrip(), text[need.end :]
        last = before.rpartition(" ")[2].lower()
        if last in DETERMINERS or after[:1] in {"'", "’", "-"} or before.endswith(("-", "(", '"')):
            raise Refused("place")
        text = f"{text[: need.start]}{phrases[need.hop]}{after}"
    return text


def _sentence(text: str) -> str:
    text = " ".join(text.split()).rstrip("?. ")
    return f"{text[:1].upper()}{text[1:]}?"
