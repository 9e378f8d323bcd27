"""The command ``kgqa evaluate``: options, printed scores and breakdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kgqa.cli.options import AnySet, From, Paragraphs, Strict, print_remarks
from kgqa.settings.defaults import DRAWS_SEED, NO_ANSWER_PROBABILITY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kgqa.cli.terminal import Terminal
    from kgqa.scoring.breakdown import Dimension
    from kgqa.scoring.report import Evaluation

ROWS = 20
"""Values of one dimension that are printed; all of them are in the JSON."""


CELL = 11
"""Characters of an interval."""


def evaluate(
    dataset: AnySet,
    predictions: Annotated[Path, Argument(help="Predictions in the question set's official format.")],
    metric: Annotated[str | None, Option(help="Metric; by default the question set's own. Any unknown name lists all metrics.")] = None,
    original: Annotated[Path | None, Option(help="For dire-probe: predictions on the original set, which cap the probe's scores.")] = None,
    aliases: Annotated[Path | None, Option(help="For twowiki: official file of entity aliases.")] = None,
    na_prob_file: Annotated[Path | None, Option(help="For squad2: official file of no-answer probabilities.")] = None,
    na_prob_thresh: Annotated[float, Option(help="For squad2: threshold of the no-answer probability.")] = NO_ANSWER_PROBABILITY,
    missing_as_zero: Annotated[
        bool, Option("--missing-as-zero", help="For squad2: count a missing prediction as wrong, not as an error.")
    ] = False,
    json: Annotated[Path | None, Option(help="JSON file for all results, including each question's scores.")] = None,
    from_: From = None,
    paragraphs: Paragraphs = None,
    strict: Strict = False,
    seed: Annotated[int, Option(help="Seed of the intervals.")] = DRAWS_SEED,
) -> None:
    """Score predictions with the official metrics. Prints confidence intervals and a breakdown."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.evaluate(
            dataset,
            predictions,
            metric=metric,
            original=original,
            aliases=aliases,
            na_prob_file=na_prob_file,
            na_prob_thresh=na_prob_thresh,
            missing_as_zero=missing_as_zero,
            json=json,
            format=from_,
            paragraphs=paragraphs,
            strict=strict,
            seed=seed,
            progress=progress,
        )
    _print(console, result, probe_is_capped=original is not None)
    print_remarks(console, result.source.remarks)
    if json is not None:
        console.say(f"Written: {json}")


def _print(console: Terminal, result: Evaluation, *, probe_is_capped: bool) -> None:
    from rich.table import Table

    from kgqa.metrics.drop import TYPES

    console.print()
    console.say(f"{_count(result.questions)} of {result.split}, metric {result.metric} (from {result.chosen_by})")
    table = Table("score", "official", "95% interval")
    for name in (name for name in result.scores.official if name != TYPES):
        ci = result.intervals.get(name)
        table.add_row(name, result.printed(name), "" if ci is None else f"{_number(ci.low, result)} – {_number(ci.high, result)}")
    console.print(table)
    if types := result.scores.official.get(TYPES):
        _print_types(console, types)
    if result.metric == "dire-probe" and not probe_is_capped:
        text = "Not capped by the scores on the original set, unlike the official scores; give the predictions on it as --original."
        console.print(text, soft_wrap=True)
    for dimension in result.breakdown:
        _print_dimension(console, result, dimension)
    _print_ids(console, result.scores.missing, "without a prediction, counted as 0")
    for part, ids in result.scores.missing_parts.items():
        _print_ids(console, ids, f"with a prediction that lacks {part!r}, which counts as 0")
    _print_ids(console, result.scores.extra, "predicted and not in the set, ignored")


def _print_types(console: Terminal, types: Mapping[str, Mapping[str, float]]) -> None:
    from rich import box
    from rich.table import Table

    names = list(next(iter(types.values())))
    table = Table("type", "questions", *names[1:], box=box.SIMPLE_HEAD)
    for name, figures in types.items():
        number, *means = figures.values()
        table.add_row(name, f"{number:,}", *(f"{value:.3f}" for value in means))
    console.say("Official types; a question has the type of its best-matching gold answer")
    console.print(table)


def _print_ids(console: Terminal, ids: Sequence[str], noun: str) -> None:
    from kgqa.metrics.scores import listed

    if ids:
        console.say(f"{_count(len(ids))} {noun}: {' '.join(listed(ids).split())}")


def _count(number: int) -> str:
    return f"{number:,} question{'' if number == 1 else 's'}"


def _print_dimension(console: Terminal, result: Evaluation, dimension: Dimension) -> None:
    from rich import box
    from rich.table import Column, Table

    from kgqa.cli.printable import printable

    title = f"By {dimension.name}" + (f" ({dimension.basis})" if dimension.basis else "")
    if len(dimension.groups) == 1:
        console.say(f"{title}: {dimension.groups[0].value} for all questions")
        return
    names = list(dict.fromkeys(name for group in dimension.groups for name in group.scores))
    table = Table(dimension.name, "questions", *(Column(name, min_width=CELL) for name in names), box=box.SIMPLE_HEAD)
    for group in dimension.groups[:ROWS]:
        scores = [group.scores.get(name) for name in names]
        cells = [f"{_number(of.mean, result)}\n{_number(of.low, result)}–{_number(of.high, result)}" if of else "" for of in scores]
        table.add_row(printable(group.value), f"{group.questions:,}", *cells)
    console.say(f"{title}, with the interval below each mean")
    console.print(table)
    hidden_count = len(dimension.groups) - ROWS
    if hidden_count > 0:
        console.print(f"and {hidden_count} more, which --json writes")


def _number(value: float, result: Evaluation) -> str:
    from kgqa.scoring.metrics import METRICS

    return f"{value:.1f}" if METRICS[result.metric].scale > 1 else f"{value:.3f}"
