"""Co-occurrence counts of answers and cues; a cue is the type of the query, a document, or empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import find, paired
from kgqa.errors import BrokenInput
from kgqa.readers.lexical.counts import Counts, read_table, write_table

COUNTS = pa.schema([("cue", pa.uint64()), ("answer", pa.int32()), ("count", pa.int64())])
ANSWERS = pa.schema([("answer", pa.string())])
Hashes = npt.NDArray[np.uint64]


class Best(NamedTuple):
    """For each cue its most frequent answer."""

    answer: npt.NDArray[np.int64]
    """The answer's number; -1 for an unknown cue."""
    times: npt.NDArray[np.int64]
    total: npt.NDArray[np.int64]
    """Count of all answers with this cue."""


class AnswerCounts:
    """The counts, for look-up. Memory: 40 bytes per distinct pair of a cue and an answer, and the answers' texts."""

    def __init__(self, counts: pa.Table, texts: Sequence[str]) -> None:
        """``counts``: ``COUNTS``, sorted by cue and answer. An answer is an index into ``texts``, which are sorted by their hashes."""
        self._counts, self.texts = counts, texts
        self._answers = text_hashes(pa.array(texts, pa.string()))
        cue, answer, self._count = (counts[name].to_numpy() for name in COUNTS.names)
        begins = np.concatenate([[True], cue[1:] != cue[:-1]])[: len(cue)]
        self._cues = cue[begins]
        self._pairs = paired(np.cumsum(begins) - 1, answer)
        starts = np.flatnonzero(begins)
        most = np.maximum.reduceat(self._count, starts) if len(starts) else np.zeros(0, np.int64)
        self._most, self._total = most, np.add.reduceat(self._count, starts) if len(starts) else most
        self._tie_positions = np.flatnonzero(self._count == most[np.cumsum(begins) - 1]) if len(starts) else starts
        self._first_tie = np.searchsorted(self._tie_positions, np.append(starts, len(cue)))

    @classmethod
    def of(cls, counts: Counts, texts: Mapping[int, str]) -> AnswerCounts:
        """Build from counts of the columns cue and answer, and each answer's hash and text."""
        answer_hashes = np.array(sorted(texts), np.uint64)
        table = counts.table()
        answer = find(answer_hashes, table["answer"].to_numpy()).astype(np.int32)
        return cls(pa.table([table["cue"], answer, table["count"]], schema=COUNTS), [texts[code] for code in answer_hashes.tolist()])

    def counts(self, cues: Hashes, answers: Hashes) -> npt.NDArray[np.int64]:
        """How often each answer occurred with the cue at the same index; 0 if never."""
        row, number = find(self._cues, cues), find(self._answers, answers)
        is_known = (row >= 0) & (number >= 0)
        counts_of_pair = np.zeros(len(cues), np.int64)
        positions = find(self._pairs, paired(row[is_known], number[is_known]))
        counts_of_pair[is_known] = np.where(positions >= 0, self._count[positions] if len(self._count) else 0, 0)
        return counts_of_pair

    def best(self, cues: Hashes, draws: Hashes) -> Best:
        """The most frequent answer with each cue; the random number in ``draws`` breaks ties."""
        row = find(self._cues, cues)
        is_known = row >= 0
        row, zeros = row[is_known], np.zeros(len(cues), np.int64)
        best_of_cue = Best(zeros - 1, zeros.copy(), zeros.copy())
        tie_count = (self._first_tie[row + 1] - self._first_tie[row]).astype(np.uint64)
        positions = self._tie_positions[self._first_tie[row] + (draws[is_known] % tie_count).astype(np.int64)] if len(row) else row
        best_of_cue.answer[is_known] = self._pairs[positions] & 0xFFFFFFFF
        best_of_cue.times[is_known], best_of_cue.total[is_known] = self._most[row], self._total[row]
        return best_of_cue

    def write(self, folder: Path) -> None:
        """Write the tables of counts and of answers."""
        write_table(self._counts, folder / "counts.parquet")
        write_table(pa.table([pa.array(self.texts, pa.string())], schema=ANSWERS), folder / "answers.parquet")

    @classmethod
    def read(cls, folder: Path) -> AnswerCounts:
        """Read the tables of :meth:`write`. Raises InputError if they are something else."""
        counts, texts = read_table(folder / "counts.parquet", COUNTS), read_table(folder / "answers.parquet", ANSWERS)["answer"]
        hashes, (cue, answer, count) = text_hashes(texts), (counts[name].to_numpy() for name in COUNTS.names)
        is_valid = (hashes[1:] > hashes[:-1]).all() and ((answer >= 0) & (answer < len(texts)) & (count > 0)).all()
        if not is_valid or not ((cue[1:] > cue[:-1]) | ((cue[1:] == cue[:-1]) & (answer[1:] > answer[:-1]))).all():
            raise BrokenInput(f"{folder}: the reader's counts are not in order, or are of answers that are not there; train it again.")
        return cls(counts, texts.to_pylist())
