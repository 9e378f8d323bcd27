"""IIRC's JSON: a paragraph, its links, and questions that need the linked articles too (Ferguson et al. 2020).

A question's paragraphs are the one it was asked about, with the id ``main``, its links as mentions and the article's title; then the
articles behind the question's links, in the order in which its writer names them, as far as their texts stand in a file beside the
questions (:mod:`kgqa.formats.context_articles`). Of an article whose text does not, the sentences that the answerer marked in it are shown.
An id is the article's title, with ``#2`` or more where it is there twice. What a marked sentence stands in supports the answer; where none
is marked, as is usual for questions without an answer, nothing is known about support. Places of spans are noted and not compared with the
texts: in official files some are negative. A value is the answer without its unit; two or more spans are one answer. Answers that are not
what their type promises, links outside the paragraph, and sentences of an article that the file of articles has not, are noted as faults.

Read are also the records of :mod:`kgqa.formats.iirc_outputs`. Written is the official form, with two fields of ours where it has no place
for something: ``paragraphs``, the titles of what is shown, where links and marked sentences do not tell; and ``context_covers``, which is
``links`` where nothing is known about which parts of the main paragraph are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, MissingInput, SettingsError
from kgqa.formats import context_articles, reading
from kgqa.formats.context_articles import MAIN, Articles, fits
from kgqa.formats.faults import Fault, note_faults
from kgqa.formats.iirc_outputs import OUTPUT, official_question, type_fault
from kgqa.formats.iirc_questions import NAME, main_of, notes_of, to_question
from kgqa.formats.iirc_records import RECORD, SHOWN, Link, Question, Record, answers_of, key_of, titles_of
from kgqa.formats.provenance import note
from kgqa.formats.writing import write_list
from kgqa.records import Instance, Mention, Paragraph

__all__ = ["PURPOSE", "SUFFIX", "fits", "read", "recognises", "texts_beside", "write"]

PURPOSE = "IIRC's JSON: a paragraph with links, and questions that need the linked articles, in a file beside"
SUFFIX = ".json"
SHOWN_DIGITS = 20
"""Digits of a place that a fault shows."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are those of an official record or of a system's output."""
    return {"text", "questions"} <= record.keys() or {"original_paragraph", "context_retrieval", "qa"} <= record.keys()


def texts_beside(path: Path) -> Path | None:
    """The file of articles that by its name belongs to the questions in ``path``; the outputs of a system have none."""
    return None if _is_output(path) else context_articles.file(path)


def _is_output(path: Path) -> bool:
    return "original_paragraph" in reading.head(path)


def read(path: Path, texts: Path | None = None) -> Iterator[Instance]:
    """The Instances of one file, with the articles in ``texts``; memory: one record, the ids, and the articles that its questions name.

    The file is gone through twice where there is a file of articles: first for the titles, of which no other's text is kept. SettingsError
    where ``texts`` are named beside the outputs of a system.
    """
    if _is_output(path):
        if texts is not None:
            raise SettingsError(f"{path.name}: these are a system's outputs, which hold their own texts; leave out --paragraphs.")
        for number, (where, output) in enumerate(reading.records(path, OUTPUT)):
            yield from_question(official_question(output, number), {"text": output["original_paragraph"]}, None, where)
        return
    beside = texts or context_articles.file(path)
    articles = context_articles.read(beside, _named(path)) if beside and (texts or fits(beside)) else None
    ids = reading.Ids()
    empty = True
    for where, record in reading.records(path, RECORD):
        for number, question in enumerate(record["questions"]):
            empty = False
            ids.add(question["qid"], f"{where}.questions.{number}")
            yield from_question(question, record, articles, f"{where}, question {question['qid']}")
    if empty:
        raise BrokenInput(f"{path.name}: the file holds no question; give one that does.")


def _named(path: Path) -> set[str]:
    """The titles, in lower case, of all articles that the questions name."""
    questions = (question for _, record in reading.records(path, RECORD) for question in record["questions"])
    return {title.lower() for question in questions for title in titles_of(question)}


def from_question(question: Mapping[str, Any], record: Mapping[str, Any], articles: Mapping[str, str] | None, where: str) -> Instance:
    """The Instance of an official question about ``record``; ``articles`` are title in lower case → text, None where there is no file.

    MissingInput where a text is to be shown that is not there.
    """
    given = answers_of(question["answer"])
    links = record.get("links", [])
    placed = [_stands(link, record["text"]) for link in links]
    unplaced = [number for number, inside in enumerate(placed) if not inside]
    absent = [] if articles is None else [title for title in _marked(question) if title != MAIN and title.lower() not in articles]
    notes = {field: question[field] for field in ("answer", "context", "question_links") if field in question}
    rest = {
        "articles": [title for title in titles_of(question) if title != MAIN and title.lower() in (articles or ())],
        "absent_articles": absent,
        "unplaced_links": [links[number] for number in unplaced],
        "unplaced_at": [] if unplaced == list(range(len(links) - len(unplaced), len(links))) else unplaced,
        "record": {field: value for field, value in record.items() if field not in Record.__annotations__},
        "question": {field: value for field, value in question.items() if field not in Question.__annotations__},
    }
    mentions = tuple(
        Mention(entity=link["target"], start=link["indices"][0], end=link["indices"][1])
        for link, inside in zip(links, placed, strict=True)
        if inside
    )
    return Instance(
        id=question["qid"],
        question=question["question"],
        paragraphs=tuple(_paragraphs(question, record, mentions if "links" in record else None, articles or {}, where)),
        answers=given.answers,
        answer_id=None,
        answer_type=given.type,
        candidates=None,
        chains=None,
        decomposition=None,
        answerable=given.type != "none",
        group=question["qid"],
        provenance=note_faults(
            _faults(given.fault, question, record["text"], [(number, links[number]) for number in unplaced], absent),
            beside=note(NAME, {**notes, **{name: value for name, value in rest.items() if value}}),
        ),
    )


