"""A user's Ctrl-C, and the system's request to end, at the end of a step: so that what is saved is whole."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from kgqa.stop import NUMBERS, STOP


class Asked(Exception):
    """Raised between two batches where somebody has asked that the run ends."""


class Stopping:
    """Within it the first signal is noted, and the second one acts as it would have. Elsewhere than in the main thread nothing changes."""

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
        """Note signals from now on, if this is the main thread."""
        if threading.current_thread() is threading.main_thread():
            heard = (number for number in NUMBERS if signal.getsignal(number) != signal.SIG_IGN)  # as nohup has it
            self._before = {number: signal.signal(number, self._note) for number in heard}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Restore the previous signal handlers."""
        self._put_back()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked, STOP.number = True, number
        self._put_back()

    def _put_back(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)
