"""What of a page's wikitext is text, and where links lead."""

from __future__ import annotations

import time

import pytest

from kgqa.sources.mediawiki.lines import plain_quotes, tidy
from kgqa.sources.mediawiki.site import Site, read_site, upper_first
from kgqa.sources.mediawiki.wikitext import pipe_trick, read_text
from tests.sources.mediawiki.dumps import HEAD

SITE = read_site(HEAD.encode(), "probe.xml", "", (0,))


def shown(wikitext: str, site: Site = SITE) -> tuple[str, list[tuple[str, str]]]:
    """The lead with its links as (text, title)."""
    page = read_text(wikitext, site, "Mühle")
    assert all(page.text[link.start : link.end].strip() == page.text[link.start : link.end] != "" for link in page.links)
    return page.text, [(page.text[link.start : link.end], link.title) for link in page.links]


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("A mill.\n\nIt grinds\ncorn.\n== Parts ==\nA wheel.", "A mill.\nIt grinds corn."),
        ("== Parts ==\nA wheel.", ""),
        ("A mill.\n== Parts == <!-- see talk -->\nA wheel.", "A mill."),
        ("A = b is no heading.\n=\nNor is that.", "A = b is no heading. = Nor is that."),
        ("'''Mill''' is ''the'' '''''word'''''.", "Mill is the word."),
        ("L'''Iliade'' is old.", "L'Iliade is old."),
        ("a <!-- b --> c<!-- never closed", "a c"),
        ("one\n<!-- alone on its line -->\ntwo", "one two"),
        ("a {{b|c={{d}}|{{{e|}}}}} f", "a f"),
        ("a {{{parameter|default}}} f", "a f"),
        ("A mill{{ref|x}}.<ref>Book {{cite}}</ref> It<ref name=a /> turns.", "A mill. It turns."),
        ("Rome ({{lang|it|Roma}}; born {{circa}}) is", "Rome (born) is"),
        ("Rome ({{IPA|a}}, {{IPA|b}}) is", "Rome is"),
        ("from 1775{{ndash}}1783", "from 1775 1783"),
        ("水{{ref}}車", "水車"),
        ("{| class=x\n| a\n{|\n| nested\n|}\n|}\nText.", "Text."),
        ("<table><tr><td>a<table><tr><td>b</table></table>Text.", "Text."),
        ("{|\n| {{a}}\n|}\nText {{b|}}.", "Text."),
        ("{|\n| never closed\n|-\n| b\n\nText.", "Text."),
        ("{{Box\n| never = closed\n'''Mill''' is.\n== Parts ==\nA wheel.", "Mill is."),
        ("x <ref>never closed. Text.", "x never closed. Text."),
        ("<gallery>\nA.jpg|b\n</gallery>Text<math>x^2</math>.", "Text."),
        ("[[Datei:a.jpg|thumb|135px|[[b]] in a [http://c d] [[e]]]]Text.", "Text."),
        ("[[File:a.jpg|thumb|b]][[Image:c.png]][[Bild:d.svg|mini|e]][[Imagen:f.ogg|g]]Text.", "Text."),
        ("Text. [[Kategorie:Mills]] [[Category:Mills]] [[en:Mill]] [[zh-min-nan:Mill]]", "Text."),
        ("[https://a.example b c] and [https://a.example] and [//a.example d].", "b c and and d."),
        ("__NOTOC____БЕЗ_ОГЛ__Text __init__.", "Text __init__."),
        ("a&nbsp;b &ndash; c &amp; d AT&T &lt;b&gt; &notaword; &#x41;&#66;", "a b – c & d AT&T <b> &notaword; AB"),
        ("<nowiki>[[a]] {{b}} ''c''</nowiki> &#91;&#91;d&#93;&#93;", "[[a]] {{b}} ''c'' [[d]]"),
        ("* a\n** b\n# c\n; d\n: e\n----\nf", "a\nb\nc\nd\ne\nf"),
        ("a<br />b<small>c</small> 10<sup>9</sup> km<sup>2</sup> H<sub>2</sub>O", "a\nbc 10⁹ km² H2O"),
        (":''For the game, see [[Mill (game)]].''\n'''Mill''' is.", "Mill is."),
        ("'''Mill''' is.\n:''Quoted in italics.''", "Mill is.\nQuoted in italics."),
        ("[[1910s]] | [[1920s]] | '''1930s''' | [[1940s]]\n\nMill.", "Mill."),
        ("{{PAGENAME}} is {{Unknown}}.", "Mühle is."),
        ("-{zh-hans:计算机;zh-hant:電腦}- -{a}- -{T|b}-", "计算机 a"),
        ("[[Foo{{!}}bar]]", "bar"),
        ("a [[b c]] d [[e|f]] [[ ]] [[|g]] [[unclosed", "a b c d f g unclosed"),
        ("a\u200bb\u00adc\u200e", "abc"),
    ],
)
def test_text(wikitext: str, text: str) -> None:
    assert shown(wikitext)[0] == text


