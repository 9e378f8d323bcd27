"""How fast a graph comes into a Neo4j server and back, beside the embedded store; a server of its own is started from its jars.

``python -m benchmarks.server``
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from benchmarks.measure import Section, Table, absent, data_folder, spread
from kgqa.commands.generate import generate
from kgqa.domains import load_domain
from kgqa.runs.graph import rows_of, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.graph import TABLES
from kgqa.store.neo4j import import_files as neo4j_import
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import imported_marker, load
from kgqa.traversal.projection import ROLES, project_edges
from tests.neo4j.server import Neo4jServer, missing

TITLE = "A graph into a server and back"
ROUNDS = 2


def main(*, rounds: int = ROUNDS) -> Section:
    """Measure on the real articles."""
    source = data_folder("wikidata")
    if source is None:
        return Section(title=TITLE, skipped=absent("wikidata"))
    if reason := missing():
        return Section(title=TITLE, skipped=f"Skipped: {reason}.")
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        generate("wikidata", source=source, workspace=workspace, workers=2)
        return Section(title=TITLE, tables=measured(Workspace(workspace), Path(folder), rounds=rounds))


def measured(workspace: Workspace, folder: Path, *, rounds: int) -> list[Table]:
    """Each way in, then each way out, all of them in every round."""
    rows = rows_of(workspace)
    seconds: dict[str, list[float]] = {}
    links = 0
    for number in range(rounds):
        place = folder / str(number)
        place.mkdir()
        took, links = one_round(rows, workspace, place)
        for name, value in took.items():
            seconds.setdefault(name, []).append(value)
    seconds["import files: writing and importing"] = [a + b for a, b in zip(seconds["writing"], seconds["importing"], strict=True)]
    total = sum(table.num_rows for table in rows.values())
    ways_in = ("import files: writing and importing", "writing", "importing", "driver, one connection", "embedded store")
    ways_out = ("Neo4j", "embedded")
    counts = ", ".join(f"{rows[name].num_rows:,} {name}" for name in TABLES)
    return [
        Table(
            title="Loading",
            columns=("", "seconds", "rows/s"),
            rows=[(name, spread(seconds[name], 1), spread([total / s for s in seconds[name]], 0)) for name in ways_in],
            notes=[f"{total:,} rows ({counts}). {rounds} rounds in turn; median and range. The server shares the machine."],
        ),
        Table(
            title="Reading the projection back",
            columns=("", "seconds", "links/s"),
            rows=[(name, spread(seconds[name]), spread([links / s for s in seconds[name]], 0)) for name in ways_out],
            notes=[f"{links:,} links: both queries of the WikiHop domain, to a sorted table of edges."],
        ),
    ]


def one_round(rows: dict[str, pa.Table], workspace: Workspace, folder: Path) -> tuple[dict[str, float], int]:
    """Seconds of each way, and how many links came back; the servers and files are new."""
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
            timed("driver, one connection", lambda: load(store, tables, rows))
            queries = [domain.queries[name] for role in ROLES for name in getattr(domain.settings.projection, role)]
            for query in queries:
                store.run(query)  # into the server's memory
            timed("Neo4j", lambda: project_edges(store, domain.queries, domain.settings.projection))
    finally:
        server.stop()
    with EmbeddedStore(folder / "graph") as embedded:
        timed("embedded", lambda: project_edges(embedded, domain.queries, domain.settings.projection))
        links = project_edges(embedded, domain.queries, domain.settings.projection).num_rows
    return took, links


if __name__ == "__main__":
    print(main().plain())
