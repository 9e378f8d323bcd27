"""Each rule takes away what it is for, leaves its neighbour, and counts what it took."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from kgqa.domains import built_in, load_domain
from kgqa.linking.decision import PLACE_RULES
from kgqa.linking.dictionary import NAME_RULES, NO_LINK, build_dictionary
from kgqa.linking.link import Linked, link_mentions
from kgqa.recipes.qangaroo.surface import surface_forms
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
    facts: list[tuple[str, str]] | None = None,
    **settings: Any,
) -> Linked:
    """Link ``names`` in ``texts`` and in the articles ``about``; every letter of ``candidates`` is an entity that can be an answer.

    Unless the settings say otherwise every place links that the rules about names leave, as what is probable is not their question.
    """
    settings = {"belief": 0.0, "language": "", "head_nouns": False, **settings}
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
        "facts": arrow(pl.DataFrame(facts or [], schema={"head": pl.String, "tail": pl.String}, orient="row")),
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


def test_an_article_that_lists_meanings_names_nothing_but_an_answer() -> None:
    pages = {"a": "Point can refer to: a place", "b": "Line can refer to: a row"}
    names = [("a", "point", "title"), ("b", "line", "title")]
    linked = link(names, "a point, a line", about=pages, candidates="b", list_pages="can refer to")
    assert found(linked) == [("b", 11)]
    assert linked.report["names: list of meanings"] == 1


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


def test_every_rule_is_counted_and_has_a_sentence() -> None:
    report = link([ANCHOR], "anchor").report
    assert set(report) == {f"names: {rule}" for rule in NAME_RULES} | {f"places: {rule}" for rule in PLACE_RULES}
    assert all(sentence.strip() for sentence in (*NAME_RULES.values(), *PLACE_RULES.values()))


@pytest.mark.parametrize("domain", built_in())
def test_no_domain_lists_names(domain: str) -> None:
    assert not load_domain(domain).settings.linking.exclude_names


def places(table: pa.Table) -> list[tuple[str, int]]:
    return [(row["entity"], row["start"]) for row in table.to_pylist()]


def test_a_candidates_name_that_makes_no_link_is_seen_all_the_same() -> None:
    names = [("A", "Sirolimus", "label"), ("A", "Rapa", "alias"), ("B", "Rapamune", "label"), ("B", "Ra", "alias")]
    linked = link(names, "Ra or Rapa or Rapamune", candidates="A", minimum_letters={"alias": 5})
    assert places(linked.mentions) == [("B", 14)]
    assert places(linked.occurrences) == [("A", 6)]


def test_an_everyday_alias_is_stated_as_the_table_writes_it_and_an_excluded_name_is_not() -> None:
    names = [("A", "Menthol", "label"), ("A", "Body", "alias"), ("A", "Xyzzy", "alias"), ("A", "Xy", "alias")]
    linked = link(names, "Body, body, Xyzzy, xy and Xy", "Menthol", candidates="A", exclude_names=["xyzzy"], minimum_letters={"alias": 5})
    assert [row["start"] for row in linked.occurrences.to_pylist() if row["document"] == "d0"] == [0, 26]


def test_a_name_that_is_only_seen_hides_no_other() -> None:
    names = [("A", "New York", "alias"), ("A", "Gotham", "label"), ("B", "York", "label")]
    linked = link(names, "in New York", candidates="A", minimum_letters={"alias": 20})
    assert places(linked.mentions) == [("B", 7)]
    assert places(linked.occurrences) == [("A", 3)]


def test_a_name_that_makes_no_link_has_no_rank() -> None:
    entities = arrow(pl.DataFrame({"id": ["a", "b"], "kind": "", "description": ""}))
    names = arrow(pl.DataFrame({"entity": ["a", "b"], "name": ["Go", "Zed Anchor"], "source": ["label", "title"]}))
    settings = LinkingSettings.model_validate({"minimum_letters": {"label": 3}, "shared": {"prefer_sources": ["title", "label"]}})
    dictionary = build_dictionary(names, entities, settings, np.array([True, True]))
    assert dictionary.names.filter(~pl.col("links"))["rank"].unique().to_list() == [NO_LINK]


def test_in_another_language_names_are_the_only_surface_forms() -> None:
    tables = {
        "entities": arrow(pl.DataFrame({"id": ["a"], "label": ["Poland"]})),
        "names": arrow(pl.DataFrame({"entity": ["a"], "name": ["in"]})),
        "documents": arrow(pl.DataFrame({"id": ["d"], "text": [""]})),
        "mentions": arrow(pl.DataFrame(schema={"document": pl.String, "entity": pl.String, "start": pl.Int32, "end": pl.Int32})),
    }
    expected = np.array([True])
    assert {"Polands", "Polish"} <= set(surface_forms(tables, expected, language="en")["form"])
    assert surface_forms(tables, expected, language="")["form"].to_list() == ["Poland", "in"]


def test_names_that_are_all_shared_are_no_empty_result() -> None:
    linked = link([("a", "insulin", "name"), ("b", "insulin", "name")], "insulin")
    assert (found(linked), linked.report["places: shared name"]) == ([], 1)
