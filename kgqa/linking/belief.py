"""Disambiguation: the probability of each mention, from the name, the place and the document, weighted by the corpus itself.

Each place of a name means one of the entities with that name, or something that no table knows. The share of a name's places that mean an
entity is unknown. Support, however, is rare by chance and frequent where a name is right. So expectation–maximisation estimates the share
from the frequency of support, a mixture of two known distributions. Names with few places are drawn towards similar names (a logistic
regression on a few measures), and so are the weights of the neighbouring words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.arrays.hashes import HASH_PRIME, mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import spread
from kgqa.linking.support import LEVELS, Surroundings, levels
from kgqa.linking.surroundings import CAPITAL, COMMON_CAPITAL, CONTEXTS, NAME, NOUN, PROPER_CAPITAL, parts

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]
ROUNDS = 4
"""Rounds of expectation–maximisation; more rounds change little."""
LEAN = 8.0
"""A name's share is drawn towards that of similar names with the weight of this many places."""
TEMPER = 0.75
"""Exponent of the log ratios: a wrong entity has support more often than by chance, since related entities share names."""
LEAST, MOST = -0.4, 4.0
"""Bounds of a level's log ratio. A lack of support says little: months and nations are mentioned in any article."""
USUAL = np.array([-0.2, 0.5, 1.5, 3.0, 3.5])
"""The log ratio of each level for corpora too small to learn it."""
ENOUGH = 200.0
"""With this many certain places, the corpus weighs as much as ``USUAL``."""
SPREAD = 2.0
"""Largest difference between a name's share and that of similar names, in log odds."""
FLOOR = 0.03
"""Lower bound of a name's share, so that a fact with the subject can still support it, unless the prior was lower."""
RIDGE = 3000.0
"""Strength of the regression's prior, in names."""
MARKED_LEAN = 2.0
"""The same weight for a name whose places the source marks: people chose these entities, so a few places outweigh what similar names do."""
SAMPLE = 200_000
"""Maximum number of places for learning the levels' log ratios."""


ESTIMATE = np.dtype([("rate", np.float64), ("right", np.float64), ("row", np.int32), ("kind", np.int32)], align=True)
"""What a name contributes to its places, in one cache line: its share of right places; their expected number; its row of the odds; its
first kind of place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """What :func:`believe` needs beside the evidence."""

    names: npt.NDArray[np.void]
    """``ESTIMATE`` records."""
    odds: Floats
    """Likelihood ratio of the support, a right entity over chance: [verdict + 1, row, level]."""
    kind_ratios: Floats
    """The same ratio of each kind of place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Distinct places: their (place, name) pairs, and what speaks for each: documents, neighbouring words, definitions and marks.

    Places with the same names, evidence and neighbours have the same probabilities. A corpus has many times as many places as distinct
    ones (five million and half a million in 99 MB), so each distinct place is kept once.
    """

    bounds: npt.NDArray[np.int32]
    """The pairs of distinct place i are ``bounds[i]:bounds[i + 1]``."""
    places: npt.NDArray[np.float64]
    """How many places each distinct one stands for."""
    beside: npt.NDArray[np.uint8]
    """The context of each distinct place (:mod:`kgqa.linking.surroundings`)."""
    name: npt.NDArray[np.int32]
    """Of each pair the row of the dictionary's names, each of which belongs to one entity."""
    level: npt.NDArray[np.uint8]
    """Support of the document (:mod:`kgqa.linking.support`)."""
    verdict: npt.NDArray[np.int8]
    """What the document's definitions say (:mod:`kgqa.linking.definitions`)."""
    marked: npt.NDArray[np.int8]
    """What the source's own mention in exactly this place says: 1 right, -1 wrong, 0 nothing."""

    @property
    def pairs(self) -> tuple[Any, Any, Any, Any, Any]:
        """The fields that :func:`believe` reads, for kernels."""
        return self.name, self.level, self.verdict, self.marked, self.beside


