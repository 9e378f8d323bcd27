"""GraphML (Brandes et al. 2002), as networkx, Gephi, yEd and Neo4j's apoc.export write it.

A node's attributes become its label, kind, description, other names and values; an edge's attribute is its relation. Nested graphs are
read like their nodes' siblings. Ports, hyperedges and further attributes of edges are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from kgqa.errors import BrokenInput
from kgqa.settings.base import Settings
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.graphs.cutting import first_bytes, record_pieces
from kgqa.sources.graphs.words import entity_words, nfc, relation_words
from kgqa.sources.rows import Rows
from kgqa.sources.safe_xml import xml_parser

if TYPE_CHECKING:
    from lxml.etree import _Element

DEPTH_LIMIT = 200
ENOUGH_ELEMENTS = 1_000
"""Elements that are no XML from which they show what share of a file is."""
NUMBERS = frozenset({"int", "long", "float", "double"})
_NUMBER = re.compile(r"\+?(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_TAG = rb"""(?:[^<>"']|"[^"<]*"|'[^'<]*')*+>"""
_MARK = re.compile(rb"(?s)<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<(/?)(node|edge|graph)(?=[\s/>])(?:" + _TAG + rb"|[^<]*(?=<))")
_GRAPH = re.compile(rb"<graph(?=[\s/>])" + _TAG)
_FOREIGN = {"NodeLabel": "label", "EdgeLabel": "label"}
"""Elements of yEd, which writes labels as drawings."""
END = b"</graph></graphml>"


@dataclass(frozen=True, slots=True)
class _Key:
    """A ``key`` element: an attribute of nodes or edges."""

    name: str
    type: str
    default: str
    elements: str


class GraphMl(Settings):
    """GraphML. Attributes are named by their ``attr.name``; of several the first that an element has is taken."""

    labels: tuple[str, ...] = ("label", "name", "title")
    """Node attributes of the label."""
    kinds: tuple[str, ...] = ("kind", "type", "labels")
    """Node attributes of the kind; of several kinds, such as ``:Person:Actor`` from Neo4j, the first."""
    kind: str = "entity"
    """Kind of nodes without such an attribute."""
    descriptions: tuple[str, ...] = ("description",)
    """Node attributes of the description."""
    aliases: tuple[str, ...] = ()
    """Node attributes of additional names."""
    separator: str = "|"
    """Separator between several names in one attribute; empty: an attribute has one name."""
    relations: tuple[str, ...] = ("relation", "label", "type")
    """Edge attributes of the relation."""
    only_relation: str = ""
    """Relation of edges without such an attribute; empty: these edges are skipped."""
    without: tuple[str, ...] = ()
    """Node attributes to skip. All others become values: numbers if the file declares them so."""
    symmetric: tuple[str, ...] = ()
    """Relations in which (a, r, b) means the same as (b, r, a), besides those of undirected edges."""
    label_from_id: bool = True
    """Derive missing labels from the id, with spaces for underscores."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """Whole nodes and edges; the head is what precedes the first, with the tag of the graph that they are in."""
        first_bytes(text)
        head, is_end = b"", True
        places: list[tuple[int, int]] = []

        def last_end(data: bytes) -> int:
            places[:] = _elements(data, text.name)
            return places[-1][1] if places else 0

        for piece in record_pieces(text, last_end, start, record="node or edge"):
            if not places or len(piece.data) != places[-1][1]:
                last_end(piece.data)
            spans = list(places)
            begin, end = (spans[0][0], spans[-1][1]) if spans else (len(piece.data), 0)
            head = _of_graph(head, piece.data[:begin]) if head else _checked_head(text, piece.data[:begin])
            if spans and piece.position >= start:
                line = piece.line + piece.data.count(b"\n", 0, begin)
                yield Piece(piece.file, piece.position + begin, line, piece.data[begin:end], head)
            head = _of_graph(head, b"".join(piece.data[last:first] for (_, last), (first, _) in pairwise(spans)))
            is_end = b"</graphml" in piece.data[end:]
        if not is_end:
            text.broken("</graphml> is missing at the end, so the file is cut; download it again")

    def parse(self, piece: Piece) -> Rows:
        """Rows of a piece. An element that is no XML is skipped."""
        rows = Rows()
        head = _parsed(piece.head + END)
        if head is None:
            raise BrokenInput(f"{piece.file}: the text before the first node is not XML; check the file.")
        keys = {key.get("id", ""): _key(key) for key in head.iter("{*}key")}
        root = _parsed(piece.head + piece.data + END)
        if root is not None:
            self._read(root, keys, rows)
            return rows
        faults, whole = 0, 0
        for start, end in _elements(piece.data + END, piece.file):  # which ends an element that is never closed
            element = _parsed(piece.head + piece.data[start:end] + END)
            if element is not None:
                whole += 1
                self._read(element, keys, rows)
                continue
            where = "" if faults else f"{piece.file}, line {piece.line + piece.data.count(bytes([10]), 0, start)}"
            rows.skip("element that is no XML", where)
            faults += 1
            if faults >= ENOUGH_ELEMENTS and faults > whole:
                raise BrokenInput(
                    f"{rows.examples['element that is no XML']}: this is not XML, nor are most elements that follow; check the file."
                )
        return rows

    def _read(self, root: _Element, keys: dict[str, _Key], rows: Rows) -> None:
        relations: dict[str, bool] = {}
        for element in root.iter("{*}node", "{*}edge"):
            name = _local(element)
            attributes = _attributes(element, name, keys)
            if name == "node":
                self._node(element, attributes, rows)
            else:
                self._edge(element, attributes, relations, rows)
        for relation, is_symmetric in relations.items():
            rows.relation(relation, "", symmetric=is_symmetric or relation in self.symmetric)
            if self.label_from_id:
                rows.name(relation, relation_words(relation), "id")

    def _node(self, element: _Element, attributes: dict[str, tuple[str, str]], rows: Rows) -> None:
        id_ = nfc(element.get("id", ""))
        if not id_:
            rows.skip("node without an id", f"line {element.sourceline} of a piece")
            return
        reserved_keys = {*self.without, *self.aliases}

        def first(names: tuple[str, ...]) -> str:
            name = next((name for name in names if name in attributes), None)
            if name is None:
                return ""
            reserved_keys.add(name)
            return nfc(attributes[name][0])

        label, description = first(self.labels), first(self.descriptions)
        kind = first(self.kinds).lstrip(":").split(":")[0].strip() or self.kind
        rows.entity(id_, label, kind=kind, description=description)
        if label:
            rows.name(id_, label, "label")
        elif self.label_from_id:
            rows.name(id_, entity_words(id_), "id")
        for name in self.aliases:
            text = attributes.get(name, ("", ""))[0]
            for alias in text.split(self.separator) if self.separator else [text]:
                if alias.strip():
                    rows.name(id_, nfc(alias), "alias")
        for name, (text, type_) in attributes.items():
            if name in reserved_keys or not text.strip():
                continue
            number = _NUMBER.fullmatch(text.strip()) if type_ in NUMBERS else None
            if type_ in NUMBERS and not number:
                rows.skip("number that is none", f"{id_} {name}")
                continue
            rows.value(id_, name, "quantity" if number else "text", number[1] if number else nfc(text))
            rows.relation(name, "")
            if self.label_from_id:
                rows.name(name, relation_words(name), "id")

    def _edge(self, element: _Element, attributes: dict[str, tuple[str, str]], relations: dict[str, bool], rows: Rows) -> None:
        head, tail = nfc(element.get("source", "")), nfc(element.get("target", ""))
        relation = next((nfc(attributes[name][0]) for name in self.relations if name in attributes), "") or self.only_relation
        if not head or not tail:
            rows.skip("edge without two ends", f"{head} {tail}")
        elif not relation:
            rows.skip("edge without a relation", f"{head} {tail}")
        else:
            rows.fact(head, relation, tail)
            relations[relation] = relations.get(relation, False) or _is_undirected(element)


def _checked_head(text: Bytes, head: bytes) -> bytes:
    """What precedes the first element. BrokenInput where it is not that of GraphML, or declares a document type."""
    if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
        raise BrokenInput(f"{text.name}: the file has a document type declaration, which can make it read other files; remove it.")
    if b"<graphml" not in head:
        raise BrokenInput(f"{text.name}: there is no <graphml> element, so this is not GraphML; check the file.")
    return head


def _elements(data: bytes, file: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each outermost node or edge that is whole, or that ends where another begins, as it was never closed.

    BrokenInput where they are nested too deeply.
    """
    open_: list[bytes] = []
    start = 0
    for mark in _MARK.finditer(data):
        name = mark[2]
        if name is None or (name == b"graph" and not open_ and not mark[1]):
            continue
        if mark[1]:
            if name in open_:
                while open_.pop() != name:
                    pass
                if not open_:
                    yield start, mark.end()
            elif name == b"graph" and open_:  # the graph of the outermost ends before they do
                open_.clear()
                yield start, mark.start()
            continue
        if name != b"graph" and open_ and open_[-1] != b"graph":  # they hold others only in a graph of their own
            open_.pop()
            if not open_:
                yield start, mark.start()
        if not open_:
            start = mark.start()
        open_.append(name)
        if len(open_) > 2 * DEPTH_LIMIT:
            raise BrokenInput(f"{file}: a node nested in {DEPTH_LIMIT} others, which no graph needs; check the file.")
        if mark[0].rstrip().endswith(b"/>"):
            open_.pop()
            if not open_:
                yield start, start + len(mark[0].rstrip())


def _of_graph(head: bytes, between: bytes) -> bytes:
    """The head with the tag of the last graph that begins between two elements."""
    tags, own = list(_GRAPH.finditer(between)), list(_GRAPH.finditer(head))
    return head[: own[-1].start()] + tags[-1][0] if tags and own else head


def _parsed(data: bytes) -> _Element | None:
    """The root element; None where this is no XML. Nothing outside is read and no entity expanded."""
    from lxml import etree

    try:
        return etree.fromstring(data, xml_parser())
    except (etree.XMLSyntaxError, ValueError):
        return None


def _key(element: _Element) -> _Key:
    default = next((child.text or "" for child in element if _local(child) == "default"), "")
    name = element.get("attr.name") or element.get("yfiles.type") or element.get("id") or ""
    return _Key(name, element.get("attr.type", "string"), default, element.get("for", "all"))


def _attributes(element: _Element, name: str, keys: dict[str, _Key]) -> dict[str, tuple[str, str]]:
    """Name → text and type, of the data of an element, of its own XML attributes, and of defaults."""
    own = {"id", "source", "target", "directed", "sourceport", "targetport"}
    attributes = {str(attribute): (str(text), "string") for attribute, text in element.attrib.items() if attribute not in own}
    for key in keys.values():
        if key.default and key.elements in {name, "all"}:
            attributes[key.name] = (key.default, key.type)
    for child in element:
        if _local(child) != "data":
            continue
        key = keys.get(child.get("key", "")) or _Key(child.get("key", ""), "string", "", "all")
        if len(child):
            attributes |= {_FOREIGN[_local(part)]: (part.text, "string") for part in child.iter() if _local(part) in _FOREIGN and part.text}
        else:
            attributes[key.name] = (child.text or "", key.type)
    return attributes


def _local(element: _Element) -> str:
    """The name of an element without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _is_undirected(edge: _Element) -> bool:
    graph = edge.getparent()
    default = graph.get("edgedefault", "directed") if graph is not None else "directed"
    return edge.get("directed", "true" if default == "directed" else "false") == "false"
