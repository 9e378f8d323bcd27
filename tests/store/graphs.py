"""Small graphs of the tests' own, and queries that are asked of them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from kgqa.store.graph import with_measures
from kgqa.store.queries import Query, parse_queries

NAMES = [
    "a",
    "Ω é 🌍",
    "'\"\\",
    "",
    "x" * 5000,
    "a\tb\nc",
    "\u0301",
    "<b>'); MATCH (n) DETACH DELETE n //",
    "`",
    "$limit",
    "\uffff",
    "\U0001f600",
]


def ad_hoc(text: str, returns: str, params: str = "none", *, own: bool = False) -> Query:
    """A query of the test's own; ``own``: as if it stood in a user's file."""
    header = f"// name: t\n// purpose: t\n// params: {params}\n// returns: {returns}\n// stores: embedded, neo4j\n"
    return parse_queries(header + text, "t.cypher", own=own)[0]


def rows_of(
    *,
    entities: list[str],
    facts: Sequence[tuple[int, int]] = (),
    documents: int = 1,
    relations: Sequence[tuple[str, str]] = (),
) -> dict[str, pa.Table]:
    """Rows of a graph whose entities have these labels; document i mentions entity i, fact i has id and label of relation i."""
    relations = relations or [("r", "relation")] * len(facts)
    ids = [f"e{i}" for i in range(len(entities))]
    about = min(documents, len(ids))
    text, number = pa.string(), pa.int64()
    rows = {
        "entity": pa.table(
            {
                "id": ids,
                "row": range(len(ids)),
                "kind": ["entity"] * len(ids),
                "label": entities,
                "description": entities[::-1],
                "aliases": pa.array([[f"{name} too", f"{name} also"][: i % 3] for i, name in enumerate(entities)], pa.list_(text)),
                "common": [0] * len(ids),
            }
        ),
        "document": pa.table(
            {
                "id": [f"d{i}" for i in range(documents)],
                "row": range(documents),
                "title": [f"title {i}" for i in range(documents)],
                "text": ["\n".join(entities)] * documents,
                "usable": [True] * documents,
            }
        ),
        "fact": pa.table(
            {
                "head": pa.array([f"e{head}" for head, _ in facts], text),
                "tail": pa.array([f"e{tail}" for _, tail in facts], text),
                "row": pa.array(range(len(facts)), number),
                "relation": pa.array([name for name, _ in relations], text),
                "label": pa.array([label for _, label in relations], text),
            }
        ),
        "mentions": pa.table(
            {
                "document": [f"d{i}" for i in range(about)],
                "entity": ids[:about],
                "count": pa.array([1] * about, number),
                "start": pa.array([0] * about, number),
                "stop": pa.array([1] * about, number),
            }
        ),
        "about": pa.table({"entity": ids[:about], "document": [f"d{i}" for i in range(about)]}),
    }
    return with_measures(rows)
