"""What questions are made from: the hops, attributes, texts and names that the candidates need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgqa.recipes.iirc.operands import ENTITY, TIME
from kgqa.recipes.iirc.passages import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What the questions are made from, of the documents and entities that they need."""

    hops: Mapping[int, Mapping[str, Any]]
    """Row of ``single_hop`` → the question, with ``answer`` and ``start`` where the document states it best."""
    attributes: Mapping[int, Mapping[str, Any]]
    """Row → attribute."""
    texts: Texts
    labels: Mapping[str, str]
    """Entity → its label, with an article where texts have one."""
    names: Mapping[str, Sequence[str]]
    """Entity → its names."""


def typed(attribute: Mapping[str, Any]) -> dict[str, Any]:
    """The typed answer for programs (:mod:`kgqa.recipes.iirc.program`)."""
    if attribute["kind"] == ENTITY:
        return {"entity": attribute["answer_entity"], "text": attribute["said"]}
    if attribute["kind"] == TIME:
        return {"time": attribute["time"], "calendar": attribute["calendar"]}
    return {"number": attribute["number"], "unit": attribute["unit"], "base": attribute["base"]}
