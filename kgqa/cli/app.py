"""The commands, one file each."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
import typer.main

from kgqa.cli import audit, contrast, convert, doctor, evaluate, explore, export, generate, load, query, show
from kgqa.errors import SettingsError
from kgqa.version import __version__

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What any mistake in a command line is; typer has no public name for it."""


app = typer.Typer(
    name="kgqa",
    help="Turn a knowledge graph and documents into multi-hop question-answering datasets.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def run() -> int:
    """Run the command line; its exit status. SettingsError for options that there are not, that lack or that have no such value.

    Not by a call of ``app``, which would end a command that the user stops, and one whose reader has gone, with a status of its own.
    """
    commands = typer.main.get_group(app)
    try:
        with commands.make_context("kgqa", sys.argv[1:]) as context:
            commands.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except USAGE_ERROR as error:
        where = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(where.get_help() if where else error, err=True)
            return 2
        text = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
        command = where.command_path if where else " ".join(["kgqa", *[word for word in sys.argv[1:2] if word in commands.commands]])
        raise SettingsError(f"{text}; see {command} --help.") from None
    return 0


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kgqa {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")] = False,
) -> None:
    """Turn a knowledge graph and documents into multi-hop question-answering datasets."""


app.command("audit")(audit.audit)
app.command("contrast")(contrast.contrast)
app.command("convert")(convert.convert)
app.command("doctor")(doctor.doctor)
app.command("evaluate")(evaluate.evaluate)
app.command("generate")(generate.generate)
app.command("explore")(explore.explore)
app.command("export")(export.export)
app.command("load")(load.load)
app.command("show")(show.show)
app.command("query", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(query.query)
