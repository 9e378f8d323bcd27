"""The gold of an Instance in the form that each official scorer takes.

Predictions name a supporting paragraph by its title, or by its id if it has no title. What only one format knows about a question, such as
2WikiMultihopQA's triples, is in the Instance's provenance, where the parser noted it.
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
"""Gold answers, each a list of spans with its type in DROP's script: number, span, spans, date or none."""


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
    """The gold answers of one part each; none if the paragraphs do not give the answer."""
    if not instance.answerable:
        return ()
    single_answer(instance)
    return instance.answers


def hotpotqa_question(instance: Instance) -> hotpotqa.HotpotQAGold:
    """The answer and its supporting facts."""
    return hotpotqa.HotpotQAGold(answer=single_answer(instance), support=frozenset(support(instance)))


def twowiki_question(instance: Instance) -> twowiki.TwoWikiGold:
    """HotpotQA's gold, and the triples with their entities' ids."""
    fields = noted(instance, "twowiki")
    answer = single_answer(instance)
    if "evidences" not in fields:
        raise MissingInput(f"instance {instance.id}: it has no evidence triples, which are scored; choose another --metric.")
    notes = validated(fields, TWOWIKI, f"instance {instance.id}, provenance, 'twowiki'")
    return twowiki.TwoWikiGold(
        answer=answer,
        answer_id=instance.answer_id,
        support=frozenset(support(instance)),
        evidence=tuple(notes["evidences"]),
        evidence_ids=tuple(notes.get("evidences_id") or ()),
    )


def drop_answers(instance: Instance) -> tuple[Spans, ...]:
    """All gold answers, each a list of spans; the list is empty for an answer that its authors left empty, which counts 0."""
    answers = drop_format.gold_answers(instance)
    if instance.answerable or not answers:
        _answer(instance)
    return answers


def iirc_answers(instance: Instance) -> tuple[Spans, ...]:
    """DROP's gold answers, or one answer without spans if the paragraphs do not give it."""
    if instance.answerable:
        return drop_answers(instance)
    return ((),) if instance.answers else drop_format.gold_answers(instance) or ((),)


def drop_typed(instance: Instance) -> Typed:
    """:func:`drop_answers`, each with its type."""
    return _with_types(instance, drop_answers(instance))


def iirc_typed(instance: Instance) -> Typed:
    """:func:`iirc_answers`, each with its type."""
    return _with_types(instance, iirc_answers(instance))


def _with_types(instance: Instance, answers: tuple[Spans, ...]) -> Typed:
    """Add types. An answer that is unchanged since it was noted in DROP's form has its type there, which may be a date."""
    notes = validated(noted(instance, drop_format.NAME), drop_format.NOTES, f"instance {instance.id}, provenance, 'drop'")
    noted_answers: list[Any] = [notes.get("answer"), *notes.get("validated_answers", [])]
    return tuple(
        (
            spans,
            answer_type(noted_answer)
            if noted_answer is not None and drop_format.spans_of(noted_answer) == tuple(spans)
            else _plain_type(instance, spans),
        )
        for spans, noted_answer in zip(answers, chain(noted_answers, repeat(None)), strict=False)
    )


def _plain_type(instance: Instance, spans: Spans) -> str:
    return "number" if instance.answer_type == "number" else (NONE, "span", "spans")[min(len(spans), 2)]


def strategyqa_question(instance: Instance) -> strategyqa.StrategyQAGold:
    """Answer, decomposition and evidence. If no evidence is noted, the supporting paragraphs are one annotator's evidence."""
    answer = _answer(instance)
    if answer not in {"yes", "no"}:
        raise MissingInput(f"instance {instance.id}: the answer is {answer[:40]!r}, StrategyQA's are yes and no; choose another --metric.")
    notes = validated(noted(instance, "strategyqa"), STRATEGYQA, f"instance {instance.id}, provenance, 'strategyqa'")
    evidence = notes.get("evidence") or [[[[paragraph.id for paragraph in instance.paragraphs if paragraph.supporting]]]]
    return strategyqa.StrategyQAGold(
        question=instance.question,
        answer=answer == "yes",
        decomposition=tuple(step.question for step in instance.decomposition or ()),
        evidence=tuple(
            frozenset(name for step in annotator for entry in step if isinstance(entry, list) for name in entry if isinstance(name, str))
            for annotator in evidence
        ),
    )


