"""T_trv(D): three copies of a question, each without one distractor (appendix G).

A control: here too the whole group must be right, but nothing is asked about sufficiency. Where a grouped score falls on T(D) and not here,
the fall does not come from the grouping.
"""

from __future__ import annotations

from kgqa.arrays.draws import sample
from kgqa.recipes.contrasts.facts import Question
from kgqa.recipes.contrasts.instances import parts_of
from kgqa.records import Instance

TRANSFORM = "trivial"
COPIES = 3


def trivial(question: Question, *, seed: int) -> list[Instance]:
    """The three copies, each with answer and support; they lose different distractors as far as there are three."""
    drawn = sample(question.others, min(COPIES, len(question.others)), purpose="trivial", seed=seed, id=question.instance.id)
    parts = parts_of(question, TRANSFORM)
    return [parts.part(number, removed=[drawn[number % len(drawn)]], answered=True) for number in range(COPIES)]
