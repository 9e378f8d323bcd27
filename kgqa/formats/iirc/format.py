"""IIRC's JSON: a paragraph, its links, and questions that need the linked articles too (Ferguson et al. 2020).

A question's first paragraph is the passage that it was written for, with the id ``main``, the article's title, and its links as mentions.
Then come the linked articles that the question names, in its order. Their texts come from a separate file
(:mod:`kgqa.formats.iirc.articles`); if the file lacks an article, the sentences that the annotator marked in it are shown instead. An
article's id is its title, with ``#2`` and so on for repeated titles. A paragraph with a marked sentence supports the answer; without any
marked sentence, as in most unanswerable questions, support is unknown. Offsets of spans are noted, but not compared with the texts: in
official files some are negative. A value is the answer without its unit; several spans form one answer. Three kinds of fault are noted:
answers that contradict their type, links outside the paragraph, and marked sentences of an article that the file of articles lacks.

The parser also reads the records of :mod:`kgqa.formats.iirc.outputs`. Sets are written in the official form with two further fields:
``paragraphs``, the titles of the shown paragraphs, if links and marked sentences do not determine them; and ``context_covers`` with the
value ``links`` if it is unknown which sentences of the main paragraph are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, MissingInput, SettingsError
from kgqa.formats.faults import CHARACTERS, Fault, note_faults
from kgqa.formats.identifiers import free_name
from kgqa.formats.iirc import articles as context_articles
from kgqa.formats.iirc.articles import MAIN, Articles, fits
from kgqa.formats.iirc.outputs import OUTPUT, official_question, type_fault
from kgqa.formats.iirc.questions import NAME, main_of, notes_of, to_question
from kgqa.formats.iirc.records import (
    RECORD as OFFICIAL,
    IircQuestion,
    Links,
    Record as OfficialRecord,
    answer_of,
    key_of,
    links_of,
    titles_of,
    to_links,
)
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids
from kgqa.formats.json.write import write_list
from kgqa.formats.provenance import note, unknown_fields
from kgqa.records import Instance, Mention, Paragraph

__all__ = [
    "PURPOSE",
    "SUFFIX",
    "TEXTS_ARE_OPTIONAL",
    "TEXTS_WORD",
    "fits",
    "is_file_of_texts",
    "read",
    "recognises",
    "texts_beside",
    "write",
]

PURPOSE = "IIRC's JSON: a paragraph with links, and questions that need the linked articles, in a file beside"
SUFFIX = ".json"
TEXTS_WORD = context_articles.WORD
TEXTS_ARE_OPTIONAL = False


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are those of an official record or of a system's output."""
    return {"text", "questions"} <= record.keys() or {"original_paragraph", "context_retrieval", "qa"} <= record.keys()


def texts_beside(path: Path) -> Path | None:
    """The file of articles whose name belongs to the questions in ``path``; outputs of a system need no such file."""
    return context_articles.file(path)


def is_file_of_texts(path: Path) -> bool:
    """Whether a file in a folder of questions holds articles; its name alone decides."""
    return TEXTS_WORD in path.name


def read(path: Path, texts: Path | None = None) -> Iterator[Instance]:
    """The Instances of one file, with the articles in ``texts``. Memory: one record, the ids, and the articles that its questions name.

    With a file of articles, the questions are read twice, first for the titles whose texts are needed. Raises SettingsError for ``texts``
    of a system's outputs.
    """
    if "original_paragraph" in stream.head(path):
        if texts is not None:
            raise SettingsError(f"{path.name}: these are a system's outputs, which hold their own texts; leave out --paragraphs.")
        for number, (location, output) in enumerate(stream.records(path, OUTPUT)):
            paragraph = {"text": output["original_paragraph"]}
            yield from_question(official_question(output, number), paragraph, links_of(paragraph), None, location)
        return
    articles_file = texts or context_articles.file(path)
    articles = context_articles.read(articles_file, _article_titles(path)) if articles_file and (texts or fits(articles_file)) else None
    ids = Ids()
    is_empty = True
    for location, record in stream.records(path, OFFICIAL):
        links = links_of(record)
        for number, question in enumerate(record["questions"]):
            is_empty = False
            ids.add(question["qid"], f"{location}.questions.{number}")
            yield from_question(question, record, links, articles, f"{location}, question {question['qid']}")
    if is_empty:
        raise BrokenInput(f"{path.name}: the file has no questions; choose one that has.")


