"""How a long run tells what it is doing: the library reports, whoever called decides whether to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsSeen:
    """What a cluster has done of the parts of one call."""

    done: int
    total: int | None
    """None where parts are made on the way."""
    again: int
    """How often a part ran again because its worker or node had failed."""
    seconds: float
    """Since the call began."""
    busy: float
    """Seconds that parts ran, on all workers together, without those that failed."""
    workers: int
    sent: int | None
    """Bytes of shared values and parts that were put on the cluster, each once; None where the connection does not tell."""
    received: int | None
    """Bytes of results."""
    ended: bool
    """Whether the call is over."""


@runtime_checkable
class SeesParts(Protocol):
    """A :class:`Progress` that is also told what a cluster does."""

    def parts(self, seen: PartsSeen) -> None:
        """Another part of a call of the current stage is done, or the call is over."""


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

    def parts(self, seen: PartsSeen) -> None:
        """Pass the call on unchanged."""
        if isinstance(self.progress, SeesParts):
            self.progress.parts(seen)
