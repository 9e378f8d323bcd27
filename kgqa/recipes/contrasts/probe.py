"""P(D): can the answer and its support be put together from contexts none of which holds all supporting facts? (section 3.2)

For each bi-partition of the supporting facts two instances: one without the first part and labelled with the second, one the other way
round (equations 1 to 4). Contexts of different bi-partitions may differ in length.
"""

from __future__ import annotations

from kgqa.recipes.contrasts.facts import Question
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.recipes.contrasts.partitions import bipartitions
from kgqa.records import Instance

TRANSFORM = "probe"


def probe(question: Question, *, seed: int = 0) -> list[Instance]:
    """The question's 2^n - 2 instances, two by two; nothing is drawn, so they are the same for every ``seed``.

    The answer is a label only where a supporting fact that is still there states it.
    """
    parts, stating, facts = parts_of(question, TRANSFORM), question.facts_with_answer(), question.supporting
    found: list[Instance] = []
    for number, pair in enumerate(bipartitions(len(facts))):
        for gone, kept in (pair, pair[::-1]):
            answered = not stating.isdisjoint(facts[place] for place in kept)
            found.append(parts.part(len(found), removed=[facts[place] for place in gone], answered=answered, bipartition=number))
    return found
