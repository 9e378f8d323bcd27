"""Wikidata's RDF: the truthy dump in N-Triples, or the Turtle of ``Special:EntityData``, read by pyoxigraph.

https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.graphs.statements import check_nesting
from kgqa.sources.rows import Rows
from kgqa.sources.streams import line_pieces
from kgqa.sources.wikibase import selection as reasons
from kgqa.sources.wikibase.dump import EARTH, degrees, number
from kgqa.sources.wikibase.selection import CONSTRAINT, ID, INSTANCE_OF, ITEM, RankedSelection, last_part
from kgqa.sources.wikibase.times import CALENDARS, rdf_time
from kgqa.sources.wikibase.whole import Peeked, checked_end

RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
DESCRIPTION = "http://schema.org/description"
ABOUT, NAME = "http://schema.org/about", "http://schema.org/name"
SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
WIKIBASE = "http://wikiba.se/ontology#"
ITEM_TYPE = WIKIBASE + "Item"
XSD = "http://www.w3.org/2001/XMLSchema#"
GEO = "http://www.opengis.net/ont/geosparql#wktLiteral"
POINT = re.compile(r"(?:<([^>]*)> *)?POINT *\(([^ ()]+) +([^ ()]+)\)", re.IGNORECASE)
UNKNOWN_VALUE = "/.well-known/genid/"
"""Part of the IRI that newer dumps write for an unknown value instead of a blank node."""
NUMBERS = {XSD + name for name in ("decimal", "integer", "double", "float", "int", "long", "nonNegativeInteger")}
DATES = {XSD + name for name in ("dateTime", "date")}
HOSTS = {
    "be_x_oldwiki": "be-tarask.wikipedia",
    "commonswiki": "commons.wikimedia",
    "foundationwiki": "foundation.wikimedia",
    "incubatorwiki": "incubator.wikimedia",
    "mediawikiwiki": "www.mediawiki",
    "metawiki": "meta.wikimedia",
    "outreachwiki": "outreach.wikimedia",
    "sourceswiki": "wikisource",
    "specieswiki": "species.wikimedia",
    "wikidatawiki": "www.wikidata",
    "wikifunctionswiki": "www.wikifunctions",
    "wikimaniawiki": "wikimania.wikimedia",
}
"""Site → host, where the one does not follow from the other."""
Nodes = dict[str, list[tuple[str, Any]]]
"""Subject → predicates and objects."""
CARRIED = 64 << 20
"""Bytes of one entity's lines beyond which they are cut into two pieces."""


def address_of(site: str) -> str:
    """Address that the pages of a Wikimedia wiki begin with: ``https://en.wikipedia.org/`` for ``enwiki``; empty for what is none."""
    if site in HOSTS:
        return f"https://{HOSTS[site]}.org/"
    match = re.fullmatch(r"([a-z0-9_]+?)(wiki|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage|wiktionary)", site)
    return f"https://{match[1].replace('_', '-')}.{'wikipedia' if match[2] == 'wiki' else match[2]}.org/" if match else ""


