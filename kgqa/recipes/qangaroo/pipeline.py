"""The stages of the recipe of WikiHop and MedHop: each reads tables, writes tables, and reports what it dropped.

A stage is a function of the tables before it, its part of the settings, and the seed. Raise its ``version`` whenever its output changes for
the same input. Workspaces then repeat the stage, and the changelog has an entry under "Data".
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from kgqa.errors import EmptyResult, SettingsError
from kgqa.recipes.preparation import depends_on_queries, preparation
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.recipes.qangaroo.filtering import filter_samples
from kgqa.recipes.qangaroo.mining import mine_rules
from kgqa.recipes.qangaroo.questions import ask
from kgqa.recipes.qangaroo.reading import read_texts
from kgqa.recipes.qangaroo.traverse import traverse
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow, count_list
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.settings.qangaroo import QangarooSettings


def ask_questions(run: Run) -> StageOutput:
    """Facts → questions, each in a split, before anything is filtered."""
    tables = run.tables("entities", "relations", "facts")
    run.progress.start("Asking questions", tables["facts"].num_rows, "facts")
    questions = ask(tables, _settings(run), seed=run.seed)
    run.progress.advance(tables["facts"].num_rows)
    if not (questions.split == 0).any():
        raise EmptyResult(
            "there are no facts in the training split, which provides the candidates; raise qangaroo.splits.train, or add facts."
        )
    row = FunnelRow(stage="ask", what="questions", reason="asked: one per fact and direction", left=len(questions))
    counts = questions.by_split()
    return StageOutput(tables={"questions": questions.to_table()}, funnel=[row], report={"questions": counts}, note=count_list(counts))


def _candidates(run: Run, tables: dict[str, pa.Table]) -> pa.Array:
    return possible_candidates(tables, _settings(run))


def _settings(run: Run) -> QangarooSettings:
    return run.section(QangarooSettings)


def _only(*names: str) -> Callable[[Run], object]:
    return lambda run: _settings(run).model_dump(mode="json", include=set(names))


def _all_but(*names: str) -> Callable[[Run], object]:
    def part(run: Run) -> object:
        return {"qangaroo": _settings(run).model_dump(mode="json", exclude=set(names)), "seed": run.seed, "limit": run.limit}

    return part


def _traversed(run: Run) -> object:
    """The settings of the recipe, and the kind of search: both kinds give the same result, but a change must run the other one."""
    recipe = _all_but("bias", "question", "placeholders")(run)
    return recipe if run.traversal == "kernel" else [recipe, depends_on_queries("candidates", "chains")(run)]


STAGES = (
    *preparation(candidates=_candidates, depends_on=_only("relations", "both_directions", "endpoint_kind")),
    Stage(
        name="ask_questions",
        version=1,
        doing="Asking questions",
        depends_on=lambda run: [_only("relations", "both_directions", "splits")(run), run.seed],
        run=ask_questions,
    ),
    Stage(
        name="mine_rules",
        version=5,
        doing="Mining rules",
        depends_on=lambda run: [
            _settings(run).evidence.model_dump(mode="json", include={"use", "min_support", "min_confidence"}),
            _only("queries")(run),
        ],
        run=mine_rules,
    ),
    Stage(
        name="read_texts",
        version=5,
        doing="Reading texts",
        depends_on=lambda run: _settings(run).model_dump(mode="json", include={"queries", "paths", "pairs", "endpoint_kind"}),
        run=read_texts,
    ),
    Stage(name="traverse", version=14, doing="Traversing", depends_on=_traversed, run=traverse),
    Stage(name="filter_samples", version=9, doing="Filtering", depends_on=_all_but("question", "placeholders"), run=filter_samples),
)
"""The stages in order; :mod:`kgqa.recipes.qangaroo.dataset` turns their tables into a dataset."""


def asked_queries(domain: Domain, traversal: str) -> list[str]:
    """The domain's queries that a run uses: those of the projection and, if the store searches, those of the traversal.

    Raises SettingsError if there are too few of them for the longest chains.
    """
    settings, most = domain.settings.projection, domain.settings.section(QangarooSettings).traversal.max_documents
    queries = [*settings.document_to_entity, *settings.entity_to_document]
    if traversal == "kernel":
        return queries
    longest = min(len(settings.candidates), len(settings.chains))
    if longest < most:
        raise SettingsError(
            f"domain {domain.settings.name}: projection.candidates and projection.chains name queries for {longest} documents, "
            f"qangaroo.traversal.max_documents is {most}; add queries, lower it, or traverse with the kernel."
        )
    return [*queries, *settings.candidates, *settings.chains]
