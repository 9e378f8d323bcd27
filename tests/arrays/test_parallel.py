"""A third engine, of processes, plugs in with one class and gives the bytes of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import kgqa
from kgqa.arrays.parallel import Engine, Threads, read_only
from kgqa.commands import generate

P = TypeVar("P")
R = TypeVar("R")


class Processes:
    """Two other processes, to which all values are copied for each part."""

    name = "processes"
    workers = 2

    def __init__(self) -> None:
        self.parts = 0

    def map(self, function: Callable[..., R], parts: Iterable[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        with ProcessPoolExecutor(self.workers, mp_context=get_context("spawn")) as pool:
            parts = list(parts)
            self.parts += len(parts)
            yield from pool.map(partial(_with_shared, function, shared), parts)


def _with_shared(function: Callable[..., R], shared: tuple[Any, ...], part: object) -> R:
    return function(part, *map(read_only, shared))


@pytest.mark.slow
def test_processes_give_the_bytes_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = kgqa.generate("wikidata", workspace=tmp_path / "threads", recipe="entailed")
    engine = Processes()

    @contextmanager
    def opened(*_: object) -> Iterator[Engine]:
        yield engine

    monkeypatch.setattr(generate, "opened_engine", opened)
    report = kgqa.generate("wikidata", workspace=tmp_path / "w", recipe="entailed")
    assert engine.parts > 10
    finished = threads.dataset
    names = sorted(path.relative_to(finished) for path in finished.rglob("*") if path.is_file() and path.suffix != ".json")
    assert names
    for name in names:
        assert (report.dataset / name).read_bytes() == (finished / name).read_bytes(), name
    for path in (tmp_path / "threads" / "tables").glob("*.parquet"):
        assert (tmp_path / "w" / "tables" / path.name).read_bytes() == path.read_bytes(), path.name


def test_threads_pass_arrays_read_only() -> None:
    values = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        list(Threads(1).map(_write, [0], (values,)))
    assert values.flags.writeable


def _write(part: int, values: np.ndarray) -> None:
    values[part] = 1
