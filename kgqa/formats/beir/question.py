"""One question as BEIR has it: a query, the texts that were judged for it, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, cast

from pydantic import TypeAdapter

from kgqa.formats.beir.judgements import Scores
from kgqa.formats.carried import OURS, Carried, carried, provenance_of
from kgqa.formats.instance_json import UNSAID, from_row
from kgqa.formats.json.validate import Closed, Open, validated
from kgqa.formats.provenance import note, noted
from kgqa.records import Instance, Paragraph

NAME = "beir"
Naming = Callable[[Instance, Paragraph], str]
"""The id of a question's paragraph in the corpus."""


class Text(Open):
    """One text of the corpus."""

    _id: str
    text: str
    title: NotRequired[str]


class CarriedQuery(Carried):
    """What is said of a question, and of one without paragraphs, which no table names, also which split it is in."""

    split: NotRequired[Literal["train", "dev", "test"]]


class Metadata(Open):
    """What is said of a query; BEIR leaves it open."""

    kgqa: NotRequired[CarriedQuery]


class Query(Open):
    """A line of ``queries.jsonl``."""

    _id: str
    text: str
    metadata: NotRequired[Metadata]


class Notes(Closed, total=False):
    """What provenance says of a question under ``NAME``: what BEIR's files had and the normal form has not."""

    metadata: dict[str, Any]
    query: dict[str, Any]
    corpus: dict[str, dict[str, Any]]
    scores: dict[str, int]
    absent: dict[str, int]
    """The scores of texts that the corpus lacks."""


TEXT, QUERY, NOTES = TypeAdapter(Text), TypeAdapter(Query), TypeAdapter(Notes)


def from_parts(query: Query, texts: Mapping[str, Text], scores: Scores, where: str, *, absent: Scores | None = None) -> Instance:
    """The Instance of a query, the texts judged for it, and their scores; ``absent`` are the scores of texts that are not there."""
    metadata: dict[str, Any] = {**query.get("metadata", {})}
    said_beyond: dict[str, Any] = {key: value for key, value in metadata.pop(OURS, {}).items() if key != "split"}
    of_paragraphs: Mapping[str, Mapping[str, Any]] = said_beyond.get("paragraphs", {})
    rows = {text: {**_plain(texts[text], score), **of_paragraphs.get(text, {})} for text, score in scores.items()}
    said = {
        "metadata": metadata,
        "query": {key: value for key, value in query.items() if key not in Query.__annotations__},
        "corpus": {row["id"]: extra for text, row in rows.items() if (extra := _extra(texts[text]))},
        "scores": {row["id"]: scores[text] for text, row in rows.items() if scores[text] not in (0, 1)},
        "absent": dict(absent or {}),
    }
    provenance = note(NAME, {key: value for key, value in said.items() if value}, beside=provenance_of(said_beyond, where))
    row = {
        **UNSAID,
        "answers": [],
        "group": query["_id"],
        **said_beyond,
        "id": query["_id"],
        "question": query["text"],
        "paragraphs": list(rows.values()),
        "provenance": provenance,
    }
    return from_row(row, where)


def _extra(text: Text) -> dict[str, Any]:
    """What a text of the corpus has beyond our fields; the empty ``metadata`` of the official files is nothing."""
    return {key: value for key, value in text.items() if key not in Text.__annotations__ and (key, value) != ("metadata", {})}


def _plain(text: Text, score: int) -> dict[str, Any]:
    """The row of a paragraph of which nothing else is known; an empty title is how BEIR's corpora say that there is none."""
    unknown = {"mentions": None, "sentences": None, "supporting_sentences": None}
    return {"id": text["_id"], "title": text.get("title") or None, "text": text["text"], "supporting": score > 0, **unknown}


def split_of(query: Query) -> str | None:
    """The split that a question without paragraphs says it is in."""
    beyond: Mapping[str, Any] = query.get("metadata", {}).get("kgqa", {})
    return beyond.get("split")


def to_parts(instance: Instance, naming: Naming, split: str) -> tuple[dict[str, Any], dict[str, Text], Scores]:
    """The query, the texts by corpus id, and the scores of an Instance; what these do not say goes into the query's metadata."""
    said = notes_of(instance)
    texts = {(name := naming(instance, paragraph)): text_of(paragraph, name, said) for paragraph in instance.paragraphs}
    scores = {name: _score(paragraph, said) for name, paragraph in zip(texts, instance.paragraphs, strict=True)}
    metadata = {key: value for key, value in said.get("metadata", {}).items() if key != OURS}
    fields = {"_id": instance.id, "text": instance.question, "metadata": metadata}
    query = fields | said.get("query", {}) | fields
    plain = from_parts(cast(Query, query), texts, scores, f"instance {instance.id}")
    beyond = carried(instance, plain, list(texts), NAME) | ({} if texts else {"split": split})
    if beyond:
        metadata[OURS] = beyond
    return query, texts, scores


def notes_of(instance: Instance) -> Notes:
    """What was noted when the question was read from BEIR's files; BrokenInput where it is not that."""
    return validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")


def text_of(paragraph: Paragraph, name: str, said: Notes) -> Text:
    """The corpus's text with the id ``name``."""
    text = {"_id": name, "title": paragraph.title or "", "text": paragraph.text}
    return cast(Text, text | said.get("corpus", {}).get(paragraph.id, {}) | text)


def _score(paragraph: Paragraph, said: Notes) -> int:
    """The score that was noted, where it says the same as the Instance does."""
    score = said.get("scores", {}).get(paragraph.id, 0)
    supporting = bool(paragraph.supporting)
    return score if score and (score > 0) == supporting else int(supporting)
