"""BM25 over paragraphs: bm25s builds the index, with every term's score in every paragraph; a kernel sums them up and keeps the best.

The search is our own because datasets depend on it: equal scores are ordered by row on every machine, and all engines give the same result.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.parallel import Engine, Threads
from kgqa.arrays.rows import IntArray, Offsets, Rows, find
from kgqa.arrays.search import lower_bound
from kgqa.arrays.tokens import word_hashes

K1, B = 1.2, 0.75
"""Lucene's values, and so Elasticsearch's, which the paper used."""
COMMON = 0.25
"""Words in more than this share of the paragraphs are not searched: they are uninformative and slow."""
BATCH = 256
"""Queries per part."""


class Bm25:
    """A BM25 index. Memory: 8 bytes per distinct word of a paragraph."""

    def __init__(self, texts: pa.Array | pa.ChunkedArray) -> None:
        """Index ``texts``, ignoring case."""
        import bm25s

        bounds, hashes = word_hashes(texts)
        self._words, numbers = np.unique(hashes, return_inverse=True)
        self.count = len(texts)
        index = bm25s.BM25(k1=K1, b=B, method="lucene")
        parts = np.split(numbers.astype(np.int64), bounds[1:-1])
        term_numbers = {int(number): int(number) for number in range(len(self._words))}
        if term_numbers:
            index.index(([part.tolist() for part in parts], term_numbers), show_progress=False, create_empty_token=False)
            scores = index.scores
        else:
            scores = {"data": np.zeros(0, np.float32), "indices": np.zeros(0, np.int32), "indptr": np.zeros(1, np.int64)}
        self._scores = np.ascontiguousarray(scores["data"], np.float32)
        self._rows = np.ascontiguousarray(scores["indices"], np.int32)
        self._begins = np.ascontiguousarray(scores["indptr"], np.int64)
        self._searched = np.diff(self._begins) <= max(1.0, COMMON * self.count)

    def queries(self, texts: pa.Array | pa.ChunkedArray) -> Rows:
        """For each text the index's numbers of its words, without unknown and common words."""
        bounds, hashes = word_hashes(texts)
        number = find(self._words, hashes)
        is_searched = (number >= 0) & (self._searched[number] if len(self._searched) else False)
        return Rows(offsets=bounds, targets=number.astype(np.int32)).keep(is_searched)

    def search(
        self, queries: Rows, count: int, *, engine: Engine | None = None, advance: Callable[[int], None] = lambda _: None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """For each query its ``count`` best paragraphs in falling order (queries × count; -1 if fewer match), and their scores.

        For equal scores the lower row comes first. O(paragraphs with a query word). Memory: 8 bytes per paragraph and worker.
        """
        rows, scores = [np.empty((0, count), np.int32)], [np.empty((0, count), np.float32)]
        shared = (count, self._begins, self._rows, self._scores, self.count, queries.offsets, queries.targets)
        for best_rows, best_scores in (engine or Threads()).map(_search_part, range(0, len(queries.offsets) - 1, BATCH), shared):
            rows.append(best_rows)
            scores.append(best_scores)
            advance(len(best_rows))
        return np.concatenate(rows), np.concatenate(scores)

    def best_of(self, queries: Rows, candidates: Rows) -> npt.NDArray[np.int32]:
        """For each query the best of its candidates (ascending rows, at least one); the first in a tie."""
        return _best_of(self._begins, self._rows, self._scores, queries.offsets, queries.targets, candidates.offsets, candidates.targets)


def _search_part(
    first: int,
    count: int,
    begins: Offsets,
    rows: IntArray,
    scores: npt.NDArray[np.float32],
    paragraphs: int,
    offsets: Offsets,
    words: IntArray,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    last = min(first + BATCH, len(offsets) - 1)
    best_rows, best_scores = np.full((last - first, count), -1, np.int32), np.zeros((last - first, count), np.float32)
    _search(begins, rows, scores, paragraphs, offsets[first : last + 1], words, best_rows, best_scores)
    return best_rows, best_scores


@kernel
def _best_of(begins, rows, scores, offsets, words, candidate_offsets, candidates):  # type: ignore[no-untyped-def]
    out = np.empty(len(offsets) - 1, np.int32)
    for query in range(len(out)):
        best, best_score = candidates[candidate_offsets[query]], np.float32(-1)
        for k in range(candidate_offsets[query], candidate_offsets[query + 1]):
            total = np.float32(0)
            for index in range(offsets[query], offsets[query + 1]):
                end = begins[words[index] + 1]
                position = lower_bound(rows, begins[words[index]], end, candidates[k])
                if position < end and rows[position] == candidates[k]:
                    total += scores[position]
            if total > best_score:
                best, best_score = candidates[k], total
        out[query] = best
    return out


@kernel
def _search(begins, rows, scores, count, offsets, words, best_rows, best_scores):  # type: ignore[no-untyped-def]
    """Fill ``best_rows`` and ``best_scores``; a heap holds the best so far, the worst of them on top."""
    total = np.zeros(count, np.float32)
    scored_rows = np.empty(count, np.int32)
    result_count = best_rows.shape[1]
    heap_score = np.empty(result_count, np.float32)
    heap_row = np.empty(result_count, np.int32)
    for query in range(len(best_rows)):
        touched_count = 0
        for index in range(offsets[query], offsets[query + 1]):
            for entry in range(begins[words[index]], begins[words[index] + 1]):
                row = rows[entry]
                # BM25's scores are positive, so a total of 0 marks a row that the query has not touched yet.
                if total[row] == 0.0:
                    scored_rows[touched_count] = row
                    touched_count += 1
                total[row] += scores[entry]
        size = 0
        for k in range(touched_count):
            row, score = scored_rows[k], total[scored_rows[k]]
            total[row] = 0.0
            if size < result_count:
                heap_score[size], heap_row[size] = score, row
                size += 1
                _sift_up(heap_score, heap_row, size - 1)
            elif score > heap_score[0] or (score == heap_score[0] and row < heap_row[0]):
                heap_score[0], heap_row[0] = score, row
                _sift_down(heap_score, heap_row, size)
        # The root is the worst that is left: it takes the last free rank, and the last leaf takes its place.
        for rank in range(size - 1, -1, -1):
            best_scores[query, rank], best_rows[query, rank] = heap_score[0], heap_row[0]
            heap_score[0], heap_row[0] = heap_score[rank], heap_row[rank]
            _sift_down(heap_score, heap_row, rank)


@kernel(inline=True)
def _worse(score, row, other_score, other_row):  # type: ignore[no-untyped-def]
    return score < other_score or (score == other_score and row > other_row)


@kernel
def _sift_up(scores, rows, child):  # type: ignore[no-untyped-def]
    while child > 0:
        parent = (child - 1) >> 1
        if not _worse(scores[child], rows[child], scores[parent], rows[parent]):
            return
        scores[child], scores[parent] = scores[parent], scores[child]
        rows[child], rows[parent] = rows[parent], rows[child]
        child = parent


@kernel
def _sift_down(scores, rows, size):  # type: ignore[no-untyped-def]
    parent = 0
    while True:
        worst = parent
        for child in range(2 * parent + 1, min(2 * parent + 3, size)):
            if _worse(scores[child], rows[child], scores[worst], rows[worst]):
                worst = child
        if worst == parent:
            return
        scores[parent], scores[worst] = scores[worst], scores[parent]
        rows[parent], rows[worst] = rows[worst], rows[parent]
        parent = worst
