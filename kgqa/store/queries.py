"""Named queries: text in ``cypher/``, one block each, with a header: name, purpose, parameters, what is returned, and where it runs.

::

    // name: bridge_entities
    // purpose: entities that two documents share, through which a question can hop
    // params: entity: entity, limit: integer = 50
    // returns: bridge: string, label: string, documents: integer
    // stores: embedded
    MATCH …
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from kgqa.errors import QueryError, SettingsError, check_known, suggestion
from kgqa.resources import resource
from kgqa.settings.small_files import read_small

Value = str | int | float | bool | list[str]
STORES = ("embedded", "neo4j")
KINDS = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "strings": pa.list_(pa.string()),
    "entity": pa.string(),
    "document": pa.string(),
    "relation": pa.string(),
    "table": None,
}
"""Kind of a parameter or column → its Arrow type; a table holds rows to load. For an entity, a document or a relation the query needs the
id, and users may give a name (:mod:`kgqa.store.names`).
"""
PARAMETERS_ONLY = ("entity", "document", "relation")
PLURALS = {"documents": "document", "entities": "entity"}
"""Columns that hold lists → the kind of their items. A projection may return many edges in one row, which a server sends much faster."""
HEADERS = ("name", "purpose", "params", "returns", "stores")
SEARCH = "search"
"""A sixth header line, for searches that no single query answers on both stores: what :mod:`kgqa.store.paths` searches over. The text then
describes the search.
"""
SEARCHES = ("documents", "facts")
_HEADER = re.compile(r"^//\s*(\w+):\s*(.*)$")
_FIELD = re.compile(r"^(\w+):\s*(\w+)(?:\s*=\s*(.+))?$")
WANTED = {"integer": "an integer of at most 64 bits", "number": "a number", "boolean": "true or false", "string": "text (UTF-8)"}
"""Kind of a parameter → its name in an error message."""
_COUNTS = re.compile(r"\b(?:LIMIT|SKIP)\s+\$(\w+)", re.IGNORECASE)
"""Parameters that are numbers of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One declared parameter of a query."""

    name: str
    kind: str
    default: Value | None
    """None: the caller must give it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A named query: header and Cypher text."""

    name: str
    purpose: str
    params: tuple[Parameter, ...]
    returns: dict[str, str]
    """Column → kind, in order."""
    stores: tuple[str, ...]
    text: str
    file: str
    """Its file, relative to ``cypher/``; only the file name for a user's own query."""
    own: bool = False
    """Whether it is from a user's file: then it is held to :mod:`kgqa.store.cypher`, and runs with a budget."""
    search: str = ""
    """One of ``SEARCHES``, or empty: the store runs the text."""

    def arguments(self, texts: dict[str, str]) -> dict[str, Value]:
        """The values of all parameters, parsed from a user's texts. Raises QueryError for unknown, missing and malformed ones."""
        parameters = {parameter.name: parameter for parameter in self.params}
        for name in texts:
            if name not in parameters:
                hint = suggestion(name, list(parameters)) if parameters else "it takes none."
                raise QueryError(f"query {self.name}: there is no parameter {name!r}; {hint}")
        values: dict[str, Value] = {}
        for name, parameter in parameters.items():
            if name in texts:
                values[name] = value = _typed(self.name, parameter, texts[name])
                if isinstance(value, int) and value < 0 and name in _COUNTS.findall(self.text):
                    raise QueryError(f"query {self.name}: {name} {value} is a number of rows; give 0 or more.")
            elif parameter.default is not None:
                values[name] = parameter.default
            else:
                raise QueryError(f"query {self.name}: the parameter {name!r} is missing; add --{name} VALUE ({asked_for(parameter.kind)}).")
        return values


def read_queries(further: Iterable[Path] = ()) -> dict[str, Query]:
    """All named queries of kgqa and of the ``further`` files, by name."""
    queries: dict[str, Query] = {}
    folder = resource("cypher")
    # Queries in browser/ are for Neo4j Browser: they have values instead of parameters, and no headers.
    ours = {
        path: path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.cypher")) if path.parent.parent != folder / "browser"
    }
    for path, file in {**ours, **{path: path.name for path in further}}.items():
        try:
            text = read_small(path).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path}: the query file cannot be read: {error}.") from None
        for query in _parsed(text, file, own=path not in ours):
            if query.name in queries:
                raise SettingsError(f"{file}: the query {query.name!r} is also in {queries[query.name].file}; rename one of them.")
            queries[query.name] = query
    return queries


@lru_cache(maxsize=256)
def _parsed(text: str, file: str, *, own: bool) -> tuple[Query, ...]:
    """:func:`parse_queries`, whose result is kept, as a run asks for all queries at every step."""
    return tuple(parse_queries(text, file, own=own))


