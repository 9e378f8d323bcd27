"""Support of a document for an entity beyond its name: facts and articles that join it to the document's subject and mentions.

There are five levels; each pair has the strongest one that holds. They are evidence, not rules: :mod:`kgqa.linking.belief` learns the
weight of each level from the same corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import paired, row_bounds
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
    return _rows_of(first.astype(np.int32), second.astype(np.int32), count)


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
    """The index from anchor mentions (parallel arrays), subjects and facts; ``count``: number of entities."""
    facts = rows_of(np.concatenate([heads, tails]), np.concatenate([tails, heads]), count)
    pairs = paired(documents, entities)
    order = np.argsort(pairs, kind="stable")
    pairs, entries = pairs[order], entries[order]
    begins = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)])
    lowest, highest = (ends.reduceat(entries, begins) if len(begins) else entries for ends in (np.minimum, np.maximum))
    document_rows, entity_rows = (pairs[begins] >> 32).astype(np.int32), (pairs[begins] & 0xFFFFFFFF).astype(np.int32)
    about = subject[document_rows] if len(subject) else np.zeros(0, np.int32)
    is_telling = (np.bincount(entity_rows, minlength=count)[entity_rows] <= BROAD) & (about >= 0) & (about != entity_rows)
    # An article's mentions show what belongs to its entity; the reverse does not hold, as many articles may mention a subject.
    return Surroundings(
        subject=subject,
        facts=facts,
        anchors=(row_bounds(document_rows, len(subject)), entity_rows),
        anchor_entry=np.where(lowest == highest, lowest, np.int32(-2)),
        article=rows_of(about[is_telling], entity_rows[is_telling], count),
    )


def levels(documents: Ints, entities: Ints, entries: Ints, surroundings: Surroundings) -> npt.NDArray[np.uint8]:
    """The support level of each (document, entity) pair, uint8; ``documents`` ascending.

    O(facts of the documents' subjects + pairs × min(facts of the entity, anchors of the document)): an entity with very many facts costs
    no more than the mentions of the document.
    """
    tables = (*surroundings.facts, *surroundings.anchors, surroundings.anchor_entry, *surroundings.article)
    return _levels(documents, entities, entries, surroundings.subject, *tables)


@kernel
def _levels(  # type: ignore[no-untyped-def]  # noqa: PLR0912 - one pass over the pairs of each document
    documents, entities, entries, subject, fact_offsets, fact_targets, anchor_offsets, anchors, anchor_entry, offsets, targets
):  # fmt: skip
    count = len(fact_offsets) - 1
    last_document = np.full(count, -1, np.int32)
    mentioned_in = np.full(count, -1, np.int32)
    by = np.zeros(count, np.int32)
    out = np.zeros(len(documents), np.uint8)
    at = 0
    while at < len(documents):
        # Mark the subject's neighbours and the document's anchors with the document's number, which saves clearing the arrays.
        document = documents[at]
        about = subject[document]
        if about >= 0:
            last_document[about] = document
            for k in range(fact_offsets[about], fact_offsets[about + 1]):
                last_document[fact_targets[k]] = document
        for k in range(anchor_offsets[document], anchor_offsets[document + 1]):
            mentioned_in[anchors[k]], by[anchors[k]] = document, anchor_entry[k]
        anchor_count = anchor_offsets[document + 1] - anchor_offsets[document]
        while at < len(documents) and documents[at] == document:
            entity = entities[at]
            level = NOTHING
            if mentioned_in[entity] == document and by[entity] != entries[at]:
                level = TWIN
            elif last_document[entity] == document:
                level = SUBJECT
            else:
                for k in range(offsets[entity], offsets[entity + 1]):
                    if targets[k] == about:
                        level = SUBJECT
                        break
                    if mentioned_in[targets[k]] == document:
                        level = TOPIC
            # Is a neighbour of the entity an anchor? Scan the shorter of the two lists; broad ends tell nothing.
            if level < NEIGHBOUR:
                facts = fact_offsets[entity + 1] - fact_offsets[entity]
                if facts <= STEPS * anchor_count:
                    for k in range(fact_offsets[entity], fact_offsets[entity + 1]):
                        neighbour = fact_targets[k]
                        if mentioned_in[neighbour] == document and (
                            facts <= BROAD or fact_offsets[neighbour + 1] - fact_offsets[neighbour] <= BROAD
                        ):
                            level = NEIGHBOUR
                            break
                else:
                    for k in range(anchor_offsets[document], anchor_offsets[document + 1]):
                        neighbour = anchors[k]
                        degree = fact_offsets[neighbour + 1] - fact_offsets[neighbour]
                        if min(facts, degree) <= BROAD and (
                            row_holds(fact_offsets, fact_targets, neighbour, entity)
                            if degree < facts
                            else row_holds(fact_offsets, fact_targets, entity, neighbour)
                        ):
                            level = NEIGHBOUR
                            break
            out[at] = level
            at += 1
    return out