def distinct_evidence(
    bounds: npt.NDArray[np.int32],
    beside: npt.NDArray[np.uint8],
    name: npt.NDArray[np.int32],
    level: npt.NDArray[np.uint8],
    verdict: npt.NDArray[np.int8],
    marked: npt.NDArray[np.int8],
) -> tuple[Evidence, npt.NDArray[np.int32]]:
    """The distinct places, numbered by their first place, and the number of each place's; parameters as the fields of :class:`Evidence`."""
    number, first, places = _distinct_places(bounds, beside, name, level, verdict, marked)
    counts = bounds[first + 1] - bounds[first]
    rows = spread(bounds[first], counts)
    evidence = Evidence(
        bounds=np.append(0, np.cumsum(counts)).astype(np.int32),
        places=places,
        beside=beside[first],
        name=name[rows],
        level=level[rows],
        verdict=verdict[rows],
        marked=marked[rows],
    )
    return evidence, number


@kernel
def _distinct_places(bounds, beside, name, level, verdict, marked):  # type: ignore[no-untyped-def]
    """For each place the number of its distinct place; for each of these its first place and how many there are. O(pairs).

    Places are equal if 64-bit hashes of all that is known about them are, as with tokens.

    >>> bounds, name, zero = np.array([0, 1, 3, 4], np.int32), np.array([7, 7, 8, 7], np.int32), np.zeros(4, np.int8)
    >>> [column.tolist() for column in _distinct_places(bounds, np.zeros(3, np.uint8), name, zero.view(np.uint8), zero, zero)]
    [[0, 1, 0], [0, 1], [2.0, 1.0]]
    """
    number = np.empty(len(beside), np.int32)
    first, places, hashes = np.empty(1024, np.int32), np.empty(1024), np.empty(1024, np.uint64)
    count = 0
    slots = np.full(4096, -1, np.int32)
    for place in range(len(beside)):
        code = mixed(np.uint64(beside[place] + 1) * HASH_PRIME)
        for i in range(bounds[place], bounds[place + 1]):
            evidence = np.uint64(level[i]) | (np.uint64(verdict[i] + 1) << np.uint64(4)) | (np.uint64(marked[i] + 1) << np.uint64(6))
            code = mixed((code ^ (np.uint64(name[i]) << np.uint64(8)) ^ evidence) * HASH_PRIME)
        slot = code & np.uint64(len(slots) - 1)
        while slots[slot] >= 0 and hashes[slots[slot]] != code:
            slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
        if slots[slot] >= 0:
            number[place] = slots[slot]
            places[slots[slot]] += 1.0
            continue
        slots[slot] = number[place] = count
        if count == len(first):
            first, places, hashes = grown(first, count + 1), grown(places, count + 1), grown(hashes, count + 1)
        first[count], places[count], hashes[count] = place, 1.0, code
        count += 1
        if 2 * count > len(slots):
            slots = np.full(4 * len(slots), -1, np.int32)
            for old in range(count):
                slot = hashes[old] & np.uint64(len(slots) - 1)
                while slots[slot] >= 0:
                    slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
                slots[slot] = old
    return number, first[:count].copy(), places[:count].copy()


