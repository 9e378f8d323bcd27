"""The command ``kgqa predict``: options and printed result."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from kgqa.cli.options import AnySet, Cluster, From, Paragraphs, print_remarks
from kgqa.cli.train import Device, Precision


def predict(
    run: Annotated[str, Argument(help="Folder of a finished kgqa train run. For a model behind an endpoint: llm, or a TOML file.")],
    dataset: AnySet,
    out: Annotated[Path, Option(help="New file of predictions, in the format that kgqa evaluate reads.")],
    split: Annotated[str | None, Option(help="train, dev or test; by default dev, or the only split.")] = None,
    metric: Annotated[str | None, Option(help="Metric whose file format is written; by default that of the question set.")] = None,
    reader: Annotated[str | None, Option(help="module:Class of your own reader, if the run trained one; its code is executed.")] = None,
    device: Device = None,
    precision: Precision = None,
    model: Annotated[str | None, Option(help="With llm: name of the endpoint's model.")] = None,
    endpoint: Annotated[
        str | None,
        Option(help="With llm: chat-completions endpoint; by default OPENAI_BASE_URL, or OpenAI's. The key is read from OPENAI_API_KEY."),
    ] = None,
    recording: Annotated[
        Path | None, Option(help="With llm: file that records all answers, so that none is requested twice; by default next to --out.")
    ] = None,
    shots: Annotated[int | None, Option(help="With llm: number of examples from the train split in each prompt; by default 0.")] = None,
    retrieve: Annotated[
        int | None,
        Option(help="With llm: number of paragraphs that BM25 finds in the whole set (0: none); by default, the question's own are shown."),
    ] = None,
    samples: Annotated[
        int | None, Option(help="With llm: number of answers to each question, of which the most frequent counts; by default 1.")
    ] = None,
    input_price: Annotated[float | None, Option(help="With llm: price of a million input tokens.")] = None,
    output_price: Annotated[float | None, Option(help="With llm: price of a million output tokens.")] = None,
    max_cost: Annotated[float | None, Option(help="With llm: maximum cost of all recorded answers, at these prices.")] = None,
    from_: From = None,
    paragraphs: Paragraphs = None,
    cluster: Cluster = None,
) -> None:
    """Predict the answers of a question set. Uses a trained reader, or a model behind an endpoint."""
    import kgqa
    from kgqa.cli.terminal import Terminal
    from kgqa.training.processes import is_first_process

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.predict(
            run, dataset, out=out, split=split, metric=metric, reader=reader, device=device, precision=precision, model=model,
            endpoint=endpoint, recording=recording, shots=shots, retrieve=retrieve, samples=samples, input_price=input_price,
            output_price=output_price, max_cost=max_cost, format=from_, paragraphs=paragraphs, cluster=cluster, progress=progress,
        )  # fmt: skip
    if not is_first_process():
        return
    print_remarks(console, [*result.remarks, *result.source.remarks])
    console.say(f"{result.file}: {result.questions:,} answers to {result.split}, {result.seconds:,.1f} s", style="bold")
    if result.report is not None:
        console.say(f"{result.report}: tokens, cost, and the answer to each question with its type and confidence")
    metric_option = "" if metric is None else f" --metric {result.metric}"
    console.say(f"Next: kgqa evaluate {quote(str(result.source.path))} {quote(str(result.file))}{metric_option}")
