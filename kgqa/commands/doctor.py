"""``kgqa doctor``: check the installation, and compare every query on every reachable store with brute force."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgqa.conformance.benches import Bench, EmbeddedBench, Neo4jBench
from kgqa.conformance.comparison import Comparison, compare
from kgqa.conformance.components import Component, components
from kgqa.conformance.replay import replay_script
from kgqa.conformance.shrink import shrink
from kgqa.conformance.witnesses import witnesses
from kgqa.errors import SettingsError, StoreError, StoreUnreachable, check_seed, storage_errors
from kgqa.object_store.workspace import workspace_at
from kgqa.progress import Progress, Silent
from kgqa.settings.defaults import DOCTOR_QUERIES, SEED, WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.queries import STORES

MOST = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """What the doctor found out about one store."""

    store: str
    comparison: Comparison | None
    note: str = ""
    """Reason why it was not examined."""
    fault: str = ""
    """Known fault of this version, regardless of its answers here."""
    script: str = ""
    """Script that replays the smallest wrong answer. Empty if only path searches, which take many queries, had wrong answers."""
    named: bool = False
    """Whether the user named this server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Result of :func:`doctor`: the installation and the stores."""

    pieces: tuple[Component, ...]
    stores: tuple[StoreReport, ...]

    @property
    def agree(self) -> bool:
        """Whether stores were checked, all answers are right, and no version is known to be bad."""
        compared = [report for report in self.stores if report.comparison]
        return bool(compared) and not any(report.fault or (report.comparison and report.comparison.disagreements) for report in compared)

    @property
    def missed(self) -> StoreReport | None:
        """The named server that could not be checked, if any."""
        return next((report for report in self.stores if report.named and report.comparison is None), None)


def doctor(
    *,
    queries: int = DOCTOR_QUERIES,
    seed: int = SEED,
    workspace: str | Path = WORKSPACE,
    script: str | Path | None = None,
    neo4j: Neo4jSettings | None = None,
    progress: Progress | None = None,
    benches: Sequence[Callable[[], Bench]] | None = None,
) -> Examination:
    """Check the installation; run all witnesses and ``queries`` random queries on every reachable store, and compare with brute force.

    ``script`` is a file for the replay of the smallest wrong answer. ``neo4j`` is the server, by default from the environment. Its database
    is used only if it is empty or has the remains of a killed check, and is empty again afterwards. ``missed`` is a named server that could
    not be checked. ``benches`` replaces the stores. Raises SettingsError.
    """
    if not 1 <= queries <= MOST:
        raise SettingsError(f"queries {queries} is not between 1 and {MOST:,}; choose another number.")
    check_seed(seed)
    if script is not None and (Path(script).exists() or not Path(script).absolute().parent.is_dir()):
        raise SettingsError(f"{script}: the script needs a new name in a folder that is there; choose another one.")
    is_server_named = neo4j is not None or bool(os.environ.get("NEO4J_URI"))
    settings = neo4j or Neo4jSettings.from_environment()
    makers: Sequence[Callable[[], Bench]] = benches if benches is not None else (EmbeddedBench, lambda: Neo4jBench(settings))
    reports = tuple(
        replace(report, named=is_server_named and report.store == "neo4j")
        for report in _examine(makers, queries=queries, seed=seed, progress=progress or Silent())
    )
    reproduction = next((report.script for report in reports if report.script), "")
    if script is not None and reproduction:
        with storage_errors(Path(script)):
            Path(script).write_text(reproduction, "utf-8")
    return Examination(pieces=tuple(components(workspace_at(workspace).path)), stores=reports)


def _examine(makers: Sequence[Callable[[], Bench]], *, queries: int, seed: int, progress: Progress) -> Iterator[StoreReport]:
    for at, make in enumerate(makers):
        try:
            bench = make()
        except StoreError as error:
            yield StoreReport(store=STORES[at] if at < len(STORES) else "", comparison=None, note=str(error))
            continue
        try:
            progress.start(f"Asking {bench.name} {bench.version}", queries, "queries")
            comparison = compare(bench, queries=queries, seed=seed, advance=progress.advance)
            script = ""
            if comparison.smallest and not comparison.smallest.query.search:
                # Witnesses are already shrunk.
                if all(comparison.smallest.graph is not witness.graph for witness in witnesses()):
                    comparison = replace(comparison, smallest=shrink(bench, comparison.smallest))
                assert comparison.smallest
                script = replay_script(bench.name, bench.version, comparison.smallest)
            wrong = sum(comparison.disagreements.values())
            progress.finish(f"{comparison.queries:,} queries on {comparison.graphs:,} graphs, {wrong:,} wrong answers")
            yield StoreReport(store=bench.name, comparison=comparison, script=script, fault=bench.fault)
        except StoreUnreachable as error:
            progress.finish("went away")
            yield StoreReport(store=bench.name, comparison=None, note=str(error))
        finally:
            bench.close()
