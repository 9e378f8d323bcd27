"""How fast a graph comes into a Neo4j server and back, beside the embedded store; a server of its own is started from its jars.

``python -m benchmarks.server``
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.measure import Section, Table, absent, data_folder, spread
from kgqa.commands.generate import generate
from kgqa.domains import load_domain
from kgqa.formats.on_graph import rejected_rows, sample_rows
from kgqa.runs.graph import rows_of, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.graph import TABLES
from kgqa.store.neo4j import import_files as neo4j_import
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import imported_marker, load
from kgqa.store.neo4j.samples import REJECTED, SAMPLES, add_part, make_indexes
from kgqa.traversal.projection import ROLES, project_edges
from tests.neo4j.server import Neo4jServer, missing

TITLE = "A graph into a server and back"
ROUNDS = 2
DATASETS = {"wikidata": "wikihop", "medline": "medhop"}
"""Domain → what its dataset is called."""


def main(*, rounds: int = ROUNDS) -> Section:
    """Measure on the real articles, and on the real abstracts, whose samples have the most chains."""
    sources = {name: source for name in DATASETS if (source := data_folder(name))}
    for name in DATASETS.keys() - sources:
        return Section(title=TITLE, skipped=absent(name))
    if reason := missing():
        return Section(title=TITLE, skipped=f"Skipped: {reason}.")
    with tempfile.TemporaryDirectory() as folder:
        workspaces = {name: Workspace(Path(folder) / name) for name in sources}
        for name, source in sources.items():
            generate(name, source=source, workspace=workspaces[name].path, workers=2)
        return Section(title=TITLE, tables=measured(workspaces, Path(folder), rounds=rounds))


def measured(workspaces: Mapping[str, Workspace], folder: Path, *, rounds: int) -> list[Table]:
    """Each way in, then each way out, all of them in every round."""
    articles = workspaces["wikidata"]
    rows = rows_of(articles)
    seconds: dict[str, list[float]] = {}
    parts: dict[str, list[Part]] = {}
    links = 0
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        took, links, loaded = one_round(rows, articles, place)
        for name, value in took.items():
            seconds.setdefault(name, []).append(value)
        loaded |= in_new_database(workspaces["medline"], "medline", place / "abstracts")
        for name, part in with_sums(loaded).items():
            parts.setdefault(name, []).append(part)
    seconds["import files: writing and importing"] = [a + b for a, b in zip(seconds["writing"], seconds["importing"], strict=True)]
    total = sum(table.num_rows for table in rows.values())
    ways_in = ("import files: writing and importing", "writing", "importing", "driver, one connection", "embedded store")
    ways_out = ("Neo4j", "embedded")
    counts = ", ".join(f"{rows[name].num_rows:,} {name}" for name in TABLES)
    shared = "The server shares the machine, and compiles quickly rather than well (-XX:TieredStopAtLevel=1)."
    return [
        Table(
            title="Loading",
            columns=("", "seconds", "rows/s"),
            rows=[(name, spread(seconds[name], 1), spread([total / s for s in seconds[name]], 0)) for name in ways_in],
            notes=[f"{total:,} rows ({counts}). {rounds} rounds in turn; median and range. {shared}"],
        ),
        Table(
            title="Loading over one connection",
            columns=("", "rows", "seconds", "rows/s"),
            rows=[
                (name, f"{found[0].rows:,}", spread([p.seconds for p in found], 1), spread([p.rows / p.seconds for p in found], 0))
                for name, found in parts.items()
            ],
            notes=[
                "Every database is new. A chain is a row for itself, one for what it hangs on and one for each place on it. The indexes "
                "of a graph are made within its time, those of samples within that of the rejected questions, which come last."
            ],
        ),
        Table(
            title="Reading the projection back",
            columns=("", "seconds", "links/s"),
            rows=[(name, spread(seconds[name]), spread([links / s for s in seconds[name]], 0)) for name in ways_out],
            notes=[f"{links:,} links: both queries of the WikiHop domain, to a sorted table of edges."],
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What was loaded in how long."""

    rows: int
    seconds: float


