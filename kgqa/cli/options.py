"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option

from kgqa.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgqa.cli.terminal import Terminal
    from kgqa.settings.neo4j import Neo4jSettings

AnyDomain = Annotated[str, Argument(help="Built-in domain (wikidata, medline or companies), or the TOML file of your own.")]
AnySet = Annotated[str, Argument(help="A dataset folder, a file or folder in any known format, hf://owner/name, or s3:// or gs://.")]
Source = Annotated[
    str | None,
    Option(
        help="Folder with the domain's files, or s3://BUCKET/PREFIX or gs://… (docs/sources.md); by default the small example data of a "
        "built-in domain."
    ),
]
RunWorkspace = Annotated[
    str, Option(help="Folder, s3://BUCKET/PREFIX or gs://… for tables, graph and datasets; finished stages in it are reused.")
]
From = Annotated[str | None, Option("--from", help="Format of the question set; detected by default.")]
Store = Annotated[str, Option(help="Graph store: embedded, or neo4j (the server at NEO4J_URI, with NEO4J_USERNAME and NEO4J_PASSWORD).")]
# Only Neo4jSettings reads the environment, so these values come from the command line.
Neo4jUri = Annotated[str | None, Option(help="Address of the Neo4j server; by default NEO4J_URI, or bolt://localhost:7687.")]
Neo4jUser = Annotated[str | None, Option(help="User of the server; by default NEO4J_USERNAME. The password is read from NEO4J_PASSWORD.")]
Neo4jDatabase = Annotated[str | None, Option(help="Database on the server; by default NEO4J_DATABASE.")]
Paragraphs = Annotated[Path | None, Option(help="File with the paragraphs, if it is not next to the questions under its official name.")]
Strict = Annotated[
    bool,
    Option("--strict", help="Reject records that violate the format, such as a missing support; by default they are kept and counted."),
]

Lossy = Annotated[
    bool,
    Option("--lossy", help="Drop gold annotations that the format cannot hold, such as support or steps; by default this is an error."),
]

Workers = Annotated[int | None, Option(help="Number of threads, by default one per core. The result does not depend on it.")]
Cluster = Annotated[
    str | None,
    Option(
        help="Ray cluster that shares the work: auto, HOST:PORT or ray://HOST:PORT; none: use threads. On CPUs, the result is the same "
        "(docs/cluster.md)."
    ),
]


def is_typed(context: Context, option: str) -> bool:
    """Whether an option is on the command line, and not at its default."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def print_remarks(console: Terminal, remarks: Sequence[str]) -> None:
    """Print the remarks about a question set, one per line."""
    for remark in remarks:
        console.say(remark, style="yellow")


def print_if_seed(console: Terminal, is_seed: bool) -> None:
    """Say that kgqa's own small domain was read, if it was."""
    if is_seed:
        console.print("No --source given: using the small domain that kgqa ships.", style="yellow")


def server(store: str, uri: str | None, user: str | None, database: str | None) -> Neo4jSettings | None:
    """The server's settings for a command that needs a server, otherwise None, regardless of ``NEO4J_*``.

    Raises SettingsError if options name a server but the store needs none, and if one of them is empty.
    """
    from kgqa.settings.neo4j import Neo4jSettings
    from kgqa.store.base import check_store

    check_store(store)
    for option, value in (("--neo4j-uri", uri), ("--neo4j-user", user), ("--neo4j-database", database)):
        if value is not None and store != "neo4j":
            raise SettingsError(f"{option} requires --store neo4j, but the store is {store}; leave out one of the two.")
        if value == "":
            raise SettingsError(f"{option} is empty; give a value, or leave it out.")
    return Neo4jSettings.from_environment(uri=uri, username=user, database=database) if store == "neo4j" else None
