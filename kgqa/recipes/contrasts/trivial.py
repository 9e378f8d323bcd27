"""T_trv(D): three copies of a question, each without one distractor (appendix G).

A control for grouped scores: the whole group must be right here too, but without predicting sufficiency. If a score falls on T(D) and not
here, grouping does not explain the fall.
"""

from __future__ import annotations

from kgqa.arrays.draws import sample
from kgqa.recipes.contrasts.facts import FactQuestion
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.records import Instance

TRANSFORM = "trivial"
COPIES = 3


def trivial(question: FactQuestion, *, seed: int) -> list[Instance]:
    """The three copies, each with answer and support; they lose different distractors as far as possible."""
    removed_ids = sample(
        question.distractors, min(COPIES, len(question.distractors)), purpose="trivial", seed=seed, id=question.instance.id
    )
    parts = parts_of(question, TRANSFORM)
    return [parts.part(number, removed=[removed_ids[number % len(removed_ids)]], answered=True) for number in range(COPIES)]
