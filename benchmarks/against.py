"""Whether another state of kgqa is faster: the same commands from two checkouts in turn, as ratios of CPU time and of wall clock.

``python -m benchmarks.against OTHER_CHECKOUT``; not among those that write the page, as it compares states and not competitors.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import reading, scoring
from benchmarks.measure import Table, data_folder, ratios, spread
from benchmarks.process import ROOT, Outcome, python

ROUNDS = 5
QUESTIONS = 20_000
READ = ("hotpotqa", "squad", "musique", "drop")
SCORED = ("hotpotqa", "drop")


def commands(folder: Path, questions: int) -> Iterator[tuple[str, list[str]]]:
    """What is run, by name; ``OUT`` stands for a folder that is new each time."""
    yield "import kgqa", ["-c", "import kgqa"]
    yield "kgqa --help", ["-m", "kgqa", "--help"]
    for domain in ("wikidata", "medline"):
        source = data_folder(domain)
        if source is not None:
            yield f"generate, {domain}", ["-m", "kgqa", "generate", "--domain", domain, "--source", str(source), "--workspace", "OUT"]
    for name in READ:
        sound, _ = reading.make(name, folder, questions)
        yield f"convert {name} to native", ["-m", "kgqa", "convert", str(sound), "--from", name, "--to", "native", "--out", "OUT"]
    sound, _ = reading.make("hotpotqa", folder, questions)
    for kind in ("probe", "sufficiency", "trivial"):
        yield f"contrast {kind}", ["-m", "kgqa", "contrast", kind, str(sound), "--out", "OUT"]
    yield "audit", ["-m", "kgqa", "audit", str(sound), "--out", "OUT"]
    for metric in SCORED:
        gold, file, options = scoring.make(metric, folder, questions)
        yield f"evaluate {metric}", ["-m", "kgqa", "evaluate", str(gold), str(file), *options]


def once(root: Path, arguments: Sequence[str], folder: Path) -> Outcome:
    """One run from the checkout at ``root``."""
    out = folder / "out"
    try:
        return python([str(out) if argument == "OUT" else argument for argument in arguments], root=root)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def compared(other: Path, *, rounds: int = ROUNDS, questions: int = QUESTIONS, only: str = "") -> Table:
    """Each command in turn from both, after one run of each that compiles what is to be compiled."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, arguments in commands(folder, questions):
            if only not in what:
                continue
            runs: dict[Path, list[Outcome]] = {other: [], ROOT: []}
            for _ in range(rounds + 1):
                for root, done in runs.items():
                    done.append(once(root, arguments, folder))
            wall, cpu = ([[getattr(run, unit) for run in runs[root][1:]] for root in (ROOT, other)] for unit in ("seconds", "processor"))
            rows.append((what, spread(wall[1]), spread(wall[0]), spread(ratios(*wall)), spread(ratios(*cpu))))
            print("  ".join(rows[-1]), flush=True)
    columns = ("command", "seconds there", "seconds here", "ratio", "ratio of CPU time")
    return Table(title=f"Here beside {other.name}", columns=columns, rows=rows, notes=[f"{rounds} rounds in turn; median and range."])


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("other", type=Path, help="a checkout of another state")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--only", default="", help="commands whose name holds this")
    given = parser.parse_args()
    table = compared(given.other.resolve(), rounds=given.rounds, questions=given.questions, only=given.only)
    print(f"\n{table.plain()}")
    worst = max(statistics.median(map(float, [row[4].split()[0]])) for row in table.rows)
    print(f"Worst ratio of CPU time: {worst:.2f}")


if __name__ == "__main__":
    main()
