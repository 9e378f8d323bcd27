"""RDF of any vocabulary, as N-Triples, N-Quads (whose graphs are left out) or Turtle, read by pyoxigraph.

An IRI is an entity's or relation's id, as it is or shortened by prefixes. Statements about labels, aliases, descriptions and kinds are
known by their properties; any other statement between two IRIs is a fact, and any other one with a literal a value. What has a blank node
is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import field_validator

from kgqa.errors import BrokenInput
from kgqa.settings.base import Settings
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.graphs.cutting import first_bytes, record_pieces
from kgqa.sources.graphs.literals import value_of_literal
from kgqa.sources.graphs.turtle import directives, is_whole, line_end, statement_end
from kgqa.sources.graphs.words import entity_words, local_part, nfc, relation_words
from kgqa.sources.rows import Rows

if TYPE_CHECKING:
    import pyoxigraph

LINES = (".nt", ".ntriples", ".nq", ".nquads")
TURTLE = (".ttl", ".turtle")
PACKED = (".gz", ".bz2", ".xz")
NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "schemas": "https://schema.org/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dcterms": "http://purl.org/dc/terms/",
}
"""Prefixes that options may use without declaring them."""
TYPE = NAMESPACES["rdf"] + "type"
PROPERTIES = frozenset(
    {NAMESPACES["rdf"] + "Property"}
    | {
        NAMESPACES["owl"] + name
        for name in (
            "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "SymmetricProperty", "FunctionalProperty", "TransitiveProperty",
            "InverseFunctionalProperty", "AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty",
        )
    }
)  # fmt: skip
"""Classes whose members are relations."""
SYMMETRIC = NAMESPACES["owl"] + "SymmetricProperty"
ENOUGH_STATEMENTS = 1_000
"""Statements from which a piece after the first shows what share of a file cannot be read."""
ANY = "*"


class Rdf(Settings):
    """RDF statements. The file's ending tells the syntax: ``.nt``, ``.nq`` or ``.ttl``, packed or not."""

    prefixes: dict[str, str] = {}
    """Prefix → beginning of IRIs, to shorten ids: ``dbr`` makes ``dbr:Ulm`` of one, the empty prefix ``Ulm``. The longest that fits."""
    languages: tuple[str, ...] = ("en",)
    """Languages of labels, aliases, descriptions and texts, the best first. Text without a language is taken like them."""
    fall_back: bool = True
    """Take a label or description in any other language where there is none in these."""
    labels: tuple[str, ...] = ("rdfs:label", "skos:prefLabel")
    """Properties of the label, the best first. An option names a property by its IRI or with a prefix."""
    aliases: tuple[str, ...] = ("skos:altLabel",)
    """Properties of other names."""
    descriptions: tuple[str, ...] = ("schema:description", "schemas:description", "rdfs:comment")
    """Properties of the description, the best first."""
    kind: str = "rdf:type"
    """Property of the kind, where ``kinds`` is given."""
    kinds: tuple[str, ...] = ()
    """Classes that are kinds of entity, the best first; ``*``: any other. Without them every entity is one of the kind ``entity``, and the
    property of the kind is a relation like any other."""
    only: tuple[str, ...] = ()
    """Relations to keep; empty: all."""
    without: tuple[str, ...] = ()
    """Relations to leave out."""
    symmetric: tuple[str, ...] = ()
    """Relations where (a, r, b) says the same as (b, r, a), besides those that the file calls an owl:SymmetricProperty."""
    label_from_id: bool = True
    """Make the label of what has none from its IRI: the local part, with spaces for underscores."""

    @field_validator("labels", "aliases", "descriptions", "kind", "kinds", "only", "without", "symmetric")
    @classmethod
    def _are_iris(cls, given: Any, info: Any) -> Any:
        """Full IRIs in place of prefixed ones."""
        known = NAMESPACES | info.data.get("prefixes", {})
        return expanded(given, known) if isinstance(given, str) else tuple(expanded(name, known) for name in given)

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """Whole statements, all of one subject together where they follow one another; the head holds the prefixes declared before."""
        first_bytes(text)
        is_turtle = _is_turtle(text.name)
        boundary = statement_end if is_turtle else line_end
        head: dict[bytes, None] = {}
        before: Piece | None = None
        for piece in record_pieces(text, boundary, start, record="statement"):
            if before is not None:
                yield before
            before = None
            here = Piece(piece.file, piece.position, piece.line, piece.data, b" ".join(head))
            if is_turtle:
                head |= dict.fromkeys(directives(piece.data))
            if piece.position >= start:
                before = here
        if before is not None:
            yield from _last(text, before, boundary)

    def parse(self, piece: Piece) -> Rows:
        """Rows of a piece. BrokenInput where more than half of it are no statements."""
        rows = Rows()
        statements = _turtle(piece, rows) if _is_turtle(piece.file) else _lines(piece, rows)
        _Reading(self, rows).read(statements)
        return rows


