"""Where rows end in a table with quoted cells, as Python's ``csv`` reads them: a quotation mark opens a cell at its start alone."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt

QUOTE, LINE_FEED = ord('"'), ord("\n")


def last_row_end(data: bytes, delimiter: str) -> int:
    """End of the last row that ends in ``data``, which begins with one: after the last line feed outside a quoted cell; 0 for none."""
    if b'"' not in data:
        return data.rfind(b"\n") + 1
    quotes = _pairs(data, delimiter)
    if quotes is not None:
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_FEED)
        outside = np.searchsorted(quotes, ends) % 2 == 0
        return int(ends[outside][-1]) + 1 if outside.any() else 0
    limit = len(data)
    for first, last in reversed([match.span() for match in _quoted(delimiter).finditer(data) if b"\n" in match[0] or not match[1]]):
        end = data.rfind(b"\n", 0, limit) + 1
        if end > last:
            return end
        limit = first
    return data.rfind(b"\n", 0, limit) + 1


def open_quote(data: bytes, delimiter: str) -> int:
    """Where the quoted cell begins that nothing closes, -1 for none."""
    if b'"' not in data:
        return -1
    quotes = _pairs(data, delimiter)
    if quotes is not None:
        return int(quotes[-1]) if len(quotes) % 2 else -1
    return next((match.start() for match in _quoted(delimiter).finditer(data) if not match[1]), -1)


def _pairs(data: bytes, delimiter: str) -> npt.NDArray[np.intp] | None:
    """Places of the quotation marks, if they open and close cells in turn, a doubled one being both; None where others are among them."""
    array = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    quotes = np.flatnonzero(array == QUOTE)
    beside = np.isin(array, np.frombuffer(f'\r\n"{delimiter}'.encode(), np.uint8))
    if beside[quotes[::2] - 1].all() and beside[quotes[1::2] + 1].all():
        # A mark before an opening one must have closed a cell, which the places tell: between the two is nothing.
        return quotes - 1
    return None


@cache
def _quoted(delimiter: str) -> re.Pattern[bytes]:
    """Finds quoted cells; the group is empty for one that is not closed."""
    return re.compile(rb"(?:(?<=\A)|(?<=[\n\r" + re.escape(delimiter.encode()) + rb']))"(?:[^"]++|"")*+("|\Z)')
