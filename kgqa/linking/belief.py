"""Disambiguation: the probability of each mention, from the name, the place and the document, weighted by the corpus itself.

Each place of a name means one of the entities with that name, or something that no table knows. The share of a name's places that mean an
entity is unknown. Support, however, is rare by chance and frequent where a name is right. So expectation–maximisation estimates the share
from the frequency of support, a mixture of two known distributions. Names with few places are drawn towards similar names (a logistic
regression on a few measures), and so are the weights of the neighbouring words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.linking.support import LEVELS, Surroundings, levels
from kgqa.linking.surroundings import CAPITAL, COMMON_CAPITAL, CONTEXTS, NAME, NOUN, PROPER_CAPITAL, parts

Floats = npt.NDArray[np.float64]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """(place, entity) pairs, ordered by place, and their evidence."""

    place: npt.NDArray[np.int32]
    entry: npt.NDArray[np.int32]
    odds: Floats
    """Likelihood ratio of the support: a right entity over chance."""
    kind: npt.NDArray[np.int32]
    """Class of the neighbouring words (:func:`kinds_of`); equal for all pairs of a place."""
    most: Floats
    """For each entry the largest share of its places that can be right, given the definitions in the texts."""
    marked: npt.NDArray[np.int8]
    """Of each pair, what the source's own mention in exactly this place says: 1 right, -1 wrong, 0 nothing."""


