"""P(T(D)): can sufficiency be told without looking at the supporting facts together? (section 4.3, appendices A.4 and A.5)

For each bi-partition {F_s1, F_s2} of the supporting facts: a context without F_s1, one without F_s2 (both labelled 0), and one without any
of them (labelled -1). Each has |C| - n facts; the first two lose distractors of the transform's F_r as well.
"""

from __future__ import annotations

from kgqa.metrics.dire import PARTIAL, UNSUPPORTED
from kgqa.recipes.contrasts.facts import Question
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.recipes.contrasts.partitions import bipartitions
from kgqa.recipes.contrasts.sufficiency import removals
from kgqa.records import Instance

TRANSFORM = "probe-of-sufficiency"


def probe_of_sufficiency(question: Question, *, seed: int) -> list[Instance]:
    """The question's 3 · (2^(n-1) - 1) instances, three by three; with the ``seed`` of the transform that they probe.

    The answer is a label only where a supporting fact that is still there states it; what the -1 instances hold of answer does not count.
    """
    parts, stating, facts = parts_of(question, TRANSFORM), question.facts_with_answer(), question.supporting
    also = removals(question, seed=seed)
    found: list[Instance] = []
    for number, pair in enumerate(bipartitions(len(facts))):
        for gone, kept in (pair, pair[::-1]):
            removed = [*(facts[place] for place in gone), *also[gone]]
            answered = not stating.isdisjoint(facts[place] for place in kept)
            found.append(parts.part(len(found), removed=removed, answered=answered, bipartition=number, sufficiency=PARTIAL))
        found.append(parts.part(len(found), removed=facts, answered=False, bipartition=number, sufficiency=UNSUPPORTED))
    return found
