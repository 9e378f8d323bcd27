"""The masked twin: every expression of a candidate becomes a placeholder (Welbl et al. 2018, section 6.2).

Placeholders are the same within a sample and drawn anew for each sample. A mention that links to a candidate becomes that candidate's
placeholder, whatever longer name it is part of. Then all other expressions of candidates are replaced, longest first, also where one is
shared or stands inside a longer one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Rows
from kgqa.arrays.texts import text_buffers
from kgqa.recipes.qangaroo.corpus import Places


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedTexts:
    """One text per (sample, document) pair, in the order of the pairs."""

    texts: pa.Array
    mentions: Places
    """Mentions at their new places, grouped by text: the placeholders, and other mentions that no placeholder touches."""
    hidden: int
    """Places at which a placeholder stands."""


def mask_texts(
    texts: pa.ChunkedArray, occurrences: Places, mentions: Places, documents: Rows, candidates: Rows, placeholders: IntArray
) -> MaskedTexts:
    """Mask ``texts`` (one per document) for every (sample, document) pair of ``documents``, with the sample's ``candidates``.

    ``mentions`` overlap nowhere, ``occurrences`` may: of those that are equally long, the leftmost is taken, and then the one that comes
    first among those of its document. ``placeholders`` has a number for each entry of ``candidates.targets``. Memory: the masked texts.
    """
    data, offsets = text_buffers(texts)
    entities = 1 + max(int(rows.max(initial=0)) for rows in (occurrences.entity, mentions.entity, candidates.targets))
    out, bounds, entity, start, end, counts, hidden = _mask(
        data, offsets,
        occurrences.offsets, occurrences.entity, occurrences.start, occurrences.end,
        mentions.offsets, mentions.entity, mentions.start, mentions.end,
        documents.offsets, documents.targets, candidates.offsets, candidates.targets, placeholders, entities,
    )  # fmt: skip
    large = pa.LargeStringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(out))
    places = Places(offsets=Rows.from_counts(counts, entity).offsets, entity=entity, start=start, end=end)
    return MaskedTexts(texts=large, mentions=places, hidden=hidden)


@kernel
def _collect(document, offsets, entity, start, end, rank, stamp, sample, number, spans, found):  # type: ignore[no-untyped-def]
    """Write the candidates' places in ``document`` into ``spans`` from ``found`` on; return how many there are then."""
    for i in range(offsets[document], offsets[document + 1]):
        if stamp[entity[i]] == sample:
            spans[found, 0], spans[found, 1], spans[found, 2], spans[found, 3] = start[i], end[i], number[entity[i]], entity[i]
            spans[found, 4] = rank
            found += 1
    return found


@kernel
def _before(spans, one, other):  # type: ignore[no-untyped-def]
    """Whether span ``one`` is chosen before ``other``: linked, then longest, then leftmost."""
    if spans[one, 4] != spans[other, 4]:
        return spans[one, 4] < spans[other, 4]
    here, there = spans[one, 1] - spans[one, 0], spans[other, 1] - spans[other, 0]
    return here > there if here != there else spans[one, 0] < spans[other, 0]


@kernel
def _swap(spans, one, other):  # type: ignore[no-untyped-def]
    for k in range(5):
        spans[one, k], spans[other, k] = spans[other, k], spans[one, k]


@kernel
def _without_overlap(spans, found, taken, mark):  # type: ignore[no-untyped-def]
    """Of the first ``found`` spans leave those that are to be replaced, by start; return how many.

    Insertion sort, as a document holds few of them; ``taken`` has ``mark`` for each character that is inside one.
    """
    for i in range(1, found):
        j = i
        while j > 0 and _before(spans, j, j - 1):
            _swap(spans, j, j - 1)
            j -= 1
    chosen = 0
    for i in range(found):
        free = True
        for at in range(spans[i, 0], spans[i, 1]):
            free = free and taken[at] != mark
        if free:
            taken[spans[i, 0] : spans[i, 1]] = mark
            _swap(spans, chosen, i)
            chosen += 1
    for i in range(1, chosen):
        j = i
        while j > 0 and spans[j, 0] < spans[j - 1, 0]:
            _swap(spans, j, j - 1)
            j -= 1
    return chosen