def parse_queries(text: str, file: str, *, own: bool = False) -> list[Query]:
    """The queries of one file, in order, ``own`` if it is a user's; raises SettingsError with the line of a faulty header."""
    queries = []
    header: dict[str, str] = {}
    body: list[str] = []
    begin = 0
    for number, line in enumerate([*text.splitlines(), "// name:"], start=1):
        match = _HEADER.match(line)
        if match and match[1] == "name":
            if header:
                queries.append(_query(header, "\n".join(body).strip(), file, begin, own=own))
            elif any(entry.strip() and not entry.startswith("//") for entry in body):
                raise SettingsError(f"{file}, line {number - 1}: query text before the first '// name:' header.")
            header, body, begin = {"name": match[2]}, [], number
        elif match and match[1] in (*HEADERS, SEARCH) and not body:
            header[match[1]] = match[2]
        else:
            body.append(line)
    return queries


def _query(header: dict[str, str], text: str, file: str, line: int, *, own: bool) -> Query:
    where = f"{file}, line {line}"
    for key in HEADERS:
        if not header.get(key):
            raise SettingsError(f"{where}: the query's header has no '// {key}:' line.")
    if not text:
        raise SettingsError(f"{where}: the query {header['name']!r} has no text.")
    stores = tuple(name.strip() for name in header["stores"].split(","))
    for name in stores:
        check_known(f"{where}: the store", name, STORES)
    params = tuple(
        Parameter(name=name, kind=kind, default=None if default is None else _literal(default, kind, where))
        for name, kind, default in _fields(header["params"], where)
    )
    used_names = set(re.findall(r"\$(\w+)", text))
    declared = {parameter.name for parameter in params}
    if used_names != declared:
        names = ", ".join(sorted(used_names ^ declared))
        raise SettingsError(f"{where}: parameters declared and used differ in: {names}.")
    returns = {name: kind for name, kind, _ in _fields(header["returns"], where)}
    for name, kind in returns.items():
        if kind in PARAMETERS_ONLY:
            raise SettingsError(f"{where}: the column {name!r} is a {kind}, which only a parameter can be; an id is a string.")
    search = header.get(SEARCH, "")
    if search and (own or search not in SEARCHES):
        raise SettingsError(f"{where}: the search {search!r} is not known; leave the line out.")
    return Query(
        name=header["name"], purpose=header["purpose"], params=params, returns=returns, stores=stores, text=text, file=file, own=own,
        search=search,
    )  # fmt: skip


def _fields(text: str, where: str) -> list[tuple[str, str, str | None]]:
    if text == "none":
        return []
    fields = []
    for part in text.split(","):
        match = _FIELD.match(part.strip())
        if not match or match[2] not in KINDS:
            raise SettingsError(f"{where}: {part.strip()!r} is not 'name: kind' with one of the kinds {', '.join(KINDS)}.")
        fields.append((match[1], match[2], match[3]))
    return fields


def arrow_schema(query: Query) -> pa.Schema:
    """The columns that the query's header declares, with their types."""
    return pa.schema([(name, KINDS[kind]) for name, kind in query.returns.items()])


def asked_for(kind: str) -> str:
    """A kind of parameter, named for users."""
    return f"name or id of {'an' if kind == 'entity' else 'a'} {kind}" if kind in PARAMETERS_ONLY else kind


def _literal(text: str, kind: str, where: str) -> Value:
    try:
        return _convert(text.strip().strip("'\""), kind)
    except ValueError:
        raise SettingsError(f"{where}: the default {text!r} is not {kind}.") from None


def _typed(query: str, parameter: Parameter, text: str) -> Value:
    try:
        return _convert(text, parameter.kind)
    except ValueError:
        description = WANTED.get(parameter.kind) or asked_for(parameter.kind)
        raise QueryError(f"query {query}: {parameter.name} {text!r} is not {description}; choose another value.") from None


def _convert(text: str, kind: str) -> Value:
    if kind == "boolean":
        if text.lower() not in {"true", "false"}:
            raise ValueError(text)
        return text.lower() == "true"
    if kind == "integer":
        number = int(text)
        if abs(number) >= 2**63:
            raise ValueError(text)
        return number
    if kind == "number":
        value = float(text)
        if math.isnan(value):  # stores compare NaN differently
            raise ValueError(text)
        return value
    text.encode("utf-8")  # a command line may hold bytes that are not UTF-8
    return text.split(",") if kind == "strings" else text


FOR_PEOPLE = ("explore.cypher", "samples.cypher")
"""Files whose queries are listed and suggested; those of all others serve kgqa itself."""


HARMLESS = (*FOR_PEOPLE, "graph.cypher", "names.cypher", "page.cypher", "paths.cypher", "traverse/")
"""Files and folders with queries for users. The other queries build a graph, project it or test an engine."""


def find_query(name: str, queries: Mapping[str, Query], *, suggested: Iterable[str]) -> Query:
    """The one of ``queries`` with this name; raises QueryError, which names those ``suggested`` that are most like it."""
    if name not in queries:
        raise QueryError(f"there is no query {name!r}; {suggestion(name, list(suggested))}")
    return queries[name]


def askable_queries() -> dict[str, Query]:
    """The named queries that a user can run, by name."""
    return {name: query for name, query in sorted(read_queries().items()) if query.file.startswith(HARMLESS)}


def listed_queries() -> dict[str, Query]:
    """The queries of :func:`askable_queries` that are useful to people, by name."""
    return {name: query for name, query in askable_queries().items() if query.file in FOR_PEOPLE}
