"""IIRC's JSON: a paragraph, its links, and questions that need the linked articles too (Ferguson et al. 2020).

A question's paragraphs are the one it was asked about, with the id ``main``, its links as mentions and the article's title; then the
articles behind the question's links, in the order in which its writer names them, as far as their texts stand in a file beside the
questions (:mod:`kgqa.formats.iirc.articles`). Of an article whose text does not, the sentences that the answerer marked in it are shown.
An id is the article's title, with ``#2`` or more where it is there twice. What a marked sentence stands in supports the answer; where none
is marked, as is usual for questions without an answer, nothing is known about support. Places of spans are noted and not compared with the
texts: in official files some are negative. A value is the answer without its unit; two or more spans are one answer. Answers that are not
what their type promises, links outside the paragraph, and sentences of an article that the file of articles has not, are noted as faults.

Read are also the records of :mod:`kgqa.formats.iirc.outputs`. Written is the official form, with two fields of ours where it has no place
for something: ``paragraphs``, the titles of what is shown, where links and marked sentences do not tell; and ``context_covers``, which is
``links`` where nothing is known about which parts of the main paragraph are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, MissingInput, SettingsError
from kgqa.formats.faults import CHARACTERS, Fault, note_faults
from kgqa.formats.identifiers import unused
from kgqa.formats.iirc import articles as context_articles
from kgqa.formats.iirc.articles import MAIN, Articles, fits
from kgqa.formats.iirc.links import Links, links_of, to_links
from kgqa.formats.iirc.outputs import OUTPUT, official_question, type_fault
from kgqa.formats.iirc.questions import NAME, main_of, notes_of, to_question
from kgqa.formats.iirc.records import RECORD as OFFICIAL, Question, Record as OfficialRecord, answers_of, key_of, titles_of
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids
from kgqa.formats.json.write import write_list
from kgqa.formats.provenance import note, unknown_fields
from kgqa.records import Instance, Mention, Paragraph

__all__ = ["PURPOSE", "SUFFIX", "fits", "read", "recognises", "texts_beside", "write"]

PURPOSE = "IIRC's JSON: a paragraph with links, and questions that need the linked articles, in a file beside"
SUFFIX = ".json"


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are those of an official record or of a system's output."""
    return {"text", "questions"} <= record.keys() or {"original_paragraph", "context_retrieval", "qa"} <= record.keys()


def texts_beside(path: Path) -> Path | None:
    """The file of articles that by its name belongs to the questions in ``path``; outputs of a system need none."""
    return context_articles.file(path)


def read(path: Path, texts: Path | None = None) -> Iterator[Instance]:
    """The Instances of one file, with the articles in ``texts``; memory: one record, the ids, and the articles that its questions name.

    The file is gone through twice where there is a file of articles: first for the titles, of which no other's text is kept. SettingsError
    where ``texts`` are named beside the outputs of a system.
    """
    if "original_paragraph" in stream.head(path):
        if texts is not None:
            raise SettingsError(f"{path.name}: these are a system's outputs, which hold their own texts; leave out --paragraphs.")
        for number, (where, output) in enumerate(stream.records(path, OUTPUT)):
            paragraph = {"text": output["original_paragraph"]}
            yield from_question(official_question(output, number), paragraph, links_of(paragraph), None, where)
        return
    beside = texts or context_articles.file(path)
    articles = context_articles.read(beside, _named(path)) if beside and (texts or fits(beside)) else None
    ids = Ids()
    empty = True
    for where, record in stream.records(path, OFFICIAL):
        links = links_of(record)
        for number, question in enumerate(record["questions"]):
            empty = False
            ids.add(question["qid"], f"{where}.questions.{number}")
            yield from_question(question, record, links, articles, f"{where}, question {question['qid']}")
    if empty:
        raise BrokenInput(f"{path.name}: the file holds no question; give one that does.")


def _named(path: Path) -> set[str]:
    """The titles, in lower case, of all articles that the questions name."""
    questions = (question for _, record in stream.records(path, OFFICIAL) for question in record["questions"])
    return {title.lower() for question in questions for title in titles_of(question)}


