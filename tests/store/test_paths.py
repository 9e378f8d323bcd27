"""The search for paths: the same rows however it goes about it, and sentences for what it cannot be asked."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import kgqa
from kgqa.conformance.graphs import Document, Entity, Fact, Mention, RandomGraph
from kgqa.conformance.oracles.graph_index import GraphIndex
from kgqa.conformance.oracles.registry import expected_rows, found_rows
from kgqa.errors import QueryError, SettingsError
from kgqa.store import paths
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.queries import Value, parse_queries, read_queries

SEARCHES = ("paths_over_facts", "paths_over_documents")


def sparse_graph(rng: random.Random) -> RandomGraph:
    """So few facts and documents that many paths are long, with two entities that have more."""
    ids = [f"e{number}" for number in range(24)]
    pairs = {(head, tail) for head, tail in (rng.sample(ids, 2) for _ in range(rng.choice((22, 36))))}
    pairs |= {("e0", name) for name in ids[2:6]} | {(name, "e1") for name in ids[6:10]}
    told = (
        [{"e0", name} for name in ids[2:6]]
        + [{"e1", name} for name in ids[6:10]]
        + [set(rng.sample(ids, 2)) for _ in range(rng.choice((14, 40)))]
    )
    return RandomGraph(
        entity=tuple(Entity(name, row, "entity", name.upper(), "") for row, name in enumerate(rng.sample(ids, len(ids)))),
        document=tuple(Document(f"d{row}", row, f"D{row}", "", usable=True) for row in range(len(told))),
        fact=tuple(Fact(head, tail, row, rng.choice("rs"), "l") for row, (head, tail) in enumerate(sorted(pairs))),
        mentions=tuple(Mention(f"d{row}", name, 1) for row, names in enumerate(told) for name in sorted(names)),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("mentions", "tails"), [(1, 0), (3, 1_000_000)])
def test_how_much_is_looked_at_together_changes_no_row(
    mentions: int, tails: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    # One entity's companions at a time or some, and the tails of both sides or what is beside the smaller one.
    monkeypatch.setattr(paths, "MENTIONS", mentions)
    monkeypatch.setattr(paths, "TAILS", tails)
    rng, lengths = random.Random(3), Counter[object]()
    for number in range(8 if pytestconfig.getoption("--thorough") else 3):
        result = GraphIndex(sparse_graph(rng))
        build(tmp_path / str(number), result.graph.arrow())
        with EmbeddedStore(tmp_path / str(number)) as store:
            for name in SEARCHES * 20:
                query = read_queries()[name]
                first, second = rng.sample(sorted(result.entities), 2)
                longest = paths.LONGEST["facts" if query.search == "facts" else "documents"]
                arguments: dict[str, Value] = {
                    "entity": first,
                    "other": second,
                    "longest": longest,
                    "limit": rng.choice((1, 2, 5, 10, 200)),
                }
                rows = found_rows(query, store.run(query, arguments))
                assert rows == expected_rows(query, result, arguments), (name, arguments)
                lengths.update((query.search, row[0]) for row in rows)
    assert min(lengths["facts", 3], lengths["facts", 4], lengths["documents", 3]) > 10, lengths


@pytest.mark.parametrize("limit", [1, 3, 20])
def test_no_pair_that_comes_earlier_is_missed_where_the_search_stops(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MENTIONS", 8)
    rng, fewer = random.Random(limit), 0
    for _ in range(40):
        near, far = (
            pl.DataFrame(
                {
                    "other": [f"{side}{at}" for at in range(20)],
                    "row": rng.sample(range(20), 20),
                    "documents": rng.choices(range(1, 9), k=20),
                }
            )
            for side in "nf"
        )
        joined = {pair for pair in product(near["other"], far["other"]) if rng.random() < 0.3}
        beside = {
            name: [*(b for a, b in joined if a == name), *(a for a, b in joined if b == name)] for name in (*near["other"], *far["other"])
        }

        def ask(_: str, *, ids: list[str], beside: Mapping[str, list[str]] = beside) -> pa.Table:
            result = [(name, other) for name in ids for other in beside[name]]
            return pa.table(
                {"entity": pa.array([a for a, _ in result], pa.string()), "other": pa.array([b for _, b in result], pa.string())}
            )

        measures = {row["other"]: (row["documents"], row["row"]) for row in (*near.to_dicts(), *far.to_dicts())}

        def place(pair: tuple[str, ...], measures: Mapping[str, tuple[int, int]] = measures) -> tuple[int, ...]:
            (documents, row), (others, second) = (measures[name] for name in pair)
            return (1 + documents) * (1 + others), row, second

        result = paths._companions(ask, near, far, limit)
        assert paths._ranked(result, ["one", "two"])[:limit] == sorted(joined, key=place)[:limit]
        fewer += result.height < len(joined)
    assert fewer > 10


@pytest.mark.parametrize(
    ("given", "says"),
    [({"longest": "5"}, "between 1 and 4"), ({"longest": "0"}, "between 1 and 4"), ({"limit": "201"}, "between 1 and 200")],
)
def test_what_cannot_be_asked_is_said(seed_wikidata: Path, given: dict[str, str], says: str) -> None:
    with pytest.raises(QueryError, match=rf"^query paths_over_facts: \w+ \d+ is not {says}; choose another \w+\.$"):
        kgqa.query("paths_over_facts", {"entity": "France", "other": "Q183", **given}, workspace=seed_wikidata)


def test_longer_paths_are_looked_for_only_where_shorter_are_few(tmp_path: Path) -> None:
    items: list[str] = []
    build(tmp_path / "graph", sparse_graph(random.Random(3)).arrow())
    with EmbeddedStore(tmp_path / "graph") as store:

        def ask(name: str, **given: Value) -> pa.Table:
            items.append(name)
            return store.run(read_queries()[name], given)

        every = paths.find_paths(ask, "facts", "e0", "e2", longest=4, limit=200)
        steps = len(items)
        assert every[0] == ("e0", "e2")
        assert len(every) > 1
        items.clear()
        assert paths.find_paths(ask, "facts", "e0", "e2", longest=4, limit=200, sufficient=1) == every[:1]
        assert 0 < len(items) < steps
        assert paths.find_paths(ask, "facts", "e0", "e2", longest=4, limit=1) == every[:1]
        assert paths.find_paths(ask, "facts", "e0", "e2", longest=1, limit=200) == every[:1]


def test_a_search_is_ours_alone() -> None:
    text = "// name: a\n// purpose: p\n// params: none\n// returns: n: integer\n// stores: embedded\n// search: {}\nRETURN 1 AS n\n"
    (query,) = parse_queries(text.format("facts"), "f.cypher")
    assert query.search == "facts"
    for search, own in (("facts", True), ("nothing", False)):
        with pytest.raises(SettingsError, match=rf"^f\.cypher, line 1: the search '{search}' is not known"):
            parse_queries(text.format(search), "f.cypher", own=own)
