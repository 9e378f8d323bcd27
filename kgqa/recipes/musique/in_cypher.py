"""Steps S2 and S4 (Trivedi et al. 2022) in a graph store: pairs and shapes as Cypher patterns (``cypher/compose.cypher``).

The results equal those of the kernels (``pairs.py``, ``shapes.py``), so a dataset does not depend on the search method or the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.recipes.musique.heads_and_tails import Sides
from kgqa.recipes.musique.pairs import most_tokens
from kgqa.recipes.musique.question_graph import composed_rows, question_rows
from kgqa.recipes.musique.shapes import EDGES, HOPS, Rows4
from kgqa.runs.stage import Run
from kgqa.settings.musique import SHAPES, MusiqueSettings, PairSettings, ShapeSettings
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.sources.tables import frame
from kgqa.store import embedded
from kgqa.store.base import GraphStore
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.questions import put_questions
from kgqa.store.queries import read_queries
from kgqa.store.questions import QUESTION_TABLES

CHAINS_OF = {
    "2hop": "chains_2hop",
    "3hop1": "chains_3hop1",
    "3hop2": "chains_3hop2",
    "4hop1": "chains_4hop1",
    "4hop2": "chains_4hop2",
    "4hop3": "chains_4hop3",
}
"""Shape → the query that finds it."""
ASKED = ("composable_pairs", *CHAINS_OF.values())


def asked_texts() -> list[str]:
    """The texts of all queries, because the result depends on them."""
    queries = read_queries()
    return [queries[name].text for name in ASKED]


class InStore:
    """The queries that a run sends to its store in place of the kernels."""

    def __init__(self, run: Run) -> None:
        """Store the run; nothing is written before the first query."""
        self.run, self.settings = run, run.section(MusiqueSettings)

    def pairs(self, sides: Sides) -> pl.DataFrame:
        """The pairs, as :func:`kgqa.recipes.musique.pairs.composable_pairs` expects them."""
        with self._holding(question_rows(sides)) as store:
            return pairs_in(store, self.settings.pairs, self.settings.shapes)

    def chains(self, pairs: pa.Table, edges: npt.NDArray[np.int32]) -> Rows4:
        """The chains, as :func:`kgqa.recipes.musique.shapes.build_chains` expects them."""
        tables, settings = self.run.tables("single_hop", "paragraphs"), self.settings
        sides = Sides.of(tables["single_hop"], tables["paragraphs"], settings.pairs, settings.shapes, seed=self.run.seed)
        with self._holding({**question_rows(sides), "composes": composed_rows(pairs, edges)}) as store:
            return chains_in(store, settings.shapes)

    @contextmanager
    def _holding(self, rows: Mapping[str, pa.Table]) -> Iterator[GraphStore]:
        """The run's store with exactly these rows; the embedded store is a file of the workspace, separate from the graph."""
        run, advance = self.run, self.run.progress.advance
        run.progress.start("Loading questions", sum(table.num_rows for table in rows.values()), "rows")
        if run.store == "neo4j":
            with Neo4jStore(run.neo4j or Neo4jSettings.from_environment()) as server:
                put_questions(server, rows_hash(rows), rows, advance=advance)
                run.progress.start("Querying Neo4j")
                yield server
            return
        path = run.workspace.questions
        make = partial(embedded.build, rows=rows, tables=QUESTION_TABLES, threads=run.workers, advance=advance)
        run.workspace.replace(path, make)
        run.progress.start("Querying the store")
        with embedded.EmbeddedStore(path, threads=run.workers) as store:
            yield store


def rows_hash(rows: Mapping[str, pa.Table]) -> str:
    """SHA-256 of the rows, which identifies the questions on a server."""
    digest = hashlib.sha256()
    for name in QUESTION_TABLES:
        with pa.ipc.new_stream(sink := pa.BufferOutputStream(), rows[name].schema) as writer:
            writer.write_table(rows[name].combine_chunks())
        digest.update(f"{name} ".encode())
        digest.update(sink.getvalue())
    return digest.hexdigest()


def pairs_in(store: GraphStore, settings: PairSettings, lengths: ShapeSettings) -> pl.DataFrame:
    """``head``, ``tail``, ``bridge``, ``start``, ``end`` and ``fault`` of all pairs that the store knows."""
    limits = {"max_heads": settings.max_heads, "max_tails": settings.max_tails}
    limits |= {"max_tokens": lengths.max_tokens, "max_both": most_tokens(lengths)}
    table = frame(store.run(read_queries()["composable_pairs"], limits)).rename({"stop": "end"})
    return table.with_columns(pl.selectors.numeric().cast(pl.Int32))


def chains_in(store: GraphStore, lengths: ShapeSettings) -> Rows4:
    """Shape and edges of all chains that the store knows."""
    queries, parts = read_queries(), []
    for number, name in enumerate(SHAPES):
        most = lengths.max_tokens_short if HOPS[name] < 4 else lengths.max_tokens_long
        result = store.run(queries[CHAINS_OF[name]], {"max_tokens": most})
        rows = np.full((len(result), 4), -1, np.int32)
        rows[:, 0] = number
        for place in range(1, len(EDGES[name]) + 1):
            rows[:, place] = result[f"edge_{place}"].to_numpy()
        parts.append(rows)
    return np.concatenate(parts)
