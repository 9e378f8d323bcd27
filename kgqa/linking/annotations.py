"""Mentions that a source marks, such as hyperlinks, and how they join those that are found by names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.linking.matcher import Spans


def marked_mentions(tables: Mapping[str, pa.Table]) -> Spans:
    """The rows of ``annotations`` with known ids, as rows of the documents and entities. Of two that overlap, the later one is left out."""
    annotations = tables["annotations"]
    document, entity = (
        pc.fill_null(pc.index_in(annotations[column], tables[table]["id"].combine_chunks()), -1).to_numpy().astype(np.int32)
        for column, table in (("document", "documents"), ("entity", "entities"))
    )
    start, end = (annotations[name].to_numpy().astype(np.int32) for name in ("start", "end"))
    order = np.lexsort((entity, -end, start, document))
    known = order[(document[order] >= 0) & (entity[order] >= 0)]
    spans = taken(Spans(document=document, start=start, end=end, entity=entity), known)
    first, last = _places(spans)
    before = np.maximum.accumulate(np.concatenate([[-1], last[:-1]])) if len(last) else last
    return taken(spans, np.flatnonzero(first >= before))


def with_marked(marked: Spans, others: Spans) -> Spans:
    """``marked`` and those of ``others`` that overlap none of them, ordered by document and start."""
    first, last = _places(marked)
    start, end = _places(others)
    # The last marked place that begins before this one ends; the marked ones do not overlap, so no earlier one reaches as far.
    at = np.searchsorted(first, end, side="left") - 1
    free = (at < 0) | (last[np.maximum(at, 0)] <= start) if len(first) else np.ones(len(start), np.bool_)
    return merged_places(marked, taken(others, np.flatnonzero(free)))


def merged_places(one: Spans, other: Spans) -> Spans:
    """The places of both, each once, ordered by document, start, end and entity."""
    columns = [np.concatenate([getattr(one, name), getattr(other, name)]) for name in ("document", "start", "end", "entity")]
    order = np.lexsort(columns[::-1])
    document, start, end, entity = (column[order] for column in columns)
    fresh = np.ones(len(order), np.bool_)
    if len(order):
        fresh[1:] = np.any([column[1:] != column[:-1] for column in (document, start, end, entity)], axis=0)
    return Spans(document=document[fresh], start=start[fresh], end=end[fresh], entity=entity[fresh])


def _places(spans: Spans) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Start and end of each place in all documents one after another, each as long as offsets can count."""
    document = spans.document.astype(np.int64) << 32
    return document | spans.start, document | spans.end


def taken(spans: Spans, rows: npt.NDArray[np.int64]) -> Spans:
    """The places in these rows."""
    return Spans(document=spans.document[rows], start=spans.start[rows], end=spans.end[rows], entity=spans.entity[rows])
