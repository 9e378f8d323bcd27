"""What questions are made of: linked entities that the passage describes, groups of them, and what the linked articles say about each."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from kgqa.recipes.musique.wording import FORWARD, INVERSE
from kgqa.recipes.names.kinds import LEAD, title_kinds
from kgqa.settings.iirc import GroupSettings
from kgqa.sources.tables import frame

ENTITY, TIME, QUANTITY = "entity", "time", "quantity"
ATTRIBUTE_COLUMNS = (
    "entity", "article", "name", "kind", "hop", "start", "end", "said", "answer_entity", "time", "calendar", "number", "unit", "base",
)  # fmt: skip


def asked_hops(single_hop: pa.Table, paragraphs: pa.Table, documents: pa.Table) -> pl.DataFrame:
    """The single-hop questions about the subject of their own document: ``hop`` (row), ``document``, ``entity``, ``template`` and more."""
    rows = frame(single_hop.select(["answer", "paragraph", "start", "answer_entity", "kind", "relations", "entities"])).with_row_index(
        "hop"
    )
    ids = frame(paragraphs.select(["id"])).with_row_index("paragraph").select(pl.col("paragraph").cast(pl.Int32), document="id")
    about = frame(documents.select(["id", "about"])).select(document="id", entity="about")
    rows = rows.filter(pl.col("kind").is_in([FORWARD, INVERSE])).join(ids, on="paragraph", maintain_order="left")
    rows = rows.with_columns(
        named=pl.col("entities").list.first(), template=pl.col("relations").list.first(), hop=pl.col("hop").cast(pl.Int32)
    )
    return rows.join(about, on="document", maintain_order="left").filter(pl.col("named") == pl.col("entity"))


def roles(hops: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """``passage, subject, a, article, role, start``: a linked entity that the passage describes by the question ``role`` (row)."""
    return (
        hops.select("start", passage="document", subject="entity", a="answer_entity", role="hop", role_template="template")
        .join(links.select("passage", "article", a="entity"), on=["passage", "a"])
        .sort("passage", "role")
    )


def attributes(hops: pl.DataFrame, values: pl.DataFrame, documents: pa.Table) -> pl.DataFrame:
    """What an article says about its subject, with ``ATTRIBUTE_COLUMNS``: an entity in a relation, a date or a quantity.

    ``values``: one value for each entity and relation, as :mod:`kgqa.recipes.values` has them.
    """
    texts = frame(documents.select(["id", "about", "text"])).select("text", document="id", entity="about")
    of_facts = hops.select(
        "entity", "hop", "answer_entity", article="document", name="template", kind=pl.lit(ENTITY), start=pl.col("start").cast(pl.Int64),
        end=pl.col("start").cast(pl.Int64) + pl.col("answer").str.len_chars().cast(pl.Int64), said="answer", time=pl.lit(None, pl.String),
        calendar=pl.lit(None, pl.String), number=pl.lit(None, pl.Float64), base=pl.lit(None, pl.Float64), unit=pl.lit(None, pl.String),
    )  # fmt: skip
    own = values.rename({"text": "value"}).filter(pl.col("document").is_not_null()).join(texts, on=["document", "entity"])
    own = own.filter(pl.col("end") <= pl.col("text").str.len_chars())
    is_date = pl.col("kind") == TIME
    of_values = own.select(
        "entity", "kind", "start", "end", hop=pl.lit(None, pl.Int32), article="document", name="relation",
        said=pl.col("text").str.slice("start", pl.col("end") - pl.col("start")), answer_entity=pl.lit(None, pl.String),
        time=pl.when(is_date).then("value"), calendar="calendar", number="number", unit="unit", base="base",
    )  # fmt: skip
    return pl.concat([part.select(ATTRIBUTE_COLUMNS) for part in (of_facts, of_values)]).sort("entity", "name", "article", "start")


def members(
    stated: pa.Table, passages: pl.DataFrame, links: pl.DataFrame, kinds: pl.DataFrame, groups: Mapping[str, GroupSettings], *, most: int
) -> pl.DataFrame:
    """``passage, subject, group, size, a, article, start``: what the passage names in a relation, or of a kind, in the order of the links.

    Only whole groups of two to ``most``: each named member has an article. ``kinds``: ``article, kind``.
    """
    of = pl.DataFrame(
        [(template, name) for name, group in groups.items() for template in group.templates],
        schema={"template": pl.String, "group": pl.String}, orient="row",
    )  # fmt: skip
    of_kind = pl.DataFrame(
        [(kind, name) for name, group in groups.items() for kind in group.kinds], schema={"kind": pl.String, "group": pl.String}, orient="row"
    )
    related = frame(stated).rename({"paragraph": "passage", "head": "subject", "tail": "a"}).join(of, on="template")
    related = related.join(passages, on=["passage", "subject"], how="semi").select("passage", "subject", "group", "a")
    alike = links.join(kinds, on="article").join(of_kind, on="kind").join(passages, on="passage")
    rows = pl.concat([related, alike.select("passage", "subject", "group", a="entity")]).filter(pl.col("a") != pl.col("subject")).unique()
    rows = rows.with_columns(size=pl.len().over("passage", "group")).filter(pl.col("size").is_between(2, most))
    linked = rows.join(links.select("passage", "article", "start", a="entity"), on=["passage", "a"])
    whole = linked.filter(pl.len().over("passage", "group") == pl.col("size"))
    return whole.sort("passage", "group", "start", "a")


def kinds_of(links: pl.DataFrame, documents: pa.Table, groups: Mapping[str, GroupSettings]) -> pl.DataFrame:
    """``article, kind``: the class of what each linked article is about, where it is that of a group."""
    wanted = {kind for group in groups.values() for kind in group.kinds}
    some = frame(documents.select(["id", "title", "text"])).filter(pl.col("id").is_in(links["article"].unique().implode()))
    some = some.select("id", "title", pl.col("text").str.slice(0, LEAD)) if wanted else some.clear()
    classes = [next((kind[0] for kind in title_kinds(title, text)), "") for title, text in zip(some["title"], some["text"], strict=True)]
    table = some.select(article="id", kind=pl.Series(classes, dtype=pl.String))
    return table.filter(pl.col("kind").is_in(sorted(wanted)))
