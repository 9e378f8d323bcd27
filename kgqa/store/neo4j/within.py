"""Work that may hang, for so long and no longer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


def within(seconds: float | None, work: Callable[[], Result]) -> Result:
    """What ``work`` returns or raises; TimeoutError where that takes longer, never where ``seconds`` is None.

    For what nothing can interrupt: the look-up of a server's name, and the wait for one that has fallen silent; and for what nothing must
    interrupt: of a message that is cut off by Ctrl-C the driver sends the beginning twice, and the server's complaint hides the Ctrl-C. The
    work is then left to itself, in a thread that does not keep the program from ending, so it must own all that it changes.
    """
    done: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:
            done.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        result, error = done.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]
