"""Signals that ask a process to end: which one came, and the places where it is noted first and obeyed a little later."""

from __future__ import annotations

import signal
import threading

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MAIN = threading.main_thread().ident
"""The thread that signals come to."""


class Stop:
    """State of a request to stop the process."""

    def __init__(self) -> None:
        """Start without a stop request."""
        self.number: int | None = None
        """The last signal that came."""
        self.depth = 0
        """Depth of the main thread's calls of compiled code, which no exception may leave."""
        self.waits = False
        """Whether a signal arrived during such a call."""

    def came(self, number: int) -> bool:
        """Note the signal; whether it is obeyed at the end of a call of compiled code. A second one is obeyed at once."""
        self.number = number
        if self.depth and not self.waits:
            self.waits = True
            return True
        self.waits = False
        return False

    def left(self) -> None:
        """A call of compiled code is over. Raises KeyboardInterrupt where a signal came in it."""
        self.depth -= 1
        if self.waits and not self.depth:
            self.waits = False
            raise KeyboardInterrupt

    @property
    def status(self) -> int:
        """Of a process that a signal ended, as shells have it: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + (self.number or signal.SIGINT)


STOP = Stop()
"""Stop requests of this process."""
