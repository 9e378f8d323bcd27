"""Work that may hang, for so long and no longer."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


def within(
    seconds: float | None, work: Callable[[], Result], *, check: Callable[[float], None] | None = None, interval: float = math.inf
) -> Result:
    """What ``work`` returns or raises; TimeoutError where that takes longer, never where ``seconds`` is None.

    While it takes long, ``check`` is called ``interval`` so many seconds, with the seconds that it may take; what it raises ends the wait.

    For what nothing can interrupt: the look-up of a server's name, and the wait for one that has fallen silent; and for what nothing must
    interrupt: of a message that is cut off by Ctrl-C the driver sends the beginning twice, and the server's complaint hides the Ctrl-C. The
    work is then left to itself, in a thread that does not keep the program from ending, so it must own all that it changes.
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
