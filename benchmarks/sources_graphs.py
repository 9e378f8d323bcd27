"""How fast parsers of graphs and texts read, beside plain Python that makes the same facts or documents; real files, many times over.

``python -m benchmarks.sources_graphs``
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyoxigraph

from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from kgqa.sources.formats import Parser
from kgqa.sources.graphs.edge_list import Edges
from kgqa.sources.graphs.graphml import GraphMl
from kgqa.sources.graphs.rdf import Rdf
from kgqa.sources.graphs.texts import JsonTexts

TITLE = "Parsers of any graph"
ROUNDS = 5
MIB = 32
"""Of each text."""
RESOURCE, ONTOLOGY = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
LINE = re.compile(r'<([^>]*)> <([^>]*)> (?:<([^>]*)>|"((?:[^"\\]|\\.)*)"(?:@([a-z-]+)|\^\^<[^>]*>)?) \.')
BY_NUMBER = Edges(header=False, head=1, tail=2, relation=3)


@dataclass
class MemoryText:
    """A text in memory in place of a file."""

    name: str
    data: bytes

    def chunks(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), 1 << 20):
            yield self.data[start : start + (1 << 20)]

    def broken(self, sentence: str) -> None:
        raise AssertionError(sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A text, its parser, and plain Python for the same."""

    name: str
    text: MemoryText
    parser: Parser
    plain: Callable[[bytes], int]
    plain_name: str


def main(*, rounds: int = ROUNDS) -> Section:
    """Measure all."""
    folder = data_folder("sources/graphs")
    if folder is None:
        return Section(title=TITLE, skipped=absent("sources/graphs"))
    rows = [row(case, rounds) for case in cases(folder)]
    notes = [
        f"Facts of DBpedia50 and articles of the Simple English Wikipedia, repeated to {MIB} MiB; MB/s of uncompressed text on one core, "
        f"{rounds} rounds in turn. Cutting happens once, in the main process; parsing, with the tables in Arrow, in all others.",
    ]
    columns = ("format", "cut, MB/s", "parsed, MB/s", "plain Python, MB/s", "times as fast", "plain Python is")
    return Section(title=TITLE, tables=[Table(title="Text parsed in a second", columns=columns, rows=rows, notes=notes)])


def cases(folder: Path) -> Iterator[Case]:
    """The texts, made of real files."""
    tab = gzip.decompress((folder / "dbpedia50" / "train.txt.gz").read_bytes())
    facts = [line.split("\t") for line in tab.decode().splitlines()]
    yield Case(name="edges, tabs", text=repeated("x.tsv", tab), parser=BY_NUMBER, plain=split_lines, plain_name="str.split")
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(facts)
    yield Case(
        name="edges, commas and quotes", text=repeated("x.csv", out.getvalue().encode()), parser=BY_NUMBER, plain=csv_rows, plain_name="csv"
    )
    lines = "".join(statement for fact in facts for statement in statements(*fact)).encode()
    prefixes = {"": RESOURCE, "dbo": ONTOLOGY}
    text = repeated("x.nt", lines)
    yield Case(name="N-Triples", text=text, parser=Rdf(), plain=regular_expression, plain_name="re, a line at a time")
    yield Case(
        name="N-Triples, shortened ids", text=text, parser=Rdf(prefixes=prefixes), plain=oxigraph, plain_name="pyoxigraph, values only"
    )
    turtle = pyoxigraph.serialize(
        (quad.triple for quad in pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_TRIPLES)), format=pyoxigraph.RdfFormat.TURTLE,
        prefixes={"dbr": RESOURCE, "dbo": ONTOLOGY},
    )  # fmt: skip
    assert turtle is not None
    start = turtle.rindex(b"@prefix")
    head, body = (part + b"\n" for part in (turtle[: turtle.index(b"\n", start)], turtle[turtle.index(b"\n", start) + 1 :]))
    turtles = MemoryText("x.ttl", head + repeated("", body).data)
    yield Case(name="Turtle", text=turtles, parser=Rdf(prefixes=prefixes), plain=oxigraph_turtle, plain_name="pyoxigraph, values only")
    yield Case(name="GraphML", text=graphml(facts), parser=GraphMl(), plain=iterparse, plain_name="lxml.iterparse")
    documents = folder.parents[1] / "wikidata" / "documents.jsonl.gz"
    if documents.is_file():
        with gzip.open(documents) as file:
            data = file.read(MIB << 20)
        text = MemoryText("x.jsonl", data[: data.rfind(b"\n") + 1])
        yield Case(name="JSON lines of texts", text=text, parser=JsonTexts(about="entity"), plain=json_lines, plain_name="json")


