"""Dumps of MediaWiki: pages, redirects, disambiguations, namespaces, and what no dump should hold."""

from __future__ import annotations

import pickle
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Piece
from kgqa.sources.mediawiki.dump import MediaWikiDump
from kgqa.sources.rows import Rows, plain_rows
from tests.lengths import example_count
from tests.sources.mediawiki.dumps import HEAD, links, page, piece, texts

DUMP = MediaWikiDump()
MILL = page("Mühle", "Eine '''Mühle''' mahlt [[korn]].{{x}}\n== Teile ==\nEin [[Rad]].", number=7)


def test_a_page() -> None:
    tables = plain_rows(DUMP.parse(piece(MILL)))
    assert tables == {
        "documents": [("probewiki:7", "Mühle", None, "Eine Mühle mahlt korn.", 1007)],
        "links": [("probewiki:7", 17, 21, "probewiki", "Korn")],
        "pages": [("probewiki", "Mühle", None, "probewiki:7")],
    }


def test_the_last_revision_counts() -> None:
    second = MILL[MILL.index("<revision>") : MILL.index("</page>")].replace("1007", "1008").replace("mahlt", "mahlte")
    rows = DUMP.parse(piece(MILL.replace("</page>", second + "</page>")))
    assert plain_rows(rows)["documents"] == [("probewiki:7", "Mühle", None, "Eine Mühle mahlte korn.", 1008)]


def test_other_slots_are_no_text() -> None:
    slot = "<content><role>mediainfo</role><model>wikibase-mediainfo</model><text>{}</text></content>"
    assert texts(DUMP.parse(piece(MILL.replace("</revision>", slot + "</revision>")))) == {"Mühle": "Eine Mühle mahlt korn."}


@pytest.mark.parametrize(
    ("redirect", "text", "target"),
    [
        ("Mühle", "#WEITERLEITUNG [[Mühle]]", "Mühle"),
        ("", "#WEITERLEITUNG [[mühle#Teile]]\n[[Kategorie:X]]", "Mühle"),
        ("", " #redirect: [[Mühle|x]]", "Mühle"),
        ("", "#перенаправление [[Мельница]]", "Мельница"),
        ("", "#đổi [[Cối xay]]", "Cối xay"),
    ],
)
def test_redirects(redirect: str, text: str, target: str) -> None:
    assert plain_rows(DUMP.parse(piece(page("Mühlen", text, redirect=redirect)))) == {"redirects": [("probewiki", "Mühlen", target)]}


@pytest.mark.parametrize("target", ["Kategorie:Mühle", "Mühlen", ":en:Mill"])
def test_redirects_that_lead_nowhere(target: str) -> None:
    rows = DUMP.parse(piece(page("Mühlen", "x", redirect=target)))
    assert not plain_rows(rows)
    assert sum(rows.skipped.values()) == 1


def test_a_list_with_numbers_is_no_redirect() -> None:
    assert texts(DUMP.parse(piece(page("Teile", "# das [[Rad]]\n# der [[Stein]]")))) == {"Teile": "das Rad\nder Stein"}


@pytest.mark.parametrize(
    "text",
    [
        "'''Mühle''' steht für:\n* [[Wassermühle]]\n* [[Mühle (Spiel)]]",
        "'''Mühle''' steht für:\n== Technik ==\n* [[Wassermühle]]\n== Spiele ==\n* [[Mühle (Spiel)]]\n{{x}}\n[[Kategorie:Y]]",
        "Text.\n\nMehr Text.\n{{Disambig}}",
        "Text.\n\nMehr Text.\n{{place name disambiguation|geo}}",
        "Text. __DISAMBIG__",
    ],
)
def test_disambiguation_pages(text: str) -> None:
    rows = DUMP.parse(piece(page("Mühle", text)))
    assert not plain_rows(rows)
    assert rows.skipped == {"disambiguation page": 1}
    assert texts(MediaWikiDump(keep_disambiguations=True).parse(piece(page("Mühle", text))))


@pytest.mark.parametrize(
    "text",
    [
        "{{Other uses|Mühle (disambiguation)}}\nEine Mühle mahlt.",
        "Eine Mühle mahlt [[x]].{{disambiguation needed|date=x}}",
        "Eine Mühle hat:\n* Räder\n* Steine\n\nSie mahlt damit.",
        "Eine Mühle hat:\n* Räder",
        "Eine Mühle hat:\n* Räder\n* Steine\n== Antrieb ==\nSie mahlt mit Wasser.",
    ],
)
def test_pages_that_are_none(text: str) -> None:
    assert texts(DUMP.parse(piece(page("Mühle", text))))


