"""Result of an audit, with the files of its report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.checks.conditions import Outcome
from kgqa.checks.findings import Finding
from kgqa.splits.certificate import Certificate

if TYPE_CHECKING:
    from kgqa.checks.readers.judging import ReaderResults


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The findings, conditions and files that :func:`kgqa.audit` returns."""

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
    """Remarks about each set: skipped files, faults of content."""
    readers: ReaderResults | None
    """Results of trained readers; None without ``readers``."""
    html: Path
    json: Path
    replaced: bool
    """Whether an earlier report was replaced."""

    @property
    def failed(self) -> bool:
        """Whether a condition of ``--fail-on`` holds, so that the command exits with status 1."""
        return any(outcome.holds for outcome in self.outcomes)
