"""What a composer makes of a chain, whoever it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgqa.progress import Progress
from kgqa.recipes.musique.composers.chain import Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A question, or why there is none."""

    question: str = ""
    reason: str = ""
    """A sentence for reports; empty where there is a question."""


class Composer(Protocol):
    """Writes multi-hop questions (step S7)."""

    def write(self, chains: Sequence[Chain], progress: Progress) -> Iterator[Written]:
        """What it makes of each, in order. What passes no check is left out later. Raises KgqaError."""
        ...
