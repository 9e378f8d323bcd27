"""T(D): one context with all supporting facts and one for every proper subset, all of the same length (section 4.2, appendix A.3).

A system must predict the sufficiency of each, or the whole question counts as wrong.
"""

from __future__ import annotations

from kgqa.arrays.draws import sample
from kgqa.metrics.dire import PARTIAL, SUFFICIENT
from kgqa.recipes.contrasts.facts import FactQuestion
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.recipes.contrasts.partitions import Part, proper_subsets
from kgqa.records import Instance

TRANSFORM = "sufficiency"


def sufficiency(question: FactQuestion, *, seed: int) -> list[Instance]:
    """The question's 2^n - 1 instances: the sufficient one (equation 11), then the insufficient ones (equation 12), small removals first.

    Each context has |C| - n + 1 facts: the sufficient one loses n - 1 sampled distractors F_r, the one without F_s1 loses n - |F_s1| - 1 of
    these same F_r. Insufficient instances have neither answer nor supporting marks, and no decomposition or chains, which would reveal
    both.
    """
    parts, facts = parts_of(question, TRANSFORM, some_unmarked=True), question.supporting
    instances = [parts.part(0, removed=removed_distractors(question, seed=seed), answered=True, sufficiency=SUFFICIENT)]
    for subset, distractors in removals(question, seed=seed).items():
        removed_facts = [*(facts[place] for place in subset), *distractors[:-1]]
        instances.append(parts.part(len(instances), removed=removed_facts, answered=False, sufficiency=PARTIAL, marked=False))
    return instances


def removed_distractors(question: FactQuestion, *, seed: int) -> list[int]:
    """F_r: the n - 1 distractors that the sufficient context loses."""
    count = len(question.supporting) - 1
    return sample(question.distractors, count, purpose="removed distractors", seed=seed, id=question.instance.id)


def removals(question: FactQuestion, *, seed: int) -> dict[Part, list[int]]:
    """Proper subset F_s1 of the supporting facts, as numbers from 0 → the n - |F_s1| distractors F'_r1 that are removed with it.

    The transform removes all of them but the last (F_r1), its probe all (appendix A.5).
    """
    count, distractors = len(question.supporting), removed_distractors(question, seed=seed)
    return {
        subset: sample(distractors, count - len(subset), purpose=f"with {subset}", seed=seed, id=question.instance.id)
        for subset in proper_subsets(count)
    }
