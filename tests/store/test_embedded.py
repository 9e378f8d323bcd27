"""What only the embedded store can do wrong: be of another version, be damaged, or write files where nothing should be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgqa.errors import QueryError, QueryMemory, StoreError
from kgqa.runs.workspace import Workspace
from kgqa.store import embedded
from kgqa.store.embedded import ENGINE_VERSION, EmbeddedStore, add, build, check_engine_version
from kgqa.store.graph import TABLES
from kgqa.store.limits import Limits
from kgqa.store.queries import read_queries
from tests.store.graphs import rows_of


def test_only_the_tested_engine_is_used() -> None:
    check_engine_version(ENGINE_VERSION)
    for version in ("0.21.0", "0.22.0", "0.99.0"):
        with pytest.raises(StoreError, match=f"ladybug {version} .*pip install ladybug=={ENGINE_VERSION}"):
            check_engine_version(version)


def test_a_graph_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no graph here; run kgqa generate first\.$"):
        EmbeddedStore(tmp_path / "nothing")


def test_reading_leaves_no_file_behind(seed_wikidata: Path, tmp_path: Path) -> None:
    # The engine itself exports files also from a graph that is open for reading.
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store:
        for text in (f"COPY (MATCH (e:Entity) RETURN e.id) TO '{tmp_path}/x.csv'", f"EXPORT DATABASE '{tmp_path}/all'"):
            with pytest.raises(QueryError, match="only reading is allowed"):
                store.read(text, limits=Limits(rows=1, seconds=5))
    assert not list(tmp_path.iterdir())


def test_a_graph_that_lacks_a_column_to_fill_is_of_another_version(tmp_path: Path) -> None:
    rows = rows_of(entities=["a", "b"])
    build(tmp_path / "graph", rows)
    more = rows["document"].append_column("new", [["x"] * rows["document"].num_rows])
    with pytest.raises(StoreError, match=r"^query load_document: another version of kgqa made this graph, .* anew\.$"):
        add(tmp_path / "graph", {"document": more}, tables=["document"])


def test_a_graph_of_another_version_is_said_to_be_one(tmp_path: Path) -> None:
    build(tmp_path / "graph", rows_of(entities=["a", "b"]), tables=[name for name in TABLES if name != "relation"])
    with (
        EmbeddedStore(tmp_path / "graph") as store,
        pytest.raises(StoreError, match=r"another version of kgqa made this graph, .* anew\.$"),
    ):
        store.run(read_queries()["relation_counts"], {"limit": 5})


def test_a_buffer_that_earlier_answers_filled_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "graph", rows_of(entities=["a", "b"]))
    execute, full = embedded._execute, [True, False, True, True]

    def sometimes_full(*arguments: Any) -> Any:
        if full.pop(0):
            raise QueryMemory("the buffer is full")
        return execute(*arguments)

    monkeypatch.setattr(embedded, "_execute", sometimes_full)
    query = read_queries()["entities_with_id"]
    with EmbeddedStore(tmp_path / "graph") as store:
        # What a new engine cannot answer is too large; what an old one cannot is asked of a new one.
        for expected in (None, 1, None):
            if expected is None:
                with pytest.raises(QueryMemory):
                    store.run(query, {"ids": ["e0"]})
            else:
                assert store.run(query, {"ids": ["e0"]}).num_rows == expected
    assert full == []
