"""One question in BEIR's form: a query, the texts judged for it, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, cast

from pydantic import TypeAdapter

from kgqa.formats.beir.judgements import Scores
from kgqa.formats.instance_json import KEY, UNKNOWN_FIELDS, FurtherFields, from_row, further_fields, provenance_of
from kgqa.formats.json.validate import Closed, Open, validated
from kgqa.formats.provenance import note, noted, unknown_fields
from kgqa.records import Instance, Paragraph

NAME = "beir"
Naming = Callable[[Instance, Paragraph], str]
"""Gives the id of a question's paragraph in the corpus."""


class Text(Open):
    """One text of the corpus."""

    _id: str
    text: str
    title: NotRequired[str]


class QueryFields(FurtherFields):
    """kgqa's fields in a query's metadata; ``split`` only for a question without paragraphs, which no table names."""

    split: NotRequired[Literal["train", "dev", "test"]]


class Metadata(Open):
    """The metadata of a query; BEIR allows any fields."""

    kgqa: NotRequired[QueryFields]


class Query(Open):
    """A line of ``queries.jsonl``."""

    _id: str
    text: str
    metadata: NotRequired[Metadata]


class BeirNotes(Closed, total=False):
    """A question's note under ``NAME``: fields of BEIR's files that the normal form lacks."""

    metadata: dict[str, Any]
    query: dict[str, Any]
    corpus: dict[str, dict[str, Any]]
    scores: dict[str, int]
    absent: dict[str, int]
    """The scores of texts that the corpus lacks."""


TEXT, QUERY, NOTES = TypeAdapter(Text), TypeAdapter(Query), TypeAdapter(BeirNotes)


def from_parts(query: Query, texts: Mapping[str, Text], scores: Scores, location: str, *, absent: Scores | None = None) -> Instance:
    """The Instance of a query, the texts judged for it and their scores; ``absent`` are the scores of texts that the corpus lacks."""
    metadata: dict[str, Any] = {**query.get("metadata", {})}
    further: dict[str, Any] = {key: value for key, value in metadata.pop(KEY, {}).items() if key != "split"}
    paragraph_fields: Mapping[str, Mapping[str, Any]] = further.get("paragraphs", {})
    rows = {text: {**_plain(texts[text], score), **paragraph_fields.get(text, {})} for text, score in scores.items()}
    notes = {
        "metadata": metadata,
        "query": unknown_fields(query, Query),
        "corpus": {row["id"]: extra for text, row in rows.items() if (extra := _extra(texts[text]))},
        "scores": {row["id"]: scores[text] for text, row in rows.items() if scores[text] not in (0, 1)},
        "absent": dict(absent or {}),
    }
    provenance = note(NAME, {key: value for key, value in notes.items() if value}, beside=provenance_of(further, location))
    row = {
        **UNKNOWN_FIELDS,
        "answers": [],
        "group": query["_id"],
        **further,
        "id": query["_id"],
        "question": query["text"],
        "paragraphs": list(rows.values()),
        "provenance": provenance,
    }
    return from_row(row, location)


def _extra(text: Text) -> dict[str, Any]:
    """Unknown fields of a text, except the empty ``metadata`` of the official files."""
    return {key: value for key, value in unknown_fields(text, Text).items() if (key, value) != ("metadata", {})}


def _plain(text: Text, score: int) -> dict[str, Any]:
    """The row of a paragraph as the corpus and its score give it; BEIR's corpora write an empty title for a missing one."""
    no_values = {"mentions": None, "sentences": None, "supporting_sentences": None}
    return {"id": text["_id"], "title": text.get("title") or None, "text": text["text"], "supporting": score > 0, **no_values}


def split_of(query: Query) -> str | None:
    """The split that the metadata of a question without paragraphs names, else None."""
    further: Mapping[str, Any] = query.get("metadata", {}).get("kgqa", {})
    return further.get("split")


def to_parts(instance: Instance, naming: Naming, split: str) -> tuple[dict[str, Any], dict[str, Text], Scores]:
    """The query, the texts by corpus id, and the scores of an Instance; all other fields go into the query's metadata."""
    notes = notes_of(instance)
    texts = {(name := naming(instance, paragraph)): text_of(paragraph, name, notes) for paragraph in instance.paragraphs}
    scores = {name: _score(paragraph, notes) for name, paragraph in zip(texts, instance.paragraphs, strict=True)}
    metadata = {key: value for key, value in notes.get("metadata", {}).items() if key != KEY}
    fields = {"_id": instance.id, "text": instance.question, "metadata": metadata}
    query = fields | notes.get("query", {}) | fields
    default = from_parts(cast(Query, query), texts, scores, f"instance {instance.id}")
    further = further_fields(instance, default, list(texts), NAME) | ({} if texts else {"split": split})
    if further:
        metadata[KEY] = further
    return query, texts, scores


def notes_of(instance: Instance) -> BeirNotes:
    """The note that :func:`from_parts` made. Raises BrokenInput for a damaged one."""
    return validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")


def text_of(paragraph: Paragraph, name: str, notes: BeirNotes) -> Text:
    """The text of the corpus for ``paragraph``, with the id ``name``."""
    text = {"_id": name, "title": paragraph.title or "", "text": paragraph.text}
    return cast(Text, text | notes.get("corpus", {}).get(paragraph.id, {}) | text)


def _score(paragraph: Paragraph, notes: BeirNotes) -> int:
    """The noted score if it agrees with the paragraph's mark, else 1 for a supporting paragraph and 0 for any other."""
    score = notes.get("scores", {}).get(paragraph.id, 0)
    support = bool(paragraph.supporting)
    return score if score and (score > 0) == support else int(support)
