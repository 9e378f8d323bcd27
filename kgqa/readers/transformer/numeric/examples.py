"""The derivations of a question's gold answer, as columns beside those of ``kgqa.readers.transformer.examples``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from kgqa.metrics.normalize import normalize
from kgqa.readers.answers import OPTIONS, answer_spans
from kgqa.readers.numbers.mentions import NumberMention, number_mentions, parsed_number
from kgqa.readers.numbers.sums import OPERANDS, Sum, sums_to
from kgqa.readers.transformer.examples import HIDDEN, NO_ANSWER, ragged
from kgqa.records import Instance, Paragraph
from kgqa.training.task import FAULT

VERSION = 1
"""Version of the derivations."""
QUESTION = "#question"
"""Id of the question as a paragraph, so that its names and numbers can be answers."""
COUNTS = 10
"""Counts are 0 to 9 (Dua et al. 2019)."""
MOST_NUMBERS = 64
"""Numbers of a question and its paragraphs that are used, the first ones."""
MOST_SUMS = 500
"""Sums that give an answer and are learned from, the first ones."""
WHOLE = NumberMention(value=100.0, unit="%", is_year=False, start=0, end=0)
NOT_DERIVED = "no span, count or sum of numbers in the texts is the answer"
NOT_OF_TYPE = "its answer is of a type that this reader does not give"
PLAIN = ("is_one_span", "is_several_spans", "count_label", "choice_label", "is_none")
RAGGED = (
    "number", "number_rank", "number_is_year", "number_is_asked", "sum_terms", "term_number", "term_sign",
)  # fmt: skip
"""Columns of int32 lists; ``sum_terms`` holds the number of terms of each sum."""


def with_question(instance: Instance) -> Instance:
    """The Instance with its question as first paragraph, and without candidates, since the answer is free."""
    question = Paragraph(id=QUESTION, title=None, text=instance.question, supporting=None)
    return replace(instance, paragraphs=(question, *instance.paragraphs), candidates=None, chains=None, grades=None)


def numbers_of(instance: Instance) -> list[tuple[int, NumberMention]]:
    """Paragraph number and mention of the numbers that are used.

    Where there is a percentage, 100% comes first, as if the first paragraph began with it: what is left of the whole is often
    asked for (as in NumNet+).
    """
    numbers = [(place, mention) for place, paragraph in enumerate(instance.paragraphs) for mention in number_mentions(paragraph.text)]
    whole = [(0, WHOLE)] if any(mention.unit == WHOLE.unit for _, mention in numbers) else []
    return [*whole, *numbers][:MOST_NUMBERS]


def right_numbers(instance: Instance) -> list[float]:
    """The numbers that are right answers; none if the answer is of another type."""
    if instance.answer_type != "number":
        return []
    mentions = (parsed_number(parts[0]) for parts in instance.whole_answers if len(parts) == 1)
    return list(dict.fromkeys(mention.value for mention in mentions if mention is not None))


def right_sums(instance: Instance, numbers: Sequence[NumberMention]) -> list[Sum]:
    """The sums that give a right answer.

    Three numbers are added only where one or two do not give the answer: in a text of fifty, many triples give it by chance.
    """
    targets = right_numbers(instance)
    sums = [candidate for target in targets for candidate in sums_to(target, numbers, operands=OPERANDS - 1)]
    return (sums or [candidate for target in targets for candidate in sums_to(target, numbers)])[:MOST_SUMS]


def with_derivations(
    instances: Sequence[Instance], encoded: pa.RecordBatch, *, heads: Sequence[str], faults: Sequence[str | None]
) -> pa.RecordBatch:
    """The rows of ``examples.encode`` with the columns ``PLAIN`` and ``RAGGED``, and with the fault of what no head of ``heads`` derives.

    ``faults``: other reasons not to learn from a question, or None.
    """
    columns = dict(zip(encoded.schema.names, encoded.columns, strict=True))
    places = [columns[name] for name in ("paragraph", "begin", "end", "span_first")]
    rows = [_row(instance, *(of_row.values.to_numpy() for of_row in some)) for instance, *some in zip(instances, *places, strict=True)]
    columns[FAULT] = pa.array(
        [fault or _fault(instance, row, heads) for instance, row, fault in zip(instances, rows, faults, strict=True)], pa.string()
    )
    columns |= {name: pa.array([row[name] for row in rows], pa.int32()) for name in PLAIN}
    columns |= {name: ragged([row[name] for row in rows]) for name in RAGGED}
    return pa.RecordBatch.from_pydict(columns)


def _row(instance: Instance, paragraph: Any, begin: Any, end: Any, span_first: Any) -> dict[str, Any]:
    places = numbers_of(instance)
    numbers = [mention for _, mention in places]
    sums = right_sums(instance, numbers)
    values = np.array([mention.value for mention in numbers])
    small = [int(number) for number in right_numbers(instance) if number.is_integer() and 0 <= number < COUNTS]
    word = normalize(instance.answers[0]) if instance.answers and instance.answer_type == "boolean" else ""
    return {
        "number": [_token(paragraph, begin, end, place, mention.start) for place, mention in places],
        "number_rank": (values[:, None] > values).sum(1),
        "number_is_year": [int(mention.is_year) for mention in numbers],
        "number_is_asked": [int(instance.paragraphs[place].id == QUESTION) for place, _ in places],
        "sum_terms": [len(term_sum.places) for term_sum in sums],
        "term_number": [place for term_sum in sums for place in term_sum.places],
        "term_sign": [1 if sign > 0 else 2 for term_sum in sums for sign in term_sum.signs],
        "is_one_span": int(len(span_first) > 0 and instance.answer_type not in {"spans", "boolean", "none"}),
        "is_several_spans": int(len(span_first) > 0 and instance.answer_type == "spans" and _states_all(instance)),
        "count_label": small[0] if small else -1,
        "choice_label": OPTIONS.index(word) if word in OPTIONS else -1,
        "is_none": int(not instance.answerable),
    }


def _token(paragraph: Any, begin: Any, end: Any, place: int, start: int) -> int:
    """The first token of the windows that has the character ``start`` of a paragraph; 0 if the tokenizer left it out."""
    return int(((paragraph == place) & (begin <= start) & (end > start)).argmax())


def _states_all(instance: Instance) -> bool:
    """Whether each part of the answer has a span."""
    return all(any(True for _ in answer_spans(replace(instance, answers=(part,)))) for part in instance.answers)


def _derives(row: dict[str, Any]) -> dict[str, bool]:
    """Head → whether it can give the answer."""
    return {
        "span": bool(row["is_one_span"]), "spans": bool(row["is_several_spans"]), "count": row["count_label"] >= 0,
        "sum": bool(row["sum_terms"]), "boolean": row["choice_label"] >= 0, "none": bool(row["is_none"]),
    }  # fmt: skip


def _fault(instance: Instance, row: dict[str, Any], heads: Sequence[str]) -> str | None:
    if instance.hidden:
        return HIDDEN
    if instance.answerable and not instance.answers:
        return NO_ANSWER
    derived = [head for head, is_derived in _derives(row).items() if is_derived]
    if any(head in heads for head in derived):
        return None
    return NOT_OF_TYPE if derived else NOT_DERIVED
