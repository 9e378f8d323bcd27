"""The engine of processes of this machine, for functions that hold the interpreter lock, as parsers of files do."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, TypeVar

from kgqa.arrays.parallel import in_order, read_only
from kgqa.errors import WorkspaceError
from kgqa.progress import Advance
from kgqa.settings.workers import worker_count

P = TypeVar("P")
R = TypeVar("R")
AHEAD = 2
"""Number of parts per process that are taken before the first result is used."""
LOOK = 0.2
"""Seconds between two looks at how far the processes are."""


class Processes:
    """An :class:`~kgqa.arrays.parallel.Engine` of processes, which start at the first part and end with the ``with`` block.

    Parts, shared values and results are copied from process to process, so shared values should be small.
    """

    name = "processes"

    def __init__(self, workers: int | None = None, *, advance: Advance = lambda _: None) -> None:
        """``advance`` is told what functions tell :func:`advanced`. Raises SettingsError."""
        self._workers, self._advance, self._counted = worker_count(workers), advance, 0
        # Processes are started anew and not copied, since this one may have threads.
        context = get_context("spawn")
        self._count, self._lock = context.RawValue("q", 0), context.Lock()
        # Nothing is ever sent. The processes end when the pipe is closed, also by the end of this process, however it ends.
        reader, self._alive = context.Pipe(duplex=False)
        arguments = (reader, self._count, self._lock)
        self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_in_process, initargs=arguments)
        self._failed: Future[Any] | None = None

    @property
    def workers(self) -> int:
        """Number of processes."""
        return self._workers

    def __enter__(self) -> Processes:
        """Nothing is started yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """End the processes, after an error in the middle of their parts."""
        if error is not None:
            self._alive.close()
        self._pool.shutdown(cancel_futures=True)
        self._alive.close()

    def map(self, function: Callable[..., R], parts: Iterable[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        """See :meth:`Engine.map <kgqa.arrays.parallel.Engine.map>`. Raises WorkspaceError if a process is killed."""

        def submit(part: P) -> Future[R]:
            future = self._pool.submit(_call, function, part, shared)
            future.add_done_callback(self._note)
            return future

        try:
            yield from in_order(submit, self._result, parts, ahead=AHEAD * self.workers)
        except BrokenProcessPool as error:
            raise WorkspaceError(
                "a process that parsed a file was killed, probably for lack of memory; run the same command again with fewer --workers."
            ) from error

    def _note(self, future: Future[Any]) -> None:
        if not future.cancelled() and future.exception() is not None:
            self._failed = self._failed or future

    def _result(self, future: Future[R]) -> R:
        """The result of a part, or the first error of any: a later part may fail long before this one is done."""
        while not future.done() and self._failed is None:
            wait([future], timeout=LOOK)
            self._tell()
        self._tell()
        return (self._failed or future).result()

    def _tell(self) -> None:
        before, self._counted = self._counted, self._count.value
        self._advance(self._counted - before)


_in: dict[str, Any] = {}
"""In another process: the common count of what is done, and its lock."""


def _in_process(alive: Any, count: Any, lock: Any) -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the main process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _in.update(count=count, lock=lock)

    def end_with_main() -> None:
        with suppress(OSError, EOFError):
            alive.poll(None)
        os._exit(1)

    threading.Thread(target=end_with_main, daemon=True).start()


def _call(function: Callable[..., R], part: object, shared: tuple[Any, ...]) -> R:
    return function(part, *map(read_only, shared))


def advanced(amount: int) -> None:
    """For functions that run in a process of the engine: ``amount`` more units are done."""
    with _in["lock"]:
        _in["count"].value += amount