def qangaroo_question(instance: Instance) -> qangaroo.QAngarooGold:
    """The answer as the official file shows it, in lower case or as an id, and the annotators' judgements."""
    # Texts make a record expensive, and have no part in its answer.
    record = qangaroo_format.to_record(replace(instance, paragraphs=()))
    fields = validated(record, QANGAROO, f"instance {instance.id}")
    return qangaroo.QAngarooGold(answer=fields["answer"], annotations=tuple(fields.get("annotations", ())))


def musique_question(instance: Instance) -> musique.MuSiQueGold:
    """Answers, ``idx`` of the supporting paragraphs, and answerability, under the official id, which twins share."""
    if instance.answerable:
        single_answer(instance)
        _check_marks(instance)
    return musique.MuSiQueGold(
        id=official_id(instance),
        answers=instance.answers,
        support=_supporting_idx(instance),
        answerable=instance.answerable,
    )


def official_id(instance: Instance) -> str:
    """The id without the suffix of an unanswerable twin."""
    return instance.id.removesuffix(TWIN)


def _supporting_idx(instance: Instance) -> frozenset[int]:
    """``idx`` of the supporting paragraphs; if no paragraphs are shown, of those that the steps of the decomposition name."""
    numbers = paragraph_numbers(instance)
    if not instance.paragraphs:
        return frozenset(numbers.values())
    return frozenset(numbers[paragraph.id] for paragraph in instance.paragraphs if paragraph.supporting)


def paragraph_numbers(instance: Instance) -> dict[str, int]:
    """Paragraph id → MuSiQue's ``idx``: the id itself, or the paragraph's position if some id is not a number.

    If no paragraphs are shown, the paragraphs that the steps of the decomposition name.
    """
    if not instance.paragraphs:
        ids = (step.paragraph_id or "" for step in instance.decomposition or ())
        return {name: int(name) for name in ids if looks_like_number(name)}
    are_numbers = all(looks_like_number(paragraph.id) for paragraph in instance.paragraphs)
    return {paragraph.id: int(paragraph.id) if are_numbers else position for position, paragraph in enumerate(instance.paragraphs)}


def support(instance: Instance) -> list[Fact]:
    """:func:`facts`. Raises MissingInput if some paragraph is not marked as supporting or not."""
    _check_marks(instance)
    return facts(instance)


def facts(instance: Instance) -> list[Fact]:
    """The supporting sentences, including those not shown: the official scripts compare titles and numbers only.

    If a supporting paragraph has no marked sentences, all its sentences support the answer, unless a fact outside the context belongs to
    it.
    """
    absent_facts = _absent_facts(instance)
    titles_elsewhere = {title for title, _ in absent_facts}
    shown_facts = [
        (title_or_id(paragraph), sentence)
        for paragraph in instance.paragraphs
        if paragraph.supporting
        for sentence in paragraph.supporting_sentences or (() if title_or_id(paragraph) in titles_elsewhere else all_sentences(paragraph))
    ]
    return shown_facts + absent_facts


def _absent_facts(instance: Instance) -> list[Fact]:
    """Supporting sentences outside the context: their paragraph is not shown, or lacks the sentence."""
    facts: list[Fact] = []
    for name in ("hotpotqa", "twowiki") if instance.provenance else ():
        notes = validated(noted(instance, name), ABSENT, f"instance {instance.id}, provenance, {name!r}")
        facts += [*notes.get("absent_facts", []), *notes.get("supporting_facts", [])]
    return facts


def title_or_id(paragraph: Paragraph) -> str:
    """The name of a paragraph in predictions."""
    return paragraph.id if paragraph.title is None else paragraph.title


def all_sentences(paragraph: Paragraph) -> range:
    """Numbers of the supporting sentences of a supporting paragraph without marked sentences."""
    return range(max(1, len(paragraph.sentences or ())))


def single_answer(instance: Instance) -> str:
    """The answer. Raises MissingInput if there is none, or it has several parts."""
    if instance.answer_type == "spans":
        raise MissingInput(
            f"instance {instance.id}: its answer is several spans together, which this metric does not know; name --metric drop or iirc."
        )
    return _answer(instance)


def _check_marks(instance: Instance) -> None:
    if any(paragraph.supporting is None for paragraph in instance.paragraphs):
        raise MissingInput(
            f"instance {instance.id}: it is not known which paragraphs support the answer, which is scored; choose another --metric."
        )


def _answer(instance: Instance) -> str:
    if not instance.answers:
        reason = "its answer is hidden, so that there is nothing" if instance.hidden else "it has no answer"
        raise MissingInput(f"instance {instance.id}: {reason} to compare with; give a file with answers, such as that of a dev set.")
    return instance.answers[0]
