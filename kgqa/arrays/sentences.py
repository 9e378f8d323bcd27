"""Sentence boundaries: a rule for running text that rather divides too often."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import Rows
from kgqa.arrays.texts import text_buffers


def sentence_starts(texts: pa.ChunkedArray) -> Rows:
    """The offsets, in characters, of each text's sentences; the first is 0. O(bytes), one pass.

    A sentence ends with a line, or with one of ``.!?`` before a space and no small letter, except after an initial ("J. S. Bach"). It also
    ends with one of ``。！？｡।``, with or without a space after it, and closing marks after it belong to the sentence.
    Thai has no such sign.
    """
    counts, starts = _sentence_starts(*text_buffers(texts))
    return Rows.from_counts(counts, starts)


@kernel(inline=True)
def _is_full_stop(data, at):  # type: ignore[no-untyped-def]
    """Whether one of 。！？｡। begins at byte ``at``, with two more bytes after it."""
    byte_1, byte_2, byte_3 = data[at], data[at + 1], data[at + 2]
    if byte_1 == 0xEF:
        return (byte_2 == 0xBC and byte_3 in (0x81, 0x9F)) or (byte_2 == 0xBD and byte_3 == 0xA1)
    return (byte_1 == 0xE3 and byte_2 == 0x80 and byte_3 == 0x82) or (byte_1 == 0xE0 and byte_2 == 0xA5 and byte_3 == 0xA4)


@kernel(inline=True)
def _closes(data, at):  # type: ignore[no-untyped-def]
    """Whether one of 」』）”’》】 begins at byte ``at``."""
    byte_1, byte_2, byte_3 = data[at], data[at + 1], data[at + 2]
    if byte_1 == 0xE3:
        return byte_2 == 0x80 and byte_3 in (0x8B, 0x8D, 0x8F, 0x91)
    return (byte_1 == 0xEF and byte_2 == 0xBC and byte_3 == 0x89) or (byte_1 == 0xE2 and byte_2 == 0x80 and byte_3 in (0x99, 0x9D))


@kernel(inline=True)
def _append(starts, count, start):  # type: ignore[no-untyped-def]
    """``starts`` with one more, and their number."""
    if count == len(starts):
        starts = grown(starts, count + 1)
    starts[count] = start
    return starts, count + 1


@kernel
def _sentence_starts(data, offsets):  # type: ignore[no-untyped-def]
    counts = np.zeros(len(offsets) - 1, np.int64)
    starts, count = np.empty(1 << 16, np.int32), 0
    for text in range(len(counts)):
        begin, end = offsets[text], offsets[text + 1]
        starts, count = _append(starts, count, 0)
        counts[text] = 1
        character = 0
        for at in range(begin, end):
            byte = data[at]
            if byte & 0xC0 == 0x80:
                continue
            character += 1
            if at + 2 >= end:
                continue
            # A full stop of three bytes needs no space after it; closing marks and spaces still belong to its sentence.
            if byte >= 0xE0 and _is_full_stop(data, at):
                after, closing_count = at + 3, 0
                while after < end and (data[after] == 32 or (after + 2 < end and _closes(data, after))):
                    after += 1 if data[after] == 32 else 3
                    closing_count += 1
                if after < end and data[after] != 10 and not (after + 2 < end and _is_full_stop(data, after)):
                    starts, count = _append(starts, count, character + closing_count)
                    counts[text] += 1
                continue
            skip = 0
            if byte == 10:
                skip = 1
            elif byte in (33, 46, 63) and data[at + 1] == 32:  # ! . ?
                initial = byte == 46 and at - begin >= 1 and 65 <= data[at - 1] <= 90 and (at - begin == 1 or data[at - 2] in (32, 46, 40))
                if not initial and not 97 <= data[at + 2] <= 122:
                    skip = 2
            if skip:
                starts, count = _append(starts, count, character + skip - 1)
                counts[text] += 1
    return counts, starts[:count].copy()