class _Reading:
    """The statements of one piece on their way to rows."""

    def __init__(self, options: Rdf, rows: Rows) -> None:
        self.options, self.rows = options, rows
        self.spaces = sorted(((space, prefix) for prefix, space in options.prefixes.items()), key=lambda pair: (-len(pair[0]), pair))
        self.no_language = 2 * len(options.languages)
        self.ranks: dict[str | None, int] = {None: self.no_language}
        self.ids: dict[str, str] = {}
        self.entities: dict[str, str] = {}
        self.relations: dict[str, str] = {}
        """IRI → id, of what is an entity or a relation."""
        self.names: dict[str, dict[str, list[tuple[int, int, str]]]] = {"label": {}, "alias": {}, "description": {}}
        """IRI → rank of the language, place of the property, text."""
        self.kinds: dict[str, tuple[int, str]] = {}
        self.symmetric = set(options.symmetric)
        self.declared: set[str] = set()
        """IRIs that the statements call properties."""
        self.facts: list[tuple[str, str, str]] = []
        self.values: list[tuple[str, str, dict[str, Any]]] = []

    def read(self, statements: Iterable[pyoxigraph.Quad]) -> None:
        """Make rows of all statements."""
        import pyoxigraph

        options, skip, facts = self.options, self.rows.skip, self.facts
        naming = {
            iri: (what, place)
            for what, iris in (("alias", options.aliases), ("description", options.descriptions), ("label", options.labels))
            for place, iri in enumerate(iris)
        }
        only, without, kind_property = frozenset(options.only), frozenset(options.without), options.kind if options.kinds else ""
        literal, node = pyoxigraph.Literal, pyoxigraph.NamedNode
        entities, relations, entity, relation = self.entities, self.relations, self.entity, self.relation
        for statement in statements:
            subject, property_, value = statement.subject, statement.predicate.value, statement.object
            if type(subject) is not node:
                skip("statement about a blank node", property_)
                continue
            head = subject.value
            if type(value) is node:
                tail = value.value
                if property_ == TYPE and tail in PROPERTIES:
                    relation(head)
                    self.declared.add(head)
                    if tail == SYMMETRIC:
                        self.symmetric.add(head)
                elif property_ == kind_property:
                    self.kind(head, tail)
                elif property_ in without or (only and property_ not in only):
                    skip("statement of a relation that is not wanted", property_)
                else:
                    facts.append(
                        (
                            entities.get(head) or entity(head),
                            relations.get(property_) or relation(property_),
                            entities.get(tail) or entity(tail),
                        )
                    )
            elif type(value) is not literal:
                skip("statement whose object is a blank node or a statement", property_)
            elif property_ in naming:
                self.name(head, *naming[property_], value)
            elif property_ in without or (only and property_ not in only):
                skip("statement of a relation that is not wanted", property_)
            else:
                self.value(head, property_, value)
        self.finish()

    def id(self, iri: str) -> str:
        """The id of an IRI: itself, or shortened."""
        found = self.ids.get(iri)
        if found is None:
            found = iri
            for space, prefix in self.spaces:
                if iri.startswith(space) and iri != space:
                    found = f"{prefix}:{iri[len(space) :]}" if prefix else iri[len(space) :]
                    break
            self.ids[iri] = found
        return found

    def entity(self, iri: str) -> str:
        """The id of an IRI that is an entity."""
        found = self.entities[iri] = self.id(iri)
        return found

    def relation(self, iri: str) -> str:
        """The id of an IRI that is a relation."""
        found = self.relations[iri] = self.id(iri)
        return found

    def rank(self, language: str | None) -> int:
        """How good a language is, 0 the best: en-GB comes after en, no language after all that are wanted, then any other."""
        found = self.ranks.get(language)
        if found is None:
            tag, found = (language or "").lower(), self.no_language + 1
            for place, name in reversed(list(enumerate(map(str.lower, self.options.languages)))):
                if tag == name or tag.startswith(f"{name}-"):
                    found = 2 * place + (tag != name)
            self.ranks[language] = found
        return found

    def name(self, head: str, what: str, place: int, literal: pyoxigraph.Literal) -> None:
        """A label, alias or description."""
        text, rank = nfc(literal.value), self.rank(literal.language)
        if not text:
            self.rows.skip(f"empty {what}", head)
        elif rank > self.no_language and (what == "alias" or not self.options.fall_back):
            self.rows.skip(f"{what} in another language", head)
        else:
            self.entity(head)
            self.names[what].setdefault(head, []).append((rank, place, text))

    def kind(self, head: str, class_: str) -> None:
        """The kind of an entity: of its classes the one that comes first among those that are wanted."""
        kinds = self.options.kinds
        wanted = class_ if class_ in kinds else ANY
        if wanted not in kinds:
            self.rows.skip("kind that is not wanted", class_)
            return
        found = (kinds.index(wanted), local_part(class_))
        self.entity(head)
        self.kinds[head] = min(self.kinds.get(head, found), found)

    def value(self, head: str, property_: str, literal: pyoxigraph.Literal) -> None:
        """A fact whose object is a literal."""
        language = literal.language
        if language is not None and self.rank(language) > self.no_language:
            self.rows.skip("text in another language", head)
            return
        found = value_of_literal(literal.value, literal.datatype.value, language, self.id)
        if found is None:
            self.rows.skip("literal that does not fit its datatype", f"{head} {property_}")
        else:
            self.values.append((self.entity(head), self.relation(property_), found))

    def finish(self) -> None:
        """Rows of what was gathered. What is declared a property is no entity, and statements about it are left out."""
        rows = self.rows
        if ids := {self.ids[iri] for iri in self.declared}:
            facts = [fact for fact in self.facts if fact[0] not in ids]
            values = [value for value in self.values if value[0] not in ids]
            if left := len(self.facts) + len(self.values) - len(facts) - len(values):
                rows.skip("statement about a relation", min(ids), left)
            self.facts, self.values = facts, values
        for head, relation, found in self.values:
            rows.value(head, relation, **found)
        if self.facts:
            rows.batch("facts", dict(zip(("head", "relation", "tail"), map(list, zip(*self.facts, strict=True)), strict=True)))
        entities, names = [], []
        for iri, id_ in self.entities.items():
            if iri in self.declared:
                continue
            label, others = self.named(iri)
            entities.append((id_, self.kinds.get(iri, (0, "entity"))[1], label, self.best("description", iri)))
            names += [(id_, name, "alias") for name in others]
            if label:
                names.append((id_, label, "label"))
            elif self.options.label_from_id:
                names.append((id_, nfc(entity_words(iri)), "id"))
        for iri, id_ in self.relations.items():
            label = self.best("label", iri)
            rows.relation(id_, label, symmetric=iri in self.symmetric)
            if not label and self.options.label_from_id:
                names.append((id_, nfc(relation_words(iri)), "id"))
        for table, columns, found in (
            ("entities", ("id", "kind", "label", "description"), entities),
            ("names", ("entity", "name", "source"), names),
        ):
            if found:
                rows.batch(table, dict(zip(columns, map(list, zip(*found, strict=True)), strict=True)))

    def best(self, what: str, iri: str) -> str:
        """The text in the best language, of the best property."""
        return min(self.names[what].get(iri, ()), default=(0, 0, ""))[2]

    def named(self, iri: str) -> tuple[str, list[str]]:
        """The label, and the other names; a label in a language that is not wanted is a label or nothing."""
        labels = self.names["label"].get(iri)
        aliases = [text for _, _, text in self.names["alias"].get(iri, ())]
        if not labels:
            return "", aliases
        best = min(labels)[2]
        if left := sum(rank > self.no_language and text != best for rank, _, text in labels):
            self.rows.skip("label in another language", iri, left)
        return best, [text for rank, _, text in labels if rank <= self.no_language and text != best] + aliases


