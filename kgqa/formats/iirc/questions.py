"""A question in the form of IIRC's official files, made from an Instance of any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.formats.iirc.articles import MAIN, Articles
from kgqa.formats.iirc.outputs import BOOLEAN, LINKS
from kgqa.formats.iirc.records import NOTES, IircNotes, answer_of, key_of, titles_of
from kgqa.formats.json.validate import validated
from kgqa.formats.provenance import noted
from kgqa.records import Instance, Paragraph

NAME = "iirc"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    """A paragraph and its place in the files."""

    title: str
    """Its title there; ``main`` for the paragraph that the question was written for."""
    key: str
    """Its key in the note."""
    is_sentence: bool
    """Whether it is a marked sentence, which the question itself holds; other linked texts are articles."""
    paragraph: Paragraph


def main_of(instance: Instance) -> Paragraph | None:
    """The paragraph that the question was written for, else the first one."""
    main = next((paragraph for paragraph in instance.paragraphs if paragraph.id == MAIN), None)
    return main or next(iter(instance.paragraphs), None)


def notes_of(instance: Instance) -> IircNotes:
    """The note of this format. Raises BrokenInput for a damaged one."""
    return validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance, {NAME!r}")


def to_question(instance: Instance, articles: Articles) -> dict[str, Any]:
    """The official question; its linked texts are added to ``articles``. Raises BrokenInput if the answer is unknown."""
    notes, main = notes_of(instance), main_of(instance)
    articles.is_needed |= bool(notes.get("absent_articles"))
    passages = _passages(instance, main, notes, articles)
    context = _context(passages, notes)
    question: dict[str, Any] = {
        **notes.get("question", {}),
        "qid": instance.id,
        "question": instance.question,
        "answer": _answer(instance, notes),
    }
    if "context" in notes or context:
        question["context"] = context
    if "question_links" in notes:
        question["question_links"] = notes["question_links"]
    if context and main is not None and main.supporting is None:
        question["context_covers"] = LINKS
    titles = list(dict.fromkeys(passage.title for passage in passages)) or [MAIN]
    if _default_titles(question, notes) != [key_of(title) for title in titles]:
        question["paragraphs"] = titles
    return question


def _default_titles(question: Mapping[str, Any], notes: IircNotes) -> list[str]:
    """Keys of the paragraphs that a parser would show for ``question`` with the articles that the original set had."""
    passages = [entry["passage"] for entry in question.get("context", [])]
    keys = {key_of(title) for title in (MAIN, *passages, *notes.get("articles", []))}
    return [key_of(title) for title in titles_of(question) if key_of(title) in keys]


def _passages(instance: Instance, main: Paragraph | None, notes: IircNotes, articles: Articles) -> list[_Passage]:
    """The place of each paragraph; texts that are neither the main paragraph nor marked sentences are added to ``articles``."""
    article_keys = {key_of(title) for title in notes.get("articles", [])}
    evidence = [(key_of(entry["passage"]), entry["text"]) for entry in notes.get("context", [])]
    marked_sentences = {(key, text) for key, text in evidence if key not in article_keys}
    titles = [p.title if p.title is not None else f"{instance.id}/{p.id}" for p in instance.paragraphs]
    is_sentence = [
        p is not main and bool(p.supporting) and title != MAIN and (key_of(title), p.text) in marked_sentences
        for title, p in zip(titles, instance.paragraphs, strict=True)
    ]
    used_titles = {title.lower() for title in compress(titles, is_sentence)}
    passages = []
    for title, sentence, p in zip(titles, is_sentence, instance.paragraphs, strict=True):
        name, key = title, key_of("Main" if title == MAIN else title)
        if p is main:
            name, key = MAIN, MAIN
        elif not sentence:
            name = articles.add(title, p.text, used_titles)
            used_titles.add(name.lower())
        passages.append(_Passage(title=name, key=key, is_sentence=sentence, paragraph=p))
    return passages


def _context(passages: Sequence[_Passage], notes: IircNotes) -> list[dict[str, Any]]:
    """Noted evidence whose paragraph still supports the answer, then new evidence for the other supporting paragraphs."""
    support = [passage for passage in passages if passage.paragraph.supporting]
    context: list[dict[str, Any]] = []
    titles: set[str] = set()
    for evidence in notes.get("context", []):
        key = key_of(evidence["passage"])
        matches = (entry for entry in support if entry.key == key and (not entry.is_sentence or entry.paragraph.text == evidence["text"]))
        passage = next(matches, None)
        if passage is not None:
            # Titles that differ in case only name one article; a title with "#2" names a second article.
            title = evidence["passage"] if key_of(passage.title) == key else passage.title
            context.append({**evidence, "passage": title})
            titles.add(passage.title)
    return context + [
        {"text": entry.paragraph.text[start:end], "passage": entry.title, "indices": [start, end]}
        for entry in support
        if entry.title not in titles
        for start, end in _offsets(entry.paragraph)
    ]


def _offsets(paragraph: Paragraph) -> list[tuple[int, int]]:
    """Start and end of each supporting sentence; of the whole paragraph if no sentence is marked."""
    starts = paragraph.sentences or ()
    ends = (*starts[1:], len(paragraph.text))
    marks = (number for number in paragraph.supporting_sentences or () if 0 <= number < len(starts))
    return [(starts[number], ends[number]) for number in marks] or [(0, len(paragraph.text))]


def _answer(instance: Instance, notes: IircNotes) -> Mapping[str, Any]:
    """The noted answer if it still agrees with the Instance, else its first answer, or all spans of one."""
    if instance.answerable and not instance.answers:
        raise BrokenInput(f"instance {instance.id}: its answer is not known, and IIRC has no place for that; leave the question out.")
    if "answer" in notes and answer_of(notes["answer"]).answers == (instance.answers if instance.answerable else ()):
        return notes["answer"]
    if not instance.answerable:
        return {"type": "none"}
    answer = instance.answers[0].strip()
    if (instance.answer_type == "number" and answer) or (instance.answer_type == "boolean" and answer.lower() in BOOLEAN):
        return {"type": "value" if instance.answer_type == "number" else "binary", "answer_value": answer}
    spans = instance.answers if instance.answer_type == "spans" else instance.answers[:1]
    return {"type": "span", "answer_spans": [{"text": span} for span in spans]}
