"""A question's windows with its labels, as one row of an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.readers.answers import answer_spans, candidate_spans, is_option, occurrences, right_candidate
from kgqa.readers.scores import sufficiency_of
from kgqa.readers.transformer.windows import OPTION_TEXT, Cutter, Tokens, Windows, title_prefix
from kgqa.records import Instance
from kgqa.training.task import FAULT, ID, TOKENS

UNKNOWN = -100
"""A label that the set lacks."""
RAGGED = (
    "lengths", "ids", "paragraph", "begin", "end", "mark", "mark_paragraph", "mark_label",
    "sentence", "sentence_paragraph", "sentence_number", "sentence_label", "span_first", "span_last", "span_owner",
)  # fmt: skip
"""Columns of int32 lists: windows, tokens, paragraphs in windows, sentences in windows, spans that may be answers."""
PLAIN = ("question_tokens", "choices", "gold", "sufficiency")
"""Columns of int32: tokens of the question, candidates, the right one (0 without candidates, -1 unknown), DiRe's label."""
NOT_STATED = "no paragraph states the answer"
CUT = "no window holds all of the answer"
NO_CANDIDATE = "no paragraph mentions the answer"
NO_ANSWER = "it has no answer"
HIDDEN = "its answer is hidden"
NOT_AMONG = "its answer is none of its candidates"
UNSUPPORTED = "nothing says which paragraphs support the answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The labels that a reader is trained on, and so the labels that an example must have."""

    answer: bool = True
    support: str = "supporting"
    """Definition of a positive paragraph: ``supporting``, or stating the answer (``has-answer``)."""

    @property
    def reads_apart(self) -> bool:
        """Whether each paragraph is read by itself, whatever the encoder's limit: selectors do (Trivedi et al. 2022, section 7.2.1)."""
        return not self.answer

    def fault(
        self, owners_in_windows: set[int], owners_in_paragraphs: set[int], labels: Sequence[int], gold: int, instance: Instance
    ) -> str | None:
        """Why the example cannot be trained on, or None.

        ``owners_in_paragraphs``: owners (candidates, or the answer) that a paragraph names; ``owners_in_windows``: those with a whole name
        in some window.
        """
        if not self.answer:
            return None if 1 in labels else UNSUPPORTED if self.support == "supporting" else NOT_STATED
        if not instance.answerable or gold in owners_in_windows:
            return None
        if gold < 0:
            return without_right(instance)
        if gold in owners_in_paragraphs:
            return CUT
        return NO_CANDIDATE if instance.candidates else NOT_STATED


def encode(instances: Sequence[Instance], cutter: Cutter, targets: Targets) -> pa.RecordBatch:
    """A record batch with one row per Instance."""
    tokens = cutter.tokens(
        chain.from_iterable(
            (instance.question, *(p.text for p in instance.paragraphs), *(title_prefix(p.title) for p in instance.paragraphs if p.title))
            for instance in instances
        )
    )
    rows = [_row(instance, tokens, cutter, targets) for instance in instances]
    columns: dict[str, pa.Array] = {
        ID: pa.array([row[ID] for row in rows], pa.string()),
        TOKENS: pa.array([row[TOKENS] for row in rows], pa.int32()),
        FAULT: pa.array([row[FAULT] for row in rows], pa.string()),
    }
    columns |= {name: pa.array([row[name] for row in rows], pa.int32()) for name in PLAIN}
    columns |= {name: ragged([row[name] for row in rows]) for name in RAGGED}
    return pa.RecordBatch.from_pydict(columns)


def ragged(rows: list[Any]) -> pa.ListArray:
    """Rows of int32 as a list column."""
    values = [np.asarray(row, np.int32) for row in rows]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate([np.zeros(0, np.int32), *values])))


