"""The rows of the graph's nodes and relationships, the same for every store.

entity     ``id``, ``row``, ``kind``, ``label``, ``description``, ``aliases`` (a list: its names other than the label), ``common``
           (percent of its mentions that begin with a small letter, as those of common nouns do; 0 for all of a kind where most do),
           ``documents`` (number that mention it), ``facts`` (number with it as an end), ``search``
document   ``id``, ``row``, ``title``, ``text``, ``usable`` (false where the settings leave a document out of the traversal),
           ``search``
relation   ``row``, ``id``, ``label``, ``facts``, ``answers`` (distinct tails), ``no_article`` (facts whose head has no usable article),
           ``stated`` (facts whose head's article mentions the tail), ``search``
fact       ``head``, ``tail``, ``row``, ``relation``, ``label``
mentions   ``document``, ``entity``, ``count``, ``start``, ``stop`` (of the first mention, in characters of the text; ``stop`` is exclusive)
about      ``entity``, ``document``: the article about an entity

``row`` is the index in the sorted table. Queries order by it, because engines order numbers alike but not texts: outside the basic plane,
Neo4j compares UTF-16 units and the embedded engine UTF-8 bytes. ``search`` holds all names for look-ups, folded (:func:`folded`), each
between two line feeds. A single CONTAINS then finds names, prefixes, suffixes and parts in any case. A server's index answers it, and it
does not depend on an engine's rules for case.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.texts import characters_at
from kgqa.sources.tables import arrow, frame

SOURCES = ("entities", "names", "documents", "relations", "facts", "mentions", "links", "unused")
"""The workspace's tables that the graph is made from."""
TABLES = ("entity", "document", "relation", "fact", "mentions", "about")
"""Tables of nodes first, then those of relationships."""
GRAPH_VERSION = 5
"""Raised when the same tables give another graph."""
SEARCH_BYTES = 32_000
"""Maximum bytes of ``search``: a server's index takes texts of up to 32,766 bytes, and the names of one drug take 35,000."""


