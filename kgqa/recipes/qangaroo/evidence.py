"""Evidence grades: the confidence with which a chain implies that its end is an object of the question's relation.

Each hop has the roles that join its two entities: the facts of the graph in both directions, and how closely the document mentions the two.
Rules mined from the training facts (:mod:`kgqa.rules`) tell which relation two roles in a row imply. In a chain of three hops, two of them
first imply a relation, which then forms a path with the third. The grade is the highest product of confidences. It uses no names or words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.parallel import Engine, Threads
from kgqa.arrays.rows import Adjacency, IntArray, Offsets
from kgqa.arrays.search import lower_bound, row_holds
from kgqa.recipes.qangaroo.hops import TextHops
from kgqa.recipes.qangaroo.samples import GRADE, HOP_ROLES, BoolArray, Grades, Samples
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.paths import PathRules, path_index
from kgqa.rules.roles import TEXT_ROLES, RoleGraph, role_text

SURE = 0.5
"""Minimum confidence of a relation that two of three hops imply, for it to count as the first part of a path."""
MOST_HOPS = 3
"""Maximum number of documents on a graded chain; longer chains have confidence 0."""
MOST_ROLES = 16
"""Maximum number of facts between two entities; further ones are ignored, but real graphs have fewer."""
MOST_IMPLIED = 64
"""Maximum number of relations that two of three hops imply."""
STEP = 1 << 16
"""Number of chains that one thread grades at a time."""


class Evidence:
    """Grades chains by facts and mined rules; prepared once, and used in batches that release the interpreter lock."""

    def __init__(self, facts: RoleGraph, hops: TextHops, rules: PathRules, implied: ImpliedRelations) -> None:
        """``facts`` holds the facts of all splits and no text roles; ``rules`` and ``implied`` were mined from the training facts only.

        Facts of dev and test may appear on a hop, because a reader finds them in the document.
        """
        self._arrays = (
            facts.offsets, facts.targets, facts.roles, facts.role_count, hops.offsets, hops.before, hops.after, hops.grades,
            *path_index(rules, facts.role_count), rules.relation, rules.confidence.astype(np.float32),
            implied.relations.offsets, implied.relations.targets, implied.confidence.astype(np.float32),
            *_relations_of(facts, 0), *_relations_of(facts, 1),
        )  # fmt: skip
        self._turned = _turned(facts)

    def grade(self, samples: Samples, *, facts: int = 0, engine: Engine | None = None) -> Grades:
        """A ``GRADE`` for each entry of ``samples.chains.targets``; the result does not depend on ``engine`` (by default threads).

        For chains to the answer, a path with at least ``facts`` facts of the graph is preferred to one with fewer, whatever its confidence.
        """
        candidate = samples.chains.sources()
        relation = samples.questions.relation[samples.question_of_candidate()[candidate]]
        least_facts = np.where(samples.is_answer(), facts, 0)[candidate]
        arguments = (samples.nodes.offsets, samples.nodes.targets, samples.chains.targets, relation, least_facts, *self._arrays)
        grades, begins = _no_grades(len(relation)), range(0, len(relation), STEP)
        for begin, part in zip(begins, (engine or Threads()).map(_grade_part, begins, arguments), strict=True):
            grades[begin : begin + len(part)] = part
        return grades

    def implied_by_facts(self, samples: Samples) -> npt.NDArray[np.float32]:
        """The highest confidence with which two facts in a row imply each entry of ``candidates.targets``; no text has to state them."""
        question = samples.question_of_candidate()
        offsets, targets, roles, _ = self._arrays[:4]
        bounds, keys, _, confidence = self._arrays[8:12]
        return _by_facts(
            samples.questions.head[question], samples.candidates.targets, samples.questions.relation[question],
            offsets, targets, roles, bounds, keys, confidence, self._turned,
        )  # fmt: skip


def _grade_part(
    begin: int, node_offsets: Offsets, nodes: IntArray, chains: IntArray, relation: IntArray, least_facts: IntArray, *arrays: Any
) -> Grades:
    rows = slice(begin, begin + STEP)
    grades = _no_grades(len(chains[rows]))
    _grade(node_offsets, nodes, chains[rows], relation[rows], least_facts[rows], *arrays, grades)  # type: ignore[call-arg]
    return grades


def _no_grades(count: int) -> Grades:
    grades = np.zeros(count, GRADE)
    for name in (*HOP_ROLES, "implied"):
        grades[name] = -1
    return grades


def with_best_chains(samples: Samples, grades: Grades, is_confident: BoolArray, *, only: bool) -> Samples:
    """The same samples with each candidate graded by its best chain, and its chains best first; ``only``: without the other chains.

    Chains are ranked by confidence, then by the text grade of their weakest hop, then by length, then by number. For answers, chains with
    enough confidence (``is_confident``: bool, one per chain) come first, ranked by text grade before confidence, because a reader has only
    the texts.
    """
    candidate = samples.chains.sources()
    is_answer, length = samples.is_answer()[candidate], samples.nodes.counts()[samples.chains.targets]
    text_grades = np.where(is_answer & is_confident, grades["text"], 0)
    order = np.lexsort(
        (np.arange(len(candidate)), length, -grades["text"], -grades["confidence"], -text_grades, is_answer & ~is_confident, candidate)
    )
    is_best = np.ones(len(order), np.bool_)
    is_best[1:] = candidate[order][1:] != candidate[order][:-1]
    assert is_best.sum() == len(samples.candidates.targets), "every candidate has a chain"
    return samples.with_chains(order[is_best] if only else order).with_grades(grades[order[is_best]])


def path_texts(grades: Grades, labels: Sequence[str]) -> list[str]:
    """The path of each grade as text, ``place of birth → country``; empty if there is none.

    >>> grades = np.zeros(1, GRADE)
    >>> grades["first"], grades["second"], grades["third"] = 0, 3, -1
    >>> path_texts(grades, ["place of birth", "capital"])
    ['place of birth → ^capital']
    """
    roles = np.unique(np.concatenate([grades[name] for name in HOP_ROLES]))
    texts = {int(role): role_text(int(role), labels) for role in roles if role >= 0}
    paths, inverse = np.unique(grades[list(HOP_ROLES)], return_inverse=True)
    path_names = [" → ".join(texts[role] for role in path.tolist() if role >= 0) for path in paths]
    return [path_names[i] for i in inverse.tolist()]


def _relations_of(facts: RoleGraph, backwards: int) -> tuple[Offsets, IntArray]:
    """Entity → the relations that it is a subject (``backwards`` = 0) or an object (1) of, ascending."""
    entity = facts.sources()
    is_end = facts.roles % 2 == backwards
    if backwards:
        # A symmetric relation has only the forward role, so its edges count in both directions.
        is_end |= np.isin(facts.roles // 2, np.setdiff1d(facts.roles[~is_end] // 2, facts.roles[is_end] // 2))
    rows = Adjacency.from_pairs(entity[is_end], facts.roles[is_end] // 2, facts.entities)
    return rows.offsets, rows.targets


def _turned(facts: RoleGraph) -> IntArray:
    """The inverse of each role; a symmetric relation is its own inverse."""
    inverses = np.arange(facts.role_count, dtype=np.int32)
    fact_roles = 2 * facts.relations
    asymmetric = np.isin(inverses[:fact_roles], np.unique(facts.roles)).reshape(-1, 2).all(axis=1)
    inverses[:fact_roles] = np.where(np.repeat(asymmetric, 2), inverses[:fact_roles] ^ 1, inverses[:fact_roles])
    return inverses


@kernel
def _by_facts(  # type: ignore[no-untyped-def]
    heads, ends, relation, offsets, targets, roles, bounds, keys, confidence, inverses
):
    """The kernel of :meth:`Evidence.implied_by_facts`: float32, one entry per pair of ``heads`` and ``ends``."""
    out = np.zeros(len(ends), np.float32)
    for i in range(len(ends)):
        x, y = heads[i], ends[i]
        short_place, short_end, long_place, long_end = offsets[x], offsets[x + 1], offsets[y], offsets[y + 1]
        is_swapped = short_end - short_place > long_end - long_place
        if is_swapped:
            short_place, short_end, long_place, long_end = long_place, long_end, short_place, short_end
        # Intersect the neighbours of x and y: walk the shorter row, and search the longer one for each of its entities. Rows ascend, so
        # each search starts where the last one ended.
        while short_place < short_end:
            z = targets[short_place]
            place = long_place = lower_bound(targets, long_place, long_end, z)
            while z not in (x, y) and place < long_end and targets[place] == z:
                first_role, second_role = (
                    (roles[place], inverses[roles[short_place]]) if is_swapped else (roles[short_place], inverses[roles[place]])
                )
                rule = _rule(first_role, second_role, relation[i], bounds, keys)
                if rule >= 0:
                    out[i] = max(out[i], confidence[rule])
                place += 1
            short_place += 1
    return out


@kernel
def _edges(x, y, offsets, targets, roles, out):  # type: ignore[no-untyped-def]
    """Write the roles of the facts from x to y into ``out``, at most ``MOST_ROLES``; return their number.

    >>> offsets, targets, roles, out = np.array([0, 2, 2]), np.array([1, 1]), np.array([4, 6], np.int32), np.zeros(2, np.int32)
    >>> int(_edges(0, 1, offsets, targets, roles, out)), out.tolist()
    (2, [4, 6])
    """
    place = lower_bound(targets, offsets[x], offsets[x + 1], y)
    count = 0
    while place < offsets[x + 1] and targets[place] == y and count < MOST_ROLES:
        out[count] = roles[place]
        count += 1
        place += 1
    return count


@kernel
def _text_grade(document, x, z, offsets, sources, targets, grades):  # type: ignore[no-untyped-def]
    """The text grade of the hop from x over ``document`` to z; 0 without such a hop."""
    end = offsets[document + 1]
    begin = lower_bound(sources, offsets[document], end, x)
    end = lower_bound(sources, begin, end, x + 1)
    place = lower_bound(targets, begin, end, z)
    return np.int64(grades[place]) if place < end and targets[place] == z else np.int64(0)


@kernel
def _rule(first_role, second_role, relation, bounds, keys):  # type: ignore[no-untyped-def]
    """The number of the rule ``first_role, second_role => relation``; -1 without such a rule.

    >>> keys, bounds = np.array([(3 << 32) | 7]), np.array([0, 1])
    >>> int(_rule(0, 3, 7, bounds, keys)), int(_rule(0, 3, 8, bounds, keys))
    (0, -1)
    """
    key = (np.int64(second_role) << 32) | relation
    place = lower_bound(keys, bounds[first_role], bounds[first_role + 1], key)
    return place if place < bounds[first_role + 1] and keys[place] == key else np.int64(-1)


@kernel
def _confidence_alone(role, relation, offsets, relations, confidence):  # type: ignore[no-untyped-def]
    """The confidence with which a single edge with the role implies the relation; 0 if unknown."""
    place = lower_bound(relations, offsets[role], offsets[role + 1], relation)
    return confidence[place] if place < offsets[role + 1] and relations[place] == relation else np.float32(0.0)


@kernel
def _better(value, has_facts, best, best_has_facts):  # type: ignore[no-untyped-def]
    """Whether a path beats the best one so far: enough facts come before confidence, and confidence 0 never wins.

    >>> bool(_better(0.3, True, 0.9, False)), bool(_better(0.9, False, 0.3, True)), bool(_better(0.0, True, 0.0, False))
    (True, False, False)
    """
    return value > 0 and (has_facts > best_has_facts or (has_facts == best_has_facts and value > best))


@kernel
def _implied_between(  # type: ignore[no-untyped-def]
    x, y, fact_roles, fact_count, first_roles, first_count, second_roles, second_count, bounds, keys, relations, confidence,
    subjects, of_subject, objects, of_object, implied_roles, implied_confidence, parts,
):  # fmt: skip
    """The relations that the roles of two hops imply between their ends x and y; return their number, at most ``MOST_IMPLIED``.

    Writes the role of each relation to ``implied_roles``, its confidence to ``implied_confidence``, and the two roles that imply it to
    ``parts``. A relation that is a fact of the graph (``fact_roles``) has confidence 1. Otherwise, by the partial completeness assumption
    (Galárraga et al. 2013), it is false if x has other objects of it. It is skipped too if y is not an object of it for any subject.
    """
    count = 0
    for i in range(first_count):
        for j in range(second_count):
            # All rules with these two roles: keys are ``second << 32 | relation``, so those of one second role follow each other.
            end = bounds[first_roles[i] + 1]
            begin = lower_bound(keys, bounds[first_roles[i]], end, np.int64(second_roles[j]) << 32)
            end = lower_bound(keys, begin, end, np.int64(second_roles[j] + 1) << 32)
            for rule in range(begin, end):
                if confidence[rule] < SURE or count == MOST_IMPLIED:
                    continue
                relation = relations[rule]
                value = confidence[rule]
                for k in range(fact_count):
                    if fact_roles[k] == 2 * relation:
                        value = np.float32(1.0)
                if value == 1.0 or (not row_holds(subjects, of_subject, x, relation) and row_holds(objects, of_object, y, relation)):
                    implied_roles[count], implied_confidence[count] = 2 * relation, value
                    parts[count, 0], parts[count, 1] = first_roles[i], second_roles[j]
                    count += 1
    return count


@kernel
def _grade(  # type: ignore[no-untyped-def]  # noqa: PLR0912 - one chain at a time, so that nothing is allocated for it
    node_offsets, nodes, chains, query_relations, least_facts, offsets, targets, roles, role_count,
    hop_offsets, hop_sources, hop_targets, hop_grades, bounds, keys, relations, confidence, edge_offsets, edge_relations, edge_confidence,
    subjects, of_subject, objects, of_object, out,
):  # fmt: skip
    """The kernel of :meth:`Evidence.grade`: grade the ``chains`` into ``out`` (``GRADE``, one per chain).

    ``nodes`` are entity, document, entity, …; ``bounds`` and ``keys`` index the path rules (:func:`~kgqa.rules.paths.path_index`), the
    ``edge_`` arrays the rules of single edges. O(roles of the hops multiplied, times a binary search) per chain.
    """
    hop, counts = np.empty((MOST_HOPS, MOST_ROLES + 1), np.int32), np.zeros(MOST_HOPS, np.int64)
    implied_roles, implied_confidence = np.empty(MOST_IMPLIED, np.int32), np.empty(MOST_IMPLIED, np.float32)
    parts, fact_roles = np.empty((MOST_IMPLIED, 2), np.int32), np.empty(MOST_ROLES, np.int32)
    texts = role_count - len(TEXT_ROLES)
    for entry in range(len(chains)):
        begin = node_offsets[chains[entry]]
        hops = (node_offsets[chains[entry] + 1] - begin) // 2
        if hops < 1 or hops > MOST_HOPS:
            continue
        relation = query_relations[entry]
        # The roles of each hop: its facts, then one text role. The chain's text grade is that of its weakest hop.
        weakest_grade = np.int64(len(TEXT_ROLES) - 1)
        for k in range(hops):
            x, document, z = nodes[begin + 2 * k], nodes[begin + 2 * k + 1], nodes[begin + 2 * k + 2]
            grade = _text_grade(document, x, z, hop_offsets, hop_sources, hop_targets, hop_grades)
            weakest_grade = min(weakest_grade, grade)
            counts[k] = _edges(x, z, offsets, targets, roles, hop[k])
            hop[k, counts[k]] = texts + grade
            counts[k] += 1
        out[entry].text = weakest_grade
        # Each combination of roles is a path; ``has_facts`` tells whether enough of them are facts and not text roles.
        best, best_has_facts = np.float32(0.0), False
        if hops == 1:
            for i in range(counts[0]):
                value = _confidence_alone(hop[0, i], relation, edge_offsets, edge_relations, edge_confidence)
                has_facts = (hop[0, i] < texts) >= least_facts[entry]
                if _better(value, has_facts, best, best_has_facts):
                    best, best_has_facts = value, has_facts
                    out[entry].first = hop[0, i]
        elif hops == 2:
            for i in range(counts[0]):
                for j in range(counts[1]):
                    rule = _rule(hop[0, i], hop[1, j], relation, bounds, keys)
                    has_facts = np.int64(hop[0, i] < texts) + np.int64(hop[1, j] < texts) >= least_facts[entry]
                    if rule >= 0 and _better(confidence[rule], has_facts, best, best_has_facts):
                        best, best_has_facts = confidence[rule], has_facts
                        out[entry].first, out[entry].second = hop[0, i], hop[1, j]
        else:
            # Two ways to combine three hops: the first two imply a relation that precedes the third hop, or the last two one that follows
            # the first hop.
            for side in range(2):
                x, y = nodes[begin + 2 * side], nodes[begin + 2 * side + 4]
                implied_count = _implied_between(
                    x, y, fact_roles, _edges(x, y, offsets, targets, roles, fact_roles), hop[side], counts[side],
                    hop[side + 1], counts[side + 1], bounds, keys, relations, confidence,
                    subjects, of_subject, objects, of_object, implied_roles, implied_confidence, parts,
                )  # fmt: skip
                other_hop = 2 if side == 0 else 0
                for i in range(implied_count):
                    for j in range(counts[other_hop]):
                        first_role, second_role = (implied_roles[i], hop[2, j]) if side == 0 else (hop[0, j], implied_roles[i])
                        rule = _rule(first_role, second_role, relation, bounds, keys)
                        facts = np.int64(parts[i, 0] < texts) + np.int64(parts[i, 1] < texts) + np.int64(hop[other_hop, j] < texts)
                        if rule >= 0 and _better(
                            confidence[rule] * implied_confidence[i], facts >= least_facts[entry], best, best_has_facts
                        ):
                            best, best_has_facts = confidence[rule] * implied_confidence[i], facts >= least_facts[entry]
                            out[entry].implied = implied_roles[i] // 2
                            if side == 0:
                                out[entry].first, out[entry].second, out[entry].third = parts[i, 0], parts[i, 1], hop[2, j]
                            else:
                                out[entry].first, out[entry].second, out[entry].third = hop[0, j], parts[i, 0], parts[i, 1]
        out[entry].confidence = best