def with_sums(parts: Mapping[str, Part]) -> dict[str, Part]:
    """``parts``, and all but the rejected questions of each domain together, then everything."""
    found = dict(parts)
    for name, chosen in (
        ("graphs, samples and chains", [part for name, part in parts.items() if not name.endswith(REJECTED.called)]),
        ("everything", list(parts.values())),
    ):
        found[name] = Part(rows=sum(part.rows for part in chosen), seconds=sum(part.seconds for part in chosen))
    return found


def over_connection(store: Neo4jStore, workspace: Workspace, domain: str) -> dict[str, Part]:
    """Load the graph of ``workspace``, then the samples of its dataset with their chains, then what became no sample."""
    rows, tables = rows_of(workspace), tables_hash(workspace)
    dataset = workspace.path / "datasets" / DATASETS[domain]
    samples, rejected = sample_rows(dataset, dataset.name), rejected_rows(dataset, dataset.name)
    add = partial(add_part, store, tables=tables, dataset=dataset.name, content="these")

    def rest() -> None:
        add(REJECTED, rejected)
        make_indexes(store)

    steps: dict[str, tuple[Mapping[str, pa.Table], Callable[[], object]]] = {
        "graph": (rows, lambda: load(store, tables, rows)),
        "samples and chains": (samples, lambda: add(SAMPLES, samples)),
        REJECTED.called: (rejected, rest),
    }
    found = {}
    for name, (loaded, work) in steps.items():
        begin = time.perf_counter()
        work()
        found[f"{domain}: {name}"] = Part(rows=sum(table.num_rows for table in loaded.values()), seconds=time.perf_counter() - begin)
    return found


def in_new_database(workspace: Workspace, domain: str, home: Path) -> dict[str, Part]:
    """The same in a server of its own."""
    server = Neo4jServer(home)
    server.start()
    try:
        with Neo4jStore(Neo4jSettings(uri=server.uri, password=server.password)) as store:
            return over_connection(store, workspace, domain)
    finally:
        server.stop()


def one_round(rows: dict[str, pa.Table], workspace: Workspace, folder: Path) -> tuple[dict[str, float], int, dict[str, Part]]:
    """Seconds of each way, how many links came back, and what came over the connection; the servers and files are new."""
    took: dict[str, float] = {}
    domain = load_domain("wikidata")

    def timed(name: str, work: Callable[[], object]) -> None:
        begin = time.perf_counter()
        work()
        took[name] = time.perf_counter() - begin

    tables = tables_hash(workspace)
    timed("writing", lambda: neo4j_import.write(folder / "files", rows, markers=[imported_marker(tables, rows)]))
    imported = Neo4jServer(folder / "imported")
    timed("importing", lambda: imported.admin(*neo4j_import.import_arguments(folder / "files"), folder=folder / "files"))
    timed("embedded store", lambda: build(folder / "graph", rows))
    server = Neo4jServer(folder / "server")
    server.start()
    try:
        with Neo4jStore(Neo4jSettings(uri=server.uri, password=server.password)) as store:
            loaded = over_connection(store, workspace, "wikidata")
            took["driver, one connection"] = loaded["wikidata: graph"].seconds
            queries = [domain.queries[name] for role in ROLES for name in getattr(domain.settings.projection, role)]
            for query in queries:
                store.run(query)  # into the server's memory
            timed("Neo4j", lambda: project_edges(store, domain.queries, domain.settings.projection))
    finally:
        server.stop()
    with EmbeddedStore(folder / "graph") as embedded:
        timed("embedded", lambda: project_edges(embedded, domain.queries, domain.settings.projection))
        links = project_edges(embedded, domain.queries, domain.settings.projection).num_rows
    return took, links, loaded


if __name__ == "__main__":
    print(main().plain())
