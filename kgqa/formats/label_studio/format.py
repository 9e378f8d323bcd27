"""Label Studio's tasks: questions for people to answer, and what they answered.

Written is a list of tasks and, beside it, ``<stem>.config.xml``, the labelling configuration that shows them. An answer that stands exactly
once in the supporting paragraphs is marked beforehand, as a prediction. Read are tasks as they are exported again: what most people
answered becomes the answer; the answer before that, all annotations and how many people made them are noted. A label that says another
text than stands at its place is taken at its word, one that says none gives no answer. A task without annotations
keeps the answers in its data; where these say nothing of answers, a model's predictions are taken, which is noted too. All that a task's
own fields do not say is in ``data.kgqa``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from kgqa.errors import InputError, MissingInput
from kgqa.formats.carried import OURS, carried, provenance_of
from kgqa.formats.faults import note_faults, without_faults
from kgqa.formats.instance_json import UNSAID, from_row
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, validated
from kgqa.formats.json.write import write_list
from kgqa.formats.label_studio.answers import Answer, answers_of, misplaced, most_given, people
from kgqa.formats.label_studio.config import LABEL, PARAGRAPHS, SPAN, write_config
from kgqa.formats.label_studio.tasks import NOTES, RECORD, Data, Notes, Option, Shown, Task
from kgqa.formats.provenance import note, noted, unknown_fields
from kgqa.records import Instance

PURPOSE = "Label Studio's tasks, with what people answered, and the configuration that shows them"
SUFFIX = ".json"
NAME = "label_studio"
OWN = ("annotations.", "predictions.")
"""Where the faults stand that are found anew whenever a task is read."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether it is a task with a question."""
    data = record.get("data")
    return isinstance(data, dict) and "question" in data


def why_not(record: Mapping[str, Any]) -> str:
    """What is missing in another export of Label Studio; empty where it is none."""
    if not {"annotation_id", "annotator"} & record.keys():
        return ""
    return "This is Label Studio's JSON-MIN, which lacks the tasks as they were: export as JSON."


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file of tasks; memory: one task, and all ids."""
    ids = Ids()
    for where, task in stream.records(path, RECORD):
        found = from_record(task, where)
        ids.add(found.id, where)
        yield found


def from_record(task: Task, where: str) -> Instance:
    """The Instance of a task with what people answered; MissingInput where it has no id or nothing to read."""
    data = task["data"]
    found = _unanswered(task, where)
    annotations, predictions = task.get("annotations", []), task.get("predictions", [])
    given = answers_of(annotations, found, where)
    said: dict[str, Any] = {
        "task": {key: value for key, value in task.items() if key not in {"data", "annotations", "predictions"}},
        "data": unknown_fields(data, Data),
        "paragraphs": {name: extra for name, one in _shown(data) if (extra := unknown_fields(one, Shown))},
        "candidates": {_id(option): extra for option in data.get("candidates", []) if (extra := unknown_fields(option, Option))},
        "unnamed": "id" not in data,
        "text": "paragraphs" not in data,
        "annotations": annotations,
        "annotators": people(annotations),
        "annotated_answers": [list(answer.answers) for answer in given],
        "predictions": [] if predictions == _predictions(found) else predictions,
    }
    said = {key: value for key, value in said.items() if value}
    faults = misplaced(annotations, "annotations", found)
    if not given and "answers" not in data:
        given = answers_of(predictions, found, where)
        faults += misplaced(predictions, "predictions", found)
    if given:
        said["before"] = asdict(Answer.found_in(found)) if "answers" in data else None
        found = most_given(given).given_to(found)
    return replace(found, provenance=note_faults(faults, beside=note(NAME, said, beside=provenance_of(_beyond(data), where))))


def _unanswered(task: Task, where: str) -> Instance:
    """The Instance as the task's data have it, without provenance."""
    data = task["data"]
    if "id" not in data and "id" not in task:
        raise MissingInput(f"{where}: the field 'data.id' is missing; give the question an id.")
    if "paragraphs" not in data and "text" not in data:
        raise MissingInput(
            f"{where}: the field 'data.paragraphs' is missing; call the text 'text' or 'paragraphs' in the labelling configuration of "
            "Label Studio, and export as JSON."
        )
    id = data["id"] if "id" in data else str(task["id"])  # noqa: A001 - what the field is called
    answers, options = data.get("answers", []), data.get("candidates", [])
    chosen = next((_id(option) for option in options if answers and option["value"] == answers[0]), None)
    row = {
        **UNSAID,
        "answers": answers,
        "answer_id": chosen,
        "answer_type": "none" if not answers else "span" if chosen is None else "candidate",
        "candidates": [{"id": _id(option), "text": option["value"]} for option in options] or None,
        "group": id,
        **_beyond(data),
        "id": id,
        "question": data["question"],
        "paragraphs": _paragraphs(data),
        "provenance": None,
    }
    return from_row(row, where)


