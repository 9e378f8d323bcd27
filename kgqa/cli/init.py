"""The command ``kgqa init``: options, questions on a terminal, and what to do next."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from typer import Argument, Option

from kgqa.settings.defaults import LANGUAGE


def init(
    name: Annotated[str, Argument(help="Name of the domain and its folder: lower-case letters, digits, - and _.")],
    directory: Annotated[Path, Option("--dir", help="Parent folder of the new folder.")] = Path(),
    from_: Annotated[
        list[str] | None, Option("--from", help="A file to import, as FORMAT:FILE (see kgqa import --list); repeatable.")
    ] = None,
    extends: Annotated[
        str | None,
        Option(
            help="Base settings: wikidata (articles), medline (abstracts) or companies (texts that state the facts); "
            "by default those of the first format."
        ),
    ] = None,
    language: Annotated[str | None, Option(help="Language of the texts, such as en, de or ltg; by default en.")] = None,
    title: Annotated[str | None, Option(help="Title on the dataset card; by default the name.")] = None,
    licence: Annotated[str | None, Option(help="Licence on the dataset card; by default that of the files.")] = None,
    yes: Annotated[bool, Option("--yes", help="Ask no questions; use the defaults.")] = False,
) -> None:
    """Create your own domain. The folder has commented settings, a projection and a README."""
    import kgqa
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.init import suggested_base

    if not yes and sys.stdin.isatty() and sys.stdout.isatty():
        title = title if title is not None else typer.prompt("Title on the dataset card", default=name)
        if from_ is None:
            typer.echo("Files to import, each as FORMAT:FILE, such as edges:facts.csv; an empty line ends the list.")
            from_ = list(iter(lambda: typer.prompt("File", default="", show_default=False), ""))
        extends = extends or typer.prompt(
            "Base settings: wikidata (articles), medline (abstracts) or companies (texts that state the facts)",
            default=suggested_base(from_),
        )
        language = language if language is not None else typer.prompt("Language of the texts", default=LANGUAGE)
    result = kgqa.init(
        name, directory=directory, from_=from_ or (), extends=extends, language=language, title=title,
        licence=licence,
    )  # fmt: skip
    console = Terminal()
    console.say(f"{result.folder}: {result.settings.name}, {result.settings.with_suffix('.cypher').name}, README.md", style="bold")
    for file in result.copied:
        console.say(f"{file} was copied, as it is on another disk or cannot be linked.", style="yellow")
    console.say(f"Run in {quote(str(result.folder))}:")
    for command in result.commands:
        console.say(f"  {command}")
