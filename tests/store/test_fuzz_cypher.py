"""Random texts against the check and both engines: nothing is written, loaded or connected to, and the fuzz finds what once got through.

``python -m tools.fuzz_cypher --texts 1000000`` is the same at length.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kgqa.errors import QueryError
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.cypher import check_reads_only
from kgqa.store.tokens import tokens_of, written
from tests.conftest import unavailable
from tools.fuzz_cypher import Neo4j, Traps, engine_of, fuzz, texts


@pytest.fixture
def traps(tmp_path: Path) -> Iterator[Traps]:
    if not shutil.which("cc"):
        unavailable("no C compiler to make an extension")
    with closing(Traps(tmp_path / "traps")) as traps:
        yield traps


def test_nothing_gets_through_to_the_embedded_engine(tmp_path: Path, traps: Traps, query_count: int) -> None:
    with engine_of("embedded", tmp_path) as engine:
        outcome = fuzz(engine, traps, store="embedded", count=20 * query_count, seed=query_count)
    assert outcome.faults == []
    assert outcome.passed > outcome.texts / 6
    assert outcome.ran > 200


def test_nothing_gets_through_to_a_server(traps: Traps, neo4j_database: Neo4jSettings, query_count: int) -> None:
    with closing(Neo4j(neo4j_database.uri, neo4j_database.password)) as engine:
        outcome = fuzz(engine, traps, store="neo4j", count=4 * query_count, seed=query_count)
    assert outcome.faults == []
    assert outcome.ran > 50


def as_it_is(text: str, store: str) -> str:
    """``text``, checked, but not written again."""
    check_reads_only(text, store=store)
    return text


def test_it_finds_what_got_through_when_the_engine_was_given_the_users_own_text(tmp_path: Path, traps: Traps) -> None:
    with engine_of("embedded", tmp_path) as engine:
        found = fuzz(engine, traps, store="embedded", count=20_000, seed=1, most=1, check=as_it_is)
    assert any("was written" in fault for fault in found.faults)


def test_texts_are_the_same_for_a_seed() -> None:
    names = {"file": "/f", "folder": "/d", "port": 1, "extension": "/x"}
    assert list(texts(names, count=50, seed=3)) == list(texts(names, count=50, seed=3)) != list(texts(names, count=50, seed=4))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("RETURN 1 AS x", "RETURN 1 AS x"),
        ("RETURN/* **/1 // end\n AS x;", "RETURN      1       \n AS x"),
        ("RETURN 'it\\'s', \"it's\", '\\\"'", "RETURN 'it\\'s', \"it's\", '\"'"),
        ("RETURN 'two\nlines', '\t', 'Zürich\u00a0'", "RETURN 'two\\nlines', '\\t', 'Zürich\u00a0'"),
        ("RETURN\u00a01\u3000AS\r\nx", "RETURN 1 AS\nx"),
        ("\ufeffRETURN 1 AS größe", " RETURN 1 AS `größe`"),
        ("MATCH (n:名前) RETURN n.`a``b`, n.`load`", "MATCH (n:`名前`) RETURN n.`a``b`, n.`load`"),
        ("RETURN $ a, $`a`, $`a b`, $größe", "RETURN $a, $a, $`a b`, $größe"),
        ("UNWIND [1]AS`x`RETURN`x`", "UNWIND [1]AS `x` RETURN `x`"),
        ("RETURN 1\u017f", "RETURN 1 `\u017f`"),
        ("RETURN '/* **/ RETURN \" */ COPY'", "RETURN '/* **/ RETURN \" */ COPY'"),
    ],
)
def test_a_statement_is_written_again(text: str, statement: str) -> None:
    assert written(tokens_of(text)) == statement
    assert written(tokens_of(statement)) == statement


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("RETURN '\\d'", "'\\\\d'"), ("RETURN '\\N'", "engines do not read alike"), ("RETURN 'a\x00'", "U+0000"),
        ("RETURN 1 \u2014 2", "\u2014 (U+2014)"), ("RETURN\x1c1", "U+001C"), ("RETURN\x851", "U+0085"), ("RETURN 1 AS x\u200dy", "U+200D"),
        ("RETURN 1\ufeff", "U+FEFF"), ("RETURN ``", "empty name"), ("RETURN `a\nb`", "U+000A"), ("RETURN 1 \\ 2", "\\ (U+005C)"),
        ("RETURN $ +", "$ without the name"), ("RETURN $/* */x", "$ without the name"), ("RETURN '\\u0041'", "\\u escape"),
        ("RETURN 1\rRETURN 2", "carriage return"),
    ],
)  # fmt: skip
def test_what_engines_may_not_read_alike_is_refused(text: str, part: str) -> None:
    with pytest.raises(QueryError, match=re.escape(part)) as error:
        check_reads_only(f"{text} AS x")
    assert re.fullmatch(r"the query [^\n]*\.", str(error.value))
