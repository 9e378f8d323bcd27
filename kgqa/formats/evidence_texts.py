"""The texts of StrategyQA's evidence, in a file beside the questions: ``dev_paragraphs.json`` or ``.jsonl`` beside ``dev.json``.

The official file is one object, id → title, content, section, headers and number. Ours is JSON lines with ``evidence_id``, ``title``,
``contents`` and whatever else there is; it can be written while the questions are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NotRequired

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from kgqa.errors import InputError
from kgqa.formats import reading
from kgqa.records import Instance, Paragraph

NAMED = "paragraphs"
"""What stands in the names of such files."""
_NAME = re.compile(rf"(?<!no_){NAMED}.*\.jsonl?(\.gz)?")


class Line(TypedDict):
    """One line of ours."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]

    evidence_id: str
    title: NotRequired[str]
    contents: str


class Entry(TypedDict):
    """One entry of the official object."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]

    title: NotRequired[str]
    content: str


LINE = TypeAdapter(Line)
ENTRIES = TypeAdapter(dict[str, Entry])


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph of the corpus, with all that the file says about it."""

    id: str
    title: str | None
    text: str
    extra: Mapping[str, Any]
    """Section, headers and the like."""

    def paragraph(self) -> Paragraph:
        """As part of an Instance; that it is evidence says that it supports the answer."""
        return Paragraph(
            id=self.id, title=self.title, text=self.text, supporting=True, mentions=None, sentences=None, supporting_sentences=None
        )


def files(questions: Path) -> list[Path]:
    """The file of texts that bears the name of ``questions``; where there is none, all that may hold some, sorted."""
    folder = questions.parent
    found = sorted(
        path for path in folder.glob("*paragraphs*.json*") if _NAME.search(path.name) and path != questions and not path.is_dir()
    )
    own = [path for path in found if _stem(path) == f"{_stem(questions)}_paragraphs"]
    return own[:1] or found


def holds_texts(path: Path) -> bool:
    """Whether a file is called after paragraphs and its first entry is a text; or cannot be read, of which speaks who needs it."""
    if NAMED not in path.name:
        return False
    try:
        _, _, entry = next(reading.members(path, "entry"), ("", "", {"content": ""}))
    except InputError:
        entry = None  # a list, or nothing that can be read
    if isinstance(entry, dict):
        return "content" in entry
    try:
        _, line = next(reading.values(path))
    except (InputError, StopIteration):
        return entry is None
    return {"evidence_id", "contents"} <= line.keys()


def _stem(path: Path) -> str:
    return path.name.split(".json")[0]


def read(paths: Sequence[Path], wanted: Collection[str]) -> dict[str, Passage]:
    """Id → passage, of the ``wanted`` ids that have one; where several files have it, the first of them.

    Lines are read one by one; an official object is in memory whole. Raises InputError with file, line or id, and field.
    """
    texts: dict[str, Passage] = {}
    for path in paths if wanted else ():
        passages = _lines(path) if ".jsonl" in path.name else _entries(path)
        texts = {passage.id: passage for passage in passages if passage.id in wanted} | texts
    return texts


def _lines(path: Path) -> Iterator[Passage]:
    ids = reading.Ids()
    for where, value in reading.values(path):
        line = reading.validated(value, LINE, where)
        ids.add(line["evidence_id"], where, may_be_empty=True)
        extra = {key: value for key, value in line.items() if key not in Line.__annotations__}
        yield Passage(id=line["evidence_id"], title=line.get("title"), text=line["contents"], extra=extra)


def _entries(path: Path) -> Iterator[Passage]:
    for key, entry in reading.document(path, ENTRIES).items():
        extra = {key: value for key, value in entry.items() if key not in Entry.__annotations__}
        yield Passage(id=key, title=entry.get("title"), text=entry["content"], extra=extra)


class Texts:
    """A file of texts that is being written; memory: the ids, and a number for each."""

    def __init__(self, file: IO[str]) -> None:
        """Nothing was written yet."""
        self._file = file
        self.written: dict[str, int] = {}
        """Id → hash of the title and text; it is compared within this run only, so Python's own will do."""

    def add(self, instance: Instance, extra: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Write the supporting paragraphs that are not there yet; returns paragraph id → id in the file.

        The two differ where another question's paragraph of that id has another text: this one is then ``<question>#<paragraph>``.
        """
        names = {}
        for paragraph in instance.paragraphs:
            if paragraph.supporting:
                names[paragraph.id] = name = self._name(paragraph, instance.id)
                if name not in self.written:
                    self._write(name, paragraph, extra.get(paragraph.id, {}))
        return names

    def _name(self, paragraph: Paragraph, question: str) -> str:
        name, digest = paragraph.id, hash((paragraph.title, paragraph.text))
        while self.written.get(name, digest) != digest:
            name = f"{question}#{name}"
        return name

    def _write(self, name: str, paragraph: Paragraph, extra: Mapping[str, Any]) -> None:
        self.written[name] = hash((paragraph.title, paragraph.text))
        title = {} if paragraph.title is None else {"title": paragraph.title}
        line = {"evidence_id": name, **title, **extra, "contents": paragraph.text}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")


@contextmanager
def written_beside(questions: Path) -> Iterator[Texts]:
    """The file of texts that belongs to ``questions``; where nothing was written to it, it is not there afterwards."""
    path = questions.with_name(f"{_stem(questions)}_paragraphs.jsonl")
    with path.open("w", encoding="utf-8") as file:
        texts = Texts(file)
        yield texts
    if not texts.written:
        path.unlink()
