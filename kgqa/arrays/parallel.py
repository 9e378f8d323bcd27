"""Runs a function on the parts of an input: on threads of this process, or on another engine, as a cluster (:mod:`kgqa.cluster`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np

from kgqa.settings.workers import worker_count

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")
AHEAD = 4
"""Number of parts per thread that are taken before the first result is used."""


class Engine(Protocol):
    """Runs parts in parallel. Results must not depend on the engine, on the number of workers, or on the order in which parts end."""

    name: str
    """Its name in plans and manifests."""

    @property
    def workers(self) -> int:
        """Number of parts that run at the same time."""

    def map(self, function: Callable[..., R], parts: Iterable[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        """``function(part, *shared)`` for each part, in the order of the parts.

        Parts are taken a few per worker ahead of the results, so they may be made on the way, and need not fit in memory together.
        ``function`` is a function of a module, and depends on its arguments alone: an engine may call it in another process, and again if a
        worker fails. Arrays in ``shared`` are read-only. Raises what ``function`` raises.
        """


class NetworkEngine(Engine, Protocol):
    """An engine on other machines whose parts run a network of torch."""

    device: str
    """The device of each part: cpu or cuda."""
    cores: int
    """Cores of each part."""


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

    def map(self, function: Callable[..., R], parts: Iterable[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        """See :meth:`Engine.map`. A single thread is the one that asks for the results."""
        arguments = tuple(map(read_only, shared))
        if self.workers == 1:
            yield from (function(part, *arguments) for part in parts)
            return
        pool = ThreadPoolExecutor(self.workers)

        def submit(part: P) -> Future[R]:
            return pool.submit(function, part, *arguments)

        try:
            yield from in_order(submit, Future.result, parts, ahead=AHEAD * self.workers)
        finally:
            pool.shutdown(cancel_futures=True)


def in_order(submit: Callable[[P], T], result: Callable[[T], R], parts: Iterable[P], *, ahead: int) -> Iterator[R]:
    """The result of each part in the order of the parts, of which at most ``ahead`` are submitted and not used yet."""
    pending: deque[T] = deque()
    for part in parts:
        pending.append(submit(part))
        if len(pending) >= ahead:
            yield result(pending.popleft())
    while pending:
        yield result(pending.popleft())


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