class WikidataRdf(RankedSelection):
    """Parser of the truthy dump in N-Triples, or of Turtle for some entities."""

    base: str = "http://www.wikidata.org/"
    """Beginning of the repository's own IRIs, before ``entity/`` and ``prop/direct/``."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The lines of whole entities; Turtle in one piece."""
        peeked = Peeked(text)
        if not _is_turtle(peeked.first):
            yield from self._whole_entities(checked_end(line_pieces(peeked, start), text, (b".",)))
        elif start == 0:
            yield peeked.whole("Turtle cannot be cut into pieces, so use N-Triples")

    def _whole_entities(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Move the lines of a piece's last entity to the next piece, so that an entity's names and classes are seen together."""
        begin = b"<" + self.base.encode() + b"entity/"
        carried: Piece | None = None
        for piece in pieces:
            whole = piece if carried is None else Piece(piece.file, carried.position, carried.line, carried.data + piece.data)
            cut = _last_entity(whole.data, begin)
            if len(whole.data) - cut > CARRIED:
                cut = len(whole.data)
            if cut:
                yield Piece(whole.file, whole.position, whole.line, whole.data[:cut])
            rest = whole.data[cut:]
            carried = Piece(whole.file, whole.position + cut, whole.line + whole.data.count(b"\n", 0, cut), rest) if rest else None
        if carried is not None:
            yield carried

    def parse(self, piece: Piece) -> Rows:
        """Rows of the statements in a piece."""
        if _is_turtle(piece.data):
            graph = _Graph(self, full=True)
            graph.read(_turtle(piece))
            return graph.rows()
        # Lines that the selection does not keep are passed over before they are parsed, which saves most of the time.
        lines = self._entity_pattern().findall(piece.data if piece.data.endswith(b"\n") else piece.data + b"\n")
        graph, broken_lines = _Graph(self), list[int]()
        try:
            graph.read(parse(b"".join(lines), RdfFormat.N_TRIPLES, lenient=True))
        except SyntaxError:
            graph, broken_lines = self._line_by_line(lines)
        rows = graph.rows()
        for number_ in broken_lines:
            rows.skip(reasons.UNREADABLE, f"line {piece.line + number_}")
        return rows

    def _line_by_line(self, lines: list[bytes]) -> tuple[_Graph, list[int]]:
        """The graph of the lines that can be read, and the numbers of those that cannot."""
        graph, broken_lines = _Graph(self), list[int]()
        for line_number, line in enumerate(lines):
            try:
                graph.read(parse(line, RdfFormat.N_TRIPLES, lenient=True))
            except SyntaxError:
                broken_lines.append(line_number)
        return graph, broken_lines

    def _entity_pattern(self) -> re.Pattern[bytes]:
        base = re.escape(self.base).encode()
        properties = b"|".join(sorted({id_.encode() for id_ in (*self.properties, INSTANCE_OF, CONSTRAINT)}))
        languages = b"|".join(language.encode() for language in self.languages)
        term = b"|".join(re.escape(iri).encode() for iri in (RDFS_LABEL, ALIAS, DESCRIPTION))
        entity = [
            base + b"prop/direct/(?:" + (properties if self.properties else rb"P\d+") + b")>",
            b"(?:" + term + rb")>[ \t]*\"[^\n]*@(?i:" + languages + rb")[ \t]*\.",
            re.escape(SAME_AS).encode() + b">",
            re.escape(TYPE).encode() + rb">[ \t]*<(?:" + base + b"prop/novalue/|" + re.escape(ITEM_TYPE).encode() + b">)",
        ]
        # Triples as objects, which Wikibase does not write, are left out, as nesting them crashes the parser.
        patterns = [base + rb"entity/[^>\n]+>[ \t]*<(?:" + b"|".join(entity) + rb")[ \t]*+(?!<<)"]
        if address := address_of(self.chosen_site):
            page = b"|".join(re.escape(iri).encode() for iri in (ABOUT, NAME))
            patterns.append(re.escape(address).encode() + rb"[^>\n]+>[ \t]*<(?:" + page + rb")>[ \t]*+(?!<<)")
        # The second branch takes any other line whole, so that a search never begins within a line.
        return re.compile(rb"(<(?:" + b"|".join(patterns) + rb")[^\n]*\n)|[^\n]*\n")


class _Graph:
    """Triples of some entities, gathered by subject and written as rows."""

    def __init__(self, options: WikidataRdf, *, full: bool = False) -> None:
        self.chosen = options
        self.entity, self.direct = options.base + "entity/", options.base + "prop/direct/"
        self.no_value = options.base + "prop/novalue/"
        self.address = address_of(options.chosen_site)
        self.terms: dict[str, dict[str, list[tuple[str, str]]]] = {iri: {} for iri in (RDFS_LABEL, ALIAS, DESCRIPTION)}
        """Predicate → entity → its languages and texts."""
        self.claims: dict[str, list[tuple[str, Any]]] = {}
        self.no_values: list[tuple[str, str]] = []
        self.items: dict[str, None] = {}
        self.redirects: dict[str, None] = {}
        self.pages: dict[str, dict[str, str]] = {}
        self.nodes: Nodes | None = defaultdict(list) if full else None
        """Subject → predicates and objects of everything, in Turtle."""

    def read(self, quads: Iterable[Quad]) -> None:
        """Add triples. SyntaxError where they cannot be read; what precedes is then added."""
        terms, claims, entity, direct = self.terms, self.claims, self.entity, self.direct
        begin, end = len(entity), len(direct)
        for subject, predicate, object_, _ in quads:
            iri: str = subject.value
            relation = predicate.value
            if not iri.startswith(entity):
                if relation in {ABOUT, NAME} and self.address and iri.startswith(self.address):
                    self.pages.setdefault(iri, {})[relation] = getattr(object_, "value", "")
            elif relation.startswith(direct):
                claims.setdefault(iri[begin:], []).append((relation[end:], object_))
            elif relation in terms:
                if isinstance(object_, Literal) and object_.language:
                    terms[relation].setdefault(iri[begin:], []).append((object_.language.lower(), object_.value))
            elif relation == SAME_AS:
                self.redirects[iri[begin:]] = None
            elif relation == TYPE:
                kind: str = getattr(object_, "value", "")
                if kind == ITEM_TYPE:
                    self.items[iri[begin:]] = None
                elif kind.startswith(self.no_value):
                    self.no_values.append((iri[begin:], kind[len(self.no_value) :]))
            if self.nodes is not None:
                self.nodes[iri].append((relation, object_))

    def rows(self) -> Rows:
        """Rows of what was read."""
        selection, rows = self.chosen, Rows()
        for id_ in self.redirects:
            rows.skip(reasons.REDIRECT, id_)
        left_out = set()
        for id_ in dict.fromkeys((*self.items, *self.terms[RDFS_LABEL], *self.terms[ALIAS], *self.terms[DESCRIPTION], *self.claims)):
            if not ITEM.fullmatch(id_):
                if id_.startswith("P") and ID.fullmatch(id_):
                    selection.relation(rows, id_, self._first(RDFS_LABEL, id_), self._objects(id_, CONSTRAINT))
                elif ID.fullmatch(id_):
                    rows.skip(reasons.LEXEME if id_.startswith("L") else reasons.OTHER_RECORD, id_)
                continue
            if selection.classes and not set(selection.classes).intersection(self._objects(id_, INSTANCE_OF)):
                left_out.add(id_)
                rows.skip(reasons.OTHER_CLASS, id_)
                continue
            aliases: dict[str, list[str]] = {}
            for language, alias in self.terms[ALIAS].get(id_, ()):
                aliases.setdefault(language, []).append(alias)
            labels, descriptions = self._first(RDFS_LABEL, id_), self._first(DESCRIPTION, id_)
            selection.entity(rows, id_, labels=labels, aliases=aliases, descriptions=descriptions)
            self._statements(id_, rows)
        for head, property_ in self.no_values if self.nodes is None else ():
            if head not in left_out and ITEM.fullmatch(head) and self._wants(property_):
                rows.skip(reasons.NO_VALUE, f"{head} {property_}")
        self._pages(left_out, rows)
        return rows

    def _wants(self, property_: str) -> bool:
        return not self.chosen.properties or property_ in self.chosen.properties

    def _first(self, relation: str, id_: str) -> dict[str, str]:
        return dict(reversed(self.terms[relation].get(id_, [])))

    def _objects(self, id_: str, property_: str) -> list[str]:
        return [
            object_.value.rsplit("/", 1)[-1] for property_of_claim, object_ in self.claims.get(id_, ()) if property_of_claim == property_
        ]

    def _pages(self, left_out: set[str], rows: Rows) -> None:
        """Pages on the chosen site. An entity whose own lines are in another piece counts as chosen."""
        for about in self.pages.values():
            id_ = last_part(about.get(ABOUT, ""))
            if NAME in about and ITEM.fullmatch(id_) and id_ not in left_out:
                self.chosen.page(rows, id_, about[NAME])

    def _statements(self, id_: str, rows: Rows) -> None:
        if self.nodes is not None and (nodes := self._statement_nodes(id_)):
            self._full_statements(id_, nodes, self.nodes, rows)
            return
        for property_, object_ in self.claims.get(id_, ()):
            if self._wants(property_):
                write_object(rows, id_, property_, object_, entity=self.entity, texts=self.chosen.texts)

    def _statement_nodes(self, id_: str) -> list[tuple[str, str]]:
        """Properties and statement nodes of an entity."""
        assert self.nodes is not None
        begin = self.chosen.base + "prop/"
        size = len(begin)
        nodes = self.nodes.get(self.entity + id_, ())
        return [(relation[size:], node.value) for relation, node in nodes if relation.startswith(begin) and "/" not in relation[size:]]

    def _full_statements(self, id_: str, nodes: list[tuple[str, str]], graph: Nodes, rows: Rows) -> None:
        """Statements with their ranks, and values with precision, unit and bounds."""
        ranks = {node: _rank(graph[node]) for _, node in nodes}
        preferred = {property_ for property_, node in nodes if ranks[node] == "Preferred"}
        for property_, node in nodes:
            if not self._wants(property_):
                continue
            where = f"{id_} {property_}"
            if ranks[node] == "Deprecated":
                rows.skip(reasons.DEPRECATED, where)
            elif property_ in preferred and ranks[node] != "Preferred" and not self.chosen.all_ranks:
                rows.skip(reasons.LESSER_RANK, where)
            else:
                self._full_statement(id_, property_, graph[node], graph, rows)

    def _full_statement(self, id_: str, property_: str, node: list[tuple[str, Any]], graph: Nodes, rows: Rows) -> None:
        base = self.chosen.base + "prop/statement/"
        simple = value = None
        for relation, object_ in node:
            if relation == base + property_:
                simple = object_
            elif relation == base + "value/" + property_:
                value = object_
            elif relation == TYPE and object_.value == self.no_value + property_:
                rows.skip(reasons.NO_VALUE, f"{id_} {property_}")
                return
        parts = {} if value is None else {relation: part.value for relation, part in graph.get(value.value, ())}
        if parts:
            write_parts(rows, id_, property_, parts)
        elif simple is not None:
            write_object(rows, id_, property_, simple, entity=self.entity, texts=self.chosen.texts)
        else:
            rows.skip(reasons.UNREADABLE_VALUE, f"{id_} {property_}")


def write_object(rows: Rows, head: str, relation: str, object_: Any, *, entity: str, texts: bool) -> None:
    """The row of a statement whose object is a term of pyoxigraph; ``entity`` is what the IRIs of entities begin with."""
    where = f"{head} {relation}"
    if isinstance(object_, Literal):
        write_literal(rows, head, relation, object_.value, object_.datatype.value, object_.language or "", texts=texts)
    elif isinstance(object_, BlankNode) or (isinstance(object_, NamedNode) and UNKNOWN_VALUE in object_.value):
        rows.skip(reasons.SOME_VALUE, where)
    elif isinstance(object_, NamedNode) and object_.value.startswith(entity):
        tail = object_.value[len(entity) :]
        if ITEM.fullmatch(tail):
            rows.fact(head, relation, tail)
        else:
            rows.skip(reasons.OTHER_OBJECT, where)
    else:
        rows.skip(reasons.OTHER_VALUE, where)


def write_literal(rows: Rows, head: str, relation: str, text: str, kind: str, language: str, *, texts: bool) -> None:
    """The row of a statement whose object is a literal of the data type ``kind``."""
    try:
        if kind in DATES:
            value, precision = rdf_time(text if "T" in text else text + "T00:00:00Z")
            rows.value(head, relation, "time", value, precision=precision, calendar="gregorian")
        elif kind in NUMBERS:
            rows.value(head, relation, "quantity", number(text))
        elif kind == GEO:
            where, globe = _point(text)
            rows.value(head, relation, "coordinate", where, unit="" if globe == EARTH else globe)
        elif not language and kind != XSD + "string":
            rows.skip(reasons.OTHER_VALUE, f"{head} {relation}")
        elif texts:
            rows.value(head, relation, "text", text, unit=language)
        else:
            rows.skip(reasons.TEXT_VALUE, f"{head} {relation}")
    except ValueError:
        rows.skip(reasons.UNREADABLE_VALUE, f"{head} {relation}")


def write_parts(rows: Rows, head: str, relation: str, parts: dict[str, str]) -> None:
    """The row of a value that has a node of its own with its parts."""
    part = {name.removeprefix(WIKIBASE): value for name, value in parts.items()}
    try:
        if "timeValue" in part:
            calendar = CALENDARS[last_part(part["timeCalendarModel"])]
            value, precision = rdf_time(part["timeValue"], int(part["timePrecision"]), calendar)
            rows.value(head, relation, "time", value, precision=precision, calendar=calendar)
        elif "quantityAmount" in part:
            # Numbers without a unit have the item of the number one as theirs.
            unit = last_part(part.get("quantityUnit", ""))
            lower, upper = number(part.get("quantityLowerBound")), number(part.get("quantityUpperBound"))
            rows.value(
                head, relation, "quantity", number(part["quantityAmount"]), unit="" if unit == ONE else unit, lower=lower, upper=upper
            )
        elif "geoLatitude" in part:
            globe = last_part(part.get("geoGlobe", ""))
            where = f"{degrees(float(part['geoLatitude']))},{degrees(float(part['geoLongitude']))}"
            rows.value(head, relation, "coordinate", where, unit="" if globe == EARTH else globe)
        else:
            rows.skip(reasons.OTHER_VALUE, f"{head} {relation}")
    except (ValueError, KeyError):
        rows.skip(reasons.UNREADABLE_VALUE, f"{head} {relation}")


ONE = "Q199"


def _point(text: str) -> tuple[str, str]:
    """Coordinate and globe of a point in well-known text, which has the longitude first. ValueError for what is none."""
    match = POINT.fullmatch(text.strip())
    if not match:
        raise ValueError(text)
    return f"{degrees(float(match[3]))},{degrees(float(match[2]))}", last_part(match[1] or "")


def _rank(node: list[tuple[str, Any]]) -> str:
    ranks = [object_.value for relation, object_ in node if relation == WIKIBASE + "rank"]
    return ranks[0].removeprefix(WIKIBASE).removesuffix("Rank") if ranks else "Normal"


def _turtle(piece: Piece) -> Iterator[Quad]:
    check_nesting(piece)
    try:
        yield from parse(piece.data, RdfFormat.TURTLE, lenient=True)
    except SyntaxError as error:
        raise BrokenInput(f"{piece.file}, line {error.lineno}: this is not Turtle ({error.msg}); download the file again.") from None


def _is_turtle(data: bytes) -> bool:
    return re.match(rb"(?i)(\s|#[^\n]*\n)*(@prefix|@base|prefix\s|base\s)", data) is not None


def _last_entity(data: bytes, begin: bytes) -> int:
    """Offset at which the lines of the last entity begin; 0 if there is no other."""
    last = data.rfind(b"\n" + begin) + 1
    line = data[last : data.find(b">", last) + 1]
    if not line.startswith(begin):
        return 0
    at = last
    while at > 0:
        # Back over the entity's lines, and over those of other subjects between, such as its pages.
        previous = data.rfind(b"\n" + begin, 0, at) + 1
        if not data.startswith(begin, previous):
            return 0
        if not data.startswith(line, previous):
            return data.find(b"\n", previous) + 1
        if previous == 0:
            return 0
        at = previous - 1
    return 0