def graph_rows(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The rows of each of ``TABLES`` from the ``SOURCES``; no nulls, because the embedded engine mishandles them in Arrow input."""
    entities, documents, facts = (
        frame(tables[name]).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)) for name in ("entities", "documents", "facts")
    )
    entities = entities.join(_aliases(frame(tables["names"]), entities), on="id", how="left", maintain_order="left")
    entities = entities.join(_common(frame(tables["mentions"]), documents, entities), on="id", how="left", maintain_order="left")
    entities = entities.with_columns(pl.col("aliases").fill_null([]), pl.col("common").fill_null(0))
    left_out = frame(tables["unused"])["document"].implode()
    facts = facts.join(frame(tables["relations"]), left_on="relation", right_on="id", maintain_order="left")
    rows = {
        "entity": arrow(entities.select("id", "row", "kind", "label", "description", "aliases", "common")),
        "document": arrow(documents.select("id", "row", "title", "text", usable=~pl.col("id").is_in(left_out))),
        "fact": arrow(facts.select("head", "tail", "row", "relation", "label")),
        "mentions": _mentions(tables),
        "about": arrow(documents.filter(pl.col("about").is_not_null()).select(entity="about", document="id")),
    }
    return with_measures(rows)


def _mentions(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The table ``mentions``. It has the place of the first mention alone: lists of all places would make a graph much larger."""
    places = frame(tables["mentions"]).group_by("document", "entity").agg(pl.col("start", "end").sort_by("start").first())
    links = frame(tables["links"]).join(places, on=("document", "entity"), how="left", maintain_order="left")
    return arrow(links.select("document", "entity", "count", start=pl.col("start").cast(pl.Int64), stop=pl.col("end").cast(pl.Int64)))


def with_measures(rows: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """``rows`` with the derived columns ``documents``, ``facts`` and ``search``, and the table ``relation``."""
    mentions, facts = frame(rows["mentions"]), frame(rows["fact"])
    ends = pl.concat([facts.select(id="head"), facts.select(id="tail")])
    entities = frame(rows["entity"])
    for name, entity_rows in (("documents", mentions.select(id="entity")), ("facts", ends)):
        counts = entity_rows.group_by("id").agg(pl.len().cast(pl.Int64).alias(name))
        entities = entities.join(counts, on="id", how="left", maintain_order="left").with_columns(pl.col(name).fill_null(0))
    names = pl.concat_list(pl.concat_list("label"), "aliases").list.drop_nulls()
    table = arrow(entities.with_columns(search=_search(names)))
    at = table.column_names.index("aliases")
    table = table.set_column(at, "aliases", table["aliases"].cast(pa.list_(pa.string())))
    documents = frame(rows["document"]).with_columns(search=_search(pl.concat_list("title").list.drop_nulls()))
    return {**rows, "entity": table, "document": arrow(documents), "relation": arrow(_relations(rows))}


def _relations(rows: Mapping[str, pa.Table]) -> pl.DataFrame:
    """The table ``relation``: one row for each relation and label that facts have, in the order of the first of them."""
    usable = frame(rows["about"]).join(frame(rows["document"]).filter("usable").select(document="id"), on="document")
    stated_pairs = usable.join(frame(rows["mentions"]).select("document", tail="entity"), on="document")
    facts = frame(rows["fact"]).with_columns(
        without=~pl.col("head").is_in(usable["entity"].implode()),
        is_stated=pl.struct("head", "tail").is_in(stated_pairs.select(pl.struct(head="entity", tail="tail")).to_series().implode()),
    )
    relations = facts.group_by(id="relation", label="label").agg(
        first=pl.col("row").min(),
        facts=pl.len().cast(pl.Int64),
        answers=pl.col("tail").n_unique().cast(pl.Int64),
        no_article=pl.col("without").sum().cast(pl.Int64),
        stated=pl.col("is_stated").sum().cast(pl.Int64),
    )
    search = _search(pl.concat_list("label").list.drop_nulls())
    return relations.sort("first").drop("first").select(pl.int_range(pl.len()).alias("row"), pl.all(), search=search)


def _aliases(names: pl.DataFrame, entities: pl.DataFrame) -> pl.DataFrame:
    """``id``, ``aliases``: the names of entities other than their labels."""
    other_names = names.join(entities.select(entity="id", label="label"), on="entity").filter(pl.col("name") != pl.col("label"))
    return other_names.group_by(id="entity").agg(aliases=pl.col("name").unique().sort())


def _common(mentions: pl.DataFrame, documents: pl.DataFrame, entities: pl.DataFrame) -> pl.DataFrame:
    """``id``, ``common`` (percent of mentions with a small first letter; 0 for kinds where most mentions have one, as drugs)."""
    rows = mentions.select("document").join(documents.select("row", document="id"), on="document", how="left", maintain_order="left")["row"]
    codes = characters_at(arrow(documents.select("text"))["text"], rows.to_numpy(), mentions["start"].to_numpy())
    several, number = np.unique(codes, return_inverse=True)
    letters = pl.Series([chr(code) for code in several.tolist()], dtype=pl.String)
    first = mentions.select(id="entity", small=(letters != letters.str.to_uppercase()).gather(number))
    counts = first.group_by("id").agg(pl.len().cast(pl.Int64).alias("all"), pl.col("small").sum().cast(pl.Int64))
    mostly = 2 * pl.col("small").sum().over("kind") > pl.col("all").sum().over("kind")
    share = pl.when(mostly).then(0).otherwise(100 * pl.col("small") // pl.col("all"))
    return counts.join(entities.select("id", "kind"), on="id").select("id", common=share.cast(pl.Int64))


def folded(text: str) -> str:
    """``text`` as ``search`` has it: in small letters, a final sigma as any other, a dotted capital I as i, line feeds as spaces."""
    return str(pl.DataFrame({"text": [text]}).select(_folded(pl.col("text"))).item())


def _search(names: pl.Expr) -> pl.Expr:
    """Names that would go beyond ``SEARCH_BYTES`` are left out, the last ones first, and found by the entity's other names alone."""
    all_names = pl.concat_str(pl.lit("\n"), names.list.eval(_folded(pl.element())).list.join("\n"), pl.lit("\n"))
    # A character takes at most four bytes. A name cut at the end is dropped.
    truncated = all_names.str.slice(0, SEARCH_BYTES // 4).str.replace(r"[^\n]*$", "")
    return pl.when(all_names.str.len_bytes() > SEARCH_BYTES).then(truncated).otherwise(all_names)


def _folded(text: pl.Expr) -> pl.Expr:
    small = text.str.replace_all("İ", "i", literal=True).str.to_lowercase()
    return small.str.replace_all("ς", "σ", literal=True).str.replace_all("\n", " ", literal=True)
