"""The report as one HTML page: everything from the data is escaped, nothing is fetched, nothing runs."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING
from unicodedata import category

from kgqa.checks.findings import FAMILIES, MARGIN, STATES, Finding, Part
from kgqa.checks.report.plots import positions_plot, shares_plot
from kgqa.checks.report.readers import readers_section
from kgqa.metrics.bootstrap import RESAMPLES
from kgqa.version import __version__

if TYPE_CHECKING:
    from kgqa.checks.result import Audit

HEADINGS = {"leakage": "Leakage", "overlap": "Overlap", "shortcut": "Shortcuts", "reader": "Trained readers", "fault": "Faults"}
UNSEEN = {"Cc", "Cf", "Cs"}
"""Unicode's control characters, format characters (marks that turn the writing direction among them) and halves of surrogate pairs."""
PLOTTED = ("shortcut", "leakage", "overlap", "fault")


def page(audit: Audit, *, seed: int) -> str:
    """The report as one HTML text, plots included."""
    template = Template(files("kgqa.checks.report").joinpath("report.html").read_text("utf-8"))
    return template.substitute(
        version=__version__,
        dataset=shown(audit.dataset),
        style=files("kgqa.checks.report").joinpath("report.css").read_text("utf-8").strip(),
        summary=_summary(audit, seed),
        verdict=_verdict(audit),
        overview=_overview(audit.findings),
        plots=_plots(audit.findings),
        families="\n".join(_family(family, audit.findings) for family in FAMILIES if family != "reader"),
        readers=readers_section(audit),
        certificate=_certificate(audit),
        reading=_reading(),
    )


def shown(text: str) -> str:
    """Text from the data as HTML; what cannot be seen but changes how the rest is shown becomes a replacement sign."""
    return escape("".join("\ufffd" if category(c) in UNSEEN and c not in "\n\t" else c for c in text))


