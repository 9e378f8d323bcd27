"""The command ``kgqa annotate`` and its parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core
from typer import Argument, Option

from kgqa.cli.annotate_tables import figures, print_samples
from kgqa.cli.options import is_typed
from kgqa.cli.printable import printable
from kgqa.errors import SettingsError
from kgqa.runs.funnel import count_list
from kgqa.settings.defaults import ANNOTATE_PORT, ANNOTATE_SAMPLE, ANNOTATE_SPLIT, ANNOTATOR, DRAWS_SEED, LINK_DAYS

if TYPE_CHECKING:
    from kgqa.commands.annotate import Link

Project = Annotated[Path, Argument(help="Project file (TOML), or a dataset folder to validate without a project.")]
Journal = Annotated[
    str | None,
    Option(help="Journal: an SQLite file or a PostgreSQL address; by default KGQA_JOURNAL, or NAME.sqlite next to the project file."),
]
SERVE = "serve"
OF_DATASETS = ("person", "sample", "seed", "split", "print_")
"""Parameters of ``serve`` that go with a dataset folder."""
OF_PAGES = ("journal", "port", "person")
"""Parameters of ``serve`` that printed samples do not have."""


class Parts(typer.core.TyperGroup):
    """The parts of the command; without the name of one, the pages are served."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """``kgqa annotate PROJECT`` is ``kgqa annotate serve PROJECT``."""
        if args and args[0] not in {*self.commands, "--help"}:
            args = [SERVE, *args]
        return super().parse_args(ctx, args)


annotate = typer.Typer(
    cls=Parts, help="Collect annotations on local web pages. Tasks: validate, answer, compose, write questions.", no_args_is_help=True,
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip
annotate.command("figures")(figures)


@annotate.command(SERVE)
def serve(
    ctx: typer.Context,
    project: Project,
    journal: Journal = None,
    port: Annotated[int, Option(help="Local port; 0: any free port.")] = ANNOTATE_PORT,
    person: Annotated[str, Option(help="With a dataset folder: your name.")] = ANNOTATOR,
    sample: Annotated[int, Option(help="With a dataset folder: maximum samples to draw.")] = ANNOTATE_SAMPLE,
    seed: Annotated[int, Option(help="With a dataset folder: seed of the draw.")] = DRAWS_SEED,
    split: Annotated[str, Option(help="With a dataset folder: train, dev, test or all.")] = ANNOTATE_SPLIT,
    print_: Annotated[
        bool, Option("--print", help="With a dataset folder: print the drawn samples as plain text instead of serving pages.")
    ] = False,
) -> None:
    """Serve the pages of a project, and print each person's link."""
    import kgqa

    _refuse_idle_options(ctx, project, prints=print_)
    if print_:
        print_samples(project, sample=sample, seed=seed, split=split)
        return

    def ready(links: list[Link]) -> None:
        _print_links(links)
        typer.echo("Press Ctrl-C to stop.")

    kgqa.annotate(project, journal=journal, port=port, person=person, sample=sample, seed=seed, split=split, ready=ready)


@annotate.command()
def links(
    project: Project,
    journal: Journal = None,
    days: Annotated[int, Option(help="Validity of the links in days.")] = LINK_DAYS,
    port: Annotated[int, Option(help="Port on which the pages are served.")] = ANNOTATE_PORT,
    renew: Annotated[bool, Option("--renew", help="Revoke all earlier links; restart the pages afterwards.")] = False,
) -> None:
    """Print each person's link."""
    import kgqa

    _print_links(kgqa.annotate_links(project, journal=journal, days=days, port=port, renew=renew))


@annotate.command()
def status(
    project: Project, journal: Journal = None, json_: Annotated[bool, Option("--json", help="Print all figures as JSON.")] = False
) -> None:
    """Print progress, agreement, time and drift, recomputed from the journal."""
    import kgqa
    from kgqa.cli.annotate_status import print_status
    from kgqa.cli.terminal import Terminal

    result = kgqa.annotate_status(project, journal=journal)
    if json_:
        typer.echo(json.dumps(result.record(), ensure_ascii=False, indent=1))
    else:
        print_status(Terminal(), result.figures, result.own)


