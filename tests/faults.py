"""Faults on demand for servers of the tests: what happens to the next requests of a kind in place of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Fault:
    """What happens to the next requests of a kind."""

    method: str
    part: str
    """Part of the path and query."""
    status: int
    times: int
    headers: Mapping[str, str] = field(default_factory=dict)


def next_fault(faults: list[Fault], method: str, path: str) -> Fault | None:
    """The first fault for this request; it is then used once more."""
    fault = next((one for one in faults if one.times and one.method == method and one.part in path), None)
    if fault is not None:
        fault.times -= 1
    return fault
