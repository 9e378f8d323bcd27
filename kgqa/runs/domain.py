"""The record that a run receives about its domain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.settings.domain import DomainSettings
from kgqa.store.queries import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A domain with its settings resolved and its queries read."""

    settings: DomainSettings
    own: dict[str, Any]
    """Contents of the user's own files; empty for a built-in domain."""
    source: Path
    """The folder with the source files."""
    imports_in: Path | None
    """The TOML file whose ``imports`` make ``source``; None where ``source`` was there before."""
    is_seed: bool
    """Whether ``source`` is the small domain that kgqa ships."""
    queries: dict[str, Query]
    """All named queries, including the domain's own."""
