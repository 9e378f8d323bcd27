"""The stages of the recipe: the preparation, the values, and the questions.

Raise a stage's ``version`` whenever its output changes for the same input: workspaces then redo it, and the changelog says so under "Data".
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.errors import EmptyResult
from kgqa.recipes.preparation import preparation
from kgqa.recipes.strategyqa.choosing import choose
from kgqa.recipes.strategyqa.pairs import PAIRS, chain_pairs, same_pairs, value_pairs
from kgqa.recipes.strategyqa.patterns import patterns_of
from kgqa.recipes.strategyqa.sides import STAGE, Terms, fact_side, named_in_leads, span_side, terms_of, value_sides
from kgqa.recipes.values.language import language_of
from kgqa.recipes.values.stage import values_stage
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow, reasons_of
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.settings.strategyqa import PatternSettings, StrategyqaSettings
from kgqa.sources.tables import arrow, frame

OTHERS = "kgqa generate without --recipe, and kgqa compose, need facts alone"


def ask_questions(run: Run) -> StageOutput:
    """values, facts → questions."""
    settings = settings_of(run)
    tables = run.tables("entities", "facts", "documents", "mentions", "links", "values")
    patterns = patterns_of(settings, run.domain.settings.linking.language)
    run.progress.start("Asking questions", len(patterns), "patterns")
    rows: list[FunnelRow] = []
    factors = language_of(settings.values, run.domain.settings.linking.language).factors
    values = value_sides(tables, factors, rows)
    leads = named_in_leads(tables)
    about_facts = {
        name: [fact_side(tables, relations, leads) for relations in (pattern.a, pattern.b) if relations]
        for name, pattern in patterns.items() if pattern.test in {"same", "chain"}
    }  # fmt: skip
    used = [side["entity"] for side in (*values.values(), *(side for sides in about_facts.values() for side in sides)) if side.height]
    if not used:
        raise EmptyResult(
            f"no article states a date, a quantity, or a fact that a pattern asks about, so the recipe strategyqa has nothing to compare; "
            f"import values, or add patterns under [strategyqa.values.relations] or [strategyqa.patterns]; {OTHERS}."
        )
    terms = terms_of(tables, pl.concat(used).unique(), settings, seed=run.seed, rows=rows)
    parts = []
    for name, pattern in patterns.items():
        seed = int(text_hashes(pa.array([name]), seed=run.seed)[0])
        random = np.random.default_rng(seed)
        pairs = _pairs(pattern, terms, values, about_facts.get(name, []), tables, random)
        parts.append(pairs.with_columns(pattern=pl.lit(name)))
        run.progress.advance(1)
    candidates = pl.concat(parts) if parts else pl.DataFrame(schema={**PAIRS, "pattern": pl.String})
    candidates = candidates.filter((pl.col("a_document") != pl.col("b_document")) | (pl.col("a_paragraph") != pl.col("b_paragraph")))
    rows.append(FunnelRow(stage=STAGE, what="questions", reason="two entities suit a pattern", removed=None, left=candidates.height))
    questions = choose(candidates, settings, limit=run.limit, seed=run.seed, rows=rows)
    if not questions.height:
        raise EmptyResult(
            f"no two entities suit a pattern: {reasons_of(rows)}; give more articles with dates and quantities, or change [strategyqa]; "
            f"{OTHERS}."
        )
    names = frame(tables["entities"]).select("description", entity="id", label="label")
    names = names.join(terms.table.select("entity", "name"), on="entity", how="left").with_columns(name=pl.coalesce("name", "label"))
    for side in ("a", "b"):
        more = [pl.col("description")] if side == "a" else []
        questions = questions.join(
            names.select(pl.col("entity").alias(side), pl.col("name").alias(f"{side}_name"), *more),
            on=side,
            how="left",
            maintain_order="left",
        )
    questions = questions.sort("split", "draw", "id").select(
        "id",
        "pattern",
        "split",
        "yes",
        "draw",
        "a",
        "b",
        "a_name",
        "b_name",
        "description",
        *(name for name in PAIRS if name not in {"a", "b", "yes", "split"}),
    )
    note = f"{questions.height:,} questions of {questions['pattern'].n_unique()} patterns"
    return StageOutput(tables={"questions": arrow(questions)}, funnel=rows, report={"questions": questions.height}, note=note)


def _pairs(
    pattern: PatternSettings, terms: Terms, values: Mapping[str, pl.DataFrame], facts: list[pl.DataFrame], tables: Mapping[str, pa.Table],
    random: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    split = terms.table.select("entity", "split")
    kinds = [terms.of_kind(pattern.a_kind), terms.of_kind(pattern.b_kind)]

    def side(table: pl.DataFrame, kind: pl.DataFrame) -> pl.DataFrame:
        return table.join(split, on="entity").join(kind, on="entity", how="semi").sort("entity")

    labels = frame(tables["entities"]).select(entity="id", name="label")
    if pattern.test == "same":
        return same_pairs(side(facts[0], kinds[0]), labels, pattern, random)
    if pattern.test == "chain":
        every = frame(tables["facts"]).filter(pl.col("relation").is_in(list(pattern.b))).select("head", "tail").unique()
        return chain_pairs(side(facts[0], kinds[0]), side(facts[1], terms.of_kind(())), every, labels, pattern, random)
    first = span_side(values, pattern) if pattern.test == "within" else values.get(pattern.a[0])
    second = values.get(pattern.b[0])
    if first is None or second is None or not first.height or not second.height:
        return pl.DataFrame(schema=PAIRS)
    if pattern.test != "within":
        first = first.with_columns(low="number", low_last="last", high="number", high_last="last")
    return value_pairs(pattern, side(first, kinds[0]), side(second, kinds[1]), random)


def settings_of(run: Run) -> StrategyqaSettings:
    """The recipe's settings."""
    return run.domain.settings.section(StrategyqaSettings)


def _all_entities(run: Run, tables: dict[str, pa.Table]) -> npt.NDArray[np.bool_]:
    """A mask of all entities: each can be asked about."""
    return np.ones(len(tables["entities"]), np.bool_)


def _depends_on(run: Run) -> object:
    settings = settings_of(run)
    patterns = patterns_of(settings, run.domain.settings.linking.language)
    return [
        settings.model_dump(mode="json", exclude={"values", "patterns", "english"}),
        {name: pattern.model_dump(mode="json") for name, pattern in patterns.items()}, run.seed, run.limit,
    ]  # fmt: skip


STAGES = (
    *preparation(candidates=_all_entities, depends_on=lambda _: None, edges=False),
    values_stage(lambda run: settings_of(run).values),
    Stage(name="ask_questions", version=1, doing="Asking questions", depends_on=_depends_on, run=ask_questions),
)


def asked_queries(domain: Domain, traversal: str) -> list[str]:
    """Empty: the tables are searched, not the graph."""
    return []
