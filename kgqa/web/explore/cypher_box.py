"""The page for writing Cypher: the fields of its form, the rows, and the rows as files."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from kgqa.errors import QueryError, QueryTimeout
from kgqa.settings.defaults import QUERY_ROWS
from kgqa.store import limits
from kgqa.store.cypher import cypher_parameters
from kgqa.store.names import resolved
from kgqa.store.queries import Query
from kgqa.store.values import as_json as value_as_json, plain
from kgqa.web.explore.graph_picture import join
from kgqa.web.explore.picture import Edge, document_key, entity_key
from kgqa.web.explore.queries import Answer, filled_in, show
from kgqa.web.explore.stores import Graph

LONGEST = 20_000
"""Maximum characters of a query, and of its parameters; an address can hold them."""
MOST_ROWS = 100_000
"""Maximum number of rows on this page; ``kgqa query`` returns more."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters of texts that spreadsheet programs take for a formula, which could send the cells next to it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryForm:
    """The fields of the form, unchanged, so that the page can show them again with an error message."""

    text: str = ""
    assignments: str = ""
    """Parameters, one NAME=VALUE per line."""
    rows: str = ""
    """Maximum number of rows; empty for the default of ``kgqa query``."""
    seconds: str = ""
    """Limit of seconds; empty for the page's own."""

    @property
    def address(self) -> dict[str, str]:
        """The query parameters of an address that fills the form in the same way."""
        return {"q": self.text, "params": self.assignments, "rows": self.rows, "seconds": self.seconds}

    def names(self) -> list[str]:
        """Names of the parameters that are assigned so far."""
        return [line.partition("=")[0].strip() for line in self.assignments.splitlines() if "=" in line]

    def parameters(self) -> dict[str, object]:
        """The values of the parameters. Raises QueryError."""
        entries = []
        for line in filter(None, map(str.strip, self.assignments.splitlines())):
            name, equals, value = (part.strip() for part in line.partition("="))
            if equals and not value:
                raise QueryError(f'the parameter {name!r} has no value; write one after the =, or "" for the empty text.')
            entries.append(f"{name}{equals}{value}")
        return cypher_parameters(entries)

    def budget(self, seconds: float) -> limits.Limits:
        """The limits of the query; ``seconds`` is the page's limit of time. Raises QueryError."""
        if max(len(self.text), len(self.assignments)) > LONGEST:
            raise QueryError(f"the query or its parameters have more than {LONGEST:,} characters; write less, or use kgqa query --cypher.")
        rows = int(self.rows) if self.rows.isascii() and self.rows.isdigit() and len(self.rows) < 10 else 0
        if self.rows and not 1 <= rows <= MOST_ROWS:
            raise QueryError(f"rows {self.rows[:20]!r} is not a whole number from 1 to {MOST_ROWS:,}; kgqa query --rows gives more.")
        try:
            least = float(self.seconds) if self.seconds else seconds
        except ValueError:
            least = math.nan
        if not 0 < least <= seconds:
            number = self.seconds[:20]
            raise QueryError(f"seconds {number!r} is not a number above 0 and up to {seconds:g}, as this page has it; choose another one.")
        return limits.Limits(seconds=least, rows=rows or QUERY_ROWS)


def of_named(graph: Graph, query: Query, form: Mapping[str, str]) -> QueryForm:
    """The text of a named query with the values of its form, to be edited. Parameters without value or default stay empty.

    Raises QueryError for a value that the query does not take, and for a search, which has no Cypher text.
    """
    if query.search:
        raise QueryError(f"{query.name} is a search of several queries and cannot be edited here; run it under /query.")
    filled_query = filled_in(form)
    parameters = tuple(parameter for parameter in query.params if parameter.default is not None or parameter.name in filled_query)
    values = replace(query, params=parameters).arguments(filled_query)
    values = resolved(graph.stores, query, values, seconds=graph.seconds)
    lines = [f"{declared.name}={_as_field(values[declared.name]) if declared.name in values else ''}" for declared in query.params]
    return QueryForm(text=query.text.strip(), assignments="\n".join(lines))


def _as_field(value: object) -> str:
    """A value as text for the parameter field: plain if it would be parsed as the same text again, otherwise JSON."""
    plainly = isinstance(value, str) and value == value.strip() and len(value.splitlines()) == 1
    if plainly and cypher_parameters([f"value={value}"])["value"] == value:
        return str(value)
    return value_as_json(value)


def read(graph: Graph, statement: QueryForm) -> limits.Answer:
    """The rows of the statement. Raises QueryError, QueryTimeout, QueryMemory and StoreError."""
    most, parameters = statement.budget(graph.seconds), statement.parameters()
    text = statement.text.replace("\r\n", "\n")  # browsers send CRLF
    return graph.stores.use(lambda store: store.read(text, parameters, limits=most), seconds=graph.seconds)


def ask(graph: Graph, statement: QueryForm) -> Answer:
    """The rows for the page. If the rows have nodes without relationships, the picture adds the graph's relationships between them."""
    answer = show(graph, read(graph, statement), arguments=list(statement.parameters().values()))
    if answer.picture is not None and not answer.picture.edges:
        with suppress(QueryTimeout):  # the rows are shown anyway
            join(answer.picture, edges_among(graph, answer.picture.nodes))
    return answer


def as_json(answer: limits.Answer) -> str:
    """The rows as a list of objects; numbers that JSON lacks, like infinity, are text."""
    rows = [plain(row, {}) for row in answer.to_pylist()]
    return json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(answer: limits.Answer) -> str:
    """The rows as CSV with a header; lists, nodes and the like are JSON.

    People open this file with a click in a spreadsheet program, which runs formulas, and strangers wrote its names. So text that would be a
    formula gets an apostrophe in front. Numbers stay numbers. ``kgqa query --format csv`` changes nothing.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_csv_cell, answer.rows.column_names))
    writer.writerows(map(_csv_cell, row) for row in zip(*answer.rows.to_pydict().values(), strict=True))
    return file.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, list):
        return value_as_json(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def edges_among(graph: Graph, keys: Iterable[str]) -> Iterator[Edge]:
    """The edges between entities and documents with these keys. Raises QueryTimeout and StoreError."""
    entities: list[str] = []
    documents: list[str] = []
    for key in keys:
        letter, _, name = key.partition(":")
        if letter in {"e", "d"}:  # samples, chains and questions come with their relationships, or without
            (entities if letter == "e" else documents).append(name)
    if len(entities) > 1:
        for row in graph.rows("page_facts_among", ids=entities):
            label = row["relation_label"] or row["relation"]
            yield Edge(source=entity_key(row["head"]), target=entity_key(row["tail"]), kind="fact", label=label)
    if entities and documents:
        for row in graph.rows("page_mentions_among", documents=documents, entities=entities):
            yield Edge(source=document_key(row["document"]), target=entity_key(row["entity"]), kind="mention", label="mentions")
        for row in graph.rows("page_articles_among", documents=documents, entities=entities):
            yield Edge(source=entity_key(row["entity"]), target=document_key(row["document"]), kind="article", label="article")
