"""What a document says for an entity beyond its name: facts and articles that join it to what the document is about and mentions.

Five levels, the strongest that holds. They are evidence, not rules: :mod:`kgqa.linking.belief` learns what each is worth from the same
corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import paired, row_bounds
from kgqa.arrays.search import row_holds

NOTHING, TOPIC, NEIGHBOUR, SUBJECT, TWIN = range(5)
"""No support; the entity's article and the document mention the same; a fact joins it to what the document mentions; a fact joins it to the
document's subject, or its own article mentions that; the document has another name of the same entity."""
LEVELS = 5
BROAD = 512
"""An entity with more facts than this, or an anchor in more documents, tells nothing about what it is joined to."""

STEPS = 4
"""To look for one anchor among an entity's facts by bisection takes about as long as to look at so many of them."""

Ints = npt.NDArray[np.int32]
Rows = tuple[npt.NDArray[np.int64], Ints]
"""``offsets, targets``: those of row i are ``targets[offsets[i]:offsets[i + 1]]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known of documents and entities before shared and doubtful names are decided."""

    subject: Ints
    """Document → row of the entity that it is about, or -1."""
    facts: Rows
    """Entity → entities that a fact joins it to, in either direction."""
    anchors: Rows
    """Document → entities that it mentions beyond doubt."""
    anchor_entry: Ints
    """Beside the targets of ``anchors``: the entry by which it is mentioned, -2 where there are several."""
    article: Rows
    """Entity → the anchors of its own article that are not in too many documents."""


def rows_of(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer], count: int) -> Rows:
    """Pairs → for each of ``count`` firsts its distinct seconds, sorted."""
    return _rows_of(first.astype(np.int32), second.astype(np.int32), count)  # type: ignore[no-any-return]


@kernel
def _rows_of(first, second, count):  # type: ignore[no-untyped-def]
    """O(pairs), but for sorting the seconds of each first."""
    offsets = np.zeros(count + 1, np.int64)
    for value in first:
        offsets[value + 1] += 1
    offsets = np.cumsum(offsets)
    fill, out = offsets[:-1].copy(), np.empty(len(first), np.int32)
    for i in range(len(first)):
        out[fill[first[i]]] = second[i]
        fill[first[i]] += 1
    kept, begin = 0, 0
    for row in range(count):
        end = offsets[row + 1]
        out[begin:end].sort()
        offsets[row] = kept
        for i in range(begin, end):
            if i == begin or out[i] != out[i - 1]:
                out[kept] = out[i]  # at or before i, so that the next comparison still sees it
                kept += 1
        begin = end
    offsets[count] = kept
    return offsets, out[:kept].copy()


def surroundings_of(documents: Ints, entities: Ints, entries: Ints, *, subject: Ints, heads: Ints, tails: Ints, count: int) -> Surroundings:
    """From anchor mentions (``documents``, ``entities``, ``entries`` side by side), subjects and facts; ``count`` entities."""
    facts = rows_of(np.concatenate([heads, tails]), np.concatenate([tails, heads]), count)
    pairs = paired(documents, entities)
    order = np.argsort(pairs, kind="stable")
    pairs, entries = pairs[order], entries[order]
    begins = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)])
    least, most = (ends.reduceat(entries, begins) if len(begins) else entries for ends in (np.minimum, np.maximum))
    each, what = (pairs[begins] >> 32).astype(np.int32), (pairs[begins] & 0xFFFFFFFF).astype(np.int32)
    about = subject[each] if len(subject) else np.zeros(0, np.int32)
    telling = (np.bincount(what, minlength=count)[what] <= BROAD) & (about >= 0) & (about != what)
    # An article tells what belongs to its entity by what it mentions; the subject of another article may be in many of them.
    return Surroundings(
        subject=subject,
        facts=facts,
        anchors=(row_bounds(each, len(subject)), what),
        anchor_entry=np.where(least == most, least, np.int32(-2)),
        article=rows_of(about[telling], what[telling], count),
    )


def levels(documents: Ints, entities: Ints, entries: Ints, known: Surroundings) -> npt.NDArray[np.uint8]:
    """The level of each (document, entity) pair; ``documents`` ascending.

    O(facts of what the documents are about + pairs × the lesser of their entity's facts and their document's anchors): an entity of very
    many facts costs no more than what the document mentions.
    """
    return _levels(documents, entities, entries, known.subject, *known.facts, *known.anchors, known.anchor_entry, *known.article)  # type: ignore[no-any-return]


@kernel
def _levels(  # type: ignore[no-untyped-def]  # noqa: PLR0912 - one pass over the pairs of each document
    documents, entities, entries, subject, fact_offsets, fact_targets, anchor_offsets, anchors, anchor_entry, offsets, targets
):  # fmt: skip
    count = len(fact_offsets) - 1
    joined = np.full(count, -1, np.int32)
    here = np.full(count, -1, np.int32)
    by = np.zeros(count, np.int32)
    out = np.zeros(len(documents), np.uint8)
    at = 0
    while at < len(documents):
        document = documents[at]
        about = subject[document]
        if about >= 0:
            joined[about] = document
            for k in range(fact_offsets[about], fact_offsets[about + 1]):
                joined[fact_targets[k]] = document
        for k in range(anchor_offsets[document], anchor_offsets[document + 1]):
            here[anchors[k]], by[anchors[k]] = document, anchor_entry[k]
        named = anchor_offsets[document + 1] - anchor_offsets[document]
        while at < len(documents) and documents[at] == document:
            entity = entities[at]
            level = NOTHING
            if here[entity] == document and by[entity] != entries[at]:
                level = TWIN
            elif joined[entity] == document:
                level = SUBJECT
            else:
                for k in range(offsets[entity], offsets[entity + 1]):
                    if targets[k] == about:
                        level = SUBJECT
                        break
                    if here[targets[k]] == document:
                        level = TOPIC
            if level < NEIGHBOUR:
                facts = fact_offsets[entity + 1] - fact_offsets[entity]
                if facts <= STEPS * named:
                    for k in range(fact_offsets[entity], fact_offsets[entity + 1]):
                        other = fact_targets[k]
                        if here[other] == document and (facts <= BROAD or fact_offsets[other + 1] - fact_offsets[other] <= BROAD):
                            level = NEIGHBOUR
                            break
                else:
                    for k in range(anchor_offsets[document], anchor_offsets[document + 1]):
                        other = anchors[k]
                        degree = fact_offsets[other + 1] - fact_offsets[other]
                        if min(facts, degree) <= BROAD and (
                            row_holds(fact_offsets, fact_targets, other, entity)
                            if degree < facts
                            else row_holds(fact_offsets, fact_targets, entity, other)
                        ):
                            level = NEIGHBOUR
                            break
            out[at] = level
            at += 1
    return out
