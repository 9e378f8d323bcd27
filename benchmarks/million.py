"""How a whole run grows: 0.1, 0.3 and 1 million documents with 8 links and 3 facts each, from source files to samples.

``python -m benchmarks --only million``; with ``--sizes 700000,2300000,7000000 --links 10 --facts 8.6`` all of Wikipedia.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
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


Stage = tuple[str, float, float, float]
"""A stage's name, its seconds, its seconds of all cores, and its peak in GiB."""


class Peaks:
    """Progress that notes the seconds of each stage, by the clock and of all cores, and the largest memory of the process in it."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self._stage = ""
        self._begin, self._used = time.perf_counter(), time.process_time()
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
        now, used = time.perf_counter(), time.process_time()
        self.stages.append((self._stage, now - self._begin, used - self._used, peak))
        self._begin, self._used = now, used
        (PROCESS / "clear_refs").write_text(RESET_PEAK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run."""

    outcome: Outcome
    """Of the whole process."""
    stages: list[Stage]
    counts: dict[str, int]
    """What the sources hold, and how many samples there are."""
    load: float
    """Of the machine: processes that ran or wanted to, at the beginning or in the last quarter of an hour."""


def main(*, sizes: Sequence[int] = SIZES, links: float = LINKS, facts: float = FACTS) -> Section:
    """Each size in processes of its own: one writes the source files, another generates. ``links`` and ``facts``: to a document."""
    if not (PROCESS / "clear_refs").exists():
        return Section(title=TITLE, skipped="Skipped: the peak memory of a stage is measured on Linux only.")
    measured(WARM_UP)
    return Section(title=TITLE, tables=tables({size: measured(size, links=links, facts=facts) for size in sizes}))


def measured(documents: int, *, links: float = LINKS, facts: float = FACTS) -> Measured:
    """One run of so many documents."""
    with tempfile.TemporaryDirectory() as folder:
        shape = [str(documents), str(round(links * documents)), str(round(facts * documents))]
        counts = json.loads(python(["-m", "benchmarks.million", "write", folder, *shape]).output)
        before = os.getloadavg()[0]
        outcome = python(["-m", "benchmarks.million", "generate", folder])
        stages, samples = json.loads(outcome.output.splitlines()[-1])
        load = max(before, os.getloadavg()[2])
        return Measured(outcome=outcome, stages=[tuple(stage) for stage in stages], counts={**counts, "samples": samples}, load=load)


def tables(runs: dict[int, Measured]) -> list[Table]:
    """The whole runs, and their stages beside each other."""
    least, largest = min(runs), max(runs)
    base = runs[least].outcome.processor
    whole = [
        [
            f"{size:,}", *(f"{run.counts[name]:,}" for name in ("links", "facts", "samples")), f"{run.outcome.seconds:,.0f}",
            f"{run.outcome.processor:,.0f}", f"{max(peak for *_, peak in run.stages):.1f}",
            f"{run.outcome.processor / base / (size / least):.2f}", f"{run.load:.1f}",
        ]
        for size, run in runs.items()
    ]  # fmt: skip
    stages = []
    for row, (name, _, used, _) in enumerate(runs[least].stages):
        cells = [f"{wall:,.0f} s, {cpu:,.1f} s, {peak:.1f} GiB" for _, wall, cpu, peak in (run.stages[row] for run in runs.values())]
        stages.append([name, *cells, f"{runs[largest].stages[row][2] / max(used, 1e-9) / (largest / least):.2f}"])
    columns = [f"{size:,}" for size in runs]
    note = (
        f"{WORKERS} workers, one run each, kernels compiled before by a run on {WARM_UP:,} documents; peaks are of resident memory. Growth "
        "refers to the seconds of all cores, because other work on the machine changes them less than the wall time. The load is the "
        "machine's: more than its cores means that other work used some of them."
    )
    return [
        Table(
            title="Whole runs", rows=whole, notes=[note],
            columns=(
                "documents", "links", "facts", "samples", "seconds", "of all cores", "peak GiB", "time a document ÷ the smallest's", "load",
            ),
        ),
        Table(
            title="Seconds, seconds of all cores and peak memory of each stage", columns=("", *columns, "growth ÷ linear"), rows=stages
        ),
    ]  # fmt: skip


def write(folder: Path, documents: int, links: int, facts: int) -> None:
    """The source files; prints what they hold."""
    from benchmarks.corpus import write_corpus

    corpus = write_corpus(folder, documents=documents, links=links, facts=facts)
    print(json.dumps({"links": documents + len(corpus.entity), "facts": len(corpus.facts)}))


def generate(folder: Path) -> None:
    """A run of ``kgqa generate`` with the defaults of the domain; prints its stages and the number of samples."""
    from kgqa.commands.generate import generate as run

    peaks = Peaks()
    report = run("wikidata", source=folder, workspace=folder / "workspace", workers=WORKERS, progress=peaks)
    print(json.dumps([peaks.stages, sum(report.counts.values())]))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), *map(int, sys.argv[3:]))
    else:
        generate(Path(sys.argv[2]))
