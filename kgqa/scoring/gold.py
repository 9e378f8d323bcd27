"""What is right for an Instance, as each official scorer takes it.

Predictions call a supporting paragraph by its title; one without a title is called by its id. What only one format knows of a question, as
2WikiMultihopQA's triples, is in the Instance's provenance, where its reader noted it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat
from typing import Annotated, Any, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats import drop as drop_format, qangaroo as qangaroo_format
from kgqa.formats.hotpotqa import Facts
from kgqa.formats.identifiers import looks_like_number
from kgqa.formats.json.validate import Open, validated
from kgqa.formats.musique import TWIN
from kgqa.formats.provenance import noted
from kgqa.formats.twowiki import Triples
from kgqa.metrics import hotpotqa, musique, qangaroo, strategyqa, twowiki
from kgqa.metrics.drop import NONE, Spans, answer_type
from kgqa.metrics.hotpotqa import Fact
from kgqa.records import Instance, Paragraph

Typed = tuple[tuple[Spans, str], ...]
"""Gold answers, each a list of spans, and what DROP's script takes it for: number, span, spans, date or none."""


class AbsentFacts(Open):
    """Notes of HotpotQA's and 2WikiMultihopQA's parsers on facts outside the context."""

    absent_facts: NotRequired[Facts]
    supporting_facts: NotRequired[Facts]


class TwoWikiNotes(Open):
    """Notes of 2WikiMultihopQA's parser."""

    evidences: Triples
    evidences_id: NotRequired[Triples | None]


class StrategyQANotes(Open):
    """Notes of StrategyQA's parser: for each annotator and step, lists of paragraph ids or other remarks."""

    evidence: NotRequired[list[list[list[Any]]] | None]


class QAngarooRecord(Open):
    """Fields of an official record that the scorer needs."""

    answer: str
    annotations: NotRequired[list[Annotated[tuple[str, str], Strict(False)]]]


ABSENT = TypeAdapter(AbsentFacts)
TWOWIKI = TypeAdapter(TwoWikiNotes)
STRATEGYQA = TypeAdapter(StrategyQANotes)
QANGAROO = TypeAdapter(QAngarooRecord)


def squad_answers(instance: Instance) -> tuple[str, ...]:
    """The answer, and all others of one part that are right; none where the paragraphs do not give it."""
    if not instance.answerable:
        return ()
    single_answer(instance)
    return instance.answers


def hotpotqa_question(instance: Instance) -> hotpotqa.Question:
    """The answer, and the facts that support it."""
    return hotpotqa.Question(answer=single_answer(instance), support=frozenset(support(instance)))


def twowiki_question(instance: Instance) -> twowiki.Question:
    """HotpotQA's, and the triples with their entities' ids."""
    known = noted(instance, "twowiki")
    answer = single_answer(instance)
    if "evidences" not in known:
        raise MissingInput(f"instance {instance.id}: it has no evidence triples, which are scored; name another --metric.")
    notes = validated(known, TWOWIKI, f"instance {instance.id}, provenance, 'twowiki'")
    return twowiki.Question(
        answer=answer,
        answer_id=instance.answer_id,
        support=frozenset(support(instance)),
        evidence=tuple(notes["evidences"]),
        evidence_ids=tuple(notes.get("evidences_id") or ()),
    )


def drop_answers(instance: Instance) -> tuple[Spans, ...]:
    """All gold answers, each a list of spans; none in one that its authors left empty, which counts 0."""
    found = drop_format.gold_answers(instance)
    if instance.answerable or not found:
        _answer(instance)
    return found


def iirc_answers(instance: Instance) -> tuple[Spans, ...]:
    """As DROP's, and one without spans where the paragraphs do not give it."""
    if instance.answerable:
        return drop_answers(instance)
    return ((),) if instance.answers else drop_format.gold_answers(instance) or ((),)


def drop_typed(instance: Instance) -> Typed:
    """:func:`drop_answers`, each with its type."""
    return _typed(instance, drop_answers(instance))


def iirc_typed(instance: Instance) -> Typed:
    """:func:`iirc_answers`, each with its type."""
    return _typed(instance, iirc_answers(instance))


def _typed(instance: Instance, answers: tuple[Spans, ...]) -> Typed:
    """The type is that of the answer as noted in DROP's form, which may be a date, while it is still the same answer."""
    notes = validated(noted(instance, drop_format.NAME), drop_format.NOTES, f"instance {instance.id}, provenance, 'drop'")
    known: list[Any] = [notes.get("answer"), *notes.get("validated_answers", [])]
    return tuple(
        (spans, answer_type(same) if same is not None and drop_format.spans_of(same) == tuple(spans) else _plain_type(instance, spans))
        for spans, same in zip(answers, chain(known, repeat(None)), strict=False)
    )


def _plain_type(instance: Instance, spans: Spans) -> str:
    return "number" if instance.answer_type == "number" else (NONE, "span", "spans")[min(len(spans), 2)]


