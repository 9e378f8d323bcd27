"""Synonymous relations: two sources have the same relation, or one source has it under two names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgqa.arrays.rows import IntArray
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.roles import RoleGraph

SAME = 0.7
"""Minimum confidence of two relations in each other, as a share of facts, for them to count as synonyms."""


def synonyms_of(facts: RoleGraph, implied: ImpliedRelations, labels: Sequence[str]) -> IntArray:
    """For each role the role that represents it and its synonyms; two sources may have the same relation.

    Two relations are synonyms in two cases. Their labels end alike ("spouse s / spouse", "spouse"), and each implies the other
    with a confidence of ``SAME`` where subject and object have both. Or each holds for a share of ``SAME`` of all facts of the other
    ("nationality", "citizenship"). Confidence alone would merge "director" and "written by", because most directors in the graph also wrote
    their films.
    """
    roles = np.arange(facts.role_count, dtype=np.int32)
    edges = np.bincount(facts.roles, minlength=facts.role_count)
    source, target = implied.relations.sources(), implied.relations.targets
    confidence = wilson_low(implied.support, np.maximum(edges[source], implied.support))
    # One direction suffices, since the inverse roles hold the same facts.
    forwards = (source % 2 == 0) & (source < 2 * facts.relations)
    columns = (source // 2, target, implied.confidence, confidence)
    rows = zip(*(column[forwards].tolist() for column in columns), strict=True)
    measures = {(first, second): (sure, share) for first, second, sure, share in rows}
    ends = [label.rpartition("/")[2].strip().casefold() for label in labels]
    pairs = []
    for (first, second), (sure, share) in measures.items():
        back, back_share = measures.get((second, first), (0.0, 0.0))
        if (min(sure, back) >= SAME and ends[first] == ends[second]) or min(share, back_share) >= SAME:
            pairs.append((-min(sure, back), first, second))
    # Merge only pairs that are each other's best match, so that no chain of near-synonyms collapses into one role.
    best: dict[int, int] = {}
    for _, first, second in sorted(pairs):
        best.setdefault(first, second)
    for first, second in sorted(best.items()):
        if first < second and best.get(second) == first:
            representative, duplicate = (first, second) if edges[2 * first] >= edges[2 * second] else (second, first)
            roles[2 * duplicate], roles[2 * duplicate + 1] = 2 * representative, 2 * representative + 1
    return roles
