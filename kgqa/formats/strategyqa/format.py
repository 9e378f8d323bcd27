"""StrategyQA's JSON: boolean questions with a decomposition and, for each annotator, evidence for its steps (Geva et al. 2021).

``evidence[annotator][step]`` lists ids of paragraphs, "operation" or "no_evidence". It is noted, as are ``term``, ``description`` and
``facts``. A question's paragraphs are the evidence of all annotators, in their order; their texts come from a separate file: the one that
the user names, else ``dev_paragraphs.json`` or ``.jsonl`` for ``dev.json``, else the released ``strategyqa_train_paragraphs.json``
(:mod:`kgqa.formats.strategyqa.evidence_texts`). An id without a text remains in the note. A step that refers to itself or to a later step
is noted as a fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, TypeAdapter
from pydantic_core import PydanticCustomError

from kgqa.errors import BrokenInput
from kgqa.formats.decomposition import dependencies, wrong_references
from kgqa.formats.faults import CHARACTERS, Fault, note_faults
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Open, unique, validated
from kgqa.formats.json.write import write_list
from kgqa.formats.provenance import note, noted
from kgqa.formats.strategyqa import evidence_texts
from kgqa.formats.strategyqa.evidence_texts import Passage, fits, is_file_of_texts, texts_beside
from kgqa.records import Instance, Step

PURPOSE = "StrategyQA's JSON: boolean questions, decompositions, and evidence paragraphs in a file beside"
SUFFIX = ".json"
NAME = "strategyqa"
__all__ = [
    "PURPOSE",
    "SUFFIX",
    "TEXTS_ARE_OPTIONAL",
    "TEXTS_WORD",
    "fits",
    "is_file_of_texts",
    "read",
    "recognises",
    "texts_beside",
    "write",
]
TEXTS_WORD = evidence_texts.WORD
TEXTS_ARE_OPTIONAL = True
TEXTS = "strategyqa_paragraphs"
"""The name of a second note: id → further fields of each paragraph that had a text."""
ANSWERS = {True: "yes", False: "no"}


def _check_entry(value: object) -> object:
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(entry, str) for entry in value)):
        return value
    raise PydanticCustomError("evidence_type", "expected a list of paragraph ids, or text")


Entry = Annotated[str | list[str], BeforeValidator(_check_entry)]
Evidence = list[list[list[Entry]]]


class Record(Open):
    """One question of an official file; test files have only id and question."""

    qid: str
    term: NotRequired[str | None]
    description: NotRequired[str | None]
    question: str
    answer: NotRequired[bool | None]
    facts: NotRequired[list[str] | None]
    decomposition: NotRequired[list[str] | None]
    evidence: NotRequired[Evidence | None]


class StrategyqaNotes(Open):
    """A question's note: all fields that the normal form lacks."""

    evidence: NotRequired[Evidence | None]
    null_fields: NotRequired[list[str]]
    """The fields among ``INSTANCE_FIELDS`` that are null."""


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(StrategyqaNotes)
EXTRA = TypeAdapter(dict[str, dict[str, Any]])
INSTANCE_FIELDS = ("qid", "question", "answer", "decomposition")
"""Fields that an Instance holds."""
NULL = "null_fields"


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the record has the two fields of every file of StrategyQA."""
    return {"qid", "question"} <= record.keys()


def read(path: Path, texts: Path | None = None) -> Iterator[Instance]:
    """The Instances of one file. Memory: one record, all ids, and the texts that its questions name.

    With a file of texts, the questions are read twice, first for the ids of the evidence, whose texts alone are kept.
    """
    if texts is None and (texts_file := texts_beside(path)) is not None and fits(texts_file):
        texts = texts_file
    names: set[str] = set()
    for _, record in stream.records(path, RECORD) if texts else ():
        names.update(evidence_ids(record.get("evidence")))
    # A file without any of these texts belongs to other questions, so a missing text is no fault.
    passages = (evidence_texts.read(texts, names) if texts else None) or None
    yield from unique((location, from_record(record, passages)) for location, record in stream.records(path, RECORD))


def evidence_ids(evidence: Evidence | None) -> list[str]:
    """The distinct ids of all annotators' paragraphs, in order."""
    entries = [entry for annotator in evidence or () for step in annotator for entry in step]
    return list(dict.fromkeys(name for entry in entries if isinstance(entry, list) for name in entry))


