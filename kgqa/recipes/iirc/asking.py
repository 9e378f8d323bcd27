"""Candidates become questions: worded, answered by their program, and checked against the texts; or they are rejected with a reason."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgqa.arrays.words import length
from kgqa.recipes.iirc.checks import Checks
from kgqa.recipes.iirc.corpus import Corpus, typed
from kgqa.recipes.iirc.operands import ENTITY, QUANTITY, TIME
from kgqa.recipes.iirc.operations import operation, program_of
from kgqa.recipes.iirc.program import Undecided, bounds, evaluate, said_year
from kgqa.recipes.iirc.wording import FORWARD, asked_about, described, its, listed, noun_of, worded
from kgqa.settings.iirc import KINDS, GroupSettings, PatternSettings
from kgqa.settings.musique import TemplateSettings

MAX_WORDS = 45


@dataclass(slots=True, kw_only=True)
class Step:
    """A step of a question."""

    question: str
    answer: str
    document: str
    """The text that states the answer; empty for the last step, an operation."""
    places: list[tuple[int, int]] = field(default_factory=list)
    """The sentences that state it."""
    needs: list[int] = field(default_factory=list)
    """Numbers of the steps that it refers to, from 1."""


class Asker:
    """Turns candidates into questions with answers, evidence and steps."""

    def __init__(
        self,
        corpus: Corpus,
        patterns: Mapping[str, PatternSettings],
        templates: Mapping[str, TemplateSettings],
        groups: Mapping[str, GroupSettings],
    ) -> None:
        """Keep what all questions need."""
        self._corpus, self._patterns, self._templates, self._groups = corpus, patterns, templates, groups
        self._texts, self._checks = corpus.texts, Checks(corpus)

    def ask(self, candidate: Mapping[str, Any]) -> dict[str, Any] | str:
        """The question, or a key of ``REASONS``."""
        pattern, draw = self._patterns[candidate["pattern"]], int(candidate["draw"]) >> 8
        steps, values, roles = self._steps(candidate, pattern, draw)
        text = self._worded(candidate, pattern, values, draw)
        if text is None:
            return "unworded"
        if length(text) > MAX_WORDS:
            return "long"
        program = program_of(pattern, values, roles)
        try:
            answer = evaluate(program, values)
        except Undecided:
            return "undecided"
        kind = KINDS[pattern.kind]
        unit = pattern.unit
        if pattern.kind == "value":
            attribute = self._corpus.attributes[candidate["attributes"][0]]
            kind = "number" if attribute["kind"] == QUANTITY else kind
            unit = unit or attribute["unit"] or ""
        fault = self._checks.fault(candidate, pattern.kind, text, answer if kind == "span" else None, values)
        if fault:
            return fault
        last = operation(program, pattern, values, roles)
        if last:
            numbers = [int(name) for name in values if name.isdigit()]
            steps.append(Step(question=last, answer=answer, document="", needs=numbers))
        withheld = [article for article in dict.fromkeys(candidate["articles"]) if article in self._texts.withheld]
        return {
            "pattern": candidate["pattern"],
            "passage": candidate["passage"],
            "question": text,
            "answer": answer,
            "answer_type": "none" if withheld else kind,
            "kind": kind,
            "relations": " ".join(candidate["relations"]),
            "articles": [article for article in dict.fromkeys(candidate["articles"]) if article != candidate["passage"]],
            "withheld": withheld,
            "draw": candidate["draw"],
            "record": json.dumps(
                {
                    "program": program, "values": values, "unit": unit, "entities": candidate["entities"],
                    "steps": [[step.question, step.answer, step.document, step.places, step.needs] for step in steps],
                },
                ensure_ascii=False,
            ),
        }  # fmt: skip

    def _steps(
        self, candidate: Mapping[str, Any], pattern: PatternSettings, draw: int
    ) -> tuple[list[Step], dict[str, dict[str, Any]], list[str]]:
        """The steps, the typed answers of those that the program uses, and for each operand the number of the step that finds it."""
        corpus, passage = self._corpus, candidate["passage"]
        steps: list[Step] = []
        values: dict[str, dict[str, Any]] = {}
        roles: list[str] = []
        entities, attributes = candidate["entities"], list(candidate["attributes"])
        by_operand = [attributes] if len(entities) == 1 else [[attribute] for attribute in attributes]
        if candidate["group"] is not None:
            links = [self._texts.links[passage][entity] for entity in entities]
            names = [self._texts.texts[passage][start:end] for _, start, end in links]
            sentences = list(dict.fromkeys(self._texts.sentence(passage, start) for _, start, _ in links))
            steps.append(Step(question=f"Which are {self._group(candidate)}?", answer=listed(names), document=passage, places=sentences))
        for place, (entity, role, own) in enumerate(zip(entities, candidate["roles"], by_operand, strict=True)):
            if candidate["group"] is not None:
                _, start, end = self._texts.links[passage][entity]
                name, text = self._texts.texts[passage][start:end], self._texts.texts[passage][start:end]
                needs, key = [1], f"group{place}"
            elif role >= 0:
                hop = corpus.hops[role]
                steps.append(
                    Step(
                        question=hop["question"],
                        answer=hop["answer"],
                        document=passage,
                        places=[self._texts.sentence(passage, hop["start"])],
                    )
                )
                name, text, needs, key = f"#{len(steps)}", hop["answer"], [len(steps)], str(len(steps))
            else:
                name = text = corpus.labels[entity]
                needs, key = [], "subject"
            values.setdefault(key, {"entity": entity, "text": text})
            roles.append(key)
            for row in own:
                attribute = corpus.attributes[row]
                steps.append(
                    Step(
                        question=self._question_about(attribute, name, draw, nested=name.startswith("#")), answer=attribute["said"],
                        document=attribute["article"], places=[self._texts.sentence(attribute["article"], attribute["start"])], needs=needs,
                    )
                )  # fmt: skip
                values[str(len(steps))] = typed(attribute)
        if candidate["other"] >= 0:
            values["value"] = self._named_value(pattern, corpus.attributes[candidate["other"]], list(values.values()), draw)
        return steps, values, roles

    def _question_about(self, attribute: Mapping[str, Any], name: str, draw: int, *, nested: bool) -> str:
        if attribute["kind"] != ENTITY:
            return f"What is the {attribute['name']} of {name}?"
        return asked_about(self._corpus.hops[attribute["hop"]], self._templates, name, draw, nested=nested)

    def _named_value(
        self, pattern: PatternSettings, attribute: Mapping[str, Any], values: Sequence[Mapping[str, Any]], draw: int
    ) -> dict[str, Any]:
        """The value that the question names: an entity, a quantity, or the first day of a year."""
        value = typed(attribute)
        if attribute["kind"] == ENTITY:
            return {**value, "text": self._corpus.labels.get(attribute["answer_entity"], attribute["said"])}
        if attribute["kind"] == QUANTITY:
            return {**value, "text": attribute["said"]}
        year = bounds(value)[0][0]
        if pattern.kind == "every" and draw % 2:  # else one of the dates is in the year, so that not all are before it
            year = max(bounds(value_row)[1][0] for value_row in values if "time" in value_row) + 1 + (draw >> 1) % 4
        return {
            "time": f"{year:04d}-01-01" if year > 0 else f"{year - 1:05d}-01-01",
            "calendar": value["calendar"],
            "text": said_year(year),
        }

    def _group(self, candidate: Mapping[str, Any]) -> str:
        return self._groups[candidate["group"]].text.replace("{head}", self._corpus.labels[candidate["subject"]])

    def _worded(
        self, candidate: Mapping[str, Any], pattern: PatternSettings, values: Mapping[str, Mapping[str, Any]], draw: int
    ) -> str | None:
        corpus = self._corpus
        described_operands = [
            described(corpus.hops[role], self._templates, draw >> 4) if role >= 0 else corpus.labels[entity]
            for entity, role in zip(candidate["entities"], candidate["roles"], strict=True)
        ]
        attribute = corpus.attributes[candidate["attributes"][0]]
        places = {"subject": lambda: corpus.labels[candidate["subject"]], "a": lambda: described_operands[0]}
        if len(described_operands) > 1:
            places["b"] = lambda: described_operands[1]
        if candidate["group"] is not None:
            places = {"subject": places["subject"], "group": lambda: self._group(candidate)}
        if "value" in values:
            places["value"] = lambda: str(values["value"].get("text", ""))
            if attribute["kind"] == TIME:
                places["year"] = places["value"]
        if attribute["kind"] == ENTITY:
            hop = corpus.hops[attribute["hop"]]
            template = self._templates[attribute["name"]]
            if candidate["group"] is None:
                places["ask a"] = lambda: asked_about(hop, self._templates, described_operands[0], draw >> 5)
            if hop["kind"] == FORWARD:
                noun = noun_of(template, draw >> 5)
                if candidate["group"] is None:
                    places["the a"] = lambda: (
                        f"the {noun} of {described_operands[0]}" if noun else its(template, described_operands[0], draw >> 5)
                    )
                if len(described_operands) > 1 and noun and candidate["group"] is None:
                    places["that b"] = lambda: f"that of {described_operands[1]}"
                    places["both"] = lambda: f"the same {noun}"
                places["as value"] = lambda: noun and f"their {noun}"
        return worded(pattern.question, places, draw >> 6)
