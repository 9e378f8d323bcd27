"""Named queries on the page: the fields of their forms, their rows, and the graph in these rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from starlette.requests import Request

from kgqa.errors import QueryError
from kgqa.store import limits
from kgqa.store.base import check_runs_on
from kgqa.store.empty_results import reason_for_empty_result
from kgqa.store.names import resolved
from kgqa.store.paths import Over
from kgqa.store.queries import Query
from kgqa.store.values import as_json, in_short
from kgqa.web.explore.bridges import bridges_picture, listed_bridges
from kgqa.web.explore.graph_picture import in_words, node_of, picture_of
from kgqa.web.explore.neighbours import find_entity
from kgqa.web.explore.paths import listed_paths, paths_picture
from kgqa.web.explore.picture import Edge, Picture, document_key, document_node, entity_key, entity_node
from kgqa.web.explore.stores import Graph
from kgqa.web.visible import visible

SHOWN = 200
"""Maximum number of rows on the page; the others are only counted."""
LONGEST = 1000
"""Maximum characters of a value in a cell; a list shows up to a tenth as many items."""
LOOKED_UP = 2000
"""Maximum number of texts in the rows that are looked up as ids."""
DRAWN = 24
"""Maximum number of rows in the picture."""
STEPS = 16
"""Maximum number of ids of one row in the picture."""
BETWEEN: dict[str, Over | None] = {"paths_over_facts": "facts", "paths_over_documents": "documents", "bridges_between": None}
"""Queries whose rows get the picture of their own page → what their paths lead over; None for bridges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value: its text, and links to the nodes that it names."""

    text: str
    keys: tuple[str, ...] = ()
    """Keys of the nodes that the value names; several for a list."""
    number: bool = False
    shortened: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The rows of a query, ready for the page."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    picture: Picture | None
    """None if the rows hold no ids, nodes or paths."""
    cut: str = ""
    """The limit that cut off further rows, ``rows`` or ``bytes``; see :class:`kgqa.store.limits.Answer`."""
    shortened: bool = False
    """Whether a value is cut to fit its cell."""
    nothing: str = ""
    """Reason for an empty result; see :class:`kgqa.store.limits.Answer`."""


def ask(graph: Graph, query: Query, form: Mapping[str, str]) -> Answer:
    """Run ``query`` with the fields of its form. Empty fields take their defaults. Raises QueryError and QueryTimeout."""
    check_runs_on(query, graph.stores.name)
    values = filled_in(form)
    missing = [parameter.name for parameter in query.params if parameter.default is None and parameter.name not in values]
    if missing:
        raise QueryError(f"query {query.name}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} empty; fill in the form.")
    arguments = resolved(graph.stores, query, query.arguments(values), seconds=graph.seconds)
    table = graph.stores.run(query, arguments, seconds=graph.seconds)
    why = "" if table.num_rows else reason_for_empty_result(graph.stores, query, arguments, seconds=graph.seconds)
    between = _between(graph, query, arguments, table) if table.num_rows and query.name in BETWEEN else None
    return show(graph, limits.Answer(rows=table, nothing=why), arguments=list(arguments.values()), picture=between)


def form_values(request: Request) -> dict[str, str]:
    """The fields of a named query's form: parameter → text."""
    return {key[2:]: value for key, value in request.query_params.items() if key.startswith("p.")}


def with_value(form: Mapping[str, str], parameter: str, value: str) -> dict[str, str]:
    """Query parameters of the form, with ``value`` in one of its fields."""
    return {f"p.{name}": text for name, text in {**form, parameter: value}.items()}


def filled_in(form: Mapping[str, str]) -> dict[str, str]:
    """The fields of a form that are not empty."""
    return {name: text for name, text in form.items() if text != ""}


def show(graph: Graph, answer: limits.Answer, *, arguments: Sequence[object], picture: Picture | None = None) -> Answer:
    """The first rows for the page; ``arguments`` are the values of the query's parameters.

    The default picture shows the nodes, relationships and paths in these rows or, if there are none, the entities and documents whose ids
    are in them.
    """
    columns, total = answer.rows.column_names, answer.rows.num_rows
    rows = limits.Answer(rows=answer.rows.slice(0, SHOWN)).to_pylist()
    about = [text for value in arguments for text in _texts(value)]
    ids = list(dict.fromkeys([*about, *(text for row in rows for cell in row.values() for text in _texts(cell))]))[:LOOKED_UP]
    entities, documents = graph.entities(ids), graph.documents(ids)
    kinds = {name: _kind([row[name] for row in rows], entities, documents) for name in columns}
    row_keys = [{name: _keys(row, name, kinds[name], entities, documents) for name in columns} for row in rows]
    cells = tuple(tuple(_cell(row[name], keys[name]) for name in columns) for row, keys in zip(rows, row_keys, strict=True))
    start = [entity_key(value) for value in about if value in entities] + [document_key(value) for value in about if value in documents]
    picture = picture or picture_of(rows)
    if picture is None and any(kinds.values()):
        picture = _picture(*_joined(rows, row_keys), start, entities=entities, documents=documents)
    if picture is not None and not picture.nodes:
        picture = None
    short_rows = any(cell.shortened for row in cells for cell in row)
    return Answer(
        columns=tuple(columns), rows=cells, total=total, picture=picture, cut=answer.cut, nothing=answer.nothing, shortened=short_rows
    )


