"""P(D): can answer and support be combined from contexts that each lack some supporting facts? (section 3.2)

Each bi-partition of the supporting facts gives two instances: one without the first part, labelled with the second, and one the other way
round (equations 1 to 4). Contexts of different bi-partitions may differ in length.
"""

from __future__ import annotations

from kgqa.recipes.contrasts.facts import FactQuestion
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.recipes.contrasts.partitions import bipartitions
from kgqa.records import Instance

TRANSFORM = "probe"


def probe(question: FactQuestion, *, seed: int = 0) -> list[Instance]:
    """The question's 2^n - 2 instances, in pairs. They do not depend on ``seed``, since nothing is random.

    An instance has the answer only if one of its supporting facts states it.
    """
    parts, answer_facts, facts = parts_of(question, TRANSFORM), question.facts_with_answer(), question.supporting
    instances: list[Instance] = []
    for number, pair in enumerate(bipartitions(len(facts))):
        for removed_facts, facts_left in (pair, pair[::-1]):
            has_answer = not answer_facts.isdisjoint(facts[place] for place in facts_left)
            instances.append(
                parts.part(len(instances), removed=[facts[place] for place in removed_facts], answered=has_answer, bipartition=number)
            )
    return instances
