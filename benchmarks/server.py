"""How fast a graph comes into a Neo4j server and back, beside the embedded store, and how fast it answers; servers are started from jars.

``python -m benchmarks.server``
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.measure import Section, Table, absent, data_folder, spread
from kgqa.commands.generate import generate
from kgqa.domains import load_domain
from kgqa.formats.graph_rows import rejected_rows, sample_rows
from kgqa.runs.graph import rows_of, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import QUERY_SECONDS
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.graph import TABLES
from kgqa.store.neo4j import import_files as neo4j_import
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import drop_indexes, erase, imported_marker, load
from kgqa.store.neo4j.samples import (
    PARTS,
    REJECTED,
    SAMPLES,
    add_part,
    drop_indexes as drop_indexes_of_samples,
    erase_part,
    imported_part_marker,
    make_indexes,
    part_markers,
)
from kgqa.store.queries import FOR_PEOPLE, read_queries
from kgqa.traversal.projection import ROLES, project_edges
from tests.neo4j.server import Neo4jServer, missing
from tests.store.asked import value

TITLE = "A graph into a server and back"
ROUNDS = 2
DATASETS = {"wikidata": "wikihop", "medline": "medhop"}
"""Domain → what its dataset is called."""
AGAIN = "again: "
SLOWEST = 12
"""Named queries in the table."""


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
    graph = rows_of(articles)
    seconds: dict[str, list[float]] = {}
    parts: dict[str, list[Part]] = {}
    asked: dict[str, list[float]] = {}
    links = 0
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        took, links, loaded, answers = one_round(graph, articles, place)
        for name, part in in_new_database(workspaces["medline"], "medline", place / "abstracts").items():
            loaded[name] = part
        for name, one in took.items():
            seconds.setdefault(name, []).append(one)
        for name, part in with_sums(loaded).items():
            parts.setdefault(name, []).append(part)
        for name, one in answers.items():
            asked.setdefault(name, []).append(one)
    files = graph | dataset_rows(articles, "wikidata")
    sizes = {name: sum(table.num_rows for table in rows.values()) for name, rows in (("files", files), ("graph", graph))}
    seconds["import files: writing and importing"] = [a + b for a, b in zip(seconds["writing"], seconds["importing"], strict=True)]
    ways_in = {"import files: writing and importing": "files", "writing": "files", "importing": "files", "embedded store": "graph"}
    ways_out = ("Neo4j", "embedded")
    counts = ", ".join(f"{graph[name].num_rows:,} {name}" for name in TABLES)
    slow = sorted(asked, key=lambda name: -max(asked[name]))
    return [
        Table(
            title="Loading",
            columns=("", "rows", "seconds", "rows/s"),
            rows=[
                (name, f"{sizes[what]:,}", spread(seconds[name], 1), spread([sizes[what] / s for s in seconds[name]], 0))
                for name, what in ways_in.items()
            ],
            notes=[
                f"The graph of the articles ({counts}). Import files also have samples, chains and rejected questions. {rounds} rounds "
                "in turn; median and range. The server shares the machine."
            ],
        ),
        Table(
            title="Loading over one connection",
            columns=("", "rows", "seconds", "rows/s"),
            rows=[
                (name, f"{found[0].rows:,}", spread([p.seconds for p in found], 1), spread([p.rows / p.seconds for p in found], 0))
                for name, found in parts.items()
            ],
            notes=[
                "A chain has a row for itself, one for its sample and one for each place on it. The time of a graph includes its "
                "indexes; the time of the rejected questions, which come last, includes those of samples. A server that was just started "
                "compiles its own code at the same time, on the same two cores. “Again” is the same load after everything was erased."
            ],
        ),
        Table(
            title=f"The slowest of {len(asked)} named queries on that server",
            columns=("", "seconds"),
            rows=[(name, spread(asked[name])) for name in slow[:SLOWEST]],
            notes=[
                "Wall time of the second run of each query; the first run also plans it. Queries that need entities get the United States, "
                "France and Portugal. All others are faster."
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
    """``parts``, and all but the rejected questions of each domain together, then everything; the same of what was loaded again."""
    found = dict(parts)
    for when, those in (
        ("", {name: part for name, part in parts.items() if not name.startswith(AGAIN)}),
        (AGAIN, {name: part for name, part in parts.items() if name.startswith(AGAIN)}),
    ):
        for called, chosen in (
            ("graphs, samples and chains", [part for name, part in those.items() if not name.endswith(REJECTED.noun)]),
            ("everything", list(those.values())),
        ):
            found[f"{when}{called}"] = Part(rows=sum(part.rows for part in chosen), seconds=sum(part.seconds for part in chosen))
    return found


def dataset_rows(workspace: Workspace, domain: str) -> dict[str, pa.Table]:
    """Samples and chains of the domain's dataset, and the questions that became none."""
    dataset = workspace.path / "datasets" / DATASETS[domain]
    return sample_rows(dataset, dataset.name) | rejected_rows(dataset, dataset.name)


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
        REJECTED.noun: (rejected, rest),
    }
    found = {}
    for name, (loaded, work) in steps.items():
        begin = time.perf_counter()
        work()
        found[f"{domain}: {name}"] = Part(rows=sum(table.num_rows for table in loaded.values()), seconds=time.perf_counter() - begin)
    return found