def row(case: Case, rounds: int) -> tuple[str, ...]:
    """One line of the table."""
    pieces = list(case.parser.pieces(case.text))
    seconds = in_turn(
        {
            "cut": lambda: sum(1 for _ in case.parser.pieces(case.text)),
            "parse": lambda: [case.parser.parse(piece).tables() for piece in pieces],
            "plain": lambda: case.plain(case.text.data),
        },
        rounds=rounds,
    )
    megabytes = len(case.text.data) / 1e6
    cut, parse, plain = (spread([megabytes / second for second in seconds[name]], digits=0) for name in ("cut", "parse", "plain"))
    return (case.name, cut, parse, plain, spread(ratios(seconds["plain"], seconds["parse"]), digits=1), case.plain_name)


def repeated(name: str, data: bytes) -> MemoryText:
    return MemoryText(name, data * max(1, (MIB << 20) // len(data)))


def statements(head: str, tail: str, relation: str) -> Iterator[str]:
    """A fact, and the label of its head."""
    subject = f"<{RESOURCE}{quote(head, safe='')}>"
    label = json.dumps(head.replace("_", " "), ensure_ascii=False)
    yield f"{subject} <{ONTOLOGY}{quote(relation)}> <{RESOURCE}{quote(tail, safe='')}> .\n"
    yield f"{subject} <{LABEL}> {label}@en .\n"


def graphml(facts: list[list[str]]) -> MemoryText:
    def element(fact: list[str]) -> str:
        head, tail, relation = (text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for text in fact)
        node = f'<node id="{head}"><data key="d0">{head}</data></node>\n'
        return f'{node}<edge source="{head}" target="{tail}"><data key="d1">{relation}</data></edge>\n'

    head = (
        '<graphml><key id="d0" for="node" attr.name="name"/><key id="d1" for="edge" attr.name="relation"/><graph edgedefault="directed">\n'
    )
    body = "".join(map(element, facts)).encode()
    return MemoryText("x.graphml", head.encode() + body * max(1, (MIB << 20) // len(body)) + b"</graph></graphml>\n")


def split_lines(data: bytes) -> int:
    return len([tuple(line.split("\t")) for line in data.decode().splitlines()])


def csv_rows(data: bytes) -> int:
    return len([tuple(cells) for cells in csv.reader(io.StringIO(data.decode(), newline=""))])


def regular_expression(data: bytes) -> int:
    return len([match.groups() for line in data.decode().splitlines() if (match := LINE.fullmatch(line))])


def oxigraph(data: bytes) -> int:
    return _values(data, pyoxigraph.RdfFormat.N_TRIPLES)


def oxigraph_turtle(data: bytes) -> int:
    return _values(data, pyoxigraph.RdfFormat.TURTLE)


def _values(data: bytes, syntax: pyoxigraph.RdfFormat) -> int:
    quads = pyoxigraph.parse(data, syntax, lenient=True)
    return len([(quad.subject.value, quad.predicate.value, quad.object.value) for quad in quads])


def iterparse(data: bytes) -> int:
    from lxml import etree

    found = []
    for _, element in etree.iterparse(io.BytesIO(data), tag=("{*}node", "{*}edge")):
        found.append((element.get("id"), element.get("source"), element.get("target"), [child.text for child in element]))
        element.clear()
    return len(found)


def json_lines(data: bytes) -> int:
    records = map(json.loads, data.splitlines())
    return len([(record["id"], record["title"], record["entity"], record["text"]) for record in records])


if __name__ == "__main__":
    print(main().plain())
