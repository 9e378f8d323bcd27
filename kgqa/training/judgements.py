"""What readers said about questions that they had not learned from, as a table of all folds and seeds, and the scores of it."""

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
"""What the questions themselves are called beside others that the readers read as well."""
TABLE = pa.schema([pa.field("seed", pa.int64(), nullable=False), pa.field("fold", pa.int16(), nullable=False), *SCHEMA])
"""The fields of a Prediction, and which reader made it."""
ROWS = 1 << 14
Score = Callable[[Instance, Prediction], float]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossFitted:
    """What readers said about questions whose groups they had not seen; every question once for each seed."""

    folder: Path
    seeds: tuple[int, ...]
    questions: Mapping[str, Questions]
    """Those that were judged, under :data:`JUDGED`, and what was read beside them."""

    def predictions(self, seed: int, of: str = JUDGED) -> Iterator[Prediction]:
        """In the order of the questions ``of``. Raises BrokenInput."""
        path = self.folder / f"{of}.parquet"
        with storage_errors(path):
            try:
                with pq.ParquetFile(path) as file:
                    for batch in file.iter_batches(batch_size=ROWS):
                        rows = batch.filter(pc.equal(batch.column("seed"), seed)).drop_columns(["seed", "fold"])
                        yield from map(prediction_of, rows.to_pylist())
            except pa.ArrowInvalid as error:
                raise BrokenInput(f"{path}: this is no whole Parquet file; remove its folder and begin again.") from error

    def scores(self, score: Score, of: str = JUDGED) -> Floats:
        """A row for each seed, a column for each question ``of``."""
        asked = self.questions[of]
        return np.array([[score(*pair) for pair in zip(asked, self.predictions(seed, of), strict=True)] for seed in self.seeds], np.float64)

    def mean_scores(self, score: Score, of: str = JUDGED) -> Floats:
        """For each question the mean over the seeds."""
        found: Floats = self.scores(score, of).mean(axis=0)
        return found


def put_together(place: Path, seeds: Sequence[int], parts: Mapping[int, Questions], name: str) -> None:
    """``NAME.parquet`` in ``place``, whole or not at all, of the files of that name in the folds' folders; in the questions' order.

    ``parts``: fold → its questions. The same predictions have the same bytes.
    """
    path = place / f"{name}.parquet"
    with scratch(path) as folder:
        partial = folder / path.name
        with pq.ParquetWriter(partial, TABLE, compression="zstd", compression_level=1) as writer:
            for seed in seeds:
                writer.write_table(_of_seed(place / f"seed-{seed}", parts, name, seed).combine_chunks(), row_group_size=ROWS)
        partial.replace(path)


def _of_seed(place: Path, parts: Mapping[int, Questions], name: str, seed: int) -> pa.Table:
    tables, rows = [TABLE.empty_table()], [np.zeros(0, np.int64)]
    for number, questions in parts.items():
        part = pq.read_table(place / f"fold-{number}" / f"{name}.parquet")
        marks: list[Any] = [pa.array(np.full(len(part), seed, np.int64)), pa.array(np.full(len(part), number, np.int16))]
        tables.append(pa.table([*marks, *part.columns], schema=TABLE))
        rows.append(questions.rows())
    return pa.concat_tables(tables).take(np.argsort(np.concatenate(rows), kind="stable"))
