"""What people said in Label Studio: a choice, labelled text or written text becomes an answer."""

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
"""Types of a result that marks text."""
ANSWER = "Answer"
"""What the label is called by which answers are marked."""
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


class Value(Open, total=False):
    """What a result holds; which of it depends on the result's type."""

    choices: list[str]
    text: str | list[str]
    start: int | str
    end: int | str
    startOffset: int  # noqa: N815 - what the field is called
    endOffset: int  # noqa: N815


class Result(Open):
    """One thing that a person chose, wrote or marked."""

    type: str
    value: Value


class Annotation(Open):
    """All that one person, or a model, said of a task."""

    result: list[Result]
    was_cancelled: NotRequired[bool]
    completed_by: NotRequired[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The fields of an Instance that an annotation gives."""

    answers: tuple[str, ...]
    answer_id: str | None
    answer_type: str
    answerable: bool
    alternatives: tuple[tuple[str, ...], ...] | None = None

    @classmethod
    def found_in(cls, instance: Instance) -> Answer:
        """The answer that ``instance`` has."""
        return cls(**{field.name: getattr(instance, field.name) for field in fields(cls)})

    def noted(self) -> dict[str, Any]:
        """The fields as a note; where there are no alternatives it does not speak of them."""
        return {name: value for name, value in asdict(self).items() if (name, value) != ("alternatives", None)}

    def given_to(self, instance: Instance) -> Instance:
        """The Instance with this answer."""
        return replace(instance, **{field.name: getattr(self, field.name) for field in fields(self)})


def answers_of(annotations: Iterable[Annotation], instance: Instance, where: str) -> list[Answer]:
    """What each annotation says that was not cancelled and says anything. BrokenInput where a label says no place."""
    given = []
    for annotation in annotations:
        if not annotation.get("was_cancelled", False) and (answer := _answer(annotation["result"], instance, where)):
            given.append(answer)
    return given


def misplaced(annotations: Iterable[Annotation], field: str, instance: Instance) -> list[Fault]:
    """The labels in ``field`` of the task that are not at their place in the paragraphs."""
    return [
        Fault(kind="wrong-place", place=f"{field}.{number}.result.{place}", detail=_said(result["value"]))
        for number, annotation in enumerate(annotations)
        if not annotation.get("was_cancelled", False)
        for place, result in enumerate(annotation["result"])
        if result["type"] in LABELS and _text_at(result["value"], instance) is None
    ]


def _said(value: Value) -> str:
    text = value.get("text")
    return f"{text[:CHARACTERS]!r} does not stand there" if isinstance(text, str) else "there is no such place in the paragraphs"


def most_given(answers: Sequence[Answer]) -> Answer:
    """The answer that most people gave; of several, the one that was given first."""
    return Counter(answers).most_common(1)[0][0]


def people(annotations: Iterable[Annotation]) -> int:
    """How many people annotated; an annotation that does not say by whom counts as one's own."""
    named, unnamed = set(), 0
    for annotation in annotations:
        by = annotation.get("completed_by")
        by = by.get("id", by.get("email")) if isinstance(by, dict) else by
        if isinstance(by, int | str):
            named.add(by)
        else:
            unnamed += 1
    return len(named) + unnamed


def _answer(results: Sequence[Result], instance: Instance, where: str) -> Answer | None:
    """A verdict goes before a candidate, a candidate before written text, and that before marked text."""
    chosen = [choice for result in results if result["type"] == "choices" for choice in result["value"].get("choices", [])]
    if NOT_ANSWERABLE in chosen:
        return Answer(answers=(), answer_id=None, answer_type="none", answerable=False)
    for candidate in instance.candidates or ():
        if candidate.id in chosen or candidate.text in chosen:
            return Answer(answers=(candidate.text,), answer_id=candidate.id, answer_type="candidate", answerable=True)
    verdict = next((choice for choice in chosen if choice in {YES, NO}), None)
    if verdict:
        return Answer(answers=(verdict,), answer_id=None, answer_type="boolean", answerable=True)
    written = [text for result in results if result["type"] == "textarea" for text in _texts(result["value"])]
    if written:
        kind = "number" if _NUMBER.fullmatch(written[0]) else "span"
        return Answer(answers=tuple(dict.fromkeys(written)), answer_id=None, answer_type=kind, answerable=True)
    texts = (_marked(result["value"], instance, where) for result in _labels(results, where))
    marked = tuple(dict.fromkeys(text for text in texts if text is not None))
    if marked:
        return Answer(answers=marked, answer_id=None, answer_type="span" if len(marked) == 1 else "spans", answerable=True)
    return None


def _labels(results: Sequence[Result], where: str) -> list[Result]:
    """The results that mark an answer: where labels are of several names, those that are called ``ANSWER``."""
    marks = [result for result in results if result["type"] in LABELS]
    names = {name for result in marks for name in _names(result)}
    if len(names) <= 1:
        return marks
    answers = [result for result in marks if any(name.casefold() == ANSWER.casefold() for name in _names(result))]
    if not answers:
        raise BrokenInput(
            f"{where}, field 'annotations': the labels are of several kinds ({', '.join(sorted(names)[:4])}), and none is called {ANSWER}; "
            "rename the one that marks answers."
        )
    return answers


def _names(result: Result) -> list[str]:
    """What the label of a result is called; there may be several, or none."""
    names = result["value"].get(result["type"], [])
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _texts(value: Value) -> list[str]:
    text = value.get("text", [])
    return [text] if isinstance(text, str) else text


def _marked(value: Value, instance: Instance, where: str) -> str | None:
    """The marked text: what the label says where its place says something else; None where neither says anything."""
    if _place(value) is None:
        raise BrokenInput(f"{where}, field 'annotations': a label says no place; fix or drop the annotation.")
    said = value.get("text")
    return said if isinstance(said, str) else _text_at(value, instance)


def _text_at(value: Value, instance: Instance) -> str | None:
    """The text at a label's place, which may go over several paragraphs; None where it is not what the label says, or no place.

    Offsets are in characters, or, as a browser counts, in UTF-16 units.
    """
    place = _place(value)
    if place is None:
        return None
    first, last, start, end = place
    texts = [paragraph.text for paragraph in instance.paragraphs[first : last + 1]]
    said = value.get("text")
    if 0 <= first <= last < len(instance.paragraphs):
        for cut in (_characters, _units):
            parts = [cut(text, start if not number else 0, end if number == last - first else None) for number, text in enumerate(texts)]
            if None not in parts and (not isinstance(said, str) or "".join("".join(filter(None, parts)).split()) == "".join(said.split())):
                return said if isinstance(said, str) else "\n".join(filter(None, parts))
    return None


def _place(value: Value) -> tuple[int, int, int, int] | None:
    """The numbers of the first and last paragraph, and the offsets in them; of a plain text, paragraph 0. None where it says none."""
    try:
        if isinstance(whole := value.get("globalOffsets"), dict):  # of marked HTML, whose other offsets are within an element
            return 0, 0, int(str(whole["start"])[:9]), int(str(whole["end"])[:9])
        if "startOffset" in value and "endOffset" in value:
            return int(str(value["start"])[:9]), int(str(value["end"])[:9]), value["startOffset"], value["endOffset"]
        return 0, 0, int(str(value["start"])[:9]), int(str(value["end"])[:9])
    except (KeyError, ValueError):
        return None


def _characters(text: str, start: int, end: int | None) -> str | None:
    end = len(text) if end is None else end
    return text[start:end] if 0 <= start <= end <= len(text) else None


def _units(text: str, start: int, end: int | None) -> str | None:
    data = text.encode("utf-16-le")
    end = len(data) // 2 if end is None else end
    return data[2 * start : 2 * end].decode("utf-16-le", "ignore") if 0 <= start <= end <= len(data) // 2 else None
