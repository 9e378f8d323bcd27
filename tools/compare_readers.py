"""Train readers on one set, test them on it or on another, and print what they reach beside each other.

``python -m tools.compare_readers DATASET --readers tf-idf,ee --runs FOLDER``. Every run is a ``kgqa train`` in a folder of its own, which
goes on where it was stopped and is not repeated; a score is the mean over questions of the mean over seeds, with the bootstrap interval
over questions. What is not in the table stands in the runs' folders.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import kgqa
from kgqa.metrics.bootstrap import intervals
from kgqa.readers.registry import READERS
from kgqa.runs.files import key_of
from kgqa.scoring.report import Evaluation
from kgqa.settings.defaults import DRAWS_SEED


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line, run, print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare_readers", description=__doc__)
    parser.add_argument("dataset", help="what is trained on")
    parser.add_argument("--test", help="what is tested on; the same set by default")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--readers", required=True, help="names or TOML files, with commas between them")
    parser.add_argument("--seeds", default="0", help="with commas between them")
    parser.add_argument("--runs", type=Path, required=True, help="the folder of the runs")
    parser.add_argument("--encoder")
    parser.add_argument("--precision")
    parser.add_argument("--max-steps", type=int)
    parser.add_argument("--epochs", type=int)
    parser.add_argument(
        "--scores", default="", help="scores of kgqa evaluate, with commas between them; those that it breaks down by default"
    )
    given = parser.parse_args(arguments)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    rows = []
    for reader in given.readers.split(","):
        found = [_scored(given, reader, seed) for seed in seeds]
        rows.append((Path(reader).stem, found))
        print(f"{rows[-1][0]}: done", file=sys.stderr, flush=True)
    print(table(rows, [name for name in given.scores.split(",") if name]))


def _scored(given: argparse.Namespace, reader: str, seed: int) -> tuple[kgqa.Trained, Evaluation]:
    run = given.runs / f"{Path(reader).stem}-{seed}"
    given.runs.mkdir(parents=True, exist_ok=True)
    kind = READERS.get(reader)
    encoder = given.encoder if kind is None or "encoder" in kind.settings.model_fields else None
    steered = (
        {} if kind is not None and kind.training is None else {name: getattr(given, name) for name in ("max_steps", "epochs", "precision")}
    )
    trained = kgqa.train(reader, given.dataset, out=run, seed=seed, encoder=encoder, **steered)
    test = Path(given.test or given.dataset)
    file = run / f"{key_of(kgqa.open_dataset(test).hashes())[:12]}-{given.split}.json"
    if not file.exists():
        kgqa.predict(run, test, split=given.split, out=file, precision=steered.get("precision"))
    return trained, kgqa.evaluate(test, file)


def table(rows: Sequence[tuple[str, Sequence[tuple[kgqa.Trained, Evaluation]]]], wanted: Sequence[str]) -> str:
    """A line for each reader: scores with intervals, the range over seeds, minutes of training."""
    first = rows[0][1][0][1]
    names = [name for name in wanted or [*first.scores.per_record][:4] if name in first.scores.per_record]
    lines = ["| reader | " + " | ".join(names) + " | seeds | minutes |", "|---" * (len(names) + 3) + "|"]
    scale = 1.0 if max(max(values.values(), default=0.0) for values in first.scores.per_record.values()) > 1 else 100.0
    for reader, found in rows:
        cells = []
        for name in names:
            by_seed = [evaluation.scores.per_record[name] for _, evaluation in found]
            mean = {key: sum(values[key] for values in by_seed) / len(by_seed) for key in by_seed[0]}
            interval = intervals({name: mean}, scale=scale, seed=DRAWS_SEED)[name]
            cells.append(f"{interval.mean:.1f} ({interval.low:.1f} to {interval.high:.1f})")
        minutes = sum(trained.seconds for trained, _ in found) / 60 / len(found)
        lines.append(f"| {reader} | " + " | ".join(cells) + f" | {len(found)} | {minutes:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
