"""Label Studio's tasks: questions for annotators, and their answers.

Sets are written as a list of tasks with ``<stem>.config.xml``, the labelling configuration that shows them. An answer that occurs exactly
once in the supporting paragraphs is labelled in advance, as a prediction. The parser reads exported tasks: the majority answer of the
annotators becomes the answer; the earlier answer, all annotations and the number of annotators are noted. If a label's text differs from
the text at its place, the label's text counts; a label without any text gives no answer. A task without annotations keeps the answers in
its data; if the data have no answers, a model's predictions are used and noted. The field ``data.kgqa`` holds all fields of an Instance
that a task lacks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from kgqa.errors import InputError, MissingInput
from kgqa.formats.faults import note_faults, without_faults
from kgqa.formats.instance_json import KEY, UNKNOWN_FIELDS, from_row, further_fields, provenance_of
from kgqa.formats.json import stream
from kgqa.formats.json.validate import unique, validated
from kgqa.formats.json.write import write_list
from kgqa.formats.label_studio.answers import ANSWER, AnnotatedAnswer, annotator_count, answers_of, label_faults, majority_answer
from kgqa.formats.label_studio.tasks import NOTES, PARAGRAPHS, RECORD, SPAN, Data, Option, Task, TaskNotes, TaskParagraph, write_config
from kgqa.formats.provenance import note, noted, unknown_fields
from kgqa.records import Instance

PURPOSE = "Label Studio's tasks, with what people answered, and the configuration that shows them"
SUFFIX = ".json"
NAME = "label_studio"
LABEL_PLACES = ("annotations.", "predictions.")
"""Beginnings of the places of faults that are found again whenever a task is read."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the record is a task with a question."""
    data = record.get("data")
    return isinstance(data, dict) and "question" in data


def why_not(record: Mapping[str, Any]) -> str:
    """An explanation for other exports of Label Studio; empty for any other record."""
    if not {"annotation_id", "annotator"} & record.keys():
        return ""
    return "This is Label Studio's JSON-MIN, which lacks the tasks as they were: export as JSON."


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file of tasks. Memory: one task and all ids."""
    return unique((location, from_record(task, location)) for location, task in stream.records(path, RECORD))


def from_record(task: Task, location: str) -> Instance:
    """The Instance of a task with its annotators' answer. Raises MissingInput for a task without an id or a text."""
    data = task["data"]
    instance = _from_data(task, location)
    annotations, predictions = task.get("annotations", []), task.get("predictions", [])
    answers = answers_of(annotations, instance, location)
    notes: dict[str, Any] = {
        "task": {key: value for key, value in task.items() if key not in {"data", "annotations", "predictions"}},
        "data": unknown_fields(data, Data),
        "paragraphs": {name: extra for name, entry in _task_paragraphs(data) if (extra := unknown_fields(entry, TaskParagraph))},
        "candidates": {_id(option): extra for option in data.get("candidates", []) if (extra := unknown_fields(option, Option))},
        "unnamed": "id" not in data,
        "text": "paragraphs" not in data,
        "annotations": annotations,
        "annotators": annotator_count(annotations),
        "annotated_answers": [list(answer.answers) for answer in answers],
        "predictions": [] if predictions == _predictions(instance) else predictions,
    }
    notes = {key: value for key, value in notes.items() if value}
    faults = label_faults(annotations, "annotations", instance)
    if not answers and "answers" not in data:
        answers = answers_of(predictions, instance, location)
        faults += label_faults(predictions, "predictions", instance)
    if answers:
        notes["before"] = AnnotatedAnswer.of(instance).to_note() if "answers" in data else None
        instance = majority_answer(answers).put_into(instance)
    provenance = note(NAME, notes, beside=provenance_of(_further_fields(data), location))
    return replace(instance, provenance=note_faults(faults, beside=provenance))


def _from_data(task: Task, location: str) -> Instance:
    """The Instance of a task's data alone, without provenance."""
    data = task["data"]
    if "id" not in data and "id" not in task:
        raise MissingInput(f"{location}: the field 'data.id' is missing; give the question an id.")
    if "paragraphs" not in data and "text" not in data:
        raise MissingInput(
            f"{location}: the field 'data.paragraphs' is missing; call the text 'text' or 'paragraphs' in the labelling configuration of "
            "Label Studio, and export as JSON."
        )
    name = data["id"] if "id" in data else str(task["id"])
    answers, options = data.get("answers", []), data.get("candidates", [])
    answer_id = next((_id(option) for option in options if answers and option["value"] == answers[0]), None)
    row = {
        **UNKNOWN_FIELDS,
        "answers": answers,
        "answer_id": answer_id,
        "answer_type": "none" if not answers else "span" if answer_id is None else "candidate",
        "candidates": [{"id": _id(option), "text": option["value"]} for option in options] or None,
        "group": name,
        **_further_fields(data),
        "id": name,
        "question": data["question"],
        "paragraphs": _paragraphs(data),
        "provenance": None,
    }
    return from_row(row, location)


