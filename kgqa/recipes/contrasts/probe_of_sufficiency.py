"""P(T(D)): can sufficiency be predicted without combining the supporting facts? (section 4.3, appendices A.4 and A.5)

Each bi-partition {F_s1, F_s2} of the supporting facts gives three contexts: without F_s1 and without F_s2 (both labelled 0), and without
both (labelled -1). Each has |C| - n facts; the first two lose distractors of the transform's F_r as well.
"""

from __future__ import annotations

from kgqa.metrics.dire import PARTIAL, UNSUPPORTED
from kgqa.recipes.contrasts.facts import FactQuestion
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.recipes.contrasts.partitions import bipartitions
from kgqa.recipes.contrasts.sufficiency import removals
from kgqa.records import Instance

TRANSFORM = "probe-of-sufficiency"


def probe_of_sufficiency(question: FactQuestion, *, seed: int) -> list[Instance]:
    """The question's 3 · (2^(n-1) - 1) instances, in triples; ``seed`` is that of the transform that they probe.

    An instance has the answer only if one of its supporting facts states it; those labelled -1 never have it.
    """
    parts, answer_facts, facts = parts_of(question, TRANSFORM), question.facts_with_answer(), question.supporting
    distractors = removals(question, seed=seed)
    instances: list[Instance] = []
    for number, pair in enumerate(bipartitions(len(facts))):
        for part, facts_left in (pair, pair[::-1]):
            removed_facts = [*(facts[place] for place in part), *distractors[part]]
            has_answer = not answer_facts.isdisjoint(facts[place] for place in facts_left)
            instances.append(
                parts.part(len(instances), removed=removed_facts, answered=has_answer, bipartition=number, sufficiency=PARTIAL)
            )
        instances.append(parts.part(len(instances), removed=facts, answered=False, bipartition=number, sufficiency=UNSUPPORTED))
    return instances
