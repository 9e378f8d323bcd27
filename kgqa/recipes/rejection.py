"""Why a recipe leaves a question out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A question that a recipe leaves out."""

    reason: str
    """A sentence, the same for all questions with this fault."""
    detail: str
    """The fact behind the rejection, in words."""
