"""The commands, one file each."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kgqa.cli import audit, contrast, convert, doctor, evaluate, explore, export, generate, load, query, show
from kgqa.errors import InterruptedRun, SettingsError
from kgqa.version import __version__

STOPPED = "stopped; run the same command again."
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What any mistake in a command line is; typer has no public name for it."""


class Commands(TyperGroup):
    """Typer would end a command that the user stops without a word, and one whose output nobody reads on, as ``| head``, with status 1."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Understand the command line; raises InterruptedRun where the user stops it as early as that."""
        try:
            return super().make_context(*args, **settings)
        except KeyboardInterrupt:
            raise InterruptedRun(STOPPED) from None

    def invoke(self, ctx: Any) -> Any:
        """Run the command; raises InterruptedRun where the user stops it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptedRun(STOPPED) from None
        except BrokenPipeError:
            from kgqa.cli.terminal import print_nowhere

            print_nowhere()
            raise typer.Exit from None


app = typer.Typer(
    cls=Commands,
    name="kgqa",
    help="Turn a knowledge graph and documents into multi-hop question-answering datasets.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def run() -> int:
    """Run the command line; its exit status. SettingsError for options that there are not, that lack or that have no such value."""
    try:
        return app(prog_name="kgqa", standalone_mode=False) or 0
    except USAGE_ERROR as error:
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(context.get_help() if context else error, err=True)
            return 2
        text = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
        command = context.command_path if context else " ".join(["kgqa", *[word for word in sys.argv[1:2] if word in NAMES]])
        raise SettingsError(f"{text}; see {command} --help.") from None


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
NAMES = frozenset(command.name for command in app.registered_commands)
