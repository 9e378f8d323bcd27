"""Evidence for implicit questions: BM25 by the question, or by the steps of a decomposition (Geva et al. 2021, sections 5.1 and 5.2).

A question with steps is searched for once per step. The results of all steps are merged by their scores, so that both ways give equally
many paragraphs and can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.parallel import Engine
from kgqa.records import REFERENCE, Step
from kgqa.retrieval.bm25 import Bm25

RETRIEVED = 10
"""Paragraphs per question, as in the paper's Recall@10."""


def step_queries(question: str, steps: Sequence[Step] | None) -> tuple[str, ...]:
    """A query per step, without references to earlier steps, which no paragraph contains; the question itself if it has no steps.

    >>> step = Step(id="2", question="Was #1 before 1900?", answer=None, paragraph_id=None, depends_on=("1",))
    >>> step_queries("Is it old?", [step])
    ('Was   before 1900?',)
    """
    return tuple(REFERENCE.sub(" ", step.question) for step in steps) if steps else (question,)


def evidence(
    index: Bm25, queries: Sequence[Sequence[str]], count: int = RETRIEVED, *, engine: Engine | None = None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """The ``count`` best paragraphs of each question, with their scores (questions × count; row -1 and score 0 if fewer match).

    ``queries``: one or more for each question. Each finds ``count`` paragraphs; a paragraph that several find keeps its best score. Equal
    scores are ordered by row. Memory: 8 bytes per query and result, and as :meth:`Bm25.search`.
    """
    lengths = np.array([len(texts) for texts in queries], np.int64)
    flat = [text for texts in queries for text in texts]
    rows, scores = index.search(index.queries(pa.array(flat, pa.string())), count, engine=engine)
    question = np.repeat(np.arange(len(queries)), lengths * count)
    is_hit = rows.reshape(-1) >= 0
    question, rows, scores = question[is_hit], rows.reshape(-1)[is_hit], scores.reshape(-1)[is_hit]
    order = np.lexsort((-scores, rows, question))
    question, rows, scores = question[order], rows[order], scores[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (question[1:] != question[:-1]) | (rows[1:] != rows[:-1])
    question, rows, scores = question[is_first], rows[is_first], scores[is_first]
    order = np.lexsort((rows, -scores, question))
    question, rows, scores = question[order], rows[order], scores[order]
    rank = np.arange(len(rows)) - np.searchsorted(question, question)
    best = rank < count
    best_rows = np.full((len(queries), count), -1, np.int32)
    best_scores = np.zeros((len(queries), count), np.float32)
    best_rows[question[best], rank[best]] = rows[best]
    best_scores[question[best], rank[best]] = scores[best]
    return best_rows, best_scores
