"""RDF of any vocabulary, as N-Triples, N-Quads (whose graphs are left out) or Turtle, read by pyoxigraph.

An IRI is an entity's or relation's id, as it is or shortened by prefixes. Statements about labels, aliases, descriptions and kinds are
known by their properties; any other statement between two IRIs is a fact, and any other one with a literal a value. What has a blank node
is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.graphs.cutting import first_bytes, record_pieces
from kgqa.sources.graphs.rdf_rows import RdfRows
from kgqa.sources.graphs.rdf_settings import RdfSettings
from kgqa.sources.graphs.statements import line_statements, turtle_statements
from kgqa.sources.graphs.turtle import directives, is_whole, line_end, statement_end
from kgqa.sources.rows import Rows
from kgqa.sources.streams import unpacked_name

LINES = (".nt", ".ntriples", ".nq", ".nquads")
TURTLE = (".ttl", ".turtle")


class Rdf(RdfSettings):
    """RDF statements. The file's ending tells the syntax: ``.nt``, ``.nq`` or ``.ttl``, packed or not."""

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
        statements = turtle_statements(piece, rows) if _is_turtle(piece.file) else line_statements(piece, rows)
        RdfRows(self, rows).read(statements)
        return rows


def _is_turtle(file: str) -> bool:
    """Whether a file is Turtle, else it is N-Triples or N-Quads. MissingInput for an ending of neither."""
    name = unpacked_name(file.lower())
    if name.endswith(TURTLE):
        return True
    if name.endswith(LINES):
        return False
    raise BrokenInput(
        f"{file}: the file extension is not one of {', '.join(LINES + TURTLE)}; rename the file, or convert it to N-Triples "
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
        text.broken(f"the statement that begins near line {line_number} does not end, so the file is cut; download it again")
    if whole:
        yield replace(piece, data=data[:whole])
