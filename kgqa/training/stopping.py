"""Defer a user's Ctrl-C, or the system's request to end, to the end of a step, so that the saved state is consistent."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from kgqa.stop import NUMBERS, STOP


class StopRequested(Exception):
    """Raised between two batches after a request to end the run."""


class Stopping:
    """Within it the first signal is noted, and the second has its usual effect. Outside the main thread nothing changes."""

    def __init__(self) -> None:
        """No signal has been received yet."""
        self.is_requested = False
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
        """Start noting signals, in the main thread."""
        if threading.current_thread() is threading.main_thread():
            signals = (number for number in NUMBERS if signal.getsignal(number) != signal.SIG_IGN)  # as nohup has it
            self._handlers = {number: signal.signal(number, self._note) for number in signals}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Restore the previous signal handlers."""
        self._put_back()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.is_requested, STOP.number = True, number
        self._put_back()

    def _put_back(self) -> None:
        while self._handlers:
            number, handler = self._handlers.popitem()
            signal.signal(number, handler)
