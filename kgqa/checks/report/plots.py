"""Plots as SVG that is part of the page: text stays text, colours are the page's, so that they follow light and dark."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kgqa.checks.findings import Finding, Part

if TYPE_CHECKING:
    from kgqa.checks.readers.figures import Figure

INK, MUTED, ACCENT, BAD, GRID = "#010203", "#020304", "#030405", "#040506", "#050607"
"""Stand for the page's colours until the SVG is put into it."""
COLOURS = {INK: "--ink", MUTED: "--muted", ACCENT: "--accent", BAD: "--bad", GRID: "--line"}
WIDTH = 4.4
"""In inches of 72 points: about the width of a telephone, so that letters keep their size there."""
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 8.5,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "text.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.parse_math": False,
}


def shares_plot(findings: Sequence[Finding], label: str) -> str:
    """One line a finding: its figure with the interval, and a tick where blind guessing is."""
    figure, axes = _figure(0.34 * len(findings) + 0.75, name=label)
    for row, finding in enumerate(reversed(findings)):
        share, low, high = finding.bounds
        colour = BAD if finding.state == "found" else ACCENT
        axes.plot([0, share], [row, row], color=GRID, linewidth=1, zorder=1)
        axes.plot([low, high], [row, row], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt", zorder=2)
        axes.plot([share], [row], "o", color=colour, markersize=5, zorder=3)
        if finding.chance:
            axes.plot([finding.chance] * 2, [row - 0.3, row + 0.3], color=INK, linewidth=1.5, zorder=4)
    axes.set_yticks(range(len(findings)), [finding.check for finding in reversed(findings)])
    axes.set_xlim(-0.015, 1.015)
    return _rows_svg(figure, axes, label, count=len(findings))


def readers_plot(figures: Sequence[Figure], label: str) -> str:
    """A bar for each figure with its interval, and a tick where a random reader is."""
    figure, axes = _figure(0.34 * len(figures) + 0.75, name=label)
    for row, reader_figure in enumerate(reversed(figures)):
        axes.barh([row], [reader_figure.value], height=0.6, color=ACCENT if reader_figure.measure else MUTED, alpha=0.55, zorder=2)
        axes.plot([reader_figure.low, reader_figure.high], [row, row], color=INK, linewidth=1.6, solid_capstyle="butt", zorder=3)
        axes.plot([reader_figure.chance] * 2, [row - 0.38, row + 0.38], color=BAD, linewidth=1.6, zorder=4)
    axes.set_yticks(
        range(len(figures)), [f"{reader_figure.name}\n{reader_figure.scored}" for reader_figure in reversed(figures)], fontsize=6.5
    )
    axes.set_xlim(0, 1.015)
    return _rows_svg(figure, axes, label, count=len(figures))


def positions_plot(parts: Sequence[Part], chance: float | None, label: str) -> str:
    """A bar for each position, and a line where blind guessing is."""
    from matplotlib.ticker import PercentFormatter

    figure, axes = _figure(1.9, name=label)
    axes.bar(range(len(parts)), [part.share for part in parts], color=ACCENT, width=0.7)
    if chance is not None:
        axes.axhline(chance, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.set_xticks(range(len(parts)), [part.name for part in parts])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    return _svg(figure, label)


def _rows_svg(figure: Any, axes: Any, label: str, *, count: int) -> str:
    """The SVG of a plot with ``count`` horizontal rows of shares."""
    from matplotlib.ticker import PercentFormatter

    axes.set_ylim(-0.6, count - 0.4)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    return _svg(figure, label)


def _figure(height: float, *, name: str) -> tuple[Any, Any]:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        return figure, figure.add_subplot(label=name)


def _svg(figure: Any, label: str) -> str:
    """The SVG element alone, with the page's colours, the same bytes each time, and no ids that a second plot could repeat."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": label}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r' id="[a-z]+[\w.]*_\d+"', "", text)
    text = re.sub(r'^<svg[^>]*?viewBox="([^"]+)"[^>]*>', rf'<svg viewBox="\1" role="img" aria-label="{label}">', text)
    for colour, variable in COLOURS.items():
        text = text.replace(colour, f"var({variable})")
    return re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px system-ui, sans-serif", text)