@kernel
def _mask(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over a text, in which all offsets move together
    data, text_offsets, occurrence_offsets, occurrence_entity, occurrence_start, occurrence_end,
    mention_offsets, mention_entity, mention_start, mention_end,
    document_offsets, documents, candidate_offsets, candidates, placeholders, entities,
):  # fmt: skip
    samples = len(document_offsets) - 1
    stamp, number = np.full(entities, -1, np.int32), np.empty(entities, np.int32)
    most, longest = 1, 1
    for document in range(len(occurrence_offsets) - 1):
        named = occurrence_offsets[document + 1] - occurrence_offsets[document]
        most = max(most, named + mention_offsets[document + 1] - mention_offsets[document])
        longest = max(longest, text_offsets[document + 1] - text_offsets[document])
    spans, taken, hidden = np.empty((most, 5), np.int32), np.full(longest, -1, np.int64), 0
    out, size = np.empty(1 << 20, np.uint8), 0
    bounds = np.zeros(len(documents) + 1, np.int64)
    entity, start, end = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32)
    counts, written = np.zeros(len(documents), np.int64), 0
    name = np.empty(20, np.uint8)
    for i, letter in enumerate((95, 95, 95, 77, 65, 83, 75)):  # ___MASK
        name[i] = letter
    for sample in range(samples):
        for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
            stamp[candidates[i]] = sample
            number[candidates[i]] = placeholders[i]
        for pair in range(document_offsets[sample], document_offsets[sample + 1]):
            document = documents[pair]
            found = _collect(document, mention_offsets, mention_entity, mention_start, mention_end, 0, stamp, sample, number, spans, 0)
            found = _collect(
                document, occurrence_offsets, occurrence_entity, occurrence_start, occurrence_end, 1, stamp, sample, number, spans, found
            )
            chosen = _without_overlap(spans, found, taken, pair)
            hidden += chosen
            first, last = text_offsets[document], text_offsets[document + 1]
            out = grown(out, size + (last - first) + 20 * (chosen + 1))
            need = written + chosen + mention_offsets[document + 1] - mention_offsets[document]
            entity, start, end = grown(entity, need), grown(start, need), grown(end, need)
            begin_written = written
            character, shift, span = 0, 0, 0
            mention, last_mention = mention_offsets[document], mention_offsets[document + 1]
            at = first
            while at < last or (span < chosen and spans[span, 0] <= character):
                if span < chosen and character == spans[span, 0]:
                    digits = 0
                    value = spans[span, 2]
                    while True:
                        digits += 1
                        value //= 10
                        if value == 0:
                            break
                    value = spans[span, 2]
                    for k in range(digits):
                        name[6 + digits - k] = 48 + value % 10
                        value //= 10
                    length = 7 + digits + 3
                    for k in range(7 + digits, length):
                        name[k] = 95
                    out[size : size + length] = name[:length]
                    size += length
                    entity[written], start[written], end[written] = spans[span, 3], character + shift, character + shift + length
                    written += 1
                    while character < spans[span, 1]:
                        at += 1
                        while at < last and data[at] & 0xC0 == 0x80:
                            at += 1
                        character += 1
                    # Mentions that the placeholder touches are gone.
                    while mention < last_mention and mention_start[mention] < spans[span, 1]:
                        mention += 1
                    shift += length - (spans[span, 1] - spans[span, 0])
                    span += 1
                    continue
                while mention < last_mention and mention_start[mention] <= character:
                    if mention_start[mention] == character and (span == chosen or mention_end[mention] <= spans[span, 0]):
                        entity[written], start[written] = mention_entity[mention], character + shift
                        end[written] = mention_end[mention] + shift
                        written += 1
                    mention += 1
                out[size] = data[at]
                size += 1
                at += 1
                while at < last and data[at] & 0xC0 == 0x80:
                    out[size] = data[at]
                    size += 1
                    at += 1
                character += 1
            bounds[pair + 1] = size
            counts[pair] = written - begin_written
    return out[:size].copy(), bounds, entity[:written].copy(), start[:written].copy(), end[:written].copy(), counts, hidden
