"""Size of the embedded engine's buffer: derived from the machine's memory, or set in the environment."""

from __future__ import annotations

import os
from pathlib import Path

from kgqa.errors import QueryError, SettingsError
from kgqa.store.limits import read_size, size

VARIABLE = "KGQA_STORE_MEMORY"
LEAST = 128 << 20
"""Minimum buffer for the engine to open a graph."""
USUAL = 512 << 20
"""Enough for the named queries on graphs of some hundred thousand documents."""
CGROUP = Path("/sys/fs/cgroup")
"""Folder with the limits of the container, if there is one (cgroup v2)."""
MEMINFO = Path("/proc/meminfo")


def engine_memory() -> int:
    """Maximum bytes of the engine's buffer: ``KGQA_STORE_MEMORY``, or by default half of the available memory.

    The buffer is a limit, not an allocation. Raises SettingsError if the variable is no size, or too small.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return max(LEAST, available_memory() // 2)
    try:
        memory = read_size(text)
    except QueryError:
        raise SettingsError(f"{VARIABLE} {text!r} is not a size; give a number with a unit, such as 4GiB.") from None
    if memory < LEAST:
        raise SettingsError(f"{VARIABLE} {text!r} is less than the {size(LEAST)} that the graph engine needs; raise it.")
    return memory


def reading_memory(graph: Path) -> int:
    """Bytes of buffer for a process that queries the graph in this file: twice the file's size, up to :func:`engine_memory`."""
    return min(engine_memory(), max(USUAL, 2 * graph.stat().st_size))


def available_memory() -> int:
    """Bytes that this process can still allocate, on the machine or in its container, whichever has less."""
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    if MEMINFO.is_file():
        # Includes caches that Linux would free on demand.
        entries = (line.split() for line in MEMINFO.read_text("ascii").splitlines())
        free = next((int(entry[1]) << 10 for entry in entries if entry[0] == "MemAvailable:"), free)
    try:
        limit = (CGROUP / "memory.max").read_text("ascii").strip()
        used_bytes = int((CGROUP / "memory.current").read_text("ascii"))
        return free if limit == "max" else max(0, min(free, int(limit) - used_bytes))
    except (OSError, ValueError):
        return free