@annotate.command()
def export(
    project: Project,
    to: Annotated[str, Option(help="Output format: native (a dataset), parquet (tables) or label-studio.")],
    out: Annotated[
        Path | None, Option(help="New output folder; for validated samples by default NAME-validated next to the dataset.")
    ] = None,
    journal: Journal = None,
) -> None:
    """Export the annotations as a dataset, as tables, or for Label Studio."""
    import kgqa

    result = kgqa.annotate_export(project, to=to, out=out, journal=journal)
    counts = count_list(result.counts)
    typer.echo(printable(f"Written: {result.out} ({counts})"))


@annotate.command("import")
def import_annotations(
    project: Project,
    annotations: Annotated[Path, Argument(help="JSON export from Label Studio of tasks that kgqa exported.")],
    person: Annotated[str, Option(help="Person in the project to whom the annotations belong.")],
    annotator: Annotated[str | None, Option(help="Annotator in Label Studio, if there are several.")] = None,
    journal: Journal = None,
) -> None:
    """Import one person's annotations from Label Studio."""
    import kgqa

    count = kgqa.annotate_import(project, annotations, person=person, annotator=annotator, journal=journal)
    typer.echo(f"Imported: {count:,} answers")


@annotate.command()
def withdraw(
    project: Project,
    person: Annotated[str, Argument(help="Person to withdraw.")],
    reason: Annotated[str, Option(help="Reason, which the dataset card states.")],
    journal: Journal = None,
) -> None:
    """Exclude a person's answers from now on, and give their items to others."""
    import kgqa

    count = kgqa.annotate_withdraw(project, person, reason=reason, journal=journal)
    typer.echo(f"Excluded: {count:,} answers")


@annotate.command()
def seat(
    project: Project,
    model: Annotated[str, Option(help="Model name, as the endpoint knows it.")],
    endpoint: Annotated[
        str | None, Option(help="Address of the chat-completions endpoint; by default OPENAI_BASE_URL, or OpenAI's.")
    ] = None,
    person: Annotated[str | None, Option(help="Name of the seat; by default the model's name.")] = None,
    limit: Annotated[int | None, Option(help="Maximum items to answer.", min=1)] = None,
    journal: Journal = None,
) -> None:
    """Let a chat model answer items under its own name; it never counts as a person."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    with Terminal().progress() as progress:
        result = kgqa.annotate_seat(
            project, model=model, endpoint=endpoint, person=person, limit=limit, journal=journal, progress=progress
        )  # fmt: skip
    typer.echo(printable(f"{result.person} answered {result.answered:,} items"))
    for reason, count in result.left_out.items():
        typer.echo(printable(f"skipped {count:,}: {reason}"))


def _refuse_idle_options(ctx: typer.Context, project: Path, *, prints: bool) -> None:
    """Raise SettingsError for options that have no effect together."""
    options = {parameter.name or "": parameter.opts[-1] for parameter in ctx.command.params if parameter.param_type_name == "option"}
    typed_options = {name: option for name, option in options.items() if is_typed(ctx, name)}
    if not project.is_dir():
        if idle := next((typed_options[name] for name in OF_DATASETS if name in typed_options), None):
            raise SettingsError(f"{idle} requires a dataset folder, but {project} is not one; leave it out.")
    elif prints and (idle := next((typed_options[name] for name in OF_PAGES if name in typed_options), None)):
        raise SettingsError(f"{idle} cannot be combined with --print; leave out one of the two.")


def _print_links(links: list[Link]) -> None:
    for link in links:
        typer.echo(printable(f"{link.person}{' (lead)' if link.role == 'lead' else ''}: {link.address}"))
