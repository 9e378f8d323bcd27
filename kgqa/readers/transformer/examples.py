"""A question's windows with its labels, as one row of an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from kgqa.readers.answers import answer_spans, candidate_spans, is_option
from kgqa.readers.scores import sufficiency_of
from kgqa.readers.transformer.windows import OPTION_TEXT, Cutter, Tokens, Windows, titled
from kgqa.records import Instance
from kgqa.training.task import FAULT, ID, TOKENS

UNKNOWN = -100
"""A label that the set does not give."""
RAGGED = (
    "lengths", "ids", "place", "begin", "end", "mark", "mark_paragraph", "mark_label",
    "sentence", "sentence_paragraph", "sentence_number", "sentence_label", "span_first", "span_last", "span_owner",
)  # fmt: skip
"""Columns of int32 lists: windows, tokens, paragraphs in windows, sentences in windows, spans that may be answers."""
PLAIN = ("asked", "choices", "right", "sufficiency")
"""Columns of int32: tokens of the question, candidates, which of them is right (0 without candidates, -1 unknown), DiRe's label."""
NOT_STATED = "no paragraph states the answer"
CUT = "no window holds all of the answer"
NO_CANDIDATE = "no paragraph mentions the answer"
NO_ANSWER = "it has no answer"
HIDDEN = "its answer is hidden"
NOT_AMONG = "its answer is none of its candidates"
UNSUPPORTED = "nothing says which paragraphs support the answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """What is learned from a question, and so what must be known of it."""

    answer: bool = True
    support: str = "supporting"
    """Which paragraphs a mark is right for: ``supporting``, or those that state the answer (``has-answer``)."""

    def fault(self, shown: set[int], named: set[int], marks: Sequence[int], right: int, instance: Instance) -> str | None:
        """Why nothing can be learned; ``named``: owners that a paragraph names, ``shown``: those of which a window has all of a name."""
        if not self.answer:
            return None if 1 in marks else UNSUPPORTED if self.support == "supporting" else NOT_STATED
        if not instance.answerable or right in shown:
            return None
        if right < 0:
            return without_right(instance)
        if right in named:
            return CUT
        return NO_CANDIDATE if instance.candidates else NOT_STATED


def encode(instances: Sequence[Instance], cutter: Cutter, lessons: Lessons) -> pa.RecordBatch:
    """One row for each Instance."""
    cut = cutter.tokens(
        chain.from_iterable(
            (each.question, *(p.text for p in each.paragraphs), *(titled(p.title) for p in each.paragraphs if p.title))
            for each in instances
        )
    )
    rows = [_row(instance, cutter.windows(instance, cut), cut, cutter, lessons) for instance in instances]
    columns: dict[str, pa.Array] = {
        ID: pa.array([row[ID] for row in rows], pa.string()),
        TOKENS: pa.array([row[TOKENS] for row in rows], pa.int32()),
        FAULT: pa.array([row[FAULT] for row in rows], pa.string()),
    }
    columns |= {name: pa.array([row[name] for row in rows], pa.int32()) for name in PLAIN}
    columns |= {name: ragged([row[name] for row in rows]) for name in RAGGED}
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def ragged(rows: list[Any]) -> pa.ListArray:
    """Rows of int32 as one column."""
    values = [np.asarray(row, np.int32) for row in rows]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate([np.zeros(0, np.int32), *values])))


def _row(instance: Instance, windows: Windows, cut: dict[str, Tokens], cutter: Cutter, lessons: Lessons) -> dict[str, Any]:
    right, named = _named(instance)
    spans = list(_spans(named, instance, windows, cut))
    if is_option(instance):
        right, spans = 0, [(*_option(windows, cutter, at, instance.answers[0]), 0) for at in windows.options]
    supporting = _support(instance, lessons)
    marks = [supporting[each.paragraph] for each in windows.slices]
    sentences = list(_sentences(instance, windows, cut))
    return {
        ID: instance.id,
        TOKENS: sum(windows.lengths),
        FAULT: lessons.fault({span[2] for span in spans}, {name[0] for name in named}, marks, right, instance),
        "asked": windows.asked,
        "choices": len(instance.candidates or ()),
        "right": right,
        "sufficiency": sufficiency_of(instance),
        "lengths": windows.lengths,
        "ids": np.concatenate(windows.ids),
        "place": np.concatenate(windows.place),
        "begin": np.concatenate(windows.begins),
        "end": np.concatenate(windows.ends),
        "mark": [each.mark for each in windows.slices],
        "mark_paragraph": [each.paragraph for each in windows.slices],
        "mark_label": marks,
        "sentence": [each[0] for each in sentences],
        "sentence_paragraph": [each[1] for each in sentences],
        "sentence_number": [each[2] for each in sentences],
        "sentence_label": [each[3] for each in sentences],
        "span_first": [span[0] for span in spans],
        "span_last": [span[1] for span in spans],
        "span_owner": [span[2] for span in spans],
    }


def _named(instance: Instance) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Which owner is right, and owner, paragraph, start and end of every place that names one: a candidate, or else the answer."""
    if not instance.candidates:
        return (0 if instance.answers else -1), [(0, *span) for span in answer_spans(instance)]
    return right_candidate(instance), list(candidate_spans(instance))


