"""T(D): one context with all supporting facts and one for every part of them, all of the same length (section 4.2, appendix A.3).

A system must say of each whether it suffices, or the whole question counts nothing.
"""

from __future__ import annotations

from kgqa.arrays.draws import sample
from kgqa.metrics.dire import PARTIAL, SUFFICIENT
from kgqa.recipes.contrasts.facts import Question
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.recipes.contrasts.partitions import Part, proper_subsets
from kgqa.records import Instance

TRANSFORM = "sufficiency"


def sufficiency(question: Question, *, seed: int) -> list[Instance]:
    """The question's 2^n - 1 instances: the sufficient one (equation 11), then the insufficient ones (equation 12), small removals first.

    Each context has |C| - n + 1 facts: the sufficient one loses n - 1 sampled facts F_r that do not support the answer, the one without
    F_s1 loses n - |F_s1| - 1 of these same F_r. Insufficient instances carry neither answer nor supporting marks,
    and no decomposition or chains, which would tell both.
    """
    parts, facts = parts_of(question, TRANSFORM, some_unmarked=True), question.supporting
    found = [parts.part(0, removed=removed_distractors(question, seed=seed), answered=True, sufficiency=SUFFICIENT)]
    for subset, also in removals(question, seed=seed).items():
        removed = [*(facts[place] for place in subset), *also[:-1]]
        found.append(parts.part(len(found), removed=removed, answered=False, sufficiency=PARTIAL, marked=False))
    return found


def removed_distractors(question: Question, *, seed: int) -> list[int]:
    """F_r: the n - 1 facts without which the sufficient context is shown."""
    count = len(question.supporting) - 1
    return sample(question.others, count, purpose="removed distractors", seed=seed, id=question.instance.id)


def removals(question: Question, *, seed: int) -> dict[Part, list[int]]:
    """For each proper subset F_s1 of the supporting facts, as numbers from 0: the n - |F_s1| distractors F'_r1 that are removed with it.

    F'_r1 without its last one is F_r1 of the transform; all of it goes in the transform's probe (appendix A.5).
    """
    count, fixed = len(question.supporting), removed_distractors(question, seed=seed)
    return {
        subset: sample(fixed, count - len(subset), purpose=f"with {subset}", seed=seed, id=question.instance.id)
        for subset in proper_subsets(count)
    }
