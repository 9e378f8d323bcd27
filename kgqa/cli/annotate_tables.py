"""``kgqa annotate --print`` and ``kgqa annotate figures``: drawn samples as text, and the figures of tables of verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from kgqa.cli.printable import on_one_line, printable

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.collection.reading import Hop, Reading
    from kgqa.collection.verdict_tables.figures import TableFigures
    from kgqa.records import Paragraph


def figures(
    dataset: Annotated[Path, Argument(help="Dataset folder, such as kgqa-workspace/datasets/medhop.")],
    tables: Annotated[list[Path], Argument(help="One table with up to two annotators, or two tables of the same draw.")],
    card: Annotated[bool, Option("--card", help="Also add the figures to the dataset card.")] = False,
) -> None:
    """Print the share of each verdict with 95% intervals, and the agreement of two annotators."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    _print_figures(Terminal(), kgqa.annotate_figures(dataset, *tables, card=card))
    if card:
        typer.echo(f"Written: {dataset / 'README.md'}")


def print_samples(dataset: Path, *, sample: int, seed: int, split: str) -> None:
    """Print the drawn samples as plain text."""
    import kgqa

    for number, reading in enumerate(kgqa.annotate_samples(dataset, sample=sample, seed=seed, split=split), start=1):
        typer.echo(printable("\n".join(_lines(number, reading))))


def _print_figures(console: Terminal, result: TableFigures) -> None:
    from rich.table import Table

    from kgqa.collection.verdict_tables.card import label

    for reader in result.readers:
        sentence = (
            f"{reader.read:,} of {reader.drawn:,} samples have a verdict; drawn from {result.available:,} with seed {result.origin.seed}"
        )
        console.say(f"{reader.reader} ({reader.table}): {sentence}")
    shares = Table("category", *(f"{printable(reader.reader)}: per cent (95% interval)" for reader in result.readers))
    for row, share in enumerate(result.readers[0].shares):
        shares.add_row(label(share.category), *(str(reader.shares[row].interval.times(100)) for reader in result.readers))
    console.print(shares)
    if result.agreed:
        console.say(f"Agreement on the {result.agreed[0].items:,} samples with a verdict of both")
        agreed = Table("category", "the same: per cent (95% interval)", "Cohen's kappa")
        for figure in result.agreed:
            kappa = "–" if figure.kappa is None else f"{figure.kappa:.2f}"
            agreed.add_row(label(figure.question), str(figure.same.times(100)), kappa)
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