def _between(graph: Graph, query: Query, arguments: Mapping[str, object], table: pa.Table) -> Picture:
    """The picture of the paths or bridges between two entities, from first to last; ``table`` is not empty."""
    first, second = (find_entity(graph, str(arguments[name])) for name in ("entity", "other"))
    rows, over = table.to_pylist(), BETWEEN[query.name]
    if over is None:
        return bridges_picture(graph, first, second, listed_bridges(graph, first, second, rows))
    paths = [tuple(row["path"] if over == "facts" else row["path"][::2]) for row in rows]  # without the documents
    return paths_picture(first, second, listed_paths(graph, over, paths, longest=int(str(arguments["longest"]))))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list | tuple) else []


def _kind(column: list[Any], entities: Mapping[str, Any], documents: Mapping[str, Any]) -> str:
    """``e`` or ``d`` if all values of the column are ids of entities or of documents, ``m`` if both occur, otherwise empty."""
    values = [value for cell in column for value in _texts(cell)]
    if not values or any(isinstance(value, Mapping) for cell in column if isinstance(cell, list) for value in cell):
        return ""
    if all(value in entities for value in values):
        return "e"
    if all(value in documents for value in values):
        return "d"
    return "m" if all(value in entities or value in documents for value in values) else ""


def _keys(row: Mapping[str, Any], name: str, kind: str, entities: Mapping[str, Any], documents: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of the nodes that the value of a column names."""
    keys = []
    for at, text in enumerate(_texts(row[name]) if kind else ()):
        # Ids of both kinds: in a chain, entities and documents alternate, starting with an entity; a row of a step names the kind.
        as_document = text in documents and (at % 2 == 1 or row.get("kind") == "Document") if kind == "m" else kind == "d"
        keys.append(document_key(text) if as_document or text not in entities else entity_key(text))
    return tuple(keys)


def _joined(rows: list[dict[str, Any]], row_keys: list[dict[str, tuple[str, ...]]]) -> tuple[list[dict[str, Any]], list[tuple[str, ...]]]:
    """The rows to draw, with the nodes in each. Rows that are steps of one chain are joined into one."""
    paths = [tuple(key for keys in columns.values() for key in keys) for columns in row_keys]
    if not rows or not {"chain", "position"} <= rows[0].keys():
        return rows, paths
    chains: dict[tuple[Any, ...], tuple[str, ...]] = {}
    for row, path in zip(rows, paths, strict=True):
        place = (row.get("dataset"), row["chain"])
        chains[place] = chains.get(place, ()) + path
    return [{} for _ in chains], list(chains.values())


def _cell(value: Any, keys: tuple[str, ...]) -> Cell:
    if value is None or isinstance(value, bool):
        return Cell(text={None: "", True: "yes", False: "no"}[value])
    if isinstance(value, int | float):
        return Cell(text=f"{in_short(value):,}", number=True)
    node = node_of(value)
    if node is not None:
        return Cell(text=node.label, keys=(node.key,) if node.key[0] in "ed" else ())
    if isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(part, Mapping | list) for part in value)):
        return _text(in_words(value) or as_json(in_short(visible(value))))
    if isinstance(value, list):
        most = LONGEST // 10
        text = _text(
            (" → " if keys else ", ").join(part if isinstance(part, str) else as_json(in_short(visible(part))) for part in value[:most]),
            cut=len(value) > most,
        )
        return replace(text, keys=keys[:most])
    return replace(_text(str(value)), keys=keys)


def _text(text: str, *, cut: bool = False) -> Cell:
    return Cell(text=text[:LONGEST] + "…", shortened=True) if cut or len(text) > LONGEST else Cell(text=text)


def _picture(
    rows: list[dict[str, Any]], paths: list[tuple[str, ...]], start: list[str], *, entities: Mapping[str, Any], documents: Mapping[str, Any]
) -> Picture:
    """Each row as a path through the ids in it. It starts at the id in the query's arguments, unless the row holds that id."""
    picture = Picture(layout="flow")
    numbers = [name for name, value in rows[0].items() if isinstance(value, int) and not isinstance(value, bool)] if rows else []
    long = 0
    for row, whole in zip(rows[:DRAWN], paths, strict=False):
        long, path = long + (len(whole) > STEPS), whole[:STEPS]
        if not path:
            continue
        begin = [key for key in start if key not in path][:1]
        label = str(row.get("relation_label") or row.get("label") or "") if {"head", "tail"} <= row.keys() else ""
        if not label and "relation" in row and "tail" in row:
            label = str(row["relation"])
        # If the query has two ids, a number describes the pair, not the edge from the first.
        if not label and len(path) + len(begin) == 2 and numbers and len(start) == 1:
            label = f"{row[numbers[0]]:,} {numbers[0]}"
        for layer, key in enumerate([*begin, *path]):
            _place(picture, key, layer, start, entities, documents)
        for before, after in zip([*begin, *path], path if begin else path[1:], strict=False):
            if before in picture.nodes and after in picture.nodes and before != after:
                picture.connect(Edge(source=before, target=after, kind="row", label=label))
    left_out = [f"{len(rows) - DRAWN:,} more rows are not drawn."] if len(rows) > DRAWN else []
    if long:
        left_out.append(f"Of rows with more than {STEPS} ids the first {STEPS} are drawn.")
    picture.hidden = " ".join(left_out)
    picture.root = next((key for key in start if key in picture.nodes), next(iter(picture.nodes), ""))
    if all(picture.root in {edge.source, edge.target} for edge in picture.edges.values()):
        picture.layout = "tree"
    return picture


def _place(picture: Picture, key: str, layer: int, start: list[str], entities: Mapping[str, Any], documents: Mapping[str, Any]) -> None:
    name = key[2:]
    role = "start" if key in start else ""
    if key.startswith("e:") and name in entities:
        picture.add(entity_node(entities[name], layer=layer, role=role))
    elif key.startswith("d:") and name in documents:
        picture.add(document_node(documents[name], layer=layer, role=role))
