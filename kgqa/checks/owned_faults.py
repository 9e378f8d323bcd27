"""Faults of content (``kgqa.formats.faults``) in an audit: the check responsible for each kind, and their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType

from kgqa.formats.faults import FAULTS, Fault

OWNERS = MappingProxyType(
    {
        "wrong-place": "wrong-spans",
        "absent-support": "broken-references",
        "absent-paragraph": "broken-references",
        "wrong-reference": "broken-references",
        "unlisted-answer": "broken-references",
        "absent-answer": "empty-fields",
        "empty-question": "empty-fields",
        "empty-answer": "empty-fields",
        "empty-title": "empty-fields",
    }
)
"""Kind of a fault → the check whose subject it is; ``content-faults`` counts all kinds, and those without a check of their own alone."""
LIMIT = 400
"""Characters that an example spends on faults; a record may have thousands."""


def faults_of_check(faults: Iterable[Fault], check: str) -> list[Fault]:
    """The faults that are the subject of ``check``."""
    return [fault for fault in faults if OWNERS.get(fault.kind) == check]


def describe_fault(fault: Fault) -> str:
    """The fault's place, kind and detail as one text."""
    return f"{fault.place}: {FAULTS[fault.kind]}: {fault.detail}"


def join_faults(faults: Sequence[str]) -> str:
    """The first of some faults, as far as there is room, and how many more there are."""
    count, length = 0, 0
    while count < len(faults) and length + len(faults[count]) <= LIMIT:
        length += len(faults[count]) + 2
        count += 1
    text = "; ".join(faults[:count])
    if not count and faults:
        text, count = f"{faults[0][:LIMIT]}…", 1
    return text + (f"; and {len(faults) - count:,} more" if count < len(faults) else "")
