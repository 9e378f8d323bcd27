"""``kgqa query``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from kgqa.cli.options import Neo4jDatabase, Neo4jUri, Neo4jUser, Store, server
from kgqa.cli.printable import printable
from kgqa.errors import QueryError, SettingsError
from kgqa.settings.defaults import QUERY_BYTES, QUERY_MEMORY, QUERY_ROWS, QUERY_SECONDS, STORE, WORKSPACE

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("table", "json", "csv")
MEMORY, BYTES = f"{QUERY_MEMORY >> 30}GiB", f"{QUERY_BYTES >> 20}MiB"


def query(
    context: typer.Context,
    name: Annotated[str | None, Argument(help="The query's name; --list shows all.")] = None,
    workspace: Annotated[
        Path, Option(help="The workspace whose graph is asked; with --store neo4j it is the graph that the server holds.")
    ] = WORKSPACE,
    format: Annotated[str, Option(help="table, json or csv.")] = "table",  # noqa: A002 - what people type
    cypher: Annotated[str | None, Option(help="Any Cypher that only reads, in place of a name.")] = None,
    rows: Annotated[int | None, Option(help=f"With --cypher: at most so many rows, {QUERY_ROWS:,} by default.")] = None,
    seconds: Annotated[float, Option(help="Give up after so many seconds.")] = QUERY_SECONDS,
    memory: Annotated[
        str | None,
        Option(help=f"With --cypher: give up beyond so much memory above what the graph takes, {MEMORY} by default; embedded store."),
    ] = None,
    bytes: Annotated[str | None, Option(help=f"With --cypher: at most so many bytes of rows, {BYTES} by default.")] = None,  # noqa: A002
    store: Store = STORE,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
    list_all: Annotated[bool, Option("--list", help="List all queries with their parameters.")] = False,
) -> None:
    """Run a named Cypher query, its parameters as --PARAMETER VALUE, or one of your own."""
    import kgqa
    from kgqa.store.limits import read_size

    if format not in FORMATS:
        raise SettingsError(f"format {format!r} is not known; known are: {', '.join(FORMATS)}.")
    for option, given in (("--rows", rows), ("--memory", memory), ("--bytes", bytes)):
        if given is not None and cypher is None:
            raise QueryError(f"{option} goes with --cypher; a named query has parameters of its own, as --limit, which --list shows.")
    if memory is not None and store == "neo4j":
        raise QueryError("--memory goes with the embedded store; a server has its own limit, db.memory.transaction.max (docs/neo4j.md).")
    if list_all:
        if context.args or any(_is_typed(context, option) for option in context.params if option != "list_all"):
            raise QueryError("--list stands alone; it shows all queries.")
        _print_list()
        return
    neo4j = server(store, neo4j_uri, neo4j_user, neo4j_database)
    if cypher is not None:
        if name is not None or context.args:
            raise QueryError("--cypher stands in place of a name and its parameters; give one or the other.")
        limits = kgqa.Limits(
            seconds=seconds, memory=read_size(memory or MEMORY), rows=QUERY_ROWS if rows is None else rows, bytes=read_size(bytes or BYTES)
        )
        answer = kgqa.cypher(cypher, workspace=workspace, store=store, neo4j=neo4j, limits=limits)
        _print(answer.rows, format, cut=answer.cut)
    elif name is None:
        raise QueryError("give the name of a query, --list to see all of them, or --cypher with one of your own.")
    else:
        _print(kgqa.query(name, parameters(context.args), workspace=workspace, store=store, neo4j=neo4j, seconds=seconds), format)


def parameters(arguments: list[str]) -> dict[str, str]:
    """``--entity Q84 --limit=5`` → ``{"entity": "Q84", "limit": "5"}``; raises QueryError for anything else."""
    result: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or word == "--":
            raise QueryError(f"{word!r} stands alone; parameters are given as --PARAMETER VALUE.")
        name, equals, value = word[2:].partition("=")
        if not equals:
            if not rest:
                raise QueryError(f"--{name} has no value; parameters are given as --PARAMETER VALUE.")
            value = rest.pop(0)
        if name in result:
            raise QueryError(f"--{name} is given twice; keep one.")
        result[name] = value
    return result


def _is_typed(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _print_list() -> None:
    from kgqa.store.queries import STORES, listed_queries

    for query in listed_queries().values():
        typer.echo(f"{query.name}: {query.purpose}")
        for parameter in query.params:
            usual = "" if parameter.default is None else f", {parameter.default or 'empty'} by default"
            typer.echo(f"    --{parameter.name} ({parameter.kind}{usual})")
        only = "" if query.stores == STORES else f"; --store {' or '.join(query.stores)} only"
        typer.echo(f"    gives {', '.join(query.returns)}{only}")


def _print(rows: pa.Table, format: str, *, cut: str = "") -> None:  # noqa: A002
    if format == "json":
        typer.echo(json.dumps(rows.to_pylist(), indent=1, ensure_ascii=False, default=str))  # a date has no form in JSON
    elif format == "csv":
        import csv
        import sys

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(rows.column_names)
        cells = zip(*rows.to_pydict().values(), strict=True)
        writer.writerows([printable(value) if isinstance(value, str) else value for value in row] for row in cells)
    else:
        from rich.markup import escape
        from rich.table import Table

        from kgqa.cli.terminal import Terminal

        table = Table()
        for name in rows.column_names:
            table.add_column(name, overflow="fold")
        for row in rows.to_pylist():
            table.add_row(*("" if value is None else escape(printable(str(value))) for value in row.values()))
        console = Terminal(highlight=True, markup=True)
        console.print(table)
        nothing = "No rows: check the ids, or try another query."
        count = "1 row" if rows.num_rows == 1 else f"{rows.num_rows:,} rows"
        console.print(f"{count}{', cut' if cut else ''}" if rows.num_rows or cut else nothing)
    if cut:
        shown = "first row is" if rows.num_rows == 1 else f"first {rows.num_rows:,} rows are"
        typer.echo(f"Cut: only the {shown} shown, there are more; --{cut} allows more.", err=True)
