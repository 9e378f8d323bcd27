"""What only the embedded store can do wrong: be of another version, be damaged, or write files where nothing should be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.errors import QueryError, StoreError
from kgqa.runs.workspace import Workspace
from kgqa.store.embedded import ENGINE_VERSION, EmbeddedStore, check_engine_version
from kgqa.store.limits import Limits


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
            with pytest.raises(QueryError, match="only reading is possible"):
                store.read(text, limits=Limits(rows=1, seconds=5))
    assert not list(tmp_path.iterdir())
