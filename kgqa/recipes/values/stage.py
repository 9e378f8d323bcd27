"""The stage ``find_values``, which recipes that compute with dates and quantities have after those of the preparation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.recipes.preparation import preparation
from kgqa.recipes.values.graph import from_graph
from kgqa.recipes.values.language import language_of
from kgqa.recipes.values.texts import read_texts
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.settings.values import ValuesSettings
from kgqa.sources.tables import arrow


def stages_with_values(settings_of: Callable[[Run], ValuesSettings]) -> tuple[Stage, ...]:
    """The preparation of a recipe that asks about any entity and walks no edges, and the stage of its values."""
    return (*preparation(candidates=_all_entities, depends_on=lambda _: None, edges=False), _values_stage(settings_of))


def _all_entities(run: Run, tables: dict[str, pa.Table]) -> npt.NDArray[np.bool_]:
    """A mask of all entities."""
    return np.ones(len(tables["entities"]), np.bool_)


def _values_stage(settings_of: Callable[[Run], ValuesSettings]) -> Stage:
    """The stage: ``source_values``, ``documents``, ``entities``, ``names`` → ``values`` (:mod:`kgqa.recipes.values.table`)."""

    def depends_on(run: Run) -> object:
        language = language_of(settings_of(run), run.domain.settings.linking.language)
        relations = {name: relation.model_dump(mode="json") for name, relation in language.relations.items()}
        return [relations, {name: unit.model_dump(mode="json") for name, unit in language.units.items()}, settings_of(run).sentences]

    def find_values(run: Run) -> StageOutput:
        settings = settings_of(run)
        language = language_of(settings, run.domain.settings.linking.language)
        tables = run.tables("source_values", "documents", "entities", "names")
        run.progress.start("Finding values", tables["documents"]["text"].nbytes, "bytes")
        graph, graph_drops = from_graph(tables["source_values"], tables["documents"], language)
        texts, text_drops = read_texts(tables["documents"], tables["entities"], tables["names"], language, most=settings.sentences)
        run.progress.advance(tables["documents"]["text"].nbytes)
        values = pl.concat([graph, texts]).sort("entity", "relation", "document", "start", "text", nulls_last=True)
        rows = [
            FunnelRow(stage="values", what="values", reason=reason, removed=count)
            for reason, count in (*graph_drops.items(), *text_drops.items()) if count
        ]  # fmt: skip
        for reason, count in (("of the graph", graph.height), ("read out of articles", texts.height)):
            rows.append(FunnelRow(stage="values", what="values", reason=reason, left=count))
        return StageOutput(
            tables={"values": arrow(values)}, funnel=rows, report={"values": values.height},
            note=f"{graph.height:,} values of the graph, {texts.height:,} out of articles",
        )  # fmt: skip

    return Stage(name="find_values", version=2, doing="Finding values", depends_on=depends_on, run=find_values, is_shared=True)
