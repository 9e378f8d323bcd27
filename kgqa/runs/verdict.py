"""Verdict on a finished dataset, in sentences for the terminal, the card and the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kgqa.runs.stage import Run

VERSION = 1
"""Raised when the same dataset gets another verdict, so that finished datasets get the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a user should know before using a dataset; each entry is one sentence."""

    shortcuts: tuple[str, ...] = ()
    """The best shortcut baseline against chance."""
    findings: tuple[str, ...] = ()
    """What ``kgqa audit`` finds, the worst first."""
    skews: tuple[str, ...] = ()
    """Relations, last hops and shapes with a large share of one split that another split nearly lacks."""
    limit: str = ""
    """The rule that dropped most, and its setting."""
    limit_setting: str = ""
    """That setting; empty if no setting governs the rule."""
    purpose: str = ""
    """The purpose that the recipe serves; empty for a recipe that kgqa does not ship."""
    section: str = ""
    """The whole verdict as a section of the card."""

    @classmethod
    def from_manifest(cls, entry: dict[str, Any]) -> Verdict:
        """The verdict that :meth:`as_entry` described; its section stays on the card."""
        return cls(
            shortcuts=tuple(entry["shortcuts"]), findings=tuple(entry["findings"]), skews=tuple(entry["skews"]),
            limit=entry["limit"], limit_setting=entry["limit_setting"], purpose=entry["purpose"],
        )  # fmt: skip

    def as_entry(self) -> dict[str, Any]:
        """The entry of the manifest, without the section."""
        return {
            "version": VERSION, "shortcuts": list(self.shortcuts), "findings": list(self.findings), "skews": list(self.skews),
            "limit": self.limit, "limit_setting": self.limit_setting, "purpose": self.purpose,
        }  # fmt: skip


class Examiner(Protocol):
    """Examines a dataset that was just written."""

    def __call__(self, folder: Path, run: Run, manifest: dict[str, Any]) -> Verdict:
        """The verdict on the dataset in ``folder``; ``manifest`` has counts, funnel and baselines. Depends on data and settings alone."""
