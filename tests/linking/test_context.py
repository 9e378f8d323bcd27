"""What stands around a name decides: facts, other names, capitals; and nothing that is strange about the tables breaks it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from kgqa.linking.forms import plural
from kgqa.linking.link import Linked
from kgqa.linking.trie import build_trie
from kgqa.linking.usage import usage
from kgqa.sources.tables import frame
from tests.linking.test_dictionary import Names, found, link

WIKI: dict[str, Any] = {"language": "en", "belief": 0.5, "case": {"title": "as_written", "label": "as_written", "alias": "exact"}}
FILLER = "The river runs through the valley. In the valley the people of the village sing, in the valley, and the village is old."


def wiki(names: Names, *texts: str, **others: Any) -> Linked:
    settings = {**WIKI, "shared": {"prefer_sources": ["title", "label"]}, **others}
    return link(names, *texts, *[FILLER] * 10, **settings)


SPRINGFIELD: Names = [
    ("a", "Springfield", "label"),
    ("b", "Springfield", "label"),
    ("c", "Lake Omega", "title"),
    ("d", "Mount Alpha", "title"),
]


def test_a_fact_with_what_the_document_mentions_decides_a_shared_name() -> None:
    facts = [("a", "c"), ("b", "d")] + [("c", f"x{i}") for i in range(3)]
    texts = ["Springfield is near Lake Omega.", "She left Springfield for Mount Alpha."]
    linked = wiki(SPRINGFIELD, *texts * 8, facts=facts, belief=0.2)
    assert ("b", 0) not in found(linked, "d0")
    assert ("a", 9) not in found(linked, "d1")


def test_a_fact_with_the_subject_decides_a_shared_name() -> None:
    names: Names = [("a", "Springfield", "label"), ("b", "Springfield", "label"), ("s", "Ada Quimby", "title"), ("t", "Bo Lane", "title")]
    about = {"s": "Ada Quimby is the mayor of Springfield.", "t": "Bo Lane sings in Springfield."}
    linked = wiki(names, about=about, facts=[("s", "a"), ("t", "b")], belief=0.3)
    assert ("a", 27) in found(linked, "about s")
    assert ("b", 17) in found(linked, "about t")


def test_the_article_is_no_part_of_a_name_and_its_bearers_compete() -> None:
    names: Names = [("old", "the United Realm", "alias"), ("new", "United Realm", "title"), ("old", "Old Realm", "title")]
    linked = wiki(names, "He lives in the United Realm today.")
    assert found(linked) == [("new", 16)]


def test_items_of_a_list_are_no_index_form() -> None:
    names: Names = [("m", "Malkovich, John", "alias"), ("m", "John Malkovich", "title"), ("c", "John Cusack", "title")]
    linked = wiki(names, "It stars Cameron Malkovich, John Cusack and others.")
    assert found(linked) == [("c", 28)]
    assert linked.report["names: index form"] == 1


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("She visited Valdoria in May.", True),
        ("In Valdoria it rains.", True),
        ("She met Kim Valdoria there.", False),
        ("the Valdoria Valley is green", False),
        ("the old Valdoria-Xanten line", False),
    ],
)
def test_a_capitalised_neighbour_goes_on_with_a_name(text: str, links: bool) -> None:
    linked = wiki([("v", "Valdoria", "title"), ("z", "Zed Anchor", "title"), ("y", "in valley", "title")], text, "Zed Anchor")
    assert bool(found(linked)) is links


SCOTS: Names = [("s", "Scotland", "title"), ("p", "Scottish Pound", "title"), ("a", "actor", "label"), ("a", "Actor", "title")]


def test_forms_of_a_candidates_name_are_stated_and_only_the_plural_of_a_noun_links() -> None:
    linked = wiki(SCOTS, "Scottish actors act in Scotland.", candidates="sa", belief=0.0)
    stated = {(row["entity"], row["start"]) for row in linked.occurrences.to_pylist() if row["document"] == "d0"}
    assert stated == {("s", 0), ("a", 9), ("s", 23)}
    assert found(linked) == [("a", 9), ("s", 23)]


def test_another_language_has_no_forms() -> None:
    linked = wiki(SCOTS, "Scottish actors act in Scotland.", candidates="sa", belief=0.0, language="")
    assert {row["start"] for row in linked.occurrences.to_pylist() if row["document"] == "d0"} == {23}


def test_plurals() -> None:
    nouns = pl.DataFrame({"name": ["actor", "city", "boy", "church", "box", "Paris", "IL-2", "DNA"]})
    assert nouns.select(plural(pl.col("name")))["name"].to_list() == ["actors", "cities", "boys", "churches", "boxes", None, None, None]


RECEPTORS: Names = [
    *((f"l{i}", f"ligand{i}", "name") for i in range(6)),
    *((f"r{i}", f"ligand{i} receptor", "name") for i in range(5)),
]


def test_a_ligand_in_its_receptors_name_is_no_mention() -> None:
    text = "ligand5 binds the ligand5 receptor, the ligand5-binding receptor and anti-ligand5; ligand5 rests"
    linked = link(RECEPTORS, text, head_nouns=True)
    assert [start for _, start in found(linked)] == [0, 83]
    assert linked.report["places: longer name"] == 3
    assert len(found(link(RECEPTORS, text))) == 5


@pytest.mark.parametrize("name", ["world", "the world"])
def test_no_fact_makes_a_mention_of_an_everyday_word_in_many_documents(name: str) -> None:
    names: Names = [("p", "Planet", "label"), ("p", name, "alias"), ("c", "Calendar Hall", "title")]
    about = {"c": "The Calendar Hall is the oldest in the world."}
    for facts in ([], [("c", "p")]):
        linked = wiki(names, *["In the world he was young."] * 60, about=about, facts=facts, belief=0.0)
        assert [entity for entity, _ in found(linked, "about c")] == ["c"]
        assert found(linked) == []
        assert linked.report["places: everyday bridge"] == 61
    assert len(found(wiki(names, *["In the world he was young."] * 60, about=about, belief=0.0, hubs=1.0))) == 1


def test_an_everyday_word_is_counted_once_in_a_document() -> None:
    names: Names = [("y", "year", "label"), ("z", "Zed Anchor", "title")]
    linked = wiki(names, *["That year Zed Anchor began the year and Zed Anchor ended the year."] * 15, belief=0.0)
    assert linked.report["places: everyday bridge"] == 0


def test_what_is_everywhere_and_never_has_to_do_with_the_subject_is_no_bridge() -> None:
    names: Names = [("m", "Maytide", "label"), ("v", "Valdoria", "label"), *((f"s{i}", f"Person {i}", "title") for i in range(250))]
    about = {f"s{i}": f"Person {i} left Valdoria in Maytide." for i in range(250)}
    facts = [(f"s{i}", "v") for i in range(0, 250, 10)]
    linked = wiki(names, about=about, facts=[*facts, ("s3", "m")], belief=0.0)
    mentioned = frame(linked.links).group_by("entity").len()
    assert dict(mentioned.filter(pl.col("entity").is_in(["m", "v"])).rows()) == {"m": 1, "v": 250}
    assert found(linked, "about s3")[-1][0] == "m"
    assert linked.report["places: everyday bridge"] == 249
    assert wiki(names, about=about, belief=0.0).report["places: everyday bridge"] == 0  # no fact says what has to do with what


def test_what_many_are_is_not_what_one_is_called() -> None:
    kinases: Names = [(f"k{i}", f"kind {i} protein kinase", "name") for i in range(40)]
    names: Names = [*kinases, ("k0", "protein kinase", "alias"), ("k1", "ruby kinase", "alias"), ("z", "Zed Anchor", "title")]
    settings: dict[str, Any] = {"shared": {"prefer_sources": ["title", "name"]}, "belief": 0.4}
    linked = link(names, "A protein kinase and a ruby kinase met Zed Anchor.", *[FILLER] * 10, **settings)
    assert found(linked) == [("k1", 23), ("z", 39)]


def test_a_part_of_a_longer_name_is_none_even_if_the_next_word_is_one() -> None:
    names: Names = [("v", "Valdoria", "label"), ("c", "County", "title"), ("c", "county", "label"), ("z", "Zed Anchor", "title")]
    linked = wiki(names, "He lives in Valdoria County.", "The county is small, and a county is a county.", *["The county, a county."] * 9)
    assert ("v", 12) not in found(linked)


@pytest.mark.parametrize(
    ("names", "text", "filler"),
    [
        (["القاهرة", "مصر", "نهر النيل"], "تقع القاهرة في مصر على نهر النيل", "كان الناس في القرية القديمة"),
        (["北京", "中国", "长江"], "北京是中国的首都，长江很长。", "人们在村子里唱歌。"),
    ],
    ids=["Arabic", "Chinese"],
)
@pytest.mark.parametrize("source", ["title", "alias"])
def test_in_a_script_without_capitals_none_is_missed(names: list[str], text: str, filler: str, source: str) -> None:
    settings: dict[str, Any] = {**WIKI, "language": "", "articles": "", "shared": {"prefer_sources": ["title", "label"]}}
    linked = link([(name, name, source) for name in names], text, *[filler] * 10, **settings)
    assert found(linked) == [(name, text.index(name)) for name in names]


def test_usage_leaves_out_the_beginning_of_a_sentence() -> None:
    texts = pa.chunked_array([["May rains. May is wet; in May it may, it may. Ünder", "Nice. nice"]])
    trie, _ = build_trie(pa.chunked_array([["May", "Nice", "Unseen"]]))
    log = usage(trie, texts)
    assert sorted(zip(log.small[:3].tolist(), log.capital[:3].tolist(), strict=True)) == [(0, 0), (1, 0), (2, 1)]


@pytest.mark.parametrize(
    "names",
    [
        [("a", f"Alias number {i}", "alias") for i in range(10_000)],
        [(f"e{i}", "Common Name", "label") for i in range(100)] + [("z", "Zed Anchor", "title")],
        [("a", "A", "label"), ("b", "B", "label"), ("b", "Bee Line", "title")],
        [("a", "...", "label"), ("b", "?!", "title"), ("b", "Bee Line", "title")],
        [("a", "東京", "label"), ("b", "Москва", "label")],
    ],
    ids=["10,000 aliases", "100 bearers", "one letter", "punctuation", "other scripts"],
)
def test_strange_names_are_no_error(names: Names) -> None:
    text = "Alias number 17, Common Name, A and B, ... ?! Bee Line, Zed Anchor, 東京, Москва"
    for described in (True, False):
        linked = link(names, text, described=described, candidates="ab", language="en", belief=0.0)
        assert len(found(linked))
        rows = frame(linked.mentions)
        assert (rows["start"] < rows["end"]).all()


def test_one_document_and_no_facts_are_enough() -> None:
    assert found(link([("a", "Zed Anchor", "title")], "Zed Anchor", language="en", belief=0.5)) == [("a", 0)]


def test_no_fact_makes_a_mention_of_a_common_phrase_that_is_everywhere() -> None:
    names: Names = [("e", "Earth", "label"), ("e", "the world", "label"), ("v", "Valdoria", "label")]
    names += [(f"s{i}", f"Person {i}", "title") for i in range(250)]
    about = {f"s{i}": f"Person {i} of Valdoria was the oldest in the world." for i in range(250)}
    facts = [(f"s{i}", "v") for i in range(0, 250, 10)]
    linked = wiki(names, about=about, facts=[*facts, ("s3", "e")], belief=0.0)
    assert "e" not in {entity for entity, _ in found(linked, "about s3")}
    assert linked.report["places: everyday bridge"] == 250


def test_what_has_no_capitals_keeps_the_fact_that_makes_it_a_mention() -> None:
    names: Names = [("m", "五月", "label"), ("v", "江州", "label"), *((f"s{i}", f"人物{i}", "title") for i in range(250))]
    about = {f"s{i}": f"人物{i}五月离开江州。" for i in range(250)}
    facts = [(f"s{i}", "v") for i in range(0, 250, 10)]
    linked = wiki(names, about=about, facts=[*facts, ("s3", "m")], belief=0.0)
    assert "m" in {entity for entity, _ in found(linked, "about s3")}
