"""A text cut at its mentions, so that a template can mark them without any HTML in the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgqa.records import Mention


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text."""

    text: str
    entity: str = ""
    """Id of the entity; empty outside mentions."""
    role: str = ""
    """``start``, ``answer``, ``candidate``, ``bridge`` or empty."""
    step: int | None = None
    """Place of the entity in the chain, from 1: the subject."""


def pieces(text: str, mentions: Iterable[Mention], *, roles: Mapping[str, str], steps: Mapping[str, int]) -> list[Piece]:
    """``text`` in consecutive pieces; of overlapping mentions, only the first and longest is marked. Invalid ones are skipped."""
    result: list[Piece] = []
    end = 0
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if not end <= mention.start < mention.end <= len(text):
            continue
        if mention.start > end:
            result.append(Piece(text=text[end : mention.start]))
        entity = mention.entity
        result.append(Piece(text=text[mention.start : mention.end], entity=entity, role=roles.get(entity, ""), step=steps.get(entity)))
        end = mention.end
    if end < len(text):
        result.append(Piece(text=text[end:]))
    return result
