"""A corpus of paragraphs to search for evidence, and the terms that prime question writers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.draws import Reservoir
from kgqa.arrays.sentences import sentence_starts
from kgqa.errors import BrokenInput, DuplicateId, EmptyResult, MissingInput, UnknownId, storage_errors
from kgqa.formats.json import stream
from kgqa.formats.question_set import open_dataset
from kgqa.records import Paragraph
from kgqa.retrieval.bm25 import Bm25
from kgqa.runs.workspace import Workspace
from kgqa.sources.delimited import read_json_lines, read_tab_separated

LINES = (("id", "text"), ("_id", "text"), ("evidence_id", "contents"))
"""The fields with the id and the text of a file of paragraphs: kgqa's sources, BEIR's corpus, and the texts of StrategyQA's evidence."""
TERMS = ("term", "label", "title")
"""Columns that hold the terms of a file."""
SOURCES = "read_sources"
"""The stage of a workspace that writes its entities and documents."""


class Corpus:
    """Paragraphs with ids of their own, and a BM25 index that is built when it is first needed; safe to use from several threads."""

    def __init__(self, table: pa.Table) -> None:
        """``table`` has the text columns ``id`` (unique), ``title`` and ``text``."""
        self.table = table
        self._rows: dict[str, int] | None = None
        self._index: Bm25 | None = None
        self._finding, self._searching = Lock(), Lock()  # a paragraph is found while the index is being built

    def __len__(self) -> int:
        """The number of paragraphs."""
        return int(self.table.num_rows)

    def find(self, id: str) -> Paragraph:  # noqa: A002 - what it is
        """The paragraph with an id. Raises UnknownId."""
        with self._finding:
            if self._rows is None:
                self._rows = {name: row for row, name in enumerate(self.table["id"].to_pylist())}
        row = self._rows.get(id)
        if row is None:
            raise UnknownId(f"{id!r} is not a paragraph of the corpus; choose one that the search finds.")
        return self._paragraph(row)

    def search(self, query: str, limit: int) -> list[Paragraph]:
        """The best paragraphs by BM25 over title and text, best first."""
        with self._searching:  # which builds it once, while others wait
            if self._index is None:
                self._index = Bm25(pc.binary_join_element_wise(self.table["title"], self.table["text"], "\n"))
            index = self._index
        rows, _ = index.search(index.queries(pa.array([query])), limit)
        return [self._paragraph(row) for row in rows[0].tolist() if row >= 0]

    def _paragraph(self, row: int) -> Paragraph:
        values: dict[str, Any] = {name: self.table[name][row].as_py() for name in ("id", "title", "text")}
        return Paragraph(**{**values, "title": values["title"] or None}, supporting=None)


def read_corpus(path: Path) -> Corpus:
    """The documents of a workspace, the lines of a file of paragraphs, or the distinct paragraphs of a question set.

    Memory: all texts. Raises InputError, EmptyResult for a corpus without texts.
    """
    if not path.exists():
        raise MissingInput(f"{path}: there is no such file or folder; give a workspace, a file of paragraphs or a question set as data.")
    workspace = Workspace(path)
    if path.is_dir() and workspace.has_record(SOURCES):
        workspace.check_tables(SOURCES)
        table = workspace.read_table("documents", columns=["id", "title", "text"])
        table = pa.table({name: table[name].cast(pa.string()) for name in table.column_names})
    else:
        fields = None if path.is_dir() else _fields(path)
        table = _of_questions(path) if fields is None else _of_lines(path, *fields)
    table = table.filter(pc.not_equal(pc.utf8_trim_whitespace(table["text"]), ""))
    if not len(table):
        raise EmptyResult(f"{path}: there are no paragraphs in it; give a corpus with texts as data.")
    repeated = [name for name, count in Counter(table["id"].to_pylist()).items() if count > 1]
    if repeated:
        raise DuplicateId(f"{path}: the id {repeated[0]} belongs to two paragraphs; give each paragraph its own id.")
    return Corpus(pa.table({name: pc.fill_null(table[name], "").combine_chunks() for name in ("id", "title", "text")}))


def _fields(path: Path) -> tuple[str, str] | None:
    """The names of id and text in a file of paragraphs; None for another file."""
    with storage_errors(path):
        try:
            first = stream.head(path)
        except BrokenInput:
            return None
    return next((fields for fields in LINES if all(isinstance(first.get(field), str) for field in fields)), None)


