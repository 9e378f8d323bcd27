"""QAngaroo's JSON: ``id, query, answer, candidates, supports[, annotations]``, a list of records per file (Welbl et al. 2018).

As the official files do it: in WikiHop query, answer and candidates are lower-cased and the texts are not; in MedHop drugs and proteins are
replaced by their ids everywhere. Which of the two an Instance wants is in its provenance (``surface``); one that says nothing is written as
it is. The format has no place for paragraph ids, titles, mentions, chains, grades and aliases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open
from kgqa.formats.json.write import write_list
from kgqa.formats.provenance import everything, note, noted
from kgqa.records import Candidate, Instance, Paragraph

PURPOSE = "QAngaroo's JSON (WikiHop, MedHop): a query, candidates and supporting texts"
SUFFIX = ".json"
NAME = "qangaroo"
NOT_HELD = ("paragraph ids", "titles", "mentions", "supporting marks", "chains", "grades", "aliases of the answer", "provenance")
"""What an Instance may have and this format cannot hold; exporting says so."""
PLACEHOLDER = "___MASK"
"""With which what stands for a candidate begins in a masked twin; ``IS_PLACEHOLDER`` is all of it, in whatever spelling."""
IS_PLACEHOLDER = re.compile(r"_*MASK\d+_*")


class Record(Open):
    """One question of an official file; some also have ``annotations``, three people's judgements each of two things."""

    id: str
    query: str
    answer: str
    candidates: list[str]
    supports: list[str]
    annotations: NotRequired[list[list[str]]]


RECORD = TypeAdapter(Record)
HELD = frozenset({"id", "query", "answer", "candidates", "supports"})
"""Fields that have a place in an Instance; all others are noted."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are QAngaroo's."""
    return {"query", "candidates", "supports"} <= record.keys()


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record of a multiple-choice Instance with one answer; BrokenInput where it is no such question.

    What a recipe made, or was answered in free words, is held to what official files promise; what was read may break it.
    """
    if instance.candidates is None or not instance.answers:
        raise BrokenInput(f"instance {instance.id}: QAngaroo holds questions with candidates and one answer only; this one has none.")
    surface, query = _recipe_notes(instance)
    shown = expressions(instance)
    record = {
        "id": instance.id,
        "query": instance.question.lower() if surface == "label" else query,
        "answer": shown[instance.answer_id] if instance.answer_id in shown else instance.answers[0],
        "candidates": sorted(shown.values()) if surface else list(shown.values()),
        "supports": [_support(paragraph, surface) for paragraph in instance.paragraphs],
    }
    if surface or instance.answer_type != "candidate":
        _check(record, f"instance {instance.id}")
    return record | {key: value for key, value in noted(instance, NAME).items() if key not in record}


def expressions(instance: Instance) -> dict[str, str]:
    """The id of each candidate → how the official file shows it, which is what predictions name; BrokenInput where notes are damaged."""
    surface, _ = _recipe_notes(instance)
    return {candidate.id: _expression(candidate, surface) for candidate in instance.candidates or ()}


def _expression(candidate: Candidate, surface: str | None) -> str:
    if surface is None or candidate.text.startswith(PLACEHOLDER):
        return candidate.text
    return candidate.id if surface == "id" else candidate.text.lower()


def _recipe_notes(instance: Instance) -> tuple[str | None, str]:
    """How the recipe wants candidates shown, and the query; BrokenInput where its notes are not what a recipe writes."""
    provenance = everything(instance)
    surface, query = provenance.get("surface"), provenance.get("query", instance.question)
    if surface not in (None, "label", "id") or not isinstance(query, str):
        raise BrokenInput(f"instance {instance.id}: its provenance is not what kgqa writes; make the dataset again, or set it to null.")
    return surface, query


def _support(paragraph: Paragraph, surface: str | None) -> str:
    """The text, where ids are shown with every mention replaced by its entity's id."""
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
    """The Instance of an official record, masked or not; the id of a candidate is its text, and ``<text>#2`` where it is there again."""
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
        provenance=note(NAME, {key: value for key, value in record.items() if key not in HELD}),
    )


def _candidates(texts: Sequence[str]) -> tuple[Candidate, ...]:
    if len(set(texts)) == len(texts):
        return tuple([Candidate(id=text, text=text) for text in texts])
    taken, seen, found = set(texts), set[str](), []
    for text in texts:
        free = (f"{text}#{number}" for number in count(2))
        name = text if text not in seen else next(name for name in free if name not in taken)
        taken.add(name)
        seen.add(text)
        found.append(Candidate(id=name, text=text))
    return tuple(found)


def _check(record: Mapping[str, Any], where: str) -> None:
    candidates = record["candidates"]
    if record["answer"] not in candidates:
        raise BrokenInput(f"{where}, field 'answer': {record['answer']!r} is not among the candidates; fix or drop the record.")
    if len(set(candidates)) != len(candidates):
        twice = next(text for text in candidates if candidates.count(text) > 1)
        raise BrokenInput(f"{where}, field 'candidates': {twice!r} is there twice; fix or drop the record.")


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record."""
    write_list((to_record(instance) for instance in instances), path)


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one official file; memory: one record, and all ids. Raises InputError with file, record and field."""
    ids = Ids()
    for where, record in stream.records(path, RECORD):
        ids.add(record["id"], where)
        yield from_record(record)
