"""Pairs of entities for each pattern, with the answer of its test; drawn so that neither entity gives the answer away.

For each first entity there is a range of second ones for which the answer is yes, and one for which it is no; both lie next to the border
between them (``margin``, ``reach``), so that a date or size alone says nothing. Where both ranges have an entity, one of the two answers
is drawn, and then a second entity of its range. All first entities of a split are done at once: a range is a pair of bounds in the
sorted second side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from kgqa.recipes.strategyqa.sides import DAYS
from kgqa.settings.strategyqa import PatternSettings

Array = npt.NDArray[np.float64]
Range = tuple[Array, Array]
PAIRS = pl.Schema({
    "a": pl.String, "b": pl.String, "yes": pl.Boolean, "split": pl.Int8, "a_answer": pl.String, "b_answer": pl.String,
    "a_document": pl.String, "a_paragraph": pl.Int64, "b_document": pl.String, "b_paragraph": pl.Int64,
})  # fmt: skip


def value_pairs(pattern: PatternSettings, first: pl.DataFrame, second: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """At most one pair for each first entity (columns ``PAIRS``). O(n log n) for n entities of both sides."""
    parts = []
    for split in sorted(set(first["split"].to_list()) & set(second["split"].to_list())):
        first_sides = first.filter(pl.col("split") == split)
        second_sides = second.filter(pl.col("split") == split).sort("number", "entity")
        parts.append(_pairs(pattern, first_sides, second_sides, random))
    return pl.concat(parts) if parts else pl.DataFrame(schema=PAIRS)


def _pairs(pattern: PatternSettings, first: pl.DataFrame, second: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    numbers = second["number"].to_numpy()
    yes, no = _ranges(pattern, {name: first[name].to_numpy().astype(np.float64) for name in ("low", "low_last", "high", "high_last")})
    rows_of_answer = [_draw(numbers, ranges, random) for ranges in (yes, no)]
    is_yes = random.random(first.height) < 0.5
    rows = np.where(is_yes, rows_of_answer[0], rows_of_answer[1])
    keep = (rows_of_answer[0] >= 0) & (rows_of_answer[1] >= 0)
    left, right = first.filter(pl.Series(keep)), second[rows[keep]]
    pairs = pl.DataFrame(
        {
            "a": left["entity"], "b": right["entity"], "yes": is_yes[keep] != pattern.negated, "split": left["split"],
            "a_answer": left["answer"], "b_answer": right["answer"], "a_document": left["document"], "a_paragraph": left["paragraph"],
            "b_document": right["document"], "b_paragraph": right["paragraph"],
        },
        schema=PAIRS,
    )  # fmt: skip
    return pairs.filter(pl.col("a") != pl.col("b"))


def _ranges(pattern: PatternSettings, first: dict[str, Array]) -> tuple[Sequence[Range], Sequence[Range]]:
    """For each first entity the ranges of the second's number in which the answer is yes, and no."""
    low, low_last, high, high_last = (first[name] for name in ("low", "low_last", "high", "high_last"))
    if pattern.test == "more":  # numbers are logarithms
        margin, reach = np.log2(1 + pattern.margin), np.log2(1 + pattern.reach)
        return [(low - reach, low - margin)], [(low + margin, low + reach)]
    margin, reach, since = (DAYS * number for number in (pattern.margin, pattern.reach, pattern.since))
    year = DAYS  # a date may be known to the year only: its first day is compared, and its last day lies up to a year later
    if pattern.test == "within":
        yes = [(np.maximum(low_last + since, high - reach), high - margin - year)]
        no = [(high_last + margin, high_last + reach)]
        return yes, [*no, (low - reach, low - margin - year)] if pattern.early else no
    if pattern.test == "before":
        return [(low_last + margin, low_last + reach)], [(low - reach, low - margin - year)]
    beyond = DAYS * pattern.beyond
    return [(low - margin, low + margin)], [(low - reach, low - beyond - year), (low_last + beyond, low_last + reach)]


