"""Memory that a stage has freed: it goes back to the system, so that the next stage does not begin with it.

Allocators keep what is freed, for the next request. A stage holds large arrays and frees them at its end, and the next stage needs others.
On a million documents, the processes of a run then held a gibibyte that nothing used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pyarrow as pa

MAPPED = 1 << 20
"""Blocks of this many bytes or more are memory maps of their own, which the system takes back when they are freed."""
_MMAP_THRESHOLD = -3
"""Number of this setting in ``mallopt`` of the GNU C library."""


@contextmanager
def returned_memory() -> Iterator[None]:
    """While this is open, Arrow takes memory from the C library, and large blocks go back to the system as soon as they are freed.

    Without the GNU C library only the first part works. The threshold stays set.
    """
    usual = pa.default_memory_pool()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, MAPPED)
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)
        give_back()


def give_back() -> None:
    """Return what Arrow and the C library hold without use. O(blocks that are held)."""
    pa.default_memory_pool().release_unused()
