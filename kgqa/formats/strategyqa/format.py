"""StrategyQA's JSON: boolean questions with a decomposition and, for each annotator, evidence for its steps (Geva et al. 2021).

``evidence[annotator][step]`` lists ids of paragraphs, "operation" or "no_evidence"; it is noted, as are ``term``, ``description`` and
``facts``. The paragraphs are those of all annotators, in the order in which they name them, as far as their texts stand in a file beside
the questions, ``dev_paragraphs.json`` or ``.jsonl`` beside ``dev.json``, or the released ``strategyqa_train_paragraphs.json``, or in one
that is named. That is the official object (id → title, content and more) or JSON lines with ``evidence_id``, title and contents. An id
without a text stays in the note; a step that refers to one which does not come before it is a fault.
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
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import write_list
from kgqa.formats.provenance import note, noted
from kgqa.formats.strategyqa import evidence_texts
from kgqa.formats.strategyqa.evidence_texts import Passage, fits, texts_beside
from kgqa.records import Instance, Step

PURPOSE = "StrategyQA's JSON: boolean questions, decompositions, and evidence paragraphs in a file beside"
SUFFIX = ".json"
NAME = "strategyqa"
__all__ = ["PURPOSE", "SUFFIX", "fits", "read", "recognises", "texts_beside", "write"]
TEXTS = "strategyqa_paragraphs"
"""The key under which the paragraphs' sections, headers and numbers are noted, by id; of other ids there was no text."""
ANSWERS = {True: "yes", False: "no"}


def _checked(value: object) -> object:
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(entry, str) for entry in value)):
        return value
    raise PydanticCustomError("evidence_type", "expected a list of paragraph ids, or text")


Entry = Annotated[str | list[str], BeforeValidator(_checked)]
Evidence = list[list[list[Entry]]]


class Record(Open):
    """One question of an official file; test files have nothing but id and question."""

    qid: str
    term: NotRequired[str | None]
    description: NotRequired[str | None]
    question: str
    answer: NotRequired[bool | None]
    facts: NotRequired[list[str] | None]
    decomposition: NotRequired[list[str] | None]
    evidence: NotRequired[Evidence | None]


