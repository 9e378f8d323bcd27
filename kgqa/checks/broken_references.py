"""Ids that lead nowhere, or to two things."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.checks.owned_faults import describe_fault, faults_of_check, join_faults


class BrokenReferences(ShareCheck):
    """Steps and supporting facts that need something which is not there, an answer that is no candidate, ids used twice, marks without use.

    A supporting fact that names a paragraph or sentence which is not there has no place in an Instance; its reader noted it.
    """

    name = "broken-references"
    family = "fault"
    title = "References that lead nowhere"
    meaning = (
        "The share of questions in which an id is used twice, an id or supporting fact leads nowhere, or nothing supports although support "
        "is marked."
    )
    remedy = "Mend the record where it was made; a reader's score on it means nothing."
    nothing = "The set has no questions."

    def outcomes(self, batch: Batch) -> Floats:
        """1 where one is broken."""
        return np.array([float(bool(_faults(batch, number))) for number in range(len(batch.instances))])

    def badness(self, batch: Batch, number: int) -> float:
        """The number of broken references of a question; the worst examples have the most."""
        return float(len(_faults(batch, number)))

    def describe(self, batch: Batch, number: int) -> str:
        """The broken references of the question, with their fields."""
        return join_faults(_faults(batch, number))


def _faults(batch: Batch, number: int) -> list[str]:
    instance = batch.instances[number]
    paragraphs = [paragraph.id for paragraph in instance.paragraphs]
    steps = [step.id for step in instance.decomposition or ()]
    candidates = [candidate.id for candidate in instance.candidates or ()]
    faults = [describe_fault(fault) for fault in faults_of_check(batch.faults[number], BrokenReferences.name)]
    for what, ids in (("paragraph", paragraphs), ("step", steps), ("candidate", candidates)):
        if len(set(ids)) < len(ids):
            faults.append(f"a {what} id is used twice")
    for step in instance.decomposition or ():
        if paragraphs and step.paragraph_id is not None and step.paragraph_id not in paragraphs and instance.answerable:
            faults.append(f"step {step.id} needs paragraph {step.paragraph_id}, which is not shown")
        faults += [f"step {step.id} depends on {name}, which is no step" for name in step.depends_on if name not in steps]
    if candidates and instance.answer_id is not None and instance.answer_id not in candidates:
        faults.append(f"the answer {instance.answer_id} is not among the candidates")
    marks = [paragraph.supporting for paragraph in instance.paragraphs]
    if instance.answerable and marks and None not in marks and not any(marks):
        faults.append("no paragraph is marked as supporting")
    return faults
