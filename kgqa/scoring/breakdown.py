"""Scores by hops, answer type, shape, relation, type and level, as far as the set has them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kgqa.formats.provenance import everything
from kgqa.metrics.bootstrap import Interval, intervals
from kgqa.records import Instance, Step

UNKNOWN = "not known"
HOPS = ("steps of the decomposition", "documents on the shortest chain to the answer", "supporting paragraphs")
"""Definitions of hops; the first one that any question of the set has is used."""
DIMENSIONS = ("hops", "answer type", "shape", "relation", "type", "level")
SHAPES: Mapping[tuple[tuple[int, int, int], ...], str] = MappingProxyType(
    {
        ((0, 0, 1), (1, 1, 0)): "2hop",
        ((0, 0, 1), (1, 1, 1), (2, 1, 0)): "3hop1",
        ((0, 0, 1), (0, 0, 1), (1, 2, 0)): "3hop2",
        ((0, 0, 1), (1, 1, 1), (2, 1, 1), (3, 1, 0)): "4hop1",
        ((0, 0, 1), (0, 0, 1), (1, 2, 1), (2, 1, 0)): "4hop2",
        ((0, 0, 1), (0, 0, 1), (1, 1, 1), (2, 2, 0)): "4hop3",
    }
)
"""MuSiQue's six shapes (Trivedi et al. 2022, table 1), by each step's depth, the steps it needs, and the steps that need it."""
SHAPE_IN_ID = re.compile(r"(2hop|3hop[12]|4hop[123])__")
"""Prefixes of MuSiQue's ids."""
_NUMBER = re.compile(r"([0-9]{1,18})")
"""Longer ones are compared piece by piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The questions that share one value."""

    value: str
    questions: int
    scores: dict[str, Interval]
    """Name → mean and interval, on the scale of the official script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One way to group the questions."""

    name: str
    """Name of the dimension, a key of ``DIMENSIONS``."""
    basis: str | None
    """For hops, which of ``HOPS`` was counted."""
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Traits:
    """The values of one question by which scores are broken down."""

    known: dict[str, str] = field(default_factory=dict)
    """Dimension → value of the question."""
    hops: dict[str, int] = field(default_factory=dict)
    """One of the first two of ``HOPS`` → count."""
    supporting: set[str] = field(default_factory=set)


class TraitsOf:
    """The traits of a set's questions, which may have several instances. Memory: a few short texts per question."""

    def __init__(self) -> None:
        """Questions are added with :meth:`add`."""
        self._traits: dict[str, Traits] = {}

    def add(self, key: str, instance: Instance, supporting: Iterable[str], *, united: bool) -> None:
        """Add an instance of question ``key``.

        If ``united``, the support of a question is the union over its instances; else the answerable instance overrides its twin.
        """
        earlier = self._traits.get(key)
        if earlier is not None and not united and not instance.answerable:
            return
        traits = _traits(instance)
        traits.supporting.update(supporting)
        if earlier is not None and united:
            traits.supporting.update(earlier.supporting)
            traits.known.update(earlier.known)
            traits.hops.update(earlier.hops)
        self._traits[key] = traits

    def dimensions(self, keys: Sequence[str]) -> dict[str, tuple[str | None, dict[str, str]]]:
        """Dimension → its basis, and each question's value. Dimensions without any value are dropped."""
        values_by_dimension: dict[str, tuple[str | None, dict[str, str]]] = {}
        basis = next((name for name in HOPS if any(self._hops(key, name) for key in keys)), None)
        if basis is not None:
            values_by_dimension["hops"] = basis, {key: str(self._hops(key, basis) or UNKNOWN) for key in keys}
        for name in DIMENSIONS[1:]:
            values = {key: self._traits[key].known.get(name, UNKNOWN) for key in keys}
            if set(values.values()) - {UNKNOWN}:
                values_by_dimension[name] = None, values
        return values_by_dimension

    def _hops(self, key: str, basis: str) -> int:
        traits = self._traits[key]
        return traits.hops.get(basis, 0) if basis in HOPS[:2] else len(traits.supporting)


