"""The same traversal in other ways: plain Python, polars, DuckDB, Cypher on either store.

Each is made once from a :class:`~benchmarks.synthetic.World` and then asked for the candidates of questions. They return candidates
alone, while kgqa also brings the chain to each and the documents on it: the comparison is in their favour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from benchmarks.synthetic import RELATIONS, World
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.sources.tables import arrow
from kgqa.store.base import GraphStore
from kgqa.store.graph import graph_rows
from kgqa.store.queries import parse_queries, read_queries
from kgqa.traversal.in_database import InDatabase

DOCUMENTS = 3
"""On a chain."""
Candidates = list[list[int]]
"""Per question, ascending."""


class Traverser(Protocol):
    """One way to find candidates."""

    def candidates(self, questions: Questions) -> Candidates:
        """Those of each question."""


class PythonTraverser:
    """Breadth-first search with lists, sets and a queue, as one writes it first."""

    def __init__(self, world: World) -> None:
        """Turn the arrays into lists."""
        self.article, self.mentioned = ([part.tolist() for part in np.split(rows.targets, rows.offsets[1:-1])] for rows in (
            world.graph.documents_of, world.graph.entities_of,
        ))  # fmt: skip
        self.role = world.role.tolist()
        self.known: dict[tuple[int, int], set[int]] = {}
        facts = world.facts
        for head, relation, tail in zip(facts.head.tolist(), facts.relation.tolist(), facts.tail.tolist(), strict=True):
            self.known.setdefault((head, relation), set()).add(tail)

    def candidates(self, questions: Questions) -> Candidates:
        """Question by question."""
        asked = zip(questions.head.tolist(), questions.relation.tolist(), questions.answer.tolist(), strict=True)
        return [self._search(*question) for question in asked]

    def _search(self, head: int, relation: int, answer: int) -> list[int]:
        depth = {head: 0}
        read: set[int] = set()
        queue = deque([head])
        while queue:
            entity = queue.popleft()
            if depth[entity] == DOCUMENTS:
                break
            for document in self.article[entity]:
                if document in read:
                    continue
                read.add(document)
                for reached in self.mentioned[document]:
                    if reached not in depth:
                        depth[reached] = depth[entity] + 1
                        queue.append(reached)
        del depth[head]
        wrong = self.known[head, relation] - {answer}
        return sorted(entity for entity in depth if self.role[entity] == relation and entity not in wrong)


def frames(world: World) -> dict[str, pl.DataFrame]:
    """The world as tables of row numbers."""
    about, mentions, facts = world.graph.documents_of, world.graph.entities_of, world.facts
    return {
        "about": pl.DataFrame({"entity": about.sources(), "document": about.targets}),
        "mentions": pl.DataFrame({"document": mentions.sources(), "entity": mentions.targets}),
        "roles": pl.DataFrame({"entity": np.arange(len(world.role), dtype=np.int32), "relation": world.role}),
        "facts": pl.DataFrame({"head": facts.head, "relation": facts.relation, "entity": facts.tail}),
    }


def asked(questions: Questions) -> pl.DataFrame:
    """Questions as a table with their number."""
    table = pl.DataFrame({"head": questions.head, "relation": questions.relation, "answer": questions.answer})
    return table.with_row_index("question")


class PolarsTraverser:
    """A join per step for all questions at once, on all cores."""

    def __init__(self, world: World) -> None:
        """Keep the tables."""
        self.tables = frames(world)

    def candidates(self, questions: Questions) -> Candidates:
        """Three double joins, then what is reached is filtered."""
        tables = {name: table.lazy() for name, table in self.tables.items()}
        queries = asked(questions).lazy()
        at = queries.select("question", entity="head")
        steps = []
        for _ in range(DOCUMENTS):
            read = at.join(tables["about"], on="entity").select("question", "document").unique()
            at = read.join(tables["mentions"], on="document").select("question", "entity").unique()
            steps.append(at)
        reached = pl.concat(steps).join(queries, on="question").join(tables["roles"], on=["entity", "relation"])
        wrong = queries.join(tables["facts"], on=["head", "relation"]).filter(pl.col("entity") != pl.col("answer"))
        kept = reached.filter(pl.col("entity") != pl.col("head")).join(wrong, on=["question", "entity"], how="anti")
        return _grouped(kept.select("question", "entity").unique().sort("question", "entity").collect(), len(questions))


DUCKDB_QUERY = """
WITH step1 AS (SELECT DISTINCT q.question, m.entity FROM asked q JOIN about a ON a.entity = q.head JOIN mentions m USING (document)),
step2 AS (SELECT DISTINCT s.question, m.entity FROM step1 s JOIN about a USING (entity) JOIN mentions m USING (document)),
step3 AS (SELECT DISTINCT s.question, m.entity FROM step2 s JOIN about a USING (entity) JOIN mentions m USING (document)),
reached AS (SELECT * FROM step1 UNION SELECT * FROM step2 UNION SELECT * FROM step3)
SELECT r.question, r.entity
FROM reached r JOIN asked q ON q.question = r.question JOIN roles e ON e.entity = r.entity AND e.relation = q.relation
WHERE r.entity <> q.head
AND (r.entity = q.answer OR NOT EXISTS (FROM facts f WHERE f.head = q.head AND f.relation = q.relation AND f.entity = r.entity))
ORDER BY r.question, r.entity
"""


class DuckdbTraverser:
    """The same joins in SQL, on tables in memory, on all cores."""

    def __init__(self, world: World) -> None:
        """Copy the tables into the database."""
        self.connection = duckdb.connect()
        for name, table in frames(world).items():
            self.connection.register("given", table.to_arrow())
            self.connection.execute(f"CREATE TABLE {name} AS FROM given")
            self.connection.unregister("given")

    def candidates(self, questions: Questions) -> Candidates:
        """One statement."""
        self.connection.register("asked", asked(questions).to_arrow())
        found = pl.from_arrow(self.connection.sql(DUCKDB_QUERY).to_arrow_table())
        self.connection.unregister("asked")
        assert isinstance(found, pl.DataFrame)
        return _grouped(found, len(questions))


class CypherTraverser:
    """One parametrised query per question, through kgqa's own adapter; in the world's graph an id says the row."""

    def __init__(self, world: World, store: GraphStore) -> None:
        """Ask ``store``, which holds the :func:`world_rows`."""
        (self.query,) = parse_queries(Path(__file__).with_name("traverse.cypher").read_text("utf-8"), "traverse.cypher")
        self.store = store
        self.facts = frames(world)["facts"]

    def candidates(self, questions: Questions) -> Candidates:
        """Question by question; other true objects are left out afterwards, outside of the time of a query language."""
        rows = asked(questions)
        wrong = rows.join(self.facts, on=["head", "relation"]).filter(pl.col("entity") != pl.col("answer"))
        out = {number: set(wrong.filter(question=number)["entity"]) for number in wrong["question"].unique()}
        found = []
        for number, head, relation, _ in rows.iter_rows():
            reached = self.store.run(self.query, {"head": f"E{head}", "kind": f"role{relation}"})["entity"].to_pylist()
            found.append(sorted({int(entity[1:]) for entity in reached} - out.get(number, set())))
        return found


def in_database(world: World, store: GraphStore) -> InDatabase:
    """What ``--traversal cypher`` searches with, on the world."""
    queries = read_queries()
    candidates, chains = ([queries[f"wikihop_{kind}_{n}"] for n in range(1, DOCUMENTS + 1)] for kind in ("candidates", "chains"))
    entities = pa.table({"id": [f"E{row}" for row in range(world.graph.entities)]})
    documents = pa.table({"id": [f"D{row}" for row in range(world.graph.documents)]})
    return InDatabase(store, candidates, chains, entities=entities, documents=documents)


def world_rows(world: World) -> dict[str, pa.Table]:
    """The world as the rows of a store."""
    return graph_rows(store_tables(world))


def store_tables(world: World) -> dict[str, pa.Table]:
    """The world as the tables that the store is built from."""
    entities, documents = (pl.DataFrame({"row": np.arange(n, dtype=np.int32)}) for n in (world.graph.entities, world.graph.documents))
    id_of = {"entity": pl.format("E{}", "entity"), "document": pl.format("D{}", "document")}
    tables = frames(world)
    about = tables["about"].select(row="document", about=id_of["entity"])
    empty = pl.lit("")
    made = {
        "entities": entities.select(
            id=pl.format("E{}", "row"), kind=pl.format("role{}", pl.Series(world.role)), label=empty, description=empty
        ),
        "documents": documents.join(about, on="row", how="left", maintain_order="left").select(
            id=pl.format("D{}", "row"), title=empty, text=empty, about="about"
        ),
        "names": pl.DataFrame({"entity": [], "name": []}, schema={"entity": pl.String, "name": pl.String}),
        "mentions": pl.DataFrame(schema={"document": pl.String, "entity": pl.String, "start": pl.Int32, "end": pl.Int32}),
        "relations": pl.DataFrame({"id": [f"r{i}" for i in range(RELATIONS)], "label": [f"relation {i}" for i in range(RELATIONS)]}),
        "facts": tables["facts"].select(head=pl.format("E{}", "head"), relation=pl.format("r{}", "relation"), tail=id_of["entity"]),
        "links": tables["mentions"].select(document=id_of["document"], entity=id_of["entity"], count=pl.lit(1, pl.Int64)),
    }
    return {"unused": pa.table({"document": pa.array([], pa.string())}), **{name: arrow(table) for name, table in made.items()}}


def _grouped(found: pl.DataFrame, questions: int) -> Candidates:
    ends: Sequence[int] = np.searchsorted(found["question"].to_numpy(), np.arange(questions + 1)).tolist()
    entities = found["entity"].to_list()
    return [entities[begin:end] for begin, end in pairwise(ends)]
