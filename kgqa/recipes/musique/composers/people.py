"""Step S7 (Trivedi et al. 2022, section 5): composition by annotators, who get a task file and return it filled in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, StorageError, UnknownId, storage_errors
from kgqa.formats.json.stream import records
from kgqa.formats.json.validate import Ids, Open
from kgqa.progress import Progress
from kgqa.recipes.musique.composers.chain import Chain, referring
from kgqa.recipes.musique.composers.written import Written
from kgqa.runs.files import write_whole

OTHER_ENTITY = "people say that an answer and the name in a later question are different things"
NOT_WRITTEN = "nobody has written it yet"
NO_QUESTION = "people found no question"


class Task(Open):
    """A line of the task file: what annotators see, and what they fill in."""

    id: str
    question: NotRequired[str]
    """Empty or missing: not written yet."""
    same_entity: NotRequired[bool | None]
    """Whether each answer and its name in the later question are one thing; false drops the chain."""
    refusal: NotRequired[str]
    """The reason why the steps make no question."""


_TASK = TypeAdapter(Task)


class PeopleComposer:
    """Returns the questions that annotators wrote."""

    def __init__(self, answers: Path) -> None:
        """Store the path; the file is read by :meth:`write`."""
        self._path = answers

    def write(self, chains: Sequence[Chain], progress: Progress) -> Iterator[Written]:
        """Read the questions of the chains. Raises InputError with the line of an invalid entry."""
        progress.start(f"Reading {self._path.name}", len(chains), "questions")
        chain_ids, ids, results = {chain.id for chain in chains}, Ids(), dict[str, Written]()
        for location, task in records(self._path, _TASK):
            ids.add(task["id"], location)
            if task["id"] not in chain_ids:
                raise UnknownId(
                    f"{location}: there is no chain {task['id']} among the {len(chain_ids):,} of this run; give the answers to its own "
                    "tasks, with the same sets, settings and seed."
                )
            results[task["id"]] = _result(task, location)
        for chain in chains:
            progress.advance(1)
            yield results.get(chain.id, Written(reason=NOT_WRITTEN))


def _result(task: Task, location: str) -> Written:
    if task.get("same_entity") is False:
        return Written(reason=OTHER_ENTITY)
    question = " ".join(task.get("question", "").split())
    if task.get("refusal", "").strip():
        if question:
            raise BrokenInput(f"{location}: it has a question and a refusal; leave one of them empty.")
        return Written(reason=NO_QUESTION)
    return Written(question=question) if question else Written(reason=NOT_WRITTEN)


def task(chain: Chain, paragraphs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A chain for annotators; ``paragraphs``: those of its hops, with ``title`` and ``text``."""
    steps = [
        {
            "question": referring(hop),
            "answer": hop.answer,
            "names": [
                {"answer_to": need.hop + 1, "answer": chain.hops[need.hop].answer, "name": hop.question[need.start : need.end]}
                for need in hop.needs
            ],
            "paragraph": dict(paragraph),
        }
        for hop, paragraph in zip(chain.hops, paragraphs, strict=True)
    ]
    return {"id": chain.id, "shape": chain.shape, "steps": steps, "same_entity": None, "question": "", "refusal": ""}


def write_tasks(path: Path, tasks: Sequence[Mapping[str, Any]]) -> None:
    """Write JSON lines; an existing file with other content, such as one that annotators have begun, is never overwritten."""
    text = "".join(json.dumps(task, ensure_ascii=False) + "\n" for task in tasks)
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_text("utf-8", errors="replace") != text:
            raise StorageError(
                f"{path}: this file exists and has other content, perhaps what people wrote; give it as --answers, or move it."
            )
    write_whole(path, text)
