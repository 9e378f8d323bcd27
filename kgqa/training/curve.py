"""Training curves as a picture: loss and dev score over the steps, for each part of a reader."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kgqa.runs.files import write_whole
from kgqa.training.run_log import Point

FILE = "curve.svg"
NO_PLOT = "matplotlib is not installed, so no curve is drawn; for one run: pip install 'kgqa[readers]'"
MEASURES = {"loss": "loss", "score": "dev score"}
"""Measure → its title."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The palette of Okabe and Ito, which colour-blind readers can distinguish."""
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kgqa",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "text.parse_math": False,
}


def write_curve(curves: Mapping[str, Sequence[Point]], path: Path) -> str | None:
    """Draw the curves of runs, by name, into an SVG file, replacing it; return a remark if none could be drawn. Raises StorageError."""
    if find_spec("matplotlib") is None:
        return NO_PLOT
    if not any(name in point for points in curves.values() for point in points for name in MEASURES):
        return "there is no point of a curve yet, so none is drawn."
    write_whole(path, draw(curves))
    return None


def draw(curves: Mapping[str, Sequence[Point]]) -> str:
    """The SVG, with a row per part and a column per measure. The same curves give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    parts = list(dict.fromkeys(point["part"] for points in curves.values() for point in points))
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(8, 2.6 * len(parts) + 0.4), layout="constrained")
        for row, axes in enumerate(figure.subplots(len(parts), len(MEASURES), squeeze=False)):
            for measure, panel in zip(MEASURES, axes, strict=True):
                _draw_measure(panel, curves, parts[row], measure)
        if len(curves) > 1:
            handles, labels = figure.axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper center", ncols=min(len(curves), 3), frameon=False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _draw_measure(axes: Any, curves: Mapping[str, Sequence[Point]], part: str, measure: str) -> None:
    for number, (name, points) in enumerate(curves.items()):
        points_of_part = [(point["step"], point[measure]) for point in points if point["part"] == part and point.get(measure) is not None]
        marker = "o" if measure == "score" or len(points_of_part) == 1 else ""
        steps, values = [step for step, _ in points_of_part], [value for _, value in points_of_part]
        axes.plot(
            steps, values, marker=marker, label=name.lstrip("_"), linewidth=1.3, markersize=3.5, color=COLOURS[number % len(COLOURS)]
        )  # fmt: skip
    axes.set_title(f"{MEASURES[measure]}{f', {part}' if part else ''}", loc="left", fontsize=9)
    axes.set_xlabel("step")
