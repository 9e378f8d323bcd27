"""The texts of StrategyQA's evidence in a separate file: ``dev_paragraphs.json`` or ``.jsonl`` for ``dev.json``.

The release has ``strategyqa_train_paragraphs.json``, which also serves parts of its training set. It is one object: id → title, content,
section, headers and number. kgqa writes JSON lines with ``evidence_id``, ``title``, ``contents`` and further fields instead, since lines
can be written while the questions are.
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
from kgqa.formats.provenance import unknown_fields
from kgqa.records import Instance, Paragraph

WORD = "paragraphs"
"""Part of the names of files of texts."""
OFFICIAL = "strategyqa_train"
"""The stem of the released questions, whose texts are released too."""
SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


class Line(Open):
    """One line of kgqa's own form."""

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
    """A paragraph of the corpus with all its fields."""

    id: str
    title: str | None
    text: str
    extra: Mapping[str, Any]
    """Section, headers and other fields."""

    def paragraph(self) -> Paragraph:
        """The passage as a paragraph of an Instance, marked as supporting because it is evidence."""
        return Paragraph(id=self.id, title=self.title, text=self.text, supporting=True)


def texts_beside(questions: Path) -> Path | None:
    """The file of texts whose name belongs to ``questions``, else the released one; None if neither exists."""
    stems = dict.fromkeys((_stem(questions), OFFICIAL))
    paths = (questions.with_name(f"{stem}_{WORD}{suffix}") for stem in stems for suffix in SUFFIXES)
    return next((path for path in paths if path != questions and isfile(path)), None)


def fits(texts: Path) -> bool:
    """Whether the first entry of a file, or its first line, is a text."""
    return _kind(texts) != ""


def _kind(texts: Path) -> str:
    """``lines``, ``entries`` for one object, or empty for a file without texts."""
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


def is_file_of_texts(path: Path) -> bool:
    """Whether a file in a folder of questions holds texts, by its name and first entry."""
    return WORD in path.name and (_has_official_name(path) or fits(path))


def _has_official_name(path: Path) -> bool:
    """Whether the name of a file is that of the texts for other files in its folder, or the released one."""
    stem = _stem(path).removesuffix(f"_{WORD}")
    if stem == _stem(path):
        return False
    return stem == OFFICIAL or any(isfile(path.with_name(f"{stem}{suffix}")) for suffix in SUFFIXES)


def _stem(path: Path) -> str:
    return path.name.split(".json")[0]


def read(path: Path, names: Collection[str]) -> dict[str, Passage]:
    """Id → passage, of the ids in ``names``. Raises InputError with file, line or id, and field.

    Memory: the passages of a file of lines; the whole file if it is one object.
    """
    passages = _lines(path) if _kind(path) == "lines" else _entries(path)
    return {passage.id: passage for passage in passages if passage.id in names} if names else {}


def _lines(path: Path) -> Iterator[Passage]:
    ids = Ids()
    for location, value in stream.values(path):
        line = validated(value, LINE, location)
        ids.add(line["evidence_id"], location, may_be_empty=True)
        yield Passage(id=line["evidence_id"], title=line.get("title"), text=line["contents"], extra=unknown_fields(line, Line))


def _entries(path: Path) -> Iterator[Passage]:
    for key, entry in stream.document(path, ENTRIES).items():
        yield Passage(id=key, title=entry.get("title"), text=entry["content"], extra=unknown_fields(entry, Entry))


class Texts:
    """A file of texts that is being written. Memory: the ids, and a hash for each."""

    def __init__(self, file: IO[str]) -> None:
        """Texts are written to ``file`` as they are added."""
        self._file = file
        self.hashes: dict[str, int] = {}
        """Id → hash of title and text. Python's own hash suffices, since hashes are compared in one process only."""

    def add(self, instance: Instance, extra: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Write the supporting paragraphs that are new; return paragraph id → id in the file.

        If another question's paragraph with the same id has another text, the id in the file is ``<question>#<paragraph>``.
        """
        names = {}
        for paragraph in instance.paragraphs:
            if paragraph.supporting:
                names[paragraph.id] = name = self._name(paragraph, instance.id)
                if name not in self.hashes:
                    self._write(name, paragraph, extra.get(paragraph.id, {}))
        return names

    def _name(self, paragraph: Paragraph, question: str) -> str:
        name, digest = paragraph.id, hash((paragraph.title, paragraph.text))
        while self.hashes.get(name, digest) != digest:
            name = f"{question}#{name}"
        return name

    def _write(self, name: str, paragraph: Paragraph, extra: Mapping[str, Any]) -> None:
        self.hashes[name] = hash((paragraph.title, paragraph.text))
        title = {} if paragraph.title is None else {"title": paragraph.title}
        line = {"evidence_id": name, **title, **extra, "contents": paragraph.text}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")


@contextmanager
def open_texts(questions: Path) -> Iterator[Texts]:
    """The file of texts for ``questions``, open for writing; it is removed if it stays empty."""
    path = questions.with_name(f"{_stem(questions)}_{WORD}.jsonl")
    with path.open("w", encoding="utf-8") as file:
        texts = Texts(file)
        yield texts
    if not texts.hashes:
        path.unlink()
