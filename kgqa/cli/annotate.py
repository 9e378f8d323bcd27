"""The command ``kgqa annotate`` and its parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core
from typer import Argument, Option

from kgqa.cli.annotate_tables import figures, print_samples
from kgqa.cli.printable import printable
from kgqa.errors import SettingsError
from kgqa.settings.defaults import ANNOTATE_PORT, ANNOTATE_SAMPLE, ANNOTATE_SPLIT, ANNOTATOR, DRAWS_SEED, LINK_DAYS

if TYPE_CHECKING:
    from kgqa.commands.annotate import Link

Project = Annotated[Path, Argument(help="Project file (TOML), or a dataset folder to validate alone.")]
Journal = Annotated[
    str | None,
    Option(help="SQLite file or PostgreSQL address; by default KGQA_JOURNAL, else NAME.sqlite beside the project file."),
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
    cls=Parts, help="Let people validate, answer, compose and collect questions on local pages.", no_args_is_help=True,
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip
annotate.command("figures")(figures)


@annotate.command(SERVE)
def serve(
    ctx: typer.Context,
    project: Project,
    journal: Journal = None,
    port: Annotated[int, Option(help="Port on this machine; 0: a free one.")] = ANNOTATE_PORT,
    person: Annotated[str, Option(help="Your name; for a dataset folder.")] = ANNOTATOR,
    sample: Annotated[int, Option(help="Maximum samples to draw; for a dataset folder.")] = ANNOTATE_SAMPLE,
    seed: Annotated[int, Option(help="Seed of the draw; for a dataset folder.")] = DRAWS_SEED,
    split: Annotated[str, Option(help="Split: train, dev, test or all; for a dataset folder.")] = ANNOTATE_SPLIT,
    print_: Annotated[
        bool, Option("--print", help="Print the drawn samples of a dataset folder as plain text, and serve no page.")
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
    days: Annotated[int, Option(help="Days for which the links are valid.")] = LINK_DAYS,
    port: Annotated[int, Option(help="Port of the pages.")] = ANNOTATE_PORT,
    renew: Annotated[bool, Option("--renew", help="Make all earlier links invalid; restart the pages afterwards.")] = False,
) -> None:
    """Print the link of each person."""
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
    to: Annotated[str, Option(help="native (a dataset), parquet (tables), label-studio.")],
    out: Annotated[Path | None, Option(help="New folder; of validated samples by default NAME-validated beside the dataset.")] = None,
    journal: Journal = None,
) -> None:
    """Write the answers as a dataset, as tables, or for Label Studio."""
    import kgqa

    result = kgqa.annotate_export(project, to=to, out=out, journal=journal)
    counts = ", ".join(f"{name} {count:,}" for name, count in result.counts.items())
    typer.echo(printable(f"Written: {result.out} ({counts})"))


@annotate.command("import")
def import_annotations(
    project: Project,
    annotations: Annotated[Path, Argument(help="JSON export of Label Studio, of tasks that kgqa exported.")],
    person: Annotated[str, Option(help="Person of the project whose answers they are.")],
    annotator: Annotated[str | None, Option(help="Annotator in Label Studio, where there are several.")] = None,
    journal: Journal = None,
) -> None:
    """Take the annotations of one person from Label Studio."""
    import kgqa

    count = kgqa.annotate_import(project, annotations, person=person, annotator=annotator, journal=journal)
    typer.echo(f"Taken: {count:,} answers")


@annotate.command()
def withdraw(
    project: Project,
    person: Annotated[str, Argument(help="Person who leaves.")],
    reason: Annotated[str, Option(help="Why, for the card.")],
    journal: Journal = None,
) -> None:
    """Leave a person's answers out from now on; their items go to others."""
    import kgqa

    count = kgqa.annotate_withdraw(project, person, reason=reason, journal=journal)
    typer.echo(f"Left out: {count:,} answers")


@annotate.command()
def seat(
    project: Project,
    model: Annotated[str, Option(help="Name of the model.")],
    endpoint: Annotated[str | None, Option(help="Address of the chat-completions endpoint; by default the environment's.")] = None,
    person: Annotated[str | None, Option(help="Name of the seat; by default the model's.")] = None,
    limit: Annotated[int | None, Option(help="Maximum items.", min=1)] = None,
    journal: Journal = None,
) -> None:
    """Let a chat model answer the items under its own name; it is never counted as a person."""
    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal

    with ConsoleProgress(Terminal()) as progress:
        result = kgqa.annotate_seat(
            project, model=model, endpoint=endpoint, person=person, limit=limit, journal=journal, progress=progress
        )  # fmt: skip
    typer.echo(printable(f"{result.person} answered {result.answered:,} items"))
    for reason, count in result.left_out.items():
        typer.echo(printable(f"left out {count:,}: {reason}"))


def _refuse_idle_options(ctx: typer.Context, project: Path, *, prints: bool) -> None:
    """Raise SettingsError for options that have no effect together."""
    options = {parameter.name or "": parameter.opts[-1] for parameter in ctx.command.params if parameter.param_type_name == "option"}
    sources = {name: ctx.get_parameter_source(name) for name in options}
    typed = {name: options[name] for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    if not project.is_dir():
        if idle := next((typed[name] for name in OF_DATASETS if name in typed), None):
            raise SettingsError(f"{idle} goes with a dataset folder, and {project} is none; leave it out.")
    elif prints and (idle := next((typed[name] for name in OF_PAGES if name in typed), None)):
        raise SettingsError(f"{idle} does not go with --print; leave out one of the two.")


def _print_links(links: list[Link]) -> None:
    for link in links:
        typer.echo(printable(f"{link.person}{' (lead)' if link.role == 'lead' else ''}: {link.address}"))