def _paragraphs(data: Data) -> list[dict[str, Any]]:
    """Rows of the paragraphs, or of the one text."""
    no_values = dict.fromkeys(("supporting", "mentions", "sentences", "supporting_sentences"))
    further = _further_fields(data).get("paragraphs", {})
    rows = [{"id": name, "title": entry.get("title"), "text": entry["text"], **no_values} for name, entry in _task_paragraphs(data)]
    return [{**row, **further.get(row["id"], {})} for row in rows]


def _task_paragraphs(data: Data) -> list[tuple[str, TaskParagraph]]:
    """Id and paragraph of each paragraph; its number is the id of one without."""
    paragraphs: Sequence[Any] = data["paragraphs"] if "paragraphs" in data else [{"text": data["text"]}]
    return [(entry.get("id", str(number)), entry) for number, entry in enumerate(paragraphs)]


def _id(option: Option) -> str:
    return option.get("alias", option["value"])


def _further_fields(data: Data) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], data.get(KEY, {}))


def _predictions(instance: Instance) -> list[Any]:
    """The canonical answer, or all its spans, as labels; empty unless each occurs exactly once in the supporting paragraphs."""
    spans = instance.answers if instance.answer_type == "spans" else instance.answers[:1]
    places = [_place(span, instance) for span in spans]
    if None in places or not places or instance.answer_type == "boolean":
        return []
    result = [
        {
            "id": f"{number}-{start}",
            "from_name": SPAN,
            "to_name": PARAGRAPHS,
            "type": "paragraphlabels",
            "value": {
                "start": str(number),
                "end": str(number),
                "startOffset": start,
                "endOffset": start + len(span),
                "text": span,
                "paragraphlabels": [ANSWER],
            },
        }
        for span, (number, start) in zip(spans, filter(None, places), strict=True)
    ]
    return [{"model_version": KEY, "result": result}]


def _place(answer: str, instance: Instance) -> tuple[int, int] | None:
    """Paragraph number and offset of an answer; None if it occurs more than once, or after a character that browsers count as two."""
    places = [
        (number, paragraph.text.index(answer))
        for number, paragraph in enumerate(instance.paragraphs)
        if answer and paragraph.supporting and answer in paragraph.text
    ]
    if len(places) != 1:
        return None
    number, start = places[0]
    text = instance.paragraphs[number].text
    return None if answer in text[start + 1 :] or max(text[: start + len(answer)]) > "\uffff" else places[0]


def to_record(instance: Instance) -> dict[str, Any]:
    """The task of an Instance, with the noted annotations and predictions if they still give its answer."""
    notes = validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")
    if notes:
        task = _task(instance, notes)
        try:
            if from_record(validated(json.loads(json.dumps(task)), RECORD, ""), "") == instance:
                return task
        except InputError:
            pass
    permanent = {"task", "data", "paragraphs", "candidates"}
    return _task(instance, cast(TaskNotes, {key: value for key, value in notes.items() if key in permanent}))


def _task(instance: Instance, notes: TaskNotes) -> dict[str, Any]:
    before_annotation = instance
    if "before" in notes:
        earlier_answer: Any = notes["before"] or {"answers": [], "answer_id": None, "answer_type": "none", "answerable": True}
        alternatives = None if earlier_answer.get("alternatives") is None else tuple(map(tuple, earlier_answer["alternatives"]))
        answer = AnnotatedAnswer(**{**earlier_answer, "answers": tuple(earlier_answer["answers"]), "alternatives": alternatives})
        before_annotation = answer.put_into(instance)
    data: dict[str, Any] = {} if notes.get("unnamed") else {"id": instance.id}
    data["question"] = instance.question
    if notes.get("text") and len(instance.paragraphs) == 1:
        data["text"] = instance.paragraphs[0].text
    else:
        extra = notes.get("paragraphs", {})
        data["paragraphs"] = [{**extra.get(p.id, {}), "id": p.id, "title": p.title, "text": p.text} for p in instance.paragraphs]
    if notes.get("before", {}) is not None:
        data["answers"] = list(before_annotation.answers)
    extra = notes.get("candidates", {})
    data["candidates"] = [{**extra.get(c.id, {}), "value": c.text, "alias": c.id} for c in instance.candidates or ()]
    data |= {key: value for key, value in notes.get("data", {}).items() if key not in data}
    task = {key: value for key, value in notes.get("task", {}).items() if key != "data"} | {"data": data}
    default = _from_data(cast(Task, task), f"instance {instance.id}")
    names = [paragraph.id for paragraph in default.paragraphs]
    further = further_fields(without_faults(before_annotation, LABEL_PLACES), default, names, NAME)
    if further:
        data[KEY] = further
    if "annotations" in notes:
        task["annotations"] = notes["annotations"]
    task["predictions"] = notes["predictions"] if "predictions" in notes else _predictions(before_annotation)
    return task


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file of tasks, one by one, and their labelling configuration."""
    contents = dict.fromkeys(("paragraphs", "text", "candidates"), False)

    def tasks() -> Iterator[dict[str, Any]]:
        for instance in instances:
            task = to_record(instance)
            for field in contents:
                contents[field] |= bool(task["data"].get(field))
            yield task

    write_list(tasks(), path)
    write_config(path.with_name(f"{path.name.removesuffix(SUFFIX)}.config.xml"), **contents)
