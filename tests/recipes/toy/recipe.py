"""A recipe of yes-or-no questions, one for each fact: all that a new recipe needs is in this folder, and one line in the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from kgqa.formats import native
from kgqa.recipes.preparation import preparation
from kgqa.records import SPLITS, Instance
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.recipe import Recipe
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.settings.base import Positive, RecipeSettings


class ToySettings(RecipeSettings):
    """What it can be told."""

    most: Positive = 5
    """So many facts are asked."""
    verb: str = "is"


def ask(run: Run) -> StageOutput:
    """Facts → questions."""
    facts, settings = run.table("facts"), run.domain.settings.section(ToySettings)
    asked = facts.slice(0, settings.most)
    row = FunnelRow(stage="ask", what="facts", reason="more than are asked", removed=len(facts) - len(asked), left=len(asked))
    return StageOutput(tables={"asked": asked}, funnel=[row], note=f"{len(asked)} questions")


def write(folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
    """Every fact as a question of the test split; the others are empty."""
    assert (len(funnel) > 0, baselines) == (True, {})
    verb = run.domain.settings.section(ToySettings).verb
    instances = [
        Instance(
            id=f"toy-{number}", question=f"{verb} {fact['tail']} {fact['relation']} of {fact['head']}?", paragraphs=(), answers=("yes",),
            answer_id=None, answer_type="boolean", candidates=None, chains=None, decomposition=None, answerable=True, group=f"toy-{number}",
            provenance=None,
        )
        for number, fact in enumerate(run.table("asked").to_pylist())
    ]  # fmt: skip
    for split in SPLITS:
        native.write(instances if split == "test" else [], folder / f"{split}.parquet")
    return {"counts": {split: len(instances) if split == "test" else 0 for split in SPLITS}}


def queries(domain: Domain, traversal: str) -> list[str]:
    """Those of the projection."""
    settings = domain.settings.projection
    return [*settings.document_to_entity, *settings.entity_to_document]


def everything(run: Run, tables: dict[str, pa.Table]) -> pa.Array:
    """Any entity may be an answer."""
    return pa.array([True] * tables["entities"].num_rows)


RECIPE = Recipe(
    stages=(
        *preparation(candidates=everything, depends_on=lambda run: "everything"),
        Stage(
            name="ask_facts", version=1, doing="Asking facts", depends_on=lambda run: run.domain.settings.section(ToySettings).most, run=ask
        ),
    ),
    write=write,
    files=frozenset({f"{split}.parquet" for split in SPLITS}),
    version=1,
    queries=queries,
)
