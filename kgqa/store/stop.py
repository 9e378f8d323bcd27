"""Stop a query from outside when nobody waits for the answer any more, as after a browser has closed its connection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kgqa.errors import QueryStopped, StoreError


class Stop:
    """Set once, by another thread than those whose work it ends."""

    def __init__(self) -> None:
        """Start without a stop request."""
        self._lock = threading.Lock()
        self._set = False
        self._calls: list[Callable[[], object]] = []

    def set(self) -> None:
        """Stop all running work and refuse new work. Call it repeatedly, because an engine forgets an interruption that comes before its
        query.
        """
        with self._lock:
            self._set = True
            calls = list(self._calls)
        for call in calls:
            call()

    @contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """Register work that ``call`` interrupts from another thread. After a stop, QueryStopped replaces the exception of the work."""
        with self._lock:
            if self._set:
                raise _stopped()
            self._calls.append(call)
        try:
            yield
        except StoreError:
            if self._set:
                raise _stopped() from None
            raise
        finally:
            with self._lock:
                self._calls.remove(call)


CURRENT: ContextVar[Stop | None] = ContextVar("kgqa_stop", default=None)
"""The stop signal of the request being answered; None if nobody can stop it."""


@contextmanager
def stopped_by(call: Callable[[], object]) -> Iterator[None]:
    """Work that ``call`` ends where the request is stopped (:meth:`Stop.calling`)."""
    stop = CURRENT.get()
    if stop is None:
        yield
        return
    with stop.calling(call):
        yield


def _stopped() -> QueryStopped:
    return QueryStopped("the query was stopped, as nobody waits for its answer any more; ask it again.")
