"""From probabilities to mentions: the most probable entity of each place, unless a rule removes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.linking.belief import Estimates, Evidence, believe, most_pairs
from kgqa.linking.matcher import Pairs, Spans
from kgqa.linking.support import SUBJECT
from kgqa.linking.surroundings import COMPOUND, CONTEXTS, HEAD_NOUN, SMALL, parts
from kgqa.settings.linking import LinkingSettings

MARGIN = 1.25
"""Minimum ratio of an entity's probability to that of the next entity with the same name."""
CLAIMED = 20.0
"""The same ratio where another entity has a better claim to the name, such as a modern state over its predecessors."""
FEW = 20
"""Number of documents that any word may link before it counts as a hub."""

WIDER = 10
"""Factor on the number of documents for words other than everyday ones."""
SELDOM = 0.01
"""Maximum share of a hub's documents where a fact joins it to the subject: 0.2% for months, but 1.3% for France."""

PLACE_RULES = {
    "shared name": "the name there belongs to several entities, and none of them is probable enough (linking.belief)",
    "doubtful": "the words there probably mean something else than the entity (linking.belief)",
    "longer name": "the name stands before the last word of other entities' names, or is the part of a compound (linking.head_nouns)",
    "everyday bridge": "the word is common and in many documents, or it is in very many whose subjects it has nothing to do with, and no "
    "fact joins its entity to this one's (linking.hubs)",
}
"""Rule → the sentence that the funnel shows."""


