"""``kgqa annotate status``: progress, people, agreement and drift of a project, printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgqa.cli.printable import on_one_line

if TYPE_CHECKING:
    from rich.table import Table

    from kgqa.cli.terminal import Terminal
    from kgqa.collection.figures import Figures, ModelAgreement, PairAgreement
    from kgqa.collection.task import Figure

MOST_PAIRS = 12
"""Pairs of people and question that are printed; all of them are in the JSON."""
MOST_LABELS = 8
"""Labels of a question that are printed, the most frequent first."""


def print_status(console: Terminal, figures: Figures, extra: Sequence[Figure] = ()) -> None:
    """Print the figures; ``extra`` are the task's own."""
    tables = (_progress, _people, _agreement, _pairs, _models, _drift, _labels)
    for table in (make_table(figures) for make_table in tables):
        if table.row_count:
            console.print(table)
    if extra:
        own = _table("The task's figures", "figure", ">items", ">per cent (95% interval)")
        for figure in extra:
            own.add_row(on_one_line(figure.name), f"{figure.items:,}", str(figure.value))
        console.print(own)
    for sentence in _sentences(figures):
        console.say(sentence)


def _table(title: str, *columns: str) -> Table:
    """A table; columns that begin with ``>`` are aligned to the right."""
    from rich import box
    from rich.table import Column, Table

    heads = [Column(name.removeprefix(">"), justify="right" if name.startswith(">") else "left", overflow="fold") for name in columns]
    return Table(*heads, title=title, title_justify="left", box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)


def _progress(figures: Figures) -> Table:
    states = tuple(figures.progress[0].states) if figures.progress else ()
    table = _table("Progress", "step", ">items", *(f">{state}" for state in states), ">answers", ">of")
    for part in figures.progress:
        counts = [f"{count:,}" for count in (part.items, *part.states.values(), part.answers, part.seats)]
        table.add_row(on_one_line(part.step), *counts)
    return table


def _people(figures: Figures) -> Table:
    gold = {drift.person: drift.right for drift in figures.drift}
    table = _table("People", "name", ">answers", ">skips", ">flags", ">hours", ">median s", ">gold right", "qualified", "remark")
    for person in figures.people:
        verdict = {None: "", True: "yes", False: "no"}[person.passed]
        tries = f", {person.tries} {'try' if person.tries == 1 else 'tries'}" if person.tries else ""
        remark = "a model" if person.model else "" if person.withdrawn is None else "withdrawn"
        table.add_row(
            on_one_line(person.person), f"{person.answers:,}", f"{person.skipped:,}", f"{person.flagged:,}", f"{person.seconds / 3600:.1f}",
            "" if person.median is None else f"{person.median:.0f}", gold[person.person].percent if person.person in gold else "",
            verdict + tries, remark,
        )  # fmt: skip
    return table


def _agreement(figures: Figures) -> Table:
    from kgqa.collection.card import coefficient

    table = _table(
        "Agreement (95% intervals): Krippendorff's alpha, Fleiss' kappa, Gwet's AC1",
        "step",
        "question",
        ">items",
        ">same",
        ">alpha",
        ">Fleiss",
        ">AC1",
    )
    for entry in figures.agreement:
        figures_of_question = entry.agreement
        share = "–" if figures_of_question.observed is None else f"{100 * figures_of_question.observed:.1f}%"
        measures = [
            _narrow(coefficient(measure)) for measure in (figures_of_question.alpha, figures_of_question.fleiss, figures_of_question.ac1)
        ]
        table.add_row(on_one_line(entry.step), on_one_line(entry.question), f"{figures_of_question.items:,}", share, *measures)
    return table


def _pairs(figures: Figures) -> Table:
    from kgqa.collection.card import coefficient

    table = _table("Agreement of two people", "question", "people", ">items", ">same, per cent", ">Cohen's kappa")
    for pair in figures.pairs[:MOST_PAIRS]:
        people = f"{on_one_line(pair.first)}, {on_one_line(pair.second)}"
        table.add_row(_question(figures, pair), people, f"{pair.same.of:,}", pair.same.percent, coefficient(pair.kappa))
    return table


def _models(figures: Figures) -> Table:
    from kgqa.collection.card import coefficient

    table = _table("Models against the label that most people gave", "model", "question", ">items", ">same, per cent", ">Cohen's kappa")
    for entry in figures.models:
        table.add_row(
            on_one_line(entry.person), _question(figures, entry), f"{entry.same.of:,}", entry.same.percent, coefficient(entry.kappa)
        )
    return table


def _question(figures: Figures, pair: PairAgreement | ModelAgreement) -> str:
    """The question, with its step if there are several."""
    return on_one_line(pair.question if len(figures.progress) == 1 else f"{pair.step}: {pair.question}")


def _drift(figures: Figures) -> Table:
    table = _table("Gold items right, from the first tenth to the last", "name", ">answers", ">per cent", "tenths, per cent")
    for entry in figures.drift:
        windows = " ".join(f"{100 * window.share:.0f}" for window in entry.windows)
        table.add_row(on_one_line(entry.person) or "all people", f"{entry.right.of:,}", entry.right.percent, windows)
    return table


def _labels(figures: Figures) -> Table:
    table = _table("Labels", "step", "question", "label", ">answers", ">per cent", ">items decided")
    for part in figures.labels:
        for label in part.labels[:MOST_LABELS]:
            cells = [on_one_line(text) for text in (part.step, part.question, label.label or "(none)")]
            table.add_row(*cells, f"{label.answers.count:,}", label.answers.percent, f"{label.decided:,}")
        if part.distinct > MOST_LABELS:
            table.add_row(on_one_line(part.step), on_one_line(part.question), f"{part.distinct - MOST_LABELS:,} more", "", "", "")
    return table


def _sentences(figures: Figures) -> list[str]:
    lines = [
        f"Time per answer, {part.step}: median {part.median:.0f} s, half of them between {part.lower:.0f} and {part.upper:.0f} s "
        f"({part.answers:,} answers)."
        for part in figures.times
    ]
    if len(figures.pairs) > MOST_PAIRS:
        lines.append(f"{len(figures.pairs) - MOST_PAIRS:,} more pairs of people are in --json.")
    if figures.left_out:
        lines.append(f"{figures.left_out:,} answers of people who withdrew are left out.")
    for title, reasons in (("Left out of the results", figures.refused), ("Flags", figures.flags), ("Skips", figures.skips)):
        if reasons:
            counts = sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
            more = f"; {len(counts) - 5:,} other reasons" if len(counts) > 5 else ""
            lines.append(f"{title}: " + "; ".join(f"{on_one_line(reason)} ({count:,})" for reason, count in counts[:5]) + more + ".")
    return lines


def _narrow(text: str) -> str:
    """An interval in fewer characters: ``0.84 (0.71–0.96)``."""
    return text.replace(" to ", "–")
