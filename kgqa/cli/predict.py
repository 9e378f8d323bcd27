"""The command ``kgqa predict``: options and printed result."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from kgqa.cli.options import AnySet, From, Paragraphs, print_remarks
from kgqa.cli.train import Device, Precision


def predict(
    run: Annotated[Path, Argument(help="Folder of a finished kgqa train run.")],
    dataset: AnySet,
    out: Annotated[Path, Option(help="New file of predictions, in the format that kgqa evaluate reads.")],
    split: Annotated[str | None, Option(help="train, dev or test; by default dev, or the only split.")] = None,
    metric: Annotated[str | None, Option(help="Metric that determines the file's format; by default the question set's own.")] = None,
    device: Device = None,
    precision: Precision = None,
    from_: From = None,
    paragraphs: Paragraphs = None,
) -> None:
    """Predict the answers of a question set with a trained reader."""
    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with ConsoleProgress(console) as progress:
        result = kgqa.predict(
            run, dataset, out=out, split=split, metric=metric, device=device, precision=precision, format=from_, paragraphs=paragraphs,
            progress=progress,
        )  # fmt: skip
    print_remarks(console, [*result.remarks, *result.source.remarks])
    console.say(f"{result.file}: {result.questions:,} answers to {result.split}, {result.seconds:,.1f} s", style="bold")
    metric_option = "" if metric is None else f" --metric {result.metric}"
    console.say(f"Next: kgqa evaluate {quote(str(result.source.path))} {quote(str(result.file))}{metric_option}")
