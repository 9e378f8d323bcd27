"""Each rule takes away what it is for, leaves its neighbour, and counts what it took."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pydantic import ValidationError

from kgqa.domains import built_in, load_domain
from kgqa.linking.dictionary import NAME_RULES
from kgqa.linking.link import Linked, link_mentions
from kgqa.linking.places import PLACE_RULES
from kgqa.linking.usage import small_shares
from kgqa.settings.linking import LinkingSettings
from kgqa.settings.source import DocumentSettings
from kgqa.sources.tables import arrow, frame

Names = list[tuple[str, str, str]]
"""Entity, name, source."""


def link(
    names: Names,
    *texts: str,
    about: dict[str, str] | None = None,
    kinds: dict[str, str] | None = None,
    candidates: str = "",
    described: bool = True,
    **settings: Any,
) -> Linked:
    """Link ``names`` in ``texts`` and in the articles ``about``; every letter of ``candidates`` is an entity that can be an answer."""
    ids = sorted({entity for entity, _, _ in names})
    kind = kinds or {}
    entities = pl.DataFrame(
        {
            "id": ids,
            "kind": [kind.get(entity, "entity") for entity in ids],
            "label": ids,
            "description": ["described" if described else ""] * len(ids),
        }
    )
    articles = about or {}
    documents = pl.DataFrame(
        {
            "id": [f"d{i}" for i in range(len(texts))] + [f"about {entity}" for entity in articles],
            "title": [""] * (len(texts) + len(articles)),
            "about": [None] * len(texts) + list(articles),
            "text": [*texts, *articles.values()],
        },
        schema={"id": pl.String, "title": pl.String, "about": pl.String, "text": pl.String},
    )
    tables = {
        "entities": arrow(entities),
        "names": arrow(pl.DataFrame(names, schema=["entity", "name", "source"], orient="row")),
        "documents": arrow(documents),
    }
    mask = np.array([entity in candidates for entity in ids])
    return link_mentions(tables, LinkingSettings.model_validate(settings), DocumentSettings(), candidates=mask)


def found(linked: Linked, document: str = "d0") -> list[tuple[str, int]]:
    """Entity and place of the mentions in one document."""
    rows = frame(linked.mentions).filter(pl.col("document") == document)
    return list(zip(rows["entity"], rows["start"], strict=True))


ANCHOR = ("z", "anchor", "other")
"""A name that no rule speaks against: without any mention linking raises an error."""


def test_excluded_name_in_any_case() -> None:
    linked = link([("a", "Cyclin", "name"), ("b", "cyclin B1", "name")], "cyclin, CYCLIN, cyclin B1", exclude_names=["CYCLIN"])
    assert found(linked) == [("b", 16)]
    assert linked.report["names: excluded name"] == 1


def test_names_without_a_letter() -> None:
    names = [("a", "1984", "name"), ANCHOR]
    assert found(link(names, "1984 anchor")) == [("z", 5)]
    assert found(link(names, "1984 anchor", keep_numbers=True)) == [("a", 0), ("z", 5)]


def test_short_names_by_source() -> None:
    linked = link([("a", "E2-", "synonym"), ("b", "E2", "gene"), ANCHOR], "E2 anchor", minimum_letters={"synonym": 3, "gene": 2})
    assert found(linked) == [("b", 0), ("z", 3)]
    assert linked.report["names: too short"] == 1


def test_undescribed_single_words() -> None:
    names = [("a", "Born", "label"), ("b", "Born in Flames", "label"), ("c", "Jura", "title"), ("c", "Giura", "label")]
    linked = link(names, "Born in Flames. Born, Giura", described=False, undescribed_words=True)
    assert found(linked) == [("b", 0), ("c", 22)]
    assert linked.report["names: undescribed"] == 1
    assert ("a", 16) in found(link(names, "Born in Flames. Born, Giura", described=True, undescribed_words=True))


def test_an_article_that_lists_meanings_names_nothing_but_an_answer() -> None:
    pages = {"a": "Point can refer to: a place", "b": "Line can refer to: a row"}
    names = [("a", "point", "title"), ("b", "line", "title")]
    linked = link(names, "a point, a line", about=pages, candidates="b", list_pages="can refer to")
    assert found(linked) == [("b", 11)]
    assert linked.report["names: list of meanings"] == 1


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, "ce"),
        ({"keep": ["body"]}, "ace"),
        ({"kinds": ["protein"]}, "abce"),
        ({"sources": ["name"]}, "abde"),
        ({"words": ["adriamycin"]}, "c"),
        ({"spare_candidates": True}, "bce"),
    ],
)
def test_plain_words(change: dict[str, Any], kept: str) -> None:
    names = [("a", "Body", "synonym"), ("b", "the Care", "synonym"), ("c", "Water", "name"), ("d", "Same", "synonym")]
    names.append(("e", "Adriamycin", "synonym"))
    rule = {"zipf": 4.0, "sources": ["synonym"], **change}
    text = "body, the care, water, same, adriamycin, anchor"
    linked = link([*names, ANCHOR], text, kinds={"d": "protein"}, candidates="b", plain_words=[rule])
    assert [entity for entity, _ in found(linked)] == [*kept, "z"]
    assert linked.report["names: plain word"] == len(names) - len(kept)


def test_mostly_small_words_are_no_names() -> None:
    names = [("a", "Covers", "title"), ("b", "London", "title"), ("c", "The Covers", "title")]
    text = "Covers. It covers much; she covers London and no london but London. The Covers sang"
    strict = link(names, text, case={"title": "exact"}, small_share=0.5)
    assert [entity for entity, _ in found(strict)] == ["b", "b"]
    assert strict.report["names: mostly small"] == 2
    assert [entity for entity, _ in found(link(names, text, case={"title": "exact"}, small_share=1.0))] == ["a", "b", "b", "c"]


def test_small_shares_leave_out_the_beginning_of_a_sentence() -> None:
    texts = pa.chunked_array([["May rains. May is wet; in May it may, it may. Ünder", "Nice. nice"]])
    words = pa.chunked_array([["May", "Nice", "Unseen", "Ünder"]])
    assert small_shares(words, texts).tolist() == [pytest.approx(2 / 3), 1.0, 0.0, 0.0]


def test_shortened_titles_are_shared_for_answers_and_gone_for_others() -> None:
    names = [("a", "Union (war)", "title"), ("a", "Union", "label"), ("b", "Barrel (unit)", "title"), ("b", "Barrel", "label"), ANCHOR]
    linked = link(names, "Union Barrel anchor", candidates="a", shortened_titles=r" \(.*\)")
    assert found(linked) == [("z", 13)]
    assert linked.report["names: shortened title"] == 2
    assert linked.report["places: shared name"] == 1
    assert [entity for entity, _ in found(link(names, "Union Barrel anchor", candidates="a"))] == ["a", "b", "z"]


def test_what_a_title_adds_must_be_all_of_the_rest() -> None:
    linked = link([("a", "York (city) wall", "title"), ("a", "York", "label")], "York", shortened_titles=r" \(.*\)")
    assert found(linked) == [("a", 0)]


def test_names_of_others_are_stated_but_not_linked() -> None:
    linked = link([("a", "French", "label"), ANCHOR], "French anchor", candidates="a", shared={"others": ["french"]})
    assert found(linked) == [("z", 7)]
    assert frame(linked.occurrences).select("entity", "start").rows() == [("a", 0)]


def test_shared_names_and_who_is_preferred() -> None:
    names = [("a", "insulin", "synonym"), ("b", "insulin", "name"), ANCHOR]
    plain = link(names, "insulin anchor")
    assert (found(plain), plain.report["places: shared name"]) == ([("z", 8)], 1)
    assert found(link(names, "insulin anchor", shared={"prefer_sources": ["name"]})) == [("b", 0), ("z", 8)]
    by_kind = link(names, "insulin anchor", kinds={"a": "protein"}, shared={"prefer_kinds": ["protein"], "prefer_sources": ["name"]})
    assert found(by_kind) == [("a", 0), ("z", 8)]


def test_case_of_short_and_long_names() -> None:
    names = [("a", "KIT", "gene"), ("b", "Impact", "gene"), ("c", "Warfarin", "name"), ("d", "Paris", "title")]
    linked = link(names, "kit KIT impact Impact WARFARIN paris PARIS", case={"gene": "exact", "title": "initial"}, exact_letters=3)
    assert found(linked) == [("a", 4), ("b", 15), ("c", 22), ("d", 31)]


@pytest.mark.parametrize(
    ("names", "article", "candidate", "expected"),
    [
        ([("a", "Commune", "title")], "A commune is small.", False, True),
        ([("a", "Reached", "title")], "Reached is a book.", False, False),
        ([("a", "Friends", "title")], "Six friends live there.", True, False),
        ([("a", "Car", "title"), ("a", "automobile", "label")], "A car has wheels.", True, True),
        ([("a", "Village", "title"), ("a", "village", "label")], "", True, True),
    ],
)
def test_small_first_letter_as_written(names: Names, article: str, candidate: bool, expected: bool) -> None:
    small = names[0][1].lower()
    case = {"title": "as_written", "label": "as_written"}
    linked = link([*names, ANCHOR], f"the {small} anchor", about={"a": article}, candidates="a" if candidate else "", case=case)
    assert (("a", 4) in found(linked)) is expected
    assert found(link([*names, ANCHOR], f"the {names[0][1]} anchor", case=case))[0] == ("a", 4)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("They call me Trinity.", True),
        ("the film Call Me Trinity", False),
        ("a Trinity College", False),
        ("the Smith-Trinity", False),
        ("In Trinity there", True),
        ("Bob Trinity there", False),
        ("He left. In Trinity", True),
        ("born in Rome, Trinity", True),
    ],
)
def test_part_of_a_longer_name(text: str, whole: bool) -> None:
    names = [("a", "Trinity", "title"), ("b", "New York", "title")]
    linked = link(names, text, "Big New York City", whole_names=True)
    assert bool(found(linked)) is whole
    assert found(linked, "d1") == [("b", 4)]
    assert linked.report["places: part of a name"] == (0 if whole else 1)


def test_short_names_need_support() -> None:
    names = [("a", "AR", "gene"), ("a", "androgen receptor", "synonym"), ("b", "VEGF", "synonym"), ("c", "MB", "gene")]
    names += [("d", "p39", "synonym"), ("e", "HER2", "synonym")]
    support = {"letters": {"gene": 3, "synonym": 4}, "with_digit": {"synonym": 3}, "keep": ["VEGF"]}
    linked = link(names, "AR, an androgen receptor", "AR and VEGF", "MB and p39 and AR, HER2", support=support)
    assert [found(linked, f"d{i}") for i in range(3)] == [[("a", 0), ("a", 7)], [("b", 7)], [("e", 19)]]
    assert linked.report["places: unsupported"] == 4
    assert len(frame(link(names, "AR MB p39").mentions)) == 3


def test_every_rule_is_counted_and_has_a_sentence() -> None:
    report = link([ANCHOR], "anchor").report
    assert set(report) == {f"names: {rule}" for rule in NAME_RULES} | {f"places: {rule}" for rule in PLACE_RULES}
    assert all(sentence.strip() for sentence in (*NAME_RULES.values(), *PLACE_RULES.values()))


@pytest.mark.parametrize("domain", built_in())
def test_no_setting_of_a_domain_contradicts_itself(domain: str) -> None:
    settings = load_domain(domain).settings.linking
    for words in settings.plain_words:
        assert not set(words.words) & set(words.keep)
        assert all(word == word.lower() for word in (*words.words, *words.keep))
        assert len(set(words.keep)) == len(words.keep)
    assert all(name == name.lower() for name in (*settings.exclude_names, *settings.shared.others))


def test_misspelt_rules_are_errors() -> None:
    with pytest.raises(ValidationError):
        LinkingSettings.model_validate({"small_shares": 0.5})


def places(table: pa.Table) -> list[tuple[str, int]]:
    return [(row["entity"], row["start"]) for row in table.to_pylist()]


def test_a_candidates_name_that_makes_no_link_is_seen_all_the_same() -> None:
    names = [("A", "Sirolimus", "label"), ("A", "Rapa", "alias"), ("B", "Rapamune", "label"), ("B", "Ra", "alias")]
    linked = link(names, "Ra or Rapa or Rapamune", candidates="A", minimum_letters={"alias": 5})
    assert places(linked.mentions) == [("B", 14)]
    assert places(linked.occurrences) == [("A", 6)]


def test_an_everyday_word_or_an_excluded_name_states_nobody() -> None:
    words = [{"zipf": 4.0, "sources": ["alias"]}]
    names = [("A", "Menthol", "label"), ("A", "Body", "alias"), ("A", "Xyzzy", "alias")]
    linked = link(names, "Body and Xyzzy", "Menthol", candidates="A", plain_words=words, exclude_names=["xyzzy"])
    assert [row["document"] for row in linked.occurrences.to_pylist()] == ["d1"]


def test_a_name_that_is_only_seen_hides_no_other() -> None:
    names = [("A", "New York", "alias"), ("A", "Gotham", "label"), ("B", "York", "label")]
    linked = link(names, "in New York", candidates="A", minimum_letters={"alias": 20})
    assert places(linked.mentions) == [("B", 7)]
    assert places(linked.occurrences) == [("A", 3)]
