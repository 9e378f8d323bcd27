"""Something that must be there is not."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from kgqa.checks.batch import Batch
from kgqa.checks.check import Check
from kgqa.checks.findings import EXAMPLES, Finding, Part, Worst
from kgqa.checks.owned_faults import describe_fault, join_faults
from kgqa.formats.faults import FAULTS
from kgqa.records import Instance


class EmptyFields(Check):
    """Questions, answers, titles, paragraphs and candidates without a visible character, and answers where there must be none or some.

    A set that never shows paragraphs, or never gives answers, as a test split does not, is not blamed for it. Memory: some counters.
    """

    name = "empty-fields"
    family = "fault"
    title = "Empty fields"
    meaning = (
        "The share of questions with an empty question, answer, title, paragraph or candidate, without an answer where there must be one, "
        "or with answers although unanswerable."
    )
    remedy = "Fill or drop these records."

    def __init__(self, *, seed: int) -> None:
        """No question was seen yet."""
        super().__init__(seed=seed)
        self._total = self._faulty = 0
        self._absent = {"paragraphs": [0, 0], "answers": [0, 0]}
        self._worst, self._without = Worst(), {"paragraphs": Worst(), "answers": Worst()}

    def update(self, batch: Batch) -> None:
        """Count the questions with empty or unusable fields."""
        split = batch.side.name
        for instance, content_faults in zip(batch.instances, batch.faults, strict=True):
            self._total += 1
            faults = [
                *_empty_parts(instance, {fault.kind for fault in content_faults}),
                *(describe_fault(fault) for fault in content_faults if fault.kind == "absent-answer"),
            ]
            absent_fields = [name for name in self._absent if not getattr(instance, name) and (name != "answers" or instance.answerable)]
            self._faulty += bool(faults)
            if faults:
                self._worst.add(len(faults), split, instance.id, lambda texts=faults: join_faults(texts))  # type: ignore[misc]
            for name in absent_fields:
                self._absent[name][bool(faults)] += 1
                self._without[name].add(0, split, instance.id, lambda field=name: f"no {field}")  # type: ignore[misc]

    def result(self, rng: np.random.Generator) -> Finding:
        """Questions without paragraphs or answers count where others have them."""
        partly_absent = [name for name, counts in self._absent.items() if 0 < sum(counts) < self._total]
        # One that lacks both is counted twice; it is also without anything to audit.
        count = min(self._total, self._faulty + sum(self._absent[name][0] for name in partly_absent))
        if not self._total:
            return self.finding(reason="The set has no questions.")
        worst = self._worst.examples() + tuple(example for name in partly_absent for example in self._without[name].examples())
        always_absent = [name for name, counts in self._absent.items() if sum(counts) == self._total]
        return self.share(
            count, self._total, rng, examples=worst[:EXAMPLES],
            note=f"No question has {' or '.join(always_absent)}; that is taken to be on purpose." if always_absent else "",
            parts=tuple(Part(name=f"no {name}", count=sum(self._absent[name]), total=self._total) for name in partly_absent),
            parts_are="by fault",
        )  # fmt: skip


def _empty_parts(instance: Instance, kinds: Set[str]) -> list[str]:
    """Names of the empty fields of a question with faults of these ``kinds``."""
    # Gold to score by alone has no fault in an empty question, and nothing for a reader to read.
    is_bare = not instance.paragraphs and not instance.question.strip()
    faults = [FAULTS[kind] for kind in ("empty-question", "empty-answer") if kind in kinds or (is_bare and kind == "empty-question")]
    if not instance.answerable and instance.answers:
        faults.append("unanswerable, yet it has answers")
    if "empty-title" in kinds:
        faults.append(FAULTS["empty-title"])
    if any(not paragraph.text.strip() for paragraph in instance.paragraphs):
        faults.append("a paragraph is empty")
    if any(not candidate.text.strip() for candidate in instance.candidates or ()):
        faults.append("a candidate is empty")
    return faults