class Notes(Open):
    """What is noted: all fields that the normal form has no place for."""

    evidence: NotRequired[Evidence | None]
    null_fields: NotRequired[list[str]]
    """Which of ``HELD`` are null."""


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(Notes)
EXTRA = TypeAdapter(dict[str, dict[str, Any]])
HELD = ("qid", "question", "answer", "decomposition")
"""Fields that the normal form has a place for."""
NULL = "null_fields"


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the two fields are there that every file of StrategyQA has."""
    return {"qid", "question"} <= record.keys()


def read(path: Path, texts: Path | None = None) -> Iterator[Instance]:
    """The Instances of one file; memory: one record, all ids, and the texts that its questions name.

    The file is gone through twice where there is a file of texts: first for the ids of the evidence, as no other texts are kept.
    """
    found = evidence_texts.fitting_beside(path) if texts is None else texts
    wanted: set[str] = set()
    for _, record in stream.records(path, RECORD) if found else ():
        wanted.update(evidence_ids(record.get("evidence")))
    # A file that holds none of the texts says nothing of those that a question lacks.
    passages = (evidence_texts.read(found, wanted) if found else None) or None
    ids = Ids()
    for where, record in stream.records(path, RECORD):
        ids.add(record["qid"], where)
        yield from_record(record, passages)


def evidence_ids(evidence: Evidence | None) -> list[str]:
    """The ids of all paragraphs that any annotator names, each once, in order."""
    entries = [entry for annotator in evidence or () for step in annotator for entry in step]
    return list(dict.fromkeys(name for entry in entries if isinstance(entry, list) for name in entry))


def from_record(record: Record, texts: Mapping[str, Passage] | None = None) -> Instance:
    """The Instance of an official record with the ``texts`` of its paragraphs; None: there is no file of texts that could lack one."""
    answer, questions = record.get("answer"), record.get("decomposition")
    named = evidence_ids(record.get("evidence"))
    found = [texts[name] for name in named if name in texts] if texts else []
    faults = wrong_references(questions or ())
    if texts is not None and len(found) < len(named):
        faults.append(_without_text(texts, named))
    notes = {key: value for key, value in record.items() if key not in HELD and key != NULL}
    empty = [field for field in HELD if field in record and record.get(field) is None]
    provenance = note(NAME, notes | ({NULL: empty} if empty else {}))
    return Instance(
        id=record["qid"],
        question=record["question"],
        paragraphs=tuple(passage.paragraph() for passage in found),
        answers=() if answer is None else (ANSWERS[answer],),
        answer_type="none" if answer is None else "boolean",
        decomposition=None if questions is None else _steps(questions),
        answerable=True,
        group=record["qid"],
        provenance=note_faults(faults, beside=note(TEXTS, {passage.id: dict(passage.extra) for passage in found}, beside=provenance)),
    )


def _without_text(texts: Mapping[str, Passage], named: Sequence[str]) -> Fault:
    absent = [name for name in named if name not in texts]
    others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
    detail = f"{absent[0][:CHARACTERS]!r}{others} of {len(named)}"
    return Fault(kind="absent-text", place="evidence", detail=detail)


def _steps(questions: Sequence[str]) -> tuple[Step, ...]:
    ids = [str(number) for number in range(1, len(questions) + 1)]
    depends_on = dependencies(questions, ids)
    return tuple(
        Step(id=ids[place], question=question, answer=None, paragraph_id=None, depends_on=depends_on[place])
        for place, question in enumerate(questions)
    )


def to_record(instance: Instance, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The official record; ``names`` are what some paragraphs are called in the file of texts.

    BrokenInput where the answer is not yes or no. Evidence whose paragraph is not there any more is left out; evidence that never had a
    text stays. Supporting paragraphs that nobody names become the evidence of one more annotator: for the step that they belong to, else
    for the last one.
    """
    if instance.answers and instance.answers[0] not in ANSWERS.values():
        raise BrokenInput(f"instance {instance.id}: StrategyQA's answers are yes and no; leave this question out, or write another format.")
    notes = _noted(instance)
    record: dict[str, Any] = {"qid": instance.id, "question": instance.question}
    if instance.answers:
        record["answer"] = instance.answers[0] == ANSWERS[True]
    if instance.decomposition is not None:
        record["decomposition"] = [step.question for step in instance.decomposition]
    record |= {field: None for field in notes.get("null_fields", ()) if field in HELD and field not in record}
    evidence = _evidence(instance, notes.get("evidence") or [], names)
    if evidence:
        record["evidence"] = evidence
    known = [field for field in Record.__annotations__ if field in record or field in notes]
    return {field: record.get(field, notes.get(field)) for field in known} | {k: v for k, v in notes.items() if k not in (*known, NULL)}


def _noted(instance: Instance) -> Notes:
    return validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")


def _extra(instance: Instance) -> dict[str, dict[str, Any]]:
    return validated(noted(instance, TEXTS), EXTRA, f"instance {instance.id}, provenance")


def _evidence(instance: Instance, evidence: Evidence, names: Mapping[str, str]) -> Evidence:
    supporting = [paragraph.id for paragraph in instance.paragraphs if paragraph.supporting]
    gone = _extra(instance).keys() - set(supporting)
    named = set(evidence_ids(evidence))
    unnamed = [name for name in supporting if name not in named]
    annotators = [[_remaining(step, gone) for step in annotator] for annotator in evidence]
    annotators += [_further(instance, unnamed)] if unnamed else []
    return [[[_renamed(entry, names) for entry in step] for step in annotator] for annotator in annotators]


def _remaining(step: list[Entry], gone: Set[str]) -> list[Entry]:
    """Without the paragraphs that are ``gone``, and without the entries that had no others."""
    entries = [[name for name in entry if name not in gone] if isinstance(entry, list) else entry for entry in step]
    return [entry for entry, before in zip(entries, step, strict=True) if entry or not before]


def _further(instance: Instance, unnamed: Sequence[str]) -> list[list[Entry]]:
    """One more annotator, who names the paragraphs that the others do not."""
    owners = [step.paragraph_id for step in instance.decomposition or ()] or [None]
    steps: list[list[Entry]] = [[[owner]] if owner is not None and owner in unnamed else [] for owner in owners]
    rest = [name for name in unnamed if name not in owners]
    if rest:
        steps[-1].append(rest)
    return steps


def _renamed(entry: Entry, names: Mapping[str, str]) -> Entry:
    return entry if isinstance(entry, str) else [names.get(name, name) for name in entry]


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record, and beside it ``<stem>_paragraphs.jsonl`` with the texts of the evidence."""
    with evidence_texts.written_beside(path) as texts:
        write_list((to_record(instance, texts.add(instance, _extra(instance))) for instance in instances), path)