def percent(share: float) -> str:
    """A share in percent; what is not zero never reads as zero."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{100 * share:.1f}%"


def _summary(audit: Audit, seed: int) -> str:
    counts = ", ".join(f"{shown(side)} {count:,}" for side, count in audit.questions.items())
    return f"Format {shown(audit.format)}; questions: {counts}. Made by kgqa {__version__} with seed {seed}."


def _verdict(audit: Audit) -> str:
    alarms = [finding for finding in audit.findings if finding.state == "found"]
    count = sum(finding.applies for finding in audit.findings)
    lines = [f"{len(alarms)} of the {count} checks that apply to this set found something; {len(audit.findings)} were asked."]
    for outcome in audit.outcomes:
        word = "failed" if outcome.holds else "passed"
        result = f"could not be measured ({shown(outcome.reason)})" if outcome.figure is None else f"is {percent(outcome.figure)}"
        lines.append(f"<strong>{word}</strong>: <code>{shown(outcome.condition)}</code>, {outcome.check} {result}.")
    kind = "" if not audit.outcomes else " failed" if audit.failed else " passed"
    return f'<div class="verdict{kind}">' + "".join(f"<p>{line}</p>" for line in lines) + "</div>"


def _overview(findings: Iterable[Finding]) -> str:
    rows = []
    for finding in findings:
        share, low, high = map(percent, finding.bounds) if finding.applies else ("–", "", "")
        interval = f"{low} to {high}" if low else ""
        chance = percent(finding.chance) if finding.chance is not None and finding.applies else ""
        rows.append(
            f'<tr><td><a href="#{finding.check}">{escape(finding.title)}</a></td><td class="number">{escape(share)}</td>'
            f'<td class="number wide">{escape(interval)}</td><td class="number wide">{escape(chance)}</td><td>{_state(finding)}</td></tr>'
        )
    head = (
        '<tr><th>check</th><th class="number">figure</th><th class="number wide">95% interval</th>'
        '<th class="number wide">blind</th><th>state</th></tr>'
    )
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _state(finding: Finding) -> str:
    return f'<span class="state {finding.state.partition(" ")[0]}" title="{escape(STATES[finding.state])}">{finding.state}</span>'


def _plots(findings: Iterable[Finding]) -> str:
    figures = []
    for family in PLOTTED:
        findings_of_family = [finding for finding in findings if finding.family == family and finding.applies]
        if any(finding.figure for finding in findings_of_family):
            plot = shares_plot(findings_of_family, f"{HEADINGS[family]}: figures with intervals")
            figures.append(f"<figure><figcaption>{HEADINGS[family]}</figcaption>{plot}</figure>")
    note = '<p class="muted"><small>Dot: figure; band: 95% interval; upright line: what blind guessing gets.</small></p>'
    return f'<div class="plots">{"".join(figures)}</div>{note}' if figures else ""


def _family(family: str, findings: Iterable[Finding]) -> str:
    findings_of_family = [finding for finding in findings if finding.family == family]
    cards = "".join(_card(finding) for finding in findings_of_family if finding.applies)
    items = "".join(f'<li id="{f.check}">{escape(f.title)}: {shown(f.reason)}</li>' for f in findings_of_family if not f.applies)
    other_checks = f'<p class="muted"><small>Does not apply:</small></p><ul class="muted"><small>{items}</small></ul>' if items else ""
    return f'<h2 id="{family}">{HEADINGS[family]}</h2><p class="muted">{FAMILIES[family]}</p><div class="cards">{cards}</div>{other_checks}'


def _card(finding: Finding) -> str:
    share, low, high = finding.bounds
    blind = f"; blind guessing {escape(percent(finding.chance))}" if finding.chance is not None else ""
    return (
        f'<article id="{finding.check}"><header><h3>{escape(finding.title)}</h3>{_state(finding)}</header>'
        f'<p class="figure">{escape(percent(share))}</p>'
        f'<p class="muted"><small>{_number(finding.count or 0)} of {finding.total:,} {escape(finding.unit)}; '
        f"{escape(percent(low))} to {escape(percent(high))}{blind}</small></p>"
        f"<p>{escape(finding.meaning)}</p>{_parts(finding)}"
        + (f'<p class="muted"><small>{shown(finding.note)}</small></p>' if finding.note else "")
        + f'<p class="remedy"><strong>What to do:</strong> {escape(finding.remedy)}</p>{_examples(finding)}</article>'
    )


def _number(count: float) -> str:
    """Whole, unless draws among equals make it a fraction."""
    return f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"


def _parts(finding: Finding) -> str:
    # A set with one split is that split; another part says something of its own.
    if len(finding.parts) < (2 if "split" in finding.parts_are else 1):
        return ""
    caption = f'<p class="muted"><small>{escape(finding.parts_are)}</small></p>'
    if finding.check == "support-position":
        return caption + positions_plot(finding.parts, finding.chance, "Share of support at each position")
    top = max(part.share for part in finding.parts)
    scale = 1.0 if finding.parts_are.startswith("by ") else top or 1.0
    return caption + f'<div class="bars">{"".join(_bar(part, scale) for part in finding.parts)}</div>'


def _bar(part: Part, scale: float) -> str:
    width = f"{100 * part.share / scale:.1f}%"
    return f'<b>{shown(part.name)}</b><div class="bar"><i style="width:{width}"></i></div><span>{escape(percent(part.share))}</span>'


def _examples(finding: Finding) -> str:
    if not finding.examples:
        return ""
    items = "".join(f"<li><code>{shown(e.split)} {shown(e.id)}</code> {shown(e.what)}</li>" for e in finding.examples)
    count = len(finding.examples)
    return f"<details><summary>{'The worst example' if count == 1 else f'The {count} worst examples'}</summary><ol>{items}</ol></details>"


def _certificate(audit: Audit) -> str:
    if audit.certificate is None:
        return '<p class="muted">Nothing was compared: the set has one split only. Give another set with <code>--against</code>.</p>'
    return (
        "<p>For the dataset's card. The hashes pin what was compared; whoever has the data can compute them again "
        "(<code>kgqa.verify_certificate</code>), whatever the order or the format of the questions.</p>"
        f"<pre>{shown(audit.certificate.to_markdown())}</pre>"
    )


def _reading() -> str:
    states = "".join(f"<li><strong>{state}</strong>: {escape(meaning)}.</li>" for state, meaning in STATES.items())
    return (
        "<p>Every figure is a share, the higher the worse, with the 95% percentile interval of "
        f"{RESAMPLES:,} bootstrap resamples. A shortcut counts as found where the interval's lower end is more than "
        f"{MARGIN:.0%} above blind guessing. The table is ordered by how much of the way from blind guessing to certainty a figure is. "
        f"Checks look at words and ids, not at meaning: read the examples before you act.</p><ul>{states}</ul>"
    )
