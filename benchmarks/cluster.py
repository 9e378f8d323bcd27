"""What a Ray cluster costs and brings beside threads: linking and traversal of a million documents, on nodes of one core in one machine.

``python -m benchmarks.cluster``
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
from ray.cluster_utils import Cluster

from benchmarks.linking import read
from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from benchmarks.synthetic import make_world
from benchmarks.traversal import SETTINGS
from kgqa.arrays.parallel import Engine, Threads
from kgqa.cluster.address import probe
from kgqa.cluster.ray_engine import RayEngine
from kgqa.linking.dictionary import build_dictionary
from kgqa.linking.matcher import match
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.recipes.qangaroo.search import find_samples
from kgqa.traversal.kernel import Kernel

TITLE = "Threads and a cluster"
ROUNDS = 3
DOCUMENTS, LINKS, QUESTIONS = 1_000_000, 8_000_000, 100_000
STORE = 3 << 30
"""Bytes of a node's object store."""
Work = Callable[[Engine], object]


def main(*, rounds: int = ROUNDS, documents: int = DOCUMENTS) -> Section:
    """Measure each work with both engines, on one core and on two."""
    source = data_folder("wikidata")
    if source is None:
        return Section(title=TITLE, skipped=absent("wikidata"))
    works = {
        f"linking {documents:,} documents": linking(source, documents),
        f"traversal, {QUESTIONS * documents // DOCUMENTS:,} questions on {documents:,} documents": traversal(documents),
    }
    seconds: dict[str, dict[str, list[float]]] = {name: {} for name in works}
    memory = []
    for cores in (1, 2):
        with ExitStack() as stack:
            cluster = Cluster(
                initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
            )
            stack.callback(cluster.shutdown)
            for _ in range(cores):
                cluster.add_node(num_cpus=1, object_store_memory=STORE)
            nodes = stack.enter_context(RayEngine(probe(cluster.address)))
            for name, work in works.items():
                for engine in (Threads(cores), nodes):
                    work(engine)  # compiles, and starts the workers
                runs = {engine.name: (lambda engine=engine, work=work: work(engine)) for engine in (Threads(cores), nodes)}
                seconds[name] |= {f"{engine} {cores}": values for engine, values in in_turn(runs, rounds=rounds).items()}
                memory.append((name, cores, max(nodes.map(resident, range(cores)))))
    return Section(title=TITLE, tables=[_table(seconds, rounds), _memory(memory)])


def linking(source: Path, documents: int) -> Work:
    """Match all names in the articles of wikidata, as often as it takes to have so many."""
    tables, settings = read(source)
    candidates = possible_candidates(tables, settings.qangaroo)
    dictionary = build_dictionary(tables["names"], tables["entities"], settings.linking, candidates, documents=tables["documents"])
    column = tables["documents"]["text"]
    texts = pa.chunked_array(column.chunks * (documents // len(column) + 1)).slice(0, documents).combine_chunks()
    return lambda engine: match(pa.chunked_array([texts]), dictionary, engine=engine)


def traversal(documents: int) -> Work:
    """Find the candidates and chains of questions in a synthetic graph."""
    share = documents / DOCUMENTS
    world = make_world(documents=documents, links=int(LINKS * share), questions=int(QUESTIONS * share))
    kernel = Kernel(world.graph, max_documents=SETTINGS.traversal.max_documents)
    return lambda engine: find_samples(world.questions, kernel, world.facts, world.roles(), SETTINGS, engine=engine)


def resident(_: int) -> tuple[int, int]:
    """Of a worker's process: bytes of its own, and bytes that it shares with others, as the object store."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    own, shared = (int(lines[name].split()[0]) << 10 for name in ("RssAnon", "RssShmem"))
    return own, shared


def _table(seconds: dict[str, dict[str, list[float]]], rounds: int) -> Table:
    rows = [
        (
            name, *(spread(times[column]) for column in ("threads 1", "ray 1", "threads 2", "ray 2")),
            spread(ratios(times["ray 1"], times["threads 1"])), spread(ratios(times["ray 1"], times["ray 2"])),
        )
        for name, times in seconds.items()
    ]  # fmt: skip
    return Table(
        title="Seconds",
        columns=("", "1 thread", "1 node", "2 threads", "2 nodes", "1 node ÷ 1 thread", "1 node ÷ 2 nodes"),
        rows=rows,
        notes=[
            f"Nodes of one core each in one machine, with a head that has none; {rounds} rounds in turn, median and range. A cluster's "
            "seconds include copying the arrays to the object store, and the results back. Both engines give the same result."
        ],
    )


def _memory(measured: Sequence[tuple[str, int, Any]]) -> Table:
    rows = [(name, f"{cores}", f"{own / 2**20:,.0f}", f"{shared / 2**20:,.0f}") for name, cores, (own, shared) in measured]
    return Table(title="Memory of a worker, MiB", columns=("", "nodes", "its own", "mapped from the object store"), rows=rows)


if __name__ == "__main__":
    begin = time.perf_counter()
    print(main().plain())
    print(f"{time.perf_counter() - begin:.0f} s")
