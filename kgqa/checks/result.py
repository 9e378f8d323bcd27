"""What an audit found, and where its report is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.checks.conditions import Outcome
from kgqa.checks.findings import Finding
from kgqa.splits.certificate import Certificate

if TYPE_CHECKING:
    from kgqa.checks.readers.judging import Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit found, and where its report is."""

    dataset: str
    """The name of the file or folder."""
    format: str
    questions: dict[str, int]
    """Split → how many, those of other sets included."""
    findings: tuple[Finding, ...]
    """In the order of ``STATES``, the worst first."""
    outcomes: tuple[Outcome, ...]
    """One for each condition."""
    certificate: Certificate | None
    """None where nothing was compared."""
    remarks: tuple[str, ...]
    """What is to be said of each set once it was read: files that were passed over, faults of content."""
    readers: Judged | None
    """What trained readers said; None where they were not asked."""
    html: Path
    json: Path
    replaced: bool
    """Whether an earlier report stood there."""

    @property
    def failed(self) -> bool:
        """Whether a condition holds."""
        return any(outcome.holds for outcome in self.outcomes)