def in_new_database(workspace: Workspace, domain: str, home: Path) -> dict[str, Part]:
    """The same in a server of its own, twice."""
    with started(home) as store:
        return twice(store, workspace, domain)


@contextmanager
def started(home: Path) -> Iterator[Neo4jStore]:
    """A connection to a new server, which compiles as it does for everybody."""
    server = Neo4jServer(home, quick=False)
    server.start()
    try:
        with Neo4jStore(Neo4jSettings(uri=server.uri, password=server.password)) as store:
            yield store
    finally:
        server.stop()


def twice(store: Neo4jStore, workspace: Workspace, domain: str) -> dict[str, Part]:
    """Load, erase and load again."""
    first = over_connection(store, workspace, domain)
    for name, part in part_markers(store):
        erase_part(store, next(each for each in PARTS if each.name == part), name, rows=0)
    erase(store)
    drop_indexes(store)
    drop_indexes_of_samples(store)
    return first | {f"{AGAIN}{name}": part for name, part in over_connection(store, workspace, domain).items()}


def answers(store: Neo4jStore) -> dict[str, float]:
    """Seconds that each named query takes the second time."""
    shown = "MATCH (s:Sample)-[u:SUPPORT]->(d:Document) RETURN s.id AS sample, d.id AS document ORDER BY s.row, d.row LIMIT 1"
    first = store.read(shown).rows.to_pylist()[0]
    took = {}
    for query in read_queries().values():
        if query.file in FOR_PEOPLE and store.name in query.stores:
            given = {parameter.name: value(parameter, **first) for parameter in query.params}
            for _ in range(2):
                begin = time.perf_counter()
                store.run(query, given, seconds=QUERY_SECONDS)
                took[query.name] = time.perf_counter() - begin
    return took


def one_round(
    rows: dict[str, pa.Table], workspace: Workspace, folder: Path
) -> tuple[dict[str, float], int, dict[str, Part], dict[str, float]]:
    """Seconds of each way, how many links came back, what came over the connection, and seconds of queries; servers and files are new."""
    took: dict[str, float] = {}
    domain = load_domain("wikidata")

    def timed(name: str, work: Callable[[], object]) -> None:
        begin = time.perf_counter()
        work()
        took[name] = time.perf_counter() - begin

    tables, dataset = tables_hash(workspace), dataset_rows(workspace, "wikidata")
    markers = [imported_marker(tables, rows), *(imported_part_marker(part, DATASETS["wikidata"], "these", dataset) for part in PARTS)]
    timed("writing", lambda: neo4j_import.write(folder / "files", rows | dataset, markers=markers))
    imported = Neo4jServer(folder / "imported")
    timed("importing", lambda: imported.admin(*neo4j_import.import_arguments(folder / "files"), folder=folder / "files"))
    timed("embedded store", lambda: build(folder / "graph", rows))
    with started(folder / "server") as store:
        loaded = twice(store, workspace, "wikidata")
        seconds = answers(store)
        queries = [domain.queries[name] for role in ROLES for name in getattr(domain.settings.projection, role)]
        for query in queries:
            store.run(query)  # into the server's memory
        timed("Neo4j", lambda: project_edges(store, domain.queries, domain.settings.projection))
    with EmbeddedStore(folder / "graph") as embedded:
        timed("embedded", lambda: project_edges(embedded, domain.queries, domain.settings.projection))
        links = project_edges(embedded, domain.queries, domain.settings.projection).num_rows
    return took, links, loaded, seconds


if __name__ == "__main__":
    print(main().plain())
