"""RDF says what JSON says: the same facts, names and values, where both forms can say them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from pyoxigraph import RdfFormat

from kgqa.errors import BrokenInput
from kgqa.sources import streams
from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows, plain_rows
from kgqa.sources.streams import TextFile
from kgqa.sources.wikibase import rdf, selection as reasons
from kgqa.sources.wikibase.dump import WikidataJson
from kgqa.sources.wikibase.rdf import WikidataRdf, address_of
from kgqa.sources.wikibase.sparql import SparqlSettings, pages
from kgqa.sources.wikibase.times import julian, rdf_time
from tests.lengths import example_count
from tests.sources.wikibase.sparql_server import sparql_server

WD, WDT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
NAMES = {
    "rdf:": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs:": "http://www.w3.org/2000/01/rdf-schema#",
    "skos:": "http://www.w3.org/2004/02/skos/core#",
    "schema:": "http://schema.org/",
    "owl:": "http://www.w3.org/2002/07/owl#",
    "wikibase:": "http://wikiba.se/ontology#",
    "wdno:": "http://www.wikidata.org/prop/novalue/",
    "wdt:": WDT,
    "wd:": WD,
    "en:": "https://en.wikipedia.org/wiki/",
    "de:": "https://de.wikipedia.org/wiki/",
}
XSD, GEO = "^^<http://www.w3.org/2001/XMLSchema#", "^^<http://www.opengis.net/ont/geosparql#wktLiteral>"


def lines(*triples: str) -> bytes:
    """N-Triples from triples with short names."""
    return "".join(" ".join(_term(term) for term in triple.split(" ", 2)) + " .\n" for triple in triples).encode()


def _term(term: str) -> str:
    for short, long in NAMES.items():
        if term.startswith(short):
            return f"<{long}{term.removeprefix(short)}>"
    return term


RIVER = lines(
    "wd:Q10 rdf:type wikibase:Item",
    'wd:Q10 rdfs:label "Ilm"@en',
    'wd:Q10 rdfs:label "Ilm (Fluss)"@de',
    'wd:Q10 skos:altLabel "River Ilm"@en',
    'wd:Q10 schema:description "a river"@en',
    "wd:Q10 wdt:P31 wd:Q20",
    "wd:Q10 wdt:P131 wd:Q30",
    "en:Ilm_(river) schema:about wd:Q10",
    'en:Ilm_(river) schema:name "Ilm (river)"@en',
    "de:Ilm schema:about wd:Q10",
    'de:Ilm schema:name "Ilm"@de',
)


def piece(data: bytes) -> Piece:
    return Piece("truthy.nt", 0, 1, data)


def parse(data: bytes, **options: Any) -> Rows:
    return WikidataRdf(**options).parse(piece(data))


def test_an_item_becomes_rows() -> None:
    rows = parse(RIVER)
    assert plain_rows(rows) == {
        "entities": [("Q10", "entity", "Ilm", "a river")],
        "names": [("Q10", "Ilm", "label"), ("Q10", "River Ilm", "alias"), ("Q10", "Ilm (river)", "title")],
        "facts": [("Q10", "P31", "Q20"), ("Q10", "P131", "Q30")],
        "pages": [("enwiki", "Ilm (river)", "Q10", None)],
    }
    assert not rows.skipped
    german = plain_rows(parse(RIVER, language=["de-AT", "de"], site="dewiki", properties=["P131"]))
    assert german["entities"] == [("Q10", "entity", "Ilm (Fluss)", "")]
    assert german["facts"] == [("Q10", "P131", "Q30")]
    assert german["pages"] == [("dewiki", "Ilm", "Q10", None)]
    assert "pages" not in plain_rows(parse(RIVER, site=""))


def test_literals_become_values() -> None:
    data = lines(
        f'wd:Q1 wdt:P1 "1952-03-11T00:00:00Z"{XSD}dateTime>',
        f'wd:Q1 wdt:P2 "-0043-03-13T00:00:00Z"{XSD}dateTime>',
        f'wd:Q1 wdt:P3 "+78782.50"{XSD}decimal>',
        f'wd:Q1 wdt:P4 "Point(-5.25 57)"{GEO}',
        f'wd:Q1 wdt:P4 "<http://www.wikidata.org/entity/Q405> Point(1.0 2.50)"{GEO}',
        'wd:Q1 wdt:P5 "Waasser"@lb',
        'wd:Q1 wdt:P6 "X-12"',
        'wd:Q1 wdt:P7 "<math/>"^^<http://www.w3.org/1998/Math/MathML>',
        "wd:Q1 wdt:P8 <https://river.example/>",
        "wd:Q1 wdt:P9 _:b1",
        "wd:Q1 wdt:P9 <http://www.wikidata.org/.well-known/genid/abc>",
        "wd:Q1 rdf:type wdno:P10",
        "wd:Q1 wdt:P11 wd:P31",
        f'wd:Q1 wdt:P12 "soon"{XSD}dateTime>',
        f'wd:Q1 wdt:P12 "Point(1)"{GEO}',
        "wd:Q3 owl:sameAs wd:Q1",
        'wd:L1 rdfs:label "be"@en',
        'wd:L1-S1 rdfs:label "exist"@en',
    )
    rows = parse(data, texts=True)
    assert [row[1:5] + row[6:7] for row in plain_rows(rows)["values"]] == [
        ("P1", "time", "1952-03-11", "", "gregorian"),
        ("P2", "time", "-0044-03-13", "", "gregorian"),
        ("P3", "quantity", "78782.50", "", ""),
        ("P4", "coordinate", "57,-5.25", "", ""),
        ("P4", "coordinate", "2.5,1", "Q405", ""),
        ("P5", "text", "Waasser", "lb", ""),
        ("P6", "text", "X-12", "", ""),
    ]
    assert rows.skipped == {
        reasons.OTHER_VALUE: 2,
        reasons.SOME_VALUE: 2,
        reasons.NO_VALUE: 1,
        reasons.OTHER_OBJECT: 1,
        reasons.UNREADABLE_VALUE: 2,
        reasons.REDIRECT: 1,
        reasons.LEXEME: 1,
    }
    assert parse(data, properties=["P1"]).skipped == {reasons.REDIRECT: 1, reasons.LEXEME: 1}
    assert parse(data).skipped[reasons.TEXT_VALUE] == 2


def test_classes_are_chosen_and_properties_are_relations() -> None:
    data = RIVER + lines(
        "wd:Q11 wdt:P31 wd:Q21",
        "wd:Q11 wdt:P17 wd:Q40",
        'wd:P26 rdfs:label "spouse"@en',
        "wd:P26 wdt:P2302 wd:Q21510862",
        'wd:P47 rdfs:label "borders"@mul',
    )
    rows = parse(data, classes=["Q21"], properties=["P17", "P26"])
    assert plain_rows(rows) == {
        "entities": [("Q11", "entity", "", "")],
        "facts": [("Q11", "P17", "Q40")],
        "relations": [("P26", "spouse", True)],
    }
    assert rows.skipped == {reasons.OTHER_CLASS: 1, reasons.OTHER_PROPERTY: 1}
    assert plain_rows(parse(data))["relations"] == [("P26", "spouse", True), ("P47", "borders", False)]


def test_a_broken_line_costs_itself_alone() -> None:
    broken = [
        b'<http://www.wikidata.org/entity/Q5> <http://www.wikidata.org/prop/direct/P31> "x .\n',
        b"<<< nonsense\n",
        b"\n",
        b"# comment\n",
    ]
    rows = parse(broken[0] + RIVER + b"".join(broken) + lines("wd:Q11 wdt:P31 wd:Q21")[:-4])
    assert plain_rows(rows) == plain_rows(parse(RIVER))
    assert rows.skipped == {reasons.UNREADABLE: 3}
    assert rows.examples == {reasons.UNREADABLE: "line 1"}


def test_another_repository_has_another_base() -> None:
    data = RIVER.replace(b"http://www.wikidata.org/", b"https://rivers.example/")
    assert plain_rows(parse(data, site="")) == {}
    assert plain_rows(parse(data, base="https://rivers.example/")) == plain_rows(parse(RIVER))


@pytest.mark.parametrize(
    ("site", "address"),
    [
        ("enwiki", "https://en.wikipedia.org/"),
        ("zh_min_nanwiki", "https://zh-min-nan.wikipedia.org/"),
        ("dewikiquote", "https://de.wikiquote.org/"),
        ("frwiktionary", "https://fr.wiktionary.org/"),
        ("commonswiki", "https://commons.wikimedia.org/"),
        ("be_x_oldwiki", "https://be-tarask.wikipedia.org/"),
        ("wikidatawiki", "https://www.wikidata.org/"),
        ("own", ""),
        ("", ""),
    ],
)
def test_a_site_has_an_address(site: str, address: str) -> None:
    assert address_of(site) == address


@given(st.integers(1, 9999), st.integers(0, 365))
def test_differing_are_those_of_another_calculation(year: int, day: int) -> None:
    # Day 1 of the Julian calendar's year 1 is two days before that of the Gregorian one; then days are counted in cycles of four years.
    ordinal = min(date(year, 1, 1).toordinal() + day, date.max.toordinal())
    cycle, rest = divmod(ordinal + 1, 1461)
    found = 4 * cycle + min(rest // 365, 3) + 1
    in_year = rest - 365 * min(rest // 365, 3)
    lengths = [31, 29 if found % 4 == 0 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    month = 0
    while in_year >= lengths[month]:
        in_year -= lengths[month]
        month += 1
    gregorian = date.fromordinal(ordinal)
    assert julian(gregorian.year, gregorian.month, gregorian.day) == (found, month + 1, in_year + 1)


def test_years_before_the_common_era_have_no_year_0() -> None:
    assert rdf_time("0000-12-31T00:00:00Z", 11) == ("-0001-12-31", 11)
    assert rdf_time("-0043-03-13T00:00:00Z", 11, "julian") == ("-0044-03-15", 11)
    assert rdf_time("0000-12-30T00:00:00Z", 11, "julian") == ("0001-01-01", 11)
    assert rdf_time("0000-12-29T00:00:00Z", 11, "julian") == ("-0001-12-31", 11)
    assert rdf_time("-13798000000-01-01T00:00:00Z", 3) == ("-13798000000", 3)


def test_pieces_hold_whole_entities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHUNK_BYTES", 100)
    path = tmp_path / "truthy.nt"
    whole = b"".join(RIVER.replace(b"Q10>", b"Q%d>" % number).replace(b"/Ilm", b"/Ilm_%d" % number) for number in range(100, 120))
    path.write_bytes(whole)
    for size in (1, 700, 2000, 9000):
        monkeypatch.setattr(streams.line_pieces, "__kwdefaults__", {"size": size})
        parser = WikidataRdf(classes=("Q20",))
        pieces = list(parser.pieces(TextFile(path)))
        assert b"".join(found.data for found in pieces) == whole
        rows = [parser.parse(found) for found in pieces]
        assert all(not found.skipped for found in rows)
        assert [row for found in rows for row in plain_rows(found)["facts"]] == plain_rows(parser.parse(piece(whole)))["facts"]
        assert len([row for found in rows for row in plain_rows(found)["entities"]]) == 20
        for number, found_ in enumerate(pieces):
            assert found_.line == 1 + whole[: found_.position].count(b"\n")
            rest = [parser.parse(found) for found in parser.pieces(TextFile(path), found_.position)]
            for table in ("entities", "facts", "pages"):
                read_on, before = ([row for found in part for row in plain_rows(found).get(table, ())] for part in (rest, rows[number:]))
                assert read_on == before
    monkeypatch.setattr(rdf, "CARRIED", 500)
    monkeypatch.setattr(streams.line_pieces, "__kwdefaults__", {"size": 1})
    assert all(len(found.data) < 2000 for found in WikidataRdf().pieces(TextFile(path)))


def test_a_cut_file_is_one_sentence_or_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "truthy.nt"
    path.write_bytes(RIVER[:-10])
    with pytest.raises(BrokenInput, match=r"truthy\.nt: line 11, the last, has no end, so the file is cut"):
        list(WikidataRdf().pieces(TextFile(path)))
    text = TextFile(path, partial=True)
    [found] = WikidataRdf(language=("de",), site="dewiki").pieces(text)
    assert len(text.notes) == 1
    rows = WikidataRdf(language=("de",), site="dewiki").parse(found)
    assert len(plain_rows(rows)["facts"]) == 2
    assert rows.examples == {reasons.UNREADABLE: "line 11"}


def test_turtle_that_is_broken_or_too_large_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "Q1.ttl"
    path.write_bytes(b"# made by hand\n@prefix wd: <http://www.wikidata.org/entity/> .\nwd:Q1 wd:Q2 nonsense .\n")
    [found] = WikidataRdf().pieces(TextFile(path))
    with pytest.raises(BrokenInput, match=r"Q1\.ttl, line 3: this is not Turtle"):
        WikidataRdf().parse(found)
    monkeypatch.setattr(streams, "RECORD_LIMIT", 20)
    with pytest.raises(BrokenInput, match="use N-Triples"):
        list(WikidataRdf().pieces(TextFile(path)))


def test_deep_nesting_is_left_out_or_one_sentence() -> None:
    deep = b"<<( <http://a/b> <http://a/c> " * 100_000 + b"<http://a/b>" + b" )>>" * 100_000 + b" .\n"
    for begin in (
        b"<http://www.wikidata.org/entity/Q10> <http://www.wikidata.org/prop/direct/P1>",
        b"<https://en.wikipedia.org/wiki/X> <http://schema.org/about>",
        b"<http://www.wikidata.org/entity/Q10> <http://www.w3.org/2002/07/owl#sameAs>",
    ):
        assert plain_rows(parse(begin + b" " + deep + RIVER)) == plain_rows(parse(RIVER))
        assert plain_rows(parse(begin + deep + RIVER)) == plain_rows(parse(RIVER))
        with pytest.raises(BrokenInput, match="more than 200 nested levels"):
            parse(b"@prefix a: <http://a/> .\n" + begin + b" " + deep)
    label = b'<http://www.wikidata.org/entity/Q10> <http://www.w3.org/2000/01/rdf-schema#label> "x" '
    assert parse(label + deep.rstrip(b".\n") + b"@en .\n").skipped == {reasons.UNREADABLE: 1}
    brackets = b"@prefix a: <http://a/> .\na:b a:c " + b"[a:p " * 20_000 + b"a:q" + b"]" * 20_000 + b" ."
    with pytest.raises(BrokenInput, match="more than 200 nested levels"):
        parse(brackets)


@given(st.integers(0, 3000), st.lists(st.tuples(st.integers(0, 3000), st.binary(max_size=5)), max_size=4))
@settings(deadline=None, max_examples=example_count(200))
def test_cut_and_changed_input_gives_rows_or_one_sentence(cut: int, mutations: list[tuple[int, bytes]]) -> None:
    data = RIVER
    for at, new in mutations:
        data = data[: at % len(data)] + new + data[at % len(data) + len(new) :]
    with suppress(BrokenInput):
        assert plain_rows(parse(data[:cut], texts=True)) is not None


ORACLE = ["Q1", "Q42", "Q8413", "Q53713", "Q182397", "Q17633526", "Q17948861", "Q51605722", "Q120248304", "L42", "L1883", "L42353"]


def read(folder: Path, name: str) -> bytes:
    """A file, packed or not."""
    path = folder / name
    return path.read_bytes() if path.exists() else gzip.decompress((folder / f"{name}.gz").read_bytes())


def of_entity(rows: Rows, id_: str) -> dict[str, Counter[tuple[Any, ...]]]:
    """Rows about one entity."""
    where = {"pages": 2}
    tables = {name: Counter(row for row in found if row[where.get(name, 0)] == id_) for name, found in plain_rows(rows).items()}
    return {name: found for name, found in tables.items() if found}


@pytest.mark.real_data
@pytest.mark.parametrize("id_", ORACLE)
@pytest.mark.parametrize("options", [{"texts": True}, {"language": ("de", "fr"), "all_ranks": True, "site": "be_x_oldwiki"}])
def test_turtle_says_what_json_says(real_data: Path, id_: str, options: dict[str, Any]) -> None:
    folder = real_data / "sources" / "wikidata" / "entitybase"
    in_json = WikidataJson(**options).parse(piece(read(folder / "json", f"{id_}.json")))
    in_turtle = WikidataRdf(**options).parse(piece(read(folder / "ttl", f"{id_}.ttl")))
    assert of_entity(in_json, id_) == of_entity(in_turtle, id_)
    if id_.startswith("Q"):
        assert of_entity(in_json, id_)
        # Turtle adds the redirects among the entities that statements name.
        in_turtle.skipped.pop(reasons.REDIRECT, None)
        assert in_json.skipped == in_turtle.skipped


def truthy(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the truthy dump can say of a value: no precision, no unit of a quantity, no bounds."""
    head, relation, kind, value, unit, _, calendar, _, _ = row
    if kind == "time":
        value += "-01" * (2 - value.lstrip("+-").count("-"))
    return head, relation, kind, value, "" if kind == "quantity" else unit, None, calendar and "gregorian", "", ""


