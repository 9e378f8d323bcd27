"""The stage ``filter_samples``: filters against shortcuts, with the scores of the baselines before and after each filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.rows import Rows, find, paired, row_bounds
from kgqa.errors import EmptyResult
from kgqa.recipes.qangaroo.baselines import BaselineData, Baselines, max_mention
from kgqa.recipes.qangaroo.corpus import article_of, first_mentions, places, row_numbers
from kgqa.recipes.qangaroo.evidence_card import PAPERS_RECIPE
from kgqa.recipes.qangaroo.gates import (
    AnswerMostMentioned,
    AnswerNamedInQuery,
    AnswerNamedInSubjectDocument,
    AnswerTooFrequent,
    DocumentCue,
    SampleGate,
    ShortcutSuffices,
)
from kgqa.recipes.qangaroo.rejected import empty_sentence, gate_rows, pass_gates, rejected_table
from kgqa.recipes.qangaroo.samples import Samples
from kgqa.recipes.qangaroo.surface_search import Forms, find_forms, named_in_rows
from kgqa.records import SPLITS
from kgqa.runs.funnel import FunnelRow, count_list
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.qangaroo import BiasSettings, QangarooSettings

PAPER = BiasSettings(answer_cap=0.001, document_cue=20, document_cue_drops="all", mention_cue=False, named_answer=False)
"""The filters of Welbl et al. (2018, section 3.2)."""

Mentions = Callable[[Samples], npt.NDArray[np.float64]]
"""Counts for each candidate its mentions in the sample's documents."""


def filter_samples(run: Run) -> StageOutput:
    """Samples → the samples that the filters keep, and the rejected ones; the report has the baselines before and after each filter."""
    recipe = run.section(QangarooSettings)
    settings = recipe.bias
    samples, recipe_samples = (Samples.from_table(run.table(name)) for name in ("samples", "plain"))
    tables = run.tables("entities", "documents", "links", "names", "mentions", coded=True)
    tables["relations"] = run.table("asked_relations")
    sample_count = len(samples)
    samples, rejections = pass_gates(samples, named_gates(samples, run, tables) if settings.named_answer else ())
    if not len(samples):
        raise EmptyResult(empty_sentence(gate_rows("filter", sample_count, rejections)))
    data = baseline_data(tables)
    mentions: Mentions | None = None
    if settings.mention_cue:
        language = run.domain.settings.linking.language
        mentions = partial(max_mention, data=_as_read(data, samples, tables, language))
    gates = _bias_gates(settings, recipe_samples, mentions)
    run.progress.start("Filtering and measuring shortcuts", len(gates) + 1, "steps")
    baselines = Baselines(data, graded=recipe.queries == "relations")
    shares = (settings.position_share, settings.count_share, settings.train_share)
    if min(shares) < 1:
        least = settings.min_filtered
        gates.append(ShortcutSuffices(position=shares[0], count=shares[1], train=shares[2], baselines=baselines, least=least))
    # One generator draws all bootstrap resamples, so the order of the measurements is part of the result.
    rng = np.random.default_rng(run.seed)
    scores_of = {}
    if len(recipe_samples) and samples.grades is not None:
        recipe_samples, _ = pass_gates(recipe_samples, _bias_gates(_papers(settings), recipe_samples))
        scores_of[PAPERS_RECIPE] = baselines.scores(recipe_samples, rng=rng)
    scores_of["before the filters"] = baselines.scores(samples, rng=rng)
    run.progress.advance(1)
    remarks = list[FunnelRow]()
    # One filter at a time, so that the card shows the effect of each on the baselines.
    for gate in gates:
        for sentence in gate.raised(samples):
            remarks.append(FunnelRow(stage="filter", what="questions", reason=sentence, setting=gate.setting))
        samples, gate_rejections = pass_gates(samples, [gate])
        rejections += gate_rejections
        setting = " / ".join(name.rsplit(".", 1)[-1] for name in gate.setting.split(", "))
        scores_of[f"after {setting}"] = baselines.scores(samples, rng=rng)
        run.progress.advance(1)
    assert len(samples), "no filter rejects all samples"
    funnel = gate_rows("filter", sample_count, rejections) + remarks
    rejections_table = rejected_table(rejections) if rejections else run.table("rejected_traverse").slice(0, 0)
    counts = samples.questions.by_split()
    return StageOutput(
        tables={"kept": samples.to_table(), "rejected_filter": rejections_table},
        funnel=funnel,
        report={
            "baselines": {stage: [asdict(score) for score in scores] for stage, scores in scores_of.items()},
            "kept": counts,
            "plain": recipe_samples.questions.by_split(),
        },
        note=count_list(counts),
    )


