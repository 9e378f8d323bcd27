"""A limit on the requests of each person, so that one runaway page leaves the others time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RateLimit:
    """A bucket of tokens per person: ``burst`` requests at once, then ``rate`` a second."""

    def __init__(self, *, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        """All buckets are full."""
        self._rate = rate
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, person: str) -> bool:
        """Whether the person may make a request now."""
        now = self._clock()
        with self._lock:
            tokens, since = self._buckets.get(person, (self._burst, now))
            tokens = min(self._burst, tokens + (now - since) * self._rate)
            self._buckets[person] = (tokens - 1 if tokens >= 1 else tokens, now)
            return tokens >= 1
