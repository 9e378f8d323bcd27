"""QAngaroo's JSON: ``id, query, answer, candidates, supports[, annotations]``, a list of records per file (Welbl et al. 2018).

Official files of WikiHop have query, answer and candidates in lower case, but not the texts; those of MedHop replace drugs and proteins by
their ids everywhere. The field ``surface`` of the provenance selects one of the two; an Instance without it is written unchanged. The
format cannot hold paragraph ids, titles, mentions, chains, grades and aliases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Open, unique
from kgqa.formats.json.write import list_writer
from kgqa.formats.provenance import everything, note, noted
from kgqa.records import Candidate, Instance, Paragraph

PURPOSE = "QAngaroo's JSON (WikiHop, MedHop): a query, candidates and supporting texts"
SUFFIX = ".json"
NAME = "qangaroo"
NOT_HELD = ("paragraph ids", "titles", "mentions", "supporting marks", "chains", "grades", "aliases of the answer", "provenance")
"""Fields of an Instance that this format cannot hold, for the message of ``kgqa export``."""
PLACEHOLDER = "___MASK"
"""The beginning of a masked candidate."""
IS_PLACEHOLDER = re.compile(r"_*MASK\d+_*")
"""Matches a whole masked candidate, in any spelling."""


class Record(Open):
    """One question of an official file; some have ``annotations``, three annotators' judgements of two aspects."""

    id: str
    query: str
    answer: str
    candidates: list[str]
    supports: list[str]
    annotations: NotRequired[list[list[str]]]


RECORD = TypeAdapter(Record)
INSTANCE_FIELDS = frozenset({"id", "query", "answer", "candidates", "supports"})
"""Fields that an Instance holds; all others are noted."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are QAngaroo's."""
    return {"query", "candidates", "supports"} <= record.keys()


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record of a multiple-choice Instance with one answer. Raises BrokenInput for any other question.

    The answer must be one of distinct candidates, except in a question that was read from such a file and broke this rule already.
    """
    if instance.candidates is None or not instance.answers:
        raise BrokenInput(f"instance {instance.id}: QAngaroo has only questions with candidates and one answer; this one has none.")
    surface, query = _recipe_notes(instance)
    texts = expressions(instance)
    record = {
        "id": instance.id,
        "query": instance.question.lower() if surface == "label" else query,
        "answer": texts[instance.answer_id] if instance.answer_id in texts else instance.answers[0],
        "candidates": sorted(texts.values()) if surface else list(texts.values()),
        "supports": [_support(paragraph, surface) for paragraph in instance.paragraphs],
    }
    if surface or instance.answer_type != "candidate":
        _check(record, f"instance {instance.id}")
    return record | {key: value for key, value in noted(instance, NAME).items() if key not in record}


def expressions(instance: Instance) -> dict[str, str]:
    """Candidate id → its text in the official file, which predictions use. Raises BrokenInput for damaged notes."""
    surface, _ = _recipe_notes(instance)
    return {candidate.id: _expression(candidate, surface) for candidate in instance.candidates or ()}


def _expression(candidate: Candidate, surface: str | None) -> str:
    if surface is None or candidate.text.startswith(PLACEHOLDER):
        return candidate.text
    return candidate.id if surface == "id" else candidate.text.lower()


def _recipe_notes(instance: Instance) -> tuple[str | None, str]:
    """The fields ``surface`` and ``query`` of a recipe's provenance. Raises BrokenInput for values that no recipe writes."""
    provenance = everything(instance)
    surface, query = provenance.get("surface"), provenance.get("query", instance.question)
    if surface not in (None, "label", "id") or not isinstance(query, str):
        raise BrokenInput(f"instance {instance.id}: its provenance is not what kgqa writes; generate the dataset again, or set it to null.")
    return surface, query


def _support(paragraph: Paragraph, surface: str | None) -> str:
    """The paragraph's text; with ``surface`` "id", every mention is replaced by its entity's id."""
    if surface != "id" or not paragraph.mentions:
        return paragraph.text
    parts, at = [], 0
    for mention in paragraph.mentions:
        if not at <= mention.start <= mention.end <= len(paragraph.text):
            continue
        name = paragraph.text[mention.start : mention.end]
        parts += [paragraph.text[at : mention.start], name if name.startswith(PLACEHOLDER) else mention.entity]
        at = mention.end
    return "".join(parts) + paragraph.text[at:]


def from_record(record: Record) -> Instance:
    """The Instance of an official record, masked or not; a candidate's id is its text, with ``#2`` and so on for repeated texts."""
    return Instance(
        id=record["id"],
        question=record["query"],
        paragraphs=tuple(
            Paragraph(id=str(number), title=None, text=text, supporting=None) for number, text in enumerate(record["supports"])
        ),
        answers=(record["answer"],),
        answer_id=record["answer"] if record["answer"] in record["candidates"] else None,
        answer_type="candidate",
        candidates=_candidates(record["candidates"]),
        answerable=True,
        group=record["id"],
        provenance=note(NAME, {key: value for key, value in record.items() if key not in INSTANCE_FIELDS}),
    )


def _candidates(texts: Sequence[str]) -> tuple[Candidate, ...]:
    if len(set(texts)) == len(texts):
        return tuple([Candidate(id=text, text=text) for text in texts])
    ids, earlier_texts, candidates = set(texts), set[str](), []
    for text in texts:
        options = (f"{text}#{number}" for number in count(2))
        name = text if text not in earlier_texts else next(name for name in options if name not in ids)
        ids.add(name)
        earlier_texts.add(text)
        candidates.append(Candidate(id=name, text=text))
    return tuple(candidates)


def _check(record: Mapping[str, Any], location: str) -> None:
    candidates = record["candidates"]
    if record["answer"] not in candidates:
        raise BrokenInput(f"{location}, field 'answer': {record['answer']!r} is not among the candidates; fix or drop the record.")
    if len(set(candidates)) != len(candidates):
        duplicate = next(text for text in candidates if candidates.count(text) > 1)
        raise BrokenInput(f"{location}, field 'candidates': {duplicate!r} occurs twice; fix or drop the record.")


write = list_writer(to_record)
"""Write one official file, record by record."""


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one official file. Memory: one record and all ids. Raises InputError with file, record and field."""
    return unique((location, from_record(record)) for location, record in stream.records(path, RECORD))
