"""Step S1 (Trivedi et al. 2022): find the facts that texts state, with the model of :mod:`kgqa.statements`; some are not in the graph.

The model learns from the facts themselves and needs no relation's name. A fact may be stated in the article about its head, anywhere that
names the tail; in a sentence of the article about its tail that names the head; and, if the domain allows it, in a sentence of any text.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.parallel import Engine
from kgqa.arrays.rows import paired, row_bounds
from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.names.kinds import LEAD, title_kinds
from kgqa.rules.roles import RoleGraph
from kgqa.sources.tables import frame
from kgqa.statements.calibration import Calibration, tenths
from kgqa.statements.contexts import Texts
from kgqa.statements.model import Profiles, learn, score

HELD_OUT = 4
"""One head in this many is held out. Half of these calibrate the model, the other half tests it."""
LOWER = 0.05
"""Lower quantile of the posterior of a relation's precision, taken as the bound."""
TESTED = 200
"""Statements that each half needs before the model is used."""
KNOWN_KIND = 0.03
"""Share of a relation's heads, or tails, that must be of a kind before new facts may use that kind."""
SCHEMA = {
    "document": pl.String,
    "head": pl.String,
    "template": pl.String,
    "tail": pl.String,
    "probability": pl.Float32,
    "fact": pl.Boolean,
    "sure": pl.Boolean,
}


