"""Where a project stands, recomputed from its journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgqa.collection.exports import decided
from kgqa.collection.figures import Figures, figures
from kgqa.collection.journal import Journal
from kgqa.collection.state import replay, rows_table
from kgqa.collection.task import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a project stands."""

    project: str
    figures: Figures
    own: tuple[Figure, ...]
    """Figures of the task, as human scores."""

    def record(self) -> dict[str, Any]:
        """The status as JSON."""
        own = [
            {"name": each.name, "items": each.items, "value": each.value.mean, "low": each.value.low, "high": each.value.high}
            for each in self.own
        ]
        return {"project": self.project, **self.figures.record(), "own": own}


def status_of(journal: Journal) -> Status:
    """The status of an open journal."""
    state = replay(rows_table(journal.event_rows()))
    own = tuple(journal.task.figures(list(decided(state, journal.task.steps))))
    return Status(project=journal.project.settings.name, figures=figures(state), own=own)
