"""Tables are read as they were written, with long texts in one chunk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgqa.runs.files import read_parquet, write_parquet
from kgqa.runs.memory import returned_memory

ROWS = [("d1", "é" * 40, 1), ("d2", "", 2), ("d3", "third", 3), ("d1", "fourth", 4), ("d2", "fifth", 5)]
KINDS = {"id": pa.string(), "text": pa.large_string(), "number": pa.int32()}


def table(texts: list[str | None]) -> pa.Table:
    columns = [[row[0] for row in ROWS[: len(texts)]], texts, [row[2] for row in ROWS[: len(texts)]]]
    return pa.table({name: pa.array(column, kind) for (name, kind), column in zip(KINDS.items(), columns, strict=True)})


@pytest.mark.parametrize("texts", [[row[1] for row in ROWS], [None, "b", None, "d", ""], ["", ""], []])
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_a_table_is_read_as_it_was_written(texts: list[str | None], rows: int, tmp_path: Path) -> None:
    pq.write_table(table(texts), tmp_path / "t.parquet", row_group_size=rows)
    whole = read_parquet(tmp_path / "t.parquet")
    assert whole.equals(table(texts))
    assert None in texts or whole["text"].num_chunks == 1
    assert read_parquet(tmp_path / "t.parquet", columns=["number", "text"]).equals(table(texts).select(["number", "text"]))
    assert read_parquet(tmp_path / "t.parquet", columns=["text"]).equals(table(texts).select(["text"]))
    coded = read_parquet(tmp_path / "t.parquet", coded=["id"])
    assert not texts or pa.types.is_dictionary(coded.schema.field("id").type)
    assert coded["id"].to_pylist() == table(texts)["id"].to_pylist()
    write_parquet(whole, tmp_path / "again.parquet")
    write_parquet(table(texts), tmp_path / "first.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "first.parquet").read_bytes()


def test_arrows_usual_memory_pool_is_back_after_a_run() -> None:
    usual = pa.default_memory_pool().backend_name
    with returned_memory():
        assert pa.default_memory_pool().backend_name == "system"
        kept = pa.array(["kept"])
    assert pa.default_memory_pool().backend_name == usual
    assert kept.to_pylist() == ["kept"]
