"""The command ``kgqa show``: options and the printed sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kgqa.cli.printable import on_one_line, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kgqa.commands.show import NamedChain
    from kgqa.records import Instance, Paragraph

MOST_TITLE = 40
"""Maximum characters of a document's title in a chain; the title of an abstract is a whole sentence."""
MOST_RELATIONS = 3
"""Relations of two entities that are named within a chain."""


def show(
    dataset: Annotated[str, Argument(help="Dataset folder, such as kgqa-workspace/datasets/medhop, or its s3:// or gs:// URL.")],
    id: Annotated[str | None, Argument(help="Sample id; by default the first sample.")] = None,  # noqa: A002
    masked: Annotated[bool, Option("--masked", help="Show the masked twin.")] = False,
) -> None:
    """Print one sample with its chain and its mentions in colour."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    instance = kgqa.show(dataset, id, masked=masked)
    console = Terminal(markup=True)
    console.print(f"[bold]{_plain(instance.question)}[/]   ({_plain(instance.id)})", soft_wrap=True)
    if instance.candidates is None:
        console.print(f"Answer: [bold green]{_plain('; '.join(instance.answers)) or 'none'}[/]", soft_wrap=True)
    else:
        _print_candidates(console, instance)
    if not masked:  # a chain ends at its candidate
        for chain in kgqa.named_chains(dataset, instance):
            console.print(_chain(chain), soft_wrap=True)
        _print_grades(console, instance)
    _print_steps(console, instance)
    names = {candidate.id for candidate in instance.candidates or ()}
    role = "on a chain to the answer" if instance.chains else "supporting"
    for paragraph in instance.paragraphs:
        mark = f" [green]({role})[/]" if paragraph.supporting else ""
        console.print(f"\n[bold]{_plain(paragraph.id)}[/] {_plain(paragraph.title or '')}{mark}", soft_wrap=True)
        console.print(_coloured(paragraph, names, instance.answer_id))


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(on_one_line(text))


def _print_candidates(console: Console, instance: Instance) -> None:
    texts = []
    for candidate in instance.candidates or ():
        text = _plain(candidate.text)
        texts.append(f"[bold green]{text} (answer)[/]" if candidate.id == instance.answer_id else f"[yellow]{text}[/]")
    console.print("Candidates: " + "; ".join(texts), soft_wrap=True)


def _print_grades(console: Console, instance: Instance) -> None:
    """Print the grade of the answer and that of the best other candidate."""
    from rich.text import Text

    if grade := instance.answer_grade:
        console.print(Text.assemble("Grade: ", (_line(str(grade)), "italic")), soft_wrap=True)
    if rival := instance.best_other:
        text = Text("Best other candidate: ")
        _add_entity(text, rival[0].id, rival[0].text)
        console.print(text.append(", ").append(_line(str(rival[1])), "italic"), soft_wrap=True)


def _print_steps(console: Console, instance: Instance) -> None:
    """The single-hop questions of the decomposition, each with its answer and the paragraph that gives it."""
    titles = {paragraph.id: paragraph.title or "" for paragraph in instance.paragraphs}
    for number, step in enumerate(instance.decomposition or (), start=1):
        answer = f" → [bold]{_plain(step.answer)}[/]" if step.answer else ""
        title = _plain(titles.get(step.paragraph_id or "", ""))
        place = f"   [dim]\\[{_plain(step.paragraph_id)}{' ' * bool(title)}{title}][/]" if step.paragraph_id else ""
        console.print(f"Step {number}: {_plain(step.question)}{answer}{place}", soft_wrap=True)


def _chain(chain: NamedChain) -> Text:
    """A chain in one line: alternating entities and documents with ids, and relations at the arrows."""
    from rich.text import Text

    text = Text("Chain: ")
    _add_entity(text, chain.entity, chain.name)
    for hop in chain.hops:
        text.append(" → ")
        text.append(f"[{_line(hop.document)}{' ' * bool(hop.title)}{_line(hop.title, MOST_TITLE)}]", "dim")
        arrow = "→" if hop.forward or not hop.relations else "←"
        if hop.relations:
            suffix = f" and {len(hop.relations) - MOST_RELATIONS} more" if len(hop.relations) > MOST_RELATIONS else ""
            text.append(f" {arrow} ")
            text.append(_line(" / ".join(hop.relations[:MOST_RELATIONS])) + suffix, "italic")
        text.append(f" {arrow} ")
        _add_entity(text, hop.entity, hop.name)
    return text


def _add_entity(text: Text, entity: str, name: str) -> None:
    if name:
        text.append(_line(name), "bold")
        text.append(f" ({_line(entity)})")
    else:
        text.append(_line(entity), "bold")


def _line(text: str, most: int | None = None) -> str:
    """``text`` on one line, cut off after ``most`` characters."""
    whole = on_one_line(text)
    return whole if most is None or len(whole) <= most else whole[: most - 1].rstrip() + "…"


def _coloured(paragraph: Paragraph, candidates: set[str], answer: str | None) -> Text:
    """The text with the answer green, other candidates yellow, other mentions cyan."""
    from rich.text import Text

    text = Text(printable(paragraph.text))
    for mention in paragraph.mentions or ():
        style = "bold green" if mention.entity == answer else "bold yellow" if mention.entity in candidates else "cyan"
        if mention.start >= 0:  # where a mention ends beyond the text, its part of the text is shown
            text.stylize(style, mention.start, mention.end)
    return text