def _article_titles(path: Path) -> set[str]:
    """The titles, in lower case, of all articles that the questions name."""
    questions = (question for _, record in stream.records(path, OFFICIAL) for question in record["questions"])
    return {title.lower() for question in questions for title in titles_of(question)}


def from_question(
    question: Mapping[str, Any], record: Mapping[str, Any], links: Links, articles: Mapping[str, str] | None, location: str
) -> Instance:
    """The Instance of an official question about ``record``, which has the ``links``.

    ``articles``: title in lower case → text; None without a file of articles. Raises MissingInput for a paragraph without text.
    """
    answer, titles = answer_of(question["answer"]), titles_of(question)
    absent = [] if articles is None else _absent(question, articles)
    notes = {field: question[field] for field in ("answer", "context", "question_links") if field in question}
    optional_notes = {
        "articles": [title for title in titles if title != MAIN and title.lower() in articles] if articles else [],
        "absent_articles": [title for title, _ in absent],
        **links.notes,
        "record": unknown_fields(record, OfficialRecord),
        "question": unknown_fields(question, IircQuestion),
    }
    answer_faults = [answer.fault] if answer.fault else []
    return Instance(
        id=question["qid"],
        question=question["question"],
        paragraphs=tuple(_paragraphs(question, titles, record, links.mentions, articles or {}, location)),
        answers=answer.answers,
        answer_type=answer.type,
        answerable=answer.type != "none",
        group=question["qid"],
        provenance=note_faults(
            [*answer_faults, *type_fault(question), *links.faults, *(fault for _, fault in absent)],
            beside=note(NAME, {**notes, **{name: value for name, value in optional_notes.items() if value}}),
        ),
    )


def _absent(question: Mapping[str, Any], articles: Mapping[str, str]) -> list[tuple[str, Fault]]:
    """Title and fault of each article with marked sentences whose text is missing."""
    faults: dict[str, Fault] = {}
    for number, entry in enumerate(question.get("context", ())):
        title = entry["passage"]
        if title != MAIN and title not in faults and title.lower() not in articles:
            detail = f"sentences of {title[:CHARACTERS]!r} are marked, and its text is not among the articles"
            faults[title] = Fault(kind="absent-support", place=f"context.{number}.passage", detail=detail)
    return list(faults.items())


def _paragraphs(
    question: Mapping[str, Any],
    titles: Sequence[str],
    record: Mapping[str, Any],
    mentions: tuple[Mention, ...] | None,
    articles: Mapping[str, str],
    location: str,
) -> Iterator[Paragraph]:
    sentences: dict[str, list[str]] = {}
    for entry in question.get("context", ()):
        sentences.setdefault(key_of(entry["passage"]), []).append(entry["text"])
    ids: set[str] = set()
    for title in titles:
        support = key_of(title) in sentences if sentences else None
        if title == MAIN:
            is_unknown = not support and "context_covers" in question
            yield Paragraph(
                id=MAIN, title=record.get("title"), text=record["text"], supporting=None if is_unknown else support, mentions=mentions
            )
            continue
        article = articles.get(title.lower())
        texts = sentences.get(key_of(title), []) if article is None else [article]
        if not texts and "paragraphs" in question:
            raise MissingInput(
                f"{location}, field 'paragraphs': the text of {title[:80]!r} is not there; "
                "put the file of context articles next to the questions, or name it with --paragraphs."
            )
        for text in texts:
            yield Paragraph(id=free_name(title, ids), title=title, text=text, supporting=support)


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record, and the linked texts to a second file. Memory: one record and all linked texts.

    Consecutive questions with the same main paragraph form one record. Raises BrokenInput for a question with an unknown answer.
    """
    articles = Articles()
    write_list((_record(list(group), articles) for _, group in groupby(instances, _passage_fields)), path)
    articles.write(context_articles.beside(path))


def _passage_fields(instance: Instance) -> tuple[str, dict[str, Any]]:
    """Text and other fields of the main paragraph, which all questions of one record share."""
    main, notes = main_of(instance) or Paragraph(id=MAIN, title=None, text="", supporting=None), notes_of(instance)
    fields: dict[str, Any] = {**notes.get("record", {}), "title": main.title}
    if main.mentions is not None:
        fields["links"] = to_links(main.mentions, notes)
    return main.text, fields


def _record(group: Sequence[Instance], articles: Articles) -> dict[str, Any]:
    text, fields = _passage_fields(group[0])
    return {**fields, "text": text, "questions": [to_question(instance, articles) for instance in group]}
