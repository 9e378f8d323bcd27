"""A domain that is ready to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.settings.domain import DomainSettings
from kgqa.store.queries import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A domain that is ready to run."""

    settings: DomainSettings
    own: dict[str, Any]
    """Contents of the user's own files; empty for a built-in domain."""
    source: Path
    """The folder that is read."""
    is_seed: bool
    """Whether that is the small domain that kgqa ships."""
    queries: dict[str, Query]
    """All named queries, the domain's own included."""