def expanded(name: str, namespaces: Mapping[str, str]) -> str:
    """The IRI of a name with a prefix; an IRI as it is. Raises ValueError for an unknown prefix."""
    prefix, colon, rest = name.partition(":")
    if name == ANY or rest.startswith("//") or prefix == "urn":
        return name
    if colon and prefix in namespaces:
        return namespaces[prefix] + rest
    raise ValueError(f"{name!r} is neither an IRI nor begins with a known prefix ({', '.join(sorted(filter(None, namespaces)))})")


def _is_turtle(file: str) -> bool:
    """Whether a file is Turtle, else it is N-Triples or N-Quads. MissingInput for an ending of neither."""
    name = file.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    if name.endswith(TURTLE):
        return True
    if name.endswith(LINES):
        return False
    raise BrokenInput(
        f"{file}: the ending is none of {', '.join(LINES + TURTLE)}; give the file its ending, or convert it to N-Triples "
        "(riot --output=ntriples)."
    )


def _last(text: Bytes, piece: Piece, boundary: Callable[[bytes], int]) -> Iterator[Piece]:
    """The last piece, where it is whole; else what is whole of it, if that is wanted."""
    data = piece.data
    if boundary is line_end:
        line = data[data.rfind(b"\n") + 1 :].strip()
        whole = len(data) if not line or line.endswith(b".") or line.startswith(b"#") else data.rfind(b"\n") + 1
    else:
        whole = len(data) if is_whole(data) else statement_end(data)
    if whole < len(data):
        line_number = piece.line + data.count(b"\n", 0, whole)
        text.broken(f"the statement that begins near line {line_number} does not end, so the file is cut; fetch it again")
    if whole:
        yield replace(piece, data=data[:whole])