def from_question(
    question: Mapping[str, Any], record: Mapping[str, Any], links: Links, articles: Mapping[str, str] | None, where: str
) -> Instance:
    """The Instance of an official question about ``record``, which has the ``links``.

    ``articles`` are title in lower case → text, None where there is no file of them. MissingInput where a text is to be shown that is not
    there.
    """
    given, titles = answers_of(question["answer"]), titles_of(question)
    absent = [] if articles is None else _absent(question, articles)
    notes = {field: question[field] for field in ("answer", "context", "question_links") if field in question}
    rest = {
        "articles": [title for title in titles if title != MAIN and title.lower() in articles] if articles else [],
        "absent_articles": [title for title, _ in absent],
        **links.notes,
        "record": unknown_fields(record, OfficialRecord),
        "question": unknown_fields(question, Question),
    }
    answer_faults = [given.fault] if given.fault else []
    return Instance(
        id=question["qid"],
        question=question["question"],
        paragraphs=tuple(_paragraphs(question, titles, record, links.mentions, articles or {}, where)),
        answers=given.answers,
        answer_type=given.type,
        answerable=given.type != "none",
        group=question["qid"],
        provenance=note_faults(
            [*answer_faults, *type_fault(question), *links.faults, *(fault for _, fault in absent)],
            beside=note(NAME, {**notes, **{name: value for name, value in rest.items() if value}}),
        ),
    )


def _absent(question: Mapping[str, Any], articles: Mapping[str, str]) -> list[tuple[str, Fault]]:
    """The titles in which sentences are marked and whose text is not among the articles, each with the fault that this is."""
    found: dict[str, Fault] = {}
    for number, entry in enumerate(question.get("context", ())):
        title = entry["passage"]
        if title != MAIN and title not in found and title.lower() not in articles:
            detail = f"sentences of {title[:CHARACTERS]!r} are marked, and its text is not among the articles"
            found[title] = Fault(kind="absent-support", place=f"context.{number}.passage", detail=detail)
    return list(found.items())


def _paragraphs(
    question: Mapping[str, Any],
    titles: Sequence[str],
    record: Mapping[str, Any],
    mentions: tuple[Mention, ...] | None,
    articles: Mapping[str, str],
    where: str,
) -> Iterator[Paragraph]:
    marked: dict[str, list[str]] = {}
    for entry in question.get("context", ()):
        marked.setdefault(key_of(entry["passage"]), []).append(entry["text"])
    used: set[str] = set()
    for title in titles:
        supporting = key_of(title) in marked if marked else None
        if title == MAIN:
            unknown = not supporting and "context_covers" in question
            yield Paragraph(
                id=MAIN, title=record.get("title"), text=record["text"], supporting=None if unknown else supporting, mentions=mentions
            )
            continue
        article = articles.get(title.lower())
        texts = marked.get(key_of(title), []) if article is None else [article]
        if not texts and "paragraphs" in question:
            raise MissingInput(
                f"{where}, field 'paragraphs': the text of {title[:80]!r} is not there; "
                "put the file of context articles next to the questions, or name it with --paragraphs."
            )
        for text in texts:
            yield Paragraph(id=unused(title, used), title=title, text=text, supporting=supporting)


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record, and the linked texts beside it; memory: one record and all linked texts.

    Neighbours with the same main paragraph form one record. BrokenInput for a question whose answer is not known.
    """
    articles = Articles()
    write_list((_record(list(group), articles) for _, group in groupby(instances, _shared)), path)
    articles.write(context_articles.beside(path))


def _shared(instance: Instance) -> tuple[str, dict[str, Any]]:
    """What the questions of one record have in common: text and all other fields."""
    main, notes = main_of(instance) or Paragraph(id=MAIN, title=None, text="", supporting=None), notes_of(instance)
    fields: dict[str, Any] = {**notes.get("record", {}), "title": main.title}
    if main.mentions is not None:
        fields["links"] = to_links(main.mentions, notes)
    return main.text, fields


def _record(group: Sequence[Instance], articles: Articles) -> dict[str, Any]:
    text, fields = _shared(group[0])
    return {**fields, "text": text, "questions": [to_question(instance, articles) for instance in group]}
