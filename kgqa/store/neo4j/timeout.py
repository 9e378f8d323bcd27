"""Run work that may hang, with a limit of time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


def run_within(
    seconds: float | None, work: Callable[[], Result], *, check: Callable[[float], None] | None = None, interval: float = math.inf
) -> Result:
    """The result of ``work``, or its exception. Raises TimeoutError after ``seconds`` (None: no limit).

    During the wait, ``check`` is called every ``interval`` seconds with the seconds that are left. An exception from it ends the wait.

    Some work cannot be interrupted: looking up a server's name, and waiting for a server that no longer answers. Other work must not be
    interrupted: if Ctrl-C cuts off a message, the driver sends its beginning twice, and the server's complaint hides the Ctrl-C. After a
    timeout the work goes on in a daemon thread, so it must own everything that it changes.
    """
    outcomes: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((work(), None))
        except BaseException as error:
            outcomes.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    end = math.inf if seconds is None else time.monotonic() + seconds
    while True:
        wait = min(interval, max(0.0, end - time.monotonic()))
        try:
            result, error = outcomes.get(timeout=None if math.isinf(wait) else wait)
            break
        except Empty:
            if (remaining := end - time.monotonic()) <= 0:
                raise TimeoutError from None
        if check is not None:
            check(remaining)
    if error is not None:
        raise error
    return result  # type: ignore[return-value]
