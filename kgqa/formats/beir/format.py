"""BEIR's folders: a corpus, queries, and relevance judgements for each split (Thakur et al. 2021).

A question's paragraphs are the texts that its judgements name, in their order; a score above 0 marks a supporting paragraph. A question
without paragraphs has no judgements, so the query's ``metadata.kgqa`` names its split. Questions share a text of the corpus if id, title
and text are equal. If one id has two texts anywhere in a set, every id of that set becomes ``<question>#<paragraph>``; this happens with
formats that number the paragraphs of each question. Answers and all other fields that retrieval lacks go into the query's ``metadata``,
under ``kgqa``, which other programs ignore.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId, UnknownId
from kgqa.formats import native
from kgqa.formats.beir.judgements import HEADER, judgements, split_tables
from kgqa.formats.beir.question import QUERY, TEXT, Text, from_parts, notes_of, split_of, text_of, to_parts
from kgqa.formats.faults import Fault, note_faults
from kgqa.formats.json import stream
from kgqa.formats.json.types import encode
from kgqa.formats.json.validate import Ids
from kgqa.records import SPLIT_NAMES, Instance, Paragraph
from kgqa.runs.scratch import remove

PURPOSE = "BEIR's folder for retrieval: corpus.jsonl, queries.jsonl, qrels/<split>.tsv"
SPOOL = ".questions"
FOR_RETRIEVAL = True
"""Sets for retrieval have no answers, so nobody hides them."""


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a folder with a corpus, queries and judgements."""
    return (path / "corpus.jsonl").is_file() and (path / "queries.jsonl").is_file() and (path / "qrels").is_dir()


def splits(path: Path) -> dict[str, Path]:
    """Split → its table of judgements. Raises MissingInput if the folder has no table."""
    return split_tables(path / "qrels")


def files_of(path: Path) -> list[Path]:
    """The judgements in ``path``, and the queries and the corpus, which all splits share."""
    folder = path.parent.parent
    return [path, folder / "queries.jsonl", folder / "corpus.jsonl"]


def read(path: Path) -> Iterator[Instance]:
    """The Instances of the split whose judgements are in ``path``, in their order, including questions without paragraphs.

    Memory: the split's judgements and questions, and the texts that they name. Raises InputError with file, line and field.
    """
    folder, split = path.parent.parent, SPLIT_NAMES[path.stem]
    scores_of = judgements(path)
    text_ids = {text for scores in scores_of.values() for text in scores}
    # The corpus of a set without paragraphs is empty, which the reader of records would refuse.
    texts = _records(folder / "corpus.jsonl", TEXT, lambda text: text["_id"] in text_ids) if text_ids else {}
    queries = _records(folder / "queries.jsonl", QUERY, lambda query: query["_id"] in scores_of or split_of(query) == split)
    if not (scores_of or queries):
        raise BrokenInput(f"{path.name}: the table has no judgements; choose one that has.")
    if not queries:
        raise UnknownId(f"{path.name}: none of its questions is in queries.jsonl; give the table that belongs to the queries.")
    # A judgement of an absent question belongs to no Instance, so the first Instance carries the fault.
    orphans = [
        Fault(kind="absent-question", place=f"judgements.{query}", detail=f"{path.name} has it")
        for query in scores_of
        if query not in queries
    ]
    for name in _in_order([query for query in scores_of if query in queries], queries):
        scores = {text: score for text, score in scores_of.get(name, {}).items() if text in texts}
        absent = {text: score for text, score in scores_of.get(name, {}).items() if text not in texts}
        location, query = queries[name]
        instance = from_parts(query, {text: texts[text][1] for text in scores}, scores, location, absent=absent)
        faults = [Fault(kind="absent-text", place=f"judgements.{text}", detail="corpus.jsonl has no such text") for text in absent]
        yield replace(instance, provenance=note_faults([*orphans, *faults], beside=instance.provenance))
        orphans = []


def _in_order(query_ids: Sequence[str], queries: Iterable[str]) -> Iterator[str]:
    """The judged questions, each followed by the questions without judgements after it in ``queries.jsonl``."""
    followers: dict[str | None, list[str]] = {}
    names, last_place = set(query_ids), None
    for name in queries:
        if name in names:
            last_place = name
        else:
            followers.setdefault(last_place, []).append(name)
    yield from followers.get(None, ())
    for name in query_ids:
        yield from (name, *followers.get(name, ()))


