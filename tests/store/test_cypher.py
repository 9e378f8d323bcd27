"""Statements that only read pass, and everything else is refused before an engine sees it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import KgqaError, QueryError
from kgqa.store.cypher import WRITING, check_own_query, check_reads_only, limited
from kgqa.store.queries import askable_queries, read_queries
from tests.store.graphs import ad_hoc

NAMES = st.sampled_from(["n", "e1", "größe", "_x", "`create`", "`a b`", "`back``tick`"])
TEXTS = st.sampled_from(["'x'", "'it\\'s'", '"CREATE (n)"', "'; DROP TABLE x'", "'// no comment'", "'/*'", "'`'", '"\'"'])
SPACES = st.sampled_from([" ", "\n", "\t", " // SET x\n", " /* DELETE n; ' */ ", "\r\n"])
VALUES = st.one_of(
    TEXTS,
    NAMES.map(lambda name: f"{name}.load"),
    NAMES,
    st.sampled_from(
        ["1", "-2.5", "1e5", "0xFF", "1_000", "true", "null", "$set", "$`my set`", "[1, 2]", "{set: 1, create: 'x'}", "count(*)"]
    ),
    st.sampled_from(
        ["[x IN [1, 2] WHERE x > 1 | x + 1]", "CASE WHEN n.a IS NOT NULL THEN 1 ELSE 2 END", "n.xs[1..2]", "EXISTS { MATCH (n) }"]
    ),
    st.sampled_from(["reduce(a = 0, x IN n.xs | a + x)", "all(x IN n.xs WHERE x > 1)", "n {.id, .set}", "n:Entity", "CAST(n.a AS STRING)"]),
    st.sampled_from(
        ["n.a STARTS WITH 'x' AND NOT n.b ENDS WITH 'y' XOR n.c CONTAINS 'z'", "n.a IN ['SET'] OR n.b = 5!", "COUNT { (n)--() }"]
    ),
)
PATTERNS = st.sampled_from(
    [
        "(n:Entity)", "(n:`Set`)-[:LOAD]->(m)", "(n)<-[f:FACT|`Set`*1..3]-(m:Entity {set: 1})", "p = (n)-[*]-()", "(n)-->()",
        "(a)-[f:FACT* ALL SHORTEST 1..2]->(b)", "(a)-[f:FACT* SHORTEST 1..2 (r, x | WHERE r.row > 1)]->(b)", "((a)-[:R]->(b)){1,3}",
        "shortestPath((a)-[*..5]-(b))", "(n:A|B&!C)",
    ]
)  # fmt: skip


@st.composite
def reading_clause(draw: st.DrawFn) -> str:
    """One clause that reads, other than the last."""
    where = draw(st.sampled_from(["", "WHERE {0} = {1}", "WHERE NOT {0}"])).format(draw(VALUES), draw(VALUES))
    return draw(
        st.sampled_from(
            [
                f"MATCH {draw(PATTERNS)}, {draw(PATTERNS)} {where}",
                f"OPTIONAL MATCH {draw(PATTERNS)} {where}",
                f"UNWIND {draw(VALUES)} AS {draw(NAMES)}",
                f"WITH DISTINCT {draw(VALUES)} AS {draw(NAMES)} ORDER BY {draw(VALUES)} DESC SKIP 1 LIMIT 2 {where}",
                "WITH *",
                f"WITH *, {draw(VALUES)} AS n",
            ]
        )
    )


@st.composite
def clauses(draw: st.DrawFn) -> list[str]:
    """A statement made of clauses that read."""
    ends = st.sampled_from(["RETURN *", "RETURN DISTINCT n.id AS id ORDER BY n.row ASC, n.id LIMIT 5", "RETURN count(*), collect(n) AS ns"])
    one = [*draw(st.lists(reading_clause(), max_size=4)), draw(ends)]
    return [*one, draw(st.sampled_from(["UNION", "UNION ALL"])), draw(reading_clause()), draw(ends)] if draw(st.booleans()) else one


def joined(draw: st.DataObject, parts: list[str]) -> str:
    """``parts`` with white space and comments between them."""
    return "".join(draw.draw(SPACES) + part for part in parts) + draw.draw(st.sampled_from(["", " ;", " // end", "; /* end */"]))


@given(st.data(), clauses())
def test_whatever_is_made_of_reading_clauses_passes(data: st.DataObject, parts: list[str]) -> None:
    check_reads_only(joined(data, parts))


@given(st.data(), clauses())
def test_a_limit_is_added_where_none_is(data: st.DataObject, parts: list[str]) -> None:
    text = joined(data, parts)
    more = limited(text, 11)
    check_reads_only(more)
    if {"UNION", "UNION ALL"} & set(parts) or parts[-1].endswith("LIMIT 5"):
        assert more == text
    else:
        assert re.search(r"\nLIMIT 11$", more)
        assert text.startswith(more.removesuffix("\nLIMIT 11"))


@pytest.mark.parametrize(
    "text",
    [
        "CALL show_tables() RETURN *",
        "EXPLAIN MATCH (n) RETURN n",
        "MATCH (n) RETURN n SKIP 1 LIMIT $n ;",
        "MATCH (n) RETURN n.id AS a UNION ALL MATCH (n) RETURN n.row AS a // end",
    ],
)
def test_what_takes_no_further_limit_stays_as_it_is(text: str) -> None:
    assert limited(text, 11) == text


def test_limits_within_are_none_of_the_whole() -> None:
    text = "MATCH (n) WHERE COUNT { MATCH (m) RETURN m LIMIT 2 } > 1 WITH n LIMIT 3 RETURN n.`limit`, [x IN [1] | x] ORDER BY n.row"
    assert limited(f"{text}; // LIMIT 1", 11) == f"{text}\nLIMIT 11"


@given(st.data(), clauses(), st.sampled_from(sorted(WRITING)), st.booleans())
def test_whatever_has_a_writing_clause_is_refused(data: st.DataObject, parts: list[str], word: str, small: bool) -> None:
    rest = {"CALL": "db.labels() YIELD label", "SET": "n.a = 1", "LOAD": "CSV FROM 'file:///x' AS r", "COPY": "(MATCH (n) RETURN n) TO 'x'"}
    clause = f"{word.lower() if small else word} {rest.get(word, '(n)')}"
    at = data.draw(st.integers(0, len(parts)))
    with pytest.raises(QueryError):
        check_reads_only(joined(data, [*parts[:at], clause, *parts[at:]]))


@given(st.data(), clauses(), st.sampled_from(["FROB", "ELEVATE", "Zähle", "ZONED", "x"]))
def test_a_clause_that_nobody_knows_is_refused(data: st.DataObject, parts: list[str], word: str) -> None:
    with pytest.raises(QueryError, match=r"clause|begins with"):
        check_reads_only(joined(data, [*parts, f"{word} (n) RETURN n"]))


@given(st.data(), clauses(), clauses())
def test_two_statements_are_refused(data: st.DataObject, one: list[str], other: list[str]) -> None:
    with pytest.raises(QueryError, match="one statement at a time"):
        check_reads_only(joined(data, [*one, ";", *other]))


@given(st.text(alphabet="'\"`/*\\;\r\n $.:{}()[]!nMATCHRETURNCALLset1", max_size=40))
def test_any_text_is_a_statement_or_a_sentence(text: str) -> None:
    for whole in (text, f"MATCH (n) RETURN n {text}"):
        try:
            check_reads_only(whole)
        except KgqaError as error:
            check_sentence(str(error))


def check_sentence(text: str) -> None:
    """It says what is wrong, and ends."""
    assert text.startswith(("the query ", "a query begins with "))
    assert text.endswith(".")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("MATCH (n) RETURN 'x", "quotation mark that is not closed"),
        ('MATCH (n) RETURN "x', "quotation mark that is not closed"),
        ("MATCH (n) RETURN `x", "backtick that is not closed"),
        ("MATCH (n) RETURN n /* x", "comment that is not closed"),
        ("MATCH (n) RETURN n // x\rCREATE (m)", "carriage return"),
        ("MATCH (n) RETRUN n", 'unexpected "RETRUN"'),
        ("MATCH (n) RETURN n UNION SET n.a = 1", "this one with SET"),
        ("MATCH (n) SET n.a = 1", "contains SET"),
        ("SHOW TABLES RETURN *", "this one with SHOW"),
    ],
)
def test_what_is_wrong_is_said(text: str, part: str) -> None:
    with pytest.raises(QueryError, match=part):
        check_reads_only(text)


def test_all_queries_that_may_be_asked_or_project_pass() -> None:
    for name, query in read_queries().items():
        if (name in askable_queries() and not query.search) or query.file.startswith("project/"):
            check_own_query(query)


def test_a_users_query_is_named_with_its_file() -> None:
    with pytest.raises(QueryError, match=r"^query t \(t\.cypher\): the query contains COPY"):
        check_own_query(ad_hoc("MATCH (n) COPY (n) TO 'x'", "id: string", own=True))
