"""Support of a document for an entity beyond its name: facts and articles that join it to the document's subject and mentions.

There are five levels; each pair has the strongest one that holds. They are evidence, not rules: :mod:`kgqa.linking.belief` learns the
weight of each level from the same corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.search import row_holds

NOTHING, TOPIC, NEIGHBOUR, SUBJECT, TWIN = range(5)
"""The levels, weakest first. NOTHING: no support. TOPIC: the entity's article and the document share a mention. NEIGHBOUR: a fact joins the
entity to a mention of the document. SUBJECT: a fact joins it to the document's subject, or its article mentions the subject. TWIN: the
document has another name of the same entity."""
LEVELS = 5
BROAD = 512
"""Facts of an entity, or documents of an anchor, above which a link to it means nothing."""

STEPS = 4
"""Bisection for one anchor among an entity's facts takes about as long as a look at this number of facts."""

Ints = npt.NDArray[np.int32]
Rows = tuple[npt.NDArray[np.int64], Ints]
"""``offsets, targets``: row i has the targets ``targets[offsets[i]:offsets[i + 1]]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Subjects, facts and certain mentions, from which shared and doubtful names are decided."""

    subject: Ints
    """Document → row of its subject, or -1."""
    facts: Rows
    """Entity → entities that a fact joins it to, in either direction."""
    anchors: Rows
    """Document → entities that it certainly mentions."""
    anchor_entry: Ints
    """For each target of ``anchors``, the entry of the name that mentions it; -2 where several names do."""
    article: Rows
    """Entity → anchors of its own article, without those in too many documents."""


def rows_of(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer], count: int) -> Rows:
    """(first, second) pairs → the distinct seconds of each of ``count`` firsts, sorted."""
    return _rows_of(first.astype(np.int32), second.astype(np.int32), count)  # type: ignore[no-any-return]


@kernel
def _rows_of(first, second, count):  # type: ignore[no-untyped-def]
    """Kernel of :func:`rows_of`. O(pairs), plus sorting the seconds of each first."""
    offsets = np.zeros(count + 1, np.int64)
    for value in first:
        offsets[value + 1] += 1
    offsets = np.cumsum(offsets)
    fill, out = offsets[:-1].copy(), np.empty(len(first), np.int32)
    for i in range(len(first)):
        out[fill[first[i]]] = second[i]
        fill[first[i]] += 1
    size, begin = 0, 0
    for row in range(count):
        end = offsets[row + 1]
        out[begin:end].sort()
        offsets[row] = size
        for i in range(begin, end):
            if i == begin or out[i] != out[i - 1]:
                out[size] = out[i]  # writes at or before i, so the next comparison still sees its value
                size += 1
        begin = end
    offsets[count] = size
    return offsets, out[:size].copy()


def surroundings_of(documents: Ints, entities: Ints, entries: Ints, *, subject: Ints, heads: Ints, tails: Ints, count: int) -> Surroundings:
    """The index from anchor mentions (parallel arrays, ``documents`` ascending), subjects and facts; ``count``: number of entities."""
    facts = rows_of(np.concatenate([heads, tails]), np.concatenate([tails, heads]), count)
    offsets, anchors, anchor_entry = _anchors(documents, entities, entries, len(subject), count)
    about = np.repeat(subject, np.diff(offsets))
    is_telling = (np.bincount(anchors, minlength=count)[anchors] <= BROAD) & (about >= 0) & (about != anchors)
    # An article's mentions show what belongs to its entity; the reverse does not hold, as many articles may mention a subject.
    return Surroundings(
        subject=subject,
        facts=facts,
        anchors=(offsets, anchors),
        anchor_entry=anchor_entry,
        article=rows_of(about[is_telling], anchors[is_telling], count),
    )


@kernel
def _anchors(documents, entities, entries, document_count, entity_count):  # type: ignore[no-untyped-def]
    """The distinct entities of each document in the order of their first mention, and the entry of each or, for several, -2. O(mentions).

    >>> documents, entities = np.array([0, 0, 0, 2], np.int32), np.array([5, 3, 5, 3], np.int32)
    >>> [column.tolist() for column in _anchors(documents, entities, np.array([1, 1, 2, 1], np.int32), 3, 6)]
    [[0, 2, 2, 3], [5, 3, 3], [-2, 1, 1]]
    """
    offsets, anchors, anchor_entry = (
        np.zeros(document_count + 1, np.int64),
        np.empty(len(entities), np.int32),
        np.empty(len(entities), np.int32),
    )
    place = np.full(entity_count, -1, np.int64)  # of the entity's latest anchor; in this document if not before its first anchor
    at, size = 0, 0
    for document in range(document_count):
        begin = size
        while at < len(documents) and documents[at] == document:
            entity = entities[at]
            if place[entity] < begin:
                place[entity] = size
                anchors[size], anchor_entry[size] = entity, entries[at]
                size += 1
            elif anchor_entry[place[entity]] != entries[at]:
                anchor_entry[place[entity]] = -2
            at += 1
        offsets[document + 1] = size
    return offsets, anchors[:size].copy(), anchor_entry[:size].copy()