def _paragraphs(data: Data) -> list[dict[str, Any]]:
    """Rows of the paragraphs, or of the one text."""
    unknown = dict.fromkeys(("supporting", "mentions", "sentences", "supporting_sentences"))
    beyond = _beyond(data).get("paragraphs", {})
    rows = [{"id": name, "title": one.get("title"), "text": one["text"], **unknown} for name, one in _shown(data)]
    return [{**row, **beyond.get(row["id"], {})} for row in rows]


def _shown(data: Data) -> list[tuple[str, Shown]]:
    """The paragraphs by id, which is their number where they have none."""
    shown: Sequence[Any] = data["paragraphs"] if "paragraphs" in data else [{"text": data["text"]}]
    return [(one.get("id", str(number)), one) for number, one in enumerate(shown)]


def _id(option: Option) -> str:
    return option.get("alias", option["value"])


def _beyond(data: Data) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], data.get(OURS, {}))


def _predictions(instance: Instance) -> list[Any]:
    """The canonical answer as a marked place, each of several spans alike, where they all stand once in the supporting paragraphs."""
    wanted = instance.answers if instance.answer_type == "spans" else instance.answers[:1]
    places = [_place(answer, instance) for answer in wanted]
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
                "endOffset": start + len(answer),
                "text": answer,
                "paragraphlabels": [LABEL],
            },
        }
        for answer, (number, start) in zip(wanted, filter(None, places), strict=True)
    ]
    return [{"model_version": OURS, "result": result}]


def _place(answer: str, instance: Instance) -> tuple[int, int] | None:
    """The paragraph's number and the offset, where there is no doubt: a browser counts characters beyond U+FFFF twice."""
    found = [
        (number, paragraph.text.index(answer))
        for number, paragraph in enumerate(instance.paragraphs)
        if answer and paragraph.supporting and answer in paragraph.text
    ]
    if len(found) != 1:
        return None
    number, start = found[0]
    text = instance.paragraphs[number].text
    return None if answer in text[start + 1 :] or max(text[: start + len(answer)]) > "\uffff" else found[0]


def to_record(instance: Instance) -> dict[str, Any]:
    """The task. Annotations and predictions that were noted are written where they say what the Instance says."""
    said = validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")
    if said:
        task = _task(instance, said)
        try:
            if from_record(validated(json.loads(json.dumps(task)), RECORD, ""), "") == instance:
                return task
        except InputError:
            pass
    lasting = {"task", "data", "paragraphs", "candidates"}
    return _task(instance, cast(Notes, {key: value for key, value in said.items() if key in lasting}))


def _task(instance: Instance, said: Notes) -> dict[str, Any]:
    shown = instance
    if "before" in said:
        before: Any = said["before"] or {"answers": [], "answer_id": None, "answer_type": "none", "answerable": True}
        shown = Answer(**{**before, "answers": tuple(before["answers"])}).given_to(instance)
    data: dict[str, Any] = {} if said.get("unnamed") else {"id": instance.id}
    data["question"] = instance.question
    if said.get("text") and len(instance.paragraphs) == 1:
        data["text"] = instance.paragraphs[0].text
    else:
        extra = said.get("paragraphs", {})
        data["paragraphs"] = [{**extra.get(p.id, {}), "id": p.id, "title": p.title, "text": p.text} for p in instance.paragraphs]
    if said.get("before", {}) is not None:
        data["answers"] = list(shown.answers)
    extra = said.get("candidates", {})
    data["candidates"] = [{**extra.get(c.id, {}), "value": c.text, "alias": c.id} for c in instance.candidates or ()]
    data |= {key: value for key, value in said.get("data", {}).items() if key not in data}
    task = {key: value for key, value in said.get("task", {}).items() if key != "data"} | {"data": data}
    plain = _unanswered(cast(Task, task), f"instance {instance.id}")
    beyond = carried(without_faults(shown, OWN), plain, [paragraph.id for paragraph in plain.paragraphs], NAME)
    if beyond:
        data[OURS] = beyond
    if "annotations" in said:
        task["annotations"] = said["annotations"]
    task["predictions"] = said["predictions"] if "predictions" in said else _predictions(shown)
    return task


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file of tasks, one by one, and the configuration beside it."""
    has = dict.fromkeys(("paragraphs", "text", "candidates"), False)

    def tasks() -> Iterator[dict[str, Any]]:
        for instance in instances:
            task = to_record(instance)
            for field in has:
                has[field] |= bool(task["data"].get(field))
            yield task

    write_list(tasks(), path)
    write_config(path.with_name(f"{path.name.removesuffix(SUFFIX)}.config.xml"), **has)