@pytest.mark.parametrize(
    ("wikitext", "links"),
    [
        ("[[mill]]", [("mill", "Mill")]),
        ("[[Mill|the mill]]", [("the mill", "Mill")]),
        ("[[water_mill#Parts| wheel ]]", [("wheel", "Water mill")]),
        ("[[town]]s, [[Mühle]]nstein, [[Mc]]Donald", [("towns", "Town"), ("Mühlenstein", "Mühle"), ("Mc", "Mc")]),
        ("[[서울]]은 [[東京]]の [[नदी]]याँ", [("서울", "서울"), ("東京", "東京"), ("नदीयाँ", "नदी")]),
        ("[[Mill (game)|]] [[Oslo, Norway|]]", [("Mill", "Mill (game)"), ("Oslo", "Oslo, Norway")]),
        (
            "[[:en:Mill]] [[wikt:mill|word]] [[Portal:Mills]] [[#Parts|below]] [[Spezial:Suche]] [[<x>]]",
            [("Spezial:Suche", "Spezial:Suche")],
        ),
        ("[[2001: A Mill]] [[.hack//x]]", [("2001: A Mill", "2001: A Mill"), (".hack//x", ".hack//x")]),
        ("[[AT%26T]] [[A&amp;B|c]] [[Caf&eacute;]]", [("AT%26T", "AT&T"), ("c", "A&B"), ("Café", "Café")]),
        ("[[:Kategorie:Mills|all]] [[:Datei:a.jpg|picture]]", []),
        ("'''[[a|''b'']]'''s", [("b", "A")]),
        ("[[a|b {{c}} d]] [[e|{{f}}]]", [("b d", "A"), ("e", "E")]),
        ("[[a|[b]]]", [("[b", "A")]),
        ("[[a|b [[c]] d]]", [("c", "C")]),
        ("[http://x see [[a]] b]", [("a", "A")]),
        ("[[a\u200eb]]  [[ c\u00a0 d ]]", [("ab", "Ab"), ("c d", "C d")]),
        ("[[cafe\u0301]]", [("café", "Café")]),
        ("[[ß]] [[ა]] [[ǆ]]", [("ß", "ß"), ("ა", "ა"), ("ǆ", "Ǆ")]),
        (f"[[{'x' * 300}]]", []),
    ],
)
def test_links(wikitext: str, links: list[tuple[str, str]]) -> None:
    assert shown(wikitext)[1] == links


def test_links_are_in_the_order_of_the_text() -> None:
    page = read_text("[[b]] [[Datei:x.jpg|thumb|[[lost]]]] [[a]] [[c|[[d]]]]", SITE, "Mühle")
    assert [link.title for link in page.links] == ["B", "A", "D"]
    assert page.skipped == {"link in a caption, or in a line that only leads to other pages": 1}