def _papers(settings: BiasSettings) -> BiasSettings:
    """The paper's filters, without those that the domain turns off, as the paper does for MedHop (section 4.1)."""
    values_off = {name: getattr(settings, name) for name, off in (("answer_cap", 1), ("document_cue", 0)) if getattr(settings, name) == off}
    return PAPER.model_copy(update=values_off)


def _bias_gates(settings: BiasSettings, recipe_samples: Samples, mentions: Mentions | None = None) -> list[SampleGate]:
    """The gates against shortcuts that need only counting.

    Limits that are shares refer to ``recipe_samples``, the samples that the paper's recipe would let in. Otherwise stricter evidence, which
    leaves fewer samples, would also make these limits stricter.
    """
    recipe_sizes = {split: int((recipe_samples.questions.split == split).sum()) for split in range(len(SPLITS))}
    gates: list[SampleGate] = []
    if settings.answer_cap < 1:
        gates.append(AnswerTooFrequent(share=settings.answer_cap, of=settings.answer_cap_of, entering=recipe_sizes))
    if settings.document_cue:
        gates.append(DocumentCue(limit=settings.document_cue, drops=settings.document_cue_drops, entering=recipe_sizes))
    if mentions is not None:
        gates.append(AnswerMostMentioned(mentions=mentions))
    return gates


def named_gates(samples: Samples, run: Run, tables: dict[str, pa.Table]) -> list[SampleGate]:
    """The gates that search the queries and the subjects' articles for names of the answers of ``samples``."""
    is_answer = np.zeros(tables["entities"].num_rows, np.bool_)
    is_answer[samples.questions.answer] = True
    forms = Forms.of(tables, is_answer, language=run.domain.settings.linking.language)
    gates: list[SampleGate] = [AnswerNamedInQuery(named=named_in_rows(tables["entities"]["label"], samples.questions.head, forms))]
    if run.section(QangarooSettings).answer_stated == "subject_document":
        articles = article_of(tables)
        subject_articles = articles[samples.questions.head]
        entities_named = named_in_rows(tables["documents"]["text"], subject_articles[subject_articles >= 0], forms)
        gates.append(AnswerNamedInSubjectDocument(articles=articles, named=entities_named))
    return gates


def _as_read(data: BaselineData, samples: Samples, tables: dict[str, pa.Table], language: str) -> BaselineData:
    """The same data with all mentions that a reader would recognise, in any form of a name, as in the masked twin; for candidates only."""
    is_candidate = np.zeros(tables["entities"].num_rows, np.bool_)
    is_candidate[samples.candidates.targets] = True
    places = find_forms(data.texts, Forms.of(tables, is_candidate, language=language), rows=samples.documents.targets)
    document = np.repeat(np.arange(len(data.texts)), np.diff(places.offsets))
    order = np.lexsort((places.start, places.entity, document))
    pair, end = paired(document, places.entity)[order], places.end[order]
    # A name inside another name of the same entity is no mention of its own: skip those that begin before an earlier one ends.
    pairs, number = np.unique(pair, return_inverse=True)
    step = int(end.max(initial=0)) + 1
    until = np.maximum.accumulate(number * step + end) if len(end) else number
    outside = np.ones(len(order), np.bool_)
    outside[1:] = number[1:] * step + places.start[order][1:] >= until[:-1]
    counts = np.bincount(number[outside], minlength=len(pairs))
    links = Rows(
        offsets=row_bounds((pairs >> 32).astype(np.int32), tables["documents"].num_rows), targets=(pairs & 0xFFFFFFFF).astype(np.int32)
    )
    return replace(data, links=links, link_counts=counts)


def baseline_data(tables: dict[str, pa.Table]) -> BaselineData:
    """The data of the baselines, from ``entities, relations, documents, links, mentions``."""
    links, mentions = tables["links"], places(tables["mentions"], tables)
    pairs, ranks = first_mentions(mentions)
    document = row_numbers(links["document"], tables["documents"]["id"])
    entity = row_numbers(links["entity"], tables["entities"]["id"])
    counts = np.bincount(document, minlength=tables["documents"].num_rows)
    at = find(pairs, paired(document, entity))
    return BaselineData(
        links=Rows.from_counts(counts, entity),
        link_counts=links["count"].combine_chunks().to_numpy(),
        texts=tables["documents"]["text"],
        labels=tables["entities"]["label"],
        relation_labels=tables["relations"]["label"],
        first_places=np.where(at >= 0, np.append(mentions.start, 0)[ranks[at]] if len(ranks) else 0, 0).astype(np.int32),
        articles=article_of(tables),
    )
