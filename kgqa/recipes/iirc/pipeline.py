"""The stages of the recipe of IIRC: single-hop questions as in MuSiQue, then questions over links, then a choice of them.

Raise a stage's ``version`` whenever its output changes for the same input: workspaces then redo it, and the changelog says so under "Data".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.errors import EmptyResult, SettingsError
from kgqa.recipes.iirc.asking import Asker
from kgqa.recipes.iirc.checks import REASONS
from kgqa.recipes.iirc.choosing import LIMITS, REASONS as LIMIT_REASONS, chosen, splits_of
from kgqa.recipes.iirc.combinations import combinations, related_entities
from kgqa.recipes.iirc.corpus import Corpus
from kgqa.recipes.iirc.operands import asked_hops, attributes, members, roles
from kgqa.recipes.iirc.passages import Texts, seed_passages
from kgqa.recipes.iirc.patterns import groups_of, patterns_of
from kgqa.recipes.musique.from_graph import labels_of, shortened, templates_of
from kgqa.recipes.musique.pipeline import SINGLE_HOP
from kgqa.recipes.values.language import language_of
from kgqa.recipes.values.stage import stages_with_values
from kgqa.recipes.values.table import one_each
from kgqa.records import SPLITS
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow, count_list, reasons_of, removals
from kgqa.runs.stage import Run, Stage, StageOutput, settings_and_seed
from kgqa.settings.iirc import IircSettings
from kgqa.settings.linking import is_english
from kgqa.settings.musique import MusiqueSettings
from kgqa.sources.tables import arrow, frame
from kgqa.splits.cut import DROPPED

STAGE = "links"
SOURCES = ("entities", "names", "facts", "documents", "mentions", "links", "single_hop", "paragraphs", "stated", "relations")
LIMITING = ("size", "answers", "max_pattern", "max_relations", "max_answer", "max_per_passage", "max_per_article", "split")
"""Settings of the choice."""
WITHHELD = 1.2
"""Share of articles that are withheld, relative to the share of unanswerable questions; some of these are answered by other articles."""


def ask_over_links(run: Run) -> StageOutput:
    """single_hop, values → asked, refused: questions over links, worded, answered and checked."""
    settings, musique = _settings(run), _as_musique(run).section(MusiqueSettings)
    tables = run.tables(*SOURCES)
    run.progress.start("Asking over links", None, "questions")
    funnel: list[FunnelRow] = []
    tables = dict(shortened(tables, musique.single_hop, funnel))
    funnel.clear()  # the stage before has this row
    patterns, groups = patterns_of(settings), groups_of(settings)
    prepared = _prepared(run, tables, funnel)
    values = _values(run, funnel)
    rows = attributes(prepared.hops, values, tables["documents"])
    group_members = members(tables, prepared.passages, prepared.links, groups, most=settings.max_group)
    named_hops = frame(tables["links"]).select(passage="document", answer_entity="entity")
    named_hops = named_hops.join(prepared.passages, on="passage", how="semi")
    candidates = combinations(
        patterns,
        roles(prepared.hops, prepared.links),
        group_members,
        rows,
        named_hops,
        related_entities(tables["facts"]),
        settings,
        seed=run.seed,
    )
    funnel.append(FunnelRow(stage=STAGE, what="questions", reason="put together by patterns", left=candidates.height))
    if not candidates.height:
        raise EmptyResult(
            f"no passage links to an article with more information: {reasons_of(funnel)}; provide more documents and facts, or "
            "lower iirc.min_links."
        )
    links, documents = _texts_of(candidates, tables, prepared)
    corpus = _corpus(candidates, rows, prepared.hops, tables, Texts.of(links, documents))
    asker = Asker(corpus, patterns, templates_of(tables["relations"], musique), groups)
    questions, refusals = _ask(asker, candidates, run)
    funnel += removals(STAGE, "questions", {sentence: refusals[reason] for reason, sentence in REASONS.items()}, entering=candidates.height)
    if not questions:
        raise EmptyResult(f"no question over links qualifies: {reasons_of(funnel)}; provide more documents and facts.")
    outputs = {"asked": _with_ids(questions), "passage_links": links, "passage_texts": documents}
    return StageOutput(tables=outputs, funnel=funnel, report={"questions": len(questions)}, note=f"{len(questions):,} questions")


def _ask(asker: Asker, candidates: pl.DataFrame, run: Run) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The questions of the candidates, each wording once, and the number of the others by a key of ``REASONS``."""
    questions: dict[str, dict[str, Any]] = {}
    refusals = Counter[str]()
    for candidate in candidates.sort("draw", "pattern", "passage").iter_rows(named=True):
        result = asker.ask(candidate)
        if isinstance(result, str):
            refusals[result] += 1
        elif result["question"] in questions:
            refusals["again"] += 1
        else:
            questions[result["question"]] = result
            run.progress.advance(1)
    return list(questions.values()), refusals