LINKED, SHARED, DOUBTFUL, LONGER, BRIDGE = range(5)
"""What becomes of a place: a mention, or one of ``PLACE_RULES`` (in the same order) removes it. A place counts for one reason only, so that
the funnel adds up: parts of longer names first, then weak beliefs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTraits:
    """What the decision needs to know of each name."""

    entity: npt.NDArray[np.int32]
    has_weaker_claim: npt.NDArray[np.bool_]
    is_everyday: npt.NDArray[np.bool_]
    has_case: npt.NDArray[np.bool_]


def decided(
    pairs: Pairs,
    evidence: Evidence,
    number: npt.NDArray[np.int32],
    estimates: Estimates,
    traits: NameTraits,
    subject: npt.NDArray[np.int32],
    settings: LinkingSettings,
) -> tuple[Spans, dict[str, int]]:
    """The mentions, and the number of places that each rule removed.

    ``number``: the number of each place's distinct place in ``evidence``. ``subject``: the row of each document's subject, or -1.
    """
    class_before, class_after, letter = parts(np.arange(CONTEXTS, dtype=np.int32))
    is_part = (((class_after == HEAD_NOUN) | (class_before == COMPOUND)) & settings.head_nouns)[evidence.beside]
    best, first, second = _best(evidence.bounds, *evidence.pairs, estimates.names, estimates.odds, estimates.kind_ratios)
    name = evidence.name[best]
    margin = np.where(traits.has_weaker_claim[name], CLAIMED, MARGIN)
    is_weak = (first < settings.belief) | (margin * second > first)
    has_rivals = np.diff(evidence.bounds) > 1
    fate = np.select([is_part, is_weak & has_rivals, is_weak], [LONGER, SHARED, DOUBTFUL], LINKED)
    if settings.hubs < 1:
        # In a script without case a small letter says nothing, so it must not count as an everyday word.
        is_lower = (letter == SMALL)[evidence.beside] & traits.has_case[name]
        to_subject = evidence.level[best] >= SUBJECT
        hub_size = max(settings.hubs * len(subject), FEW)
        is_linked = fate == LINKED
        fate[
            is_linked
            & _bridges_anything(
                pairs, number, traits.entity[name], is_linked, to_subject, is_lower, traits.is_everyday[name], subject, hub_size
            )
        ] = BRIDGE
    places = np.flatnonzero((fate == LINKED)[number])
    rows = pairs.bounds[places] + (best - evidence.bounds[:-1])[number[places]]
    spans = Spans(document=pairs.document[rows], start=pairs.start[rows], end=pairs.end[rows], entity=pairs.entity[rows])
    counts = np.bincount(fate, weights=evidence.places, minlength=BRIDGE + 1)[1:]
    return spans, dict(zip(PLACE_RULES, map(int, counts), strict=True))


@kernel
def _best(bounds, name, level, verdict, marked, beside, names, odds, kind_ratios):  # type: ignore[no-untyped-def]
    """The most probable pair of each place, its probability, and that of the next. O(pairs)."""
    count = len(bounds) - 1
    best, first, second = np.empty(count, np.int32), np.empty(count), np.empty(count)
    beliefs = np.empty(most_pairs(bounds))
    for place in range(count):
        begin, end = bounds[place], bounds[place + 1]
        believe(place, begin, end, name, level, verdict, marked, beside, names, odds, kind_ratios, beliefs)
        best[place], first[place], second[place] = begin, beliefs[0], 0.0
        for k in range(1, end - begin):
            if beliefs[k] > first[place]:  # the better claim comes first and so wins a tie
                best[place], first[place], second[place] = begin + k, beliefs[k], first[place]
            elif beliefs[k] > second[place]:
                second[place] = beliefs[k]
    return best, first, second


def _bridges_anything(
    pairs: Pairs,
    number: npt.NDArray[np.int32],
    entity: npt.NDArray[np.int32],
    is_linked: npt.NDArray[np.bool_],
    to_subject: npt.NDArray[np.bool_],
    is_lower: npt.NDArray[np.bool_],
    is_everyday: npt.NDArray[np.bool_],
    subject: npt.NDArray[np.int32],
    hub_size: float,
) -> npt.NDArray[np.bool_]:
    """Mask over distinct places of hubs, which join unrelated documents; ``hub_size``: number of documents that is still harmless.

    A hub is an everyday word in lower case in more than ``hub_size`` documents. If subjects are known, it is also any entity in ten times
    as many documents that facts rarely join to their subjects, such as a month. In the second case, a fact that joins it to this document's
    subject makes an exception, unless it is in lower case. No fact makes one for a common word: "the world's oldest" never means the Earth.
    """
    count = int(entity.max(initial=-1)) + 1
    # Documents are counted, not mentions: a hub matters because it joins many documents.
    counts, subject_counts = _documents(pairs.document, pairs.bounds, number, entity, is_linked, to_subject, subject, count)
    everywhere = (counts > WIDER * hub_size) & (subject_counts < SELDOM * counts) & (subject_counts.sum() > SELDOM * counts.sum())
    is_word = is_lower & is_everyday & (counts > hub_size)[entity]
    return is_word | (everywhere[entity] & (is_lower | ~to_subject))  # type: ignore[no-any-return]


@kernel
def _documents(document, bounds, number, entity, is_linked, to_subject, subject, count):  # type: ignore[no-untyped-def]
    """For each of ``count`` entities the number of documents with a linked place, and of those with one that a fact joins to the subject.

    An entity's own article does not show that the entity is related to subjects. ``document`` ascends. O(places).

    >>> document, bounds, number = np.array([0, 0, 1], np.int32), np.arange(4, dtype=np.int32), np.array([0, 1, 1], np.int32)
    >>> kinds = np.zeros(2, np.int32), np.array([True, True]), np.array([False, True])
    >>> [column.tolist() for column in _documents(document, bounds, number, *kinds, np.array([5, 0], np.int32), 1)]
    [[2], [1]]
    """
    counts, subject_counts = np.zeros(count, np.int64), np.zeros(count, np.int64)
    last, last_to_subject = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    for place in range(len(number)):
        if not is_linked[number[place]]:
            continue
        own, here = entity[number[place]], document[bounds[place]]
        if last[own] != here:
            last[own] = here
            counts[own] += 1
        if to_subject[number[place]] and last_to_subject[own] != here and subject[here] != own:
            last_to_subject[own] = here
            subject_counts[own] += 1
    return counts, subject_counts
