"""How time is taken and how it is told: competitors in turn, several rounds, ratios within a round, medians with their range."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("kgqa", "numpy", "numba", "polars", "pyarrow", "ladybug", "duckdb", "ahocorasick_rs", "bm25s", "rank_bm25")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One result: a title, columns, rows of text, and what a reader must know beside them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """The table in Markdown, the first column to the left, the others to the right."""
        rule = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = [f"| {' | '.join(row)} |" for row in (self.columns, rule, *self.rows)]
        return "\n".join([f"### {self.title}", "", *lines, *(f"\n{note}" for note in self.notes)])

    def plain(self) -> str:
        """The same for a terminal."""
        rows = [list(self.columns), *map(list, self.rows)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        cells = [[row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))] for row in rows]
        lines = ["  ".join(row) for row in cells]
        return "\n".join([self.title, *(f"  {line.rstrip()}" for line in lines), *(f"  {note}" for note in self.notes)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What one file of benchmarks found; ``skipped`` says why where it found nothing."""

    title: str
    tables: Sequence[Table] = ()
    skipped: str = ""

    def markdown(self) -> str:
        """The section in Markdown."""
        return "\n\n".join([f"## {self.title}", *([self.skipped] if self.skipped else []), *(table.markdown() for table in self.tables)])

    def plain(self) -> str:
        """The same for a terminal."""
        return "\n\n".join([f"== {self.title}", *([self.skipped] if self.skipped else []), *(table.plain() for table in self.tables)])


def in_turn(competitors: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, list[float]]:
    """Seconds of each competitor in each round; every round runs all of them once, one after the other.

    What disturbs the machine for a while so disturbs all of them, and the ratios within a round stay comparable.
    """
    seconds: dict[str, list[float]] = {name: [] for name in competitors}
    for _ in range(rounds):
        for name, run in competitors.items():
            begin = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - begin)
    return seconds


def ratios(slow: Sequence[float], fast: Sequence[float]) -> list[float]:
    """``slow`` over ``fast``, round by round."""
    return [a / b for a, b in zip(slow, fast, strict=True)]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median and range, as ``1.20 (1.15–1.31)``; without the range where there is one value."""
    middle = f"{statistics.median(values):,.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def data_folder(name: str) -> Path | None:
    """A folder of the real data (``KGQA_DATA``, or ``../shared/data`` beside the repository), or None where it is absent."""
    base = os.environ.get("KGQA_DATA")
    root = Path(base) if base else Path(__file__).resolve().parents[2] / "shared" / "data"
    return root / name if (root / name).is_dir() else None


def absent(name: str) -> str:
    """What a section says where its data is absent."""
    return f"Skipped: the real data in the folder {name!r} is not there; set KGQA_DATA to the folder that holds it."


def machine() -> str:
    """Cores, memory, Python and packages; nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version_of(name)}" for name in PACKAGES)
    return f"{len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB of memory, Python {platform.python_version()}; {packages}."


def version_of(package: str) -> str:
    """The version of an installed package."""
    if package == "kgqa":
        from kgqa.version import __version__

        return __version__
    return version(package)
