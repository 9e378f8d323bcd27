"""Where a project stands, recomputed from its journal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from kgqa.collection.exports import decided
from kgqa.collection.figures import Figures, figures
from kgqa.collection.journal import Journal
from kgqa.collection.state import replay, rows_table
from kgqa.collection.task import Figure

MOST_FLAGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A problem that somebody reported."""

    item: str
    person: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a project stands."""

    project: str
    figures: Figures
    own: tuple[Figure, ...]
    """Figures of the task, as human scores."""
    flags: tuple[Flag, ...]
    """Reported problems, the newest first, at most ``MOST_FLAGS``."""

    def record(self) -> dict[str, Any]:
        """The status as data that JSON can hold."""
        own = [
            {"name": figure.name, "items": figure.items, "value": figure.value.mean, "low": figure.value.low, "high": figure.value.high}
            for figure in self.own
        ]
        return {"project": self.project, **self.figures.record(), "own": own, "flagged": [asdict(flag) for flag in self.flags]}


def status_of(journal: Journal) -> Status:
    """The status of an open journal."""
    state = replay(rows_table(journal.event_rows()))
    own = tuple(journal.task.figures(list(decided(state, journal.task.steps))))
    newest = state.flags.sort("number", descending=True).head(MOST_FLAGS).select("item", "person", "reason")
    flags = tuple(Flag(item=item, person=person, reason=reason) for item, person, reason in newest.iter_rows())
    return Status(project=journal.project.settings.name, figures=figures(state), own=own, flags=flags)
