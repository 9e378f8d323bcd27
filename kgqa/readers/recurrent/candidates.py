"""Mentions of candidates in a superdocument: by the words of their names, and as the set marks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from kgqa.readers.recurrent.superdocument import MARK, Superdocument
from kgqa.records import Instance

Span = tuple[int, int, int]
"""Number of the name, first and last token (inclusive)."""


def name_spans(hashes: npt.NDArray[np.int64], names: Sequence[npt.NDArray[np.int64]]) -> list[Span]:
    """All occurrences of each name in a text, both as lower-case hashes of their tokens; an empty name has none. Sorted."""
    spans: list[Span] = []
    by_first: dict[int, list[int]] = {}
    for number, name in enumerate(names):
        if len(name):
            by_first.setdefault(int(name[0]), []).append(number)
    places = np.flatnonzero(np.isin(hashes, np.fromiter(by_first, np.int64, len(by_first))))
    for position, first in zip(places.tolist(), hashes[places].tolist(), strict=True):
        for number in by_first[first]:
            last = position + len(names[number])
            if len(names[number]) == 1 or np.array_equal(hashes[position:last], names[number]):
                spans.append((number, position, last - 1))
    return sorted(spans)


def linked_spans(document: Superdocument, instance: Instance) -> Iterator[Span]:
    """Mentions of candidates that the set itself marks."""
    by_id = {candidate.id: number for number, candidate in enumerate(instance.candidates or ())}
    for number in document.order:
        linked_mentions = [mention for mention in instance.paragraphs[number].mentions or () if mention.entity in by_id]
        if not linked_mentions:
            continue
        tokens = np.flatnonzero(document.paragraphs == number)
        firsts = np.searchsorted(document.ends[tokens], [linked_mention.start for linked_mention in linked_mentions], side="right").tolist()
        lasts = (np.searchsorted(document.starts[tokens], [linked_mention.end for linked_mention in linked_mentions]) - 1).tolist()
        for mention, first, last in zip(linked_mentions, firsts, lasts, strict=True):
            # What is cut off at the end is not there; a mention across a sentence's end would take in its mark.
            if (
                first <= last < len(tokens)
                and int(document.ends[tokens[last]]) >= mention.end
                and tokens[last] - tokens[first] == last - first
            ):
                yield by_id[mention.entity], int(tokens[first]), int(tokens[last])


def outermost_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans without those inside a longer one: South Africa does not mention Africa. Sorted."""
    ordered = sorted(set(spans), key=lambda span: (span[1], -span[2]))
    outer_spans: list[Span] = []
    outer_last, outer_first = -1, -1
    for span in ordered:
        _, first, last = span
        if last <= outer_last and (first, last) != (outer_first, outer_last):
            continue
        if last > outer_last:
            outer_last, outer_first = last, first
        outer_spans.append(span)
    return sorted(outer_spans)


def mentions(document: Superdocument, instance: Instance, names: Sequence[npt.NDArray[np.int64]], *, marked: bool) -> list[Span]:
    """All mentions of candidates: by name, and if ``marked`` as the set marks them; sorted by candidate and position."""
    places = [span for span in name_spans(document.lowercase_hashes, names) if span_is_text(document, span)]
    return outermost_spans([*places, *linked_spans(document, instance)] if marked else places)


def span_is_text(document: Superdocument, span: Span) -> bool:
    """Whether all tokens of a span belong to the text of one paragraph."""
    _, first, last = span
    paragraphs = document.paragraphs[first : last + 1]
    return bool(paragraphs[0] >= 0 and (paragraphs == paragraphs[0]).all() and (document.lowercase_hashes[first : last + 1] != MARK).all())
