"""The stage ``mine_rules``: rules about paths, single edges and texts, mined from the training facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.rows import Adjacency, IntArray, Rows, row_bounds
from kgqa.recipes.qangaroo.corpus import row_numbers
from kgqa.recipes.qangaroo.hops import TextHops, text_hops
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.rules.implied import ImpliedRelations, mine_implied
from kgqa.rules.paths import PathRules, mine_paths
from kgqa.rules.roles import TEXT_ROLES, Pairs, RoleGraph, role_graph
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.traversal.projection import graph_from_edges

MINED = ("text_hops", "path_rules", "implied", "role_measures")
"""Names of the tables that the stage writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triples:
    """Facts as rows of the entity and relation tables."""

    head: IntArray
    relation: IntArray
    tail: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """The results of the stage."""

    hops: TextHops
    rules: PathRules
    implied: ImpliedRelations
    forwards: npt.NDArray[np.float64]
    """Functionality of each role; ``backwards`` is its inverse functionality."""
    backwards: npt.NDArray[np.float64]


def mine_rules(run: Run) -> StageOutput:
    """Facts, edges and mentions → text_hops, path_rules, implied, role_measures."""
    settings = run.section(QangarooSettings)
    tables = run.tables("entities", "relations", "facts", "documents", "mentions", "edges", coded=True)
    if settings.queries == "pairs" or (not settings.evidence.use and settings.queries == "relations"):
        return StageOutput(tables=_tables(_no_rules(tables)), note="evidence is turned off")
    run.progress.start("Mining rules", 3, "steps")
    hops = text_hops(graph_from_edges(tables["edges"], tables["entities"], tables["documents"]), tables)
    run.progress.advance(1)
    training = training_facts(tables, Questions.from_table(run.table("questions")))
    if settings.queries == "paths":
        train = training_graph(tables, training)
        forwards, backwards = train.functionality()
        implications = mine_implied(train, training.head, training.relation, training.tail)
        result = replace(_no_rules(tables), hops=hops, implied=implications, forwards=forwards, backwards=backwards)
        run.progress.advance(2)
        return StageOutput(tables=_tables(result), note="no rules for queries about paths")
    pairs, grades = hops.best()
    graph = _graph(tables, training, texts=pairs, grades=grades)
    rules = mine_paths(
        graph, training.head, training.relation, training.tail, min_support=settings.evidence.min_support,
        min_confidence=settings.evidence.min_confidence, engine=run.engine,
    )  # fmt: skip
    run.progress.advance(1)
    implications = mine_implied(graph, training.head, training.relation, training.tail)
    run.progress.advance(1)
    row = FunnelRow(stage="mine", what="path rules", reason="mined from the training facts", left=len(rules))
    forwards, backwards = graph.functionality()
    result = Mined(hops=hops, rules=rules, implied=implications, forwards=forwards, backwards=backwards)
    return StageOutput(tables=_tables(result), funnel=[row], report={"rules": len(rules)}, note=f"{len(rules):,} path rules")


def training_facts(tables: Mapping[str, pa.Table], questions: Questions) -> Triples:
    """The facts for mining: the training questions, and all facts of relations without questions, the symmetric ones in both directions."""
    facts = all_facts(tables)
    is_queried = np.zeros(tables["relations"].num_rows, np.bool_)
    is_queried[questions.relation] = True
    train, outside = questions.split == 0, ~is_queried[facts.relation]
    other_facts = pl.DataFrame({"head": facts.head, "relation": facts.relation, "tail": facts.tail}).filter(outside)
    inverse_facts = other_facts.filter(_symmetric(tables)[other_facts["relation"].to_numpy()]).select(
        head="tail", relation="relation", tail="head"
    )
    other_facts = pl.concat([other_facts, inverse_facts]).unique(
        maintain_order=True
    )  # a table may have a symmetric fact in both directions itself
    return Triples(
        head=np.concatenate([questions.head[train], other_facts["head"]]),
        relation=np.concatenate([questions.relation[train], other_facts["relation"]]),
        tail=np.concatenate([questions.answer[train], other_facts["tail"]]),
    )


