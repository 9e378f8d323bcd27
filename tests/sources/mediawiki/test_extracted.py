"""JSON lines of WikiExtractor, with and without links, of both versions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Piece
from kgqa.sources.mediawiki.extracted import WikiExtractor, site_of
from kgqa.sources.rows import Rows, plain_rows
from tests.lengths import example_count
from tests.sources.graphs.memory_text import MemoryText, read
from tests.sources.mediawiki.dumps import links, texts

URL = "https://de.wikipedia.org/wiki?curid=7"


def piece(*records: object) -> Piece:
    """Records as lines."""
    lines = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    return Piece("AA/wiki_00", 0, 1, lines.encode())


def mill(text: str, **more: object) -> dict[str, object]:
    """One record."""
    return {"id": "7", "revid": "1007", "url": URL, "title": "Mühle", "text": text, **more}


@pytest.mark.parametrize(
    "text",
    [
        'Mühle\n\nEine Mühle mahlt <a href="Korn%20%28Frucht%29">Korn</a> &amp; <a href="salz#A">Salz</a>.\n\n'
        "Section::::Teile.\nBULLET::::- Rad\n",
        'Eine Mühle mahlt &lt;a href="Korn%20%28Frucht%29"&gt;Korn&lt;/a&gt; &amp; &lt;a href="salz"&gt;Salz&lt;/a&gt;.\nRad',
    ],
)
def test_links_of_both_versions(text: str) -> None:
    rows = WikiExtractor().parse(piece(mill(text)))
    assert texts(rows) == {"Mühle": "Eine Mühle mahlt Korn & Salz.\nRad"}
    assert links(rows) == [("Korn", "Korn (Frucht)"), ("Salz", "Salz")]
    assert plain_rows(rows)["documents"][0][0] == "dewiki:7"
    assert plain_rows(rows)["documents"][0][4] == 1007


def test_plain_text_and_links_that_lead_elsewhere() -> None:
    rows = WikiExtractor(site="x").parse(
        piece(mill('A < B. <a href="https://a.example">web</a> <a href="Kategorie:A">c</a> <a href="">d</a>'))
    )
    assert texts(rows) == {"Mühle": "A < B. web c d"}
    assert links(rows) == [("c", "Kategorie:A")]  # without the dump's namespaces it cannot be told


def test_first_characters() -> None:
    rows = WikiExtractor(characters=20).parse(piece(mill('Eine Mühle mahlt <a href="K">Korn</a> und <a href="S">Salz</a>.')))
    assert texts(rows) == {"Mühle": "Eine Mühle mahlt"}
    assert not links(rows)


def test_faults_are_counted() -> None:
    rows = WikiExtractor().parse(piece("{", "", [], {"id": "1"}, mill("Mühle\n\n"), mill("ok", id=8, revid="")))
    assert rows.skipped == {"line that is no page of WikiExtractor": 3, "page without text": 1}
    assert rows.examples["line that is no page of WikiExtractor"] == "AA/wiki_00, line 1"
    assert [row[0] for row in plain_rows(rows)["documents"]] == ["dewiki:8"]


def test_sites() -> None:
    addresses = [
        "https://en.wikipedia.org/wiki?curid=1",
        "https://zh-min-nan.wikipedia.org/x",
        "https://de.wikivoyage.org",
        "",
        "http://[x",
    ]
    assert [site_of(address) for address in addresses] == ["enwiki", "zh_min_nanwiki", "dewikivoyage", "", ""]


@given(data=st.binary(max_size=60), at=st.integers(0, 200))
@settings(max_examples=example_count(200), deadline=None)
def test_mutated_lines_give_rows(data: bytes, at: int) -> None:
    whole = json.dumps(mill('a <a href="b">c</a>')).encode()
    assert isinstance(WikiExtractor().parse(Piece("w", 0, 1, whole[:at] + data + whole[at:])), Rows)


def test_a_file_cut_within_a_line() -> None:
    data = json.dumps({"id": "1", "title": "A", "text": "a"}).encode() + b'\n{"id": "2", "title": "B", "te'
    with pytest.raises(BrokenInput, match="wiki_00: line 2 ends within a record, so the file is cut"):
        read(WikiExtractor(site="enwiki"), data, "wiki_00")
    text = MemoryText("wiki_00", data, partial=True)
    found = read(WikiExtractor(site="enwiki"), text)
    assert {row[0] for row in found["documents"]} == {"enwiki:1"}
    assert not found.skipped
    assert len(text.notes) == 1
