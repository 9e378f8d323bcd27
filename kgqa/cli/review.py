"""The command ``kgqa review``: options, printed samples and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from kgqa.cli.printable import on_one_line, printable
from kgqa.errors import SettingsError
from kgqa.settings.defaults import DRAWS_SEED, READER, REVIEW_PORT, REVIEW_SAMPLE, REVIEW_SPLIT

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.collection.reading import Hop, Reading
    from kgqa.collection.tables.figures import ReviewFigures
    from kgqa.records import Paragraph

DRAWING = {"sample", "seed", "split"}
SERVING = DRAWING | {"reader", "table", "port"}
GOES_WITH = {"print_": DRAWING, "figures": {"card"}, "agreement": {"card"}}
"""Option that replaces the page → options that can accompany it."""


def review(
    ctx: typer.Context,
    dataset: Annotated[Path, Argument(help="Dataset folder, as kgqa-workspace/datasets/medhop.")],
    sample: Annotated[int, Option(help="Maximum samples to draw.")] = REVIEW_SAMPLE,
    seed: Annotated[int, Option(help="Seed of the draw.")] = DRAWS_SEED,
    split: Annotated[str, Option(help="Split: train, dev, test or all.")] = REVIEW_SPLIT,
    reader: Annotated[str, Option(help="Name of the annotator in the table.")] = READER,
    table: Annotated[Path | None, Option(help="Table of judgements; by default NAME-review.tsv in this folder.")] = None,
    port: Annotated[int, Option(help="Port on this machine; 0: a free one.")] = REVIEW_PORT,
    print_: Annotated[bool, Option("--print", help="Print the drawn samples as plain text, and serve no page.")] = False,
    figures: Annotated[Path | None, Option(help="Print the shares of a table's verdicts per annotator, with 95% intervals.")] = None,
    agreement: Annotated[tuple[Path, Path] | None, Option(help="Print the shares of two annotators' tables, and their agreement.")] = None,
    card: Annotated[bool, Option("--card", help="Also add these figures to the dataset card.")] = False,
) -> None:
    """Annotate samples on a local page: does the answer follow from the documents?"""
    import kgqa
    from kgqa.cli.terminal import Terminal

    _refuse_idle_options(ctx)
    tables = [figures] if figures is not None else list(agreement or ())
    if tables:
        _print_figures(Terminal(), kgqa.review_figures(dataset, *tables, card=card))
        if card:
            typer.echo(f"Written: {dataset / 'README.md'}")
    elif print_:
        for number, reading in enumerate(kgqa.review_samples(dataset, sample=sample, seed=seed, split=split), start=1):
            typer.echo(printable("\n".join(_lines(number, reading))))
    else:
        _serve(dataset, sample=sample, seed=seed, split=split, reader=reader, table=table, port=port)


def _refuse_idle_options(ctx: typer.Context) -> None:
    """Raise SettingsError for options that have no effect together."""
    options = _options(ctx)
    sources = {name: ctx.get_parameter_source(name) for name in options}
    typed = {name: options[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    mode = next((name for name in GOES_WITH if name in typed), "")
    allowed = {mode, *GOES_WITH[mode]} if mode else SERVING
    for name, option in typed.items():
        if name not in allowed:
            partner = typed[mode] if mode else "--figures or --agreement"
            raise SettingsError(
                f"{option} does not go with {partner}; leave out one of the two."
                if mode
                else f"{option} goes with {partner}; add one of them."
            )


def _options(ctx: typer.Context) -> dict[str, str]:
    """Parameter → its option on the command line, without arguments."""
    return {parameter.name or "": parameter.opts[-1] for parameter in ctx.command.params if parameter.param_type_name == "option"}


def _serve(dataset: Path, *, sample: int, seed: int, split: str, reader: str, table: Path | None, port: int) -> None:
    import kgqa

    def ready(address: str, description: str) -> None:
        typer.echo(printable(f"{address} shows {description}; press Ctrl-C to stop."))

    kgqa.review(dataset, sample=sample, seed=seed, split=split, reader=reader, table=table, port=port, ready=ready)


def _print_figures(console: Terminal, result: ReviewFigures) -> None:
    from rich.table import Table

    from kgqa.collection.tables.card import label, percent

    for reader in result.readers:
        sentence = (
            f"{reader.read:,} of {reader.drawn:,} samples have a verdict; drawn from {result.available:,} with seed {result.origin.seed}"
        )
        console.say(f"{reader.reader} ({reader.table}): {sentence}")
    shares = Table("category", *(f"{printable(reader.reader)}: per cent (95% interval)" for reader in result.readers))
    for row, share in enumerate(result.readers[0].shares):
        shares.add_row(label(share.category), *(f"{percent(reader.shares[row].interval)}" for reader in result.readers))
    console.print(shares)
    if result.agreed:
        console.say(f"Agreement on the {result.agreed[0].agreement.items:,} samples with a verdict of both")
        agreed = Table("category", "the same: per cent (95% interval)", "Cohen's kappa")
        for figure in result.agreed:
            kappa = figure.agreement.kappa
            agreed.add_row(label(figure.question), percent(figure.same), "–" if kappa is None else f"{kappa:.2f}")
        console.print(agreed)
    elif len(result.readers) > 1:
        console.say("No sample has a verdict of both annotators, so there is no agreement to measure.", style="yellow")


def _lines(number: int, reading: Reading) -> Iterator[str]:
    """A sample as plain text: question, chains, the documents on them with the entities of a hop in «», the other candidates."""
    instance = reading.instance
    texts = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    yield f"=== {number}. {on_one_line(instance.question)}   ({on_one_line(instance.id)}, {reading.split})"
    yield on_one_line(f"Answer: {reading.answer}" + (f" ({instance.answer_id})" if instance.answer_id else ""))
    yield from (on_one_line(f"Grade of {name}: {value}") for name, value in reading.grades.items())
    for chain in reading.answer_chains[:1]:
        yield on_one_line(f"Chain: {_chain(reading, chain)}")
        for hop in chain:
            if hop.document in texts:
                yield _text(texts[hop.document], {hop.before, hop.entity})
    yield from (on_one_line(f"Also: {_chain(reading, chain)}") for chain in reading.answer_chains[1:])
    for candidate in reading.others:
        chains = [_chain(reading, chain) for chain in reading.chains.get(candidate.id, ())[:1]]
        yield on_one_line(f"Candidate: {candidate.text} ({candidate.id})" + (f": {chains[0]}" if chains else ", no chain"))
    chain_documents = {hop.document for chain in reading.answer_chains[:1] for hop in chain}
    ends = {candidate.id for candidate in instance.candidates or ()}
    yield from (_text(paragraph, ends) for paragraph in instance.paragraphs if paragraph.id not in chain_documents)
    yield ""


def _chain(reading: Reading, chain: Iterable[Hop]) -> str:
    hops = list(chain)
    return reading.names[hops[0].before] + "".join(_step(reading, hop) for hop in hops)


def _step(reading: Reading, hop: Hop) -> str:
    facts = [f"{'; '.join(hop.forward)} →"] * bool(hop.forward) + [f"← {'; '.join(hop.backward)}"] * bool(hop.backward)
    relations = ", ".join(facts) or ("no fact" if reading.knows_graph else "graph unknown")
    return f" —[{hop.document}: {relations}]→ {reading.names[hop.entity]}"


def _text(paragraph: Paragraph, entities: set[str]) -> str:
    """One document; of mentions that overlap, the first is marked."""
    end, parts = 0, []
    for mention in sorted(paragraph.mentions or (), key=lambda span: (span.start, -span.end)):
        if mention.entity in entities and end <= mention.start < mention.end <= len(paragraph.text):
            parts += [paragraph.text[end : mention.start], "«", paragraph.text[mention.start : mention.end], "»"]
            end = mention.end
    head = on_one_line(f"[{paragraph.id}] {paragraph.title or ''}")
    return f"{head}\n  " + "".join([*parts, paragraph.text[end:]]).replace("\n", "\n  ")
