"""Mentions that a source marks, such as hyperlinks, and how to combine them with the mentions found by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.linking.matcher import Spans


def marked_mentions(tables: Mapping[str, pa.Table]) -> Spans:
    """The rows of ``annotations`` with known ids, as rows of the documents and entities. Where two overlap, the later one is dropped."""
    annotations = tables["annotations"]
    document, entity = (
        pc.fill_null(pc.index_in(annotations[column], tables[table]["id"].combine_chunks()), -1).to_numpy().astype(np.int32)
        for column, table in (("document", "documents"), ("entity", "entities"))
    )
    start, end = (annotations[name].to_numpy().astype(np.int32) for name in ("start", "end"))
    order = np.lexsort((entity, -end, start, document))
    rows = order[(document[order] >= 0) & (entity[order] >= 0)]
    spans = taken(Spans(document=document, start=start, end=end, entity=entity), rows)
    starts, ends = _places(spans)
    reach = np.maximum.accumulate(np.concatenate([[-1], ends[:-1]])) if len(ends) else ends
    return taken(spans, np.flatnonzero(starts >= reach))


def with_marked(source_spans: Spans, matches: Spans) -> Spans:
    """``source_spans`` and those of ``matches`` that overlap none of them, ordered by document and start."""
    starts, ends = _places(source_spans)
    start, end = _places(matches)
    # The last marked place that begins before this one ends; the marked ones do not overlap, so no earlier one reaches as far.
    at = np.searchsorted(starts, end, side="left") - 1
    is_free = (at < 0) | (ends[np.maximum(at, 0)] <= start) if len(starts) else np.ones(len(start), np.bool_)
    return merged_places(source_spans, taken(matches, np.flatnonzero(is_free)))


def verdicts_of(source_spans: Spans, pairs: Spans) -> npt.NDArray[np.int8]:
    """For each pair: 1 where a marked place with the same ends means its entity, -1 where it means another, 0 without such a place."""
    starts, ends = _places(source_spans)
    if not len(starts):
        return np.zeros(len(pairs.entity), np.int8)
    document = pairs.document.astype(np.int64) << 32
    at = np.minimum(np.searchsorted(starts, document | pairs.start), len(starts) - 1)
    is_marked = (starts[at] == document | pairs.start) & (ends[at] == document | pairs.end)
    return np.where(is_marked, np.where(source_spans.entity[at] == pairs.entity, 1, -1), 0).astype(np.int8)


def merged_places(spans: Spans, additions: Spans) -> Spans:
    """The places of both, each once, ordered by document, start, end and entity."""
    columns = [np.concatenate([getattr(spans, name), getattr(additions, name)]) for name in ("document", "start", "end", "entity")]
    order = np.lexsort(columns[::-1])
    document, start, end, entity = (column[order] for column in columns)
    is_new = np.ones(len(order), np.bool_)
    if len(order):
        is_new[1:] = np.any([column[1:] != column[:-1] for column in (document, start, end, entity)], axis=0)
    return Spans(document=document[is_new], start=start[is_new], end=end[is_new], entity=entity[is_new])


def _places(spans: Spans) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Start and end of each place, in one numbering for all documents: the document in the high 32 bits, the offset in the low ones."""
    document = spans.document.astype(np.int64) << 32
    return document | spans.start, document | spans.end


def taken(spans: Spans, rows: npt.NDArray[np.int64]) -> Spans:
    """The places in these rows."""
    return Spans(document=spans.document[rows], start=spans.start[rows], end=spans.end[rows], entity=spans.entity[rows])
