"""A stage of a run: a function of the tables before it, its part of the settings, and the seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgqa.arrays.parallel import Engine, worker_threads
from kgqa.progress import Progress
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.workspace import Workspace
from kgqa.settings.base import RecipeSettings
from kgqa.settings.domain import Section
from kgqa.settings.neo4j import Neo4jSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Input of a stage."""

    domain: Domain
    workspace: Workspace
    seed: int
    engine: Engine
    """Runs the parts of a stage in parallel."""
    limit: int | None
    progress: Progress
    store: str = "embedded"
    traversal: str = "kernel"
    neo4j: Neo4jSettings | None = None
    """The server; None: as the environment names it."""
    sets: tuple[str, ...] = ()
    """Question sets that are read instead of the domain's files."""
    endpoint: str | None = None
    """Address of a chat-completions endpoint; None: as the environment names it."""
    answers: Path | None = None
    """File of composed questions that annotators wrote."""

    @property
    def workers(self) -> int:
        """Number of threads of this process for what is not divided into parts."""
        return worker_threads(self.engine)

    def section(self, model: type[Section]) -> Section:
        """The section of the recipe in the domain's settings, an instance of ``model``."""
        return self.domain.settings.section(model)

    def table(self, name: str, *, columns: Sequence[str] | None = None, coded: bool = False) -> pa.Table:
        """A table that an earlier stage wrote, or some ``columns`` of it; ``coded``: ids of long tables as dictionaries."""
        return self.workspace.read_table(name, columns=columns, coded=coded)

    def tables(self, *names: str, coded: bool = False) -> dict[str, pa.Table]:
        """Several tables of the workspace by name."""
        return {name: self.table(name, coded=coded) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOutput:
    """The tables and files of a stage, and its part of the report."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    """Files that the stage wrote itself, relative to the workspace."""
    funnel: list[FunnelRow] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    """One line for the console."""

    def as_report(self) -> dict[str, Any]:
        """The report, the funnel and the note as JSON-able data."""
        return {**self.report, "funnel": [asdict(row) for row in self.funnel], "note": self.note}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of a run."""

    name: str
    version: int
    doing: str
    """Text that users see while the stage runs."""
    depends_on: Callable[[Run], object]
    """The part of settings, seed and limit that the output depends on, as JSON-able data."""
    run: Callable[[Run], StageOutput]
    aside: tuple[str, ...] = ()
    """Tables that only people read, and no later stage."""
    outside: Callable[[Run], bool] = lambda _: False
    """Whether the stage always runs, whatever its record says. This is for a stage that writes outside the workspace, where its output may
    be gone, or reads a file there that may have changed."""
    is_shared: bool = False
    """Whether recipes whose settings of it are the same use one output. Stages before it must be shared as well."""


def settings_and_seed(model: type[RecipeSettings], *names: str) -> Callable[[Run], object]:
    """``depends_on`` for a stage whose output depends on the settings ``names`` of the recipe, and on the seed."""
    return lambda run: [run.section(model).model_dump(mode="json", include=set(names)), run.seed]
