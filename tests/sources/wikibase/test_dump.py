"""Entities in JSON become the rows that they state, whatever surrounds them; what is left out has a reason and a place."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

import kgqa
from kgqa.errors import BrokenInput
from kgqa.sources import streams
from kgqa.sources.rows import Rows, plain_rows
from kgqa.sources.streams import TextFile
from kgqa.sources.wikibase import selection as reasons
from kgqa.sources.wikibase.dump import WikidataJson
from kgqa.sources.wikibase.pages import WikidataXml
from tests.lengths import example_count
from tests.sources.wikibase.entities import aliases, amount, dump, entity, moment, no_value, piece, place, statement, terms, thing

RIVER = entity(
    "Q10",
    thing("P31", "Q20"),
    thing("P131", "Q30", rank="preferred"),
    thing("P131", "Q31"),
    thing("P131", "Q32", rank="deprecated"),
    labels=terms(en="Ilm", de="Ilm (Fluss)", mul="Ilm"),
    aliases=aliases(en=["River Ilm", "the Ilm"], de=["die Ilm"], mul=["ILM"]),
    descriptions=terms(en="a river", de="ein Fluss"),
    sitelinks={"enwiki": {"site": "enwiki", "title": "Ilm (river)", "badges": []}, "dewiki": {"site": "dewiki", "title": "Ilm"}},
)


def parse(*entities: object, **options: Any) -> Rows:
    return WikidataJson(**options).parse(piece(dump(*entities)))


def tables(*entities: object, **options: Any) -> dict[str, list[tuple[Any, ...]]]:
    return plain_rows(parse(*entities, **options))


def values(*statements: dict[str, Any], **options: Any) -> list[tuple[Any, ...]]:
    """Values without their head and relation."""
    return [row[2:] for row in tables(entity("Q1", *statements), **options).get("values", [])]


def skipped(*statements: dict[str, Any], **options: Any) -> dict[str, int]:
    return dict(parse(entity("Q1", *statements), **options).skipped)


def test_an_item_becomes_rows() -> None:
    rows = parse(RIVER)
    assert plain_rows(rows) == {
        "entities": [("Q10", "entity", "Ilm", "a river")],
        "names": [
            ("Q10", "Ilm", "label"),
            ("Q10", "River Ilm", "alias"),
            ("Q10", "the Ilm", "alias"),
            ("Q10", "Ilm", "alias"),
            ("Q10", "ILM", "alias"),
            ("Q10", "Ilm (river)", "title"),
        ],
        "facts": [("Q10", "P31", "Q20"), ("Q10", "P131", "Q30")],
        "pages": [("enwiki", "Ilm (river)", "Q10", None)],
    }
    assert rows.skipped == {reasons.LESSER_RANK: 1, reasons.DEPRECATED: 1}
    assert rows.examples[reasons.DEPRECATED] == "Q10 P131"


@pytest.mark.parametrize(
    ("options", "label", "description", "names", "page"),
    [
        ({"language": ["de"]}, "Ilm (Fluss)", "ein Fluss", {"Ilm (Fluss)", "die Ilm", "Ilm", "ILM"}, "Ilm"),
        ({"language": ["DE", "en"]}, "Ilm (Fluss)", "ein Fluss", {"Ilm (Fluss)", "die Ilm", "Ilm", "ILM"}, "Ilm"),
        ({"language": ["fr"]}, "Ilm", "", {"Ilm", "ILM"}, None),
        ({"language": ["fr", "de", "en"]}, "Ilm (Fluss)", "ein Fluss", {"Ilm (Fluss)", "die Ilm", "Ilm", "ILM"}, None),
        ({"language": ["fr", "mul", "en"]}, "Ilm", "a river", {"Ilm", "ILM"}, None),
        ({"language": ["de-CH", "de"], "site": ""}, "Ilm (Fluss)", "ein Fluss", {"Ilm (Fluss)", "die Ilm", "Ilm", "ILM"}, None),
        ({"language": ["de"], "site": "enwiki"}, "Ilm (Fluss)", "ein Fluss", {"Ilm (Fluss)", "die Ilm", "Ilm", "ILM"}, "Ilm (river)"),
    ],
)
def test_names_come_from_the_first_language_that_has_a_label(
    options: dict[str, Any], label: str, description: str, names: set[str], page: str | None
) -> None:
    found = tables(RIVER, **options)
    assert found["entities"] == [("Q10", "entity", label, description)]
    assert {name for _, name, _ in found.get("names", [])} - {page} == names - {page}
    assert [title for _, title, *_ in found.get("pages", [])] == ([] if page is None else [page])


def test_codes_with_a_script_or_region_are_read_in_either_spelling() -> None:
    item = entity("Q1", labels=terms(zh_hant="河", pt_br="rio"))
    assert [tables(item, language=[code])["entities"][0][2] for code in ("zh-Hant", "zh_hant", "pt-BR")] == ["河", "河", "rio"]
    with pytest.raises(ValidationError, match="is not a language code"):
        WikidataJson(language=("English!",))


def test_all_ranks_are_kept_where_they_are_wanted() -> None:
    rows = parse(RIVER, all_ranks=True)
    assert [tail for _, _, tail in plain_rows(rows)["facts"]] == ["Q20", "Q30", "Q31"]
    assert rows.skipped == {reasons.DEPRECATED: 1}


def test_a_preferred_statement_without_a_value_hides_the_others_too() -> None:
    rows = parse(entity("Q1", no_value("P22", rank="preferred"), thing("P22", "Q2"), no_value("P25", "somevalue"), no_value("P40")))
    assert "facts" not in plain_rows(rows)
    assert rows.skipped == {reasons.NO_VALUE: 2, reasons.LESSER_RANK: 1, reasons.SOME_VALUE: 1}


@pytest.mark.parametrize(
    ("time", "precision", "calendar", "expected"),
    [
        ("+1952-03-11T00:00:00Z", 11, "Q1985727", ("1952-03-11", 11, "gregorian")),
        ("+1952-03-00T00:00:00Z", 10, "Q1985727", ("1952-03", 10, "gregorian")),
        ("+1952-00-00T00:00:00Z", 9, "Q1985727", ("1952", 9, "gregorian")),
        ("+1952-03-11T00:00:00Z", 9, "Q1985727", ("1952", 9, "gregorian")),
        ("+1950-00-00T00:00:00Z", 8, "Q1985727", ("1950", 8, "gregorian")),
        ("+1901-01-01T00:00:00Z", 7, "Q1985727", ("1901", 7, "gregorian")),
        ("+1952-00-00T00:00:00Z", 11, "Q1985727", ("1952", 9, "gregorian")),
        ("+1952-07-00T00:00:00Z", 11, "Q1985727", ("1952-07", 10, "gregorian")),
        ("-0044-03-15T00:00:00Z", 11, "Q1985786", ("-0044-03-15", 11, "julian")),
        ("+00000001616-04-23T00:00:00Z", 11, "Q1985786", ("1616-04-23", 11, "julian")),
        ("-13798000000-00-00T00:00:00Z", 3, "Q1985727", ("-13798000000", 3, "gregorian")),
        ("+12000-00-00T00:00:00Z", 6, "Q1985727", ("+12000", 6, "gregorian")),
        ("+0079-08-24T00:00:00Z", 11, "Q1985786", ("0079-08-24", 11, "julian")),
    ],
)
def test_dates_keep_what_is_known_of_them(time: str, precision: int, calendar: str, expected: tuple[str, int, str]) -> None:
    assert values(moment("P1", time, precision, calendar)) == [("time", expected[0], "", expected[1], expected[2], "", "")]


def test_quantities_keep_their_spelling_unit_and_bounds() -> None:
    found = values(
        amount("P1", "+78782", "Q712226"),
        amount("P1", "-0.50", upperBound="+1.5", lowerBound="-2.50"),
        amount("P1", "+100000000000000000000000000000000000000.10"),
    )
    assert found == [
        ("quantity", "78782", "Q712226", None, "", "", ""),
        ("quantity", "-0.50", "", None, "", "-2.50", "1.5"),
        ("quantity", "100000000000000000000000000000000000000.10", "", None, "", "", ""),
    ]


def test_coordinates_are_plain_degrees_with_their_globe() -> None:
    found = values(place("P1", 57, -5), place("P1", 12.125, 0.00000001), place("P1", -0.0, 180.0, "Q405"))
    assert [row[1:3] for row in found] == [("57,-5", ""), ("12.125,0.00000001", ""), ("0,180", "Q405")]


def test_texts_are_kept_where_they_are_wanted() -> None:
    found = (
        statement("P1", "monolingualtext", {"text": "Waasser", "language": "lb"}, datatype="monolingualtext"),
        statement("P2", "string", "X-12", datatype="external-id"),
        statement("P3", "string", "a b", datatype="string"),
        statement("P4", "string", "River.jpg", datatype="commonsMedia"),
        statement("P5", "string", "https://river.example/", datatype="url"),
    )
    assert [row[:3] for row in values(*found, texts=True)] == [("text", "Waasser", "lb"), ("text", "X-12", ""), ("text", "a b", "")]
    assert skipped(*found, texts=True) == {reasons.OTHER_VALUE: 2}
    assert values(*found) == []
    assert skipped(*found) == {reasons.TEXT_VALUE: 3, reasons.OTHER_VALUE: 2}


def test_objects_that_are_no_items_are_left_out() -> None:
    old = statement("P1", "wikibase-entityid", {"entity-type": "item", "numeric-id": 7})
    rows = parse(entity("Q1", thing("P1", "P5"), thing("P1", "L5"), old, statement("P1", "wikibase-entityid", {"entity-type": "item"})))
    assert plain_rows(rows)["facts"] == [("Q1", "P1", "Q7")]
    assert rows.skipped == {reasons.OTHER_OBJECT: 2, reasons.UNREADABLE_VALUE: 1}


@pytest.mark.parametrize(
    "odd",
    [
        moment("P1", "yesterday", 11),
        moment("P1", "+1952-03-11T00:00:00Z", 11, "Q1"),
        moment("P1", "+1952-03-11T00:00:00Z", 10**12),
        moment("P1", "+1952-13-11T00:00:00Z", 11),
        amount("P1", "much"),
        amount("P1", "+1", lowerBound="little"),
        statement("P1", "quantity", {"unit": "1"}),
        statement("P1", "time", {"precision": 9}),
        statement("P1", "globecoordinate", {"latitude": None, "longitude": 1}),
        statement("P1", "monolingualtext", {"language": "en"}),
    ],
)
def test_a_value_that_cannot_be_read_costs_itself_alone(odd: dict[str, Any]) -> None:
    rows = parse(entity("Q1", odd, thing("P2", "Q2")), texts=True)
    assert plain_rows(rows)["facts"] == [("Q1", "P2", "Q2")]
    assert "values" not in plain_rows(rows)
    assert rows.skipped == {reasons.UNREADABLE_VALUE: 1}


@pytest.mark.parametrize("value", [17, True, None, [1], 1.5, {"new": {"kind": 1}}])
def test_a_kind_of_value_that_nobody_knows_costs_itself_alone(value: object) -> None:
    rows = parse(entity("Q1", statement("P1", "fresh", value), thing("P2", "Q2")))
    assert plain_rows(rows)["facts"] == [("Q1", "P2", "Q2")]
    assert rows.skipped == {reasons.OTHER_VALUE: 1}


def test_properties_are_chosen_by_their_class(tmp_path: Path) -> None:
    files, out = [tmp_path / "items.json", tmp_path / "properties.json"], tmp_path / "out"
    files[0].write_bytes(dump(entity("Q11", thing("P17", "Q40"), thing("P31", "Q21")), entity("Q40"), entity("Q21")))
    files[1].write_bytes(dump(entity("P17", thing("P31", "Q900")), entity("P31", thing("P31", "Q901"), thing("P31", "Q902"))))
    (tmp_path / "other.json").write_bytes(dump(entity("Q40", thing("P31", "Q21"))))
    result = kgqa.import_files("wikidata", files, out=out, options={"property_classes": ["Q900", "Q903"]})
    assert pq.read_table(out / "facts.parquet").to_pylist() == [{"head": "Q11", "relation": "P17", "tail": "Q40"}]
    assert pq.read_table(out / "relations.parquet")["id"].to_pylist() == ["P17"]
    assert {row["reason"]: row["count"] for row in result.skipped if "chosen" in row["reason"]} == {
        reasons.OTHER_PROPERTY: 1, "relation not chosen": 1,
    }  # fmt: skip
    kgqa.import_files("wikidata", [tmp_path / "other.json"], out=out)  # the facts of other imports stay
    assert [row["relation"] for row in pq.read_table(out / "facts.parquet").to_pylist()] == ["P17", "P31"]


def test_properties_and_classes_are_chosen() -> None:
    town = entity("Q11", thing("P31", "Q21"), thing("P17", "Q40"))
    assert tables(RIVER, town, properties=["P17"])["facts"] == [("Q11", "P17", "Q40")]
    rows = parse(RIVER, town, classes=["Q21"], properties=["P17"])
    assert [row[0] for row in plain_rows(rows)["entities"]] == ["Q11"]
    assert plain_rows(rows)["facts"] == [("Q11", "P17", "Q40")]
    assert rows.skipped == {reasons.OTHER_CLASS: 1}
    deprecated = entity("Q12", thing("P31", "Q21", rank="deprecated"))
    assert parse(deprecated, classes=["Q21"]).skipped == {reasons.OTHER_CLASS: 1}
    with pytest.raises(ValidationError, match="is no property's id"):
        WikidataJson(properties=("Q5",))
    with pytest.raises(ValidationError, match="is no item's id"):
        WikidataJson(classes=("human",))
    with pytest.raises(ValidationError, match="Extra inputs"):
        WikidataJson(speed=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("properties", [[], ["P26", "P47"]])
def test_properties_become_relations(properties: list[str]) -> None:
    spouse = entity("P26", thing("P2302", "Q21510862"), thing("P2302", "Q21510865"), labels=terms(en="spouse"), datatype="wikibase-item")
    border = entity("P47", labels=terms(de="grenzt an", mul="borders"))
    assert tables(spouse, border, properties=properties)["relations"] == [("P26", "spouse", True), ("P47", "borders", False)]
    assert parse(entity("P1"), properties=["P2"]).skipped == {reasons.OTHER_PROPERTY: 1}


def test_records_that_are_no_items_are_counted() -> None:
    rows = parse(
        entity("L1"),
        {"entity": "Q5", "redirect": "Q6"},
        {"id": "Q7", "missing": ""},
        {"type": "mediainfo", "id": "M1", "statements": []},
        {"type": "item"},
        {"type": "item", "id": "Q0"},
        17,
        "text",
        {"type": "item", "id": "Q1", "labels": 5},
        {"type": "item", "id": "Q1", "labels": ["x"]},
        {"entities": [1]},
        {"entities": {"Q1": {"entities": {"Q1": RIVER}}}},
    )
    assert plain_rows(rows) == {}
    assert rows.skipped == {reasons.LEXEME: 1, reasons.REDIRECT: 1, reasons.MISSING: 1, reasons.OTHER_RECORD: 1, reasons.UNREADABLE: 8}
    assert rows.examples[reasons.UNREADABLE] == "line 6"


def test_half_a_character_is_an_unreadable_record() -> None:
    rows = WikidataJson().parse(piece(b'[\n{"type":"item","id":"Q1","labels":{"en":{"language":"en","value":"a\\ud800b"}}},\n]'))
    assert plain_rows(rows) == {}
    assert rows.skipped == {reasons.UNREADABLE: 1}


def test_empty_maps_may_be_lists() -> None:
    item = {"type": "item", "id": "Q1", "labels": [], "descriptions": [], "aliases": [], "claims": [], "sitelinks": []}
    for options in ({}, {"properties": ["P1"]}, {"classes": ["Q5"]}):
        rows = parse(item, **options)
        assert sum(rows.skipped.values()) == ("classes" in options)


def test_every_layout_of_the_same_entities_gives_the_same_rows(tmp_path: Path) -> None:
    items = [RIVER, entity("Q11", labels=terms(en="a\u2028b")), entity("P1", labels=terms(en="flows into"))]
    lines = [json.dumps(item) for item in items]
    layouts = {
        "dump": dump(*items),
        "first lines of a dump": dump(*items)[:-3] + b",\n",
        "windows": dump(*items).replace(b"\n", b"\r\n"),
        "lines": "\n".join(lines).encode(),
        "one line": json.dumps(items).encode() if len(items) == 1 else dump(*items).replace(b"[\n", b"["),
        "array": json.dumps(items, indent=2).encode(),
        "entity data": json.dumps({"entities": {item["id"]: item for item in items}}).encode(),
        "indented entity data": json.dumps({"entities": {item["id"]: item for item in items}, "success": 1}, indent=1).encode(),
    }
    for name, data in layouts.items():
        for path, packed in (
            (tmp_path / "x.json", data),
            (tmp_path / "x.json.gz", gzip.compress(data)),
            (tmp_path / "x.json.bz2", bz2.compress(data)),
        ):
            path.write_bytes(packed)
            parser = pickle.loads(pickle.dumps(WikidataJson()))
            pieces = list(parser.pieces(TextFile(path)))
            assert len(pieces) == 1
            assert plain_rows(parser.parse(pieces[0])) == tables(*items), name
            assert list(parser.pieces(TextFile(path), pieces[0].position + len(pieces[0].data))) == []


def test_pieces_go_on_from_any_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams.line_pieces, "__kwdefaults__", {"size": 300})
    monkeypatch.setattr(streams, "CHUNK_BYTES", 100)
    path = tmp_path / "dump.json"
    path.write_bytes(dump(*(entity(f"Q{number}", thing("P1", "Q1")) for number in range(1, 20))))
    parser = WikidataJson()
    pieces = list(parser.pieces(TextFile(path)))
    assert len(pieces) > 5
    heads = [row[0] for found in pieces for row in plain_rows(parser.parse(found)).get("facts", [])]
    assert heads == [f"Q{number}" for number in range(1, 20)]
    for number, found in enumerate(pieces):
        assert list(parser.pieces(TextFile(path), found.position)) == pieces[number:]


def test_a_file_of_another_format_may_be_no_cut_one(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text("subject,relation,object\norlind,has_capital,halden\n")
    with pytest.raises(BrokenInput, match=r"facts\.csv: line 2, the last, has no end, so the file is cut or of another format"):
        list(WikidataJson().pieces(TextFile(path)))


@pytest.mark.parametrize("cut", [12, 40, 400])
def test_a_cut_dump_is_one_sentence_or_read_as_far_as_it_goes(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(dump(entity("Q9"), RIVER)[:-cut])
    with pytest.raises(BrokenInput, match=r"dump\.json: line \d, the last, has no end, so the file is cut.*--partial"):
        list(WikidataJson().pieces(TextFile(path)))
    text = TextFile(path, partial=True)
    [found] = WikidataJson().pieces(text)
    assert len(text.notes) == 1
    assert ("Q9", "entity", "", "") in plain_rows(WikidataJson().parse(found))["entities"]


def test_a_document_that_is_no_json_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "Q1.json"
    path.write_bytes(json.dumps(RIVER, indent=1).encode()[:-40])
    [found] = WikidataJson().pieces(TextFile(path))
    with pytest.raises(BrokenInput, match=r"Q1\.json: this is not JSON .*download the file again"):
        WikidataJson().parse(found)
    monkeypatch.setattr(streams, "RECORD_LIMIT", 100)
    with pytest.raises(BrokenInput, match="write one entity a line"):
        list(WikidataJson().pieces(TextFile(path)))


def test_deep_nesting_is_one_unreadable_record() -> None:
    deep = b'{"type":"item","id":"Q1","claims":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    bomb = b'{"type":"item","id":"Q1","x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001
    for data in (deep, bomb):
        rows = WikidataJson().parse(piece(b"[\n" + data + b",\n" + json.dumps(RIVER).encode() + b"\n]"))
        assert rows.skipped[reasons.UNREADABLE] == 1
        assert len(plain_rows(rows)["entities"]) == 1


MUTATIONS = st.lists(
    st.tuples(st.integers(0, 10_000), st.one_of(st.binary(max_size=6), st.sampled_from([b'"', b"{", b"]", b"\n", b"null", b"1e999"]))),
    max_size=4,
)


@given(st.integers(0, 10_000), MUTATIONS, st.booleans())
@settings(deadline=None, max_examples=example_count(300))
def test_cut_and_changed_input_gives_rows_or_one_sentence(cut: int, mutations: list[tuple[int, bytes]], indent: bool) -> None:
    item = entity(
        "Q1", moment("P1", "+1952-03-11T00:00:00Z", 11), amount("P2", "+1"), place("P3", 1, 2), thing("P31", "Q5"), labels=terms(en="ö")
    )
    data = json.dumps([item, RIVER], indent=1).encode() if indent else dump(item, RIVER)
    for at, new in mutations:
        data = data[: at % len(data)] + new + data[at % len(data) + len(new) :]
    data = data[: cut % (2 * len(data))]
    with suppress(BrokenInput):
        assert plain_rows(WikidataJson(texts=True, classes=("Q5",)).parse(piece(data))) is not None


HEAD = b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en"><siteinfo><dbname>wikidatawiki</dbname></siteinfo>\n'


def page(title: str, model: str, *texts: object) -> bytes:
    told = [escape(text if isinstance(text, str) else json.dumps(text)) for text in texts]
    revisions = "".join(f"<revision><model>{model}</model><text xml:space='preserve'>{text}</text></revision>" for text in told)
    return f"<page><title>{title}</title><ns>0</ns>{revisions}</page>\n".encode()


def test_pages_of_xml_hold_entities(tmp_path: Path) -> None:
    old = entity("Q1", labels=terms(en="older"))
    new = entity("Q1", statement("P1", "string", "a <b> & c"), labels=terms(en="newer"), aliases=[])
    path = tmp_path / "pages.xml"
    path.write_bytes(
        HEAD
        + page("Q1", "wikibase-item", old, new)
        + page("Q2", "wikibase-item", {"entity": "Q2", "redirect": "Q1"})
        + page("Property:P1", "wikibase-property", entity("P1", labels=terms(en="flows into")))
        + page("Lexeme:L1", "wikibase-lexeme", entity("L1"))
        + page("Project:Help", "wikitext", "Help is [[here]].")
        + page("Q3", "wikibase-item", "&not json")
        + b"<page><title>&unknown;</title></page>\n"
        + b"</mediawiki>\n"
    )
    parser = WikidataXml(texts=True)
    [found] = parser.pieces(TextFile(path))
    rows = parser.parse(found)
    assert plain_rows(rows) == {
        "entities": [("Q1", "entity", "newer", "")],
        "names": [("Q1", "newer", "label")],
        "values": [("Q1", "P1", "text", "a <b> & c", "", None, "", "", "")],
        "relations": [("P1", "flows into", False)],
    }
    assert rows.skipped == {reasons.REDIRECT: 1, reasons.LEXEME: 1, reasons.OTHER_RECORD: 1, reasons.UNREADABLE: 2}


@pytest.mark.parametrize(
    "inside",
    [
        b"<a>" * 100_000 + b"</a>" * 100_000,
        b'<!DOCTYPE page [<!ENTITY x "y">]>&x;',
        b"&x;",
        b"<text>\xff\xfe</text>",
        b"<text>not closed",
        b"<revision><model>wikibase-item</model><text/></revision>",
    ],
)
def test_a_page_that_cannot_be_read_costs_itself_alone(tmp_path: Path, inside: bytes) -> None:
    path = tmp_path / "pages.xml"
    path.write_bytes(HEAD + b"<page><title>Q1</title>" + inside + b"</page>\n" + page("Q10", "wikibase-item", RIVER) + b"</mediawiki>\n")
    [found] = WikidataXml().pieces(TextFile(path))
    rows = WikidataXml().parse(found)
    assert plain_rows(rows) == tables(RIVER)
    assert rows.skipped[reasons.UNREADABLE] == 1


@pytest.mark.real_data
def test_the_real_excerpt_is_read_whole(real_data: Path) -> None:
    parser = WikidataJson(texts=True)
    path = real_data / "sources" / "wikidata" / "entities-dump-lines.json.gz"
    [found] = parser.pieces(TextFile(path))
    rows = parser.parse(found)
    read = plain_rows(rows)
    records = [json.loads(line.rstrip(b",")) for line in found.data.split(b"\n") if line.startswith(b"{")]
    assert [row[0] for row in read["entities"]] == [record["id"] for record in records]
    assert sum(len(found) for record in records for found in record["claims"].values()) == 4282
    assert len(read["facts"]) + len(read["values"]) + sum(rows.skipped.values()) == 4282
    assert len(read["pages"]) == sum("enwiki" in record["sitelinks"] for record in records)
    assert {row[0]: row[2] for row in read["entities"]} == {
        record["id"]: record["labels"].get("en", record["labels"].get("mul", {"value": ""}))["value"] for record in records
    }
    facts = {(head, relation, tail) for head, relation, tail in read["facts"]}
    for record in records:
        for property_, statements in record["claims"].items():
            best = {"preferred"} & {found["rank"] for found in statements} or {"normal"}
            for found_ in statements:
                snak = found_["mainsnak"]
                if snak["datatype"] == "wikibase-item" and snak["snaktype"] == "value":
                    tail = snak["datavalue"]["value"]["id"]
                    assert found_["rank"] not in best or (record["id"], property_, tail) in facts


@pytest.mark.real_data
def test_the_real_pages_hold_entities(real_data: Path) -> None:
    parser = WikidataXml()
    [found] = parser.pieces(TextFile(real_data / "sources" / "wikidata" / "wikidata-minidump.xml.bz2"))
    rows = parser.parse(found)
    read = plain_rows(rows)
    assert (len(read["entities"]), len(read["relations"]), rows.skipped[reasons.LEXEME]) == (13, 5, 29)
    assert ("enwiki", "Baby Rose", "Q75197918", None) in read["pages"]