def _of_lines(path: Path, name: str, text: str) -> pa.Table:
    with storage_errors(path):
        table = read_json_lines(path, (name, "title", text) if "title" in stream.head(path) else (name, text))
    titles = table["title"] if "title" in table.column_names else pa.array([""] * len(table), pa.string())
    return pa.table({"id": table[name], "title": titles, "text": table[text]})


def _of_questions(path: Path) -> pa.Table:
    """The distinct paragraphs of a question set, in their order.

    Ids that different paragraphs share, as in sets that number the paragraphs of each question, become title and number: ``Weir-2``.
    """
    paragraphs: dict[tuple[str, str], str] = {}
    for instance in open_dataset(path).instances():
        for paragraph in instance.paragraphs:
            paragraphs.setdefault((paragraph.title or "", paragraph.text), paragraph.id)
    ids = list(paragraphs.values())
    if len(set(ids)) < len(ids):
        numbers = Counter[str]()
        ids = []
        for title, _ in paragraphs:
            numbers[title] += 1
            ids.append(f"{title}-{numbers[title]}")
    titles, texts = zip(*paragraphs, strict=True) if paragraphs else ((), ())
    return pa.table({"id": pa.array(ids, pa.string()), "title": pa.array(titles, pa.string()), "text": pa.array(texts, pa.string())})


def draw_terms(path: Path | None, corpus: Corpus, *, count: int, seed: int) -> list[tuple[str, str]]:
    """``count`` random terms with their short descriptions, or all of them, in random order.

    They come from a file (tab-separated with a header, or JSON lines, with ``term``, ``label`` or ``title``, and ``description``), from the
    entities of a workspace, or by default from the titles of the ``corpus``, each described by the first sentence of its first paragraph.
    The draw depends on the terms and the seed only, not on their order. Raises InputError, EmptyResult.
    """
    table = _titles(corpus) if path is None else _terms(path)
    reservoir: Reservoir[tuple[str, str]] = Reservoir(count, purpose="strategy terms", seed=seed, order=lambda pair: pair)
    for term, description in zip(table["term"].to_pylist(), table["description"].to_pylist(), strict=True):
        if term := " ".join(term.split()):
            reservoir.add(term, (term, " ".join(description.split())))
    if not reservoir.values():
        raise EmptyResult(f"{path or 'the corpus'}: there are no terms in it; give a list of terms with descriptions.")
    return reservoir.values()


def _terms(path: Path) -> pa.Table:
    if not path.exists():
        raise MissingInput(f"{path}: there is no such file or folder; give a table of terms with descriptions, or a workspace.")
    if path.is_dir():
        if not Workspace(path).has_record(SOURCES):
            raise MissingInput(f"{path}: this folder is not a workspace with entities; give one, or a table of terms with descriptions.")
        Workspace(path).check_tables(SOURCES)
        table = Workspace(path).read_table("entities", columns=["label", "description"])
        return pa.table({"term": table["label"].cast(pa.string()), "description": table["description"].cast(pa.string())})
    with storage_errors(path):
        is_json = ".json" in path.name
        columns = stream.head(path) if is_json else _header(path)
        column = next((name for name in TERMS if name in columns), None)
        if column is None:
            raise MissingInput(f"{path}: none of the columns {', '.join(TERMS)} is in it; rename the column of the terms to one of these.")
        if is_json:
            table = read_json_lines(path, (column, "description") if "description" in columns else (column,))
        else:
            table = read_tab_separated(path, (column, "description"), optional=("description",))
    descriptions = table["description"] if "description" in table.column_names else pa.array([""] * len(table), pa.string())
    return pa.table({"term": table[column], "description": descriptions})


def _header(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.readline(1 << 20).decode("utf-8-sig", "replace").rstrip("\r\n").split("\t")


def _titles(corpus: Corpus) -> pa.Table:
    """The titles of a corpus with the first sentence of the first paragraph of each."""
    first_rows: dict[str, int] = {}
    for row, title in enumerate(corpus.table["title"].to_pylist()):
        first_rows.setdefault(title, row)
    texts = pa.chunked_array([corpus.table["text"].take(pa.array(list(first_rows.values()), pa.int64()))])
    starts = sentence_starts(texts)
    sentences = [
        text[: starts.targets[begin + 1]] if end - begin > 1 else text
        for text, begin, end in zip(texts.to_pylist(), starts.offsets[:-1].tolist(), starts.offsets[1:].tolist(), strict=True)
    ]
    return pa.table({"term": pa.array(list(first_rows), pa.string()), "description": pa.array(sentences, pa.string())})
