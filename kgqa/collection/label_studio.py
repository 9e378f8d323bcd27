"""A project's items and answers as tasks of Label Studio, and Label Studio's annotations as answers.

Each step has a file of tasks, and a configuration whose controls are the fields of the step's answer: a choice where the field is one of a
few words, yes or no where it is true or false, else text; a field of another shape is JSON in a text. What annotators must not see is in no
task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired
from xml.etree import ElementTree

import polars as pl
from pydantic import TypeAdapter, ValidationError

from kgqa.collection.state import State
from kgqa.collection.task import Answer, Item, Step
from kgqa.errors import BrokenInput, DuplicateId, InputError, UnknownId
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Open
from kgqa.formats.json.write import write_list
from kgqa.formats.label_studio.answers import Annotation, Result
from kgqa.settings.base import located_fault

ITEM = "item"
"""The control that all others belong to: the item's name."""
PREFIX = "shown_"
YES, NO = "yes", "no"


class Task(Open):
    """A task of Label Studio on an item of a project."""

    data: dict[str, Any]
    annotations: NotRequired[list[Annotation]]


RECORD = TypeAdapter(Task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """An annotation as an answer, checked as one from the page is."""

    person: str
    item: str
    answer: Answer
    labels: Mapping[str, str]
    seconds: float
    """Label Studio's ``lead_time``; 0 without."""
    warnings: tuple[str, ...]
    """What the live checks found without refusing it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Control:
    """How a field of an answer is shown: ``choice``, ``choices``, ``boolean``, ``text``, ``texts`` or ``json``."""

    kind: str
    values: tuple[str, ...] = ()
    """What can be chosen."""

    def results(self, value: Any) -> dict[str, Any] | None:
        """The value of the result that gives the field this value; None for an empty one."""
        if value is None or value in ("", [], ()):
            return None
        if self.kind in {"choice", "choices", "boolean"}:
            choices = [YES if value else NO] if self.kind == "boolean" else [value] if self.kind == "choice" else list(value)
            return {"choices": choices}
        texts = [value] if self.kind == "text" else list(value) if self.kind == "texts" else [json.dumps(value, ensure_ascii=False)]
        return {"text": texts}

    def value(self, results: Sequence[Result]) -> Any:
        """The field's value in these results. Raises ValueError for one that the field cannot have."""
        choices = [choice for result in results for choice in result["value"].get("choices", [])]
        texts: list[str] = []
        for result in results:
            text = result["value"].get("text", [])
            texts += [text] if isinstance(text, str) else text
        if self.kind == "boolean":
            return choices[-1:] == [YES]
        if self.kind in {"choices", "texts"}:
            return choices or texts
        single = (choices or texts)[-1:]
        if not single:
            raise ValueError("it has neither a choice nor a text")
        return json.loads(single[0]) if self.kind == "json" else single[0]


def write_tasks(state: State, steps: Mapping[str, Step], folder: Path) -> dict[str, int]:
    """Write ``STEP.json`` and ``STEP.config.xml`` for each step into ``folder``; returns the number of tasks of each step.

    Items that are left out of the results are left out here too; so are answers of people who withdrew, and what models answered.
    """
    people = state.answers.filter(~pl.col("model")).sort("number").select("item", "person", "answer", "seconds")
    answers: dict[str, list[tuple[str, str, float]]] = {}
    for item, *answer in people.iter_rows():
        answers.setdefault(item, []).append((answer[0], answer[1], answer[2]))
    counts = {}
    for name, step in steps.items():
        rows = state.items.filter(pl.col("step") == name, pl.col("state") != "refused").select("item", "shown")
        contents = {item: json.loads(text or "{}") for item, text in rows.iter_rows()}
        views = _views(contents.values())
        controls = _controls(step.answer)
        tasks = (_task(item, name, content, views, controls, answers.get(item, ())) for item, content in contents.items())
        write_list(tasks, folder / f"{name}.json")
        (folder / f"{name}.config.xml").write_text(_config(views, controls), "utf-8")
        counts[name] = len(contents)
    return counts


def _task(
    item: str, step: str, shown_fields: Mapping[str, Any], views: Mapping[str, str], controls: Mapping[str, _Control],
    answers: Sequence[tuple[str, str, float]],
) -> dict[str, Any]:  # fmt: skip
    data: dict[str, Any] = {ITEM: item, "step": step}
    for key, kind in views.items():
        value = shown_fields.get(key)
        if kind == "paragraphs":
            data[PREFIX + key] = [{"title": part.get("title") or "", "text": part["text"]} for part in value or ()]
        else:
            data[PREFIX + key] = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    annotations = [
        {"person": person, "lead_time": seconds, "result": list(_results(json.loads(answer), controls))}
        for person, answer, seconds in answers
    ]
    return {"data": data, "annotations": annotations}


def _results(answer: Mapping[str, Any], controls: Mapping[str, _Control]) -> Iterator[dict[str, Any]]:
    for name, control in controls.items():
        value = control.results(answer.get(name))
        if value is not None:
            kind = "choices" if "choices" in value else "textarea"
            yield {"id": name, "from_name": name, "to_name": ITEM, "type": kind, "value": value}


def _views(contents: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Field of what is shown → ``paragraphs`` where it always is a list of texts with titles, else ``text``."""
    views: dict[str, str] = {}
    for content in contents:
        for key, value in content.items():
            paragraphs = isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value)
            empty = value in (None, [])
            views[key] = views.get(key, "paragraphs" if paragraphs or empty else "text")
            if not (paragraphs or empty):
                views[key] = "text"
    return views


def _controls(answer: type[Answer]) -> dict[str, _Control]:
    """Field of an answer → its control."""
    schema = answer.model_json_schema()
    return {name: _control(part, schema) for name, part in schema["properties"].items()}


def _control(part: Mapping[str, Any], schema: Mapping[str, Any]) -> _Control:
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", maxsplit=1)[-1]]
    if "anyOf" in part:
        others = [other for other in part["anyOf"] if other.get("type") != "null"]
        return _control(others[0], schema) if len(others) == 1 else _Control(kind="json")
    values = part.get("enum", [part["const"]] if "const" in part else [])
    if values and all(isinstance(value, str) for value in values):
        return _Control(kind="choice", values=tuple(value for value in values if value))
    if part.get("type") == "boolean":
        return _Control(kind="boolean", values=(YES, NO))
    if part.get("type") == "string":
        return _Control(kind="text")
    if part.get("type") == "array" and isinstance(part.get("items"), dict):
        inner = _control(part["items"], schema)
        if inner.kind in {"choice", "text"}:
            return _Control(kind="choices" if inner.kind == "choice" else "texts", values=inner.values)
    return _Control(kind="json")


def _config(views: Mapping[str, str], controls: Mapping[str, _Control]) -> str:
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value=f"${ITEM}")
    ElementTree.SubElement(view, "Text", name=ITEM, value=f"${ITEM}")
    for key, kind in views.items():
        ElementTree.SubElement(view, "Header", value=key)
        names = {"name": PREFIX + key, "value": f"${PREFIX}{key}"}
        if kind == "paragraphs":
            ElementTree.SubElement(view, "Paragraphs", names | {"nameKey": "title", "textKey": "text"})
        else:
            ElementTree.SubElement(view, "Text", names)
    for name, control in controls.items():
        ElementTree.SubElement(view, "Header", value=name)
        if control.values:
            choice = "multiple" if control.kind == "choices" else "single"
            choices = ElementTree.SubElement(view, "Choices", name=name, toName=ITEM, choice=choice)
            for value in control.values:
                ElementTree.SubElement(choices, "Choice", value=value)
        else:
            most = {} if control.kind == "texts" else {"maxSubmissions": "1"}
            ElementTree.SubElement(view, "TextArea", {"name": name, "toName": ITEM} | most)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def read_annotations(
    path: Path, items: Mapping[str, Item], steps: Mapping[str, Step], *, person: str, annotator: str | None = None
) -> Iterator[Submission]:
    """The annotations of one annotator in an export of Label Studio, as answers of ``person``; cancelled ones are skipped.

    ``annotator`` chooses by number, address or name; it may be left out if there is only one. Raises InputError with file and record for an
    annotation that is no answer or that the live checks refuse, UnknownId for an item that the project lacks, DuplicateId for two
    annotations of an item, and the errors of reading JSON. Memory: the ids.
    """
    names: dict[str, str] = {}
    item_ids: set[str] = set()
    is_any = False
    for location, task in stream.records(path, RECORD):
        for number, annotation in enumerate(task.get("annotations", []), start=1):
            annotator_name = _annotator(annotation)
            if annotation.get("was_cancelled") or (annotator is not None and annotator_name != annotator):
                continue
            names[annotator_name] = location
            if len(names) > 1:
                names_in_text = " and ".join(name or "somebody without a name" for name in names)
                raise InputError(f"{location}: there are annotations by {names_in_text}; choose one with --annotator.")
            place = f"{location}, annotation {number}"
            item = items.get(str(task["data"].get(ITEM)))
            if item is None:
                raise UnknownId(f"{place}: {task['data'].get(ITEM)!r} is not an item of this project; give an export of its own tasks.")
            if item.id in item_ids:
                raise DuplicateId(f"{place}: item {item.id} has another annotation by the same annotator; keep one.")
            item_ids.add(item.id)
            is_any = True
            yield _submission(annotation, item, steps[item.step], place, person)
    if not is_any:
        raise InputError(f"{path}: there is no annotation{f' by {annotator}' if annotator else ''}; give an export with annotations.")


def _annotator(annotation: Annotation) -> str:
    by: Any = annotation.get("completed_by", annotation.get("person"))
    if isinstance(by, dict):
        by = by.get("email", by.get("id"))
    return "" if by is None else str(by)


def _submission(annotation: Annotation, item: Item, step: Step, place: str, person: str) -> Submission:
    controls = _controls(step.answer)
    results: dict[str, list[Result]] = {}
    for result in annotation["result"]:
        results.setdefault(str(result.get("from_name")), []).append(result)
    if not results.keys() & controls.keys():
        raise BrokenInput(
            f"{place}: none of its results belongs to a control named {' or '.join(controls)}; use the configuration that kgqa exports."
        )
    values = {}
    for name, control in controls.items():
        if name in results:
            try:
                values[name] = control.value(results[name])
            except ValueError as error:
                raise BrokenInput(f"{place}, {name}: {error}; fix or drop the annotation.") from None
    try:
        answer = step.answer.model_validate(values)
    except ValidationError as error:
        raise BrokenInput(f"{place}, {located_fault(error, whole='the answer')}; fix or drop the annotation.") from None
    faults = step.faults(item, answer)
    if blocking := [fault.sentence for fault in faults if fault.blocking]:
        raise InputError(f"{place}: {blocking[0]}")
    seconds: Any = annotation.get("lead_time")
    return Submission(
        person=person, item=item.id, answer=answer, labels=step.labels(answer),
        seconds=float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else 0.0,
        warnings=tuple(fault.sentence for fault in faults),
    )  # fmt: skip