def _draw(numbers: Array, ranges: Sequence[Range], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """For each first entity a row of the second side in one of its ranges; -1 where there is none."""
    begins = np.stack([np.searchsorted(numbers, low, side="left") for low, _ in ranges])
    counts = np.maximum(np.stack([np.searchsorted(numbers, high, side="right") for _, high in ranges]) - begins, 0)
    total = counts.sum(axis=0)
    place = np.minimum((random.random(len(total)) * total).astype(np.int64), np.maximum(total - 1, 0))
    rows = np.full(len(total), -1, np.int64)
    for begin, count in zip(begins, counts, strict=True):
        here = (rows < 0) & (place < count)
        rows[here] = (begin + place)[here]
        place = np.where(rows < 0, place - count, place)
    return np.where(total > 0, rows, -1)


def same_pairs(side: pl.DataFrame, names: pl.DataFrame, pattern: PatternSettings, random: np.random.Generator) -> pl.DataFrame:
    """Pairs of entities with the same object, or with different ones, of one split each (columns ``PAIRS``)."""
    side = side.join(names.select(tail="entity", tail_name="name"), on="tail").sort("split", "tail", "entity")
    side = side.with_columns(draw=pl.Series(random.random(side.height)), other=pl.Series(random.random(side.height)))
    columns = ["entity", "tail", "tail_name", "document", "paragraph"]
    parts = []
    for key, order in ((["split", "tail"], "draw"), (["split"], "other")):
        # Each entity is paired with the next one in a random order, of the same object or of all.
        turned = side.sort(*key, order, "entity").with_columns(pl.col(columns).shift(-1).over(key).name.suffix("_2"))
        parts.append(turned.filter(pl.col("entity_2").is_not_null()))
    same, different = parts
    different = different.filter(pl.col("tail") != pl.col("tail_2"))
    pairs = pl.concat([same.with_columns(yes=True), different.with_columns(yes=False)])
    return pairs.select(
        a="entity", b="entity_2", yes=pl.col("yes") != pattern.negated, split="split", a_answer="tail_name", b_answer="tail_name_2",
        a_document="document", a_paragraph="paragraph", b_document="document_2", b_paragraph="paragraph_2",
    ).cast(PAIRS)  # fmt: skip


def chain_pairs(
    first: pl.DataFrame, second: pl.DataFrame, facts: pl.DataFrame, names: pl.DataFrame, pattern: PatternSettings,
    random: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    """Pairs of an entity and the end of its chain, or the end of another's (columns ``PAIRS``; ``b`` has no paragraph of its own).

    ``facts``: ``head``, ``tail`` of the second relation; an end that the graph has for the bridge too is never taken for no.
    """
    bridges = second.rename({"entity": "bridge", "tail": "end", "document": "b_document", "paragraph": "b_paragraph"})
    chains = first.rename({"tail": "bridge"}).join(
        bridges.select("bridge", "end", "b_document", "b_paragraph", bridge_split="split"), on="bridge"
    )
    chains = chains.filter((pl.col("split") == pl.col("bridge_split")) & (pl.col("entity") != pl.col("end"))).sort("entity", "end")
    if not chains.height:
        return pl.DataFrame(schema=PAIRS)
    # Wrong ends are those of other chains in a random order, so they are as frequent as right ones.
    wrong = chains["end"][random.permutation(chains.height)]
    chains = chains.with_columns(wrong=wrong, yes=pl.Series(random.random(chains.height) < 0.5))
    chains = chains.join(
        facts.select(bridge="head", wrong="tail", known=pl.lit(value=True)), on=["bridge", "wrong"], how="left", maintain_order="left"
    )
    chains = chains.filter(pl.col("yes") | (pl.col("known").is_null() & (pl.col("wrong") != pl.col("entity"))))
    for column, name in (("bridge", "a_answer"), ("end", "b_answer")):
        chains = chains.join(names.select(pl.col("entity").alias(column), pl.col("name").alias(name)), on=column, maintain_order="left")
    return chains.select(
        a="entity", b=pl.when("yes").then("end").otherwise("wrong"), yes=pl.col("yes") != pattern.negated, split="split",
        a_answer="a_answer", b_answer="b_answer", a_document="document", a_paragraph="paragraph", b_document="b_document",
        b_paragraph="b_paragraph",
    ).cast(PAIRS)  # fmt: skip
