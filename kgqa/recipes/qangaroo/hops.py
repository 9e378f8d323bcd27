"""Text grades: how closely a document mentions the two entities of each hop (entity before, document, entity after) of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Offsets, offsets_of
from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.qangaroo.corpus import places, subject_of
from kgqa.rules.roles import Pairs
from kgqa.traversal.base import Graph

OPENING = 150
"""Number of characters at the beginning of an article that count as one sentence with its subject."""
NEAR = 300
"""Maximum number of characters between two mentions near each other, and from the beginning of an article to mentions near its subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHops:
    """Hops by document: those of document d are ``offsets[d]:offsets[d + 1]``, ordered by (before, after)."""

    offsets: Offsets
    before: IntArray
    """The entity from which a chain enters the document."""
    after: IntArray
    """The entity to which it leaves."""
    grades: IntArray
    """An index into :data:`kgqa.rules.roles.TEXT_ROLES`."""

    def best(self) -> tuple[Pairs, IntArray]:
        """Each pair of entities once, with its best grade over all documents."""
        order = np.lexsort((-self.grades, self.after, self.before))
        sources, targets, grades = self.before[order], self.after[order], self.grades[order]
        is_best = np.ones(len(order), np.bool_)
        is_best[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
        return (sources[is_best], targets[is_best]), grades[is_best]


def text_hops(graph: Graph, tables: Mapping[str, pa.Table]) -> TextHops:
    """The hops of every document of ``tables`` (``documents, entities, mentions``), with text grades.

    The highest grade is for two mentions in one sentence, the next one for mentions within ``NEAR`` characters. All of an article is about
    its subject: mentions in its first ``OPENING`` characters count as in one sentence with the subject, and those in its first ``NEAR``
    characters as near it. O(hops × mentions of the document squared); memory: 12 bytes per hop.
    """
    mentions = places(tables["mentions"], tables)
    sentences = sentence_starts(tables["documents"]["text"])
    subject = subject_of(tables)
    entities_into = graph.documents_of.reversed(graph.documents)
    counts, sources, targets, grades = _text_hops(
        entities_into.offsets, entities_into.targets, graph.entities_of.offsets, graph.entities_of.targets,
        mentions.offsets, mentions.entity, mentions.start, mentions.end, sentences.offsets, sentences.targets, subject, OPENING, NEAR,
    )  # fmt: skip
    return TextHops(offsets=offsets_of(counts), before=sources, after=targets, grades=grades)


@kernel
def _text_hops(  # type: ignore[no-untyped-def]
    into_offsets,
    entities_into,
    out_offsets,
    out,
    mention_offsets,
    entities,
    starts,
    ends,
    sentence_offsets,
    sentences,
    subject,
    opening,
    near,
):
    """The kernel of :func:`text_hops`: the number of hops per document, then their ends and grades (int32 each).

    ``entities_into`` are the entities that lead to each document, ``out`` those that it leads to; ``sentences`` are starts in characters.
    """
    counts = np.zeros(len(into_offsets) - 1, np.int64)
    sources, targets, grades = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32)
    size = 0
    number = np.empty(1 << 10, np.int64)
    for document in range(len(counts)):
        rows = into_offsets[document + 1] - into_offsets[document]
        columns = out_offsets[document + 1] - out_offsets[document]
        if rows == 0 or columns == 0:
            continue
        begin, end = mention_offsets[document], mention_offsets[document + 1]
        number = grown(number, end - begin)
        # The sentence number of each mention; mentions and sentences are both ordered by start.
        at = sentence_offsets[document]
        for i in range(begin, end):
            while at + 1 < sentence_offsets[document + 1] and sentences[at + 1] <= starts[i]:
                at += 1
            number[i - begin] = at - sentence_offsets[document]
        need = size + rows * columns
        sources, targets, grades = grown(sources, need), grown(targets, need), grown(grades, need)
        for row in range(into_offsets[document], into_offsets[document + 1]):
            x = entities_into[row]
            for column in range(out_offsets[document], out_offsets[document + 1]):
                z = out[column]
                if z == x:
                    continue
                # The best grade over all pairs of mentions of x and z.
                grade = 0
                for j in range(begin, end):
                    if entities[j] != z:
                        continue
                    if x == subject[document]:
                        if starts[j] < opening:
                            grade = 2
                        elif starts[j] < near:
                            grade = max(grade, 1)
                    for i in range(begin, end):
                        if entities[i] != x:
                            continue
                        if number[i - begin] == number[j - begin]:
                            grade = 2
                        elif max(starts[i], starts[j]) - min(ends[i], ends[j]) < near:
                            grade = max(grade, 1)
                sources[size], targets[size], grades[size] = x, z, grade
                size += 1
                counts[document] += 1
    return counts, sources[:size].copy(), targets[:size].copy(), grades[:size].copy()
