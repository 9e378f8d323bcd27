"""The report's section on trained readers: a table, a plot, what the figures mean, and what was not measured and why."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from kgqa.checks.readers.names import MEASURES, Measure, reason_for
from kgqa.checks.report.plots import readers_plot

if TYPE_CHECKING:
    from kgqa.checks.readers.figures import Figure
    from kgqa.checks.readers.judging import ReaderResults
    from kgqa.checks.result import Audit


def readers_section(audit: Audit) -> str:
    """All of it, below its heading."""
    results = audit.readers
    return ("" if results is None else _measures(results)) + _missing(not_measured(results))


def not_measured(results: ReaderResults | None) -> list[tuple[Measure, str]]:
    """Measures without a figure, with reasons."""
    names = set() if results is None else {figure.measure.name for figure in results.figures if figure.measure is not None}
    reasons = {} if results is None else results.missing
    return [(measure, reasons.get(measure.name) or reason_for(measure)) for measure in MEASURES if measure.name not in names]


def _measures(results: ReaderResults) -> str:
    seeds = f"seed {results.seeds[0]}" if len(results.seeds) == 1 else f"seeds {results.seeds[0]} to {results.seeds[-1]}"
    head = f'<p class="muted">{escape(results.how)} Encoder or model: {escape(results.encoder)}; {seeds}.</p>'
    sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in results.conclusions)
    plot = readers_plot(results.figures, "Readers: figures with intervals")
    note = '<p class="muted"><small>Bar: figure; line on it: 95% interval; upright line: what a random reader gets.</small></p>'
    return (
        f'{head}{_table(results.figures)}<div class="plots"><figure>{plot}</figure></div>{note}<h3>What this says</h3><ul>{sentences}</ul>'
    )


def _table(figures: Sequence[Figure]) -> str:
    head = (
        '<tr><th>reader</th><th>scored</th><th class="number">figure</th><th class="number">95% interval</th>'
        '<th class="number wide">seeds</th><th class="number">random</th><th class="number wide">questions</th></tr>'
    )
    return f"<table><thead>{head}</thead><tbody>{''.join(map(_row, figures))}</tbody></table>"


def _row(figure: Figure) -> str:
    meaning = f"<br><small>{escape(figure.measure.meaning)}</small>" if figure.measure else ""
    anchor = f' id="{figure.measure.name}"' if figure.measure else ""
    seeds = f"{100 * figure.lowest:.1f} to {100 * figure.highest:.1f}"
    return (
        f"<tr{anchor}><td>{escape(figure.name)}{meaning}</td><td>{escape(figure.scored)}</td>"
        f'<td class="number">{100 * figure.value:.1f}%</td>'
        f'<td class="number">{100 * figure.low:.1f} to {100 * figure.high:.1f}</td><td class="number wide">{seeds}</td>'
        f'<td class="number">{100 * figure.chance:.1f}%</td><td class="number wide">{figure.questions:,}</td></tr>'
    )


def _missing(measures: Sequence[tuple[Measure, str]]) -> str:
    if not measures:
        return ""
    rows = "".join(
        f"<tr><td>{measure.name}</td><td>{escape(measure.meaning)}</td><td>{escape(reason)}</td></tr>" for measure, reason in measures
    )
    return f'<p class="muted"><small>Not measured:</small></p><table><tbody>{rows}</tbody></table>'