def levels(documents: Ints, entities: Ints, entries: Ints, surroundings: Surroundings) -> npt.NDArray[np.uint8]:
    """The support level of each (document, entity) pair, uint8; ``documents`` ascending, ``entries`` not negative.

    O(pairs + facts of the documents' subjects + distinct pairs of each document × min(facts of the entity, anchors of the document)): an
    entity with very many facts costs no more than the mentions of the document, and a repeated mention costs nothing.
    """
    tables = (*surroundings.facts, *surroundings.anchors, surroundings.anchor_entry, *surroundings.article)
    return _levels(documents, entities, entries, int(entries.max(initial=0)) + 1, surroundings.subject, *tables)  # type: ignore[no-any-return]


ENTITY = np.dtype([("near_subject", np.int32), ("anchor", np.int32), ("entry", np.int32), ("facts", np.int32)], align=True)
"""What the kernel knows of an entity, in one cache line: the last document to whose subject it is near, the last one with it as an anchor,
and by which entry; its number of facts."""
KNOWN = np.dtype([("document", np.int32), ("entity", np.int32), ("level", np.uint8)], align=True)
"""The level that an entry had last."""


@kernel
def _levels(  # type: ignore[no-untyped-def]  # noqa: PLR0912 - one pass over the pairs of each document
    documents, entities, entries, entry_count, subject, fact_offsets, fact_targets, anchor_offsets, anchors, anchor_entry, offsets, targets
):  # fmt: skip
    state = np.empty(len(fact_offsets) - 1, ENTITY)
    for entity in range(len(state)):
        state[entity].near_subject = state[entity].anchor = -1
        state[entity].facts = fact_offsets[entity + 1] - fact_offsets[entity]
    known = np.empty(entry_count, KNOWN)
    for entry in range(entry_count):
        known[entry].document = -1
    out = np.empty(len(documents), np.uint8)
    at = 0
    while at < len(documents):
        # Mark the subject's neighbours and the document's anchors with the document's number, which saves clearing the arrays.
        document = documents[at]
        about = subject[document]
        if about >= 0:
            state[about].near_subject = document
            for k in range(fact_offsets[about], fact_offsets[about + 1]):
                state[fact_targets[k]].near_subject = document
        for k in range(anchor_offsets[document], anchor_offsets[document + 1]):
            state[anchors[k]].anchor, state[anchors[k]].entry = document, anchor_entry[k]
        anchor_count = anchor_offsets[document + 1] - anchor_offsets[document]
        while at < len(documents) and documents[at] == document:
            entity = entities[at]
            entry = entries[at]
            if known[entry].document == document and known[entry].entity == entity:
                out[at] = known[entry].level
                at += 1
                continue
            level = NOTHING
            if state[entity].anchor == document and state[entity].entry != entry:
                level = TWIN
            elif state[entity].near_subject == document:
                level = SUBJECT
            else:
                for k in range(offsets[entity], offsets[entity + 1]):
                    if targets[k] == about:
                        level = SUBJECT
                        break
                    if state[targets[k]].anchor == document:
                        level = TOPIC
            # Is a neighbour of the entity an anchor? Scan the shorter of the two lists; broad ends tell nothing.
            if level < NEIGHBOUR:
                facts = state[entity].facts
                if facts <= STEPS * anchor_count:
                    for k in range(fact_offsets[entity], fact_offsets[entity + 1]):
                        neighbour = fact_targets[k]
                        if state[neighbour].anchor == document and (facts <= BROAD or state[neighbour].facts <= BROAD):
                            level = NEIGHBOUR
                            break
                else:
                    for k in range(anchor_offsets[document], anchor_offsets[document + 1]):
                        neighbour = anchors[k]
                        degree = state[neighbour].facts
                        if min(facts, degree) <= BROAD and (
                            row_holds(fact_offsets, fact_targets, neighbour, entity)
                            if degree < facts
                            else row_holds(fact_offsets, fact_targets, entity, neighbour)
                        ):
                            level = NEIGHBOUR
                            break
            out[at] = known[entry].level = level
            known[entry].document, known[entry].entity = document, entity
            at += 1
    return out
