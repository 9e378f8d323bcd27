"""How fast MuSiQue's steps are: pairs, contexts beside ``rank_bm25``, the cut beside a greedy search, and a whole run from facts.

``python -m benchmarks.composition``; with a number, only the pairs of so many synthetic questions, for a process of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from rank_bm25 import BM25Okapi

from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from benchmarks.process import python
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.parallel import Threads
from kgqa.formats.question_set import open_dataset
from kgqa.recipes.musique.contexts import Stating, build_contexts
from kgqa.recipes.musique.from_sets import set_questions
from kgqa.recipes.musique.leakage import shared_items
from kgqa.recipes.musique.pairs import composable_pairs
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP
from kgqa.recipes.musique.shapes import hops_of
from kgqa.retrieval.bm25 import Bm25
from kgqa.settings.musique import PairSettings, ShapeSettings, SingleHopSettings
from kgqa.splits.cut import greedy, leak_free

TITLE = "Composition: MuSiQue's steps"
ROUNDS = 3
SETS = ("squad/dev-v1.1.json", "squad/squad_train_v1.1_piece.json", "nq/qed-dev.jsonl", "musique/derived_single_hop.jsonl")
POOL = 200_000
SLOW_QUERIES = 5
"""That ``rank_bm25`` is asked in a round; it needs seconds for each."""
SIZES = (250_000, 1_000_000)
SYLLABLES = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "dan", "fer", "gol", "hir", "jun", "pal")


def main(*, rounds: int = ROUNDS, sizes: tuple[int, ...] = SIZES, pool: int = POOL) -> Section:
    """Measure on public sets and on what is made."""
    data, source = data_folder("squad"), data_folder("wikidata")
    if data is None or source is None:
        return Section(title=TITLE, skipped=absent("squad"))
    single_hop, paragraphs, _, _ = set_questions([open_dataset(data.parent / name) for name in SETS], SingleHopSettings())
    tables = [of_pairs(single_hop, paragraphs, sizes, rounds=rounds), of_contexts(single_hop, paragraphs, source, pool, rounds=rounds)]
    return Section(title=TITLE, tables=[*tables, *of_a_run(source)])


def of_pairs(single_hop: pa.Table, paragraphs: pa.Table, sizes: tuple[int, ...], *, rounds: int) -> Table:
    """All pairs of the public questions and of more and more synthetic ones."""

    def pairs() -> int:
        return len(composable_pairs(single_hop, paragraphs, PairSettings(), ShapeSettings(), seed=0)[0])

    found = pairs()
    taken = in_turn({"public": pairs}, rounds=rounds)["public"]
    rows = [[f"{len(single_hop):,} public questions", f"{found:,}", spread(taken), ""]]
    for size in sizes:
        outcome = python(["-m", "benchmarks.composition", str(size)])
        told = json.loads(outcome.output.splitlines()[-1])
        rows.append([f"{size:,} synthetic questions", f"{told['pairs']:,}", f"{told['seconds']:.1f}", f"{outcome.gibibytes:.1f}"])
    return Table(
        title="Composable pairs (step S2)", columns=("pool", "pairs", "seconds", "GiB of the whole process"), rows=rows,
        notes=["Kernels are compiled before. Synthetic questions name entities that few or very many others have as an answer (Pareto)."],
    )  # fmt: skip


def of_contexts(single_hop: pa.Table, paragraphs: pa.Table, source: Path, pool: int, *, rounds: int) -> Table:
    """Contexts of 20 paragraphs from a pool of ``pool``: the public paragraphs and texts of an encyclopedia."""
    domain = open_texts(source, pool - len(paragraphs))
    texts = pa.concat_tables([paragraphs, domain])
    begin = time.perf_counter()
    index = Bm25(texts["text"])
    built = time.perf_counter() - begin
    stating = Stating.of(single_hop, texts)
    chosen = np.arange(0, len(single_hop), 7, dtype=np.int32)[:, None]
    queries = [single_hop["question"][int(row)].as_py() for row in chosen[:, 0]]
    ids = text_hashes(pa.array(queries))
    begin = time.perf_counter()
    slow = BM25Okapi([text.lower().split() for text in texts["text"].to_pylist()])
    slow_built = time.perf_counter() - begin

    def ours() -> None:
        build_contexts(queries, chosen, single_hop, texts, count=20, seed=0, ids=ids, engine=Threads(2), index=index, stating=stating)

    def theirs() -> None:
        for query in queries[:SLOW_QUERIES]:
            scores = slow.get_scores(query.lower().split())
            np.argpartition(-scores, 64)[:64]

    ours()
    seconds = in_turn({"kgqa": ours, "rank_bm25": theirs}, rounds=rounds)
    each = [taken / len(queries) for taken in seconds["kgqa"]]
    other = [taken / SLOW_QUERIES for taken in seconds["rank_bm25"]]
    rows = [
        ["kgqa: 20 paragraphs that do not state the answer", spread([1 / taken for taken in each], 0), f"{built:.0f}", "1"],
        ["rank_bm25: the 64 best scores alone", spread([1 / taken for taken in other]), f"{slow_built:.0f}",
         spread(ratios(other, each), 0)],
    ]  # fmt: skip
    return Table(
        title=f"Contexts from a pool of {len(texts):,} paragraphs (step S6), 2 threads",
        columns=("", "questions/s", "seconds to index", "times slower"), rows=rows,
    )  # fmt: skip


def open_texts(source: Path, count: int) -> pa.Table:
    """So many documents of the domain, again from the beginning where there are fewer."""
    from kgqa.sources.layouts import LAYOUTS

    documents = dict(LAYOUTS["wikidata"].read(source))["documents"]
    rows = np.arange(max(0, count)) % len(documents)
    some = documents.take(pa.array(rows))
    ids = pa.array([f"{name}/{row}" for row, name in enumerate(some["id"].to_pylist())])
    return pa.table({"id": ids, "title": some["title"], "text": some["text"].cast(pa.string())}).cast(PARAGRAPHS)


def of_a_run(source: Path) -> list[Table]:
    """``kgqa compose`` of the facts, stage by stage, and the cut on what it made."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--domain", "wikidata", "--source", str(source), "--workspace", folder, "--filter", "none", "--workers", "2"]
        outcome = python(["-m", "kgqa", "compose", *arguments])
        place = Path(folder)
        manifest = json.loads((place / "datasets" / "musique" / "manifest.json").read_text("utf-8"))
        tables = {name: read_table(place, name) for name in ("single_hop", "connected", "chains")}
    rows = [[name, f"{seconds:.2f}"] for name, seconds in manifest["seconds"].items()]
    rows.append(["all, with the start of the program", f"{outcome.seconds:.1f}"])
    questions = sum(manifest["counts"].values())
    run = Table(
        title=f"A whole run from facts, without the filter by readers: {questions:,} questions", columns=("stage", "seconds"), rows=rows,
        notes=[f"Peak memory: {outcome.gibibytes:.1f} GiB."],
    )  # fmt: skip
    edges = np.stack([tables["chains"][f"edge_{number}"].to_numpy() for number in (1, 2, 3)], axis=1)
    items = shared_items(hops_of(tables["chains"]["shape"].to_numpy(), edges, tables["connected"]), tables["single_hop"])
    rows = []
    kinds = tables["chains"]["shape"].to_numpy()
    for name, search in (("kgqa", partial(leak_free, kinds=kinds)), ("a greedy search", greedy)):
        begin = time.perf_counter()
        made = search(items, (0.8, 0.1, 0.1), seed=0)
        rows.append([name, f"{made.dropped:,}", ", ".join(f"{kept:,}" for kept in made.kept), f"{time.perf_counter() - begin:.2f}"])
    cut = Table(
        title=f"Splits of its {len(items.offsets) - 1:,} chains that share no question, answer or paragraph (step S5)",
        columns=("", "dropped", "train, dev, test", "seconds"), rows=rows,
    )  # fmt: skip
    return [run, cut]


