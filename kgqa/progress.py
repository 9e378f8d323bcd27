"""How a long run tells what it is doing: the library reports, whoever called decides whether to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
        """Do nothing, as no progress is shown."""

    def advance(self, amount: int) -> None:
        """Do nothing, as no progress is shown."""

    def finish(self, note: str = "") -> None:
        """Do nothing, as no progress is shown."""


@dataclass(frozen=True, slots=True)
class Within:
    """Progress of a part, whose stages say which part it is."""

    progress: Progress
    where: str

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage of the part."""
        self.progress.start(f"{stage}, {self.where}", total, unit)

    def advance(self, amount: int) -> None:
        """Pass the call on unchanged."""
        self.progress.advance(amount)

    def finish(self, note: str = "") -> None:
        """Pass the call on unchanged."""
        self.progress.finish(note)
