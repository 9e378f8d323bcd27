"""What may be written next in a query: what fits there, and nothing where nothing does."""

from __future__ import annotations

import pytest

from kgqa.store.cypher import check_reads_only
from kgqa.store.queries import read_queries
from kgqa.store.schema import graph_schema
from kgqa.web.explore.completion import SUGGESTED, WORDS, Completion, complete

SCHEMA = graph_schema()
QUERIES = {name: query for name, query in read_queries().items() if name in {"facts_about", "hubs"}}


def told(text: str, given: tuple[str, ...] = ()) -> Completion:
    """What is suggested where ``|`` stands in ``text``."""
    at = text.index("|")
    return complete(text[:at] + text[at + 1 :], at, SCHEMA, queries=QUERIES, parameters=given)


def words(text: str, given: tuple[str, ...] = ()) -> list[str]:
    """The words of it."""
    return [each.word for each in told(text, given).suggestions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MATCH (e:|", list(SCHEMA.labels)),
        ("MATCH (e: |", list(SCHEMA.labels)),
        ("MATCH (e:en|", ["Entity"]),
        ("MATCH (e:Entity|", []),  # there is nothing to add
        ("MATCH (e:Entity)-[f:|", list(SCHEMA.types)),
        ("MATCH (e:Entity)-[:FACT|A|", ["ABOUT", "ASKS_ABOUT", "ANSWER"]),
        ("MATCH (e:Entity)-[f:f|]->(o)", ["FACT"]),
        ("MATCH (e:Entity)-[f:FACT]->(o) WHERE f.|", list(SCHEMA.types["FACT"])),
        ("MATCH (e:Entity) WHERE e.la|", ["label"]),
        ("MATCH (e:Entity {i|", ["id"]),
        ("MATCH (e:Entity {id: 'Q45', la|", ["label"]),
        ("MATCH (d:Document)-[m:MENTIONS {|", ["count", "start", "stop"]),
        ("MATCH (e:Entity) WHERE e:Doc|", ["Document"]),
        ("MATCH (e) WHERE e.tit|", ["title"]),
        ("MATCH p = (a)-[*1.|", []),
        ("MATCH (a)-[*..|", []),
        ("MATCH (e) WHERE e.id = 'Q4|", []),
        ("MATCH (e) WHERE e.label = \"it's (a:|", []),
        ("MATCH (e) WHERE e.label = 'it\\'s' AND e.x = $|", ["id"]),
        ("MATCH (e) // (e:|", []),
        ("MATCH (e) // (e\nMATCH (o:Ent|", ["Entity"]),
        ("MATCH (e) /* (e:|", []),
        ("MATCH (`e:|", []),
        ("|", []),
        ("MATCH (entity:Entity) RETURN enti|", ["entity"]),
        ("MATCH (e:Entity) WITH e.label AS called RETURN cal|", ["called"]),
        ("MATCH way = (a)-->(b) RETURN wa|", ["way"]),
    ],
)
def test_what_fits_is_suggested(text: str, expected: list[str]) -> None:
    if text.count("|") == 2:  # one of them is Cypher's
        at = text.rindex("|")
        items = [each.word for each in complete(text[:at], at, SCHEMA, queries=QUERIES, parameters=("id",)).suggestions]
    else:
        items = words(text, ("id",))
    assert items == expected[:SUGGESTED]


def test_words_of_cypher_are_those_that_read() -> None:
    assert words("mat|")[0] == "MATCH"
    assert {"CREATE", "SET", "DELETE", "MERGE", "CALL", "LOAD"}.isdisjoint(WORDS)
    check_reads_only("MATCH (n) RETURN n")
    for prefix in ("cre", "del", "mer", "detach"):
        assert not [word for word in words(f"MATCH (n) {prefix}|") if word.isupper() and word.lower().startswith(prefix)]


def test_a_named_query_is_one_word_alone() -> None:
    assert [(each.word, each.kind) for each in told("facts_a|").suggestions] == [("facts_about", "query")]
    assert "hubs" in words("ub|")
    assert words("MATCH facts_a|") == []


def test_the_place_is_counted_in_characters() -> None:
    text = "MATCH (e:Entity) WHERE e.label = '\U0001f600国' AND e.la"
    result = complete(text, len(text), SCHEMA, queries=QUERIES)
    assert (result.begun, [each.word for each in result.suggestions]) == ("la", ["label"])


def test_a_place_behind_the_end_is_the_end() -> None:
    assert complete("MATCH (e:En", 999, SCHEMA, queries=QUERIES).begun == "En"
