"""Masks texts: every expression of a candidate becomes a placeholder (Welbl et al. 2018, section 6.2).

A candidate has one placeholder within a sample; each sample draws new ones. Linked mentions of candidates are replaced first, even inside a
longer name. All other expressions of candidates follow, longest first, including ambiguous ones and those inside other names.
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
    """The masked texts, one per pair of sample and document, in the order of the pairs."""

    texts: pa.Array
    mentions: Places
    """Mentions at their new places, grouped by text: placeholders, and the other mentions that no placeholder overlaps."""
    hidden: int
    """Number of placeholders in all texts."""


def mask_texts(
    texts: pa.ChunkedArray, occurrences: Places, mentions: Places, documents: Rows, candidates: Rows, placeholders: IntArray
) -> MaskedTexts:
    """Mask ``texts`` (one per document) for every pair of sample and document in ``documents``, with the sample's ``candidates``.

    ``mentions`` must not overlap; ``occurrences`` may. Longer occurrences are replaced first, then those further left, then those earlier
    in ``occurrences``. ``placeholders`` has a number for each entry of ``candidates.targets``. Memory: the masked texts.
    """
    data, offsets = text_buffers(texts)
    entities = 1 + max(int(rows.max(initial=0)) for rows in (occurrences.entity, mentions.entity, candidates.targets))
    out, bounds, entity, start, end, counts, hidden_count = _mask(
        data, offsets,
        occurrences.offsets, occurrences.entity, occurrences.start, occurrences.end,
        mentions.offsets, mentions.entity, mentions.start, mentions.end,
        documents.offsets, documents.targets, candidates.offsets, candidates.targets, placeholders, entities,
    )  # fmt: skip
    large = pa.LargeStringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(out))
    places = Places(offsets=Rows.from_counts(counts, entity).offsets, entity=entity, start=start, end=end)
    return MaskedTexts(texts=large, mentions=places, hidden=hidden_count)


@kernel
def _collect(document, offsets, entity, start, end, rank, stamp, sample, number, spans, count):  # type: ignore[no-untyped-def]
    """Append the places of the sample's candidates in ``document`` to ``spans``, which has ``count`` rows; return the new count.

    The columns of ``spans`` are start, end, placeholder number, entity and ``rank``. ``stamp`` holds the last sample that an entity was a
    candidate of.
    """
    for i in range(offsets[document], offsets[document + 1]):
        if stamp[entity[i]] == sample:
            spans[count, 0], spans[count, 1], spans[count, 2], spans[count, 3] = start[i], end[i], number[entity[i]], entity[i]
            spans[count, 4] = rank
            count += 1
    return count


@kernel
def _before(spans, first, second):  # type: ignore[no-untyped-def]
    """Whether span ``first`` is chosen before ``second``: linked mentions first, then long spans, then those further left.

    >>> spans = np.array([[4, 6, 0, 0, 1], [0, 5, 0, 0, 1], [8, 9, 0, 0, 0]])
    >>> bool(_before(spans, 0, 1)), bool(_before(spans, 1, 0)), bool(_before(spans, 2, 1))
    (False, True, True)
    """
    if spans[first, 4] != spans[second, 4]:
        return spans[first, 4] < spans[second, 4]
    first_length, second_length = spans[first, 1] - spans[first, 0], spans[second, 1] - spans[second, 0]
    return first_length > second_length if first_length != second_length else spans[first, 0] < spans[second, 0]


@kernel
def _swap(spans, first, second):  # type: ignore[no-untyped-def]
    """Exchange two rows of ``spans`` in place."""
    for k in range(5):
        spans[first, k], spans[second, k] = spans[second, k], spans[first, k]


@kernel
def _without_overlap(spans, count, owners, mark):  # type: ignore[no-untyped-def]
    """Reduce the first ``count`` spans to those that will be replaced, ordered by start; return their number.

    ``owners`` (int64, characters) has ``mark`` for each character inside a chosen span. Insertion sort, as a document has few spans.
    """
    # Greedy choice in the order of _before: a span is chosen unless it overlaps a chosen one.
    for i in range(1, count):
        j = i
        while j > 0 and _before(spans, j, j - 1):
            _swap(spans, j, j - 1)
            j -= 1
    size = 0
    for i in range(count):
        is_free = True
        for at in range(spans[i, 0], spans[i, 1]):
            is_free = is_free and owners[at] != mark
        if is_free:
            owners[spans[i, 0] : spans[i, 1]] = mark
            _swap(spans, size, i)
            size += 1
    for i in range(1, size):
        j = i
        while j > 0 and spans[j, 0] < spans[j - 1, 0]:
            _swap(spans, j, j - 1)
            j -= 1
    return size


@kernel
def _mask(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over a text, in which all offsets move together
    data, text_offsets, occurrence_offsets, occurrence_entity, occurrence_start, occurrence_end,
    mention_offsets, mention_entity, mention_start, mention_end,
    document_offsets, documents, candidate_offsets, candidates, placeholders, entities,
):  # fmt: skip
    """The kernel of :func:`mask_texts`.

    Returns the bytes of all masked texts (uint8) and their bounds (int64, pairs + 1); the entity, start and end of the new mentions (int32,
    characters) and their number per pair (int64); and the number of placeholders. Texts are UTF-8, and spans are in characters. Therefore
    the loop over a text moves a byte offset (``at``) and a character offset (``character``) together.
    """
    samples = len(document_offsets) - 1
    stamp, number = np.full(entities, -1, np.int32), np.empty(entities, np.int32)
    max_spans, longest = 1, 1
    for document in range(len(occurrence_offsets) - 1):
        occurrence_count = occurrence_offsets[document + 1] - occurrence_offsets[document]
        max_spans = max(max_spans, occurrence_count + mention_offsets[document + 1] - mention_offsets[document])
        longest = max(longest, text_offsets[document + 1] - text_offsets[document])
    spans, owners, hidden_count = np.empty((max_spans, 5), np.int32), np.full(longest, -1, np.int64), 0
    out, size = np.empty(1 << 20, np.uint8), 0
    bounds = np.zeros(len(documents) + 1, np.int64)
    entity, start, end = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32), np.empty(1 << 16, np.int32)
    counts, mention_count = np.zeros(len(documents), np.int64), 0
    name = np.empty(20, np.uint8)
    for i, letter in enumerate((95, 95, 95, 77, 65, 83, 75)):  # ___MASK
        name[i] = letter
    for sample in range(samples):
        for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
            stamp[candidates[i]] = sample
            number[candidates[i]] = placeholders[i]
        for pair in range(document_offsets[sample], document_offsets[sample + 1]):
            document = documents[pair]
            # Linked mentions have rank 0, occurrences rank 1: the former are chosen first.
            span_count = _collect(document, mention_offsets, mention_entity, mention_start, mention_end, 0, stamp, sample, number, spans, 0)
            span_count = _collect(
                document,
                occurrence_offsets,
                occurrence_entity,
                occurrence_start,
                occurrence_end,
                1,
                stamp,
                sample,
                number,
                spans,
                span_count,
            )
            replaced_count = _without_overlap(spans, span_count, owners, pair)
            hidden_count += replaced_count
            begin, last = text_offsets[document], text_offsets[document + 1]
            out = grown(out, size + (last - begin) + 20 * (replaced_count + 1))
            need = mention_count + replaced_count + mention_offsets[document + 1] - mention_offsets[document]
            entity, start, end = grown(entity, need), grown(start, need), grown(end, need)
            # ``shift`` is by how many characters the masked text is longer than the original up to here.
            begin_mention = mention_count
            character, shift, span = 0, 0, 0
            mention, last_mention = mention_offsets[document], mention_offsets[document + 1]
            at = begin
            while at < last or (span < replaced_count and spans[span, 0] <= character):
                if span < replaced_count and character == spans[span, 0]:
                    # Write ___MASK, the number and ___, and record the placeholder as a mention.
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
                    entity[mention_count], start[mention_count], end[mention_count] = (
                        spans[span, 3],
                        character + shift,
                        character + shift + length,
                    )
                    mention_count += 1
                    # Skip the replaced characters; continuation bytes belong to the character before them.
                    while character < spans[span, 1]:
                        at += 1
                        while at < last and data[at] & 0xC0 == 0x80:
                            at += 1
                        character += 1
                    # Drop the mentions that the placeholder overlaps.
                    while mention < last_mention and mention_start[mention] < spans[span, 1]:
                        mention += 1
                    shift += length - (spans[span, 1] - spans[span, 0])
                    span += 1
                    continue
                # No placeholder begins here: keep a mention that does, unless the next placeholder overlaps it, and copy one character.
                while mention < last_mention and mention_start[mention] <= character:
                    if mention_start[mention] == character and (span == replaced_count or mention_end[mention] <= spans[span, 0]):
                        entity[mention_count], start[mention_count] = mention_entity[mention], character + shift
                        end[mention_count] = mention_end[mention] + shift
                        mention_count += 1
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
            counts[pair] = mention_count - begin_mention
    return (
        out[:size].copy(),
        bounds,
        entity[:mention_count].copy(),
        start[:mention_count].copy(),
        end[:mention_count].copy(),
        counts,
        hidden_count,
    )
