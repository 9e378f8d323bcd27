"""Predictions of held-out questions, as a table of all folds and seeds, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, storage_errors
from kgqa.records import Instance
from kgqa.runs.scratch import scratch
from kgqa.training.predictions import SCHEMA, prediction_of
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction

JUDGED = "judged"
"""The name of the main questions, as opposed to others that the readers also predict."""
TABLE = pa.schema([pa.field("seed", pa.int64(), nullable=False), pa.field("fold", pa.int16(), nullable=False), *SCHEMA])
"""The fields of a Prediction, and the seed and fold of the reader that made it."""
ROWS = 1 << 14
Score = Callable[[Instance, Prediction], float]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossFitted:
    """Predictions of questions whose groups the readers had not seen; every question once per seed."""

    folder: Path
    seeds: tuple[int, ...]
    questions: Mapping[str, Questions]
    """The main questions under :data:`JUDGED`, and the others by name."""

    def predictions(self, seed: int, name: str = JUDGED) -> Iterator[Prediction]:
        """Predictions in the order of the questions ``of``. Raises BrokenInput."""
        path = self.folder / f"{name}.parquet"
        with storage_errors(path):
            try:
                with pq.ParquetFile(path) as file:
                    for batch in file.iter_batches(batch_size=ROWS):
                        rows = batch.filter(pc.equal(batch.column("seed"), seed)).drop_columns(["seed", "fold"])
                        yield from map(prediction_of, rows.to_pylist())
            except pa.ArrowInvalid as error:
                raise BrokenInput(f"{path}: this is not a complete Parquet file; remove its folder and begin again.") from error

    def scores(self, score: Score, name: str = JUDGED) -> Floats:
        """Scores (seeds × questions ``of``)."""
        instances = self.questions[name]
        return np.array(
            [[score(*pair) for pair in zip(instances, self.predictions(seed, name), strict=True)] for seed in self.seeds], np.float64
        )

    def mean_scores(self, score: Score, name: str = JUDGED) -> Floats:
        """For each question ``of`` the mean over the seeds."""
        return self.scores(score, name).mean(axis=0)


def merge_folds(place: Path, seeds: Sequence[int], parts: Mapping[int, Questions], name: str) -> None:
    """Merge the files ``NAME.parquet`` of all folds into one in ``place``, in the questions' order; whole or not at all.

    ``parts``: fold → its questions. The same predictions give the same bytes.
    """
    path = place / f"{name}.parquet"
    with scratch(path) as folder:
        partial = folder / path.name
        with pq.ParquetWriter(partial, TABLE, compression="zstd", compression_level=1) as writer:
            for seed in seeds:
                writer.write_table(_table_of_seed(place / f"seed-{seed}", parts, name, seed).combine_chunks(), row_group_size=ROWS)
        partial.replace(path)


def _table_of_seed(place: Path, parts: Mapping[int, Questions], name: str, seed: int) -> pa.Table:
    tables, rows = [TABLE.empty_table()], [np.zeros(0, np.int64)]
    for number, questions in parts.items():
        part = pq.read_table(place / f"fold-{number}" / f"{name}.parquet")
        seed_and_fold: list[Any] = [pa.array(np.full(len(part), seed, np.int64)), pa.array(np.full(len(part), number, np.int16))]
        tables.append(pa.table([*seed_and_fold, *part.columns], schema=TABLE))
        rows.append(questions.rows())
    return pa.concat_tables(tables).take(np.argsort(np.concatenate(rows), kind="stable"))