def as_entered(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A date of the truthy dump in the Julian calendar, or the year that is no exact one."""
    year, month, day = map(int, row[3].lstrip("-").split("-"))
    value = "-13798000000-01-01" if year == 13798000001 else "{:04d}-{:02d}-{:02d}".format(*julian(year, month, day))
    return (*row[:3], value, *row[4:])


@pytest.mark.real_data
def test_truthy_lines_say_what_json_says(real_data: Path) -> None:
    folder = real_data / "sources" / "wikidata"
    rows = parse(gzip.decompress((folder / "truthy-derived-10-entities.nt.gz").read_bytes()), texts=True)
    compared = differing = 0
    for id_ in ORACLE:
        in_json = of_entity(WikidataJson(texts=True).parse(piece(read(folder / "entitybase" / "json", f"{id_}.json"))), id_)
        in_lines = of_entity(rows, id_)
        if id_.startswith("L") or not in_lines.get("facts"):
            continue
        compared += 1
        # Sets: what several statements say in different words, or of different times, is one line in the truthy dump.
        assert {name: set(found) for name, found in in_json.items() if name != "values"} == {
            name: set(found) for name, found in in_lines.items() if name != "values"
        }
        stated, found = {truthy(row) for row in in_json.get("values", ())}, set(in_lines.get("values", ()))
        # Julian dates are in the Gregorian calendar, and a year counts as exact although this one is rounded to millions.
        assert stated - found == {as_entered(row) for row in found - stated}
        differing += len(stated - found)
    assert (compared, differing) == (9, 2)


@pytest.mark.real_data
def test_an_endpoint_says_what_truthy_lines_say(real_data: Path) -> None:
    data = gzip.decompress((real_data / "sources" / "wikidata" / "truthy-derived-10-entities.nt.gz").read_bytes())
    query = f"""SELECT ?head ?relation ?tail {{ ?head ?relation ?tail FILTER(STRSTARTS(STR(?head), "{WD}Q"))
        FILTER(STRSTARTS(STR(?relation), "{WDT}")) FILTER(!STRSTARTS(STR(?tail), "{WD}P")) FILTER(STR(?head) > $after) }}"""
    labels = f"""PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        SELECT ?entity ?label {{ ?entity rdfs:label ?label FILTER(STRSTARTS(STR(?entity), "{WD}Q")) FILTER(LANG(?label) = "en") }}"""
    with sparql_server(data, RdfFormat.N_TRIPLES) as server:
        chosen = SparqlSettings(endpoint=server.address, queries=(query, labels), page_size=500, pause=0, texts=True)
        found = [rows for rows, _ in pages(chosen)]
    expected = plain_rows(parse(data, texts=True))
    tables = {name: Counter(row for rows in found for row in plain_rows(rows).get(name, ())) for name in ("facts", "values")}
    assert tables == {name: Counter(expected[name]) for name in ("facts", "values")}
    labelled = {(id_, label) for rows in found for id_, _, label, _ in plain_rows(rows).get("entities", ())}
    assert len(labelled) > 400
    assert labelled <= {(id_, label) for id_, _, label, _ in expected["entities"]}


@pytest.mark.real_data
def test_results_of_a_real_endpoint_are_read(real_data: Path) -> None:
    from kgqa.sources.wikibase.endpoint import ANSWER

    folder = real_data / "sources" / "wikidata" / "sparql"
    for path in sorted(folder.glob("*.srj")):
        if path.stem != "ask":
            answer = ANSWER.decode(path.read_bytes())
            assert len(answer.results.bindings) == len(json.loads(path.read_bytes())["results"]["bindings"]) > 0