def read_texts(
    facts: pl.DataFrame, tables: Mapping[str, pa.Table], documents: pl.DataFrame, *, everywhere: bool, precision: float, seed: int,
    engine: Engine | None = None,
) -> tuple[pl.DataFrame, list[dict[str, float]]]:  # fmt: skip
    """Statements that the texts may contain, with probabilities, and the model's calibration; empty with too little data.

    Columns: ``document``, ``head``, ``template``, ``tail``, ``probability``, ``fact`` (whether ``facts`` has it) and ``sure``. A statement
    is sure if statements at least as probable are facts with ``precision`` or more, by the lower bound, for heads with a fact of the
    relation.

    ``facts``: ``head``, ``template``, ``tail``. ``documents``: ``document`` and ``about`` of the texts to read; ``everywhere``: read
    sentences of texts about neither end as well. Possible tails come from the facts of other heads. O(mentions), with ``everywhere``
    O(pairs in one sentence). Memory: some 200 bytes for each.
    """
    no_texts = pl.DataFrame(schema=SCHEMA)
    names = facts["template"].unique().sort()
    entities = pl.concat([facts["head"], facts["tail"], frame(tables["documents"])["about"].drop_nulls()]).unique().sort()
    number = pl.DataFrame({"entity": entities}).with_row_index("number")
    relation = pl.DataFrame({"template": names}).with_row_index("relation")
    rows = frame(tables["documents"]).select(document="id").with_row_index("row")
    documents_used = rows.join(documents.select("document", "about"), on="document", maintain_order="left")
    documents_used = documents_used.join(number.rename({"entity": "about", "number": "own"}), on="about", how="left", maintain_order="left")
    mentions = frame(tables["mentions"]).join(rows, on="document").join(number, on="entity").sort("row", "start", "end", "number")
    fact_rows = facts.select("head", "template", "tail").unique()
    fact_rows = fact_rows.join(number.rename({"entity": "head", "number": "head_row"}), on="head").join(relation, on="template")
    fact_rows = fact_rows.join(number.rename({"entity": "tail", "number": "tail_row"}), on="tail").sort("head_row", "tail_row", "relation")
    graph = _graph(fact_rows, len(entities), len(names))
    kinds = kinds_of(tables)
    profiles = _possible(Profiles.of(graph), fact_rows, kinds.join(number, on="entity"))
    tails = pl.DataFrame({"tail_row": np.flatnonzero(np.diff(profiles.offsets)).astype(np.uint32)})
    pairs = _pairs(documents_used, mentions, tables, fact_rows, tails, everywhere=everywhere)
    if not pairs.height:
        return no_texts, []
    subjects = np.full(rows.height, -1, np.int32)
    about = documents_used.filter(pl.col("own").is_not_null())
    subjects[about["row"].to_numpy()] = about["own"].to_numpy()
    document, head_rows, tail_rows = (pairs[name].to_numpy().astype(np.int32) for name in ("row", "head_row", "tail_row"))
    mention_entities, start, end = (mentions[name].to_numpy().astype(np.int32) for name in ("number", "start", "end"))
    texts = Texts.of(
        tables["documents"]["text"], (row_bounds(mentions["row"].to_numpy(), rows.height), mention_entities, start, end), subjects
    )
    entity_pairs = document, head_rows, tail_rows
    draws = text_hashes(pa.array(entities.to_list(), pa.string()), seed=seed)
    held_out = draws % np.uint64(HELD_OUT) == 0
    weights = learn(texts, entity_pairs, _only(graph, ~held_out), profiles, ~held_out[head_rows], engine=engine)
    statements = score(texts, entity_pairs, graph, profiles, weights, engine=engine)
    keys = (fact_rows["head_row"].cast(pl.Int64) * len(entities) + fact_rows["tail_row"].cast(pl.Int64)) * len(names) + fact_rows[
        "relation"
    ].cast(pl.Int64)
    head_numbers, tail_numbers = head_rows[statements.pair].astype(np.int64), tail_rows[statements.pair].astype(np.int64)
    is_fact = np.isin((head_numbers * len(entities) + tail_numbers) * len(names) + statements.role, keys.to_numpy())
    # Facts that the graph lacks count as false, so probabilities err on the low side.
    is_tested = held_out[head_rows[statements.pair]] & (np.diff(graph.offsets)[head_rows[statements.pair]] > 0)
    half = ((draws // np.uint64(HELD_OUT)) & np.uint64(1)).astype(np.bool_)[head_rows[statements.pair]]
    if min((is_tested & half).sum(), (is_tested & ~half).sum()) < TESTED:
        return no_texts, []
    probability = Calibration.fitted(statements.probability[is_tested & half], is_fact[is_tested & half]).of(statements.probability)
    table = pl.DataFrame(
        {
            "document": rows["document"].gather(document[statements.pair]), "head": entities.gather(head_rows[statements.pair]),
            "template": names.gather(statements.role), "tail": entities.gather(tail_rows[statements.pair]), "probability": probability,
            "fact": is_fact,
        },
        schema={name: kind for name, kind in SCHEMA.items() if name != "sure"},
    )  # fmt: skip
    table = table.with_columns(sure=_sure(table, fact_rows, held_out[head_rows[statements.pair]], precision))
    return table, tenths(probability[is_tested & ~half], is_fact[is_tested & ~half])


def _sure(table: pl.DataFrame, fact_rows: pl.DataFrame, held_out: npt.NDArray[np.bool_], precision: float) -> pl.Series:
    """Whether each statement reaches its relation's threshold: the lowest probability with the required precision.

    A statement counts as false only if the graph has another fact of its head and relation (partial completeness; Galárraga et al. 2013).
    """
    from scipy.stats import beta  # the import takes half a second, and most runs do not need it

    rows = table.with_row_index("row")
    tested_rows = rows.filter(pl.Series(held_out)).join(fact_rows.select("head", "template").unique(), on=["head", "template"], how="semi")
    tested_rows = tested_rows.sort("template", pl.col("probability"), "row", descending=[False, True, False])
    tested_rows = tested_rows.with_columns(
        hits=pl.col("fact").cast(pl.Int64).cum_sum().over("template"), seen=pl.int_range(1, pl.len() + 1).over("template")
    )
    hits, trials = (tested_rows[name].to_numpy().astype(np.float64) for name in ("hits", "seen"))
    precise_rows = tested_rows.filter(pl.Series(beta.ppf(LOWER, hits + 1, trials - hits + 1) >= precision))
    thresholds = precise_rows.group_by("template").agg(least=pl.col("probability").min())
    rows_with_threshold = table.join(thresholds, on="template", how="left", maintain_order="left")
    return rows_with_threshold.select((pl.col("probability") >= pl.col("least")).fill_null(value=False)).to_series()


def _graph(fact_rows: pl.DataFrame, entities: int, relations: int) -> RoleGraph:
    """The facts from head to tail only; ``fact_rows`` is sorted by ``head_row``, ``tail_row`` and ``relation``."""
    head, tail, relation = (fact_rows[name].to_numpy().astype(np.int32) for name in ("head_row", "tail_row", "relation"))
    return RoleGraph(offsets=row_bounds(head, entities), targets=tail, roles=relation, relations=relations)


def _only(graph: RoleGraph, mask: npt.NDArray[np.bool_]) -> RoleGraph:
    """The graph without the facts of heads outside the mask."""
    is_selected = mask[graph.sources()]
    offsets = row_bounds(graph.sources()[is_selected], graph.entities)
    return RoleGraph(offsets=offsets, targets=graph.targets[is_selected], roles=graph.roles[is_selected], relations=graph.relations)


def _pairs(
    documents: pl.DataFrame, mentions: pl.DataFrame, tables: Mapping[str, pa.Table], fact_rows: pl.DataFrame, tails: pl.DataFrame, *,
    everywhere: bool,
) -> pl.DataFrame:  # fmt: skip
    """``row`` (of a document), ``head_row`` and ``tail_row``: what may be head and tail of a fact there; sorted."""
    heads = fact_rows.select("head_row").unique()
    mention_pairs = mentions.join(documents.select("row", "own"), on="row").select("row", "own", "number").unique()
    mention_pairs = mention_pairs.filter((pl.col("own") != pl.col("number")).fill_null(value=True))
    with_subject = mention_pairs.filter(pl.col("own").is_not_null())
    parts = [
        with_subject.select("row", head_row="own", tail_row="number").join(tails, on="tail_row", how="semi"),
        with_subject.select("row", head_row="number", tail_row="own")
        .join(tails, on="tail_row", how="semi")
        .join(heads, on="head_row", how="semi"),
    ]
    if everywhere:
        starts = sentence_starts(tables["documents"]["text"])
        at = paired(mentions["row"].to_numpy(), mentions["start"].to_numpy())
        sentence = np.searchsorted(paired(starts.sources(), starts.targets), at, side="right")
        sentence_mentions = (
            mentions.select("row", "number").with_columns(sentence=pl.Series(sentence)).unique().join(documents, on="row", how="semi")
        )
        head_mentions = sentence_mentions.rename({"number": "head_row"}).join(heads, on="head_row", how="semi")
        co_mentions = head_mentions.join(
            sentence_mentions.select("sentence", tail_row="number").join(tails, on="tail_row", how="semi"), on="sentence"
        )
        parts.append(co_mentions.filter(pl.col("head_row") != pl.col("tail_row")).select("row", "head_row", "tail_row"))
    return pl.concat(parts).unique().sort("row", "head_row", "tail_row")


def _possible(profiles: Profiles, fact_rows: pl.DataFrame, kinds: pl.DataFrame) -> Profiles:
    """Profiles with added relations: those whose tails are mostly of the entity's kind, with a count of one more.

    A person of the right kind may be a director although the graph knows no film of theirs.
    """
    of = fact_rows.select("relation", number="tail_row").join(kinds, on="number").group_by("relation", "kind").len()
    frequent_kinds = of.filter(pl.col("len") >= KNOWN_KIND * pl.col("len").sum().over("relation"))
    able = kinds.join(frequent_kinds, on="kind").select(entity="number", role="relation")
    entities = len(profiles.offsets) - 1
    sources = np.repeat(np.arange(entities), np.diff(profiles.offsets))
    role_counts = pl.DataFrame({"entity": sources.astype(np.uint32), "role": profiles.roles.astype(np.uint32), "count": profiles.counts})
    able = able.with_columns(count=pl.lit(1, pl.Int32)).select(role_counts.columns)
    table = pl.concat([role_counts, able]).group_by("entity", "role").agg(pl.col("count").sum()).sort("entity", "role")
    return Profiles(
        offsets=row_bounds(table["entity"].to_numpy(), entities), roles=table["role"].to_numpy().astype(np.int32),
        counts=table["count"].to_numpy().astype(np.int32), totals=profiles.totals, common=profiles.common,
    )  # fmt: skip


def kinds_of(tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """``entity``, ``kind``: the entities whose article gives their kind."""
    articles = frame(tables["documents"]).filter(pl.col("about").is_not_null()).unique("about", keep="first", maintain_order=True)
    texts = zip(articles["about"].to_list(), articles["title"].to_list(), articles["text"].str.slice(0, LEAD).to_list(), strict=True)
    rows = [(about, kinds[0][0]) for about, title, text in texts if (kinds := title_kinds(title, text)) and kinds[0][0]]
    return pl.DataFrame(rows, schema={"entity": pl.String, "kind": pl.String}, orient="row")


def of_kinds(candidates: pl.DataFrame, facts: pl.DataFrame, kinds: pl.DataFrame) -> pl.DataFrame:
    """The facts whose head is of a kind that heads of the relation often have; a head of unknown kind is dropped."""
    kinds = kinds.rename({"entity": "head"})
    of = facts.join(kinds, on="head").group_by("template", "kind").len()
    frequent_kinds = of.filter(pl.col("len") >= KNOWN_KIND * pl.col("len").sum().over("template")).select("template", "kind")
    return candidates.join(kinds, on="head").join(frequent_kinds, on=["template", "kind"], how="semi").drop("kind")
