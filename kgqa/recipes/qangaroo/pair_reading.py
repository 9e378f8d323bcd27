"""Statements about pairs of entities of two kinds, from single sentences, for queries about pairs (:mod:`kgqa.statements.pairs`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import IntArray, find, paired
from kgqa.recipes.qangaroo.corpus import places
from kgqa.recipes.qangaroo.mining import fact_graph
from kgqa.rules.roles import RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.statements.calibration import logistic, tenths
from kgqa.statements.pairs import FloatArray, SentencePairs, cross_fit, sentence_pairs

FOLDS = 3
"""Number of folds by first entity: each pair is scored by a model that was not trained on its first entity."""
ROUNDS = 2
"""Number of divisions into folds; scores are averaged over them."""
TESTED = 200
"""Minimum number of pairs for fitting the calibration, and for testing it."""
CONTEXTS, OTHERS, SHARE = 0.3, 0.4, 0.2
"""Weights of :func:`in_all_documents`, chosen on the gold relations of DrugProt (docs/results.md)."""
PRIOR = 2
"""Number of documents with the mean score that are added to the other documents of a pair."""


def read_pairs(run: Run) -> StageOutput:
    """Sentences and facts → statements about pairs, with the probability, by the words of the sentence only, that a fact joins the two."""
    settings = run.section(QangarooSettings)
    tables = run.tables("entities", "relations", "facts", "documents", "mentions", coded=True)
    ends = np.asarray(pc.equal(tables["entities"]["kind"], settings.endpoint_kind))
    pairs, facts = pairs_in_sentences(tables, ends), fact_graph(tables)
    run.progress.advance(1)
    labels, role = joined_by_facts(pairs, facts)
    probability, is_tested = stated_by_words(pairs, labels, facts, text_hashes(tables["entities"]["id"], seed=run.seed))
    run.progress.advance(1)
    table = pa.table(
        {
            "document": pairs.document, "before": pairs.one, "after": pairs.other, "role": role, "probability": probability,
            "lift": np.zeros(len(pairs), np.float32), "fact": labels,
        }
    )  # fmt: skip
    run.progress.advance(1)
    rows = [
        FunnelRow(stage="read_texts", what="pairs", reason="read: pairs that a sentence mentions", left=len(pairs)),
        FunnelRow(
            stage="read_texts", what="statements", reason="are facts of the graph and stated with enough confidence",
            left=int((labels & (probability >= settings.pairs.stated)).sum()), setting="qangaroo.pairs.stated",
        ),
        FunnelRow(
            stage="read_texts", what="statements", reason="are no facts of the graph, and read with enough confidence",
            left=int((~labels & (probability >= settings.pairs.read)).sum()), setting="qangaroo.pairs.read",
        ),
    ]  # fmt: skip
    return StageOutput(
        tables={"statements": table}, funnel=rows, report={"calibration": tenths(probability[is_tested], labels[is_tested])},
        note=f"{table.num_rows:,} pairs in one sentence, of them {int(labels.sum()):,} facts",
    )  # fmt: skip


def pairs_in_sentences(tables: Mapping[str, pa.Table], ends: npt.NDArray[np.bool_]) -> SentencePairs:
    """The pairs of an end point (``ends``: bool, entities) and another entity in one sentence, from ``documents, entities, mentions``."""
    mentions = places(tables["mentions"], tables)
    return sentence_pairs(tables["documents"]["text"], (mentions.offsets, mentions.entity, mentions.start, mentions.end), ends)


def joined_by_facts(pairs: SentencePairs, facts: RoleGraph) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """For each pair whether a fact joins its entities, and the first role of such a fact.

    Pairs without a fact get the most frequent role of all pairs.
    """
    keys, first_rows = np.unique(paired(facts.sources(), facts.targets), return_index=True)
    at = find(keys, paired(pairs.one, pairs.other))
    roles = np.append(facts.roles[first_rows], np.int32(0))[at]
    roles_of_facts = roles[at >= 0]
    usual = np.bincount(roles_of_facts).argmax() if len(roles_of_facts) else 0
    return at >= 0, np.where(at >= 0, roles, usual).astype(np.int32)


def stated_by_words(
    pairs: SentencePairs, labels: npt.NDArray[np.bool_], facts: RoleGraph, hashes: npt.NDArray[np.uint64],
    is_example: npt.NDArray[np.bool_] | None = None,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:  # fmt: skip
    """The probability that a fact joins the entities of each pair (float32), and the pairs for testing the calibration (bool).

    Pairs with an entity that has no fact to the other kind are not used for training: a missing fact about an entity that the graph does
    not cover is no negative example. If too few pairs are left, facts have probability 1 and all other pairs 0, and no pair is for testing.
    ``hashes`` of the entities determine folds and halves. ``is_example``: the pairs that may be used for training (default: all).
    """
    has_fact = np.zeros(facts.entities, np.bool_)
    has_fact[pairs.one[labels]] = has_fact[pairs.other[labels]] = True
    with_facts = has_fact[pairs.one] & has_fact[pairs.other]
    is_example = with_facts if is_example is None else with_facts & is_example
    half = (hashes >> np.uint64(48) & np.uint64(1)).astype(np.bool_)[pairs.one]
    if min((is_example & half).sum(), (is_example & ~half).sum()) < TESTED:
        return labels.astype(np.float32), np.zeros(len(pairs), np.bool_)
    shares = [((hashes >> np.uint64(16 * number)) % np.uint64(FOLDS)).astype(np.int32)[pairs.one] for number in range(ROUNDS)]
    scores = in_all_documents(pairs, cross_fit(pairs, labels, shares, is_example))
    return logistic(scores[is_example & half], labels[is_example & half], scores), is_example & ~half


def in_all_documents(pairs: SentencePairs, scores: FloatArray) -> FloatArray:
    """The scores of pairs in single documents (float64), corrected by how all documents speak of the pair.

    A document that names a pair in several sentences seldom only lists it. If the other documents deny or list a pair, this one probably
    does as well. A drug that many documents name with one protein acts on that protein rather than on those that few name with it.
    """
    ones, first = np.unique(np.stack([pairs.one, pairs.document]), axis=1)[0], pairs.one
    _keys, pair = np.unique(paired(pairs.one, pairs.other), return_inverse=True)
    count, total = np.bincount(pair), np.bincount(pair, scores)
    others = (total[pair] - scores + PRIOR * scores.mean()) / (count[pair] - 1 + PRIOR)
    documents = np.bincount(ones, minlength=first.max() + 1)[first]
    return scores + CONTEXTS * np.log(np.diff(pairs.bounds)) + OTHERS * others + SHARE * np.log(count[pair] / documents)
