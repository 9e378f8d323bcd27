"""A log-linear model of what texts state, learned from the facts themselves (distant supervision; Mintz et al. 2009).

For a pair of entities that a document brings together, and a role by which the second is known to be reached (it is an object, or a
subject, of such facts with others), the model says how probably a fact with that role joins the two, by the words of the document. One
logistic regression for all roles: each feature of a context is hashed together with the role.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Offsets, paired, row_bounds
from kgqa.arrays.search import lower_bound
from kgqa.rules.roles import RoleGraph
from kgqa.settings.workers import worker_count
from kgqa.statements.contexts import PARTS, Contexts

BITS = 22
"""The table of weights has two to the power of so many."""
EPOCHS = 2
RATE = 0.15
"""The step of AdaGrad (Duchi et al. 2011)."""
RIDGE = 1e-6
START = np.float32(-3.0)
"""The log-odds before anything is learned: most pairs state nothing."""
SHOWN = 6
"""Roles of the second entity that are features: its most frequent ones."""
LEAST = 0.02
"""Less probable statements are not kept."""
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """By which roles facts reach each entity, and how many of its facts each role has: those of z are ``offsets[z]:offsets[z + 1]``."""

    offsets: Offsets
    roles: IntArray
    counts: IntArray
    totals: Offsets
    """For each entity all its facts."""
    common: IntArray
    """For each entity its ``SHOWN`` most frequent roles, -1 where it has fewer."""

    @classmethod
    def of(cls, facts: RoleGraph) -> Profiles:
        """The profiles of all entities of ``facts``."""
        keys, counts = np.unique(paired(facts.targets, facts.roles), return_counts=True)
        entity, roles = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
        offsets = row_bounds(entity, facts.entities)
        order = np.lexsort((roles, -counts, entity))
        place = np.arange(len(order)) - offsets[entity]
        common = np.full((facts.entities, SHOWN), -1, np.int32)
        shown = place < SHOWN
        common[entity[shown], place[shown]] = roles[order][shown]
        totals = np.bincount(facts.targets, minlength=facts.entities)
        return cls(offsets=offsets, roles=roles, counts=counts.astype(np.int32), totals=totals, common=common)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """What is stated: of pair ``pair[i]`` the role ``role[i]`` with ``probability[i]``; ordered by pair and role, ``LEAST`` at least."""

    pair: IntArray
    role: IntArray
    probability: FloatArray
    lift: FloatArray
    """By how much the words of the document raise the log-odds over those of the two entities' other facts alone."""

    def select(self, kept: npt.NDArray[np.bool_]) -> Statements:
        """The statements for which ``kept`` holds."""
        return Statements(pair=self.pair[kept], role=self.role[kept], probability=self.probability[kept], lift=self.lift[kept])


def learn(
    contexts: Contexts, pairs: tuple[IntArray, IntArray], facts: RoleGraph, profiles: Profiles, learned: npt.NDArray[np.bool_]
) -> FloatArray:
    """The weights, from the pairs for which ``learned`` holds; ``facts`` are those that may be learned from.

    A pair of which the first entity has no fact at all says nothing, and is left out. O(epochs × contexts × roles × features); one thread,
    as each step depends on the one before.
    """
    before, after = pairs
    used = np.flatnonzero(learned & (np.diff(facts.offsets)[before] > 0) & (np.diff(contexts.offsets) > 0))
    order = used[np.argsort(_shuffled(used.astype(np.uint64)), kind="stable")]
    weights = np.zeros(1 << BITS, np.float32)
    _learn(
        order, contexts.offsets, contexts.bounds, contexts.features, before, after, facts.offsets, facts.targets, facts.roles,
        profiles.offsets, profiles.roles, profiles.counts, profiles.totals, profiles.common, weights,
        np.zeros(1 << BITS, np.float32), EPOCHS, RATE, RIDGE,
    )  # fmt: skip
    return weights


def score(
    contexts: Contexts, pairs: tuple[IntArray, IntArray], facts: RoleGraph, profiles: Profiles, weights: FloatArray, *,
    workers: int | None = None,
) -> Statements:  # fmt: skip
    """The statements of all pairs, uncalibrated: of several contexts the surest counts. They do not depend on ``workers``."""
    before, after = pairs
    bounds, least = np.linspace(0, len(before), PARTS + 1).astype(np.int64), np.log(LEAST / (1 - LEAST))

    def part(number: int) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        return _score(  # type: ignore[no-any-return]
            bounds[number], bounds[number + 1], contexts.offsets, contexts.bounds, contexts.features, before, after, facts.offsets,
            facts.targets, facts.roles, profiles.offsets, profiles.roles, profiles.counts, profiles.totals, profiles.common, weights, least,
        )  # fmt: skip

    with ThreadPoolExecutor(worker_count(workers)) as pool:
        parts = list(pool.map(part, range(PARTS)))
    pair, role, logit, lift = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Statements(pair=pair, role=role, probability=(1 / (1 + np.exp(-logit.astype(np.float64)))).astype(np.float32), lift=lift)


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
def _places(context, z, role, share, bounds, features, common, out):  # type: ignore[no-untyped-def]
    """The places of the weights of a context and a role into ``out``; how many."""
    count = 0
    for k in range(bounds[context], bounds[context + 1]):
        out[count] = _place(features[k], role)
        count += 1
    for k in range(SHOWN):
        if common[z, k] >= 0 and common[z, k] != role:
            out[count] = _place(np.uint32(0xA0000000) + np.uint32(common[z, k]), role)
            count += 1
    out[count] = _place(np.uint32(0xB0000000) + np.uint32(share), role)
    out[count + 1] = _place(np.uint32(0xB1000000) + np.uint32(share), np.int32(0x7FFFFFF))
    return count + 2


