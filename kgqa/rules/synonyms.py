"""Which relations say the same, as two sources have the same relation, or one source the same under two names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgqa.arrays.rows import IntArray
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.roles import RoleGraph

SAME = 0.7
"""How surely two roles must imply each other to say the same."""


def synonyms_of(facts: RoleGraph, implied: ImpliedRelations, labels: Sequence[str]) -> IntArray:
    """For each role the one that stands for it and its synonym.

    Two relations say the same if their labels end alike ("spouse s / spouse" and "spouse") and each implies the other with a confidence of
    ``SAME`` where subject and object have both, or if so many facts of each are facts of the other ("nationality" and "citizenship").
    By the first measure without the labels, "director" and "written by" would be one, as most directors of the graph wrote their films too;
    "county" and "capital of" by it alone as well, and not by the second, as few towns are a capital.
    """
    roles = np.arange(facts.role_count, dtype=np.int32)
    edges = np.bincount(facts.roles, minlength=facts.role_count)
    source, target = implied.relations.sources(), implied.relations.targets
    whole = wilson_low(implied.support, np.maximum(edges[source], implied.support))
    forwards = (source % 2 == 0) & (source < 2 * facts.relations)
    columns = (source // 2, target, implied.confidence, whole)
    rows = zip(*(column[forwards].tolist() for column in columns), strict=True)
    known = {(one, other): (sure, share) for one, other, sure, share in rows}
    ends = [label.rpartition("/")[2].strip().casefold() for label in labels]
    pairs = []
    for (one, other), (sure, share) in known.items():
        back, back_share = known.get((other, one), (0.0, 0.0))
        if (min(sure, back) >= SAME and ends[one] == ends[other]) or min(share, back_share) >= SAME:
            pairs.append((-min(sure, back), one, other))
    best: dict[int, int] = {}
    for _, one, other in sorted(pairs):
        best.setdefault(one, other)
    for one, other in sorted(best.items()):
        if one < other and best.get(other) == one:
            chosen, dropped = (one, other) if edges[2 * one] >= edges[2 * other] else (other, one)
            roles[2 * dropped], roles[2 * dropped + 1] = 2 * chosen, 2 * chosen + 1
    return roles
