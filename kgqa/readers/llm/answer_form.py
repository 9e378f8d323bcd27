"""The JSON of an answer: its schema, the checks, and the prediction that it makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from kgqa.metrics.normalize import normalize
from kgqa.readers.llm.context import Shown
from kgqa.readers.scores import sufficiency_of
from kgqa.training.reader import Prediction

TYPES = {
    "span": "one name, phrase or date, in as few words as possible, written as in a paragraph",
    "spans": "several names, phrases or dates that answer the question together, one text each",
    "number": 'a number, stated, counted or computed, in digits; "unit" is its unit, or empty',
    "boolean": "yes or no",
    "none": 'the paragraphs do not give the answer; "answer" is empty',
}
"""Answer type → what it means, for the model."""
ONE = ("span", "number", "boolean")
"""Types with exactly one text."""
SUFFICIENCY = MappingProxyType({"yes": 1, "partly": 0, "no": -1})
"""Word → DiRe's label."""
MOST_PARTS, MOST_LETTERS = 100, 2000
"""Maximum number of texts of an answer, and of characters of each."""
_NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?|[-−+]?\.\d+")


def _listed(value: Any) -> Any:
    """A list of texts, where models write a single one or a whole number."""
    values = value if isinstance(value, list) else [value]
    return [str(item) if type(item) is int else item for item in values]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The form of the answers to all questions of a set."""

    types: tuple[str, ...]
    """The answer types that there may be, keys of ``TYPES``."""
    sentences: bool = False
    """Whether the support is sentences."""
    sufficiency: bool = False
    """Whether the answer says how far the paragraphs suffice for it (Trivedi et al. 2020, appendix A.4)."""
    reasoning: bool = False
    """Whether the reasoning comes first."""


Texts = Annotated[list[str], BeforeValidator(_listed)]


class Form(BaseModel):
    """An answer; :func:`schema_of` says which fields a question has."""

    reasoning: str = ""
    candidate: int = 0
    type: str = ""
    answer: Texts = []
    unit: str = ""
    sufficient: str = ""
    supporting: Texts = []


def schema_of(wanted: Wanted, *, candidates: bool) -> dict[str, Any]:
    """The JSON schema of an answer or, with ``candidates``, of the number of one."""
    text, texts = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    fields: dict[str, Any] = {"reasoning": text} if wanted.reasoning else {}
    if candidates:
        fields["candidate"] = {"type": "integer"}
    else:
        fields |= {"type": {"type": "string", "enum": list(wanted.types)}, "answer": texts}
        fields |= {"unit": text} if "number" in wanted.types else {}
    fields |= {"sufficient": {"type": "string", "enum": list(SUFFICIENCY)}} if wanted.sufficiency else {}
    fields["supporting"] = texts
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def fault_of(form: Form, shown: Shown, wanted: Wanted) -> str:
    """The fault of an answer, in words for the model; "" without one."""
    return next(_faults(form, shown, wanted), "")


def _faults(form: Form, shown: Shown, wanted: Wanted) -> Iterator[str]:
    if wanted.sufficiency and form.sufficient not in SUFFICIENCY:
        yield f'"sufficient" is {form.sufficient[:20]!r}, but it must be one of {", ".join(SUFFICIENCY)}'
    for number in form.supporting:
        if number not in shown.places:
            yield f'"supporting" has {number[:20]!r}, but there is no such number'
    if shown.instance.candidates:
        first, last = 0 if "none" in wanted.types else 1, len(shown.instance.candidates)
        if not first <= form.candidate <= last:
            yield f'"candidate" is {form.candidate}, but the candidates are {first} to {last}'
        return
    kind, parts = form.type, form.answer
    if kind not in wanted.types:
        yield f'"type" is {kind[:20]!r}, but it must be one of {", ".join(wanted.types)}'
    if len(parts) > MOST_PARTS or any(len(part) > MOST_LETTERS for part in parts):
        yield '"answer" is too long'
    may_be_empty = kind == "none" or (wanted.sufficiency and form.sufficient != "yes")
    if not (parts or may_be_empty) or not all(part.strip() for part in parts):
        yield f'"answer" is empty, but the type is {kind}'
    if kind in ONE and len(parts) > 1:
        yield f'"answer" has {len(parts)} texts, but the type {kind} has one'
    if kind == "boolean" and parts and normalize(parts[0]) not in {"yes", "no"}:
        yield '"answer" must be yes or no'
    if kind == "number" and parts and not _NUMBER.fullmatch(_plain(parts[0])):
        yield '"answer" must be a number in digits alone; its unit belongs into "unit"'


def prediction_of(form: Form, shown: Shown) -> Prediction:
    """The prediction of an answer without faults."""
    instance = shown.instance
    places = [place for number, place in shown.places.items() if number in set(form.supporting)]
    paragraphs = tuple(dict.fromkeys(key for key, _ in places if key is not None))
    sentences = tuple((key, sentence) for key, sentence in places if key is not None and sentence is not None)
    is_none = not form.candidate if instance.candidates else form.type == "none"
    candidate = (instance.candidates or ())[form.candidate - 1] if form.candidate and not is_none else None
    parts = () if is_none else (candidate.text,) if candidate else _parts(form)
    is_number = form.type == "number" and bool(parts) and not candidate
    return Prediction(
        id=instance.id,
        answer=", ".join(parts),
        parts=parts if len(parts) > 1 else (),
        type="none" if is_none else "candidate" if candidate else form.type,
        value=float(parts[0]) if is_number else None,
        unit=" ".join(form.unit.split()) if is_number else "",
        candidate=None if candidate is None else candidate.id,
        confidence=1.0,
        supporting=paragraphs,
        supporting_sentences=sentences,
        answerable=not is_none,
        sufficiency=SUFFICIENCY.get(form.sufficient, int(not is_none)),
        paragraph_scores=shown.scores,
    )


def gold_form(shown: Shown, wanted: Wanted) -> Form | None:
    """The gold answer of a training question, as a model is to write it; None if the form cannot hold it."""
    instance = shown.instance
    steps = "; ".join(f"{step.question}: {step.answer}" for step in instance.decomposition or () if step.answer)
    label = sufficiency_of(instance)
    sufficient = next(word for word, number in SUFFICIENCY.items() if number == label)
    form = Form(reasoning=steps, sufficient=sufficient, supporting=list(_supporting(shown)))
    if instance.candidates:
        places = (
            number
            for number, candidate in enumerate(instance.candidates, start=1)
            if (candidate.id == instance.answer_id if instance.answer_id else candidate.text in instance.answers[:1])
        )
        form.candidate = next(places, 0)
    elif not instance.answerable and "none" in wanted.types:
        form.type = "none"
    else:
        form.type = instance.answer_type if instance.answer_type in wanted.types else "span"
        form.answer = list(instance.answers if instance.answer_type == "spans" else instance.answers[:1])
    return None if fault_of(form, shown, wanted) else form


def _supporting(shown: Shown) -> Iterator[str]:
    """The numbers of the supporting paragraphs, or of their sentences."""
    gold = {paragraph.id: paragraph for paragraph in shown.instance.paragraphs if paragraph.supporting}
    for number, key in enumerate(shown.own, start=1):
        if key in gold:
            sentences = (gold[key].supporting_sentences or ()) if shown.by_sentence else ()
            yield from (f"{number}.{sentence + 1}" for sentence in sentences)
            if not sentences:
                yield str(number)


def _parts(form: Form) -> tuple[str, ...]:
    if not form.answer:
        return ()
    if form.type == "number":
        return (_plain(form.answer[0]).replace("−", "-").lstrip("+"),)
    if form.type == "boolean":
        return (normalize(form.answer[0]),)
    return tuple(" ".join(part.split()) for part in form.answer)


def _plain(number: str) -> str:
    """A number without thousands separators: ``12,000`` and ``12 000``."""
    return re.sub(r"(?<=\d)[, \u00a0\u202f](?=\d{3}(?!\d))", "", number.strip())
