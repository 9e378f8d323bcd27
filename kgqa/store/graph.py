"""The rows of the graph's nodes and relationships, the same for every store.

entity     ``id``, ``row``, ``kind``, ``label``, ``description``
document   ``id``, ``row``, ``title``, ``text``, ``usable`` (false where the settings leave a document out of the traversal)
fact       ``head``, ``tail``, ``row``, ``relation``, ``label``
mentions   ``document``, ``entity``, ``count``
about      ``entity``, ``document``: the article about an entity

``row`` is the place in the sorted table. Queries order by it: engines do not agree on the order of text (beyond the basic plane Neo4j
compares UTF-16 units, the embedded engine UTF-8 bytes), but they do on numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from kgqa.sources.tables import arrow, frame

SOURCES = ("entities", "documents", "relations", "facts", "links", "unused")
"""The workspace's tables that the graph is made from."""
TABLES = ("entity", "document", "fact", "mentions", "about")
"""Nodes first, then what connects them."""


def graph_rows(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The rows of each of ``TABLES`` from the ``SOURCES``; no nulls, because the embedded engine mishandles them in Arrow input."""
    entities, documents, facts = (
        frame(tables[name]).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)) for name in ("entities", "documents", "facts")
    )
    left_out = frame(tables["unused"])["document"].implode()
    facts = facts.join(frame(tables["relations"]), left_on="relation", right_on="id", maintain_order="left")
    return {
        "entity": arrow(entities.select("id", "row", "kind", "label", "description")),
        "document": arrow(documents.select("id", "row", "title", "text", usable=~pl.col("id").is_in(left_out))),
        "fact": arrow(facts.select("head", "tail", "row", "relation", "label")),
        "mentions": tables["links"].select(["document", "entity", "count"]),
        "about": arrow(documents.filter(pl.col("about").is_not_null()).select(entity="about", document="id")),
    }
