"""A question as IIRC's official files have it, from an Instance of any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.formats.iirc.articles import MAIN, Articles
from kgqa.formats.iirc.outputs import BOOLEAN, LINKS
from kgqa.formats.iirc.records import NOTES, Notes, answers_of, key_of, titles_of
from kgqa.formats.json.validate import validated
from kgqa.formats.provenance import noted
from kgqa.records import Instance, Paragraph

NAME = "iirc"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A paragraph, and where it stands in the file."""

    title: str
    """What it is called there; ``main`` for the paragraph that the question was asked about."""
    key: str
    """What the notes call it."""
    sentence: bool
    """Whether it is one that the answerer marked and stands in the question itself; other linked texts are articles."""
    paragraph: Paragraph


def main_of(instance: Instance) -> Paragraph | None:
    """The paragraph that the question was asked about, else the first one."""
    found = next((paragraph for paragraph in instance.paragraphs if paragraph.id == MAIN), None)
    return found or next(iter(instance.paragraphs), None)


def notes_of(instance: Instance) -> Notes:
    """What this format noted; BrokenInput where that is not what it notes."""
    return validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance, {NAME!r}")


def to_question(instance: Instance, articles: Articles) -> dict[str, Any]:
    """The official question, whose linked texts are added to ``articles``; BrokenInput where its answer is not known."""
    notes, main = notes_of(instance), main_of(instance)
    articles.sought |= bool(notes.get("absent_articles"))
    shown = _shown(instance, main, notes, articles)
    context = _context(shown, notes)
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
    titles = list(dict.fromkeys(entry.title for entry in shown)) or [MAIN]
    if _expected(question, notes) != [key_of(title) for title in titles]:
        question["paragraphs"] = titles
    return question


def _expected(question: Mapping[str, Any], notes: Notes) -> list[str]:
    """What whoever reads the question would show, if he has no more articles than there were."""
    passages = [entry["passage"] for entry in question.get("context", [])]
    known = {key_of(title) for title in (MAIN, *passages, *notes.get("articles", []))}
    return [key_of(title) for title in titles_of(question) if key_of(title) in known]


def _shown(instance: Instance, main: Paragraph | None, notes: Notes, articles: Articles) -> list[_Shown]:
    whole = {key_of(title) for title in notes.get("articles", [])}
    marked = {(key_of(entry["passage"]), entry["text"]) for entry in notes.get("context", []) if key_of(entry["passage"]) not in whole}
    titles = [p.title if p.title is not None else f"{instance.id}/{p.id}" for p in instance.paragraphs]
    sentences = [
        p is not main and bool(p.supporting) and title != MAIN and (key_of(title), p.text) in marked
        for title, p in zip(titles, instance.paragraphs, strict=True)
    ]
    taken = {title.lower() for title, sentence in zip(titles, sentences, strict=True) if sentence}
    shown = []
    for title, sentence, p in zip(titles, sentences, instance.paragraphs, strict=True):
        name, key = title, key_of("Main" if title == MAIN else title)
        if p is main:
            name, key = MAIN, MAIN
        elif not sentence:
            name = articles.add(title, p.text, taken)
            taken.add(name.lower())
        shown.append(_Shown(title=name, key=key, sentence=sentence, paragraph=p))
    return shown


def _context(shown: Sequence[_Shown], notes: Notes) -> list[dict[str, Any]]:
    """What was marked in paragraphs that are still there and support the answer, then what supports it and has nothing marked."""
    supporting = [entry for entry in shown if entry.paragraph.supporting]
    kept: list[dict[str, Any]] = []
    done: set[str] = set()
    for evidence in notes.get("context", []):
        key = key_of(evidence["passage"])
        found = [entry for entry in supporting if entry.key == key and (not entry.sentence or entry.paragraph.text == evidence["text"])]
        if found:
            # In another case it is the same article; under another title it is one of two.
            passage = evidence["passage"] if key_of(found[0].title) == key else found[0].title
            kept.append({**evidence, "passage": passage})
            done.add(found[0].title)
    fresh = [
        {"text": entry.paragraph.text[start:end], "passage": entry.title, "indices": [start, end]}
        for entry in supporting
        if entry.title not in done
        for start, end in _places(entry.paragraph)
    ]
    return kept + fresh


def _places(paragraph: Paragraph) -> list[tuple[int, int]]:
    """Where the supporting sentences stand, or the whole paragraph where none is marked."""
    starts = paragraph.sentences or ()
    ends = (*starts[1:], len(paragraph.text))
    marks = (number for number in paragraph.supporting_sentences or () if 0 <= number < len(starts))
    return [(starts[number], ends[number]) for number in marks] or [(0, len(paragraph.text))]


def _answer(instance: Instance, notes: Notes) -> Mapping[str, Any]:
    """The answer as noted, where it still is what the Instance says; else its first answer, or all of several spans."""
    if instance.answerable and not instance.answers:
        raise BrokenInput(f"instance {instance.id}: its answer is not known, and IIRC has no place for that; leave the question out.")
    if "answer" in notes and answers_of(notes["answer"]).answers == (instance.answers if instance.answerable else ()):
        return notes["answer"]
    if not instance.answerable:
        return {"type": "none"}
    first = instance.answers[0].strip()
    if (instance.answer_type == "number" and first) or (instance.answer_type == "boolean" and first.lower() in BOOLEAN):
        return {"type": "value" if instance.answer_type == "number" else "binary", "answer_value": first}
    spans = instance.answers if instance.answer_type == "spans" else instance.answers[:1]
    return {"type": "span", "answer_spans": [{"text": span} for span in spans]}
