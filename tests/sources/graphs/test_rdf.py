"""RDF of any vocabulary: the same rows from N-Triples and Turtle however they are cut, and every literal as its datatype says."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

from kgqa.errors import BrokenInput, InputError
from kgqa.sources.formats import Piece
from kgqa.sources.graphs import cutting
from kgqa.sources.graphs.rdf import Rdf
from kgqa.sources.graphs.turtle import directives
from kgqa.sources.graphs.vocabulary import PROPERTIES, TYPE
from kgqa.sources.rows import plain_rows
from kgqa.sources.streams import TextFile
from tests.lengths import example_count
from tests.sources.graphs.memory_text import MemoryText, Read, check_sentence, read

NODE = pyoxigraph.NamedNode
SHORT = Rdf(prefixes={"": "http://ex.org/r/", "p": "http://ex.org/p/"})
TURTLE = """@prefix r: <http://ex.org/r/> .
@prefix p: <http://ex.org/p/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
# The dot of "Dr." ends nothing; nor does this one. <http://ex.org/#
r:Ada a r:Person ; rdfs:label "Ada L."@en-GB , "Ada Lovelace"@en , "Ada la comtesse"@fr ;
  skos:altLabel '''Countess. of "Lovelace"''' , "Gräfin"@de ;
  rdfs:comment "She wrote the first program. It was long."@en ;
  p:birthPlace r:London ; p:born "1815-12-10"^^xsd:date ; p:height 1.6 ; p:friend [ p:name "nobody" ] .
