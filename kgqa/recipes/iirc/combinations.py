"""Operands put together by the patterns: one row for each question that might be asked, before it is worded or answered."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.recipes.iirc.operands import ENTITY
from kgqa.settings.iirc import IircSettings, PatternSettings
from kgqa.sources.tables import arrow

COLUMNS = ("pattern", "passage", "subject", "group", "roles", "entities", "articles", "attributes", "other", "draw", "relations")
"""``roles``: rows of single-hop questions, -1 for the subject of the passage or a member of a group; ``entities`` and ``articles``: of the
operands; ``attributes``: rows of the table of attributes, for each operand, or two for the difference of one; ``other``: the attribute that
holds the value which the question names, or -1; ``relations``: the names of templates and values, for limits."""
NEAR = 20
"""A near value is among the nearest of one in this many, on either side."""
RATIO = 3
"""Largest ratio of two near quantities."""
POOL = 4
"""Candidates of a pattern, and of a pattern over the same relations, for each question that its limit allows."""


def combinations(
    patterns: Mapping[str, PatternSettings], roles: pl.DataFrame, members: pl.DataFrame, attributes: pl.DataFrame, stated_in: pl.DataFrame,
    related: pl.DataFrame, settings: IircSettings, *, seed: int,
) -> pl.DataFrame:  # fmt: skip
    """The candidates of all patterns, in random order within a pattern; ``stated_in``: ``passage, answer_entity`` that a passage names.

    ``related``: ``entity, other``, joined by a fact in either direction. Memory: the candidates of one pattern before its limit.
    """
    rows = attributes.with_row_index("attribute").with_columns(pl.col("attribute").cast(pl.Int32))
    link_hops = roles.join(rows, left_on=["a", "article"], right_on=["entity", "article"], suffix="_of", maintain_order="left")
    # A passage that names the answer itself would not need the article.
    link_hops = link_hops.join(stated_in, on=["passage", "answer_entity"], how="anti", maintain_order="left")
    link_hops = link_hops.filter(pl.col("answer_entity").is_null() | (pl.col("answer_entity") != pl.col("subject")))
    own = rows.select("name", subject="entity", passage="article", own="attribute")
    grouped = members.join(rows, left_on=["a", "article"], right_on=["entity", "article"], suffix="_of", maintain_order="left")
    parts = []
    for name, pattern in patterns.items():
        of_one_pattern = _of_pattern(pattern, link_hops, own, grouped, rows, related, seed)
        of_one_pattern = of_one_pattern.with_columns(pattern=pl.lit(name))
        parts.append(_limited(of_one_pattern, pattern, settings, seed))
    return pl.concat(parts) if parts else pl.DataFrame()


def _of_pattern(
    pattern: PatternSettings, link_hops: pl.DataFrame, own: pl.DataFrame, grouped: pl.DataFrame, rows: pl.DataFrame, related: pl.DataFrame,
    seed: int,
) -> pl.DataFrame:  # fmt: skip
    def wanted(name: str) -> pl.Expr:
        if pattern.values:
            return pl.col(name).is_in(pattern.values)
        return pl.col("kind").eq(ENTITY) & (pl.col(name).is_in(pattern.templates) if pattern.templates else pl.lit(value=True))

    candidates = link_hops.filter(wanted("name"))
    if pattern.over == "link":
        return _over_link(pattern, candidates, rows, related, seed)
    if pattern.over == "subject":
        # Of two values the first is the linked entity's, the second the subject's.
        pairs = candidates.filter(pl.col("name") == pattern.values[0]).with_columns(own_name=pl.lit(pattern.values[-1]))
        pairs = pairs.join(own, left_on=["passage", "subject", "own_name"], right_on=["passage", "subject", "name"])
        return _row(
            pairs, roles=["role", pl.lit(-1, pl.Int32)], entities=["a", "subject"], articles=["article", "passage"],
            attributes=["attribute", "own"], relations=["role_template", "name"],
        )  # fmt: skip
    if pattern.over == "group":
        return _over_group(pattern, grouped.filter(wanted("name")), rows, related, seed)
    pairs = candidates.join(candidates, on=["passage", "subject", "name"], suffix="_b").filter(
        (pl.col("role") < pl.col("role_b")) & (pl.col("a") != pl.col("a_b"))
    )
    if pattern.kind in {"same", "shared"}:
        is_same = pl.col("answer_entity") == pl.col("answer_entity_b")
        pairs = pairs.filter(is_same) if pattern.kind == "shared" else _unrelated(pairs, "answer_entity", "answer_entity_b", related)
    return _row(
        pairs, roles=["role", "role_b"], entities=["a", "a_b"], articles=["article", "article_b"], attributes=["attribute", "attribute_b"],
        relations=["role_template", "role_template_b", "name"],
    )  # fmt: skip


def _over_link(pattern: PatternSettings, candidates: pl.DataFrame, rows: pl.DataFrame, related: pl.DataFrame, seed: int) -> pl.DataFrame:
    if pattern.kind == "difference":
        first, second = (candidates.filter(pl.col("name") == name) for name in pattern.values)
        pairs = first.join(second.select("role", later="attribute"), on="role")
        return _row(
            pairs,
            roles=["role"],
            entities=["a"],
            articles=["article"],
            attributes=["attribute", "later"],
            relations=["role_template", "name"],
        )
    if pattern.kind == "is":
        candidates = _with_other(candidates, rows, related, seed)
    if pattern.kind in {"less", "more"}:
        candidates = _with_near(candidates, rows, seed)
    return _row(
        candidates, roles=["role"], entities=["a"], articles=["article"], attributes=["attribute"], relations=["role_template", "name"],
        other="other" if pattern.kind in {"is", "less", "more"} else None,
    )  # fmt: skip


def _over_group(pattern: PatternSettings, groups: pl.DataFrame, rows: pl.DataFrame, related: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Groups whose members all have the attribute."""
    key = ["passage", "subject", "group", "name"]
    whole = groups.filter((pl.len().over(key) == pl.col("size")) & (pl.col("a").n_unique().over(key) == pl.col("size")))
    if pattern.kind == "count" and not pattern.values:
        # The value of one member is named, and no other member's may include it or be part of it.
        pairs = whole.select(*key, "answer_entity").join(whole.select(*key, other="answer_entity"), on=key)
        clash = pairs.join(related, left_on=["answer_entity", "other"], right_on=["entity", "other"], how="semi").select(key).unique()
        whole = whole.join(clash, on=key, how="anti", maintain_order="left")
    if pattern.kind == "count" and pattern.values:
        # The value that the question names is that of a member, but not the least, of which nothing is before.
        whole = whole.with_columns(first=pl.col("number") == pl.col("number").min().over(key))
    else:
        whole = whole.with_columns(first=pl.lit(value=False))
    shuffled = whole.with_columns(no_role=pl.lit(-1, pl.Int32), order=pl.Series(_draws(whole.select(*key, "a"), "member", seed)))
    lists = shuffled.group_by(key, maintain_order=True).agg(
        roles=pl.col("no_role"), entities=pl.col("a"), articles=pl.col("article"),
        attributes=pl.col("attribute"), other=pl.col("attribute").sort_by("first", "order").first(), size=pl.len(),
    )  # fmt: skip
    names_value = pattern.kind in {"count", "every"}
    lists = lists.filter(pl.col("size") >= (3 if pattern.kind == "count" else 2))
    comparison = pl.col("other") if names_value else pl.lit(-1, pl.Int32)
    return lists.select(
        "passage",
        "subject",
        "group",
        "roles",
        "entities",
        "articles",
        "attributes",
        other=comparison,
        relations=pl.concat_list("group", "name"),
    )


