"""Support at constant positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.checks.batch import Batch
from kgqa.checks.check import Check
from kgqa.checks.findings import Finding, Part, Worst

POSITIONS = 64
"""Positions beyond this are merged."""
SHOWN = 20


class SupportPosition(Check):
    """The share of questions with a supporting paragraph at the position that most often supports.

    The position is chosen on one half of the questions, drawn by group, and tested on the other, so that a small set finds none by chance.
    Memory: some counters.
    """

    name = "support-position"
    family = "shortcut"
    title = "Support stands at a fixed position"
    meaning = "How often one fixed position, chosen on other questions, holds a supporting paragraph."
    remedy = "Shuffle the paragraphs of each question, by a seed that does not depend on which of them support."

    def __init__(self, *, seed: int) -> None:
        """No question was seen yet."""
        super().__init__(seed=seed)
        self._hits = np.zeros((2, POSITIONS), np.int64)
        self._reach = np.zeros((2, POSITIONS), np.int64)
        self._questions = np.zeros(2, np.int64)
        self._chance = np.zeros((POSITIONS + 1, POSITIONS + 1), np.int64)
        self._worst = [Worst() for _ in range(POSITIONS)]

    def update(self, batch: Batch) -> None:
        """Count the positions of support."""
        halves = (text_hashes(pa.array([i.group for i in batch.instances], pa.string()), seed=self.seed) % np.uint64(2)).astype(np.int64)
        for number in np.flatnonzero(batch.marked & (batch.paragraph_counts > 1)).tolist():
            marks = batch.supporting[batch.paragraphs_of(number)][:POSITIONS]
            if marks.all():
                continue
            half, instance = halves[number], batch.instances[number]
            self._questions[half] += 1
            self._hits[half, : len(marks)] += marks
            self._reach[half, : len(marks)] += 1
            self._chance[int(marks.sum()), len(marks)] += 1
            for position in np.flatnonzero(marks).tolist():
                description = f"position {position + 1} of {len(marks)}: {instance.question}"
                self._worst[position].add(0.0, batch.side.name, instance.id, lambda text=description: text)  # type: ignore[misc]

    def result(self, rng: np.random.Generator) -> Finding:
        """The accuracy of the position chosen on the other half."""
        total = int(self._questions.sum())
        if not total:
            return self.finding(reason="No question has paragraphs marked as supporting beside others.")
        positions = [int(np.argmax(self._hits[1 - half])) for half in (0, 1)]
        hit_count = int(sum(self._hits[half, positions[half]] for half in (0, 1)))
        support, size = np.nonzero(self._chance)
        chance = float((self._chance[support, size] * support / size).sum()) / total
        hits, reach = self._hits.sum(axis=0), self._reach.sum(axis=0)
        finding = self.share(
            hit_count, total, rng, chance=round(chance, 12),
            parts=tuple(Part(name=f"{p + 1}", count=int(hits[p]), total=int(reach[p])) for p in range(SHOWN) if reach[p]),
            parts_are="support at each position, of questions that have so many paragraphs",
            examples=self._worst[int(np.argmax(hits))].examples(),
        )  # fmt: skip
        return finding if finding.bounds[1] > chance else replace(finding, examples=())
