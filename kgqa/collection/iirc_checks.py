"""Live checks on IIRC's questions and answers (Ferguson et al. 2020, sections 2.2 and 2.3).

A fault's field is the one that the page shows it beside: ``questions.3`` is the fourth question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kgqa.collection.iirc import PASSAGE, IircAnswer, Mark, WrittenQuestion
from kgqa.collection.task import Fault, Item
from kgqa.metrics.normalize import normalize
from kgqa.rules.strategy_checks import MARKS

NUMBER = re.compile(r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
"""A number in digits, with or without commas between thousands."""
STALE = "does not match the text; load the page again and mark it once more."


def check_questions(item: Item, questions: Sequence[WrittenQuestion]) -> Iterator[Fault]:
    """Faults of the questions about a passage: of each one that is begun, then of the set."""
    titles = {link["title"] for link in item.shown["links"]}
    earlier: dict[str, int] = {}
    valid_count = several = 0
    for number, question in enumerate(questions):
        if not question.is_begun:
            continue
        faults = list(_question_faults(question, item.shown["text"], titles))
        first = earlier.setdefault(normalize(question.question), number)
        if question.question and first != number:
            faults.append(f"It is the same as question {first + 1}; ask something else.")
        yield from (Fault(field=f"questions.{number}", sentence=sentence) for sentence in faults)
        valid_count += not faults
        several += not faults and len(set(question.links)) > 1
    minimum, min_several = item.shown["questions"], item.shown["several"]
    if valid_count < minimum:
        yield Fault(field="", sentence=f"{valid_count} of {minimum} questions are complete; write {minimum - valid_count} more.")
    elif several < min_several:
        yield Fault(
            field="", sentence=f"{several} of the questions {'needs' if several == 1 else 'need'} two or more links; {min_several} must."
        )


def _question_faults(question: WrittenQuestion, text: str, titles: set[str]) -> Iterator[str]:
    if not question.question:
        yield "The question is empty."
    elif not question.question.endswith(MARKS):
        yield "It does not end with a question mark."
    elif not normalize(question.question[:-1]):
        yield "It has no words."
    if not question.links:
        yield "Choose the links that are needed to answer it."
    elif not titles.issuperset(question.links):
        yield "A link is not one of this passage; load the page again."
    if not question.context:
        yield "Mark what of the passage is needed to answer it."
    elif not all(mark.document == PASSAGE and mark.is_in(text) for mark in question.context):
        yield "A mark " + STALE


def check_answer(answer: IircAnswer, text_of: Callable[[str], str | None]) -> Iterator[Fault]:
    """Faults of an answer. ``text_of``: the text of a document of the page, None for an unknown one."""
    yield from (Fault(field=field, sentence=sentence) for field, sentence in _content_faults(answer))
    marks: list[tuple[str, Sequence[Mark]]] = [("spans", answer.spans), ("context", answer.context)]
    for field, several in marks:
        if not all(mark.is_in(text_of(mark.document)) for mark in several):
            yield Fault(field=field, sentence="A mark " + STALE)
    if answer.is_answered:
        if not answer.context:
            yield Fault(field="context", sentence="Mark the sentences or parts that are needed to find the answer.")
        elif all(mark.document == PASSAGE for mark in answer.context):
            sentence = "All of the context is in the passage. If the passage alone answers the question, it is a bad question."
            yield Fault(field="context", sentence=sentence, blocking=False)


def _content_faults(answer: IircAnswer) -> Iterator[tuple[str, str]]:
    if answer.type == "":
        yield "type", "Choose a kind of answer."
    elif answer.type == "span" and not answer.spans:
        yield "spans", "Mark the answer in the question, the passage or an article."
    elif answer.type == "number" and not NUMBER.fullmatch(answer.value):
        yield "value", "Write the number in digits, as 1,200 or 3.5; its unit has a field of its own."
    elif answer.type == "bad" and not answer.reason:
        yield "reason", "Choose what is wrong with the question."
    elif answer.type == "bad" and answer.reason == "other" and not answer.note:
        yield "note", "Say what is wrong with the question."


def number_of(value: str) -> str:
    """A number that :data:`NUMBER` matches, without commas and with a plain minus sign.

    >>> number_of("−1,200.50")
    '-1200.50'
    """
    return value.replace(",", "").replace("−", "-")
