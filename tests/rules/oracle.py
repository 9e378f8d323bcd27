"""What is to be mined, in sets and dictionaries, straight from the definitions; the kernels are compared with it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.rules.drawing import Fact, Knowledge

Path = tuple[int, int, int]
"""First role, second role, and the relation that they imply."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The measures of one path rule."""

    support: int
    body: int
    typed: int
    head_facts: int


def joined(known: Knowledge) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """Two roles → the pairs (x, y) that they join over some z; x, y and z are three."""
    edges = known.edges()
    found: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for x, first, z in edges:
        for other, second, y in edges:
            if other == z and y != x:
                found.setdefault((first, second), set()).add((x, y))
    return found


def has_subject(facts: list[Fact], relation: int) -> set[int]:
    return {head for head, r, _ in facts if r == relation}


def has_object(facts: list[Fact], relation: int) -> set[int]:
    return {tail for _, r, tail in facts if r == relation}


def path_rules(known: Knowledge, *, min_support: int) -> dict[Path, Measured]:
    """Every rule with its measures (AMIE, section 3); a pair counts once, however many z join it."""
    facts, rules = set(known.facts), {}
    for (first, second), pairs in joined(known).items():
        for relation in range(known.relations):
            subjects, objects = has_subject(known.facts, relation), has_object(known.facts, relation)
            body = {(x, y) for x, y in pairs if x in subjects}
            typed = {(x, y) for x, y in body if y in objects}
            true = {(x, y) for x, y in pairs if (x, relation, y) in facts}
            if len(true) >= min_support:
                rules[first, second, relation] = Measured(
                    support=len(true), body=len(body), typed=len(typed), head_facts=sum(r == relation for _, r, _ in facts)
                )
    return rules


def implied(known: Knowledge) -> dict[tuple[int, int], tuple[int, int]]:
    """(role, relation) → (support, typed), where typed is not 0; a relation says nothing about itself."""
    facts, found = set(known.facts), {}
    for relation in range(known.relations):
        subjects, objects = has_subject(known.facts, relation), has_object(known.facts, relation)
        for role in range(known.roles):
            pairs = {(x, y) for x, r, y in known.edges() if r == role and x in subjects and y in objects}
            if pairs and role != 2 * relation:
                found[role, relation] = sum((x, relation, y) in facts for x, y in pairs), len(pairs)
    return found
