"""Finds false negatives: candidates that may be true as well, and so must not be distractors."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, paired, spread
from kgqa.arrays.search import lower_bound, row_holds
from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.relations import RelationMeasures
from kgqa.recipes.qangaroo.samples import BoolArray, Samples
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.roles import RoleGraph

FEW = 2.0
"""Maximum mean number of objects per subject of a relation between parts and wholes."""
TURNED = 0.1
"""Maximum share of facts of such a relation that hold in both directions."""
SUPPORTED = 3
"""Minimum number of pairs with both relations for one to count as implied by the other."""


def second_truths(samples: Samples, facts: RoleGraph, implied: ImpliedRelations, min_confidence: float) -> BoolArray:
    """For each entry of ``candidates.targets`` whether a fact between subject and candidate implies the question's relation.

    Such a fact has a synonymous relation, an inverse or a sub-relation, perhaps from another source. ``min_confidence``: minimum share of
    its pairs that have the question's relation.
    """
    question = samples.question_of_candidate()
    says = implied.relations.keep((implied.share >= min_confidence) & (implied.support >= SUPPORTED))
    is_joined = _joined_by(
        facts.offsets, facts.targets, facts.roles, samples.questions.head[question], samples.candidates.targets,
        samples.questions.relation[question], says.offsets, says.targets,
    )  # fmt: skip
    return is_joined & ~samples.is_answer()


def beside_answers(samples: Samples, documents: IntArray, mentions: Places, texts: pa.ChunkedArray) -> BoolArray:
    """For each entry of ``candidates.targets`` whether a sentence of the answer's document names it together with the answer.

    ``documents``: the answer's document of each sample. A sentence that names the answer often lists others that are as right. Memory: 50
    bytes per mention in these documents.
    """
    asked = np.unique(documents)
    counts = np.diff(mentions.offsets)[asked]
    at = spread(mentions.offsets[asked], counts)
    sentences = sentence_starts(texts.take(pa.array(asked)))
    number = np.repeat(np.arange(len(asked)), counts)
    # Sentences are numbered over all documents.
    sentence = np.searchsorted(paired(sentences.sources(), sentences.targets), paired(number, mentions.start[at]), side="right")
    named = pl.DataFrame({"sentence": sentence, "document": asked[number], "entity": mentions.entity[at]}).unique()
    sample = samples.question_of_candidate()
    candidates = pl.DataFrame(
        {"document": documents[sample], "entity": samples.candidates.targets, "answer": samples.questions.answer[sample]}
    ).with_row_index("row")
    listed = candidates.join(named, on=["document", "entity"]).join(
        named, left_on=["document", "answer", "sentence"], right_on=["document", "entity", "sentence"], how="semi"
    )
    is_beside = np.zeros(len(candidates), np.bool_)
    is_beside[listed["row"].to_numpy()] = True
    return is_beside & ~samples.is_answer()


def kin_of_answers(samples: Samples, facts: RoleGraph, measures: RelationMeasures) -> BoolArray:
    """For each entry of ``candidates.targets`` whether it is a part or a whole of the answer.

    The two are then joined by a fact of a relation between parts and wholes: one whose subjects have few objects (``FEW``) and whose facts
    hold in one direction (``TURNED``).
    """
    orders = (measures.fewest <= FEW) & (measures.turned / np.maximum(measures.facts, 1) <= TURNED)
    roles = np.flatnonzero(np.repeat(orders, 2))
    says = Adjacency.from_pairs(roles, np.zeros(len(roles), np.int32), facts.role_count)
    question = samples.question_of_candidate()
    is_joined = _joined_by(
        facts.offsets, facts.targets, facts.roles, samples.questions.answer[question], samples.candidates.targets,
        np.zeros(len(question), np.int32), says.offsets, says.targets,
    )  # fmt: skip
    return is_joined & ~samples.is_answer()


def stated_beside_answers(samples: Samples, stated: Adjacency) -> BoolArray:
    """For each entry of ``candidates.targets`` whether a document on the first chain to the answer states it.

    ``stated``: document → the entities in its text.
    """
    answer_chains = samples.chains.take(np.flatnonzero(samples.is_answer()))
    chains = answer_chains.targets[answer_chains.offsets[:-1]]
    nodes = samples.nodes.take(chains)
    documents = nodes.places() % 2 == 1
    entities = stated.take(nodes.targets[documents])
    pairs = Adjacency.from_pairs(nodes.sources()[documents][entities.sources()], entities.targets, len(samples))
    return pairs.contains(samples.question_of_candidate(), samples.candidates.targets)


@kernel
def _joined_by(offsets, targets, roles, first, second, relation, says_offsets, says):  # type: ignore[no-untyped-def]
    """For each pair whether an edge from ``first`` to ``second`` has a role that implies ``relation`` (bool).

    ``says``: role → the relations that it implies.

    >>> edges = np.array([0, 2, 2]), np.array([1, 1]), np.array([0, 3])  # entity 0 reaches entity 1 by the roles 0 and 3
    >>> says = np.array([0, 0, 0, 0, 1]), np.array([7])  # role 3 implies relation 7
    >>> _joined_by(*edges, np.array([0, 1]), np.array([1, 0]), np.array([7, 7]), *says).tolist()
    [True, False]
    """
    out = np.zeros(len(first), np.bool_)
    for i in range(len(first)):
        place = lower_bound(targets, offsets[first[i]], offsets[first[i] + 1], second[i])
        while place < offsets[first[i] + 1] and targets[place] == second[i]:
            out[i] = out[i] or row_holds(says_offsets, says, roles[place], relation[i])
            place += 1
    return out
