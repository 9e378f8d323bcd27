"""What sentences state of pairs of entities of two kinds, for queries about pairs (:mod:`kgqa.statements.pairs`)."""

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
from kgqa.statements.pairs import SentencePairs, cross_fit, sentence_pairs

FOLDS = 3
"""Each pair is scored by a model that has learned nothing from sentences about its first entity."""
ROUNDS = 2
"""Divisions into folds."""
TESTED = 200
"""Pairs on which probabilities are fitted, and as many on which they are tested; with fewer nothing can be said."""


def read_pairs(run: Run) -> StageOutput:
    """Sentences and facts → statements of pairs: how probably a fact joins two entities, by the words of a sentence alone."""
    settings = run.domain.settings.section(QangarooSettings)
    tables = run.tables("entities", "relations", "facts", "documents", "mentions")
    ends = np.asarray(pc.equal(tables["entities"]["kind"], settings.endpoint_kind))
    pairs, facts = pairs_in_sentences(tables, ends), fact_graph(tables)
    run.progress.advance(1)
    true, role = joined_by_facts(pairs, facts)
    probability, tested = stated_by_words(pairs, true, facts, text_hashes(tables["entities"]["id"], seed=run.seed))
    run.progress.advance(1)
    table = pa.table(
        {
            "document": pairs.document, "before": pairs.one, "after": pairs.other, "role": role, "probability": probability,
            "lift": np.zeros(len(pairs), np.float32), "fact": true,
        }
    )  # fmt: skip
    run.progress.advance(1)
    rows = [
        FunnelRow(stage="read_texts", what="pairs", reason="read: pairs that a sentence brings together", removed=None, left=len(pairs)),
        FunnelRow(
            stage="read_texts", what="statements", reason="are facts of the graph and stated surely enough", removed=None,
            left=int((true & (probability >= settings.pairs.stated)).sum()), setting="qangaroo.pairs.stated",
        ),
        FunnelRow(
            stage="read_texts", what="statements", reason="are no facts of the graph, and read surely enough", removed=None,
            left=int((~true & (probability >= settings.pairs.read)).sum()), setting="qangaroo.pairs.read",
        ),
    ]  # fmt: skip
    return StageOutput(
        tables={"statements": table}, funnel=rows, report={"calibration": tenths(probability[tested], true[tested])},
        note=f"{table.num_rows:,} pairs in one sentence, of them {int(true.sum()):,} facts",
    )  # fmt: skip


def pairs_in_sentences(tables: Mapping[str, pa.Table], ends: npt.NDArray[np.bool_]) -> SentencePairs:
    """The pairs of an entity that ``ends`` holds for and another one, in ``tables`` (``documents, entities, mentions``)."""
    mentions = places(tables["mentions"], tables)
    return sentence_pairs(tables["documents"]["text"], (mentions.offsets, mentions.entity, mentions.start, mentions.end), ends)


def joined_by_facts(pairs: SentencePairs, facts: RoleGraph) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """For each pair whether a fact joins its ends, and the first role that does; without a fact the most frequent one of all pairs."""
    keys, first = np.unique(paired(facts.sources(), facts.targets), return_index=True)
    at = find(keys, paired(pairs.one, pairs.other))
    roles = np.append(facts.roles[first], np.int32(0))[at]
    roles_of_facts = roles[at >= 0]
    usual = np.bincount(roles_of_facts).argmax() if len(roles_of_facts) else 0
    return at >= 0, np.where(at >= 0, roles, usual).astype(np.int32)


def stated_by_words(
    pairs: SentencePairs, true: npt.NDArray[np.bool_], facts: RoleGraph, hashes: npt.NDArray[np.uint64],
    learned: npt.NDArray[np.bool_] | None = None,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:  # fmt: skip
    """How probably a fact joins the ends of each pair, and on which pairs this may be tested; ``hashes`` are those of the entities.

    Entities without a fact to the other kind teach nothing: what the graph says nothing of is no example of what it denies. Where too few
    pairs are left, a fact in one sentence counts as stated, and nothing else does. ``learned``: pairs that may be learned from, if not all.
    """
    some = np.zeros(facts.entities, np.bool_)
    some[pairs.one[true]] = some[pairs.other[true]] = True
    with_facts = some[pairs.one] & some[pairs.other]
    learned = with_facts if learned is None else with_facts & learned
    half = (hashes >> np.uint64(48) & np.uint64(1)).astype(np.bool_)[pairs.one]
    if min((learned & half).sum(), (learned & ~half).sum()) < TESTED:
        return true.astype(np.float32), np.zeros(len(pairs), np.bool_)
    shares = [((hashes >> np.uint64(16 * number)) % np.uint64(FOLDS)).astype(np.int32)[pairs.one] for number in range(ROUNDS)]
    scores = cross_fit(pairs, true, shares, learned)
    return logistic(scores[learned & half], true[learned & half], scores), learned & ~half
