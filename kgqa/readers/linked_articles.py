"""A question on a passage with links: which articles the links lead to, and what of these the question needs (Ferguson et al. 2020).

A link is a mention in the passage whose entity is the title of an article; titles are compared without case, as in IIRC's files. The
passage is the paragraph ``main``, else the first one. The other paragraphs are articles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kgqa.formats.iirc.questions import main_of, notes_of
from kgqa.readers.answers import occurrences
from kgqa.records import Candidate, Instance, Paragraph

AT = "@"
"""Separates the id of an article from the characters of a part of it."""


def title_key(title: str | None) -> str:
    """What all spellings of a title share."""
    return (title or "").lower()


def articles_of(instance: Instance) -> tuple[Paragraph, ...]:
    """The paragraphs besides the passage."""
    passage = main_of(instance)
    return tuple(paragraph for paragraph in instance.paragraphs if paragraph is not passage)


def link_targets(instance: Instance) -> dict[str, str]:
    """Key of a title → the title, for the articles to which the passage links, in the order of the links."""
    passage = main_of(instance)
    titles: dict[str, str] = {}
    for mention in (passage.mentions or ()) if passage is not None else ():
        titles.setdefault(title_key(mention.entity), mention.entity)
    return titles


def needed_links(instance: Instance) -> frozenset[str] | None:
    """Keys of the articles that the question needs: those that support the answer, else the noted ``question_links``; None if unknown."""
    articles = articles_of(instance)
    if supporting := [title_key(article.title) for article in articles if article.supporting]:
        return frozenset(supporting)
    links = notes_of(instance).get("question_links")
    if links is not None:
        return frozenset(map(title_key, links))
    return frozenset() if articles and all(article.supporting is False for article in articles) else None


def link_question(instance: Instance) -> Instance:
    """The question with its passage alone, and the articles to which that links as candidates; without any answer."""
    passage = main_of(instance)
    targets = link_targets(instance)
    if passage is not None:
        links = tuple(replace(mention, entity=title_key(mention.entity)) for mention in passage.mentions or ())
        passage = replace(passage, mentions=links, sentences=None, supporting_sentences=None)
    return replace(
        instance,
        paragraphs=() if passage is None else (passage,),
        candidates=tuple(Candidate(id=key, text=title) for key, title in targets.items()),
        answers=(), alternatives=None, answer_id=None, chains=None, grades=None,
    )  # fmt: skip


def evidence_places(instance: Instance, article: Paragraph) -> list[tuple[int, int]]:
    """Start and end, in characters, of what the question needs of ``article``; empty if that is nothing or unknown.

    These are the marked sentences; else the sentences that IIRC's annotators marked, where they stand in the text; else the answer; else
    all of a supporting article.
    """
    if not article.supporting:
        return []
    if article.supporting_sentences and article.sentences:
        ends = (*article.sentences[1:], len(article.text))
        return [(article.sentences[number], ends[number]) for number in article.supporting_sentences]
    key = title_key(article.title)
    marked = [entry["text"].strip() for entry in notes_of(instance).get("context", ()) if title_key(entry["passage"]) == key]
    places = [(at, at + len(text)) for text in marked if text and (at := article.text.find(text)) >= 0]
    places = places or [place for answer in instance.answers for place in occurrences(answer, article.text)]
    return places or [(0, len(article.text))]


def part_of(article: Paragraph, start: int, end: int, *, supporting: bool | None) -> Paragraph:
    """The characters ``start`` to ``end`` of an article as a paragraph of its own."""
    return Paragraph(id=f"{article.id}{AT}{start}-{end}", title=article.title, text=article.text[start:end], supporting=supporting)


def whole_of(part_id: str) -> str:
    """The id of the article that a part belongs to; any other id stays.

    >>> whole_of("salamanca@120-480"), whole_of("main")
    ('salamanca', 'main')
    """
    return part_id.rpartition(AT)[0] or part_id


def linked_articles(instance: Instance, keys: frozenset[str], texts: Mapping[str, str]) -> tuple[Paragraph, ...]:
    """The articles of these titles: those that the question shows, then others from ``texts`` (key of a title → text).

    A title without an article gives nothing.
    """
    articles = tuple(article for article in articles_of(instance) if title_key(article.title) in keys)
    absent = keys - {title_key(article.title) for article in articles}
    titles = link_targets(instance)
    ids = {paragraph.id for paragraph in instance.paragraphs}
    other_links = (
        Paragraph(id=titles.get(key, key), title=titles.get(key, key), text=texts[key], supporting=None)
        for key in sorted(absent)
        if key in texts
    )
    return (*articles, *(article for article in other_links if article.id not in ids))
