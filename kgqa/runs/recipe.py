"""A recipe: its stages, and the function that writes its dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, Stage


class DatasetWriter(Protocol):
    """Writes a dataset from the tables of the stages."""

    def __call__(self, folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
        """Write all files except the manifest into ``folder``, and return entries for the manifest.

        ``counts`` is required: the samples of each of ``SPLITS``. ``files`` (name → SHA-256) is optional and saves hashing the files again.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A way to make a dataset from tables."""

    stages: tuple[Stage, ...]
    """In order; each stage's key includes the one before it."""
    write: DatasetWriter
    files: frozenset[str]
    """All files that :attr:`write` may write, relative to the dataset's folder."""
    version: int
    """Raised when the files of a dataset change for the same samples."""
    queries: Callable[[Domain, str], list[str]]
    """The named queries of a domain that a run with this traversal uses; raises SettingsError if the domain has too few."""
