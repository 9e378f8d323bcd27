"""Where a superdocument mentions names: by the words of the name, and where the set marks a candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from kgqa.readers.recurrent.superdocument import MARK, Superdocument
from kgqa.records import Instance

Span = tuple[int, int, int]
"""Number of the name, first and last token."""


def named(folds: npt.NDArray[np.int64], names: Sequence[npt.NDArray[np.int64]]) -> list[Span]:
    """All places of each name in a text, both as folds of their tokens; a name without tokens is nowhere. Sorted."""
    found: list[Span] = []
    by_first: dict[int, list[int]] = {}
    for number, name in enumerate(names):
        if len(name):
            by_first.setdefault(int(name[0]), []).append(number)
    places = np.flatnonzero(np.isin(folds, np.fromiter(by_first, np.int64, len(by_first))))
    for place, first in zip(places.tolist(), folds[places].tolist(), strict=True):
        for number in by_first[first]:
            last = place + len(names[number])
            if len(names[number]) == 1 or np.array_equal(folds[place:last], names[number]):
                found.append((number, place, last - 1))
    return sorted(found)


def linked(document: Superdocument, instance: Instance) -> Iterator[Span]:
    """Where the set itself marks a candidate."""
    by_id = {candidate.id: number for number, candidate in enumerate(instance.candidates or ())}
    for number in document.order:
        marked = [each for each in instance.paragraphs[number].mentions or () if each.entity in by_id]
        if not marked:
            continue
        tokens = np.flatnonzero(document.place == number)
        firsts = np.searchsorted(document.ends[tokens], [each.start for each in marked], side="right").tolist()
        lasts = (np.searchsorted(document.starts[tokens], [each.end for each in marked]) - 1).tolist()
        for mention, first, last in zip(marked, firsts, lasts, strict=True):
            # What is cut off at the end is not there; a mention across a sentence's end would take in its mark.
            if (
                first <= last < len(tokens)
                and int(document.ends[tokens[last]]) >= mention.end
                and tokens[last] - tokens[first] == last - first
            ):
                yield by_id[mention.entity], int(tokens[first]), int(tokens[last])


def outermost(spans: Iterable[Span]) -> list[Span]:
    """Without those inside a longer one: Africa is not mentioned by South Africa. Sorted."""
    ordered = sorted(set(spans), key=lambda span: (span[1], -span[2]))
    kept: list[Span] = []
    reach, begin = -1, -1
    for span in ordered:
        _, first, last = span
        if last <= reach and (first, last) != (begin, reach):
            continue
        if last > reach:
            reach, begin = last, first
        kept.append(span)
    return sorted(kept)


def mentions(document: Superdocument, instance: Instance, names: Sequence[npt.NDArray[np.int64]], *, marked: bool) -> list[Span]:
    """Every mention of a candidate: of its name, and if ``marked`` where the set marks one; sorted by candidate and place."""
    places = [span for span in named(document.folds, names) if span_is_text(document, span)]
    return outermost([*places, *linked(document, instance)] if marked else places)


def span_is_text(document: Superdocument, span: Span) -> bool:
    """Whether all tokens of a span are of one paragraph's text."""
    _, first, last = span
    inside = document.place[first : last + 1]
    return bool(inside[0] >= 0 and (inside == inside[0]).all() and (document.folds[first : last + 1] != MARK).all())