def ragged_values(table: pa.Table, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The concatenated values of a list column, and the length of each row."""
    column = table.column(name).combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return column.flatten().to_numpy().astype(np.int64), np.diff(column.offsets.to_numpy()).astype(np.int64)


def _row(instance: Instance, tokens: dict[str, Tokens], cutter: Cutter, targets: Targets) -> dict[str, Any]:
    gold, owner_spans = _owner_spans(instance)
    texts = [cutter.paragraph_tokens(paragraph, tokens) for paragraph in instance.paragraphs]
    windows = cutter.windows(instance, texts, tokens)
    spans = list(_spans(owner_spans, windows, texts))
    if is_option(instance):
        gold, spans = 0, [(*_option(windows, cutter, at, instance.answers[0]), 0) for at in windows.options]
    supporting = _support(instance, targets)
    mark_labels = [supporting[piece.paragraph] for piece in windows.slices]
    sentences = list(_sentences(instance, windows, texts, cutter))
    return {
        ID: instance.id,
        TOKENS: sum(windows.lengths),
        FAULT: targets.fault({span[2] for span in spans}, {name[0] for name in owner_spans}, mark_labels, gold, instance),
        "question_tokens": windows.question_tokens,
        "choices": len(instance.candidates or ()),
        "gold": gold,
        "sufficiency": sufficiency_of(instance),
        "lengths": windows.lengths,
        "ids": np.concatenate(windows.ids),
        "paragraph": np.concatenate(windows.paragraphs),
        "begin": np.concatenate(windows.begins),
        "end": np.concatenate(windows.ends),
        "mark": [piece.mark for piece in windows.slices],
        "mark_paragraph": [piece.paragraph for piece in windows.slices],
        "mark_label": mark_labels,
        "sentence": [sentence[0] for sentence in sentences],
        "sentence_paragraph": [sentence[1] for sentence in sentences],
        "sentence_number": [sentence[2] for sentence in sentences],
        "sentence_label": [sentence[3] for sentence in sentences],
        "span_first": [span[0] for span in spans],
        "span_last": [span[1] for span in spans],
        "span_owner": [span[2] for span in spans],
    }


def _owner_spans(instance: Instance) -> tuple[int, list[tuple[int, int, int, int]]]:
    """The right owner; and owner, paragraph, start and end of each name of an owner: of a candidate, or else of the answer."""
    if not instance.candidates:
        return (0 if instance.answers else -1), [(0, *span) for span in answer_spans(instance)]
    return right_candidate(instance), list(candidate_spans(instance))


def without_right(instance: Instance) -> str:
    """Why there is no right owner, as a fault."""
    if instance.hidden and instance.answer_id is None:
        return HIDDEN
    return NOT_AMONG if instance.candidates and (instance.answers or instance.answer_id) else NO_ANSWER


def _spans(owner_spans: list[tuple[int, int, int, int]], windows: Windows, texts: Sequence[Tokens]) -> Any:
    """First token, last token and owner of each span that lies in one window as a whole."""
    by_paragraph: dict[int, list[Any]] = {}
    for piece in windows.slices:
        by_paragraph.setdefault(piece.paragraph, []).append(piece)
    for owner, paragraph, start, end in owner_spans:
        tokens = texts[paragraph].between(start, end)
        if tokens is None:
            continue
        for piece in by_paragraph.get(paragraph, ()):
            first, last = tokens[0] - piece.first, tokens[1] - piece.first
            if first >= 0 and last < piece.count:
                yield piece.at + first, piece.at + last, owner


def _option(windows: Windows, cutter: Cutter, begin: int, answer: str) -> tuple[int, int]:
    """The tokens of yes or no, in the window whose options begin at ``begin``."""
    assert cutter.options is not None
    start = OPTION_TEXT.index(answer.strip().lower())
    span = cutter.options.between(start, start + len(answer.strip()))
    assert span is not None
    return begin + span[0], begin + span[1]


def paragraphs_with_answer(instance: Instance) -> set[int]:
    """Numbers of the paragraphs that state the answer, supporting or not; for yes and no all supporting ones.

    These are the positive paragraphs of 1-Para (Trivedi et al. 2022, section 7.2.2; Trivedi et al. 2020, appendix B.2).
    """
    if is_option(instance):
        return {number for number, paragraph in enumerate(instance.paragraphs) if paragraph.supporting}
    if instance.candidates:
        gold = right_candidate(instance)
        return {paragraph for owner, paragraph, _, _ in candidate_spans(instance) if owner == gold}
    return {
        number
        for number, paragraph in enumerate(instance.paragraphs)
        if any(occurrences(answer, paragraph.text) for answer in instance.answers)
    }


def _support(instance: Instance, targets: Targets) -> list[int]:
    """For each paragraph 1, 0, or UNKNOWN."""
    if targets.support == "has-answer":
        with_answer = paragraphs_with_answer(instance)
        return [int(number in with_answer) for number in range(len(instance.paragraphs))]
    return [UNKNOWN if paragraph.supporting is None else int(paragraph.supporting) for paragraph in instance.paragraphs]


def _sentences(instance: Instance, windows: Windows, texts: Sequence[Tokens], cutter: Cutter) -> Any:
    """Token, paragraph, sentence and label of each sentence that begins in a window.

    The token is the first one of the sentence; with causal attention, the last one that is in the window.
    """
    for piece in windows.slices:
        paragraph = instance.paragraphs[piece.paragraph]
        if not paragraph.sentences:
            continue
        starts = np.searchsorted(texts[piece.paragraph].begins, np.array(paragraph.sentences), side="left") - piece.first
        supporting = paragraph.supporting_sentences
        for number, start in enumerate(starts.tolist()):
            if 0 <= start < piece.count:
                label = int(number in supporting) if supporting is not None else 0 if paragraph.supporting is False else UNKNOWN
                last = min([piece.count, *starts[number + 1 : number + 2].tolist()]) - 1
                yield piece.at + (max(start, last) if cutter.causal else start), piece.paragraph, number, label
