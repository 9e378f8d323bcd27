"""Ports for servers that the tests start."""

from __future__ import annotations

import random
import socket

PORTS = range(20_000, 32_000)
"""Below the ports that the system gives to connections (32768 and up on Linux), which could take one before the server starts; and above
those of Ray's workers (10002 to 19999).
"""


def free_port() -> int:
    """A port that nobody listens on right now."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