def test_disambiguation_by_the_wikis_own_names() -> None:
    dump = MediaWikiDump(disambiguation_templates=("begriffs_klärung", "Öl & Fett"), disambiguation_category="Kategorie:Mehr deutig")
    for mark in ("{{Begriffs klärung}}", "{{ öl & Fett | x }}", "[[Kategorie:Mehr_deutig|Sort]]"):
        assert dump.parse(piece(page("Mühle", f"Text. {mark}"))).skipped == {"disambiguation page": 1}
    for mark in ("{{Begriffsklärungen}}", "{{x|Begriffs klärung}}", "[[:Kategorie:Mehr deutig]]", "[[Kategorie:Mehr]]"):
        assert not dump.parse(piece(page("Mühle", f"Text. {mark}"))).skipped["disambiguation page"]


def test_namespaces() -> None:
    pages = [
        page("Portal:mühlen", "Mehr: [[Portal:korn]], [[Portal:Korn|k]], [[Mühle]]", namespace=100),
        page("Vorlage:X", "x", namespace=10),
    ]
    assert DUMP.parse(piece(*pages)).skipped == {"page of another namespace": 2}
    rows = MediaWikiDump(namespaces=(0, 100)).parse(piece(*pages))
    assert links(rows) == [("Portal:korn", "Portal:korn"), ("k", "Portal:Korn"), ("Mühle", "Mühle")]
    with pytest.raises(BrokenInput, match=r"^probe\.xml: the wiki has no namespace 77"):
        MediaWikiDump(namespaces=(77,)).parse(piece(*pages))


def test_dumps_without_what_newer_ones_have() -> None:
    old = MILL.replace("<ns>0</ns>", "").replace("<model>wikitext</model>", "")
    assert texts(DUMP.parse(piece(old, head="")))
    rows = DUMP.parse(piece(old, head=""))
    assert plain_rows(rows)["documents"][0][0] == "wiki:7"
    assert DUMP.parse(piece(old.replace("Mühle</title>", "Kategorie:Mühle</title>"))).skipped == {"page of another namespace": 1}
    assert plain_rows(MediaWikiDump(site="dewiki").parse(piece(MILL)))["links"][0][3] == "dewiki"
    assert plain_rows(DUMP.parse(piece(MILL, head='<mediawiki xml:lang="de">')))["documents"][0][0] == "dewiki:7"


def test_what_is_skipped_has_a_reason() -> None:
    pages = [
        page("Q1", '{"labels": {}}', model="wikibase-item", number=1),
        page("Leer", " \n", number=2),
        page("Nur Kasten", "{{x}}\n== Teile ==\nEin Rad.", number=3),
        page("Ohne Nummer", "x").replace("<id>1</id>", "<id>eins</id>", 1),
        page("Ohne Fassung", "x", number=4).split("<revision>")[0] + "</page>",
        page("Gelöscht", "", number=5).replace('<text bytes="0" xml:space="preserve"></text>', '<text deleted="deleted" />'),
    ]
    rows = DUMP.parse(piece(*pages))
    assert not plain_rows(rows)
    assert rows.skipped == {
        "page of wikibase-item, not wikitext": 1,
        "page without text": 2,
        "page without running text before its first heading": 1,
        "page without a number or title": 1,
        "page without a revision": 1,
    }
    assert rows.examples["page of wikibase-item, not wikitext"] == "probewiki:1"


@pytest.mark.parametrize(
    "broken",
    [
        MILL.replace("</title>", ""),
        MILL.replace("Eine", "Eine &unknown;").replace("<title>", "<title>&unknown;"),
        MILL.replace("<title>", "<a>" * 300 + "<title>"),
        MILL.replace("<title>", "<title>\x01"),
        MILL.replace("Eine", "<b>Eine"),
        MILL.replace("<title>", "<!DOCTYPE x><title>"),
    ],
)
def test_a_page_that_is_no_xml_spoils_no_other(broken: str) -> None:
    rows = DUMP.parse(piece(broken, page("Korn", "[[Korn]] wächst.", number=8)))
    assert texts(rows) == {"Korn": "Korn wächst."}
    assert rows.examples == {"page that is not well-formed XML": "probe.xml, line 20"}


def test_entities_of_xml_in_a_text() -> None:
    raw = MILL.replace("Eine", "&quot;A&#10;&#x42;&apos;&#0;&#xD800; &amp;lt;c &lt;b&gt;d&lt;/b&gt; <![CDATA[e & f]]>")
    assert texts(DUMP.parse(piece(raw))) == {}
    raw = MILL.replace("Eine", "&quot;A&#10;&#x42;&apos;&#0;&#xD800; &amp;lt;c &lt;b&gt;d&lt;/b&gt;")
    assert texts(DUMP.parse(piece(raw)))["Mühle"].startswith("\"A B' <c d Mühle mahlt")
    cdata = MILL.replace("Eine", "<![CDATA[e & <b>f</b>]]>")
    assert texts(DUMP.parse(piece(cdata)))["Mühle"].startswith("e & f Mühle")


