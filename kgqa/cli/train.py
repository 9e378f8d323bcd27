"""The command ``kgqa train``: options, list of readers and printed result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from kgqa.cli.options import From, Paragraphs, print_remarks
from kgqa.settings.defaults import SEED

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.train import Trained

Device = Annotated[str | None, Option(help="auto (the default: a GPU if there is one), cpu or cuda.")]
Precision = Annotated[str | None, Option(help="auto (the default: bf16 on a GPU that supports it), fp32 or bf16.")]


def _list(is_set: bool) -> None:
    if not is_set:
        return
    from rich.table import Table

    import kgqa
    from kgqa.cli.terminal import Terminal

    table = Table("reader", "what it is")
    for name, purpose in kgqa.list_readers().items():
        table.add_row(name, purpose)
    Terminal().print(table)
    raise Exit


def train(
    reader: Annotated[
        str,
        Argument(help="Name of a reader (see --list), module:Class of your own, or a TOML file that names one of these and its settings."),
    ],
    dataset: Annotated[str, Argument(help="A dataset folder, a file or folder in any known format, hf://owner/name, or s3:// or gs://.")],
    out: Annotated[Path, Option(help="Folder of the run; an unfinished run in it is resumed.")],
    seed: Annotated[int, Option(help="Seed of weights, batches and dropout.")] = SEED,
    max_steps: Annotated[int | None, Option(help="Maximum number of training steps.")] = None,
    epochs: Annotated[int | None, Option(help="Maximum number of epochs.")] = None,
    encoder: Annotated[
        str | None, Option(help="Encoder: a name on the Hugging Face hub, a folder, a run of kgqa train, or package:NAME.")
    ] = None,
    start_from: Annotated[
        Path | None, Option("--start-from", help="Finished run of the same reader to initialise the weights from.")
    ] = None,
    device: Device = None,
    precision: Precision = None,
    runs: Annotated[
        str | None, Option(help="Record of runs: a folder, a file, or a database address; by default KGQA_RUNS, or the folder above --out.")
    ] = None,
    track: Annotated[
        str | None, Option(help="Experiment tracker that also gets settings and curves: tensorboard, mlflow, trackio or wandb.")
    ] = None,
    from_: From = None,
    paragraphs: Paragraphs = None,
    cluster: Annotated[
        str | None,
        Option(help="Ray cluster to train on, auto or HOST:PORT; all nodes must see the same paths. none: this machine (docs/cluster.md)."),
    ] = None,
    processes: Annotated[
        int | None,
        Option(help="With --cluster: number of processes that train together; by default one per GPU, or as many as the cores allow."),
    ] = None,
    list_: Annotated[bool, Option("--list", callback=_list, is_eager=True, help="List the readers and exit.")] = False,
) -> None:
    """Train a reader on a question set; an interrupted run resumes."""
    import kgqa
    from kgqa.cli.terminal import Terminal
    from kgqa.training.processes import is_first_process

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.train(
            reader, dataset, out=out, seed=seed, max_steps=max_steps, epochs=epochs, encoder=encoder, device=device, precision=precision,
            start_from=start_from, runs=runs, track=track, format=from_, paragraphs=paragraphs, cluster=cluster,
            processes=processes, progress=progress,
        )  # fmt: skip
    if is_first_process():
        _print(console, result, format_options={"--from": from_, "--paragraphs": paragraphs})
        print_remarks(console, result.source.remarks)


def _print(console: Terminal, result: Trained, *, format_options: Mapping[str, object]) -> None:
    from kgqa.readers.own import is_class_path
    from kgqa.scoring.default_metric import has_metric

    if result.was_finished:
        console.say(f"{result.folder}: this run was already finished; nothing was done.", style="yellow")
    for reason, count in result.faults.most_common():
        console.say(f"Not used for training: {count:,} questions, because {reason}.", style="yellow")
    best = "" if result.best is None else f", score on dev {100 * result.best:.1f}"
    console.say(
        f"{result.folder}: {result.reader}, {result.questions:,} questions, {result.steps:,} steps{best}, {result.seconds:,.0f} s",
        style="bold",
    )
    if result.tracking_fault:
        console.say(result.tracking_fault, style="yellow")
    if result.connects is False:
        console.say(
            f"{result.reader} reads one paragraph at a time and cannot connect two; it would with positions = 2048.", style="yellow"
        )
    split = next(name for name in ("dev", "test", "train") if name in result.source.files)
    options = "".join(f" {name} {quote(str(value))}" for name, value in format_options.items() if value)
    if not has_metric(result.source):
        options += " --metric METRIC"
    if is_class_path(result.reader):
        options += f" --reader {result.reader}"
    console.say(f"Next: kgqa predict {quote(str(result.folder))} {quote(str(result.source.path))} --split {split}{options} --out FILE")
