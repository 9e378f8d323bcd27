"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kgqa.store.neo4j import Neo4jSettings

Store = Annotated[str, Option(help="embedded, or neo4j: the server that NEO4J_URI names, with NEO4J_USERNAME and NEO4J_PASSWORD.")]
Neo4jUri = Annotated[
    str | None, Option(envvar="NEO4J_URI", show_envvar=True, help="The server's address; bolt://localhost:7687 by default.")
]
Neo4jUser = Annotated[str | None, Option(envvar="NEO4J_USERNAME", show_envvar=True, help="Who asks; the password is NEO4J_PASSWORD.")]
Neo4jDatabase = Annotated[str | None, Option(envvar="NEO4J_DATABASE", show_envvar=True, help="Which of the server's databases.")]
Paragraphs = Annotated[
    Path | None, Option(help="The file of the questions' texts, where they stand apart and not beside them under the official name.")
]
Strict = Annotated[
    bool, Option("--strict", help="Refuse what contradicts the format, as a support that is not there; it is kept and counted otherwise.")
]


def print_remarks(console: Console, remarks: Sequence[str]) -> None:
    """What is to be said of a set once it was read, a line each."""
    from kgqa.cli.printable import printable

    for remark in remarks:
        console.print(printable(remark), style="yellow", soft_wrap=True)


def server(store: str, uri: str | None, user: str | None, database: str | None) -> Neo4jSettings | None:
    """Where the server is, for a command that needs one; None, and no complaint about ``NEO4J_*``, for one that does not."""
    from kgqa.store.neo4j import Neo4jSettings

    return Neo4jSettings.from_environment(uri=uri, username=user, database=database) if store == "neo4j" else None