def right_candidate(instance: Instance) -> int:
    """The number of the candidate that is the answer, by its id or else by its text; -1 where none is."""
    candidates = instance.candidates or ()
    by_id = (place for place, each in enumerate(candidates) if each.id == instance.answer_id)
    by_text = (place for place, each in enumerate(candidates) if instance.answers and each.text == instance.answers[0])
    return next(by_id, next(by_text, -1))


def without_right(instance: Instance) -> str:
    """Why nothing is right, as a fault."""
    if instance.hidden and instance.answer_id is None:
        return HIDDEN
    return NOT_AMONG if instance.candidates and (instance.answers or instance.answer_id) else NO_ANSWER


def _spans(named: list[tuple[int, int, int, int]], instance: Instance, windows: Windows, cut: dict[str, Tokens]) -> Any:
    """First token, last token and owner, wherever a window has all of the span."""
    by_paragraph: dict[int, list[Any]] = {}
    for each in windows.slices:
        by_paragraph.setdefault(each.paragraph, []).append(each)
    for owner, paragraph, start, end in named:
        tokens = cut[instance.paragraphs[paragraph].text].between(start, end)
        if tokens is None:
            continue
        for each in by_paragraph.get(paragraph, ()):
            first, last = tokens[0] - each.first, tokens[1] - each.first
            if first >= 0 and last < each.count:
                yield each.at + first, each.at + last, owner


def _option(windows: Windows, cutter: Cutter, at: int, answer: str) -> tuple[int, int]:
    """The tokens of yes or no in the window whose options begin ``at``."""
    assert cutter.options is not None
    start = OPTION_TEXT.index(answer.strip().lower())
    found = cutter.options.between(start, start + len(answer.strip()))
    assert found is not None
    return at + found[0], at + found[1]


def paragraphs_with_answer(instance: Instance) -> set[int]:
    """Numbers of the paragraphs that state the answer, of supporting ones if these do; of yes and no all that support it (DiRe, B.2)."""
    if is_option(instance):
        return {number for number, each in enumerate(instance.paragraphs) if each.supporting}
    right, named = _named(instance)
    return {paragraph for owner, paragraph, _, _ in named if owner == right}


def _support(instance: Instance, lessons: Lessons) -> list[int]:
    """For each paragraph 1, 0, or UNKNOWN."""
    if lessons.support == "has-answer":
        stating = paragraphs_with_answer(instance)
        return [int(number in stating) for number in range(len(instance.paragraphs))]
    return [UNKNOWN if each.supporting is None else int(each.supporting) for each in instance.paragraphs]


def _sentences(instance: Instance, windows: Windows, cut: dict[str, Tokens]) -> Any:
    """Token, paragraph, sentence and label of every sentence that begins in a window."""
    for each in windows.slices:
        paragraph = instance.paragraphs[each.paragraph]
        if not paragraph.sentences:
            continue
        starts = np.searchsorted(cut[paragraph.text].begins, np.array(paragraph.sentences), side="left") - each.first
        known = paragraph.supporting_sentences
        for number, start in enumerate(starts.tolist()):
            if 0 <= start < each.count:
                label = int(number in known) if known is not None else 0 if paragraph.supporting is False else UNKNOWN
                yield each.at + start, each.paragraph, number, label