def ratios_of_levels(
    documents: npt.NDArray[np.int32],
    entities: npt.NDArray[np.int32],
    names: npt.NDArray[np.int32],
    level: npt.NDArray[np.uint8],
    bucket: npt.NDArray[np.int64],
    surroundings: Surroundings,
) -> Floats:
    """Log ratio of each level (buckets × levels): right entities over chance, for names in the same ``bucket`` (:func:`buckets_of`).

    The pairs (``documents, entities, names, level``) are examples of right ones. Chance pairs these entities with the documents of other
    examples. An article teaches nothing about its own entity.
    """
    rows = np.flatnonzero(surroundings.subject[documents] != entities)
    rows = rows[:: max(1, len(rows) // SAMPLE)]
    shape = (int(bucket.max(initial=0)) + 1, LEVELS)
    if not len(rows):
        return np.tile(USUAL, (shape[0], 1))
    half = len(rows) // 2  # chance level: pair each entity with a document from the other half of the corpus
    chance_documents = np.concatenate([documents[rows][half:], documents[rows][:half]])
    order = np.argsort(chance_documents, kind="stable")
    chance_levels = levels(chance_documents[order], entities[rows][order], names[rows][order], surroundings)
    right_counts = np.zeros(shape)
    chance_counts = np.zeros(shape)
    np.add.at(right_counts, (bucket[names[rows]], level[rows]), 1.0)
    np.add.at(chance_counts, (bucket[names[rows]][order], chance_levels), 1.0)
    log_ratios = np.clip(TEMPER * np.log(_smooth(right_counts) / _smooth(chance_counts)), LEAST, MOST)
    # A small corpus estimates the ratios badly: shrink them towards the usual ones.
    trust = len(rows) / (len(rows) + ENOUGH)
    return trust * log_ratios + (1 - trust) * USUAL


def _smooth(counts: Floats) -> Floats:
    """Shares of the levels in each bucket (buckets × levels), drawn towards the overall shares with the weight of 20 places."""
    overall = (counts.sum(axis=0) + 1.0) / (counts.sum() + counts.shape[1])
    return (counts + 20.0 * overall) / (counts.sum(axis=1, keepdims=True) + 20.0)  # type: ignore[no-any-return]


def buckets_of(entities: npt.NDArray[np.int32], is_common: npt.NDArray[np.bool_], surroundings: Surroundings) -> npt.NDArray[np.int64]:
    """The bucket of each name, by its entity's number of facts (log2), by whether the entity's article has mentions, and by whether the
    name is a common noun.

    Support by chance grows with an entity's facts, so each bucket has its own ratios.
    """
    degree = np.diff(surroundings.facts[0])
    bucket = (2 * np.minimum(np.ceil(np.log2(degree + 1)), 10) + (np.diff(surroundings.article[0]) > 0)).astype(np.int64)
    return 2 * bucket[entities] + is_common  # type: ignore[no-any-return]


def estimated(
    evidence: Evidence,
    features: Floats,
    start: Floats,
    prior_ratios: Floats,
    *,
    odds: Floats,
    row: Ints,
    sort: Ints,
    most: Floats,
) -> Estimates:
    """The shares and ratios that the corpus teaches.

    ``features``: names × measures. ``start``: prior weights of the regression, which keep a small corpus from teaching nonsense.
    ``prior_ratios``: prior log ratios of the kinds of places. ``odds``: see :class:`Estimates`. For each name, ``row`` is its row of
    ``odds``, ``sort`` is :data:`ONE`, :data:`SEVERAL`, :data:`ADJECTIVE` or :data:`COMMON_NOUN`, and ``most`` the largest share of its
    places that can be right, given the definitions in the texts.
    """
    names = np.zeros(len(features), ESTIMATE)
    names["row"], names["kind"] = row, CONTEXTS * sort
    weights = start.copy()
    predictions = _logistic(features @ weights)
    floor = np.minimum(predictions, FLOOR)
    # All names start at what similar names suggest; texts that define an abbreviation otherwise cap it.
    rate = np.minimum(predictions, most)
    kind_ratios = prior_ratios.copy()
    number, right, marked, kind_counts = _counts(evidence.bounds, evidence.places, *evidence.pairs, names, len(kind_ratios))
    rows = np.flatnonzero(number > 0)
    x: Floats = features[rows]
    frequency: Floats = number[rows]
    for _ in range(ROUNDS):
        # Expectation: the probability of each pair, and the expected number of right places per name and kind of place.
        names["rate"] = rate
        right_of_kind = _expect(evidence.bounds, evidence.places, *evidence.pairs, names, odds, np.exp(kind_ratios))
        mass = names["right"].copy()
        # Maximisation: refit the regression, then draw each name's share towards what similar names predict.
        weights = _fitted(x, frequency, mass[rows], start, weights)
        log_odds = features @ weights
        predictions = _logistic(log_odds)
        rate = (mass + LEAN * predictions) / (number + LEAN)
        rate = np.maximum(np.clip(rate, _logistic(log_odds - SPREAD), _logistic(log_odds + SPREAD)), floor)
        # What a source marks says directly how often the name means the entity; support need not be asked.
        rate = np.where(marked > 0, (right + MARKED_LEAN * predictions) / (marked + MARKED_LEAN), rate)
        rate = np.minimum(rate, most)
        # Only half of the estimated ratio: words next to a name and the support of its entity are not independent.
        kind_ratios = prior_ratios + 0.5 * _beside(right_of_kind, kind_counts)
    names["rate"] = rate
    return Estimates(names=names, odds=odds, kind_ratios=np.exp(kind_ratios))


@kernel
def _counts(bounds, places, name, level, verdict, marked, beside, names, kinds):  # type: ignore[no-untyped-def]
    """For each name its places, those that the source marks as right, and those that it marks; the places of each kind. O(pairs)."""
    number, right, known = np.zeros(len(names)), np.zeros(len(names)), np.zeros(len(names))
    kind_counts = np.zeros(kinds)
    for place in range(len(bounds) - 1):
        kind_counts[names[name[bounds[place]]].kind + beside[place]] += places[place]
        for i in range(bounds[place], bounds[place + 1]):
            number[name[i]] += places[place]
            if marked[i] != 0:
                known[name[i]] += places[place]
                right[name[i]] += places[place] * (marked[i] > 0)
    return number, right, known, kind_counts


@kernel(inline=True)
def believe(place, begin, end, name, level, verdict, marked, beside, names, odds, kind_ratios, out):  # type: ignore[no-untyped-def]
    """Set ``out`` to the probability of each pair of a place by Bayes' rule, over its entities and an unknown meaning.

    The pairs are ``begin:end``; their probabilities sum to at most 1.
    """
    total = 0.0
    for i in range(begin, end):
        total += names[name[i]].rate
    # The entities' priors sum to at most 0.98, so that at least 0.02 stay for a meaning outside the tables.
    excess = max(total / 0.98, 1.0)
    norm = 0.0
    for i in range(begin, end):
        own = names[name[i]]
        out[i - begin] = own.rate / excess * odds[verdict[i] + 1, own.row, level[i]] * kind_ratios[own.kind + beside[place]]
        norm += out[i - begin]
    norm += max(1.0 - min(total, 0.98), 0.02)  # the meaning that no table knows
    for i in range(begin, end):
        # The source's own mark needs no estimate.
        out[i - begin] = out[i - begin] / norm if marked[i] == 0 else np.float64(marked[i] > 0)


@kernel(inline=True)
def most_pairs(bounds):  # type: ignore[no-untyped-def]
    """The number of pairs of the place that has most."""
    most = 0
    for place in range(len(bounds) - 1):
        most = max(most, bounds[place + 1] - bounds[place])
    return most


@kernel
def _expect(bounds, places, name, level, verdict, marked, beside, names, odds, kind_ratios):  # type: ignore[no-untyped-def]
    """The expected number of right pairs: of each name, set in ``names``; of each kind of place, returned. O(pairs)."""
    right_of_kind = np.zeros(len(kind_ratios))
    for own in range(len(names)):
        names[own].right = 0.0
    out = np.empty(most_pairs(bounds))
    for place in range(len(bounds) - 1):
        begin, end = bounds[place], bounds[place + 1]
        believe(place, begin, end, name, level, verdict, marked, beside, names, odds, kind_ratios, out)
        for i in range(begin, end):
            right = places[place] * out[i - begin]
            names[name[i]].right += right
            right_of_kind[names[name[i]].kind + beside[place]] += right
    return right_of_kind


def _beside(right_mass: Floats, number: Floats) -> Floats:
    """Log ratio of each kind of place for right names over wrong ones; ``number``: places of each kind."""
    # Five pseudo-counts at the overall rate, so that a rare kind of place does not get an extreme ratio.
    wrong_mass = np.maximum(number - right_mass, 0.0)
    right_share = (right_mass + 5.0 * right_mass.sum() / max(right_mass.sum() + wrong_mass.sum(), 1.0)) / (right_mass.sum() + 5.0)
    wrong_share = (wrong_mass + 5.0 * wrong_mass.sum() / max(right_mass.sum() + wrong_mass.sum(), 1.0)) / (wrong_mass.sum() + 5.0)
    out: Floats = np.clip(np.log(np.maximum(right_share, 1e-9) / np.maximum(wrong_share, 1e-9)), -3.0, 1.5)
    return out


def _logistic(values: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-values))


def _fitted(x: Floats, number: Floats, mass: Floats, start: Floats, weights: Floats) -> Floats:
    """Weights of the logistic regression of ``mass`` out of ``number`` on ``x``, near ``start``; three Newton steps.

    A name counts for at most 30 places, or a few frequent names would dominate.
    """
    # The regression fits shares, weighted by the number of places they rest on.
    share, count = mass / number, np.minimum(number, 30.0)
    for _ in range(3):
        gradient, hessian = _slope(x, share, count, weights)
        hessian += RIDGE * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(hessian, gradient - RIDGE * (weights - start))
    return weights


@kernel
def _slope(x, share, count, weights):  # type: ignore[no-untyped-def]
    """Gradient (measures) and negated Hessian (measures × measures) of the likelihood. O(rows × measures²).

    The sums run row by row, so the number of threads does not change them.
    """
    size = len(weights)
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    columns, values = np.empty(size, np.int64), np.empty(size)
    for i in range(len(x)):
        number, odds = 0, 0.0
        for k in range(size):  # most measures of a name are zero
            if x[i, k] != 0.0:
                columns[number], values[number] = k, x[i, k]
                number += 1
                odds += x[i, k] * weights[k]
        probability = 1.0 / (1.0 + np.exp(-odds))
        error, weight = count[i] * (share[i] - probability), count[i] * probability * (1.0 - probability)
        for a in range(number):
            gradient[columns[a]] += error * values[a]
            for b in range(a + 1):
                hessian[columns[a], columns[b]] += weight * values[a] * values[b]
    for a in range(size):
        for b in range(a):
            hessian[b, a] = hessian[a, b]
    return gradient, hessian


ONE, SEVERAL, ADJECTIVE, COMMON_NOUN = range(4)
"""Sorts of names: one word; several words; one word that mostly precedes a noun; one word in lower case. A kind of place is a context of a
sort of name: ``context + CONTEXTS * sort``."""


def start_beside() -> Floats:
    """Prior log ratio of each kind of place, before any learning.

    A capitalised neighbour probably belongs to a longer name, above all next to a name of one word.
    """
    class_before, class_after, letter = parts(np.arange(CONTEXTS, dtype=np.int32))
    out = np.zeros(4 * CONTEXTS)
    for sort, weight in ((ONE, 1.0), (SEVERAL, 0.3), (ADJECTIVE, 1.0), (COMMON_NOUN, 1.0)):
        side = np.zeros(CONTEXTS)
        for neighbour, ratio in ((COMMON_CAPITAL, -2.5), (PROPER_CAPITAL, -2.5), (NAME, -0.7)):
            side += ratio * ((class_after == neighbour) + (class_before == neighbour) * weight)
        if sort == ADJECTIVE:
            side -= 2.0 * (class_after == NOUN)
        if sort == COMMON_NOUN:  # "the House of Hanover"
            side -= 2.5 * (letter == CAPITAL)
        out[sort * CONTEXTS : (sort + 1) * CONTEXTS] = side
    return out
