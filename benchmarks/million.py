"""How a whole run grows: 0.1, 0.3 and 1 million documents with 8 links and 3 facts each, from source files to samples.

``python -m benchmarks --only million``
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Section, Table
from benchmarks.process import Outcome, python

TITLE = "A million documents"
SIZES = (100_000, 300_000, 1_000_000)
LINKS, FACTS = 8, 3
"""To a document."""
WARM_UP = 20_000
"""Documents of the run that compiles the kernels."""
WORKERS = 2
RESET_PEAK = "5"
"""What Linux wants to be written to begin a new peak of the resident memory (``man proc_pid_clear_refs``)."""
PROCESS = Path("/proc/self")


class Peaks:
    """Progress that notes the seconds of each stage and the largest memory of the process in it."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float, float]] = []
        self._stage = ""
        self._begin = time.perf_counter()
        (PROCESS / "clear_refs").write_text(RESET_PEAK)

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """The name; a stage of several parts has that of its last."""
        self._stage = stage

    def advance(self, amount: int) -> None:
        """Ignore."""

    def finish(self, note: str = "") -> None:
        """The stage is done: what comes next has a peak of its own."""
        lines = (PROCESS / "status").read_text("ascii").splitlines()
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 2**20
        now = time.perf_counter()
        self.stages.append((self._stage, now - self._begin, peak))
        self._begin = now
        (PROCESS / "clear_refs").write_text(RESET_PEAK)


def main(*, sizes: Sequence[int] = SIZES) -> Section:
    """Each size in processes of its own: one writes the source files, another generates."""
    if not (PROCESS / "clear_refs").exists():
        return Section(title=TITLE, skipped="Skipped: the peak memory of a stage is measured on Linux only.")
    measured(WARM_UP)
    return Section(title=TITLE, tables=tables({size: measured(size) for size in sizes}))


def measured(documents: int) -> tuple[Outcome, list[tuple[str, float, float]], dict[str, int]]:
    """One run: the whole process, its stages (name, seconds, peak GiB), and what the sources hold."""
    with tempfile.TemporaryDirectory() as folder:
        counts = json.loads(python(["-m", "benchmarks.million", "write", folder, str(documents)]).output)
        outcome = python(["-m", "benchmarks.million", "generate", folder])
        stages, samples = json.loads(outcome.output.splitlines()[-1])
        return outcome, [(name, seconds, peak) for name, seconds, peak in stages], {**counts, "samples": samples}


def tables(runs: dict[int, tuple[Outcome, list[tuple[str, float, float]], dict[str, int]]]) -> list[Table]:
    """The whole runs, and their stages beside each other."""
    least = min(runs)
    base = runs[least][0].seconds
    whole = [
        [
            f"{size:,}", f"{counts['links']:,}", f"{counts['facts']:,}", f"{counts['samples']:,}", f"{outcome.seconds:,.0f}",
            f"{outcome.processor:,.0f}", f"{max(peak for _, _, peak in stages):.1f}", f"{outcome.seconds / base / (size / least):.2f}",
        ]
        for size, (outcome, stages, counts) in runs.items()
    ]  # fmt: skip
    stages = []
    for row, (name, seconds, _) in enumerate(runs[least][1]):
        cells = [f"{run[row][1]:,.1f} s, {run[row][2]:.1f} GiB" for _, run, _ in runs.values()]
        largest = max(runs)
        growth = runs[largest][1][row][1] / seconds / (largest / least)
        stages.append([name, *cells, f"{growth:.2f}"])
    columns = [f"{size:,}" for size in runs]
    note = f"{WORKERS} workers, one run each, kernels compiled before by a run on {WARM_UP:,} documents; peaks are of resident memory."
    return [
        Table(
            title="Whole runs", rows=whole, notes=[note],
            columns=("documents", "links", "facts", "samples", "seconds", "of all cores", "peak GiB", "time a document ÷ the smallest's"),
        ),
        Table(title="Seconds and peak memory of each stage", columns=("", *columns, "growth ÷ linear"), rows=stages),
    ]  # fmt: skip


def write(folder: Path, documents: int) -> None:
    """The source files; prints what they hold."""
    from benchmarks.corpus import write_corpus

    corpus = write_corpus(folder, documents=documents, links=LINKS * documents, facts=FACTS * documents)
    print(json.dumps({"links": documents + len(corpus.entity), "facts": len(corpus.facts)}))


def generate(folder: Path) -> None:
    """A run of ``kgqa generate`` with the defaults of the domain; prints its stages and the number of samples."""
    from kgqa.commands.generate import generate as run

    peaks = Peaks()
    report = run("wikidata", source=folder, workspace=folder / "workspace", workers=WORKERS, progress=peaks)
    print(json.dumps([peaks.stages, sum(report.counts.values())]))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        generate(Path(sys.argv[2]))