r:London rdfs:label "Londres"@fr . r:London p:near r:Isle_of_Dogs .
p:birthPlace a owl:ObjectProperty ; rdfs:label "place of birth"@en ; rdfs:domain r:Person .
p:near a owl:SymmetricProperty .
"""


def as_lines(turtle: str) -> str:
    """The same statements as N-Triples."""
    quads = pyoxigraph.parse(turtle.encode(), pyoxigraph.RdfFormat.TURTLE)
    found = pyoxigraph.serialize((quad.triple for quad in quads), format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert found is not None
    return found.decode()


@pytest.fixture(params=["x.ttl", "x.nt", "x.nq"])
def found(request: pytest.FixtureRequest) -> Read:
    return read(SHORT, TURTLE if request.param == "x.ttl" else as_lines(TURTLE), request.param)


def test_statements_become_rows(found: Read) -> None:
    assert found["entities"] == {
        ("Ada", "entity", "Ada Lovelace", "She wrote the first program. It was long."),
        ("London", "entity", "Londres", ""),
        ("Isle_of_Dogs", "entity", "", ""),
        ("Person", "entity", "", ""),
    }
    rdf_type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    assert found["facts"] == {("Ada", "p:birthPlace", "London"), ("London", "p:near", "Isle_of_Dogs"), ("Ada", rdf_type, "Person")}
    assert found.names("label") == {"Ada": {"Ada Lovelace"}, "London": {"Londres"}}
    assert found.names("alias") == {"Ada": {"Ada L.", 'Countess. of "Lovelace"'}}
    assert found.names("id") == {
        "Isle_of_Dogs": {"Isle of Dogs"}, "Person": {"Person"}, "p:near": {"near"}, "p:born": {"born"}, "p:height": {"height"},
        rdf_type: {"type"},
    }  # fmt: skip
    assert ("p:birthPlace", "place of birth", False) in found["relations"]
    assert ("p:near", "", True) in found["relations"]
    assert found["values"] == {
        ("Ada", "p:born", "time", "1815-12-10", "", 11, "gregorian", "", ""),
        ("Ada", "p:height", "quantity", "1.6", "", None, "", "", ""),
    }
    assert found.skipped == {
        "statement about a blank node": 1,
        "statement whose object is a blank node or a statement": 1,
        "statement about a relation": 1,
        "label in another language": 1,
        "alias in another language": 1,
    }


def test_ids_are_iris_without_prefixes() -> None:
    found = read(Rdf(), TURTLE, "x.ttl")
    assert ("http://ex.org/r/London", "http://ex.org/p/near", "http://ex.org/r/Isle_of_Dogs") in found["facts"]
    assert found.names("id")["http://ex.org/r/Isle_of_Dogs"] == {"Isle of Dogs"}
    assert "id" not in {row[2] for row in read(Rdf(label_from_id=False), TURTLE, "x.ttl")["names"]}


def test_the_longest_prefix_shortens() -> None:
    parser = Rdf(prefixes={"a": "http://ex.org/", "b": "http://ex.org/r/", "c": "http://ex.org/r/Lo"})
    assert ("c:ndon", "a:p/near", "b:Isle_of_Dogs") in read(parser, TURTLE, "x.ttl")["facts"]


@pytest.mark.parametrize(
    ("languages", "fall_back", "label", "aliases"),
    [
        (("en",), True, "Ada Lovelace", {"Ada L.", 'Countess. of "Lovelace"'}),
        (("fr", "en-GB"), True, "Ada la comtesse", {"Ada L.", 'Countess. of "Lovelace"'}),
        (("it",), True, "Ada L.", {'Countess. of "Lovelace"'}),
        (("it",), False, "", {'Countess. of "Lovelace"'}),
    ],
)
def test_languages(languages: tuple[str, ...], fall_back: bool, label: str, aliases: set[str]) -> None:
    found = read(SHORT.model_copy(update={"languages": languages, "fall_back": fall_back}), TURTLE, "x.ttl")
    assert found.names("label").get("Ada", {""}) == {label}
    assert found.names("alias")["Ada"] == aliases


def test_kinds() -> None:
    text = as_lines(
        "@prefix r: <http://ex.org/r/> . "
        "r:a a r:Agent , r:Person . r:b a r:Thing . r:c a r:Agent . r:c r:knows r:d . r:e a r:Zoo, r:Animal ."
    )
    prefixes = {"r": "http://ex.org/r/"}
    found = read(Rdf(prefixes=prefixes, kinds=("r:Person", "r:Agent")), text, "x.nt")
    assert {row[:2] for row in found["entities"]} == {("r:a", "Person"), ("r:c", "Agent"), ("r:d", "entity")}
    assert found.skipped == {"kind that is not wanted": 3}
    found = read(Rdf(prefixes=prefixes, kinds=("r:Person", "*")), text, "x.nt")
    assert {row[:2] for row in found["entities"]} == {
        ("r:a", "Person"), ("r:b", "Thing"), ("r:c", "Agent"), ("r:d", "entity"), ("r:e", "Animal"),
    }  # fmt: skip
    assert len(found["facts"]) == 1


def test_relations_may_be_chosen() -> None:
    found = read(SHORT.model_copy(update={"only": ("http://ex.org/p/near",)}), TURTLE, "x.ttl")
    assert {row[1] for row in found["facts"] | found["values"]} == {"p:near"}
    parser = Rdf(prefixes={"p": "http://ex.org/p/"}, without=("p:near", "rdf:type", "rdfs:domain"), symmetric=("p:birthPlace",))
    found = read(parser, TURTLE, "x.ttl")
    assert {row[1] for row in found["facts"]} == {"p:birthPlace"}
    assert ("p:birthPlace", "place of birth", True) in found["relations"]
    assert found.skipped["statement of a relation that is not wanted"] == 3


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ('"1952-03-11"^^xsd:date', ("time", "1952-03-11", "", 11)),
        ('"1952-03-11Z"^^xsd:date', ("time", "1952-03-11", "", 11)),
        ('"1952-03-11T10:30:00.5+02:00"^^xsd:dateTime', ("time", "1952-03-11", "", 11)),
        ('"1952"^^xsd:gYear', ("time", "1952", "", 9)),
        ('"-0043"^^xsd:gYear', ("time", "-0043", "", 9)),
        ('"12000-01"^^xsd:gYearMonth', ("time", "+12000-01", "", 10)),
        ('"1952-13-11"^^xsd:date', None),
        ('"1952-02-30"^^xsd:date', None),
        ('"soon"^^xsd:date', None),
        ("12", ("quantity", "12", "", None)),
        ('"+1.50"^^xsd:decimal', ("quantity", "1.50", "", None)),
        ("-2.5e-3", ("quantity", "-2.5e-3", "", None)),
        ('"INF"^^xsd:double', None),
        ('"12.5"^^<http://dbpedia.org/datatype/kilometre>', ("quantity", "12.5", "kilometre", None)),
        ('"x"^^<http://ex.org/code>', ("text", "x", "", None)),
        ('"--12-24"^^xsd:gMonthDay', ("text", "--12-24", "", None)),
        ("true", ("text", "true", "", None)),
        ('" Cafe\u0301 "@en-US', ("text", "Café", "en-us", None)),
        ('"x"@fr', None),
        ('""', None),
        ('"Point(12.5 -41.9)"^^geo:wktLiteral', ("coordinate", "-41.9,12.5", "", None)),
        ('"<http://ex.org/Mars> POINT (12.5 41.9)"^^geo:wktLiteral', ("coordinate", "41.9,12.5", "http://ex.org/Mars", None)),
        ('"<http://www.opengis.net/def/crs/EPSG/0/4326> POINT (41.9 12.5)"^^geo:wktLiteral', None),
        ('"Point(12.5 141.9)"^^geo:wktLiteral', None),
        ('"LINESTRING(1 2, 3 4)"^^geo:wktLiteral', None),
    ],
)
def test_literals(literal: str, expected: tuple[str, str, str, int | None] | None) -> None:
    text = (
        "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\nprefix geo: <http://www.opengis.net/ont/geosparql#>\n"
        f"BASE <http://ex.org/>\n<a> <b> {literal} ."
    )
    found = read(Rdf(), text, "x.ttl")
    assert {row[2:6] for row in found["values"]} == ({expected} if expected else set())
    assert sum(found.skipped.values()) == (expected is None)


def test_what_cannot_be_read_is_skipped_and_its_line_told() -> None:
    lines = as_lines(TURTLE).encode().splitlines()
    whole = read(Rdf(), b"\n".join(lines), "x.nt")
    faulty = [*lines[:2], b"<http://a> <http://b> no .", b"# a comment", b"", b'<http://a> <http://b> "\xff" .', *lines[2:]]
    found = read(Rdf(), b"\n".join(faulty), "x.nt")
    assert found.tables == whole.tables
    assert found.skipped["statement that cannot be read"] == 2
    assert found.examples["statement that cannot be read"] == "x.nt, line 3"
    found = read(SHORT, TURTLE + "r:a unknown:b r:c .\nr:a p:b r:c .\n", "x.ttl")
    assert found.skipped["statement that cannot be read"] == 1
    assert found.examples["statement that cannot be read"] == f"x.ttl, line {TURTLE.count(chr(10)) + 1}"
    assert ("a", "p:b", "c") in found["facts"]


def test_what_is_no_rdf_at_all_is_an_error() -> None:
    with pytest.raises(BrokenInput, match=r"^x.nt, line 2: this cannot be read .*more than half"):
        read(Rdf(), "<http://a> <http://b> <http://c> .\na b c .\nd e f .", "x.nt")
    with pytest.raises(BrokenInput, match=r"^x.ttl, line 1: this cannot be read \(The prefix r: has not been declared\)"):
        read(Rdf(), "r:a r:b r:c .\nr:d r:e r:f .", "x.ttl")
    with pytest.raises(BrokenInput, match=r"^x.owl: the file extension is not one of"):
        read(Rdf(), "<rdf/>", "x.owl")
    with pytest.raises(BrokenInput, match="Cypher script"):
        read(Rdf(), "CREATE (a:B)", "x.ttl")


@pytest.mark.parametrize("name", ["x.nt", "x.ttl"])
def test_a_file_cut_within_a_statement(name: str) -> None:
    data = (TURTLE if name == "x.ttl" else as_lines(TURTLE)).encode()
    cut = data[: data.rindex(b"SymmetricP")]
    with pytest.raises(BrokenInput, match="does not end, so the file is cut"):
        read(SHORT, cut, name)
    text = MemoryText(name, cut, partial=True)
    assert ("London", "p:near", "Isle_of_Dogs") in read(SHORT, text)["facts"]
    assert len(text.notes) == 1


def test_a_text_with_a_line_feed_is_no_line_of_ntriples() -> None:
    text = '<http://a> <http://b> "x\ny" .\n<http://a> <http://b> <http://c> . <http://a> <http://b> <http://d> .\n'
    found = read(Rdf(), text + "<http://a> <http://b> <http://e> .\n" * 4, "x.nt")
    assert not found["values"]
    assert found.skipped == {"statement that cannot be read": 3}


def test_options_name_known_prefixes_and_travel() -> None:
    with pytest.raises(ValidationError, match="neither an IRI nor does it begin with a known prefix"):
        Rdf(only=("dbo:birthPlace",))
    parser = Rdf(prefixes={"dbo": "http://dbpedia.org/ontology/"}, only=("dbo:birthPlace",))
    assert parser.only == ("http://dbpedia.org/ontology/birthPlace",)
    assert pickle.loads(pickle.dumps(parser)) == parser
    assert Rdf.model_validate(parser.model_dump()) == parser


def test_declarations_are_found_where_statements_begin() -> None:
    data = b'PREFIX a: <http://a/>\na:x a:base <http://a/y> . a:x a:b "@prefix no: <http://no/> ." .#@prefix no: <no>\n'
    data += b"@base <http://b/> . a:prefix a: <q> ."
    assert list(directives(data)) == [b"PREFIX a: <http://a/>", b"@base <http://b/> ."]


IRIS = st.sampled_from([pyoxigraph.NamedNode(f"http://ex.org/{name}") for name in ("a", "b.c", "d#e", "f'g", "h,i")])
TEXTS = st.text(st.sampled_from("a.\"'\\\n# <>@é;"), max_size=8)
LITERALS = st.builds(pyoxigraph.Literal, TEXTS) | st.builds(lambda text: pyoxigraph.Literal(text, language="en"), TEXTS)
STATEMENTS = st.lists(st.builds(pyoxigraph.Triple, IRIS, IRIS, IRIS | LITERALS), min_size=1, max_size=15)


@given(STATEMENTS, st.integers(20, 300), st.integers(5, 60), st.sampled_from(["x.ttl", "x.nt"]), st.integers(0, 20))
@settings(deadline=None, max_examples=example_count(50))
def test_rows_do_not_depend_on_where_a_file_is_cut(
    statements: list[pyoxigraph.Triple], size: int, chunk: int, name: str, start: int
) -> None:
    syntax = pyoxigraph.RdfFormat.TURTLE if name == "x.ttl" else pyoxigraph.RdfFormat.N_TRIPLES
    data = (
        pyoxigraph.serialize(statements, format=syntax, prefixes={"e": "http://ex.org/"})
        if name == "x.ttl"
        else pyoxigraph.serialize(statements, format=syntax)
    )
    assert data is not None
    parser = Rdf(label_from_id=False)
    whole = read(parser, data, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting.record_pieces, "__kwdefaults__", {"size": size, "record": "record"})
        text = MemoryText(name, data, chunk=chunk)
        found = read(parser, text)
        pieces = list(parser.pieces(text))
        begin = pieces[start % len(pieces)].position
        assert list(parser.pieces(text, begin)) == pieces[start % len(pieces) :]
    assert b"".join(piece.data for piece in pieces) == data
    assert all(piece.line == 1 + data[: piece.position].count(b"\n") for piece in pieces)
    for table in ("facts", "values"):
        assert found[table] == whole[table]
    assert not found.skipped["statement that cannot be read"]


@given(
    st.binary(max_size=60) | st.text(st.sampled_from("<a>. \"'\n\\#@:[]()^prefixbase"), max_size=60).map(str.encode),
    st.sampled_from(["f.nt", "f.ttl"]),
)
@settings(deadline=None, max_examples=example_count(150))
def test_any_bytes_are_rows_or_a_sentence(data: bytes, name: str) -> None:
    try:
        read(Rdf(), data, name)
    except InputError as error:
        check_sentence(error, name)


@given(st.integers(0, len(TURTLE)), st.integers(0, 3), st.binary(max_size=3))
@settings(deadline=None, max_examples=example_count(100))
def test_changed_turtle_is_rows_or_a_sentence(at: int, cut: int, new: bytes) -> None:
    data = TURTLE.encode()
    try:
        read(SHORT, data[:at] + new + data[at + cut :], "f.ttl")
    except InputError as error:
        check_sentence(error, "f.ttl")


@pytest.mark.real_data
def test_the_turtle_of_wikidata(real_data: Path) -> None:
    files = sorted((real_data / "sources" / "wikidata" / "entitybase").rglob("*.ttl"))
    assert files
    for path in files:
        text = TextFile(path)
        data = b"".join(text.chunks())
        found = read(Rdf(), MemoryText(path.name, data))
        assert not found.skipped["statement that cannot be read"]
        triples = {quad.triple for quad in pyoxigraph.parse(data, pyoxigraph.RdfFormat.TURTLE, lenient=True)}
        nodes = {(t.subject.value, t.predicate.value, t.object.value) for t in triples if {type(t.subject), type(t.object)} == {NODE}}
        declared = {head for head, relation, tail in nodes if relation == TYPE and tail in PROPERTIES}
        assert found["facts"] == {fact for fact in nodes if fact[0] not in declared}, path.name


@pytest.mark.real_data
def test_truthy_lines_of_wikidata(real_data: Path) -> None:
    path = real_data / "sources" / "wikidata" / "truthy-derived-10-entities.nt.gz"
    data = b"".join(TextFile(path).chunks())
    found = read(
        Rdf(prefixes={"": "http://www.wikidata.org/entity/", "wdt": "http://www.wikidata.org/prop/direct/"}), MemoryText(path.name, data)
    )
    assert not found.skipped["statement that cannot be read"]
    lines = {line for line in data.splitlines() if line.endswith(b"> .") and b"^^" not in line and b"prop/direct/" in line}
    assert sum(row[1].startswith("wdt:") for row in found["facts"]) == len(lines)


@pytest.mark.parametrize(("opening", "closing"), [("<<( :a :b ", " )>>"), ("[ :b ", " ]"), ("( ", " )")])
def test_deep_nesting_is_refused_and_does_not_end_the_process(opening: str, closing: str) -> None:
    data = ":a :b " + opening * 100_000 + ":c" + closing * 100_000 + " .\n"
    with pytest.raises(BrokenInput, match="more than 200 nested levels"):
        Rdf().parse(Piece("deep.ttl", 0, 2, data.encode(), b"@prefix : <http://e/> .\n"))


def test_statements_about_statements_are_left_out() -> None:
    nested = "<http://e/a> <http://e/b> " + "<<( <http://e/a> <http://e/b> " * 100_000 + "<http://e/c>" + " )>>" * 100_000 + " .\n"
    rows = Rdf().parse(Piece("deep.nt", 0, 1, (nested + "<http://e/a> <http://e/b> <http://e/c> .\n").encode()))
    assert rows.skipped["statement about a statement"] == 1
    assert len(plain_rows(rows)["facts"]) == 1


def test_brackets_in_texts_are_no_nesting() -> None:
    text = ':a :b "sad :( [ <<" . # ((\n' * 300
    rows = Rdf().parse(Piece("sad.ttl", 0, 2, text.encode(), b"@prefix : <http://e/(> .\n"))
    assert {row[3] for row in plain_rows(rows)["values"]} == {"sad :( [ <<"}
