"""Training questions of several datasets in one, as in IIRC's combined evaluation (Ferguson et al. 2020, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import floor

import numpy as np

from kgqa.arrays.draws import draw
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.training.questions import Questions


def mixture(base: Questions, others: Sequence[tuple[Questions, float]], *, share: float, seed: int) -> Questions:
    """All questions of ``base``, then some of ``others``, drawn at random in proportion to their weights.

    The others are ``share`` of the whole; a dataset that has fewer questions than its part gives all of them. The ids of the others get the
    number of their dataset in front, so that no two are equal.
    """
    question_count = share / (1 - share) * len(base)
    total = sum(weight for _, weight in others)
    parts = [_draw(questions, floor(question_count * weight / total), seed=seed) for questions, weight in others]

    def read() -> Iterator[Instance]:
        return chain(base, *(map(_renamer(number), part) for number, part in enumerate(parts, start=1)))

    rows = [[part.key, part.rows().tolist()] for part in (base, *parts)]
    return Questions(read=read, key=key_of("mixture", rows), count=len(base) + sum(map(len, parts)))


def _draw(questions: Questions, count: int, *, seed: int) -> Questions:
    rows = questions.rows()
    rng = np.random.default_rng(draw(purpose="mixture", seed=seed, id=questions.key))
    keep = np.zeros(questions.count, np.bool_)
    keep[rng.permutation(rows)[:count]] = True
    return questions.only(keep)


def _renamer(number: int) -> Callable[[Instance], Instance]:
    return lambda instance: replace(instance, id=f"{number}/{instance.id}", group=f"{number}/{instance.group}")
