"""Encoded questions: Arrow on disk, written once and memory-mapped, so that a run's memory does not grow with the set."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import BrokenInput, storage_errors
from kgqa.progress import Progress
from kgqa.runs.files import key_of
from kgqa.runs.scratch import TEMPORARY
from kgqa.training.questions import Questions
from kgqa.training.task import FAULT, TOKENS, Task

CHUNK = 256
"""Questions that are encoded together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedSplit:
    """The examples of a split; 12 bytes each are in memory."""

    table: pa.Table
    """Memory-mapped; one row per question of the whole split."""
    tokens: npt.NDArray[np.int32]
    sound: npt.NDArray[np.bool_]
    """Whether the reader can learn from the example."""

    def faults(self, rows: npt.NDArray[np.int64]) -> Counter[str]:
        """Reasons why the reader cannot learn from some of these rows, with counts."""
        faulty_rows = rows[~self.sound[rows]]
        return Counter(self.table.column(FAULT).take(pa.array(faulty_rows)).to_pylist())

    def take(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        """Some examples. Nothing else of the table is read; ``Table.take`` would copy each of its columns as a whole."""
        return pa.concat_tables([self.table.slice(row, 1) for row in rows.tolist()] or [self.table.slice(0, 0)]).combine_chunks()


def encode(task: Task, questions: Questions, folder: Path, progress: Progress, *, what: str) -> EncodedSplit:
    """Encode a whole split for ``task``, or reuse the file, in the split's own folder if it has one, else in ``folder``. Raises
    StorageError.
    """
    folder = questions.tokens or folder
    path = folder / f"{key_of('encoded', questions.key, task.encoding)[:32]}.arrow"
    with storage_errors(path):
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}{TEMPORARY}")
            try:
                _write(task, questions, partial, progress, noun=what)
                partial.replace(path)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
        try:
            table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        except pa.ArrowInvalid:
            raise BrokenInput(f"{path}: this is not a complete Arrow file; remove it, and kgqa writes it again.") from None
    return EncodedSplit(
        table=table, tokens=table.column(TOKENS).to_numpy().astype(np.int32), sound=pc.is_null(table.column(FAULT)).to_numpy()
    )


def _write(task: Task, questions: Questions, path: Path, progress: Progress, *, noun: str) -> None:
    progress.start(f"Tokenising {noun}", questions.count, "questions")
    instances = questions.read()
    writer = None
    with path.open("wb") as file:
        while instances_ := list(islice(instances, CHUNK)):
            batch = task.encode(instances_)
            writer = writer or pa.ipc.new_file(file, batch.schema)
            writer.write_batch(batch)
            progress.advance(len(instances_))
        writer = writer or pa.ipc.new_file(file, task.encode([]).schema)
        writer.close()
    progress.finish(f"{questions.count:,} questions")
