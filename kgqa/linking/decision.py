"""From probabilities to mentions: the most probable entity of each place, unless a rule removes it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.linking.belief import Evidence, Floats, believe, most_pairs
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
    "longer name": "the name stands before the last word of other entities' names, or is the part of a compound (linking.head_nouns)",
    "shared name": "the name there belongs to several entities, and none of them is probable enough (linking.belief)",
    "doubtful": "the words there probably mean something else than the entity (linking.belief)",
    "everyday bridge": "the word is common and in many documents, or it is in very many whose subjects it has nothing to do with, and no "
    "fact joins its entity to this one's (linking.hubs)",
}
"""Rule → the sentence that the funnel shows."""


LINKED, LONGER, SHARED, DOUBTFUL, BRIDGE = range(5)
"""What becomes of a place: it is linked, or one of ``PLACE_RULES`` (in the same order) removes it. A place counts for one reason only, so
that the funnel adds up: parts of longer names first, then weak beliefs."""


def decided(
    pairs: Pairs,
    evidence: Evidence,
    names: npt.NDArray[np.void],
    kind_ratios: Floats,
    subject: npt.NDArray[np.int32],
    settings: LinkingSettings,
    *,
    has_weaker_claim: npt.NDArray[np.bool_],
    is_everyday: npt.NDArray[np.bool_],
    has_case: npt.NDArray[np.bool_],
) -> tuple[Spans, dict[str, int]]:
    """The mentions, and the number of places that each rule removed.

    ``names, kind_ratios``: the result of :func:`~kgqa.linking.belief.estimated`. ``subject``: the row of each document's subject, or -1.
    The masks are over names.
    """
    class_before, class_after, letter = parts(np.arange(CONTEXTS, dtype=np.int32))
    is_part = ((class_after == HEAD_NOUN) | (class_before == COMPOUND)) & settings.head_nouns
    margin = np.where(has_weaker_claim, CLAIMED, MARGIN)
    best, fate = _choose(*evidence.columns, names, kind_ratios, margin, is_part, settings.belief)
    if settings.hubs < 1:
        hub_size = max(settings.hubs * len(subject), FEW)
        to_subject = evidence.level >= SUBJECT
        # In a script without case a small letter says nothing, so it must not count as an everyday word.
        is_lower = (letter == SMALL)[evidence.beside] & has_case[evidence.name[best]]
        _remove_bridges(pairs.document, pairs.entity, to_subject, evidence.name, best, is_lower, is_everyday, subject, hub_size, fate)
    winners = best[fate == LINKED]
    counts = np.bincount(fate, minlength=BRIDGE + 1)[1:].tolist()
    spans = Spans(document=pairs.document[winners], start=pairs.start[winners], end=pairs.end[winners], entity=pairs.entity[winners])
    return spans, dict(zip(PLACE_RULES, counts, strict=True))


@kernel
def _choose(bounds, name, level, verdict, marked, beside, odds, names, kind_ratios, margin, is_part, least):  # type: ignore[no-untyped-def]
    """The row of the most probable entity of each place, and what becomes of the place before bridges are removed. O(pairs)."""
    best, fate = np.empty(len(beside), np.int32), np.empty(len(beside), np.uint8)
    beliefs = np.empty(most_pairs(bounds))
    for place in range(len(beside)):
        begin, end = bounds[place], bounds[place + 1]
        believe(place, begin, end, name, level, verdict, marked, beside, odds, names, kind_ratios, beliefs)
        first, second, top = beliefs[0], 0.0, 0
        for k in range(1, end - begin):
            if beliefs[k] > first:  # the better claim comes first and so wins a tie
                first, second, top = beliefs[k], first, k
            elif beliefs[k] > second:
                second = beliefs[k]
        best[place] = begin + top
        if is_part[beside[place]]:
            fate[place] = LONGER
        elif first < least or margin[name[begin + top]] * second > first:
            fate[place] = SHARED if end - begin > 1 else DOUBTFUL
        else:
            fate[place] = LINKED
    return best, fate


def _remove_bridges(
    document: npt.NDArray[np.int32],
    entity: npt.NDArray[np.int32],
    to_subject: npt.NDArray[np.bool_],
    name: npt.NDArray[np.int32],
    best: npt.NDArray[np.int32],
    is_lower: npt.NDArray[np.bool_],
    is_everyday: npt.NDArray[np.bool_],
    subject: npt.NDArray[np.int32],
    hub_size: float,
    fate: npt.NDArray[np.uint8],
) -> None:
    """Set the ``fate`` of linked places of hubs, which join unrelated documents; ``hub_size``: number of documents that is still harmless.

    A hub is an everyday word in lower case in more than ``hub_size`` documents. If subjects are known, it is also any entity in ten times
    as many documents that facts rarely join to their subjects, such as a month. In the second case, a fact that joins it to this document's
    subject makes an exception, unless it is in lower case. No fact makes one for a common word: "the world's oldest" never means the Earth.
    """
    # Documents are counted, not mentions: a hub matters because it joins many documents.
    counts, subject_counts = _documents(document, entity, to_subject, best, fate, subject, int(entity.max(initial=-1)) + 1)
    everywhere = (counts > WIDER * hub_size) & (subject_counts < SELDOM * counts) & (subject_counts.sum() > SELDOM * counts.sum())
    _mark_bridges(entity, to_subject, name, best, is_lower, is_everyday, counts > hub_size, everywhere, fate)


@kernel
def _documents(document, entity, to_subject, best, fate, subject, count):  # type: ignore[no-untyped-def]
    """For each of ``count`` entities the number of documents with a linked place, and of those with one that a fact joins to the subject.

    An entity's own article does not show that the entity is related to subjects. ``document`` ascends.

    >>> document, rows = np.array([0, 0, 1], np.int32), np.arange(3, dtype=np.int32)
    >>> to_subject = np.array([False, True, True])
    >>> linked, subject = np.zeros(3, np.uint8), np.array([5, 0], np.int32)
    >>> [column.tolist() for column in _documents(document, np.zeros(3, np.int32), to_subject, rows, linked, subject, 1)]
    [[2], [1]]
    """
    counts, subject_counts = np.zeros(count, np.int64), np.zeros(count, np.int64)
    last, last_to_subject = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    for place in range(len(best)):
        if fate[place] != LINKED:
            continue
        row = best[place]
        own, here = entity[row], document[row]
        if last[own] != here:
            last[own] = here
            counts[own] += 1
        if to_subject[row] and last_to_subject[own] != here and subject[here] != own:
            last_to_subject[own] = here
            subject_counts[own] += 1
    return counts, subject_counts


@kernel
def _mark_bridges(entity, to_subject, name, best, is_lower, is_everyday, is_hub, everywhere, fate):  # type: ignore[no-untyped-def]
    """Kernel of :func:`_remove_bridges`."""
    for place in range(len(best)):
        if fate[place] != LINKED:
            continue
        row = best[place]
        is_word = is_lower[place] and is_everyday[name[row]] and is_hub[entity[row]]
        if is_word or (everywhere[entity[row]] and (is_lower[place] or not to_subject[row])):
            fate[place] = BRIDGE
