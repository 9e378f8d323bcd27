"""BioC in XML and JSON: passages of text with annotations, and relations between these (http://bioc.sourceforge.net, ``BioC.dtd``).

The passages become one text, separated by spaces. Programs disagree about what an offset counts, so an annotation's place is its offset
beyond that of its passage or sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from lxml import etree
from pydantic import Field

from kgqa.sources.biomedicine.annotations import AnnotatedText, Annotation, Annotations, IdentifierSettings, document_id, several
from kgqa.sources.biomedicine.elements import elements, where
from kgqa.sources.biomedicine.json_records import json_pieces, json_records
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import element_pieces


class _Location(msgspec.Struct):
    offset: int
    length: int


class _Mark(msgspec.Struct):
    id: str | int = ""
    infons: dict[str, Any] = {}
    text: str | None = None
    locations: list[_Location] = []


class _Node(msgspec.Struct):
    refid: str | int


class _Relation(msgspec.Struct):
    infons: dict[str, Any] = {}
    nodes: list[_Node] = []


class _Passage(msgspec.Struct):
    offset: int
    text: str | None = None
    sentences: list[_Passage] = []
    annotations: list[_Mark] = []
    relations: list[_Relation] = []


class _Document(msgspec.Struct):
    id: str | int
    passages: list[_Passage]
    relations: list[_Relation] = []


class BioCSettings(IdentifierSettings):
    """Where BioC's annotations say what they are; each corpus has its own keys."""

    kind_key: str = Field(default="type", min_length=1)
    """Key under which the kind of an annotation or relation is stored."""
    identifier_key: str = Field(default="identifier", min_length=1)
    """Key under which the identifier of an annotation is stored."""

    def _add(self, document: _Document, annotations: Annotations, rows: Rows) -> None:
        units = [unit for passage in document.passages for unit in (passage.sentences if passage.text is None else (passage,))]
        texts, marks, length = [], [], 0
        for unit in units:
            texts.append(unit.text or "")
            for mark in unit.annotations:
                if len(mark.locations) != 1:
                    rows.skip("annotation in several parts or without a place", f"{document.id}, {mark.id}")
                    continue
                start = mark.locations[0].offset - unit.offset + length
                kind, identifiers = str(mark.infons.get(self.kind_key, "")), str(mark.infons.get(self.identifier_key) or "")
                marks.append((mark, Annotation(start, start + mark.locations[0].length, mark.text or "", kind, several(identifiers))))
            length += len(texts[-1]) + 1
        ends = [
            (str(relation.infons.get(self.kind_key, "")), *pair)
            for relation in (*document.relations, *(relation for unit in units for relation in unit.relations))
            if (pair := _ends(relation, f"PMID:{document.id}", rows))
        ]
        by_id = {str(mark.id) for mark, _ in marks} if any(named for *_, named in ends) else set()
        annotated = AnnotatedText(document_id(str(document.id)), texts[0].strip() if texts else "", " ".join(texts))
        # Relations name annotations in some corpora and identifiers in others; never both in one document.
        annotated.annotations = [annotation._replace(key=str(mark.id) if str(mark.id) in by_id else "") for mark, annotation in marks]
        annotated.relations = [(kind, first, second) for kind, first, second, _ in ends]
        annotations.add(annotated)


class BioCXml(BioCSettings):
    """Parser of BioC collections in XML."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The documents from byte ``start`` on."""
        return element_pieces(text, "document", start)

    def parse(self, piece: Piece) -> Rows:
        """Documents with mentions, entities and facts."""
        rows = Rows()
        annotations = Annotations(self, rows, self.prefixes)
        for element in elements(piece, "document", rows=rows):
            try:
                document = _xml_document(element)
            except ValueError:
                rows.skip("document with an offset that is no number", where(piece, element))
                continue
            self._add(document, annotations, rows)
        return annotations.finish()


class BioCJson(BioCSettings):
    """Parser of BioC collections in JSON."""

    pieces = staticmethod(json_pieces)

    def parse(self, piece: Piece) -> Rows:
        """Documents with mentions, entities and facts."""
        rows = Rows()
        annotations = Annotations(self, rows, self.prefixes)
        for number, record in enumerate(json_records(piece), 1):
            try:
                document = msgspec.json.decode(record, type=_Document)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
                rows.skip("document that is no BioC", f"{piece.file}, document {number} from line {piece.line}: {error}")
                continue
            self._add(document, annotations, rows)
        return annotations.finish()


def _ends(relation: _Relation, where: str, rows: Rows) -> tuple[str, str, bool] | None:
    """The two ends of a relation, and whether they name annotations rather than identifiers."""
    # PubTator's interface names an identifier with its kind, and numbers the annotations in a way of its own.
    if "entity1" in relation.infons:
        first, second = relation.infons["entity1"], relation.infons.get("entity2")
    else:
        roles = relation.infons.get("role1"), relation.infons.get("role2")
        first, second = (role.get("identifier") if isinstance(role, dict) else None for role in roles)
    if first and second:
        return str(first), str(second), False
    if len(relation.nodes) == 2:
        return str(relation.nodes[0].refid), str(relation.nodes[1].refid), True
    rows.skip("relation without two ends", where)
    return None


def _xml_document(element: etree._Element) -> _Document:
    return _Document(
        id=(element.findtext("id") or "").strip(),
        passages=[_xml_passage(passage) for passage in element.iterchildren("passage")],
        relations=[_xml_relation(relation) for relation in element.iterchildren("relation")],
    )


def _xml_passage(element: etree._Element) -> _Passage:
    return _Passage(
        offset=int(element.findtext("offset") or ""),
        text=element.findtext("text"),
        sentences=[_xml_passage(sentence) for sentence in element.iterchildren("sentence")],
        annotations=[_xml_mark(mark) for mark in element.iterchildren("annotation")],
        relations=[_xml_relation(relation) for relation in element.iterchildren("relation")],
    )


def _xml_mark(element: etree._Element) -> _Mark:
    places = element.iterchildren("location")
    return _Mark(
        id=element.get("id", ""),
        infons=_infons(element),
        text=element.findtext("text"),
        locations=[_Location(int(place.get("offset", "")), int(place.get("length", ""))) for place in places],
    )


def _xml_relation(element: etree._Element) -> _Relation:
    return _Relation(infons=_infons(element), nodes=[_Node(node.get("refid", "")) for node in element.iterchildren("node")])


def _infons(element: etree._Element) -> dict[str, str]:
    return {infon.get("key", ""): infon.text or "" for infon in element.iterchildren("infon")}
