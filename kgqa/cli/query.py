"""The command ``kgqa query``: options, free parameters and printed rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from kgqa.cli.options import Neo4jDatabase, Neo4jUri, Neo4jUser, Store, is_typed, server
from kgqa.cli.printable import printable
from kgqa.errors import QueryError, SettingsError
from kgqa.settings.defaults import QUERY_BYTES, QUERY_MEMORY, QUERY_ROWS, QUERY_SECONDS, STORE, WORKSPACE

if TYPE_CHECKING:
    from kgqa.store.limits import Answer

FORMATS = ("table", "json", "csv")
LONGEST = 40
"""Characters of a word that no column of a table breaks."""
MEMORY, BYTES = f"{QUERY_MEMORY >> 30}GiB", f"{QUERY_BYTES >> 20}MiB"


def query(
    context: typer.Context,
    name: Annotated[str | None, Argument(help="Name of the query; --list shows all.")] = None,
    workspace: Annotated[
        str, Option(help="Workspace (folder or URL) with the graph; with --store neo4j the server's graph is used.")
    ] = WORKSPACE,
    format: Annotated[str, Option(help="table, json or csv.")] = "table",  # noqa: A002 - what people type
    cypher: Annotated[str | None, Option(help="A read-only Cypher query, instead of a name.")] = None,
    param: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=VALUE",
            help="With --cypher: a parameter, $NAME in the query. The value is JSON if it parses as JSON, else text; repeatable.",
        ),
    ] = None,
    rows: Annotated[int | None, Option(help=f"With --cypher: maximum rows; by default {QUERY_ROWS:,}.")] = None,
    seconds: Annotated[float, Option(help="Timeout in seconds.")] = QUERY_SECONDS,
    memory: Annotated[
        str | None,
        Option(help=f"With --cypher, embedded store: maximum memory on top of the graph's; by default {MEMORY}."),
    ] = None,
    bytes: Annotated[str | None, Option(help=f"With --cypher: maximum bytes of rows; by default {BYTES}.")] = None,  # noqa: A002
    store: Store = STORE,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
    list_all: Annotated[bool, Option("--list", help="List all queries with their parameters and exit.")] = False,
) -> None:
    """Run a named Cypher query or your own. Parameters of a named query are given as --PARAMETER VALUE."""
    import kgqa
    from kgqa.commands.query import answer
    from kgqa.object_store.workspace import workspace_at
    from kgqa.store.cypher import cypher_parameters
    from kgqa.store.limits import read_size

    if format not in FORMATS:
        raise SettingsError(f"format {format!r} is not known; choose one of {', '.join(FORMATS)}.")
    for option, value in (("--rows", rows), ("--memory", memory), ("--bytes", bytes), ("--param", param)):
        if value is not None and cypher is None:
            raise QueryError(f"{option} requires --cypher; a named query has its own parameters, such as --limit, which --list shows.")
    if memory is not None and store == "neo4j":
        raise QueryError("--memory requires the embedded store; a server has its own limit, db.memory.transaction.max (docs/neo4j.md).")
    if list_all:
        if context.args or any(is_typed(context, option) for option in context.params if option != "list_all"):
            raise QueryError("--list cannot be combined with other options; it shows all queries.")
        _print_list()
        return
    neo4j = server(store, neo4j_uri, neo4j_user, neo4j_database)
    if cypher is not None:
        if name is not None or context.args:
            raise QueryError("--cypher replaces a name and its parameters; give one or the other.")
        limits = kgqa.Limits(
            seconds=seconds, memory=read_size(memory or MEMORY), rows=QUERY_ROWS if rows is None else rows, bytes=read_size(bytes or BYTES)
        )
        values = cypher_parameters(param or [])
        _print(kgqa.cypher(cypher, parameters=values, workspace=workspace, store=store, neo4j=neo4j, limits=limits), format)
    elif name is None:
        raise QueryError("give the name of a query, --list to see all of them, or --cypher with one of your own.")
    else:
        place = workspace_at(workspace)
        _print(answer(name, parameters(context.args), place, store, neo4j, seconds=seconds, explain=format == "table"), format)


def parameters(arguments: list[str]) -> dict[str, str]:
    """``--entity Q84 --limit=5`` → ``{"entity": "Q84", "limit": "5"}``. Raises QueryError for other arguments."""
    result: dict[str, str] = {}
    words = list(arguments)
    while words:
        word = words.pop(0)
        if not word.startswith("--") or word == "--":
            raise QueryError(f"{word!r} is not an option; give parameters as --PARAMETER VALUE.")
        name, equals, value = word[2:].partition("=")
        if not equals:
            if not words:
                raise QueryError(f"--{name} has no value; parameters are given as --PARAMETER VALUE.")
            value = words.pop(0)
        if name in result:
            raise QueryError(f"--{name} is given twice; keep one.")
        result[name] = value
    return result


def _print_list() -> None:
    from kgqa.store.queries import STORES, asked_for, listed_queries

    for query in listed_queries().values():
        typer.echo(f"{query.name}: {query.purpose}")
        for parameter in query.params:
            usual = "" if parameter.default is None else f", {'empty' if parameter.default in ('', []) else parameter.default} by default"
            typer.echo(f"    --{parameter.name} ({asked_for(parameter.kind)}{usual})")
        only = "" if query.stores == STORES else f"; --store {' or '.join(query.stores)} only"
        typer.echo(f"    gives {', '.join(query.returns)}{only}")


def _print(answer: Answer, format: str) -> None:  # noqa: A002
    from kgqa.store.values import plain

    if format == "json":
        rows = [{name: plain(value, {}) for name, value in row.items()} for row in answer.to_pylist()]  # JSON has no dates and no infinity
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    elif format == "csv":
        import csv
        import sys

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer.rows.column_names)
        cells = zip(*answer.rows.to_pydict().values(), strict=True)
        writer.writerows(map(_cell, row) for row in cells)
    else:
        _print_table(answer)
    for remark in answer.remarks:
        typer.echo(printable(remark), err=True)
    if answer.cut:
        count = answer.rows.num_rows
        sentence = {0: "none of the rows is", 1: "only the first row is"}.get(count, f"only the first {count:,} rows are")
        typer.echo(f"Cut: {sentence} shown, there are more; --{answer.cut} allows more.", err=True)


def _cell(value: object) -> str:
    """``value`` as text for a table or for CSV: plain text, an empty cell for null, and JSON for everything else."""
    from kgqa.store.values import as_json, plain

    content = plain(value, {})
    return "" if content is None else printable(content if isinstance(content, str) else as_json(content))


def _print_table(answer: Answer) -> None:
    from rich.markup import escape
    from rich.table import Table

    from kgqa.cli.terminal import Terminal
    from kgqa.store.values import in_short
    from kgqa.web.visible import visible

    rows = answer.rows
    console = Terminal(highlight=True, markup=True)
    values = answer.to_pylist()
    columns = {name: [_cell(in_short(visible(row[name]))) for row in values] for name in rows.column_names}
    widths = _widths(columns, console.width)
    if widths or not rows.num_rows:
        table = Table()
        for name, width in zip(columns, widths or [0] * len(columns), strict=True):
            table.add_column(name, overflow="fold", width=width or None)
        for row in zip(*columns.values(), strict=True):
            table.add_row(*map(escape, row))
        console.print(table)
    else:
        longest = max(map(len, columns))
        for number, row in enumerate(zip(*columns.values(), strict=True), start=1):
            console.rule(f"{number}", align="left")
            for name, text in zip(columns, row, strict=True):
                console.say(f"{name:<{longest}}  {text}")
    count = "1 row" if rows.num_rows == 1 else f"{rows.num_rows:,} rows"
    reason = f"No rows: {answer.nothing or 'check the ids, or try another query.'}"
    console.print(f"{count}{', cut' if answer.cut else ''}" if rows.num_rows or answer.cut else reason)


def _widths(columns: Mapping[str, Sequence[str]], room: int) -> list[int]:
    """How wide each column is in a table of at most ``room``; empty where a word would have to be broken.

    Ids are found again by copying them: no column is narrower than its longest word. The rest of the room goes to the narrower ones first.
    """
    from rich.cells import cell_len

    texts = [(name, *cells) for name, cells in columns.items()]
    least = [min(LONGEST, max(cell_len(word) for text in cells for word in text.split() or [""])) for cells in texts]
    whole = [max(cell_len(line) for text in cells for line in text.splitlines() or [""]) for cells in texts]
    room -= 3 * len(texts) + 1

    def shared(most: int) -> list[int]:
        return [max(low, min(high, most)) for low, high in zip(least, whole, strict=True)]

    return next((widths for widths in map(shared, range(room, 0, -1)) if sum(widths) <= room), [])