def break_down(
    per_record: Mapping[str, Mapping[str, float]], traits: TraitsOf, names: Sequence[str], *, scale: float, seed: int
) -> tuple[Dimension, ...]:
    """The scores ``names``, as far as present, for the questions of each value of each dimension."""
    scores = {name: per_record[name] for name in names if name in per_record}
    keys = list(dict.fromkeys(key for values in scores.values() for key in values))
    return tuple(
        Dimension(name=name, basis=basis, groups=tuple(_groups(scores, values, scale=scale, seed=seed)))
        for name, (basis, values) in traits.dimensions(keys).items()
    )


def _groups(scores: Mapping[str, Mapping[str, float]], values: Mapping[str, str], *, scale: float, seed: int) -> Iterator[Group]:
    members: dict[str, list[str]] = {value: [] for value in in_order(values)}
    for key, value in values.items():
        members[value].append(key)
    for value, keys in members.items():
        scores_of_group = {score: {key: by_key[key] for key in keys if key in by_key} for score, by_key in scores.items()}
        scores_by_name = {score: by_key for score, by_key in scores_of_group.items() if by_key}
        yield Group(value=value, questions=len(keys), scores=intervals(scores_by_name, scale=scale, seed=seed))


def _traits(instance: Instance) -> Traits:
    notes = everything(instance)
    traits = Traits()
    if instance.answer_type != "none" or "dire" not in notes:  # a context without the answer is no question without one
        traits.known["answer type"] = instance.answer_type
    steps = instance.decomposition
    if steps:
        traits.hops[HOPS[0]] = len(steps)
        shape = SHAPE_IN_ID.match(instance.id)
        traits.known["shape"] = shape[1] if shape else shape_of(steps)
    documents = documents_on_chain(instance)
    if documents:
        traits.hops[HOPS[1]] = documents
    for name, value in (
        ("relation", _relation(instance, notes)),
        ("type", _noted_text(notes, "type")),
        ("level", _noted_text(notes, "level")),
    ):
        if value is not None:
            traits.known[name] = value
    return traits


def shape_of(steps: Sequence[Step]) -> str:
    """One of MuSiQue's six shapes, or ``other, 5 steps``."""
    depths: dict[str, int] = {}
    uses = Counter(name for step in steps for name in step.depends_on)
    for step in steps:
        depths[step.id] = max((depths.get(name, 0) + 1 for name in step.depends_on), default=0)
    signature = tuple(sorted((depths[step.id], len(step.depends_on), uses[step.id]) for step in steps))
    return SHAPES.get(signature) or f"other, {len(steps)} step{'s' if len(steps) > 1 else ''}"


def documents_on_chain(instance: Instance) -> int | None:
    """Documents on the shortest chain to the answer; chains alternate entities and documents."""
    for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=False):
        if candidate.id == instance.answer_id and chains:
            return min(len(chain) // 2 for chain in chains)
    return None


def _relation(instance: Instance, notes: Mapping[str, Any]) -> str | None:
    """QAngaroo's: as the recipe notes it, else the first word of the query."""
    if isinstance(notes.get("relation"), str):
        return str(notes["relation"])
    words = instance.question.split(maxsplit=1)
    return words[0] if instance.answer_type == "candidate" and words else None


def _noted_text(notes: Mapping[str, Any], name: str) -> str | None:
    """HotpotQA's and 2WikiMultihopQA's fields."""
    for format_name in ("hotpotqa", "twowiki"):
        value = notes[format_name].get(name) if isinstance(notes.get(format_name), dict) else None
        if isinstance(value, str) and value:
            return value
    return None


def in_order(values: Mapping[str, str]) -> list[str]:
    """Distinct values: those with a leading number by number, others by frequency, unknown ones last."""
    counts = Counter(values.values())

    def sort_key(value: str) -> tuple[Any, ...]:
        if value == UNKNOWN:
            return (2,)
        if _NUMBER.match(value):
            # The pattern's group makes every second part a number.
            return 0, [int(part) if number % 2 else part for number, part in enumerate(_NUMBER.split(value))], value
        return 1, -counts[value], value

    return sorted(counts, key=sort_key)