def worth_of_levels(
    documents: npt.NDArray[np.int32],
    entities: npt.NDArray[np.int32],
    entries: npt.NDArray[np.int32],
    level: npt.NDArray[np.uint8],
    is_certain: npt.NDArray[np.bool_],
    is_common: npt.NDArray[np.bool_],
    surroundings: Surroundings,
) -> Floats:
    """Log ratio of each pair's level: right entities over chance, for entities with a similar number of facts.

    Pairs that are ``is_certain`` count as right. Chance pairs these entities with the documents of other certain pairs. Common nouns
    (``is_common``) have ratios of their own. An article teaches nothing about its own entity.
    """
    # Support by chance grows with an entity's facts, so each bucket of entities has its own ratios.
    bucket = 2 * _buckets(surroundings)[entities] + is_common
    rows = np.flatnonzero(is_certain & (surroundings.subject[documents] != entities))
    rows = rows[:: max(1, len(rows) // SAMPLE)]
    shape = (int(bucket.max(initial=0)) + 1, LEVELS)
    if not len(rows):
        return USUAL[level]
    half = len(rows) // 2  # chance level: pair each entity with a document from the other half of the corpus
    chance_documents = np.concatenate([documents[rows][half:], documents[rows][:half]])
    order = np.argsort(chance_documents, kind="stable")
    chance_levels = levels(chance_documents[order], entities[rows][order], entries[rows][order], surroundings)
    right_counts = np.zeros(shape)
    chance_counts = np.zeros(shape)
    np.add.at(right_counts, (bucket[rows], level[rows]), 1.0)
    np.add.at(chance_counts, (bucket[rows][order], chance_levels), 1.0)
    log_ratios = np.clip(TEMPER * np.log(_smooth(right_counts) / _smooth(chance_counts)), LEAST, MOST)
    # A small corpus estimates the ratios badly: shrink them towards the usual ones.
    trust = len(rows) / (len(rows) + ENOUGH)
    return (trust * log_ratios + (1 - trust) * USUAL)[bucket, level]


def _smooth(counts: Floats) -> Floats:
    """Shares of the levels in each bucket (buckets × levels), drawn towards the overall shares with the weight of 20 places."""
    overall = (counts.sum(axis=0) + 1.0) / (counts.sum() + counts.shape[1])
    return (counts + 20.0 * overall) / (counts.sum(axis=1, keepdims=True) + 20.0)


def _buckets(surroundings: Surroundings) -> npt.NDArray[np.int64]:
    """A bucket for each entity, by its number of facts (log2) and by whether its article has mentions."""
    degree = np.diff(surroundings.facts[0])
    bucket: npt.NDArray[np.int64] = (2 * np.minimum(np.ceil(np.log2(degree + 1)), 10) + (np.diff(surroundings.article[0]) > 0)).astype(
        np.int64
    )
    return bucket


def beliefs(pairs: Places, features: Floats, start: Floats, prior_ratios: Floats) -> Floats:
    """Probability of each pair, from 0 to 1; those of one place sum to at most 1.

    ``features``: entries × measures of the names. ``start``: prior weights of the regression, which keep a small corpus from teaching
    nonsense. ``prior_ratios``: prior log ratios of the kinds of places.
    """
    weights = start.copy()
    predictions = _logistic(features @ weights)
    floor = np.minimum(predictions, FLOOR)
    # All names start at what similar names suggest; texts that define an abbreviation otherwise cap it.
    rate = np.minimum(predictions, pairs.most)
    kind_ratios = prior_ratios.copy()
    number: Floats = np.bincount(pairs.entry, minlength=len(features)).astype(np.float64)
    rows = np.flatnonzero(number > 0)
    x: Floats = features[rows]
    frequency: Floats = number[rows]
    right = np.bincount(pairs.entry, weights=pairs.marked > 0, minlength=len(features))
    marked = np.bincount(pairs.entry, weights=pairs.marked != 0, minlength=len(features))
    kind_counts = np.bincount(pairs.kind[np.diff(pairs.place, prepend=-1) > 0], minlength=len(kind_ratios))
    for _ in range(ROUNDS):
        # Expectation: the probability of each pair, and the expected number of right places per name.
        posterior = _posterior(pairs, rate, kind_ratios)
        mass = np.bincount(pairs.entry, weights=posterior, minlength=len(features))
        # Maximisation: refit the regression, then draw each name's share towards what similar names predict.
        weights = _fitted(x, frequency, mass[rows].astype(np.float64), start, weights)
        odds = features @ weights
        predictions = _logistic(odds)
        rate = (mass + LEAN * predictions) / (number + LEAN)
        rate = np.maximum(np.clip(rate, _logistic(odds - SPREAD), _logistic(odds + SPREAD)), floor)
        # What a source marks says directly how often the name means the entity; support need not be asked.
        rate = np.where(marked > 0, (right + MARKED_LEAN * predictions) / (marked + MARKED_LEAN), rate)
        rate = np.minimum(rate, pairs.most)
        # Only half of the estimated ratio: words next to a name and the support of its entity are not independent.
        kind_ratios = prior_ratios + 0.5 * _beside(pairs, posterior, kind_counts)
    return _posterior(pairs, rate, kind_ratios)


def _posterior(pairs: Places, rate: Floats, kind_ratios: Floats) -> Floats:
    """The probability of each pair by Bayes' rule, over the entities of its place and an unknown meaning."""
    posterior = _bayes(pairs.place, pairs.entry, pairs.kind, pairs.odds, rate, np.exp(kind_ratios))
    return np.where(pairs.marked == 0, posterior, pairs.marked > 0)


@kernel
def _bayes(place, entry, kind, odds, rate, kind_ratios):  # type: ignore[no-untyped-def]
    """Kernel of :func:`_posterior`, place by place. O(pairs)."""
    out = np.empty(len(place))
    begin = 0
    while begin < len(place):
        end = begin
        total = 0.0
        while end < len(place) and place[end] == place[begin]:
            total += rate[entry[end]]
            end += 1
        # The entities' priors sum to at most 0.98, so that at least 0.02 stay for a meaning outside the tables.
        excess = max(total / 0.98, 1.0)
        norm = 0.0
        for i in range(begin, end):
            out[i] = rate[entry[i]] / excess * odds[i] * kind_ratios[kind[i]]
            norm += out[i]
        norm += max(1.0 - min(total, 0.98), 0.02)  # the meaning that no table knows
        for i in range(begin, end):
            out[i] /= norm
        begin = end
    return out


def _beside(pairs: Places, posterior: Floats, number: npt.NDArray[np.int64]) -> Floats:
    """Log ratio of each kind of place for right names over wrong ones; ``number``: places of each kind."""
    # Five pseudo-counts at the overall rate, so that a rare kind of place does not get an extreme ratio.
    right_mass = np.bincount(pairs.kind, weights=posterior, minlength=len(number))
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
"""Sorts of names: one word; several words; one word that mostly precedes a noun; one word in lower case."""


def kinds_of(context: npt.NDArray[np.int32], sort: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Class of each place: its context, separate for each sort of name.

    >>> kinds_of(np.array([5], np.int32), np.array([ONE])).tolist(), kinds_of(np.array([5], np.int32), np.array([SEVERAL])).tolist()
    ([5], [152])
    """
    out: npt.NDArray[np.int32] = (context + CONTEXTS * sort).astype(np.int32)
    return out


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
