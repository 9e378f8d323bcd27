"""The header Retry-After of HTTP, for all endpoints (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime


def seconds_until(retry_after: str) -> float | None:
    """Seconds of a Retry-After header, which is a number or a date; None if it is neither.

    >>> seconds_until("2"), seconds_until("soon"), seconds_until("")
    (2.0, None, None)
    """
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return None
        return max(0.0, seconds)
    return seconds if 0 <= seconds < float("inf") else None
