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
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.ids import numbers
from kgqa.arrays.rows import IntArray, distinct, find, paired
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
    # Texts stay as they are in Arrow: each way through a data frame would copy all of them.
    columns = {"entities": tables["entities"], "documents": tables["documents"].drop_columns("text"), "facts": tables["facts"]}
    entities, documents, facts = (
        frame(table).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)) for table in columns.values()
    )
    text = tables["documents"]["text"]
    entities = entities.join(_aliases(frame(tables["names"]), entities), on="id", how="left", maintain_order="left")
    entities = entities.join(_common(tables, entities), on="id", how="left", maintain_order="left")
    entities = entities.with_columns(pl.col("aliases").fill_null([]), pl.col("common").fill_null(0))
    left_out = frame(tables["unused"])["document"].implode()
    facts = facts.join(frame(tables["relations"]), left_on="relation", right_on="id", maintain_order="left")
    rows = {
        "entity": arrow(entities.select("id", "row", "kind", "label", "description", "aliases", "common")),
        "document": arrow(documents.select("id", "row", "title", usable=~pl.col("id").is_in(left_out))).add_column(3, "text", text),
        "fact": arrow(facts.select("head", "tail", "row", "relation", "label")),
        "mentions": _mentions(tables),
        "about": arrow(documents.filter(pl.col("about").is_not_null()).select(entity="about", document="id")),
    }
    return with_measures(rows)


def _mentions(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The table ``mentions``. It has the place of the first mention alone: lists of all places would make a graph much larger."""
    keys, starts = _pairs(tables["mentions"], tables), tables["mentions"]["start"].to_numpy()
    # By start within a pair; mentions are usually sorted so already, which np.lexsort keeps.
    order = np.lexsort((starts, keys))
    keys = keys[order]
    is_first = np.diff(keys, prepend=-1) != 0
    # A link without a mention has the place -1 here, and null in the table.
    at = np.append(order[is_first], -1)[find(keys[is_first], _pairs(tables["links"], tables))]
    rows = pa.array(at, mask=at < 0)
    places = {name: tables["mentions"][column].take(rows).cast(pa.int64()) for name, column in (("start", "start"), ("stop", "end"))}
    return pa.table({**{name: tables["links"][name] for name in ("document", "entity", "count")}, **places})


def _pairs(table: pa.Table, tables: Mapping[str, pa.Table]) -> npt.NDArray[np.int64]:
    """The document and entity of each row, as numbers of their rows (:func:`paired`)."""
    return paired(numbers(table["document"], tables["documents"]["id"]), numbers(table["entity"], tables["entities"]["id"]))


def with_measures(rows: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """``rows`` with the derived columns ``documents``, ``facts`` and ``search``, and the table ``relation``."""
    ids, count = rows["entity"]["id"], rows["entity"].num_rows
    mentioned, head, tail = (
        numbers(rows[name][column], ids) for name, column in (("mentions", "entity"), ("fact", "head"), ("fact", "tail"))
    )
    facts = np.bincount(head, minlength=count) + np.bincount(tail, minlength=count)
    entities = frame(rows["entity"]).with_columns(documents=pl.Series(np.bincount(mentioned, minlength=count)), facts=pl.Series(facts))
    names = pl.concat_list(pl.concat_list("label"), "aliases").list.drop_nulls()
    table = arrow(entities.with_columns(search=_search(names)))
    at = table.column_names.index("aliases")
    table = table.set_column(at, "aliases", table["aliases"].cast(pa.list_(pa.string())))
    titles = frame(rows["document"].select(["title"])).select(search=_search(pl.concat_list("title").list.drop_nulls()))
    documents = rows["document"].append_column("search", arrow(titles)["search"])
    return {**rows, "entity": table, "document": documents, "relation": arrow(_relations(rows, mentioned, head, tail))}


def _relations(rows: Mapping[str, pa.Table], mentioned: IntArray, head: IntArray, tail: IntArray) -> pl.DataFrame:
    """The table ``relation``: one row for each relation and label that facts have, in the order of the first of them.

    ``mentioned``: rows of the entities of ``mentions``; ``head`` and ``tail``: those of facts.
    """
    entity_ids, document_ids = rows["entity"]["id"], rows["document"]["id"]
    is_usable = rows["document"]["usable"].combine_chunks().to_numpy(zero_copy_only=False)
    articles = pl.DataFrame(
        {"document": numbers(rows["about"]["document"], document_ids), "entity": numbers(rows["about"]["entity"], entity_ids)}
    ).filter(is_usable[numbers(rows["about"]["document"], document_ids)])
    mentions = pl.DataFrame({"document": numbers(rows["mentions"]["document"], document_ids), "tail": mentioned})
    stated = articles.join(mentions, on="document")
    keys = distinct(paired(stated["entity"].to_numpy(), stated["tail"].to_numpy()))
    facts = frame(rows["fact"].select(["row", "relation", "label"])).with_columns(
        tail=pl.Series(tail),
        without=~pl.Series(np.isin(head, articles["entity"].to_numpy())),
        is_stated=pl.Series(find(keys, paired(head, tail)) >= 0),
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


def _common(tables: Mapping[str, pa.Table], entities: pl.DataFrame) -> pl.DataFrame:
    """``id``, ``common`` (percent of mentions with a small first letter; 0 for kinds where most mentions have one, as drugs)."""
    mentions = tables["mentions"]
    codes = characters_at(
        tables["documents"]["text"], numbers(mentions["document"], tables["documents"]["id"]), mentions["start"].to_numpy()
    )
    several, number = np.unique(codes, return_inverse=True)
    letters = pl.Series([chr(code) for code in several.tolist()], dtype=pl.String)
    is_small = (letters != letters.str.to_uppercase()).to_numpy()[number]
    entity, count = numbers(mentions["entity"], tables["entities"]["id"]), tables["entities"].num_rows
    counts = (
        entities.select("id", "kind")
        .with_columns(all=pl.Series(np.bincount(entity, minlength=count)), small=pl.Series(np.bincount(entity[is_small], minlength=count)))
        .filter(pl.col("all") > 0)
    )
    mostly = 2 * pl.col("small").sum().over("kind") > pl.col("all").sum().over("kind")
    share = pl.when(mostly).then(0).otherwise(100 * pl.col("small") // pl.col("all"))
    return counts.select("id", common=share.cast(pl.Int64))


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
