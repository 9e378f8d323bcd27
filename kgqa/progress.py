"""How a long run tells what it is doing: the library reports, whoever called decides whether to show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Advance = Callable[[int], object]
"""Is told how many more units are done, as :meth:`Progress.advance` is."""


class Progress(Protocol):
    """Receives what a run does; the command line draws bars from it, :class:`Silent` ignores it."""

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Begin ``stage``; ``total`` is in ``unit`` (rows, bytes, queries), or None where it is not known."""

    def advance(self, amount: int) -> None:
        """``amount`` more units of the current stage are done."""

    def finish(self, note: str = "") -> None:
        """The current stage is done; ``note`` says what came out."""


class Silent:
    """The default: a library prints nothing."""

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Ignore."""

    def advance(self, amount: int) -> None:
        """Ignore."""

    def finish(self, note: str = "") -> None:
        """Ignore."""
