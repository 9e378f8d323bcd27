"""How much memory the embedded engine may take, and what comes of too little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from kgqa.errors import SettingsError
from kgqa.store import memory
from kgqa.store.embedded import EmbeddedStore, build
from tests.command import ROOT, environment
from tests.store.graphs import ad_hoc

MIB = 1 << 20
COUNT = ad_hoc(
    "MATCH (d:Document) RETURN count(d) AS documents, CAST(sum(size(d.text)) AS INT64) AS characters",
    "documents: integer, characters: integer",
)


def texts(documents: int, characters: int) -> dict[str, pa.Table]:
    """Rows of a graph with long documents and nothing else."""
    row = pa.array(range(documents), pa.int64())
    ids = pa.array([f"d{number}" for number in range(documents)])
    text = pa.array([f"{number} " * (characters // (len(str(number)) + 1)) for number in range(documents)])
    usable = pa.array([True] * documents)
    table = pa.table({"id": ids, "row": row, "title": ids, "text": text, "usable": usable, "search": ids})
    return {"document": table}


@pytest.mark.slow
def test_more_text_than_the_buffer_is_loaded_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "384MiB")
    rows = texts(150_000, 700)
    assert rows["document"].nbytes > 100 * MIB
    pieces: list[int] = []
    build(tmp_path / "graph", rows, tables=("document",), advance=pieces.append)
    assert sum(pieces) == 150_000
    assert len(pieces) > 4
    with EmbeddedStore(tmp_path / "graph") as store:
        (answer,) = store.run(COUNT).to_pylist()
    assert answer == {"documents": 150_000, "characters": sum(map(len, rows["document"]["text"].to_pylist()))}


@pytest.mark.slow
def test_one_piece_that_does_not_fit_is_said(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from kgqa.errors import StoreError; from kgqa.store import embedded; "
        "from tests.store.test_memory import texts; embedded.PIECES = 1e-9; embedded._step = lambda table, _: table.num_rows\n"
        "try: embedded.build(Path(sys.argv[1]), texts(150_000, 700), tables=('document',))\n"
        "except StoreError as error: print(error, flush=True)"
    )
    # In a process of its own: the engine is in no good state afterwards.
    process = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "graph")],
        env={**environment(), memory.VARIABLE: "384MiB"}, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert process.stdout == (
        "document rows 0 to 150,000 do not fit into the 384 MiB that the graph engine may use; set KGQA_STORE_MEMORY to more, "
        "as in KGQA_STORE_MEMORY=768MiB.\n"
    ), process.stderr


@pytest.mark.slow
def test_too_little_even_for_pieces_is_no_full_disk(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from kgqa.errors import StoreError; from kgqa.store import embedded; "
        "from tests.store.test_memory import texts\n"
        "try: embedded.build(Path(sys.argv[1]), texts(100_000, 2_000), tables=('document',))\n"
        "except StoreError as error: print(error, flush=True)"
    )
    process = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "graph")],
        env={**environment(), memory.VARIABLE: "128MiB"}, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert process.stdout.endswith("set KGQA_STORE_MEMORY to more, as in KGQA_STORE_MEMORY=256MiB.\n"), process.stderr
    assert "disk" not in process.stdout


@pytest.mark.parametrize(("text", "part"), [("much", "is not a size"), ("-1GiB", "is not a size"), ("10MiB", "less than the 128 MiB")])
def test_a_size_that_is_none(text: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, text)
    with pytest.raises(SettingsError, match=part):
        memory.engine_memory()


def test_half_of_what_is_available_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    4194304 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.engine_memory() == 2048 * MIB
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("5\n")
    assert memory.engine_memory() == 2048 * MIB
    (tmp_path / "memory.max").write_text(f"{1024 * MIB}\n")
    (tmp_path / "memory.current").write_text(f"{424 * MIB}\n")
    assert memory.engine_memory() == 300 * MIB
    (tmp_path / "memory.current").write_text(f"{1020 * MIB}\n")
    assert memory.engine_memory() == memory.LEAST


def test_a_small_graph_is_read_with_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "8GiB")
    graph = tmp_path / "graph"
    graph.write_bytes(bytes(10 * MIB))
    assert memory.reading_memory(graph) == memory.USUAL
    with graph.open("wb") as file:
        file.truncate(1024 * MIB)
    assert memory.reading_memory(graph) == 2048 * MIB
