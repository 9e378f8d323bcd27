"""Some questions of one split, with what several checks need of them computed once, on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.particles import word_edges
from kgqa.arrays.tokens import Hashes, word_hashes
from kgqa.arrays.words import composed
from kgqa.checks.measures.lexical import best_holds, holds_any, overlap
from kgqa.formats.faults import Fault, faults_of
from kgqa.records import Instance
from kgqa.splits.items import ItemBatch, keys_of

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
TEXTUAL = frozenset({"candidate", "span", "spans"})
"""Answer types that are texts of a paragraph."""
SEARCHED = frozenset({"candidate", "span", "spans", "number"})
"""Answer types with a text to look up; yes and no have no position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A split of the audited set, or of a set that it is compared with."""

    name: str
    """``train``; of another set ``other/train``."""
    against: bool
    """Whether it belongs to another set."""


class Batch:
    """Consecutive questions of one side. Paragraphs are those of all questions, one after the other; a title counts as part of its text."""

    def __init__(self, side: Side, first: int, instances: Sequence[Instance], earlier: Sequence[str] = ()) -> None:
        """``first`` is the place of the first question in its split, ``earlier`` are the sides that this one is compared with."""
        self.side, self.first, self.instances, self.earlier = side, first, instances, earlier
        self.items = ItemBatch(instances)

    @property
    def shown(self) -> tuple[Side, int, Sequence[Instance], Sequence[str]]:
        """The arguments of an equal batch."""
        return self.side, self.first, self.instances, self.earlier

    @cached_property
    def faults(self) -> list[tuple[Fault, ...]]:
        """The faults of content of each question."""
        return list(map(faults_of, self.instances))

    @cached_property
    def paragraph_counts(self) -> npt.NDArray[np.int64]:
        """The number of paragraphs of each question."""
        return np.array([len(instance.paragraphs) for instance in self.instances], np.int64)

    @cached_property
    def paragraph_offsets(self) -> npt.NDArray[np.int64]:
        """Where each question's paragraphs begin (questions + 1)."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.paragraph_counts)])

    @cached_property
    def supporting(self) -> Bools:
        """For each paragraph whether it is marked as supporting."""
        return np.array([bool(paragraph.supporting) for instance in self.instances for paragraph in instance.paragraphs], np.bool_)

    @cached_property
    def marked(self) -> Bools:
        """For each question whether every paragraph is marked as supporting or not, and at least one as supporting."""
        marks = [[paragraph.supporting for paragraph in instance.paragraphs] for instance in self.instances]
        return np.array([None not in mark and any(mark) for mark in marks], np.bool_)

    @cached_property
    def hop_orders(self) -> list[list[str]]:
        """For each question the ids of the paragraphs that its hops need, in order."""
        return [_paragraphs_in_hop_order(instance) for instance in self.instances]

    @cached_property
    def question_words(self) -> Hashes:
        """The words of the questions."""
        return word_hashes(self._questions)

    @cached_property
    def _questions(self) -> pa.Array:
        return pa.array([composed(instance.question) for instance in self.instances], pa.string())

    @cached_property
    def _paragraphs(self) -> pa.Array:
        paragraphs = (p for instance in self.instances for p in instance.paragraphs)
        return pa.array([composed(f"{paragraph.title or ''}\n{paragraph.text}") for paragraph in paragraphs], pa.string())

    @cached_property
    def paragraph_words(self) -> Hashes:
        """The words of titles and texts."""
        return word_hashes(self._paragraphs)

    @cached_property
    def answer_words(self) -> Hashes:
        """The words of all answers, aliases included; :attr:`answer_offsets` says whose they are."""
        return word_hashes(pa.array([composed(answer) for instance in self.instances for answer in instance.answers], pa.string()))

    @cached_property
    def answer_offsets(self) -> npt.NDArray[np.int64]:
        """Where each question's answers begin (questions + 1)."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum([len(instance.answers) for instance in self.instances])]).astype(np.int64)

    @cached_property
    def searchable(self) -> Bools:
        """For each question whether it has an answer with words that can be looked up in texts."""
        words = np.diff(self.answer_words[0])
        has_words = np.array([words[a:b].any() for a, b in zip(self.answer_offsets[:-1], self.answer_offsets[1:], strict=True)], np.bool_)
        has_searchable_type = np.array([instance.answerable and instance.answer_type in SEARCHED for instance in self.instances], np.bool_)
        return has_words & has_searchable_type

    @cached_property
    def textual(self) -> Bools:
        """For each question whether its answer is a span of a text; yes, no and computed numbers need not be."""
        return np.array([instance.answer_type in TEXTUAL for instance in self.instances], np.bool_)

    @cached_property
    def holds(self) -> Bools:
        """For each paragraph whether it contains an answer of its question, or an alias, as a sequence of words."""
        edges = word_edges(self._paragraphs)
        return holds_any(self.paragraph_offsets, *self.paragraph_words, edges, self.answer_offsets, *self.answer_words)

    @cached_property
    def question_holds(self) -> Bools:
        """For each question whether it contains one of its own answers."""
        offsets = np.arange(len(self.instances) + 1)
        edges = word_edges(self._questions)
        return holds_any(offsets, *self.question_words, edges, self.answer_offsets, *self.answer_words)

    @cached_property
    def overlap(self) -> Floats:
        """For each paragraph how much it has of its question's words, each weighted by how few of the question's paragraphs have it."""
        return overlap(self.paragraph_offsets, *self.paragraph_words, *self.question_words)

    def best_holds(self, among: Bools) -> Floats:
        """The chance, for each question, that the best paragraph ``among`` those selected (one bool each) holds the answer.

        The best paragraph has the greatest overlap with the question; ties make the chance a fraction. NaN for a question without a
        selected one.
        """
        return best_holds(self.paragraph_offsets, self.overlap, self.holds, among)

    @cached_property
    def absent(self) -> Floats:
        """1 for each question none of whose paragraphs holds the answer, 0 for the others."""
        counts = np.zeros(len(self.instances), np.int64)
        np.add.at(counts, np.repeat(np.arange(len(self.instances)), self.paragraph_counts), self.holds)
        return np.where(counts == 0, 1.0, 0.0)

    def share_holding(self, among: Bools) -> Floats:
        """For each question the share of its paragraphs ``among`` those given that contain the answer; NaN without any."""
        equal_scores = np.zeros_like(self.overlap)
        return best_holds(self.paragraph_offsets, equal_scores, self.holds, among)

    @cached_property
    def answer_keys(self) -> npt.NDArray[np.uint64]:
        """A key for each question's canonical answer, 0 where it has none."""
        from kgqa.metrics.normalize import normalize

        keys = keys_of(normalize(instance.answers[0]) if instance.answers else "" for instance in self.instances)[:, 0]
        has_answer = np.array([bool(instance.answers) and instance.answerable for instance in self.instances], np.bool_)
        return np.where(has_answer, keys, np.uint64(0))

    def paragraphs_of(self, number: int) -> slice:
        """Range of the paragraphs of question ``number`` in the batch."""
        return slice(int(self.paragraph_offsets[number]), int(self.paragraph_offsets[number + 1]))


def _paragraphs_in_hop_order(instance: Instance) -> list[str]:
    """Ids of the paragraphs that the steps, or else the answer's first chain, need, in order, each once; empty where nobody says it."""
    context = {paragraph.id for paragraph in instance.paragraphs}
    ids: list[str] = [step.paragraph_id for step in instance.decomposition or () if step.paragraph_id]
    if not ids and instance.candidates and instance.chains:
        for candidate, chains in zip(instance.candidates, instance.chains, strict=False):
            if candidate.id == instance.answer_id and chains:
                ids = list(chains[0][1::2])
    return [name for name in dict.fromkeys(ids) if name in context]