def _with_ids(questions: list[dict[str, Any]]) -> pa.Table:
    """The questions as a table, with an ``id`` from the wording."""
    table = pl.DataFrame(
        questions,
        infer_schema_length=None,
        schema_overrides={"withheld": pl.List(pl.String), "articles": pl.List(pl.String), "draw": pl.UInt64},
    )
    hashes = text_hashes(arrow(table.select("question"))["question"]).tolist()
    return arrow(table.with_columns(id=pl.Series([f"i{value:016x}" for value in hashes])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The passages and what the recipe knows about them."""

    passages: pl.DataFrame
    links: pl.DataFrame
    hops: pl.DataFrame
    withheld: frozenset[str]


def _prepared(run: Run, tables: Mapping[str, pa.Table], funnel: list[FunnelRow]) -> Material:
    settings = _settings(run)
    passages, links = seed_passages(tables, settings, funnel)
    if not passages.height:
        raise EmptyResult(
            f"no article qualifies as a passage: {reasons_of(funnel)}; give longer or more articles, or lower iirc.min_links."
        )
    withheld = withheld_articles(links, settings, seed=run.seed)
    # The text of a withheld article is nowhere in the dataset.
    passages = passages.filter(~pl.col("passage").is_in(list(withheld)))
    links = links.join(passages, on="passage", how="semi", maintain_order="left")
    all_hops = tables["single_hop"].num_rows
    hops = asked_hops(tables, related_entities(tables["facts"]), least=settings.evidence)
    reason = "no sentence of the article about its subject states the answer, or one states another answer"
    funnel.append(
        FunnelRow(
            stage=STAGE,
            what="single-hop questions",
            reason=reason,
            removed=all_hops - hops.height,
            left=hops.height,
            setting="iirc.evidence",
        )
    )
    return Material(passages=passages, links=links, hops=hops, withheld=withheld)


def withheld_articles(links: pl.DataFrame, settings: IircSettings, *, seed: int) -> frozenset[str]:
    """Articles that no question shows, so that the questions that need them have no answer, whatever other questions show."""
    articles = links["article"].unique().sort()
    draws = text_hashes(arrow(articles.to_frame())["article"], seed=seed + 2).astype(np.float64) / 2.0**64
    return frozenset(articles.filter(pl.Series(draws < WITHHELD * settings.answers["none"])).to_list())


def _texts_of(candidates: pl.DataFrame, tables: Mapping[str, pa.Table], prepared: Material) -> tuple[pa.Table, pa.Table]:
    """The links of the candidates' passages, and the texts of these passages and of the articles."""
    passages = candidates["passage"].unique()
    links = prepared.links.filter(pl.col("passage").is_in(passages.implode()))
    links = links.with_columns(withheld=pl.col("article").is_in(sorted(prepared.withheld)))
    articles = pl.concat([passages, links["article"]]).unique()
    documents = frame(tables["documents"].select(["id", "title", "text"])).filter(pl.col("id").is_in(articles.implode()))
    return arrow(links), arrow(documents)


def _values(run: Run, funnel: list[FunnelRow]) -> pl.DataFrame:
    """One value for each entity and relation."""
    language = language_of(_settings(run).values, run.domain.settings.linking.language)
    values, drops = one_each(frame(run.table("values")), language.factors)
    funnel += removals(STAGE, "values", drops, entering=run.table("values", columns=["entity"]).num_rows)
    if not values.height:
        reason = "neither graph nor texts have dates or quantities, so patterns over values ask nothing"
        funnel.append(FunnelRow(stage=STAGE, what="values", reason=reason, setting="iirc.values"))
    return values


def _corpus(candidates: pl.DataFrame, rows: pl.DataFrame, hops: pl.DataFrame, tables: Mapping[str, pa.Table], texts: Texts) -> Corpus:
    """The hops, attributes and names that the candidates need."""
    used_attributes = pl.concat([candidates["attributes"].explode(), candidates["other"]]).unique()
    used_rows = rows.with_row_index("attribute").filter(pl.col("attribute").cast(pl.Int32).is_in(used_attributes.implode()))
    attribute_rows = {row.pop("attribute"): row for row in used_rows.iter_rows(named=True)}
    used_hops = pl.concat([candidates["roles"].explode(), used_rows["hop"].drop_nulls()]).unique()
    hop_rows = hops.filter(pl.col("hop").is_in(used_hops.implode())).select("hop", "start", answer="said").sort("hop")
    columns = tables["single_hop"].select(["question", "kind", "relations", "names", "noun"]).take(hop_rows["hop"].to_arrow())
    hop_rows = pl.concat([hop_rows, frame(columns)], how="horizontal")
    entities = pl.concat([candidates["entities"].explode(), candidates["subject"], used_rows["answer_entity"].drop_nulls()]).unique()
    names = frame(tables["names"].select(["entity", "name"])).filter(pl.col("entity").is_in(entities.implode()))
    named_values = used_rows.filter(pl.col("attribute").cast(pl.Int32).is_in(candidates["other"].unique().implode()))[
        "answer_entity"
    ].drop_nulls()
    labelled = pl.concat([candidates["entities"].explode(), candidates["subject"], named_values]).unique().sort()
    return Corpus(
        hops={row["hop"]: row for row in hop_rows.iter_rows(named=True)},
        attributes=attribute_rows,
        texts=texts,
        labels=labels_of(labelled.to_frame("entities").select(pl.concat_list("entities")), tables),
        names=dict(names.group_by("entity").agg("name").iter_rows()),
    )


def choose(run: Run) -> StageOutput:
    """asked → chosen, with ``split``; left_out, with ``reason``."""
    settings = _settings(run)
    questions = frame(run.table("asked"))
    run.progress.start("Choosing questions", questions.height, "questions")
    if run.limit is not None:
        settings = settings.model_copy(update={"size": min(run.limit, settings.size)})
    mask, drops, is_raised = chosen(questions, patterns_of(settings), settings)
    counts_of_reasons = {sentence: drops[name] for name, sentence in LIMIT_REASONS.items()}
    settings_of_reasons = {sentence: LIMITS[name] for name, sentence in LIMIT_REASONS.items()}
    funnel = removals("choose", "questions", counts_of_reasons, entering=questions.height, settings=settings_of_reasons)
    if is_raised:
        reason = "there are too few patterns or types of answer to keep all shares, so they were raised"
        funnel.append(FunnelRow(stage="choose", what="questions", reason=reason, setting="iirc.max_pattern"))
    in_limits = questions.filter(mask)
    if not in_limits.height:
        raise EmptyResult(f"no question satisfies the limits: {reasons_of(funnel)}; change [iirc].")
    split = splits_of(in_limits, settings, seed=run.seed)
    leaks = int((split == DROPPED).sum())
    funnel.append(
        FunnelRow(
            stage="split", what="questions", reason="some of it is shared with another split", removed=leaks, left=in_limits.height - leaks,
            setting="iirc.split.leak_free",
        )
    )  # fmt: skip
    split_questions = in_limits.with_columns(split=pl.Series(split)).filter(pl.col("split") != DROPPED)
    counts = {name: int((split == number).sum()) for number, name in enumerate(SPLITS)}
    return StageOutput(tables={"chosen": arrow(split_questions)}, funnel=funnel, report={"split": counts}, note=count_list(counts))


def _settings(run: Run) -> IircSettings:
    return run.section(IircSettings)


_only = partial(settings_and_seed, IircSettings)


def _asked_with(run: Run) -> object:
    """The settings that questions depend on, and the shipped patterns."""
    patterns = {name: pattern.model_dump(mode="json") for name, pattern in patterns_of(_settings(run)).items()}
    groups = {name: group.model_dump(mode="json") for name, group in groups_of(_settings(run)).items()}
    return [
        patterns,
        groups,
        _only("min_links", "max_links", "size", "answers", "max_pattern", "max_relations", "max_group", "evidence")(run),
    ]


def _as_musique(run: Run) -> Run:
    """The run of a domain whose recipe is MuSiQue's, for a stage of that recipe. Articles stay whole, as links lead to articles."""
    settings = run.domain.settings.model_copy(update={"recipe": "musique"})
    musique = settings.section(MusiqueSettings)
    whole = musique.model_copy(update={"single_hop": musique.single_hop.model_copy(update={"paragraphs": 0})})
    return replace(run, domain=replace(run.domain, settings=settings.model_copy(update={"musique": whole})))


STAGES = (
    *stages_with_values(lambda run: _settings(run).values),
    replace(SINGLE_HOP, depends_on=lambda run: SINGLE_HOP.depends_on(_as_musique(run)), run=lambda run: SINGLE_HOP.run(_as_musique(run))),
    Stage(name="ask_over_links", version=2, doing="Asking over links", depends_on=_asked_with, run=ask_over_links),
    Stage(
        name="choose_questions", version=1, doing="Choosing questions",
        depends_on=lambda run: [
            _only(*LIMITING)(run), run.limit
        ],
        run=choose,
    ),
)  # fmt: skip


def asked_queries(domain: Domain, traversal: str) -> list[str]:
    """Empty: no query is asked of the graph. Raises SettingsError for a domain in a language other than English."""
    language = domain.settings.linking.language
    if language and not is_english(language):
        raise SettingsError(
            f"domain {domain.settings.name}: linking.language is {language!r}, but the recipe iirc writes questions in English only; use "
            "kgqa compose with [musique.languages], or, if names and labels are English, set linking.language to ''."
        )
    return []
