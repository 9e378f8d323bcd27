"""The stages of the recipe: the preparation, the values, and the questions.

Raise a stage's ``version`` whenever its output changes for the same input: workspaces then redo it, and the changelog says so under "Data".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.errors import EmptyResult
from kgqa.recipes.strategyqa.choosing import choose
from kgqa.recipes.strategyqa.pairs import PAIRS, chain_pairs, same_pairs, value_pairs
from kgqa.recipes.strategyqa.patterns import patterns_of
from kgqa.recipes.strategyqa.sides import STAGE, evidence_of, fact_side, span_side, stated_facts, stated_values, terms_of
from kgqa.recipes.values.language import language_of
from kgqa.recipes.values.stage import stages_with_values
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.settings.strategyqa import PatternSettings, StrategyqaSettings
from kgqa.sources.tables import arrow, frame
from kgqa.splits.groups import assign_splits

NONE = pl.DataFrame()
OTHERS = "kgqa generate without --recipe, and kgqa compose, need facts alone"


def find_terms(run: Run) -> StageOutput:
    """values, facts, documents → terms, term_kinds, stated_values, stated_facts, evidence."""
    tables = run.tables("entities", "facts", "documents", "mentions", "links", "values")
    run.progress.start("Finding terms", tables["documents"].num_rows, "documents")
    rows: list[FunnelRow] = []
    factors = language_of(settings_of(run).values, run.domain.settings.linking.language).factors
    values = stated_values(tables, factors, rows)
    facts = stated_facts(tables)
    terms, kinds = terms_of(tables, pl.concat([values["entity"], facts["entity"]]).unique(), rows)
    run.progress.advance(tables["documents"].num_rows)
    evidence = evidence_of(tables["documents"], (values, facts), terms)
    output = {"terms": terms, "term_kinds": kinds, "stated_values": values, "stated_facts": facts, "evidence": evidence}
    note = f"{terms.height:,} terms, {values.height:,} values, {facts.height:,} facts"
    return StageOutput(
        tables={name: arrow(table) for name, table in output.items()}, funnel=rows, report={"terms": terms.height}, note=note
    )


def ask_questions(run: Run) -> StageOutput:
    """terms, stated_values, stated_facts → questions."""
    settings = settings_of(run)
    patterns = patterns_of(settings, run.domain.settings.linking.language)
    run.progress.start("Asking questions", len(patterns), "patterns")
    rows: list[FunnelRow] = []
    sources = Sources.of(run, settings, rows)
    parts = []
    for name, pattern in patterns.items():
        random = np.random.default_rng(int(text_hashes(pa.array([name]), seed=run.seed)[0]))
        parts.append(sources.pairs(pattern, random).with_columns(pattern=pl.lit(name)))
        run.progress.advance(1)
    candidates = pl.concat(parts) if parts else pl.DataFrame(schema={**PAIRS, "pattern": pl.String})
    candidates = candidates.filter((pl.col("a_document") != pl.col("b_document")) | (pl.col("a_paragraph") != pl.col("b_paragraph")))
    rows.append(FunnelRow(stage=STAGE, what="questions", reason="two entities suit a pattern", left=candidates.height))
    questions = choose(candidates, settings, limit=run.limit, seed=run.seed, rows=rows)
    if not questions.height:
        raise EmptyResult(
            f"{_missing(sources)}, so no two terms match a pattern of the recipe strategyqa; give articles that state them, or add "
            f"patterns under [strategyqa.values.relations] or [strategyqa.patterns]; {OTHERS}."
        )
    names = sources.names()
    for side in ("a", "b"):
        more = [pl.col("description")] if side == "a" else []
        names_of_side = names.select(pl.col("entity").alias(side), pl.col("name").alias(f"{side}_name"), *more)
        questions = questions.join(names_of_side, on=side, how="left", maintain_order="left")
    questions = questions.sort("split", "draw", "id")
    note = f"{questions.height:,} questions of {questions['pattern'].n_unique()} patterns"
    return StageOutput(tables={"questions": arrow(questions)}, funnel=rows, report={"questions": questions.height}, note=note)


def _missing(sources: Sources) -> str:
    """What the articles of the domain lack."""
    counts = (sum(side.height for side in sources.values.values()), sources.stated.height)
    wants = [f"{count or 'no'} {noun}" for count, noun in zip(counts, ("dates and quantities", "facts of the graph"), strict=True)]
    return f"the articles state {' and '.join(wants)} about terms with a name of their own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the patterns choose from."""

    terms: pl.DataFrame
    """``entity``, ``name``, ``description``, ``split``."""
    kinds: pl.DataFrame
    values: dict[str, pl.DataFrame]
    """Relation → ``entity``, ``number``, ``last``, ``answer``, ``document``, ``paragraph``, ``split``."""
    stated: pl.DataFrame
    facts: pl.DataFrame
    labels: pl.DataFrame

    @classmethod
    def of(cls, run: Run, settings: StrategyqaSettings, rows: list[FunnelRow]) -> Self:
        """The tables of a run, with the known terms alone, each in a split."""
        terms = frame(run.table("terms"))
        count = terms.height
        terms = terms.filter(pl.col("links") >= settings.min_links)
        reason = "too few documents name it to be a known one"
        rows.append(
            FunnelRow(
                stage=STAGE, what="terms", reason=reason, removed=count - terms.height, left=terms.height, setting="strategyqa.min_links"
            )
        )
        shares = (settings.splits.train, settings.splits.dev, settings.splits.test)
        split = assign_splits(terms["entity"].to_arrow().cast(pa.string()), shares, seed=run.seed)
        terms = terms.with_columns(split=pl.Series(split, dtype=pl.Int8))
        values = frame(run.table("stated_values")).join(terms.select("entity", "split"), on="entity", maintain_order="left")
        return cls(
            terms=terms,
            kinds=frame(run.table("term_kinds")),
            values={
                str(key[0]): rows_of_relation.drop("relation") for key, rows_of_relation in values.group_by("relation", maintain_order=True)
            },
            stated=frame(run.table("stated_facts")),
            facts=frame(run.table("facts")),
            labels=frame(run.table("entities", columns=["id", "label"])).rename({"id": "entity", "label": "name"}),
        )

    def names(self) -> pl.DataFrame:
        """``entity``, ``name``, ``description`` of all entities: of terms as questions name them."""
        table = self.labels.join(self.terms.select("entity", "description", term="name"), on="entity", how="left", maintain_order="left")
        return table.select("entity", "description", name=pl.coalesce("term", "name"))

    def pairs(self, pattern: PatternSettings, random: np.random.Generator) -> pl.DataFrame:
        """The pairs that suit a pattern."""
        if pattern.test == "same":
            side = self._of_kind(self._facts(pattern.a), pattern.a_kind)
            return same_pairs(side, self.labels, pattern, random)
        if pattern.test == "chain":
            every = self.facts.filter(pl.col("relation").is_in(list(pattern.b))).select("head", "tail").unique()
            first, second = self._of_kind(self._facts(pattern.a), pattern.a_kind), self._facts(pattern.b)
            return chain_pairs(first, second, every, self.labels, pattern, random)
        first = span_side(self.values, pattern) if pattern.test == "within" else self.values.get(pattern.a[0], NONE)
        second = self.values.get(pattern.b[0], NONE)
        if not first.height or not second.height:
            return pl.DataFrame(schema=PAIRS)
        if pattern.test != "within":
            first = first.with_columns(low="number", low_last="last", high="number", high_last="last")
        return value_pairs(pattern, self._of_kind(first, pattern.a_kind), self._of_kind(second, pattern.b_kind), random)

    def _facts(self, relations: Sequence[str]) -> pl.DataFrame:
        return fact_side(self.stated, self.facts, relations).join(self.terms.select("entity", "split"), on="entity", maintain_order="left")

    def _of_kind(self, side: pl.DataFrame, kinds: Sequence[str]) -> pl.DataFrame:
        if not kinds:
            return side
        return side.join(self.kinds.filter(pl.col("kind").is_in(list(kinds))), on="entity", how="semi", maintain_order="left")


def settings_of(run: Run) -> StrategyqaSettings:
    """The section ``strategyqa`` of the run's domain."""
    return run.section(StrategyqaSettings)


def _depends_on(run: Run) -> object:
    settings = settings_of(run)
    patterns = patterns_of(settings, run.domain.settings.linking.language)
    return [
        settings.model_dump(mode="json", exclude={"values", "patterns", "english"}),
        {name: pattern.model_dump(mode="json") for name, pattern in patterns.items()}, run.seed, run.limit,
    ]  # fmt: skip


STAGES = (
    *stages_with_values(lambda run: settings_of(run).values),
    Stage(
        name="find_terms",
        version=1,
        doing="Finding terms",
        run=find_terms,
        depends_on=lambda run: language_of(settings_of(run).values, run.domain.settings.linking.language).factors,
    ),
    Stage(name="ask_questions", version=1, doing="Asking questions", depends_on=_depends_on, run=ask_questions),
)


def asked_queries(domain: Domain, traversal: str) -> list[str]:
    """Empty: the tables are searched, not the graph."""
    return []