def from_record(record: Record, texts: Mapping[str, Passage] | None = None) -> Instance:
    """The Instance of an official record with the ``texts`` of its paragraphs; None without a file of texts."""
    answer, questions = record.get("answer"), record.get("decomposition")
    names = evidence_ids(record.get("evidence"))
    passages = [texts[name] for name in names if name in texts] if texts else []
    faults = wrong_references(questions or ())
    if texts is not None and len(passages) < len(names):
        faults.append(_absent_text(texts, names))
    notes = {key: value for key, value in record.items() if key not in INSTANCE_FIELDS and key != NULL}
    empty_fields = [field for field in INSTANCE_FIELDS if field in record and record.get(field) is None]
    provenance = note(NAME, notes | ({NULL: empty_fields} if empty_fields else {}))
    return Instance(
        id=record["qid"],
        question=record["question"],
        paragraphs=tuple(passage.paragraph() for passage in passages),
        answers=() if answer is None else (ANSWERS[answer],),
        answer_type="none" if answer is None else "boolean",
        decomposition=None if questions is None else _steps(questions),
        answerable=True,
        group=record["qid"],
        provenance=note_faults(faults, beside=note(TEXTS, {passage.id: dict(passage.extra) for passage in passages}, beside=provenance)),
    )


def _absent_text(texts: Mapping[str, Passage], names: Sequence[str]) -> Fault:
    absent = [name for name in names if name not in texts]
    suffix = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
    detail = f"{absent[0][:CHARACTERS]!r}{suffix} of {len(names)}"
    return Fault(kind="absent-text", place="evidence", detail=detail)


def _steps(questions: Sequence[str]) -> tuple[Step, ...]:
    ids = [str(number) for number in range(1, len(questions) + 1)]
    depends_on = dependencies(questions, ids)
    return tuple(
        Step(id=ids[place], question=question, answer=None, paragraph_id=None, depends_on=depends_on[place])
        for place, question in enumerate(questions)
    )


def to_record(instance: Instance, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The official record; ``names``: paragraph id → id in the file of texts, if different.

    Evidence loses paragraphs that the Instance lost, but keeps those that never had a text. Supporting paragraphs without an annotator
    become the evidence of a further annotator: for their own step, else for the last one. Raises BrokenInput for an answer other than yes
    or no.
    """
    if instance.answers and instance.answers[0] not in ANSWERS.values():
        raise BrokenInput(f"instance {instance.id}: StrategyQA's answers are yes and no; leave this question out, or write another format.")
    notes = validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")
    record: dict[str, Any] = {"qid": instance.id, "question": instance.question}
    if instance.answers:
        record["answer"] = instance.answers[0] == ANSWERS[True]
    if instance.decomposition is not None:
        record["decomposition"] = [step.question for step in instance.decomposition]
    record |= {field: None for field in notes.get("null_fields", ()) if field in INSTANCE_FIELDS and field not in record}
    evidence = _evidence(instance, notes.get("evidence") or [], names)
    if evidence:
        record["evidence"] = evidence
    fields = [field for field in Record.__annotations__ if field in record or field in notes]
    return {field: record.get(field, notes.get(field)) for field in fields} | {k: v for k, v in notes.items() if k not in (*fields, NULL)}


def _extra(instance: Instance) -> dict[str, dict[str, Any]]:
    return validated(noted(instance, TEXTS), EXTRA, f"instance {instance.id}, provenance")


def _evidence(instance: Instance, evidence: Evidence, names: Mapping[str, str]) -> Evidence:
    support = [paragraph.id for paragraph in instance.paragraphs if paragraph.supporting]
    missing_ids = _extra(instance).keys() - set(support)
    evidence_names = set(evidence_ids(evidence))
    new_ids = [name for name in support if name not in evidence_names]
    annotators = [[_without(step, missing_ids) for step in annotator] for annotator in evidence]
    annotators += [_further_annotator(instance, new_ids)] if new_ids else []
    return [[[_with_names(entry, names) for entry in step] for step in annotator] for annotator in annotators]


def _without(step: list[Entry], missing_ids: Set[str]) -> list[Entry]:
    """The evidence of a step without the paragraphs ``missing_ids``, and without entries that become empty."""
    entries = [[name for name in entry if name not in missing_ids] if isinstance(entry, list) else entry for entry in step]
    return [entry for entry, earlier_entry in zip(entries, step, strict=True) if entry or not earlier_entry]


def _further_annotator(instance: Instance, paragraphs: Sequence[str]) -> list[list[Entry]]:
    """The evidence of a further annotator, who names these ``paragraphs``: each for its step, the others for the last step."""
    owners = [step.paragraph_id for step in instance.decomposition or ()] or [None]
    steps: list[list[Entry]] = [[[owner]] if owner is not None and owner in paragraphs else [] for owner in owners]
    other_names = [name for name in paragraphs if name not in owners]
    if other_names:
        steps[-1].append(other_names)
    return steps


def _with_names(entry: Entry, names: Mapping[str, str]) -> Entry:
    return entry if isinstance(entry, str) else [names.get(name, name) for name in entry]


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record, and ``<stem>_paragraphs.jsonl`` with the texts of the evidence."""
    with evidence_texts.open_texts(path) as texts:
        write_list((to_record(instance, texts.add(instance, _extra(instance))) for instance in instances), path)
