"""A recipe: the settings that it takes, the stages that it runs, and what writes its dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, Stage
from kgqa.settings.base import RecipeSettings


class DatasetWriter(Protocol):
    """Writes what the stages left into a new folder."""

    def __call__(self, folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
        """Write all files but the manifest, to which what is returned goes.

        That is at least ``counts``, the samples of each of ``SPLITS``; ``files``, a file's hash by its name, spares hashing it again.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One way from tables to a dataset."""

    settings: type[RecipeSettings]
    """Model of the recipe's settings, the section of a domain with its name."""
    stages: tuple[Stage, ...]
    """In order; each stage's key includes the one before it."""
    write: DatasetWriter
    files: frozenset[str]
    """All that :attr:`write` may write, relative to the dataset's folder."""
    version: int
    """Raised when the files of a dataset change for the same samples."""
    queries: Callable[[Domain, str], list[str]]
    """The named queries of a domain that a run with this traversal asks; SettingsError where the domain has too few."""