def read_table(workspace: Path, name: str) -> pa.Table:
    """A table of a finished run."""
    import pyarrow.parquet as pq

    return pq.read_table(workspace / "tables" / f"{name}.parquet")


def synthetic(count: int) -> tuple[pa.Table, pa.Table]:
    """So many questions, each about one of a third as many entities, with another one for answer, on a paragraph that says so."""
    rng = np.random.default_rng(0)
    entities = max(10, count // 3)
    parts = np.array(SYLLABLES)[rng.integers(0, len(SYLLABLES), (entities, 6))]
    names = [f"{''.join(row[:3]).title()} {''.join(row[3:]).title()}{number}" for number, row in enumerate(parts.tolist())]
    subject = (rng.pareto(1.2, count) * entities / 40).astype(np.int64) % entities
    answer = (rng.pareto(1.2, count) * entities / 40).astype(np.int64) % entities
    texts = [
        f"{names[s]} is a town by the sea, and {names[a]} lies in it since the days of old." for s, a in zip(subject, answer, strict=True)
    ]
    single = {
        "id": [f"{row:016x}" for row in range(count)], "source": ["made"] * count,
        "question": [f"What lies in {names[row]}?" for row in subject.tolist()], "answer": [names[row] for row in answer.tolist()],
        "aliases": [[]] * count, "paragraph": list(range(count)), "start": [0] * count, "answer_entity": [None] * count,
        "kind": ["asked"] * count, "relations": [[]] * count, "entities": [[]] * count, "names": [[]] * count, "noun": [None] * count,
    }  # fmt: skip
    shown = {"id": single["id"], "title": [names[row] for row in subject.tolist()], "text": texts}
    return pa.table(single, schema=SINGLE_HOP), pa.table(shown, schema=PARAGRAPHS)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        made = synthetic(int(sys.argv[1]))
        composable_pairs(*synthetic(1000), PairSettings(), ShapeSettings(), seed=0)
        start = time.perf_counter()
        table, _ = composable_pairs(*made, PairSettings(), ShapeSettings(), seed=0)
        print(json.dumps({"pairs": len(table), "seconds": time.perf_counter() - start}))
    else:
        print(main().plain())