def strategyqa_question(instance: Instance) -> strategyqa.Question:
    """Answer, decomposition and evidence; the supporting paragraphs are one annotator's evidence where none is noted."""
    answer = _answer(instance)
    if answer not in {"yes", "no"}:
        raise MissingInput(f"instance {instance.id}: the answer is {answer[:40]!r}, StrategyQA's are yes and no; name another --metric.")
    notes = validated(noted(instance, "strategyqa"), STRATEGYQA, f"instance {instance.id}, provenance, 'strategyqa'")
    found = notes.get("evidence") or [[[[paragraph.id for paragraph in instance.paragraphs if paragraph.supporting]]]]
    return strategyqa.Question(
        question=instance.question,
        answer=answer == "yes",
        decomposition=tuple(step.question for step in instance.decomposition or ()),
        evidence=tuple(
            frozenset(name for step in annotator for entry in step if isinstance(entry, list) for name in entry if isinstance(name, str))
            for annotator in found
        ),
    )


def qangaroo_question(instance: Instance) -> qangaroo.Question:
    """The answer as the official file shows it, in lower case or as an id, and what people said of it."""
    # Texts make a record expensive, and have no part in its answer.
    record = qangaroo_format.to_record(replace(instance, paragraphs=()))
    known = validated(record, QANGAROO, f"instance {instance.id}")
    return qangaroo.Question(answer=known["answer"], annotations=tuple(known.get("annotations", ())))


def musique_question(instance: Instance) -> musique.Question:
    """Answers, ``idx`` of the supporting paragraphs, and answerability, under the official id, which twins share."""
    if instance.answerable:
        single_answer(instance)
        _check_marks(instance)
    return musique.Question(
        id=official_id(instance),
        answers=instance.answers,
        support=_supporting_idx(instance),
        answerable=instance.answerable,
    )


def official_id(instance: Instance) -> str:
    """The id without what tells an unanswerable twin from the other."""
    return instance.id.removesuffix(TWIN)


def _supporting_idx(instance: Instance) -> frozenset[int]:
    """Where no paragraphs are shown, those that the steps of the decomposition name."""
    numbers = paragraph_numbers(instance)
    if not instance.paragraphs:
        return frozenset(numbers.values())
    return frozenset(numbers[paragraph.id] for paragraph in instance.paragraphs if paragraph.supporting)


def paragraph_numbers(instance: Instance) -> dict[str, int]:
    """The id of each paragraph → MuSiQue's number of it: the id, or its place where some id is no number.

    Where no paragraphs are shown, of those that the steps of the decomposition name.
    """
    if not instance.paragraphs:
        named = (step.paragraph_id or "" for step in instance.decomposition or ())
        return {name: int(name) for name in named if looks_like_number(name)}
    numbers = all(looks_like_number(paragraph.id) for paragraph in instance.paragraphs)
    return {paragraph.id: int(paragraph.id) if numbers else place for place, paragraph in enumerate(instance.paragraphs)}


def support(instance: Instance) -> list[Fact]:
    """:func:`facts`; MissingInput where it is not known of a paragraph whether it supports the answer."""
    _check_marks(instance)
    return facts(instance)


def facts(instance: Instance) -> list[Fact]:
    """The supporting sentences, and as the official scripts compare nothing but titles and numbers those too that are not shown.

    Of a supporting paragraph without marked sentences all support the answer, unless what is not shown is a sentence of it.
    """
    absent = _absent_facts(instance)
    elsewhere = {title for title, _ in absent}
    shown = [
        (called(paragraph), sentence)
        for paragraph in instance.paragraphs
        if paragraph.supporting
        for sentence in paragraph.supporting_sentences or (() if called(paragraph) in elsewhere else all_sentences(paragraph))
    ]
    return shown + absent


def _absent_facts(instance: Instance) -> list[Fact]:
    """The supporting sentences whose paragraph is not shown, or which it has not."""
    found: list[Fact] = []
    for name in ("hotpotqa", "twowiki") if instance.provenance else ():
        notes = validated(noted(instance, name), ABSENT, f"instance {instance.id}, provenance, {name!r}")
        found += [*notes.get("absent_facts", []), *notes.get("supporting_facts", [])]
    return found


def called(paragraph: Paragraph) -> str:
    """Name of a paragraph in predictions."""
    return paragraph.id if paragraph.title is None else paragraph.title


def all_sentences(paragraph: Paragraph) -> range:
    """The sentences that a supporting paragraph without marks supports the answer with."""
    return range(max(1, len(paragraph.sentences or ())))


def single_answer(instance: Instance) -> str:
    """The answer; MissingInput without one, or if it has several parts."""
    if instance.answer_type == "spans":
        raise MissingInput(
            f"instance {instance.id}: its answer is several spans together, which this metric does not know; name --metric drop or iirc."
        )
    return _answer(instance)


def _check_marks(instance: Instance) -> None:
    if any(paragraph.supporting is None for paragraph in instance.paragraphs):
        raise MissingInput(
            f"instance {instance.id}: it is not known which paragraphs support the answer, which is scored; name another --metric."
        )


def _answer(instance: Instance) -> str:
    if not instance.answers:
        what = "its answer is hidden, so that there is nothing" if instance.hidden else "it has no answer"
        raise MissingInput(f"instance {instance.id}: {what} to compare with; give a file with answers, as those of a dev set.")
    return instance.answers[0]