def _lines(piece: Piece, rows: Rows) -> list[pyoxigraph.Quad]:
    """The statements of N-Triples or N-Quads. A line that is none is skipped."""
    import pyoxigraph

    syntax = pyoxigraph.RdfFormat.N_QUADS  # of which N-Triples are a part
    try:
        # Lenient parsing takes half the time, but a text in it may span lines; then there are fewer statements than lines.
        statements = list(pyoxigraph.parse(piece.data, syntax, lenient=True))
        if len(statements) == piece.data.count(b"\n") + (not piece.data.endswith(b"\n")):
            return statements
    except SyntaxError:
        pass
    statements, faults = [], []
    for number, line in enumerate(piece.data.split(b"\n"), start=piece.line):
        try:
            found = list(pyoxigraph.parse(line, syntax, lenient=True))
        except SyntaxError as error:
            faults.append((number, str(error.msg)))
        else:
            statements += found
    _count_faults(piece, faults, len(statements), rows)
    return statements


def _turtle(piece: Piece, rows: Rows) -> list[pyoxigraph.Quad]:
    """The statements of Turtle. One that cannot be read is skipped; the parser goes on after it."""
    import pyoxigraph

    parser = iter(pyoxigraph.parse(piece.head + b"\n" + piece.data, pyoxigraph.RdfFormat.TURTLE, lenient=True))
    statements: list[pyoxigraph.Quad] = []
    faults: list[tuple[int, str]] = []
    while len(faults) < ENOUGH_STATEMENTS or len(faults) <= len(statements):
        try:
            statements.extend(parser)
            break
        except SyntaxError as error:
            faults.append((piece.line - 2 + (error.lineno or 2), str(error.msg)))
    _count_faults(piece, faults, len(statements), rows)
    return statements


def _count_faults(piece: Piece, faults: list[tuple[int, str]], whole: int, rows: Rows) -> None:
    """Skip what is no statement; BrokenInput where that is more than half."""
    if not faults:
        return
    line, message = faults[0]
    where = f"{piece.file}, line {line}"
    if len(faults) > whole and (not piece.position or len(faults) + whole >= ENOUGH_STATEMENTS):
        raise BrokenInput(f"{where}: this cannot be read ({_without_place(message)}), nor can more than half of what follows; check the file.")
    rows.skip("statement that cannot be read", where, len(faults))


def _without_place(message: str) -> str:
    """What a parser says without where it says so, which counts in the piece."""
    return re.sub(r"^Parser error .*?\bcolumns? \d+(?: and (?:line \d+ column )?\d+)?: ", "", message)