@pytest.mark.parametrize(
    "head",
    [
        "<html><body>",
        "<mediawiki><siteinfo>",
        '<!DOCTYPE mediawiki [<!ENTITY a "b">]><mediawiki>',
        '<!DOCTYPE mediawiki SYSTEM "http://a.example/b.dtd"><mediawiki>',
        "nothing like it",
    ],
)
def test_heads_of_something_else(head: str) -> None:
    with pytest.raises(BrokenInput, match=r"^probe\.xml: it .*\.$"):
        DUMP.parse(piece(MILL, head=head))


def test_a_parser_goes_to_other_processes() -> None:
    dump = MediaWikiDump(templates={"lang": "{2}"}, namespaces=(0, 100))
    assert pickle.loads(pickle.dumps(dump)) == dump
    assert texts(dump.parse(piece(page("Rom", "Rom ({{lang|it|Roma}}) ist.")))) == {"Rom": "Rom (Roma) ist."}


def test_unknown_options_are_errors() -> None:
    for wrong in ({"sight": "x"}, {"characters": -1}, {"namespaces": ["main"]}, {"keep_disambiguations": "no"}):
        with pytest.raises(ValidationError):
            MediaWikiDump.model_validate(wrong)


def test_order_and_pieces_do_not_matter() -> None:
    korn = page("Korn", "[[Korn]] wächst.", number=8)
    together, first, second = (plain_rows(DUMP.parse(piece(*pages))) for pages in ((MILL, korn), (MILL,), (korn,)))
    assert together == {name: first[name] + second[name] for name in together}


BOMBS = ("<text" * 200_000, "<text>" * 200_000, "<text></text>" * 100_000, "&amp;" * 500_000, "{{disambig x" * 100_000)


@pytest.mark.parametrize("bomb", BOMBS)
def test_time_is_linear(bomb: str) -> None:
    started = time.process_time()
    DUMP.parse(piece(MILL.replace("<title>", bomb + "<title>")))
    DUMP.parse(piece(MILL.replace("Eine", bomb)))
    assert time.process_time() - started < 4


WHOLE = (MILL + page("Rad", "#WEITERLEITUNG [[Mühle]]", redirect="Mühle") + page("X", "[[a|b]] {{c|{{d}}}} '''e'''")).encode()


@given(cut=st.integers(0, len(WHOLE)), where=st.integers(0, len(WHOLE)), junk=st.binary(max_size=12))
@settings(max_examples=example_count(300), deadline=None)
def test_cut_and_mutated_pages_give_rows_or_a_sentence(cut: int, where: int, junk: bytes) -> None:
    data = (WHOLE[:where] + junk + WHOLE[where:])[: cut or None]
    assert isinstance(DUMP.parse(Piece("probe.xml", 0, 1, data, HEAD.encode())), Rows)


@given(head=st.binary(max_size=80))
@settings(max_examples=example_count(200), deadline=None)
def test_mutated_heads_give_rows_or_a_sentence(head: bytes) -> None:
    with suppress(BrokenInput):
        assert isinstance(DUMP.parse(Piece("probe.xml", 0, 1, MILL.encode(), HEAD.encode()[: len(head)] + head)), Rows)


MARKUP = st.lists(st.sampled_from(
    ["[[", "]]", "|", "{{", "}}", "{|", "|}", "\n", "'''", "''", "<ref>", "</ref>", "<!--", "-->", "a", " b ", "Datei:", "=", "(", ")", ",",
     "<nowiki>", "</nowiki>", "&amp;", "[http://x ", "]", "-{", "}-", "*", ":", "__A__", "<br>", "{{{", "}}}", "<table>", "</table>"]
), max_size=40)  # fmt: skip


@given(parts=MARKUP)
@settings(max_examples=example_count(500), deadline=None)
def test_links_are_where_they_say(parts: list[str]) -> None:
    rows = MediaWikiDump(keep_disambiguations=True, characters=0).parse(piece(page("Mühle", "".join(parts))))
    tables = plain_rows(rows)
    text = {id_: text for id_, _, _, text, _ in tables.get("documents", [])}
    ends = 0
    for document, start, end, _, title in tables.get("links", []):
        assert 0 <= ends <= start < end <= len(text[document])
        assert title
        assert title == title.strip()
        ends = end
    assert not any(ord(character) < 32 and character != "\n" for words in text.values() for character in words)
