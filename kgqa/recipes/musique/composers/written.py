"""Step S7 (Trivedi et al. 2022): the result of composing a chain, whichever composer did it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgqa.progress import Progress
from kgqa.recipes.musique.composers.chain import Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A question, or the reason why none was written."""

    question: str = ""
    reason: str = ""
    """The reason for reports; empty where there is a question."""


class Composer(Protocol):
    """Writes multi-hop questions (step S7)."""

    def write(self, chains: Sequence[Chain], progress: Progress) -> Iterator[Written]:
        """The result for each chain, in order; the checks come later. Raises KgqaError."""
        ...
