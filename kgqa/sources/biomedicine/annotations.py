"""Texts whose entities somebody marked, whatever the format: their documents, mentions, entities and relations as rows.

A mark counts only if the text has the marked characters at its offsets. Its entity is the identifier that the corpus gives. A mark that
means several entities ("types I and II") is a mention and a name of none, but relations may be between them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from kgqa.settings.base import Settings
from kgqa.sources.biomedicine.elements import clean
from kgqa.sources.rows import Rows

PREFIXES = {
    "Gene": "NCBIGene",
    "GeneOrGeneProduct": "NCBIGene",
    "Disease": "MESH",
    "DiseaseOrPhenotypicFeature": "MESH",
    "Chemical": "MESH",
    "ChemicalEntity": "MESH",
    "Species": "NCBITaxon",
    "OrganismTaxon": "NCBITaxon",
}
"""Kind of entity in PubTator and BioRED → whose identifiers it has."""
PREFIXED = re.compile(r"[A-Za-z][\w.]*:\S")
NUMBERED = re.compile(r"(?:[A-Za-z]+:)?[A-Za-z]{0,4}_?\d+")
SEPARATOR = frozenset(",;|")
MISSING_IDS = {"", "-", "-1", "None"}


class Annotation(NamedTuple):
    """A marked part of a text."""

    start: int
    end: int
    text: str
    """What the corpus says the part is."""
    kind: str
    identifiers: tuple[str, ...]
    """As in the corpus; several where the part means several entities."""
    key: str = ""
    """By which relations name it, if they do not by its identifier."""


@dataclass(slots=True)
class AnnotatedText:
    """A document of a corpus."""

    id: str
    title: str
    text: str
    annotations: list[Annotation] = field(default_factory=list)
    relations: list[tuple[str, str, str]] = field(default_factory=list)
    """Kind, and the identifier or key of each of the two annotations."""


class AnnotationSettings(Settings):
    """What becomes of annotations, in all formats."""

    kinds: tuple[str, ...] = ()
    """Kinds of annotation to keep, as the corpus names them; empty: all."""
    without_id: Literal["skip", "text"] = "skip"
    """Treatment of annotations without an identifier: ``skip`` them, or use their kind and lower-case ``text`` as the identifier."""
    symmetric: tuple[str, ...] = ()
    """Relations that hold in both directions."""


class IdentifierSettings(AnnotationSettings):
    """What becomes of identifiers, in formats that have them."""

    prefixes: Mapping[str, str] = PREFIXES
    """Kind of annotation → prefix of its identifiers, followed by a colon; by default the kind itself. An identifier that has a prefix,
    such as ``OMIM:603903``, is kept as it is."""


class Annotations:
    """Rows of annotated texts; the entities are added at the end. An entity's label is the text of its first mention."""

    def __init__(self, settings: AnnotationSettings, rows: Rows, prefixes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Texts are added with :meth:`add`; ``prefixes``: kind of annotation → prefix of its identifiers."""
        self._settings, self._rows, self._prefixes = settings, rows, prefixes
        self._kinds: dict[str, str] = {}
        self._names: dict[str, dict[str, None]] = {}
        self._relations: dict[str, None] = {}

    def add(self, document: AnnotatedText) -> None:
        """A document with its mentions and the facts between them."""
        self._rows.document(document.id, document.title, document.text)
        known_ids: dict[str, list[str]] = {}
        mentions: dict[tuple[int, int, str], None] = {}
        for annotation in document.annotations:
            entities = self._entities(document, annotation)
            if annotation.key and entities:
                known_ids.setdefault(annotation.key, [*entities.values()])
            elif not annotation.key:
                known_ids.update({name: [entity] for name, entity in entities.items() if name not in known_ids})
            if len(entities) == 1:
                (entity,) = entities.values()
                mentions[annotation.start, annotation.end, entity] = None
                self._names.setdefault(entity, {})[clean(annotation.text)] = None
            elif entities:
                self._rows.skip("mention of several entities at once", f"{document.id}, {annotation.start}-{annotation.end}")
        for start, end, entity in mentions:
            self._rows.mention(document.id, start, end, entity)
        facts: dict[tuple[str, str, str], None] = {}
        for kind, first, second in document.relations:
            if first not in known_ids or second not in known_ids or not kind:
                self._rows.skip("relation of what is not annotated", document.id)
            else:
                facts.update({(head, kind, tail): None for head in known_ids[first] for tail in known_ids[second] if head != tail})
        for head, kind, tail in facts:
            self._relations[kind] = None
            self._rows.fact(head, kind, tail)

    def finish(self) -> Rows:
        """All rows, now with the entities and relations of the texts."""
        for entity, kind in self._kinds.items():
            names = self._names.get(entity, {})
            self._rows.entity(entity, next(iter(names), ""), kind=kind)
            for name in names:
                self._rows.name(entity, name)
        for kind in self._relations:
            self._rows.relation(kind, re.sub(r"[_-]+", " ", kind).lower(), symmetric=kind in self._settings.symmetric)
        return self._rows

    def _entities(self, document: AnnotatedText, annotation: Annotation) -> dict[str, str]:
        """Identifier → entity, of an annotation; none if it is left out."""
        start, end, text, kind, identifiers, _ = annotation
        if self._settings.kinds and kind not in self._settings.kinds:
            self._rows.skip("annotation of another kind", f"{document.id}, {start}-{end}")
            return {}
        if not 0 <= start < end <= len(document.text) or document.text[start:end] != text or not text.strip():
            self._rows.skip("annotation whose offsets do not have its text", f"{document.id}, {start}-{end}")
            return {}
        entities = {identifier: self._entity_id(kind, identifier) for identifier in identifiers if identifier not in MISSING_IDS}
        if not entities and self._settings.without_id == "text":
            name = f"{kind}:{clean(text).lower()}"
            entities = {name: name}
        elif not entities:
            self._rows.skip("annotation without an identifier", f"{document.id}, {start}-{end}")
        for entity in entities.values():
            self._kinds.setdefault(entity, kind or "entity")
        return entities

    def _entity_id(self, kind: str, identifier: str) -> str:
        return identifier if PREFIXED.match(identifier) else f"{self._prefixes.get(kind) or kind}:{identifier}"


def document_id(number: str) -> str:
    """The document's id, with ``PMID:`` before a bare number."""
    return f"PMID:{number}" if number.isdecimal() else number


def several(identifiers: str) -> tuple[str, ...]:
    """The identifiers of an annotation that means several entities: ``7040,7042``, ``D003866;D001008``, ``D003866|D001008``.

    The name of a variant is left whole: ``c|SUB|G|1763|A``.
    """
    if SEPARATOR.isdisjoint(identifiers):
        return (identifiers.strip(),)
    parts = identifiers.split("|")
    if not all(NUMBERED.fullmatch(part.strip()) for part in parts):
        parts = [identifiers]
    return tuple(dict.fromkeys(value.strip() for part in parts for value in re.split(r"[,;]", part)))