@kernel(inline=True)
def _share(count, total):  # type: ignore[no-untyped-def]
    """The part that a role has of an entity's facts, and how many these are, in steps."""
    part = np.int64(8.0 * count / total)
    size = np.int64(np.log2(np.float64(total)))
    return part + 16 * (size if size < 15 else 15)


@kernel(inline=True)
def _logit(weights, places, begin, end):  # type: ignore[no-untyped-def]
    """The log-odds by the weights at ``places[begin:end]``."""
    logit = START
    for j in range(begin, end):
        logit += weights[places[j]]
    return logit


@kernel
def _between(x, z, offsets, targets):  # type: ignore[no-untyped-def]
    """The edges from x to z: the first, and the one behind the last."""
    first = last = lower_bound(targets, offsets[x], offsets[x + 1], z)
    while last < offsets[x + 1] and targets[last] == z:
        last += 1
    return first, last


@kernel(inline=True)
def _among(role, roles, first, last):  # type: ignore[no-untyped-def]
    """Whether one of the edges has the role."""
    found = False
    for j in range(first, last):
        found = found or roles[j] == role
    return found


@kernel
def _learn(  # type: ignore[no-untyped-def]
    order, offsets, bounds, features, before, after, fact_offsets, fact_targets, fact_roles,
    profile_offsets, roles, counts, totals, common, weights, squares, epochs, rate, ridge,
):  # fmt: skip
    places = np.empty(1 << 10, np.int64)
    for _ in range(epochs):
        for i in range(len(order)):
            pair = order[i]
            x, z = before[pair], after[pair]
            first, last = _between(x, z, fact_offsets, fact_targets)
            for k in range(profile_offsets[z], profile_offsets[z + 1]):
                role = roles[k]
                true = _among(role, fact_roles, first, last)
                # What makes the pair true must not be what makes the role possible.
                if counts[k] - true < 1:
                    continue
                share = _share(counts[k] - true, totals[z] - (last - first) + 1)
                for context in range(offsets[pair], offsets[pair + 1]):
                    number = _places(context, z, role, share, bounds, features, common, places)
                    logit = _logit(weights, places, 0, number)
                    slope = np.float32(1.0 / (1.0 + np.exp(-logit))) - np.float32(true)
                    if abs(slope) < 0.002:
                        continue
                    for j in range(number):
                        at = places[j]
                        step = slope + np.float32(ridge) * weights[at]
                        squares[at] += step * step
                        weights[at] -= np.float32(rate) * step / np.sqrt(squares[at] + np.float32(1e-6))


@kernel
def _score(  # type: ignore[no-untyped-def]
    begin, end, offsets, bounds, features, before, after, fact_offsets, fact_targets, fact_roles,
    profile_offsets, roles, counts, totals, common, weights, least,
):  # fmt: skip
    places = np.empty(1 << 10, np.int64)
    out_pair, out_role, out_logit = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32), np.empty(1 << 16, np.float32)
    out_lift = np.empty(1 << 16, np.float32)
    made = 0
    for pair in range(begin, end):
        if offsets[pair] == offsets[pair + 1]:
            continue
        x, z = before[pair], after[pair]
        first, last = _between(x, z, fact_offsets, fact_targets)
        for k in range(profile_offsets[z], profile_offsets[z + 1]):
            role = roles[k]
            true = _among(role, fact_roles, first, last)
            if counts[k] - true < 1:
                continue
            share = _share(counts[k] - true, totals[z] - (last - first) + 1)
            best = alone = np.float32(-1e9)
            for context in range(offsets[pair], offsets[pair + 1]):
                number = _places(context, z, role, share, bounds, features, common, places)
                best = max(best, _logit(weights, places, 0, number))
                alone = _logit(weights, places, bounds[context + 1] - bounds[context], number)
            if best < least:
                continue
            if made == len(out_pair):
                out_pair, out_role = grown(out_pair, made + 1), grown(out_role, made + 1)
                out_logit, out_lift = grown(out_logit, made + 1), grown(out_lift, made + 1)
            out_pair[made], out_role[made], out_logit[made], out_lift[made] = pair, role, best, best - alone
            made += 1
    return out_pair[:made].copy(), out_role[:made].copy(), out_logit[:made].copy(), out_lift[:made].copy()
