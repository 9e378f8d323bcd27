"""Runs of stages on a part of the tables, in a temporary workspace, for checks and predictions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.progress import Silent
from kgqa.runs.scratch import scratch
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.runs.workspace import Workspace
from kgqa.sources.tables import arrow, frame


@contextmanager
def part_run(run: Run, tables: Mapping[str, pa.Table]) -> Iterator[Run]:
    """The same run on ``tables`` in a temporary workspace beside those of ``run``; it is deleted afterwards."""
    with scratch(run.workspace.path / "part") as folder:
        place = Workspace(folder)
        place.tables.mkdir()
        for name, table in tables.items():
            place.write_table(name, table)
        yield replace(run, workspace=place, progress=Silent(), store="embedded")


def perform(run: Run, stages: Iterable[Stage]) -> Iterator[tuple[Stage, StageOutput, float]]:
    """Run the stages of a :func:`part_run` and write their tables; yields each with its seconds."""
    for stage in stages:
        begin = time.perf_counter()
        output = stage.run(run)
        for name, table in output.tables.items():
            run.workspace.write_table(name, table)
        yield stage, output, time.perf_counter() - begin


def drawn(ids: pa.ChunkedArray, *, purpose: str, seed: int) -> np.ndarray:
    """For each id a number in [0, 1): those below a share are a random part of that size, which a larger share only adds to."""
    hashes = text_hashes(ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids)
    bits = shuffling(hashes, np.zeros(len(hashes), np.int64), purpose=purpose, seed=seed)
    return (bits >> np.uint64(11)) / 9007199254740992.0


def with_documents(tables: Mapping[str, pa.Table], mask: np.ndarray) -> dict[str, pa.Table]:
    """``tables`` with the documents of ``mask`` (bool) and their annotations alone; entities and facts stay."""
    documents = tables["documents"].filter(pa.array(mask))
    annotations = frame(tables["annotations"])
    remaining = annotations.filter(pl.col("document").is_in(frame(documents)["id"].implode()))
    return {**tables, "documents": documents.combine_chunks(), "annotations": arrow(remaining)}
