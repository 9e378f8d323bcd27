"""How often each answer was seen with each cue: a kind of query, a document, or nothing in particular."""

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
from kgqa.readers.lexical.counts import Counts
from kgqa.readers.lexical.tables import read_table, write_table

COUNTS = pa.schema([("cue", pa.uint64()), ("answer", pa.int32()), ("count", pa.int64())])
ANSWERS = pa.schema([("answer", pa.string())])
Hashes = npt.NDArray[np.uint64]


class Best(NamedTuple):
    """For each cue the answer that was seen with it most often."""

    answer: npt.NDArray[np.int64]
    """Its number; -1 where the cue was never seen."""
    times: npt.NDArray[np.int64]
    total: npt.NDArray[np.int64]
    """Of all answers with this cue."""


class AnswerCounts:
    """What was counted, to be looked up. Memory: 40 bytes for each pair of a cue and an answer that was seen, and the answers' texts."""

    def __init__(self, counts: pa.Table, texts: Sequence[str]) -> None:
        """``counts``: ``COUNTS``, by cue and then by answer, which is a place in ``texts``; these are in the order of their hashes."""
        self._counts, self.texts = counts, texts
        self._answers = text_hashes(pa.array(texts, pa.string()))
        cue, answer, self._count = (counts[name].to_numpy() for name in COUNTS.names)
        begins = np.concatenate([[True], cue[1:] != cue[:-1]])[: len(cue)]
        self._cues = cue[begins]
        self._pairs = paired(np.cumsum(begins) - 1, answer)
        starts = np.flatnonzero(begins)
        most = np.maximum.reduceat(self._count, starts) if len(starts) else np.zeros(0, np.int64)
        self._most, self._total = most, np.add.reduceat(self._count, starts) if len(starts) else most
        self._tied = np.flatnonzero(self._count == most[np.cumsum(begins) - 1]) if len(starts) else starts
        self._first_tied = np.searchsorted(self._tied, np.append(starts, len(cue)))

    @classmethod
    def of(cls, counts: Counts, texts: Mapping[int, str]) -> AnswerCounts:
        """From counts of the columns cue and answer, and each answer's hash and text."""
        known = np.array(sorted(texts), np.uint64)
        table = counts.table()
        answer = find(known, table["answer"].to_numpy()).astype(np.int32)
        return cls(pa.table([table["cue"], answer, table["count"]], schema=COUNTS), [texts[code] for code in known.tolist()])

    def counts(self, cues: Hashes, answers: Hashes) -> npt.NDArray[np.int64]:
        """How often each answer was seen with the cue at the same place; 0 where never."""
        row, number = find(self._cues, cues), find(self._answers, answers)
        known = (row >= 0) & (number >= 0)
        found = np.zeros(len(cues), np.int64)
        at = find(self._pairs, paired(row[known], number[known]))
        found[known] = np.where(at >= 0, self._count[at] if len(self._count) else 0, 0)
        return found

    def best(self, cues: Hashes, draws: Hashes) -> Best:
        """The most frequent answer with each cue, of several the one that the number drawn beside it tells."""
        row = find(self._cues, cues)
        known = row >= 0
        row, none = row[known], np.zeros(len(cues), np.int64)
        found = Best(none - 1, none.copy(), none.copy())
        ties = (self._first_tied[row + 1] - self._first_tied[row]).astype(np.uint64)
        place = self._tied[self._first_tied[row] + (draws[known] % ties).astype(np.int64)] if len(row) else row
        found.answer[known] = self._pairs[place] & 0xFFFFFFFF
        found.times[known], found.total[known] = self._most[row], self._total[row]
        return found

    def write(self, folder: Path) -> None:
        """Write the tables of counts and of answers."""
        write_table(self._counts, folder / "counts.parquet")
        write_table(pa.table([pa.array(self.texts, pa.string())], schema=ANSWERS), folder / "answers.parquet")

    @classmethod
    def read(cls, folder: Path) -> AnswerCounts:
        """What :meth:`write` wrote. Raises InputError where it is something else."""
        counts, texts = read_table(folder / "counts.parquet", COUNTS), read_table(folder / "answers.parquet", ANSWERS)["answer"]
        hashes, (cue, answer, count) = text_hashes(texts), (counts[name].to_numpy() for name in COUNTS.names)
        sound = (hashes[1:] > hashes[:-1]).all() and ((answer >= 0) & (answer < len(texts)) & (count > 0)).all()
        if not sound or not ((cue[1:] > cue[:-1]) | ((cue[1:] == cue[:-1]) & (answer[1:] > answer[:-1]))).all():
            raise BrokenInput(f"{folder}: the reader's counts are not in order, or are of answers that are not there; train it again.")
        return cls(counts, texts.to_pylist())
