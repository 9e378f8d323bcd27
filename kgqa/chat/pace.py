"""When requests to an endpoint may be sent: so many a minute, and none before the time that the endpoint named."""

from __future__ import annotations

import time
from collections import defaultdict
from threading import Event, Lock

MINUTE = 60.0


class Pace:
    """The times at which the requests to one address are sent, for all threads and readers of this process."""

    def __init__(self) -> None:
        """The first request may be sent at once."""
        self._lock = Lock()
        self._next = 0.0
        """When the next request may be sent, by the monotonic clock."""

    def wait(self, per_minute: float | None, stop: Event) -> None:
        """Wait until another request may be sent, or until ``stop``. Requests are sent at even distances; None: at once."""
        distance = 0.0 if per_minute is None else MINUTE / per_minute
        while not stop.is_set():
            with self._lock:
                now = time.monotonic()
                seconds = self._next - now
                if seconds <= 0:
                    self._next = now + distance
                    return
            stop.wait(seconds)

    def hold(self, seconds: float) -> None:
        """Send nothing for so long, as the endpoint wants it."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


_paces: defaultdict[str, Pace] = defaultdict(Pace)


def pace_of(address: str) -> Pace:
    """The pace of an address. A limit counts for the process and not for a reader: an audit has many, one after the other."""
    return _paces[address]
