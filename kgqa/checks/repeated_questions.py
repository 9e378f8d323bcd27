"""Questions that a split has twice, and questions that have two answers."""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b

import numpy as np

from kgqa.checks.batch import Batch
from kgqa.checks.check import Check
from kgqa.checks.findings import EXAMPLES, Example, Finding, Part
from kgqa.metrics.normalize import normalize

Key = bytes


class RepeatedQuestions(Check):
    """Questions whose words, answer and answerability another question of the same split has; twins of one group count once.

    Memory: a hash and a group for each question.
    """

    name = "repeated-questions"
    family = "fault"
    title = "A split asks the same question again"
    meaning = "The share of questions that repeat another question of their own split, with the same answer."
    remedy = "Keep one of them; where the contexts differ, merge their paragraphs or their chains."

    def __init__(self, *, seed: int) -> None:
        """No question was seen yet."""
        super().__init__(seed=seed)
        self._groups: dict[tuple[str, Key], dict[str, str]] = defaultdict(dict)
        self._totals: dict[str, int] = defaultdict(int)
        self._questions: dict[Key, str] = {}

    def update(self, batch: Batch) -> None:
        """Note the questions of a split by their words and answer."""
        split = batch.side.name
        for instance in batch.instances:
            if not instance.question.strip():
                continue
            key = _key(instance.question, instance.answers[0] if instance.answers else "", str(instance.answerable))
            groups = self._groups[split, key]
            # The smallest id of a group stands for it, whatever the order of the questions.
            groups[instance.group] = min(groups.get(instance.group, instance.id), instance.id)
            self._totals[split] += 1
            if len(groups) > 1:
                self._questions[key] = instance.question

    def result(self, rng: np.random.Generator) -> Finding:
        """All but one of each set of equal questions are repetitions."""
        total = sum(self._totals.values())
        if not total:
            return self.finding(reason="The set has no questions.")
        repetitions: dict[str, list[Example]] = defaultdict(list)
        for (split, key), groups in self._groups.items():
            first, *other_entries = sorted(groups.values())
            repetitions[split] += [
                Example(split=split, id=question_id, what=f"repeats {first}: {self._questions[key]}") for question_id in other_entries
            ]
        count = sum(map(len, repetitions.values()))
        examples = sorted(
            (example for examples_of_split in repetitions.values() for example in examples_of_split),
            key=lambda example: (example.split, example.id),
        )
        parts = tuple(Part(name=split, count=len(repetitions[split]), total=size) for split, size in self._totals.items())
        return self.share(count, total, rng, examples=tuple(examples[:EXAMPLES]), parts=parts, parts_are="by split")


class SeveralAnswers(Check):
    """Answerable questions whose words another question has whose answers have none in common, in any split.

    A question about one text ("When was he born?") may recur with another text, so only questions with several paragraphs are tested, whose
    own words must name something. Memory: a hash for each question and answer.
    """

    name = "several-answers"
    family = "fault"
    title = "One question has several answers"
    meaning = "The share of questions that the set asks again, in the same words, with another answer."
    remedy = "Word the questions so that they differ, or keep one of them with all its answers."

    def __init__(self, *, seed: int) -> None:
        """No question was seen yet."""
        super().__init__(seed=seed)
        self._answers: dict[Key, list[tuple[str, str, str, frozenset[str], str]]] = defaultdict(list)
        self._total = 0

    def update(self, batch: Batch) -> None:
        """Note the answers of each question that shows several paragraphs."""
        for instance in batch.instances:
            if instance.answerable and instance.answers and len(instance.paragraphs) > 1 and instance.question.strip():
                self._total += 1
                answers = frozenset(map(normalize, instance.answers))
                entry = (batch.side.name, instance.id, instance.group, answers, instance.answers[0])
                self._answers[_key(instance.question)].append(entry)

    def result(self, rng: np.random.Generator) -> Finding:
        """Questions of one group, as twins and perturbed ones, may differ."""
        if not self._total:
            return self.finding(reason="No answerable question shows several paragraphs.")
        examples = []
        for entries in self._answers.values():
            for split, question_id, group, answers, answer in entries if len(entries) > 1 else ():
                other_entries = sorted((example[1], example[4]) for example in entries if example[2] != group and not example[3] & answers)
                if other_entries:
                    examples.append(
                        Example(split=split, id=question_id, what=f"“{answer}” here, “{other_entries[0][1]}” in {other_entries[0][0]}")
                    )
        examples.sort(key=lambda example: (example.split, example.id))
        return self.share(len(examples), self._total, rng, examples=tuple(examples[:EXAMPLES]))


def _key(*texts: str) -> Key:
    """A hash of normalized texts."""
    return blake2b("\0".join(map(normalize, texts)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
