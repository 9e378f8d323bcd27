"""Result of an evaluation, as a record and as a file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kgqa.errors import StorageError, storage_errors
from kgqa.formats.question_set import QuestionSet
from kgqa.metrics.bootstrap import Interval
from kgqa.metrics.scores import Scores
from kgqa.runs.files import check_is_local, parents_of
from kgqa.runs.scratch import scratch
from kgqa.scoring.breakdown import Dimension
from kgqa.scoring.metrics import METRICS

HEAD = '{\n "report": "kgqa evaluate",\n'
"""The first bytes of every report; only a file that begins with them is replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Result of :func:`evaluate`: scores, intervals and breakdown."""

    source: QuestionSet
    split: str
    """The split that the predictions are for."""
    metric: str
    """A key of ``METRICS``."""
    chosen_by: str
    """How the metric was chosen."""
    questions: int
    scores: Scores
    intervals: dict[str, Interval]
    """Name → 95% interval over questions, or groups where scoring is by group, on the scale of the official script."""
    breakdown: tuple[Dimension, ...]
    computed_from: dict[str, Any]
    """Files with their hashes, seed, resamples, versions."""

    def printed(self, name: str) -> str:
        """An official score as the official script prints it."""
        value, decimals = self.scores.official[name], METRICS[self.metric].decimals
        return json.dumps(value) if decimals is None else f"{value:.{decimals}f}"

    def record(self) -> dict[str, Any]:
        """The whole evaluation as JSON-able data."""
        return {
            "metric": self.metric,
            "chosen_by": self.chosen_by,
            "split": self.split,
            "questions": self.questions,
            "faults": self.source.faults.record(),
            "official": self.scores.official,
            "unrounded": self.scores.unrounded,
            "intervals": {name: asdict(interval) for name, interval in self.intervals.items()},
            "breakdown": [asdict(dimension) for dimension in self.breakdown],
            "missing": self.scores.missing,
            "missing_parts": self.scores.missing_parts,
            "extra": self.scores.extra,
            "computed_from": self.computed_from,
            "per_record": self.scores.per_record,
        }


def check_free(path: Path) -> None:
    """Raise StorageError if ``path`` holds anything but an earlier report, which a new one may replace."""
    check_is_local(path)
    with storage_errors(path):
        if os.path.lexists(path) and not (path.is_file() and _is_report(path)):
            raise StorageError(f"{path}: this already exists and is not a report of kgqa evaluate; choose another --json, or remove it.")


def _is_report(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(HEAD)) == HEAD.encode()


def write(evaluation: Evaluation, path: Path) -> None:
    """Write one JSON file, whole or not at all. An existing file is replaced, so call :func:`check_free` first."""
    text = json.dumps(evaluation.record(), indent=1, ensure_ascii=False, allow_nan=False)
    with storage_errors(path), parents_of(path), scratch(path) as folder:
        # Bytes of a file name that are no letters are written as \udc80, which JSON can read.
        (folder / path.name).write_text(HEAD + text.removeprefix("{\n") + "\n", "utf-8", "backslashreplace")
        (folder / path.name).replace(path)
