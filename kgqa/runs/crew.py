"""Processes that read the files of an import."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any

from kgqa.errors import InterruptedRun, WorkspaceError
from kgqa.runs.parts import Submit, at_once


class Crew:
    """One process, which is this one, or several others, each of which can be given calls of its own."""

    def __init__(self, count: int) -> None:
        """Start none before the first call."""
        self._executors: list[ProcessPoolExecutor] = []
        self.processes: list[Submit] = [at_once]
        """For each process a function that calls another in it."""
        self._counted = 0
        if count > 1:
            # Processes are started anew and not copied, since this one may have threads.
            context = get_context("spawn")
            self._bytes = context.RawArray("q", count)
            self._stop = context.RawValue("b", 0)
            self._executors = [
                ProcessPoolExecutor(1, mp_context=context, initializer=_in_worker, initargs=(self._bytes, self._stop, number))
                for number in range(count)
            ]
            self.processes = [executor.submit for executor in self._executors]

    def new_bytes(self) -> int:
        """Bytes of files that the processes have read since the last call."""
        before, self._counted = self._counted, sum(self._bytes)
        return self._counted - before

    def __enter__(self) -> Crew:
        """Nothing is started yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """End the processes, after an error as soon as they notice."""
        if self._executors:
            self._stop.value = error is not None
            for executor in self._executors:
                executor.shutdown(wait=False, cancel_futures=True)
            for executor in self._executors:
                executor.shutdown()
        if isinstance(error, BrokenProcessPool):
            raise WorkspaceError(
                "a process that parsed a file was killed, probably for lack of memory; run the same command again with fewer --workers."
            ) from error


_shared: dict[str, Any] = {}
"""In another process: where it counts bytes, and whether it is to stop."""


def _in_worker(read: Any, stop: Any, number: int) -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the main process, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared.update(read=read, stop=stop, number=number)
    main = parent_process()
    assert main is not None

    def end_with_main() -> None:
        main.join()
        os._exit(1)

    threading.Thread(target=end_with_main, daemon=True).start()


def read_in_worker(amount: int) -> None:
    """Count bytes that this process has read. InterruptedRun where the main process has failed or was stopped."""
    _shared["read"][_shared["number"]] += amount
    if _shared["stop"].value:
        raise InterruptedRun("the import was stopped.")
