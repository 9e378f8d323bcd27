"""Questions become Instances, as the reader of IIRC's official layout would make them, with their steps added."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgqa.arrays.draws import sample
from kgqa.formats.iirc.articles import MAIN
from kgqa.formats.iirc.format import from_question
from kgqa.formats.iirc.records import links_of
from kgqa.formats.provenance import ENCODER
from kgqa.recipes.iirc.passages import Texts
from kgqa.records import Instance, Paragraph, Step

NAME = "generate"
"""Key of the note in an Instance's provenance: the ``pattern``; the ``program`` and the typed ``values`` of the steps that it uses; the
``unit`` of a number; ``entities``, the operands; ``relations``. Of unanswerable questions also ``withheld``, the titles of the missing
articles, and ``answer``, the one that they would give."""


class InstanceMaker:
    """Makes the Instances of chosen questions; equal paragraphs are one object."""

    def __init__(self, texts: Texts, *, articles: int, seed: int) -> None:
        """``articles``: how many linked articles a question shows at most."""
        self._texts, self._titles, self._most, self._seed = texts, texts.titles, articles, seed
        self._records: dict[str, dict[str, Any]] = {}
        self._links: dict[str, Any] = {}
        self._paragraphs: dict[tuple[str, tuple[int, ...] | None], Paragraph] = {}

    def make(self, row: Mapping[str, Any]) -> Instance:
        """The Instance of one question."""
        corpus, titles, passage = self._texts, self._titles, row["passage"]
        record = json.loads(row["record"])
        shown_articles = self._articles_of(row)
        is_answerable = not row["withheld"]
        gold_titles = [titles[article] for article in row["articles"]]
        question: dict[str, Any] = {
            "qid": row["id"],
            "question": row["question"],
            "answer": self._answer(row, record) if is_answerable else {"type": "none"},
            "question_links": gold_titles,
            "paragraphs": [MAIN, *(titles[article] for article in shown_articles)],
        }
        support = self._support(record) if is_answerable else {}
        if is_answerable:
            question["context"] = [
                {"text": corpus.texts[document][start:end], "passage": self._name(document, passage), "indices": [start, end]}
                for document, places in support.items()
                for start, end in places
            ]
        texts = {titles[article].lower(): corpus.texts[article] for article in shown_articles}
        instance = from_question(question, *self._passage(passage), texts, row["id"])
        documents = [passage, *shown_articles]
        notes = {
            "pattern": row["pattern"], "program": record["program"], "values": record["values"], "unit": record["unit"],
            "entities": record["entities"], "relations": row["relations"].split(" "),
            **({} if is_answerable else {"withheld": [titles[article] for article in row["withheld"]], "answer": row["answer"]}),
        }  # fmt: skip
        return replace(
            instance,
            paragraphs=tuple(
                self._with_sentences(paragraph, document, support if is_answerable else None)
                for paragraph, document in zip(instance.paragraphs, documents, strict=True)
            ),
            decomposition=self._steps(row["id"], record["steps"], passage, set(shown_articles)),
            # Both are JSON objects; parsing the official note to add one takes longer than all the rest.
            provenance=f"{(instance.provenance or '{}')[:-1]}, {ENCODER.encode({NAME: notes})[1:]}",
        )

    def _articles_of(self, row: Mapping[str, Any]) -> list[str]:
        """The needed articles and others that the passage links to, in random order; as many in every question on the passage."""
        withheld = self._texts.withheld
        linked_articles = list(
            dict.fromkeys(article for article, _, _ in self._texts.links[row["passage"]].values() if article not in withheld)
        )
        gold_articles = [article for article in row["articles"] if article not in withheld]
        other_articles = [article for article in linked_articles if article not in gold_articles]
        count = max(min(self._most, len(linked_articles)), len(gold_articles)) - len(gold_articles)
        titles = [*gold_articles, *sample(other_articles, count, purpose="articles", seed=self._seed, id=row["id"])]
        return sample(titles, len(titles), purpose="order of articles", seed=self._seed, id=row["id"])

    def _passage(self, passage: str) -> tuple[dict[str, Any], Any]:
        if passage not in self._records:
            links = sorted(self._texts.links[passage].values(), key=lambda link: link[1])
            record = {
                "text": self._texts.texts[passage],
                "title": self._titles[passage],
                "links": [{"target": self._titles[article], "indices": [start, end]} for article, start, end in links],
            }
            self._records[passage], self._links[passage] = record, links_of(record)
        return self._records[passage], self._links[passage]

    def _name(self, document: str, passage: str) -> str:
        return MAIN if document == passage else self._titles[document]

    def _support(self, record: Mapping[str, Any]) -> dict[str, list[list[int]]]:
        """Document → its sentences that the steps need, in order."""
        places: dict[str, list[list[int]]] = {}
        for _, _, document, spans, _ in record["steps"]:
            if document:
                places.setdefault(document, []).extend(span for span in spans if span not in places.get(document, []))
        return {document: sorted(spans) for document, spans in places.items()}

    def _answer(self, row: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
        if row["kind"] == "number":
            return {"type": "value", "answer_value": row["answer"], "answer_unit": record["unit"]}
        if row["kind"] == "boolean":
            return {"type": "binary", "answer_value": row["answer"]}
        return {"type": "span", "answer_spans": [self._span(row, record)]}

    def _span(self, row: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
        """The answer and its place in one of the sentences that the steps need, the last one first."""
        for _, _, document, spans, _ in reversed(record["steps"]):
            for start, end in spans:
                place = self._texts.texts[document].find(row["answer"], start, end) if document else -1
                if place >= 0:
                    return {
                        "text": row["answer"],
                        "passage": self._name(document, row["passage"]),
                        "type": "answer",
                        "start": place,
                        "end": place + len(row["answer"]),
                    }
        return {"text": row["answer"]}

    def _with_sentences(self, paragraph: Paragraph, document: str, support: Mapping[str, Sequence[Sequence[int]]] | None) -> Paragraph:
        """The paragraph with its sentences, and with the supporting ones if any are known."""
        starts = self._texts.sentences[document]
        marks = None if support is None else tuple(sorted({bisect_right(starts, start) - 1 for start, _ in support.get(document, ())}))
        key = (document + (" " if paragraph.id == MAIN else ""), marks)
        if key not in self._paragraphs:
            self._paragraphs[key] = replace(paragraph, sentences=tuple(starts), supporting_sentences=marks)
        return self._paragraphs[key]

    def _steps(self, name: str, steps: Sequence[Sequence[Any]], passage: str, shown_articles: set[str]) -> tuple[Step, ...]:
        """The decomposition; what a withheld article says is unknown, and so is what needs it."""
        result: list[Step] = []
        for number, (question, answer, document, _, needs) in enumerate(steps, start=1):
            is_known = (
                document in shown_articles or document == passage or (not document and all(result[need - 1].answer for need in needs))
            )
            result.append(
                Step(
                    id=f"{name}_{number}", question=question, answer=answer if is_known else None,
                    paragraph_id=(self._name(document, passage) if document and is_known else None),
                    depends_on=tuple(f"{name}_{need}" for need in needs),
                )
            )  # fmt: skip
        return tuple(result)
