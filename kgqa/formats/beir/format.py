"""BEIR's folders: a corpus, queries, and for each split which texts are relevant to which query (Thakur et al. 2021).

A question's paragraphs are the texts that its judgements name, in their order; a score above 0 is a supporting paragraph. Of a question
without paragraphs, which no judgement is about, the query's ``metadata.kgqa`` says which split it is in. Questions share a
text of the corpus where id, title and text are equal. Where one id stands for two texts anywhere in a set, as where a format numbers the
paragraphs within each question, every id of that set becomes ``<question>#<paragraph>``. Answers and all else that retrieval knows nothing
of are in the query's ``metadata``, under ``kgqa``, which other tools pass over.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from kgqa.formats.json.types import encoded
from kgqa.formats.json.validate import Ids
from kgqa.records import SPLIT_NAMES, Instance, Paragraph
from kgqa.runs.scratch import remove

PURPOSE = "BEIR's folder for retrieval: corpus.jsonl, queries.jsonl, qrels/<split>.tsv"
SPOOL = ".questions"


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a folder with a corpus, queries and judgements."""
    return (path / "corpus.jsonl").is_file() and (path / "queries.jsonl").is_file() and (path / "qrels").is_dir()


def splits(path: Path) -> dict[str, Path]:
    """Split → its judgements; MissingInput where there are none."""
    return split_tables(path / "qrels")


def read(path: Path) -> Iterator[Instance]:
    """The Instances that the judgements in ``path`` are about, in their order, and those without paragraphs that say they are of its split.

    Memory: the split's judgements, its questions, and the texts that they name. Raises InputError with file, line and field.
    """
    folder, split = path.parent.parent, SPLIT_NAMES[path.stem]
    judged = judgements(path)
    named = {text for scores in judged.values() for text in scores}
    # Of a set without any paragraph the corpus is empty.
    texts = _found(folder / "corpus.jsonl", TEXT, lambda text: text["_id"] in named) if named else {}
    queries = _found(folder / "queries.jsonl", QUERY, lambda query: query["_id"] in judged or split_of(query) == split)
    if not (judged or queries):
        raise BrokenInput(f"{path.name}: the table holds no judgement; give one that does.")
    if not queries:
        raise UnknownId(f"{path.name}: none of its questions is in queries.jsonl; give the table that belongs to the queries.")
    # A judgement about a question that is not there belongs to none; the first one bears the fault.
    vain = [
        Fault(kind="absent-question", place=f"judgements.{query}", detail=f"{path.name} has it") for query in judged if query not in queries
    ]
    for id in _in_order((query for query in judged if query in queries), queries):  # noqa: A001 - what the field is called
        scores = {text: score for text, score in judged.get(id, {}).items() if text in texts}
        absent = {text: score for text, score in judged.get(id, {}).items() if text not in texts}
        where, query = queries[id]
        instance = from_parts(query, {text: texts[text][1] for text in scores}, scores, where, absent=absent)
        lost = [Fault(kind="absent-text", place=f"judgements.{text}", detail="corpus.jsonl has no such text") for text in absent]
        yield replace(instance, provenance=note_faults([*vain, *lost], beside=instance.provenance))
        vain = []


def _in_order(judged: Iterable[str], queries: Iterable[str]) -> Iterator[str]:
    """Those that are judged, each with the others that follow it in ``queries.jsonl``."""
    judged = list(judged)
    following: dict[str | None, list[str]] = {}
    known, last = set(judged), None
    for id in queries:  # noqa: A001 - what the field is called
        if id in known:
            last = id
        else:
            following.setdefault(last, []).append(id)
    for each in (None, *judged):
        yield from () if each is None else (each,)
        yield from following.get(each, ())


def _found(path: Path, kind: TypeAdapter[Any], wanted: Callable[[Any], bool]) -> dict[str, tuple[str, Any]]:
    """The records of ``path`` that are ``wanted``, by id, and where each stands."""
    ids = Ids()
    found = {}
    for where, record in stream.records(path, kind):
        if wanted(record):
            ids.add(record["_id"], where, may_be_empty=kind is TEXT)
            found[record["_id"]] = where, record
    return found


def write_folder(splits: Mapping[str, Iterable[Instance]], folder: Path) -> None:
    """Write all splits into the new ``folder``.

    Whether ids are shared is known only at the end, so the questions are kept in a file meanwhile. Memory: a hash for each text.
    """
    folder.mkdir()
    corpus = _Corpus()
    native.write_folder({split: corpus.watch(instances) for split, instances in splits.items()}, folder / SPOOL)
    naming = _qualified if corpus.clash else _own
    corpus.start()
    (folder / "qrels").mkdir()
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as texts, (folder / "queries.jsonl").open("w", encoding="utf-8") as queries:
        for split in splits:
            with (folder / "qrels" / f"{split}.tsv").open("w", encoding="utf-8", newline="") as file:
                table = csv.writer(file, delimiter="\t", lineterminator="\n")
                table.writerow(HEADER)
                for instance in native.read(folder / SPOOL / f"{split}.parquet"):
                    query, found, scores = to_parts(instance, naming, split)
                    queries.write(encoded(query) + "\n")
                    corpus.write(instance, found, texts)
                    judged = scores | notes_of(instance).get("absent", {})
                    table.writerows((instance.id, text, score) for text, score in judged.items())
    remove(folder / SPOOL)


def _own(_: Instance, paragraph: Paragraph) -> str:
    return paragraph.id


def _qualified(instance: Instance, paragraph: Paragraph) -> str:
    return f"{instance.id}#{paragraph.id}"


class _Corpus:
    """Which texts a folder holds already, and whether an id stands for two of them."""

    def __init__(self) -> None:
        self.clash = False
        self._digests: dict[str, bytes] = {}
        self._questions: set[str] = set()

    def watch(self, instances: Iterable[Instance]) -> Iterator[Instance]:
        """The same Instances; raises BrokenInput or DuplicateId for one that a folder cannot hold."""
        for instance in instances:
            self._check(instance)
            said = notes_of(instance)
            for paragraph in instance.paragraphs:
                digest = _digest(text_of(paragraph, paragraph.id, said))
                self.clash |= self._digests.setdefault(paragraph.id, digest) != digest
            yield instance

    def _check(self, instance: Instance) -> None:
        if any(set(id) & set("\t\r\n") for id in (instance.id, *(paragraph.id for paragraph in instance.paragraphs))):  # noqa: A001
            raise BrokenInput(f"instance {instance.id}: BEIR's tables hold no id with a tab or line break; give another one.")
        if instance.id in self._questions:
            raise DuplicateId(f"instance {instance.id}: this id is there twice, and BEIR has one file for all splits; give another one.")
        self._questions.add(instance.id)

    def start(self) -> None:
        """Nothing is written yet."""
        self._digests.clear()

    def write(self, instance: Instance, texts: Mapping[str, Text], file: IO[str]) -> None:
        """Add those of a question's ``texts`` that are not there yet."""
        for id, text in texts.items():  # noqa: A001 - what the field is called
            digest = _digest(text)
            found = self._digests.setdefault(id, digest)
            if found != digest:
                raise BrokenInput(f"instance {instance.id}: another question has another text with the id {id}; give one of them another.")
            if found is digest:
                file.write(encoded({**text, **({} if "metadata" in text else {"metadata": {}})}) + "\n")


def _digest(text: Text) -> bytes:
    return blake2b(json.dumps(text, ensure_ascii=False, sort_keys=True).encode(), digest_size=16).digest()
