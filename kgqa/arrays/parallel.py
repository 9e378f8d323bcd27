"""Runs a function on the parts of an input: on threads of this process, or on another engine, as a cluster (:mod:`kgqa.cluster`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np

from kgqa.settings.workers import worker_count

P = TypeVar("P")
R = TypeVar("R")


class Engine(Protocol):
    """Runs parts in parallel. Results must not depend on the engine, on the number of workers, or on the order in which parts end."""

    name: str
    """Its name in plans and manifests."""

    @property
    def workers(self) -> int:
        """Number of parts that run at the same time."""

    def map(self, function: Callable[..., R], parts: Sequence[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        """``function(part, *shared)`` for each part, in the order of the parts.

        ``function`` is a function of a module, and depends on its arguments alone: an engine may call it in another process, and again if a
        worker fails. Arrays in ``shared`` are read-only. Raises what ``function`` raises.
        """


class Threads:
    """Threads of this process. They run in parallel while compiled kernels, which hold no interpreter lock, run."""

    name = "threads"

    def __init__(self, workers: int | None = None) -> None:
        """``workers``: number of threads, by default one per core. Raises SettingsError."""
        self._workers = worker_count(workers)

    @property
    def workers(self) -> int:
        """Number of threads that work on the parts."""
        return self._workers

    def map(self, function: Callable[..., R], parts: Sequence[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        """The results of ``function`` in the order of ``parts`` (see :meth:`Engine.map`); an error of a part is raised when its result is
        due.
        """
        arguments = tuple(map(read_only, shared))
        with ThreadPoolExecutor(self.workers) as pool:
            yield from pool.map(lambda part: function(part, *arguments), parts)


def ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """``parts`` ranges of about the same length, one after the other, of the numbers below ``count``: first and exclusive last.

    >>> ranges(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    return list(pairwise(np.linspace(0, count, parts + 1).astype(np.int64).tolist()))


def read_only(value: Any) -> Any:
    """A read-only view of an array; other values as they are.

    Every engine passes arrays so, and a kernel is compiled once for all of them.
    """
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def worker_threads(engine: Engine) -> int:
    """Number of threads of this process for what is not divided into parts."""
    return engine.workers if isinstance(engine, Threads) else worker_count()
