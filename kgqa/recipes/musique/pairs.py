"""Step S2 (Trivedi et al. 2022): pairs of composable questions: the second one (tail) names the answer of the first one (head).

pairs   ``head``, ``tail`` (rows of ``single_hop``), ``bridge`` (number of the answer that joins them), ``start``, ``end`` (of its name in
        the tail's question, in characters), ``slot`` (its index in the tail's ``entities``, -1 where unknown); sorted by tail, start,
        head
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.rows import Adjacency, paired
from kgqa.recipes.musique.heads_and_tails import Sides, Work, answers_within
from kgqa.recipes.musique.named_entities import Bools
from kgqa.recipes.musique.same_entity import linked, same_search_result, same_type, two_subjects
from kgqa.recipes.musique.tags import same_tag
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.musique import PairSettings, ShapeSettings
from kgqa.sources.tables import arrow

PAIRS = pa.schema([(name, pa.int32()) for name in ("head", "tail", "bridge", "start", "end", "slot")])
STAGE = "pairs"
CONDITIONS = {
    "raw": "the second question names the answer to the first",
    "long": "one of the questions has too many words",
    "entity": "the answer is no named entity: a number, a date, a phrase, an adjective, or a word that texts write small",
    "whole": "the name is a part of a longer one",
    "many": "more questions than are paired have this answer, or name it; or both together are too long",
    "itself": "both are one question",
    "paragraph": "both questions have one paragraph",
    "circle": "the first question names the answer to the second",
    "given": "both questions are about one entity, so that the first tells little that the second does not",
    "linked": "the answer and the name are different entities of the graph",
    "within": "the answer to the first question holds the answer to the second",
    "type": "the answer and the name are of different types",
    "tag": "the spaCy pipeline does not tag the answer and the name as entities of one type",
    "search": "a search for the answer and one for the name have different first results",
}
"""Condition that a pair must not meet → the sentence that reports show; the first one is the starting point."""


def composable_pairs(
    single_hop: pa.Table,
    paragraphs: pa.Table,
    settings: PairSettings,
    lengths: ShapeSettings,
    *,
    seed: int,
    ask: Callable[[Sides], pl.DataFrame] | None = None,
) -> tuple[pa.Table, list[FunnelRow]]:
    """``pairs`` and the funnel of the conditions. O(questions and pairs): no question is compared with all others.

    A pair that is too long for any chain (``lengths``) is dropped at once, so that no reader has to judge it. ``ask`` finds the pairs
    elsewhere, with ``head``, ``tail``, ``bridge``, ``start``, ``end``, and ``fault``: the first of ``KNOWN`` that a pair violates, or
    empty.
    """
    sides = Sides.of(single_hop, paragraphs, settings, lengths, seed=seed)
    rows, left_count = _count_pairs(sides)
    table = _joined(sides, settings, lengths) if ask is None else ask(sides)
    pairs = table.sort("tail", "start", "head", "bridge").unique(["head", "tail"], keep="first", maintain_order=True)
    rows.append(_row("many", left_count - pairs.height, pairs.height, "musique.pairs.max_heads"))
    pairs = _without_faults(pairs, sides.work, rows) if ask is None else _without_known(pairs, single_hop, rows)
    pairs = _filtered(pairs, ~answers_within(single_hop).joins(pairs["head"].to_numpy(), pairs["tail"].to_numpy()), "within", rows)
    pairs = _filtered(pairs, same_type(pairs, single_hop, paragraphs), "type", rows)
    if settings.spacy:
        pairs = _filtered(pairs, same_tag(pairs, single_hop, paragraphs, settings.spacy), "tag", rows)
    pairs = _filtered(pairs, same_search_result(pairs, single_hop, paragraphs), "search", rows)
    return arrow(pairs.select(PAIRS.names)).cast(PAIRS), rows


KNOWN = ("itself", "paragraph", "circle", "linked", "given")
"""Keys of ``CONDITIONS`` that a graph of the questions can check, in order."""


def _without_faults(pairs: pl.DataFrame, work: Work, rows: list[FunnelRow]) -> pl.DataFrame:
    for name, check in (("itself", _different), ("paragraph", _two_paragraphs), ("circle", _no_circle)):
        pairs = _filtered(pairs, check(pairs, work), name, rows)
    pairs, kept_linked = linked(pairs, work.single_hop)
    pairs = _filtered(pairs, kept_linked, "linked", rows)
    return _filtered(pairs, two_subjects(pairs, work.single_hop), "given", rows)


def _without_known(pairs: pl.DataFrame, single_hop: pa.Table, rows: list[FunnelRow]) -> pl.DataFrame:
    """The same for pairs with a column ``fault``."""
    for name in KNOWN:
        pairs = _filtered(pairs, (pairs["fault"] != name).to_numpy(), name, rows)
    return linked(pairs.drop("fault"), single_hop)[0]


def _row(reason: str, removed_count: int, left_count: int, setting: str = "") -> FunnelRow:
    return FunnelRow(stage=STAGE, what="pairs", reason=CONDITIONS[reason], removed=removed_count, left=left_count, setting=setting)


def _filtered(pairs: pl.DataFrame, mask: Bools, reason: str, rows: list[FunnelRow]) -> pl.DataFrame:
    rows.append(_row(reason, int((~mask).sum()), int(mask.sum())))
    return pairs.filter(pl.Series(mask, dtype=pl.Boolean))


def _count_pairs(sides: Sides) -> tuple[list[FunnelRow], int]:
    """The funnel of the conditions on each side alone, and the number of pairs left; pairs are counted without being built."""
    left_count = _products(sides.heads, sides.tails, None, None)
    rows = [FunnelRow(stage=STAGE, what="pairs", reason=CONDITIONS["raw"], left=left_count)]
    for reason, head, tail, setting in (
        ("long", "short", "short", "musique.shapes.max_tokens"),
        ("entity", "entity", "short", "musique.pairs.capital_share"),
        ("whole", "entity", "whole", ""),
    ):
        fewer = _products(sides.heads, sides.tails, head, tail)
        rows.append(_row(reason, left_count - fewer, fewer, setting))
        left_count = fewer
    return rows, left_count


def _joined(sides: Sides, settings: PairSettings, lengths: ShapeSettings) -> pl.DataFrame:
    """Join heads and tails over each bridge; common bridges are sampled."""
    heads = sides.heads.filter(pl.col("entity") & (pl.col("turn") < settings.max_heads))
    tails = sides.tails.filter(pl.col("whole") & (pl.col("turn") < settings.max_tails))
    pairs = heads.join(tails, on="group")
    tokens = pl.Series(sides.tokens)
    pairs = pairs.filter(tokens.gather(pairs["head"]) + tokens.gather(pairs["tail"]) <= most_tokens(lengths))
    return pairs.select("head", "tail", "start", "end", bridge="group")


def most_tokens(lengths: ShapeSettings) -> int:
    """Maximum number of words of two questions together, in any shape."""
    return max(lengths.max_tokens_short, lengths.max_tokens_long)


def _products(heads: pl.DataFrame, tails: pl.DataFrame, head: str | None, tail: str | None) -> int:
    """The number of head–tail pairs over all bridges, among the rows for which the given columns hold."""
    head_rows = heads.filter(head) if head else heads
    tail_rows = tails.filter(tail) if tail else tails
    return int(
        head_rows.group_by("group")
        .len("ones")
        .join(tail_rows.group_by("group").len("others"), on="group")
        .select(pl.col("ones") * pl.col("others"))
        .sum()
        .item()
    )


def _different(pairs: pl.DataFrame, work: Work) -> Bools:
    return (pairs["head"] != pairs["tail"]).to_numpy()


def _two_paragraphs(pairs: pl.DataFrame, work: Work) -> Bools:
    paragraph = work.single_hop["paragraph"].to_numpy()
    return paragraph[pairs["head"].to_numpy()] != paragraph[pairs["tail"].to_numpy()]


def _no_circle(pairs: pl.DataFrame, work: Work) -> Bools:
    """Whether the head's question names no answer of the tail, and both have different answers."""
    mentions = paired(work.mentions.text, work.mentions.name)
    mentions.sort()
    of = Adjacency.from_pairs(work.owners[work.groups >= 0], work.groups[work.groups >= 0], len(work.single_hop))
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    names = of.take(tail)
    heads = np.repeat(head, names.counts())
    is_named = np.isin(paired(heads, names.targets), mentions)
    is_circle = np.zeros(len(head), np.bool_)
    is_circle[names.sources()[is_named]] = True
    group = work.group_of_question
    return ~is_circle & (group[head] != group[tail])
