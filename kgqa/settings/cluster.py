"""Addresses of Ray clusters, as the option ``--cluster`` and a domain's file give them."""

from __future__ import annotations

import re

FORMS = "auto, HOST:PORT or ray://HOST:PORT"
NONE = "none"
"""The option's value for threads, where a domain's file names a cluster."""
_ADDRESS = re.compile(r"(ray://)?(\[[0-9A-Fa-f:]+\]|[^\s:/@\[\]]+):(\d{1,5})")


def is_address(text: str) -> bool:
    """Whether the text has one of :data:`FORMS`.

    >>> is_address("ray://head:10001"), is_address("head")
    (True, False)
    """
    match = _ADDRESS.fullmatch(text)
    return text == "auto" or (match is not None and 0 < int(match[3]) < 1 << 16)
