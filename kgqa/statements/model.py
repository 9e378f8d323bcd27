"""A log-linear model of the facts that texts state, trained on the facts of the graph (distant supervision; Mintz et al. 2009).

Input: a pair of entities that a document mentions together, and a role in which other facts reach the second entity. Output: the
probability, given the words of the document, that a fact with that role joins the two. There is one logistic regression for all roles: each
feature of a context is hashed together with the role.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.parallel import Engine, Threads
from kgqa.arrays.rows import IntArray, Offsets, paired, row_bounds
from kgqa.arrays.search import lower_bound
from kgqa.rules.roles import RoleGraph
from kgqa.statements.contexts import Pairs, Texts, contexts_of, parts_of

BITS = 22
"""The table of weights has ``2 ** BITS`` entries."""
EPOCHS = 2
RATE = 0.15
"""Learning rate of AdaGrad (Duchi et al. 2011)."""
RIDGE = 1e-6
START = np.float32(-3.0)
"""Log-odds of an untrained model: most pairs state nothing."""
SHOWN = 6
"""Number of roles of the second entity that are features: its most frequent ones."""
LEAST = 0.02
"""Statements with a lower probability are dropped."""
OF_MODEL = 3 + 10
"""End of the pairs' columns and the model's arrays among the arguments of a part."""
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """The roles in which facts reach each entity: those of entity z are ``offsets[z]:offsets[z + 1]``."""

    offsets: Offsets
    roles: IntArray
    """Ascending within an entity."""
    counts: IntArray
    """Number of facts of the entity with the role."""
    totals: Offsets
    """Number of facts of each entity, over all roles."""
    common: IntArray
    """Shape (entities, ``SHOWN``): the most frequent roles of each entity, padded with -1."""

    @classmethod
    def of(cls, facts: RoleGraph) -> Profiles:
        """The profiles of all entities of ``facts``."""
        keys, counts = np.unique(paired(facts.targets, facts.roles), return_counts=True)
        entity, roles = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
        offsets = row_bounds(entity, facts.entities)
        # Ties go to the smaller role, so that the features do not depend on the order of the facts.
        order = np.lexsort((roles, -counts, entity))
        place = np.arange(len(order)) - offsets[entity]
        common_roles = np.full((facts.entities, SHOWN), -1, np.int32)
        is_frequent = place < SHOWN
        common_roles[entity[is_frequent], place[is_frequent]] = roles[order][is_frequent]
        totals = np.bincount(facts.targets, minlength=facts.entities)
        return cls(offsets=offsets, roles=roles, counts=counts.astype(np.int32), totals=totals, common=common_roles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """Statement i: the text of pair ``pair[i]`` states role ``role[i]`` with ``probability[i]``; ordered by pair and role."""

    pair: IntArray
    role: IntArray
    probability: FloatArray
    """At least ``LEAST`` before calibration."""
    lift: FloatArray
    """Log-odds given the words of the document, minus the log-odds given only the other facts of the two entities."""

    def select(self, mask: npt.NDArray[np.bool_]) -> Statements:
        """The statements with a true entry in ``mask``."""
        return Statements(pair=self.pair[mask], role=self.role[mask], probability=self.probability[mask], lift=self.lift[mask])


def learn(
    texts: Texts, pairs: Pairs, facts: RoleGraph, profiles: Profiles, is_example: npt.NDArray[np.bool_], *, engine: Engine | None = None
) -> FloatArray:
    """Train on the pairs where ``is_example`` is true, with ``facts`` as labels; returns the weights (``2 ** BITS``).

    Pairs whose first entity has no fact are skipped, because the graph says nothing about them. O(epochs × contexts × roles × features);
    single-threaded, because each step depends on the one before. Memory: the contexts of the examples.
    """
    numbers = np.flatnonzero(is_example & (np.diff(facts.offsets)[pairs[1]] > 0))
    document, first_entities, second_entities = (column[numbers] for column in pairs)
    contexts = texts.contexts((document, first_entities, second_entities), engine=engine)
    usable = np.flatnonzero(np.diff(contexts.offsets) > 0)
    # Shuffle by hash: pairs of one document are neighbours, and training would otherwise follow each document in turn.
    order = usable[np.argsort(_shuffled(numbers[usable].astype(np.uint64)), kind="stable")]
    weights = np.zeros(1 << BITS, np.float32)
    _learn(
        order, contexts.offsets, contexts.bounds, contexts.features, first_entities, second_entities, facts.offsets, facts.targets,
        facts.roles, profiles.offsets, profiles.roles, profiles.counts, profiles.totals, profiles.common, weights,
        np.zeros(1 << BITS, np.float32), EPOCHS, RATE, RIDGE,
    )  # fmt: skip
    return weights


def score(
    texts: Texts, pairs: Pairs, facts: RoleGraph, profiles: Profiles, weights: FloatArray, *, engine: Engine | None = None
) -> Statements:
    """The uncalibrated statements of all pairs, by the context with the highest score; they do not depend on ``engine``.

    Memory: the statements, and the contexts of the parts that run.
    """
    # Compare log-odds, which saves an exponential for each of the many pairs that state nothing.
    min_logit = np.log(LEAST / (1 - LEAST))
    model = (
        facts.offsets, facts.targets, facts.roles, profiles.offsets, profiles.roles, profiles.counts, profiles.totals, profiles.common,
        weights, min_logit,
    )  # fmt: skip
    mapped = (engine or Threads()).map(_score_part, parts_of(pairs), (*pairs, *model, *texts.shared))
    pair, role, logit, lift = (np.concatenate(columns) for columns in zip(*mapped, strict=True))
    return Statements(pair=pair, role=role, probability=(1 / (1 + np.exp(-logit.astype(np.float64)))).astype(np.float32), lift=lift)


def _score_part(bounds: tuple[int, int], *shared: Any) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    pairs, model, texts = shared[:3], shared[3:OF_MODEL], shared[OF_MODEL:]
    rows = slice(*bounds)
    counts, feature_bounds, features = contexts_of(rows, pairs, texts)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    pair, *others = _score(0, bounds[1] - bounds[0], offsets, feature_bounds, features, pairs[1][rows], pairs[2][rows], *model)
    return (pair + np.int32(bounds[0]), *others)


@kernel
def _shuffled(values):  # type: ignore[no-untyped-def]
    out = np.empty_like(values)
    for i in range(len(values)):
        out[i] = mixed(mixed(values[i] + np.uint64(1)))
    return out


@kernel(inline=True)
def _place(feature, role):  # type: ignore[no-untyped-def]
    return np.int64(mixed((np.uint64(feature) << np.uint64(32)) | np.uint64(role)) & np.uint64((1 << BITS) - 1))


@kernel
def _places(context, z, role, share, bounds, features, common_roles, out):  # type: ignore[no-untyped-def]
    """Write the places of the weights for a context and a role into ``out``; return their number.

    The words of the context come first. Features that do not depend on the text follow: the other common roles of z, and ``share``, with
    the role and alone.
    """
    count = 0
    for k in range(bounds[context], bounds[context + 1]):
        out[count] = _place(features[k], role)
        count += 1
    for k in range(SHOWN):
        if common_roles[z, k] >= 0 and common_roles[z, k] != role:
            out[count] = _place(np.uint32(0xA0000000) + np.uint32(common_roles[z, k]), role)
            count += 1
    out[count] = _place(np.uint32(0xB0000000) + np.uint32(share), role)
    out[count + 1] = _place(np.uint32(0xB1000000) + np.uint32(share), np.int32(0x7FFFFFF))
    return count + 2


@kernel(inline=True)
def _share(count, total):  # type: ignore[no-untyped-def]
    """One feature for the share of a role in an entity's facts (eighths) and the number of its facts (powers of two, at most 15).

    >>> int(_share(1, 2)), int(_share(4, 4))
    (20, 40)
    """
    part = np.int64(8.0 * count / total)
    size = np.int64(np.log2(np.float64(total)))
    return part + 16 * (size if size < 15 else 15)


@kernel(inline=True)
def _logit(weights, places, begin, end):  # type: ignore[no-untyped-def]
    """The log-odds from the weights at ``places[begin:end]``."""
    logit = START
    for j in range(begin, end):
        logit += weights[places[j]]
    return logit


@kernel
def _between(x, z, offsets, targets):  # type: ignore[no-untyped-def]
    """The edges from x to z, as the begin and the end of a range.

    >>> begin, end = _between(0, 5, np.array([0, 3]), np.array([2, 5, 5]))
    >>> int(begin), int(end)
    (1, 3)
    """
    begin = end = lower_bound(targets, offsets[x], offsets[x + 1], z)
    while end < offsets[x + 1] and targets[end] == z:
        end += 1
    return begin, end


@kernel(inline=True)
def _among(role, roles, begin, end):  # type: ignore[no-untyped-def]
    """Whether one of the edges ``begin`` to ``end`` has the role."""
    has_role = False
    for j in range(begin, end):
        has_role = has_role or roles[j] == role
    return has_role


@kernel
def _learn(  # type: ignore[no-untyped-def]
    order, offsets, bounds, features, first_entities, second_entities, fact_offsets, fact_targets, fact_roles,
    profile_offsets, roles, counts, totals, common_roles, weights, squares, epochs, rate, ridge,
):  # fmt: skip
    """AdaGrad over the pairs in ``order``; updates ``weights`` and ``squares`` (float32, ``2 ** BITS``) in place."""
    places = np.empty(1 << 10, np.int64)
    # A step uses the weights of the step before, so pairs are visited in one fixed pseudo-random order and by one thread.
    for _ in range(epochs):
        for i in range(len(order)):
            pair = order[i]
            x, z = first_entities[pair], second_entities[pair]
            first_edge, last_edge = _between(x, z, fact_offsets, fact_targets)
            for k in range(profile_offsets[z], profile_offsets[z + 1]):
                role = roles[k]
                label = _among(role, fact_roles, first_edge, last_edge)
                # Skip a role that z has only through this very fact: the role alone would reveal the label.
                if counts[k] - label < 1:
                    continue
                share = _share(counts[k] - label, totals[z] - (last_edge - first_edge) + 1)
                for context in range(offsets[pair], offsets[pair + 1]):
                    number = _places(context, z, role, share, bounds, features, common_roles, places)
                    logit = _logit(weights, places, 0, number)
                    slope = np.float32(1.0 / (1.0 + np.exp(-logit))) - np.float32(label)
                    if abs(slope) < 0.002:  # the prediction is right, and an update would hardly change it
                        continue
                    for j in range(number):
                        at = places[j]
                        step = slope + np.float32(ridge) * weights[at]
                        squares[at] += step * step
                        weights[at] -= np.float32(rate) * step / np.sqrt(squares[at] + np.float32(1e-6))


@kernel
def _score(  # type: ignore[no-untyped-def]
    begin, end, offsets, bounds, features, first_entities, second_entities, fact_offsets, fact_targets, fact_roles,
    profile_offsets, roles, counts, totals, common_roles, weights, min_logit,
):  # fmt: skip
    """The statements of the pairs ``begin`` to ``end`` with log-odds of at least ``min_logit``: pair, role, log-odds, lift."""
    places = np.empty(1 << 10, np.int64)
    out_pair, out_role, out_logit = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32), np.empty(1 << 16, np.float32)
    out_lift = np.empty(1 << 16, np.float32)
    count = 0
    for pair in range(begin, end):
        if offsets[pair] == offsets[pair + 1]:
            continue
        x, z = first_entities[pair], second_entities[pair]
        first_edge, last_edge = _between(x, z, fact_offsets, fact_targets)
        for k in range(profile_offsets[z], profile_offsets[z + 1]):
            role = roles[k]
            label = _among(role, fact_roles, first_edge, last_edge)
            if counts[k] - label < 1:
                continue
            share = _share(counts[k] - label, totals[z] - (last_edge - first_edge) + 1)
            # One sentence is enough to state a fact, so the context with the highest score counts and not their mean.
            best = base_logit = np.float32(-1e9)
            for context in range(offsets[pair], offsets[pair + 1]):
                number = _places(context, z, role, share, bounds, features, common_roles, places)
                best = max(best, _logit(weights, places, 0, number))
                # The score without the words, whose places come first; the same for all contexts of the pair.
                base_logit = _logit(weights, places, bounds[context + 1] - bounds[context], number)
            if best < min_logit:
                continue
            if count == len(out_pair):
                out_pair, out_role = grown(out_pair, count + 1), grown(out_role, count + 1)
                out_logit, out_lift = grown(out_logit, count + 1), grown(out_lift, count + 1)
            out_pair[count], out_role[count], out_logit[count], out_lift[count] = pair, role, best, best - base_logit
            count += 1
    return out_pair[:count].copy(), out_role[:count].copy(), out_logit[:count].copy(), out_lift[:count].copy()
