"""Checks of a worded question against the texts.

A question whose linked article is withheld is unanswerable. Then neither the passage nor any other article that it links to states what the
withheld article says, as in MuSiQue's contexts, where no distractor states an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.recipes.iirc.corpus import Corpus, typed
from kgqa.recipes.iirc.operands import ENTITY, TIME
from kgqa.recipes.iirc.program import bounds, evaluate, said_year
from kgqa.recipes.names.statements import Stated, Text, names as patterns_of_names

REASONS = {
    "undecided": "the values do not determine the answer: they are not precise enough, almost equal, or in different units or calendars",
    "unworded": "no form of the pattern can be filled",
    "long": "the question is too long",
    "named": "the question names a linked entity, or its answer",
    "passage": "the passage states the answer of the linked article",
    "stated": "another article that the passage links to states what the withheld one says",
    "span": "the answer stands nowhere in a text",
    "decided": "what is left decides the answer",
    "few": "the passage links to no article that is there",
    "again": "the same question is asked about another passage",
}
"""Reason against a candidate → the sentence in reports."""


class Checks:
    """The checks; readings of texts are cached."""

    def __init__(self, corpus: Corpus) -> None:
        """``corpus`` has the texts and facts that candidates are checked against."""
        self._corpus, self._texts = corpus, corpus.texts
        self._read: dict[str, Text] = {}

    def fault(
        self, candidate: Mapping[str, Any], kind: str, question: str, span: str | None, values: Mapping[str, Mapping[str, Any]]
    ) -> str:
        """A key of ``REASONS``, empty without a fault. ``kind`` of the pattern; ``span``: the answer, if it is one."""
        rows = [self._corpus.attributes[row] for row in candidate["attributes"]]
        if self._is_named(candidate, Text(question), None if kind in {"least", "most"} else span):
            return "named"
        if span is not None and span not in self._place_of_answer(candidate, kind, rows):
            return "span"
        if not self._remaining_links(candidate["passage"]):
            return "few"
        statement = next(
            filter(None, (self._statement_fault(candidate["passage"], row) for row in rows if row["article"] != candidate["passage"])), ""
        )
        return statement or ("decided" if kind == "every" and self._is_decided(rows, values["value"]) else "")

    def _is_named(self, candidate: Mapping[str, Any], question: Text, span: str | None) -> bool:
        """Whether the question names a linked entity, or the answer."""
        corpus = self._corpus
        linked_entities = [entity for entity in candidate["entities"] if entity != candidate["subject"]]
        names = [name for entity in linked_entities for name in (corpus.labels.get(entity, ""), *corpus.names.get(entity, ()))]
        return question.states(patterns_of_names(names if span is None else [*names, span]))

    def _place_of_answer(self, candidate: Mapping[str, Any], kind: str, rows: Sequence[Mapping[str, Any]]) -> str:
        """The text that has the answer as a span: the passage names operands, and the article says the rest."""
        if kind in {"least", "most"}:
            return self._texts.texts[candidate["passage"]]
        return self._texts.texts[rows[0]["article"]][rows[0]["start"] : rows[0]["end"]]

    def _remaining_links(self, passage: str) -> set[str]:
        """The articles to which a passage links, without withheld ones."""
        return {article for article, _, _ in self._texts.links[passage].values()} - self._texts.withheld

    def _statement_fault(self, passage: str, row: Mapping[str, Any]) -> str:
        """Whether the passage states an attribute, or another article states a withheld one."""
        targets = self._targets(row)
        is_withheld = row["article"] in self._texts.withheld
        if row["kind"] == ENTITY or is_withheld:
            if self._text(passage).states(targets):
                return "passage"
        # A passage has other figures, so only those next to the link count.
        elif Text(self._around(passage, row["entity"])).states(targets):
            return "passage"
        return (
            "stated"
            if is_withheld and any(self._text(article).states(targets) for article in sorted(self._remaining_links(passage)))
            else ""
        )

    def _is_decided(self, rows: Sequence[Mapping[str, Any]], value: Mapping[str, Any]) -> bool:
        """Whether one that is not before the year is left, which is enough for "no"."""
        known_values = [typed(row) for row in rows if row["article"] not in self._texts.withheld]
        if len(known_values) == len(rows):
            return False
        return any(evaluate("less(#1, value)", {"1": known_value, "value": value}) == "no" for known_value in known_values)

    def _targets(self, row: Mapping[str, Any]) -> tuple[Stated, ...]:
        """What a text must not state."""
        if row["kind"] == ENTITY:
            return patterns_of_names((row["said"], *self._corpus.names.get(row["answer_entity"], ())))
        if row["kind"] == TIME:
            return patterns_of_names([said_year(bounds(typed(row))[0][0]).removesuffix(" BC")])
        return patterns_of_names([row["said"]])

    def _around(self, passage: str, entity: str) -> str:
        """The sentence of a passage with the link to ``entity``."""
        start, end = self._texts.sentence(passage, self._texts.links[passage][entity][1])
        return self._texts.texts[passage][start:end]

    def _text(self, document: str) -> Text:
        if document not in self._read:
            self._read[document] = Text(self._texts.texts[document])
        return self._read[document]