def _records(path: Path, kind: TypeAdapter[Any], is_needed: Callable[[Any], bool]) -> dict[str, tuple[str, Any]]:
    """Id → place in the file, and record, of the records in ``path`` for which ``is_needed`` holds."""
    ids = Ids()
    records = {}
    for location, record in stream.records(path, kind):
        if is_needed(record):
            ids.add(record["_id"], location, may_be_empty=kind is TEXT)
            records[record["_id"]] = location, record
    return records


def write_folder(splits: Mapping[str, Iterable[Instance]], folder: Path) -> None:
    """Write all splits into the new ``folder``.

    Only after the last question is it known whether an id has two texts, so all questions go to a temporary file first. Memory: a hash for
    each text.
    """
    folder.mkdir()
    corpus = _Corpus()
    native.write_folder({split: corpus.watch(instances) for split, instances in splits.items()}, folder / SPOOL)
    naming = _qualified_id if corpus.clash else _plain_id
    corpus.start()
    (folder / "qrels").mkdir()
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as texts, (folder / "queries.jsonl").open("w", encoding="utf-8") as queries:
        for split in splits:
            with (folder / "qrels" / f"{split}.tsv").open("w", encoding="utf-8", newline="") as file:
                table = csv.writer(file, delimiter="\t", lineterminator="\n")
                table.writerow(HEADER)
                for instance in native.read(folder / SPOOL / f"{split}.parquet"):
                    query, shown_texts, scores = to_parts(instance, naming, split)
                    queries.write(encode(query) + "\n")
                    corpus.write(instance, shown_texts, texts)
                    scores |= notes_of(instance).get("absent", {})
                    table.writerows((instance.id, text, score) for text, score in scores.items())
    remove(folder / SPOOL)


def _plain_id(_: Instance, paragraph: Paragraph) -> str:
    return paragraph.id


def _qualified_id(instance: Instance, paragraph: Paragraph) -> str:
    return f"{instance.id}#{paragraph.id}"


class _Corpus:
    """The texts of a corpus, by their hashes: to write each once, and to see whether an id has two texts (``clash``)."""

    def __init__(self) -> None:
        self.clash = False
        self._digests: dict[str, bytes] = {}
        self._questions: set[str] = set()

    def watch(self, instances: Iterable[Instance]) -> Iterator[Instance]:
        """Pass the Instances through and record their texts; BrokenInput or DuplicateId for a question that a folder cannot hold."""
        for instance in instances:
            self._check(instance)
            notes = notes_of(instance)
            for paragraph in instance.paragraphs:
                digest = _digest(text_of(paragraph, paragraph.id, notes))
                self.clash |= self._digests.setdefault(paragraph.id, digest) != digest
            yield instance

    def _check(self, instance: Instance) -> None:
        if any(set(name) & set("\t\r\n") for name in (instance.id, *(paragraph.id for paragraph in instance.paragraphs))):
            raise BrokenInput(f"instance {instance.id}: BEIR's tables cannot contain an id with a tab or line break; choose another one.")
        if instance.id in self._questions:
            raise DuplicateId(f"instance {instance.id}: this id occurs twice, and BEIR has one file for all splits; choose another one.")
        self._questions.add(instance.id)

    def start(self) -> None:
        """Forget the texts that were recorded, before the first one is written."""
        self._digests.clear()

    def write(self, instance: Instance, texts: Mapping[str, Text], file: IO[str]) -> None:
        """Write those of a question's ``texts`` that are new; BrokenInput if another text has the same id."""
        for name, text in texts.items():
            digest = _digest(text)
            first_digest = self._digests.setdefault(name, digest)
            if first_digest != digest:
                raise BrokenInput(
                    f"instance {instance.id}: another question has another text with the id {name}; give one of them another."
                )
            if first_digest is digest:
                file.write(encode({**text, **({} if "metadata" in text else {"metadata": {}})}) + "\n")


def _digest(text: Text) -> bytes:
    return blake2b(json.dumps(text, ensure_ascii=False, sort_keys=True).encode(), digest_size=16).digest()
