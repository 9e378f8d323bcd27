"""Answers from Label Studio's annotations: a choice, labelled text or written text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NotRequired

from kgqa.errors import BrokenInput
from kgqa.formats.faults import CHARACTERS, Fault
from kgqa.formats.json.validate import Open
from kgqa.records import Instance

YES, NO, NOT_ANSWERABLE = "yes", "no", "not answerable"
VERDICTS = (YES, NO, NOT_ANSWERABLE)
LABELS = ("labels", "hypertextlabels", "paragraphlabels")
"""The types of results that label text."""
ANSWER = "Answer"
"""The name of the label for answers."""
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


class Value(Open, total=False):
    """The content of a result; its fields depend on the result's type."""

    choices: list[str]
    text: str | list[str]
    start: int | str
    end: int | str
    startOffset: int  # noqa: N815 - what the field is called
    endOffset: int  # noqa: N815


class Result(Open):
    """One choice, written text or label."""

    type: str
    value: Value


class Annotation(Open):
    """The results of one annotator, or a model, for a task."""

    result: list[Result]
    was_cancelled: NotRequired[bool]
    completed_by: NotRequired[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedAnswer:
    """The fields of an Instance that an annotation sets."""

    answers: tuple[str, ...]
    answer_id: str | None
    answer_type: str
    answerable: bool
    alternatives: tuple[tuple[str, ...], ...] | None = None

    @classmethod
    def of(cls, instance: Instance) -> AnnotatedAnswer:
        """The current answer of ``instance``."""
        return cls(**{field.name: getattr(instance, field.name) for field in fields(cls)})

    def to_note(self) -> dict[str, Any]:
        """The fields as a note, without ``alternatives`` if there are none."""
        return {name: value for name, value in asdict(self).items() if (name, value) != ("alternatives", None)}

    def put_into(self, instance: Instance) -> Instance:
        """The Instance with this answer."""
        return replace(instance, **{field.name: getattr(self, field.name) for field in fields(self)})


def answers_of(annotations: Iterable[Annotation], instance: Instance, location: str) -> list[AnnotatedAnswer]:
    """The answer of each annotation that has one and was not cancelled. Raises BrokenInput for a label without a place."""
    answers = []
    for annotation in annotations:
        if not annotation.get("was_cancelled", False) and (answer := _answer(annotation["result"], instance, location)):
            answers.append(answer)
    return answers


def label_faults(annotations: Iterable[Annotation], field: str, instance: Instance) -> list[Fault]:
    """A fault for each label in ``field`` of the task whose text is not at its place in the paragraphs."""
    return [
        Fault(kind="wrong-place", place=f"{field}.{number}.result.{place}", detail=_description(result["value"]))
        for number, annotation in enumerate(annotations)
        if not annotation.get("was_cancelled", False)
        for place, result in enumerate(annotation["result"])
        if result["type"] in LABELS and _text_at(result["value"], instance) is None
    ]


def _description(value: Value) -> str:
    text = value.get("text")
    return f"{text[:CHARACTERS]!r} does not stand there" if isinstance(text, str) else "there is no such place in the paragraphs"


def majority_answer(answers: Sequence[AnnotatedAnswer]) -> AnnotatedAnswer:
    """The most frequent answer; of equally frequent ones the first."""
    return Counter(answers).most_common(1)[0][0]


def annotator_count(annotations: Iterable[Annotation]) -> int:
    """The number of annotators; an annotation without an annotator's name counts as one more."""
    names, unnamed_count = set(), 0
    for annotation in annotations:
        annotator = annotation.get("completed_by")
        name = annotator.get("id", annotator.get("email")) if isinstance(annotator, dict) else annotator
        if isinstance(name, int | str):
            names.add(name)
        else:
            unnamed_count += 1
    return len(names) + unnamed_count


def _answer(results: Sequence[Result], instance: Instance, location: str) -> AnnotatedAnswer | None:
    """The answer of one annotation. Precedence: "not answerable", a candidate, yes or no, written text, labelled text."""
    choices = [choice for result in results if result["type"] == "choices" for choice in result["value"].get("choices", [])]
    if NOT_ANSWERABLE in choices:
        return AnnotatedAnswer(answers=(), answer_id=None, answer_type="none", answerable=False)
    for candidate in instance.candidates or ():
        if candidate.id in choices or candidate.text in choices:
            return AnnotatedAnswer(answers=(candidate.text,), answer_id=candidate.id, answer_type="candidate", answerable=True)
    verdict = next((choice for choice in choices if choice in {YES, NO}), None)
    if verdict:
        return AnnotatedAnswer(answers=(verdict,), answer_id=None, answer_type="boolean", answerable=True)
    texts = [text for result in results if result["type"] == "textarea" for text in _texts(result["value"])]
    if texts:
        kind = "number" if _NUMBER.fullmatch(texts[0]) else "span"
        return AnnotatedAnswer(answers=tuple(dict.fromkeys(texts)), answer_id=None, answer_type=kind, answerable=True)
    labels = (_label_text(result["value"], instance, location) for result in _labels(results, location))
    spans = tuple(dict.fromkeys(text for text in labels if text is not None))
    if spans:
        return AnnotatedAnswer(answers=spans, answer_id=None, answer_type="span" if len(spans) == 1 else "spans", answerable=True)
    return None


def _labels(results: Sequence[Result], location: str) -> list[Result]:
    """The results that label an answer; if labels have several names, those called ``ANSWER``."""
    labels = [result for result in results if result["type"] in LABELS]
    names = {name for result in labels for name in _names(result)}
    if len(names) <= 1:
        return labels
    answers = [result for result in labels if any(name.casefold() == ANSWER.casefold() for name in _names(result))]
    if not answers:
        raise BrokenInput(
            f"{location}, field 'annotations': the labels are of several kinds ({', '.join(sorted(names)[:4])}), and none is called "
            f"{ANSWER}; rename the one that marks answers."
        )
    return answers


def _names(result: Result) -> list[str]:
    """The names of a result's label; there may be several, or no name at all."""
    names = result["value"].get(result["type"], [])
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _texts(value: Value) -> list[str]:
    text = value.get("text", [])
    return [text] if isinstance(text, str) else text


def _label_text(value: Value, instance: Instance, location: str) -> str | None:
    """A label's own text, else the text at its place; None without either."""
    if _place(value) is None:
        raise BrokenInput(f"{location}, field 'annotations': a label has no position; fix or drop the annotation.")
    text = value.get("text")
    return text if isinstance(text, str) else _text_at(value, instance)


def _text_at(value: Value, instance: Instance) -> str | None:
    """The text at a label's place, which may span several paragraphs; None if it differs from the label's own text, or lies outside.

    Offsets count characters or, as browsers do, UTF-16 units; both are tried.
    """
    place = _place(value)
    if place is None:
        return None
    first_paragraph, last_paragraph, start, end = place
    texts = [paragraph.text for paragraph in instance.paragraphs[first_paragraph : last_paragraph + 1]]
    label = value.get("text")
    if 0 <= first_paragraph <= last_paragraph < len(instance.paragraphs):
        for cut in (_character_slice, _utf16_slice):
            parts = [
                cut(text, start if not number else 0, end if number == last_paragraph - first_paragraph else None)
                for number, text in enumerate(texts)
            ]
            # Browsers and files differ in white space, so it is not compared.
            if None not in parts and (
                not isinstance(label, str) or "".join("".join(filter(None, parts)).split()) == "".join(label.split())
            ):
                return label if isinstance(label, str) else "\n".join(filter(None, parts))
    return None


def _place(value: Value) -> tuple[int, int, int, int] | None:
    """Numbers of the first and last paragraph, and offsets in them; a plain text is paragraph 0. None for a label without a place."""
    try:
        if isinstance(offsets := value.get("globalOffsets"), dict):  # of labelled HTML, whose other offsets are within an element
            return 0, 0, int(str(offsets["start"])[:9]), int(str(offsets["end"])[:9])
        if "startOffset" in value and "endOffset" in value:
            return int(str(value["start"])[:9]), int(str(value["end"])[:9]), value["startOffset"], value["endOffset"]
        return 0, 0, int(str(value["start"])[:9]), int(str(value["end"])[:9])
    except (KeyError, ValueError):
        return None


def _character_slice(text: str, start: int, end: int | None) -> str | None:
    end = len(text) if end is None else end
    return text[start:end] if 0 <= start <= end <= len(text) else None


def _utf16_slice(text: str, start: int, end: int | None) -> str | None:
    data = text.encode("utf-16-le")
    end = len(data) // 2 if end is None else end
    return data[2 * start : 2 * end].decode("utf-16-le", "ignore") if 0 <= start <= end <= len(data) // 2 else None
