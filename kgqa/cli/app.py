"""The commands, one file each; a file is imported when its command runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from kgqa.cli.examples import with_examples
from kgqa.errors import SettingsError
from kgqa.version import __version__

COMMANDS = (
    "annotate", "audit", "compose", "contrast", "convert", "doctor", "estimate", "evaluate", "generate", "explore", "export", "import",
    "init", "load", "predict", "publish", "show", "split", "query", "relations", "runs", "train", "validate",
)  # fmt: skip
"""The commands in the order of the help."""
MODULES = {"import": "import_files"}
"""Command → module of this folder and function in it, where Python does not allow the command's own name."""
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""Base class of all mistakes in a command line; typer has no public name for it."""
PLAIN: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}


class Commands(typer.core.TyperGroup):
    """The commands by name. Each is imported only when it is used, so that its options cost other commands nothing."""

    def __init__(self, **settings: Any) -> None:
        """Called by typer; a misspelled command is compared with these names."""
        super().__init__(**settings)
        self.commands = dict.fromkeys(COMMANDS, typer.core.TyperCommand("one of them"))

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name with its options, or None."""
        if cmd_name not in COMMANDS:
            return None
        function = _function(cmd_name)
        if isinstance(function, typer.Typer):
            return with_examples(typer.main.get_command(function), cmd_name)
        application = typer.Typer(**PLAIN)
        settings = {"allow_extra_args": True, "ignore_unknown_options": True} if cmd_name == "query" else None
        application.command(cmd_name, context_settings=settings)(function)
        return with_examples(typer.main.get_command(application), cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The names of the commands, each with one line of help."""
        width = formatter.width - 6 - max(map(len, COMMANDS))
        rows = [(name, typer.core.TyperCommand(name, help=_help(name)).get_short_help_str(width)) for name in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _help(name: str) -> str | None:
    function = _function(name)
    return str(function.info.help) if isinstance(function, typer.Typer) else function.__doc__


def _function(name: str) -> Callable[..., None] | typer.Typer:
    name = MODULES.get(name, name)
    return getattr(import_module(f"kgqa.cli.{name}"), name)


app = typer.Typer(
    name="kgqa", cls=Commands, help="Turn a knowledge graph and documents into multi-hop question-answering datasets.",
    no_args_is_help=True, **PLAIN,
)  # fmt: skip


def run() -> int:
    """Run the command line and return its exit status.

    Raises SettingsError for unknown options, missing options and invalid values. It does not call ``app`` directly, because typer would end
    an interrupted command, or one whose reader has gone, with a status of its own.
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
        text = _OUTSIDE.sub(_bound, _NO_NUMBER.sub(_plain, " ".join(error.format_message().split()))).rstrip(".")  # type: ignore[attr-defined]
        command = where.command_path if where else " ".join(["kgqa", *[word for word in sys.argv[1:2] if word in COMMANDS]])
        raise SettingsError(f"{text}; see {command} --help.") from None
    return 0


_NO_NUMBER = re.compile(r"(?:Input should be a valid|Unable to parse input string as an?) (integer|number)\b.*")
"""What typer takes over from pydantic about a text that is no number."""

_OUTSIDE = re.compile(r"Input should be (greater|less) than (or equal to )?(\S+)")
"""What it says of a number outside of a range."""


def _bound(match: re.Match[str]) -> str:
    words = {"greater": ("more than", "at least"), "less": ("less than", "at most")}[match[1]]
    return f"it must be {words[bool(match[2])]} {match[3]}"


def _plain(match: re.Match[str]) -> str:
    if "exceeded" in match[0]:
        return "the number is too large"
    return f"it must be a {'whole ' if match[1] == 'integer' else ''}number"


def _version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"kgqa {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    """Turn a knowledge graph and documents into multi-hop question-answering datasets."""
