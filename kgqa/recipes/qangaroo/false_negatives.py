"""Candidates that may be true as well, and so are no wrong answers."""

from __future__ import annotations

import numpy as np

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, Rows
from kgqa.arrays.search import lower_bound, row_holds
from kgqa.recipes.qangaroo.relations import RelationMeasures
from kgqa.recipes.qangaroo.samples import BoolArray, Samples
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.roles import RoleGraph

FEW = 2.0
"""A relation whose subjects have no more objects than this, and are seldom their objects' objects in turn, puts a part under its whole."""
TURNED = 0.1
SUPPORTED = 3
"""Pairs of which both relations hold before the one counts as implied by the other."""


def second_truths(samples: Samples, facts: RoleGraph, implied: ImpliedRelations, least: float) -> BoolArray:
    """For each entry of ``candidates.targets`` whether a fact joins it to the subject that implies the relation: a synonym, an inverse or a
    sub-relation, in whichever source; ``least`` is the share of its pairs of which the relation must hold."""
    question = samples.question_of_candidate()
    says = implied.relations.keep((implied.share >= least) & (implied.support >= SUPPORTED))
    joined = _joined_by(
        facts.offsets, facts.targets, facts.roles, samples.questions.head[question], samples.candidates.targets,
        samples.questions.relation[question], says.offsets, says.targets,
    )  # fmt: skip
    return joined & ~samples.is_answer()  # type: ignore[no-any-return]


def kin_of_answers(samples: Samples, facts: RoleGraph, measures: RelationMeasures) -> BoolArray:
    """For each entry of ``candidates.targets`` whether it is a part of the answer or the other way round: the two are joined by a fact of a
    relation that orders wholes and parts, which is to say that subjects have few objects and are seldom joined in both directions."""
    orders = (measures.fewest <= FEW) & (measures.turned / np.maximum(measures.facts, 1) <= TURNED)
    roles = np.flatnonzero(np.repeat(orders, 2))
    says = Adjacency.from_pairs(roles, np.zeros(len(roles), np.int32), facts.role_count)
    question = samples.question_of_candidate()
    joined = _joined_by(
        facts.offsets, facts.targets, facts.roles, samples.questions.answer[question], samples.candidates.targets,
        np.zeros(len(question), np.int32), says.offsets, says.targets,
    )  # fmt: skip
    return joined & ~samples.is_answer()  # type: ignore[no-any-return]


def stated_beside_answers(samples: Samples, stated: Adjacency) -> BoolArray:
    """For each entry of ``candidates.targets`` whether a document on the first chain to the answer states it; ``stated`` by document."""
    first = samples.chains.take(np.flatnonzero(samples.is_answer()))
    chains = first.targets[first.offsets[:-1]]
    nodes = samples.nodes.take(chains)
    documents = nodes.places() % 2 == 1
    entities = Rows(offsets=stated.offsets, targets=stated.targets).take(nodes.targets[documents])
    pairs = Adjacency.from_pairs(nodes.sources()[documents][entities.sources()], entities.targets, len(samples))
    return pairs.contains(samples.question_of_candidate(), samples.candidates.targets)


@kernel
def _joined_by(offsets, targets, roles, first, second, relation, says_offsets, says):  # type: ignore[no-untyped-def]
    """For each pair whether an edge leads from first to second of which the role ``says`` what is ``relation``."""
    out = np.zeros(len(first), np.bool_)
    for i in range(len(first)):
        place = lower_bound(targets, offsets[first[i]], offsets[first[i] + 1], second[i])
        while place < offsets[first[i] + 1] and targets[place] == second[i]:
            out[i] = out[i] or row_holds(says_offsets, says, roles[place], relation[i])
            place += 1
    return out