def _marked(question: Mapping[str, Any]) -> list[str]:
    """The titles of what sentences are marked in, each once."""
    return list(dict.fromkeys(entry["passage"] for entry in question.get("context", ())))


def _stands(link: Mapping[str, Any], text: str) -> bool:
    return _inside(link, text) and not link.keys() - Link.__annotations__.keys()


def _inside(link: Mapping[str, Any], text: str) -> bool:
    start, end = link["indices"]
    return bool(0 <= start <= end <= len(text))


def _faults(
    answer: Fault | None, question: Mapping[str, Any], text: str, unplaced: Sequence[tuple[int, Mapping[str, Any]]], absent: Sequence[str]
) -> Iterator[Fault]:
    """That of the ``answer``, and those of the question's type, of the record's ``unplaced`` links and of the ``absent`` articles."""
    if answer is not None:
        yield answer
    yield from type_fault(question)
    for number, link in unplaced:
        if not _inside(link, text):
            start, end = (str(place)[:SHOWN_DIGITS] for place in link["indices"])
            detail = f"the paragraph has {len(text):,} characters, and the link stands at {start} to {end}"
            yield Fault(kind="wrong-place", place=f"links.{number}.indices", detail=detail)
    passages = [entry["passage"] for entry in question.get("context", ())] if absent else []
    for title in absent:
        detail = f"sentences of {title[:SHOWN]!r} are marked, and its text is not among the articles"
        yield Fault(kind="absent-support", place=f"context.{passages.index(title)}.passage", detail=detail)


def _paragraphs(
    question: Mapping[str, Any],
    record: Mapping[str, Any],
    mentions: tuple[Mention, ...] | None,
    articles: Mapping[str, str],
    where: str,
) -> Iterator[Paragraph]:
    marked: dict[str, list[str]] = {}
    for entry in question.get("context", ()):
        marked.setdefault(key_of(entry["passage"]), []).append(entry["text"])
    used: set[str] = set()
    for title in titles_of(question):
        supporting = key_of(title) in marked if marked else None
        if title == MAIN:
            unknown = not supporting and "context_covers" in question
            yield _paragraph(MAIN, record.get("title"), record["text"], None if unknown else supporting, mentions)
            continue
        article = articles.get(title.lower())
        texts = marked.get(key_of(title), []) if article is None else [article]
        if not texts and "paragraphs" in question:
            raise MissingInput(
                f"{where}, field 'paragraphs': the text of {title[:80]!r} is not there; "
                f"put the file of context articles that was written with the questions beside them."
            )
        for text in texts:
            yield _paragraph(_unused(title, used), title, text, supporting, None)


def _unused(title: str, used: set[str]) -> str:
    found, number = title, 1
    while found in used:
        number += 1
        found = f"{title}#{number}"
    used.add(found)
    return found


def _paragraph(id: str, title: str | None, text: str, supporting: bool | None, mentions: tuple[Mention, ...] | None) -> Paragraph:  # noqa: A002
    return Paragraph(id=id, title=title, text=text, supporting=supporting, mentions=mentions, sentences=None, supporting_sentences=None)


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record, and the linked texts beside it; memory: one record and all linked texts.

    Neighbours with the same main paragraph form one record. BrokenInput for a question whose answer is not known.
    """
    articles = Articles()
    write_list((_record(list(group), articles) for _, group in groupby(instances, _shared)), path)
    articles.write(context_articles.beside(path))


def _shared(instance: Instance) -> tuple[str, dict[str, Any]]:
    """What the questions of one record have in common: text and all other fields."""
    main, notes = main_of(instance) or _paragraph(MAIN, None, "", None, None), notes_of(instance)
    fields: dict[str, Any] = {**notes.get("record", {}), "title": main.title}
    if main.mentions is not None:
        links: list[Any] = [{"target": mention.entity, "indices": [mention.start, mention.end]} for mention in main.mentions]
        for at, link in zip_longest(notes.get("unplaced_at", ()), notes.get("unplaced_links", ())):
            if link is not None:
                links.insert(len(links) if at is None else at, link)
        fields["links"] = links
    return main.text, fields


def _record(group: Sequence[Instance], articles: Articles) -> dict[str, Any]:
    text, fields = _shared(group[0])
    return {**fields, "text": text, "questions": [to_question(instance, articles) for instance in group]}
