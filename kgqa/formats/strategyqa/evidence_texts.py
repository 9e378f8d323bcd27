"""The texts of StrategyQA's evidence, in a file beside the questions: ``dev_paragraphs.json`` or ``.jsonl`` beside ``dev.json``.

The release has ``strategyqa_train_paragraphs.json``, which belongs to parts of its training set too. That is one object, id → title,
content, section, headers and number. Ours is JSON lines with ``evidence_id``, ``title``, ``contents`` and whatever else there is; it can be
written while the questions are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import IO, Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import InputError
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.records import Instance, Paragraph

NAMED = "paragraphs"
"""What stands in the names of such files."""
OFFICIAL = "strategyqa_train"
"""The stem of the questions whose texts are released."""
SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


class Line(Open):
    """One line of ours."""

    evidence_id: str
    title: NotRequired[str]
    contents: str


class Entry(Open):
    """One entry of the official object."""

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
        return Paragraph(id=self.id, title=self.title, text=self.text, supporting=True)


def texts_beside(questions: Path) -> Path | None:
    """The file of texts that bears the name of ``questions``, else the released one; None where neither is there."""
    stems = dict.fromkeys((_stem(questions), OFFICIAL))
    named = (questions.with_name(f"{stem}_{NAMED}{suffix}") for stem in stems for suffix in SUFFIXES)
    return next((path for path in named if path != questions and isfile(path)), None)


def fitting_beside(questions: Path) -> Path | None:
    """The same, where it is a file of texts."""
    found = texts_beside(questions)
    return found if found is not None and fits(found) else None


def fits(texts: Path) -> bool:
    """Whether the first entry of a file, or its first line, is a text."""
    return _kind(texts) != ""


def _kind(texts: Path) -> str:
    """Whether the texts are ``lines`` or ``entries`` of one object, or ``""``: none."""
    try:
        _, _, entry = next(stream.members(texts, "entry"), ("", "", {"content": ""}))
    except InputError:
        return ""
    if isinstance(entry, dict):
        return "entries" if isinstance(entry.get("content"), str) else ""
    try:
        _, line = next(stream.values(texts))
    except InputError:
        return ""
    return "lines" if isinstance(line.get("evidence_id"), str) and isinstance(line.get("contents"), str) else ""


def is_called_so(path: Path) -> bool:
    """Whether a file has the official name of the texts of other files beside it, or the released one."""
    stem = _stem(path).removesuffix(f"_{NAMED}")
    if stem == _stem(path):
        return False
    return stem == OFFICIAL or any(isfile(path.with_name(f"{stem}{suffix}")) for suffix in SUFFIXES)


def _stem(path: Path) -> str:
    return path.name.split(".json")[0]


def read(path: Path, wanted: Collection[str]) -> dict[str, Passage]:
    """Id → passage, of the ``wanted`` ids that have one.

    Lines are read one by one; an official object is in memory whole. Raises InputError with file, line or id, and field.
    """
    passages = _lines(path) if _kind(path) == "lines" else _entries(path)
    return {passage.id: passage for passage in passages if passage.id in wanted} if wanted else {}


def _lines(path: Path) -> Iterator[Passage]:
    ids = Ids()
    for where, value in stream.values(path):
        line = validated(value, LINE, where)
        ids.add(line["evidence_id"], where, may_be_empty=True)
        extra = {key: value for key, value in line.items() if key not in Line.__annotations__}
        yield Passage(id=line["evidence_id"], title=line.get("title"), text=line["contents"], extra=extra)


def _entries(path: Path) -> Iterator[Passage]:
    for key, entry in stream.document(path, ENTRIES).items():
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