def test_titles_as_the_wiki_has_them() -> None:
    assert SITE.resolve("Probewiki:x") == ("text", "")
    wide = read_site(HEAD.encode(), "probe.xml", "other", (0, 4, 100))
    assert wide.name == "other"
    assert wide.resolve("project:über uns") == ("page", "Probewiki:Über uns")
    assert wide.resolve("portal : mühlen") == ("page", "Portal:mühlen")
    assert upper_first("istanbul", "tr") == "İstanbul"
    assert upper_first("istanbul", "de") == "Istanbul"


def test_named_templates_are_shown() -> None:
    templates = {"Lang": "{2}", "Convert": "{1} {2}", "Ndash": "–", "Note": "{text}"}
    wikitext = "Rome ({{lang|it|''[[Roma (city)|Roma]]''{{x}}}}) 1{{ndash}}2 {{ convert |3|km|mi}} {{note|text=a|b}}"
    page = read_text(wikitext, SITE, "Rome", shown=templates)
    assert page.text == "Rome (Roma) 1–2 3 km a"
    assert [link.title for link in page.links] == ["Roma (city)"]


def test_first_characters_go_on_behind_headings() -> None:
    wikitext = "A [[mill]].\n== Parts ==\n{{box}}\nA [[wheel]] and a [[stone]] of [[granite]].\n== Use ==\nFlour."
    page = read_text(wikitext, SITE, "Mill", characters=29)
    assert page.text == "A mill.\nA wheel and a stone"
    assert [link.title for link in page.links] == ["Mill", "Wheel", "Stone"]
    assert read_text(wikitext, SITE, "Mill", characters=1000).text == "A mill.\nA wheel and a stone of granite.\nFlour."


def test_pipe_trick() -> None:
    assert [pipe_trick(target) for target in ("Portal:Mill (game)", "Oslo, Norway", ":a")] == ["Mill", "Oslo", "a"]


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("''a'' '''b''' '''''c'''''", "a b c"),
        ("''''a''''", "'a'"),
        ("''''''a''''''", "'a'"),
        ("dell'''arte'' x", "dell'arte x"),
        ("c'est l'''a'' b", "c'est l'a b"),
        ("'''a''b", "'ab"),
    ],
)
def test_apostrophes(line: str, plain: str) -> None:
    assert plain_quotes(line) == plain


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("a \0, b", "a, b"),
        ("a, \0, b", "a, b"),
        ("a (b \0) c", "a (b) c"),
        ("a (\0 b) c", "a (b) c"),
        ("a (\0; \0) c", "a c"),
        ("a \0 \0 b", "a b"),
        ("a (b: \0) c", "a (b) c"),
        ("a ('\0') c", "a ('') c"),
    ],
)
def test_tidy(line: str, text: str) -> None:
    assert tidy(line) == text


@pytest.mark.parametrize(
    "wikitext",
    ["{{" * 100_000, "{{a|" * 50_000 + "}}" * 50_000, "[[" * 100_000, "[[a|" * 50_000 + "]]" * 50_000, "<ref>" * 100_000, "<!--" * 100_000,
     "\n{|" * 100_000, "'''" * 100_001, "{{a}}b" * 50_000, "[" * 200_000, "-{" * 100_000, "\n=" * 100_000, "[[File:a.jpg|" * 50_000,
     "&" * 200_000, "<a " * 100_000, "__a" * 100_000, "* [[a]] | " * 20_000, "[http://" * 50_000, "<nowiki>" * 50_000, "{{lang|" * 30_000,
     "\n{|" * 50_000 + "}}x" * 50_000, "a\n" * 200_000,
     "{{lang|" * 3_000 + "}}" * 3_000, "[[a]]{{b}}" * 30_000],
)  # fmt: skip
def test_time_is_linear(wikitext: str) -> None:
    started = time.process_time()
    read_text(wikitext, SITE, "Mill", shown={"Lang": "{2}"})
    assert time.process_time() - started < 20  # a quadratic scan takes minutes