def all_facts(tables: Mapping[str, pa.Table]) -> Triples:
    """The facts table as rows."""
    facts, entities = tables["facts"], tables["entities"]["id"]
    return Triples(
        head=row_numbers(facts["head"], entities),
        relation=row_numbers(facts["relation"], tables["relations"]["id"]),
        tail=row_numbers(facts["tail"], entities),
    )


def fact_graph(tables: Mapping[str, pa.Table]) -> RoleGraph:
    """All facts, of every split, as edges with roles: those that a text may state on a hop."""
    no_rows = np.zeros(0, np.int32)
    return _graph(tables, all_facts(tables), texts=(no_rows, no_rows), grades=no_rows)


def training_graph(tables: Mapping[str, pa.Table], triples: Triples) -> RoleGraph:
    """The ``triples`` as edges with roles, without texts."""
    no_rows = np.zeros(0, np.int32)
    return _graph(tables, triples, texts=(no_rows, no_rows), grades=no_rows)


def _graph(tables: Mapping[str, pa.Table], triples: Triples, *, texts: Pairs, grades: IntArray) -> RoleGraph:
    symmetric, entities = _symmetric(tables), tables["entities"].num_rows
    return role_graph(triples.head, triples.relation, triples.tail, symmetric=symmetric, texts=texts, grades=grades, entities=entities)


def _symmetric(tables: Mapping[str, pa.Table]) -> npt.NDArray[np.bool_]:
    return tables["relations"]["symmetric"].combine_chunks().to_numpy(zero_copy_only=False)


def read_mined(tables: Mapping[str, pa.Table]) -> Mined:
    """The results of :func:`mine_rules`, from its tables, ``relations`` and ``documents``."""
    rules = {name: _column(tables["path_rules"], name) for name in (field.name for field in fields(PathRules))}
    hops = tables["text_hops"]
    implications = {name: _column(tables["implied"], name) for name in ("role", "relation", "support", "typed")}
    roles = row_bounds(implications["role"], 2 * tables["relations"].num_rows + len(TEXT_ROLES))
    return Mined(
        hops=TextHops(
            offsets=row_bounds(_column(hops, "document"), tables["documents"].num_rows),
            before=_column(hops, "before"), after=_column(hops, "after"), grades=_column(hops, "grade"),
        ),
        rules=PathRules(**rules),
        implied=ImpliedRelations(
            relations=Adjacency(offsets=roles, targets=implications["relation"]),
            support=implications["support"], typed=implications["typed"],
        ),
        forwards=_column(tables["role_measures"], "forwards"), backwards=_column(tables["role_measures"], "backwards"),
    )  # fmt: skip


def _tables(rules_mined: Mined) -> dict[str, pa.Table]:
    hops, implications = rules_mined.hops, rules_mined.implied
    document, roles = Rows(offsets=hops.offsets, targets=hops.before).sources(), implications.relations.sources()
    return {
        "role_measures": pa.table({"forwards": rules_mined.forwards, "backwards": rules_mined.backwards}),
        "text_hops": pa.table({"document": document, "before": hops.before, "after": hops.after, "grade": hops.grades}),
        "path_rules": pa.table({field.name: getattr(rules_mined.rules, field.name) for field in fields(PathRules)}),
        "implied": pa.table(
            {"role": roles, "relation": implications.relations.targets, "support": implications.support, "typed": implications.typed}
        ),
    }


def _no_rules(tables: Mapping[str, pa.Table]) -> Mined:
    no_rows, no_counts = np.zeros(0, np.int32), np.zeros(0, np.int64)
    roles = 2 * tables["relations"].num_rows + len(TEXT_ROLES)
    no_neighbours = Adjacency(offsets=np.zeros(roles + 1, np.int64), targets=no_rows)
    return Mined(
        hops=TextHops(offsets=np.zeros(tables["documents"].num_rows + 1, np.int64), before=no_rows, after=no_rows, grades=no_rows),
        rules=PathRules(
            first=no_rows, second=no_rows, relation=no_rows, support=no_counts, body=no_counts, typed=no_counts, head_facts=no_counts
        ),
        implied=ImpliedRelations(relations=no_neighbours, support=no_counts, typed=no_counts),
        forwards=np.zeros(roles), backwards=np.zeros(roles),
    )  # fmt: skip


def _column(table: pa.Table, name: str) -> npt.NDArray[Any]:
    return table[name].combine_chunks().to_numpy()
