"""The stage ``read_texts``: the hops that texts state, by a model trained on the training facts (:mod:`kgqa.statements`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import logit

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import IntArray, find, paired, spread
from kgqa.recipes.qangaroo.corpus import article_of, places, subject_of
from kgqa.recipes.qangaroo.mining import fact_graph, training_facts, training_graph
from kgqa.recipes.qangaroo.pair_reading import read_pairs
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.recipes.qangaroo.second_opinion import FOLDS, FUNCTION, Asked, Wording, second_opinion, weighed
from kgqa.rules.roles import TEXT_ROLES, RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.statements.calibration import Calibration, tenths
from kgqa.statements.contexts import Texts
from kgqa.statements.model import Profiles, learn, score
from kgqa.statements.subjects import unfit
from kgqa.training.extra import require_readers

TESTED = 200
"""Minimum number of pairs of held-out subjects for fitting the calibration, and for testing it."""
LIFT = 1e3
"""Lift of statements without a model; it passes every limit."""
UNFIT = "the article about the subject opens unlike those about other subjects of the relation"
SECOND = "are probable enough for the encoder's second opinion (with too few held-out ones, it is not asked)"
ENCODER = "qangaroo.paths.encoder"
NEAR = TEXT_ROLES.index("near each other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """Statements in documents, one entry each, ordered by document, ``before``, ``after`` and role."""

    document: IntArray
    before: IntArray
    """The entity from which a chain enters the document."""
    after: IntArray
    """The entity to which the chain leaves it."""
    role: IntArray
    """The role from ``before`` to ``after`` (:mod:`kgqa.rules.roles`)."""
    probability: npt.NDArray[np.float32]
    """Calibrated probability that the document states it."""
    lift: npt.NDArray[np.float32]
    """Log-odds with the words of the document minus log-odds without them."""
    fact: npt.NDArray[np.bool_]
    """Whether it is a fact of the graph."""

    @classmethod
    def from_table(cls, table: pa.Table) -> Statements:
        """The statements in the table of :func:`read_texts`."""
        columns = {name: table[name].combine_chunks() for name in ("document", "before", "after", "role", "probability", "lift", "fact")}
        return cls(**{name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()})


def read_texts(run: Run) -> StageOutput:
    """Hops, mentions, training facts → statements, with probabilities calibrated on subjects that the model was not trained on."""
    settings = run.section(QangarooSettings)
    tables = run.tables("entities", "relations", "facts", "documents", "mentions", "questions", "text_hops", coded=True)
    encoder = settings.paths.encoder if settings.queries == "paths" else None
    if encoder is not None:
        # Imported here: it takes a tenth of a second, and most runs have no encoder.
        from kgqa.readers.transformer.encoder import place_of

        require_readers(ENCODER, needed=("torch", "transformers", "safetensors"))
        place_of(encoder)  # a name that is wrong is reported before the work
    run.progress.start("Reading texts", 3 + (FOLDS if encoder is not None else 0), "steps")
    if settings.queries == "pairs":
        return read_pairs(run)
    if settings.queries != "paths":
        return StageOutput(tables={"statements": _table(tables["text_hops"].slice(0, 0))}, note="no queries about paths")
    questions = Questions.from_table(tables["questions"])
    facts, train = fact_graph(tables), training_graph(tables, training_facts(tables, questions))
    del tables["questions"], tables["facts"]
    hops = tables.pop("text_hops")
    document, sources, targets = (hops[name].combine_chunks().to_numpy() for name in ("document", "before", "after"))
    del hops  # with what is popped, the largest tables of all
    mentions = places(tables.pop("mentions"), tables)
    texts = Texts.of(tables["documents"]["text"], (mentions.offsets, mentions.entity, mentions.start, mentions.end), subject_of(tables))
    pairs = document, sources, targets
    run.progress.advance(1)
    held_out = np.zeros(tables["entities"].num_rows, np.bool_)
    held_out[questions.head[questions.split != 0]] = True
    profiles = Profiles.of(facts)
    weights = learn(texts, pairs, train, profiles, ~held_out[sources], engine=run.engine)
    run.progress.advance(1)
    statements = score(texts, pairs, facts, profiles, weights, engine=run.engine)
    is_fact = _are_facts(facts, sources[statements.pair], targets[statements.pair], statements.role)
    odd = ~is_fact & unfit(tables["documents"]["text"], article_of(tables), facts, sources[statements.pair], statements.role)
    statements, is_fact = statements.select(~odd), is_fact[~odd]
    # A missing fact counts as false. PCA confidence (Galárraga et al. 2013) would skip subjects without a fact of the role, but most
    # statements that are no facts are about such subjects, and their probabilities would be too high.
    is_tested = held_out[sources[statements.pair]] & (np.diff(facts.offsets)[sources[statements.pair]] > 0)
    # One half of the held-out subjects is used to fit the calibration, the other half to test it.
    half = (text_hashes(tables["entities"]["id"], seed=run.seed) & np.uint64(1)).astype(np.bool_)[sources[statements.pair]]
    held_out_half = is_tested & ~half
    run.progress.advance(1)
    if min((is_tested & half).sum(), held_out_half.sum()) < TESTED:
        return _by_facts_alone(run.table("text_hops"), facts)
    probability = Calibration.fitted(statements.probability[is_tested & half], is_fact[is_tested & half]).of(statements.probability)
    rows = []
    if encoder is not None:
        # All held-out statements: among those that may be hops, nearly all of a relation that is not functional are facts.
        may_be_hop = is_fact | (train.functionality()[0][statements.role] >= FUNCTION)
        is_asked = (may_be_hop | is_tested) & (probability >= min(settings.paths.stated, settings.paths.read))
        if min((is_asked & is_tested & half).sum(), (is_asked & held_out_half).sum()) < TESTED:
            is_asked[:] = False
        else:
            asked = Asked(
                document=document[statements.pair], before=sources[statements.pair], after=targets[statements.pair], role=statements.role
            )
            # As for the text model: no fact of a held-out question is learned, neither as true nor as false.
            is_example = _are_facts(train, asked.before, asked.after, asked.role) == is_fact
            is_example &= ~held_out[asked.before] & (np.diff(train.offsets)[asked.before] > 0)
            logits = second_opinion(
                encoder, Wording(tables, mentions, subject_of(tables)), asked, is_fact, is_example=is_example, is_asked=is_asked,
                seed=run.seed, advance=run.progress.advance,
            )  # fmt: skip
            opinions = np.column_stack([logit(statements.probability[is_asked].astype(np.float64)), logits])
            probability[is_asked] = weighed(opinions, is_fact[is_asked], is_fitted=(is_tested & half)[is_asked])
        left = int(is_asked.sum())
        rows.append(FunnelRow(stage="read_texts", what="statements", reason=SECOND, left=left, setting=ENCODER))
    table = pa.table(
        {
            "document": document[statements.pair], "before": sources[statements.pair], "after": targets[statements.pair],
            "role": statements.role, "probability": probability, "lift": statements.lift, "fact": is_fact,
        }
    )  # fmt: skip
    read_count = int((~is_fact & (probability >= settings.paths.read)).sum())
    rows = [
        FunnelRow(stage="read_texts", what="hops", reason="read: pairs that a document mentions", left=len(document)),
        FunnelRow(stage="read_texts", what="statements", reason=UNFIT, removed=int(odd.sum()), left=len(is_fact)),
        *rows,
        FunnelRow(
            stage="read_texts", what="statements", reason="are facts of the graph and stated with enough confidence",
            left=int((is_fact & (probability >= settings.paths.stated)).sum()), setting="qangaroo.paths.stated",
        ),
        FunnelRow(
            stage="read_texts", what="statements", reason="are no facts of the graph, and read with enough confidence",
            left=read_count, setting="qangaroo.paths.read",
        ),
    ]  # fmt: skip
    return StageOutput(
        tables={"statements": table}, funnel=rows, report={"calibration": tenths(probability[held_out_half], is_fact[held_out_half])},
        note=f"{table.num_rows:,} statements, of them {int(is_fact.sum()):,} facts",
    )  # fmt: skip


def _by_facts_alone(text_hops: pa.Table, facts: RoleGraph) -> StageOutput:
    """The output without a model, if there are too few facts to train one: a fact is stated if a text names both of its ends nearby."""
    hops = text_hops.filter(pc.greater_equal(text_hops["grade"], NEAR))
    sources, targets = (hops[name].combine_chunks().to_numpy() for name in ("before", "after"))
    keys = paired(facts.sources(), facts.targets)  # ascending
    begin, end = (np.searchsorted(keys, paired(sources, targets), side) for side in ("left", "right"))
    counts = end - begin
    hop_rows = hops.select(["document", "before", "after"]).take(pa.array(np.repeat(np.arange(len(counts)), counts)))
    role = facts.roles[spread(begin, counts)]
    ones = np.ones(len(role))
    columns = {
        "role": role,
        "probability": ones.astype(np.float32),
        "lift": (ones * LIFT).astype(np.float32),
        "fact": ones.astype(np.bool_),
    }
    row = FunnelRow(
        stage="read_texts", what="statements", reason="are facts whose ends a text names near each other; there are too few for training",
        left=len(role), setting="qangaroo.paths",
    )  # fmt: skip
    table = pa.table({**{name: hop_rows[name].combine_chunks() for name in hop_rows.column_names}, **columns})
    return StageOutput(
        tables={"statements": table}, funnel=[row], report={"calibration": []}, note=f"{len(role):,} statements, by facts alone"
    )


def _table(hops: pa.Table) -> pa.Table:
    """A table of statements with the columns of ``hops`` and zeros elsewhere."""
    zeros = np.zeros(hops.num_rows)
    numbers = {name: zeros.astype(np.float32) for name in ("probability", "lift")}
    columns = {name: hops[name].combine_chunks() for name in ("document", "before", "after")}
    return pa.table({**columns, "role": zeros.astype(np.int32), **numbers, "fact": zeros.astype(np.bool_)})


def _are_facts(facts: RoleGraph, sources: IntArray, targets: IntArray, role: IntArray) -> npt.NDArray[np.bool_]:
    """For each entry whether an edge with the role leads from ``sources`` to ``targets`` (bool)."""
    numbers, inverse = np.unique(paired(facts.sources(), facts.targets), return_inverse=True)
    fact_keys = inverse.astype(np.int64) * facts.role_count + facts.roles  # ascending: edges are ordered by role
    at = find(numbers, paired(sources, targets))
    return (at >= 0) & (find(fact_keys, at * facts.role_count + role) >= 0)
