"""Query files: headers are whole, parameters declared, and what a user types becomes values or a sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TypeGuard

import pytest
from hypothesis import given, strategies as st

from kgqa.domains import built_in, load_domain
from kgqa.errors import KgqaError, QueryError, SettingsError
from kgqa.store.graph import TABLES
from kgqa.store.queries import HEADERS, askable_queries, parse_queries, read_queries
from kgqa.store.questions import QUESTION_TABLES
from kgqa.store.samples import ON_GRAPH, SCHEMA
from tests.command import ROOT

ONE = """\
// name: one
// purpose: p
// params: a: string, n: integer = 3, x: number = 0.5, b: boolean = true
// returns: r: string
// stores: embedded
"""
BODY = "RETURN $a AS r, $n, $x, $b\n"


def test_all_queries_have_whole_headers_and_unique_names() -> None:
    queries = read_queries()
    assert len(queries) >= 20
    for query in queries.values():
        assert query.purpose
        assert query.returns or "neo4j" in query.stores  # what changes a server's schema returns nothing
        assert set(re.findall(r"\$(\w+)", query.text)) == {parameter.name for parameter in query.params}
        assert ";" not in re.sub(r"'[^']*'", "", query.text)


def test_every_query_is_used() -> None:
    used = {f"{step}_{table}" for step in ("schema", "load", "add", "count") for table in (*TABLES, *QUESTION_TABLES)}
    used |= {f"load_{table}" for table in ON_GRAPH} | {f"schema_{table}" for table in SCHEMA}
    for domain in built_in():
        projection = load_domain(domain).settings.projection
        used |= {*projection.document_to_entity, *projection.entity_to_document, *projection.candidates, *projection.chains}
    # The others are asked for by name in the code, or start with what the doctor runs.
    named = {node.value for path in (ROOT / "kgqa").rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8"))) if is_text(node)}
    unused = {name for name, query in read_queries().items() if query.file != "conformance.cypher"} - used - named - set(askable_queries())
    assert unused == set()


def is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_what_is_asked_has_an_order() -> None:
    for query in askable_queries().values():
        assert query.search or "ORDER BY" in query.text, query.name  # a search orders what it finds


def test_parameters_are_typed_and_have_defaults() -> None:
    (query,) = parse_queries(ONE + BODY, "f.cypher")
    assert query.arguments({"a": "x"}) == {"a": "x", "n": 3, "x": 0.5, "b": True}
    assert query.arguments({"a": "5", "n": "7", "x": "1e3", "b": "FALSE"}) == {"a": "5", "n": 7, "x": 1000.0, "b": False}
    for wrong in ({}, {"a": "x", "c": "1"}, {"a": "x", "n": "1.5"}, {"a": "x", "n": str(2**63)}, {"a": "x", "b": "1"}, {"a": "\ud800"}):
        with pytest.raises(QueryError, match=r"^query one: "):
            query.arguments(wrong)


@pytest.mark.parametrize("header", HEADERS)
def test_a_missing_header_line_is_named_with_its_line(header: str) -> None:
    text = "\n// a comment\n\n" + "".join(line for line in ONE.splitlines(keepends=True) if not line.startswith(f"// {header}:"))
    with pytest.raises(SettingsError, match=r"^f\.cypher, line \d+: "):
        parse_queries(text + BODY, "f.cypher")


def check_sentence(text: str) -> None:
    """It names file and line."""
    assert text.startswith("f.cypher, line ")


@given(st.text(max_size=60))
def test_any_text_is_queries_or_a_sentence(text: str) -> None:
    for content in (text, ONE + text, ONE.replace("a: string", text) + BODY):
        try:
            parse_queries(content, "f.cypher")
        except KgqaError as error:
            check_sentence(str(error))


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.cypher").write_text((ONE + BODY).replace("one", "hubs"))
    with pytest.raises(SettingsError, match=r"'hubs' is also in explore\.cypher"):
        read_queries([tmp_path / "own.cypher"])