def _with_other(candidates: pl.DataFrame, rows: pl.DataFrame, related: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Adds ``other``: for half the rows, at random, their own attribute, else one with another entity of the same relation."""
    pool = rows.filter(pl.col("kind") == ENTITY).unique(["name", "answer_entity"], keep="first", maintain_order=True)
    pool = pool.select("name", other="attribute", other_entity="answer_entity").with_columns(place=pl.int_range(pl.len()).over("name"))
    sizes = pool.group_by("name").agg(size=pl.len())
    draws = _draws(candidates.select("passage", "a", "name"), "another answer", seed)
    candidates = candidates.with_columns(bits=pl.Series(draws)).join(sizes, on="name", maintain_order="left")
    candidates = candidates.with_columns(place=((pl.col("bits") // 2) % pl.col("size").cast(pl.UInt64)).cast(pl.Int64))
    true = candidates.filter(pl.col("bits") % 2 == 0).with_columns(other="attribute")
    false = candidates.filter(pl.col("bits") % 2 == 1).join(pool, on=["name", "place"], maintain_order="left")
    false = _unrelated(false.filter(pl.col("other_entity") != pl.col("answer_entity")), "answer_entity", "other_entity", related)
    return pl.concat([true, false.select(true.columns)])


def _with_near(candidates: pl.DataFrame, rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Adds ``other``: the attribute of another entity in the same relation whose value is one of the nearest."""
    pool = rows.filter(pl.col("name").is_in(candidates["name"].unique().implode())).sort("name", "number", "attribute")
    pool = pool.with_columns(place=pl.int_range(pl.len()).over("name"), size=pl.len().over("name"))
    candidates = candidates.join(pool.select("attribute", "place", "size"), on="attribute", maintain_order="left")
    near = (pl.col("size") // NEAR).clip(lower_bound=1).cast(pl.Int64)
    draws = pl.Series(_draws(candidates.select("passage", "a", "name"), "a near value", seed) >> np.uint64(8)).cast(pl.Int64)
    step = draws % (2 * near) - near
    step = pl.when(step >= 0).then(step + 1).otherwise(step)
    candidates = candidates.with_columns(place=(pl.col("place") + step).clip(lower_bound=0, upper_bound=pl.col("size").cast(pl.Int64) - 1))
    candidates = candidates.join(pool.select("name", "place", other="attribute", near="base"), on=["name", "place"], maintain_order="left")
    # A city has no billion inhabitants, as everybody knows.
    is_near = pl.col("base").is_null() | (pl.max_horizontal("base", "near") <= RATIO * pl.min_horizontal("base", "near"))
    return candidates.filter(is_near & (pl.col("other") != pl.col("attribute")))


def _unrelated(pairs: pl.DataFrame, first: str, second: str, related: pl.DataFrame) -> pl.DataFrame:
    """The pairs that no fact joins: a place is in its country, so that neither is wrong."""
    return pairs.join(related, left_on=[first, second], right_on=["entity", "other"], how="anti", maintain_order="left")


def _row(
    candidates: pl.DataFrame, *, roles: list[str | pl.Expr], entities: list[str], articles: list[str], attributes: list[str],
    relations: list[str], other: str | None = None,
) -> pl.DataFrame:  # fmt: skip
    return candidates.select(
        "passage", "subject", group=pl.lit(None, pl.String), roles=pl.concat_list(roles), entities=pl.concat_list(entities),
        articles=pl.concat_list(articles), attributes=pl.concat_list(attributes), other=pl.col(other) if other else pl.lit(-1, pl.Int32),
        relations=pl.concat_list(relations),
    )  # fmt: skip


def _draws(keys: pl.DataFrame, purpose: str, seed: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    texts = arrow(keys.select(key=pl.concat_str(pl.all(), separator="\0")))["key"]
    return shuffling(text_hashes(texts), np.zeros(len(texts), np.int64), purpose=purpose, seed=seed)


def _limited(candidates: pl.DataFrame, pattern: PatternSettings, settings: IircSettings, seed: int) -> pl.DataFrame:
    """A random sample that is large enough for all later limits."""
    key = candidates.select(
        "pattern",
        "passage",
        pl.col("entities").list.join("\0"),
        pl.col("relations").list.join("\0"),
        pl.col("roles").cast(pl.List(pl.String)).list.join(" "),
    )
    draws = _draws(key, "candidates", seed)
    candidates = candidates.with_columns(draw=pl.Series(draws)).sort("draw", "passage")
    share = min(settings.max_pattern, pattern.share)
    most, alike = (ceil(POOL * part * settings.size) for part in (share, min(share, settings.max_relations)))
    place = pl.int_range(pl.len()).over(pl.col("relations").list.join("\0"))
    return candidates.filter(place < max(alike, 20)).head(max(most, 20)).select(COLUMNS)


def related_entities(facts: pa.Table) -> pl.DataFrame:
    """``entity, other``: the ends of each fact, in both orders."""
    ends = pl.from_arrow(facts.select(["head", "tail"]))
    assert isinstance(ends, pl.DataFrame)
    return pl.concat([ends.select(entity="head", other="tail"), ends.select(entity="tail", other="head")]).unique()
