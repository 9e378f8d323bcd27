"""Candidates become questions: worded, answered by their program, and checked against the texts; or they are rejected with a reason.

A question whose linked article is withheld is unanswerable. Then neither the passage nor any other article that it links to states what the
withheld article says, as in MuSiQue's contexts, where no distractor states an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgqa.arrays.words import length
from kgqa.recipes.iirc.operands import ENTITY, QUANTITY, TIME
from kgqa.recipes.iirc.passages import Texts
from kgqa.recipes.iirc.program import Undecided, bounds, evaluate, said_year
from kgqa.recipes.iirc.wording import FORWARD, asked_about, described, its, listed, noun_of, worded
from kgqa.recipes.names.statements import Stated, Text, names as patterns_of_names
from kgqa.settings.iirc import KINDS, GroupSettings, PatternSettings
from kgqa.settings.musique import TemplateSettings

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
OPERATIONS = {
    "is": "Is {0} {value}?",
    "same": "Is {0} the same as {1}?",
    "shared": "What are {all} both?",
    "years": "How many full years lie between {0} and {1}?",
    "calendar_years": "What is the difference of the years {0} and {1}?",
    "difference": "What is the difference of {0} and {1}?",
    "total": "What is the sum of {all}?",
    "least": "Which of {things} has the least of {all}?",
    "most": "Which of {things} has the greatest of {all}?",
    "less": "Is {0} before {1}, or less?",
    "more": "Is {0} after {1}, or more?",
    "every_less": "Are {all} all before {value}, or less?",
    "calendar_range": "What is the difference of the first and the last year of {all}?",
    "range": "What is the difference of the least and the greatest of {all}?",
    "count": "How many of {all} are {value}?",
    "count_less": "How many of {all} are before {value}, or less?",
}
"""Operation → the last step of a decomposition."""
MAX_WORDS = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What the questions are made from, of the documents and entities that they need."""

    hops: Mapping[int, Mapping[str, Any]]
    """Row of ``single_hop`` → the question, with ``answer`` and ``start`` where the document states it best."""
    attributes: Mapping[int, Mapping[str, Any]]
    """Row → attribute."""
    texts: Texts
    labels: Mapping[str, str]
    """Entity → its label, with an article where texts have one."""
    names: Mapping[str, Sequence[str]]
    """Entity → its names."""


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
    """Makes questions of candidates."""

    def __init__(
        self,
        corpus: Corpus,
        patterns: Mapping[str, PatternSettings],
        templates: Mapping[str, TemplateSettings],
        groups: Mapping[str, GroupSettings],
    ) -> None:
        """Keep what all questions need; readings of texts are cached."""
        self._corpus, self._patterns, self._templates, self._groups = corpus, patterns, templates, groups
        self._texts = corpus.texts
        self._read: dict[str, Text] = {}

    def ask(self, candidate: Mapping[str, Any]) -> dict[str, Any] | str:
        """The question, or a key of ``REASONS``."""
        pattern, draw = self._patterns[candidate["pattern"]], int(candidate["draw"]) >> 8
        steps, values, roles = self._steps(candidate, pattern, draw)
        text = self._worded(candidate, pattern, values, draw)
        if text is None:
            return "unworded"
        if length(text) > MAX_WORDS:
            return "long"
        program = _program(pattern, candidate, values, roles)
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
        fault = self._fault(candidate, pattern, text, answer, kind, values)
        if fault:
            return fault
        last = _operation(program, pattern, values, roles)
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
            found = [self._texts.links[passage][entity] for entity in entities]
            names = [self._texts.texts[passage][start:end] for _, start, end in found]
            sentences = list(dict.fromkeys(self._texts.sentence(passage, start) for _, start, _ in found))
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
                        question=self._asked(attribute, name, draw, nested=name.startswith("#")), answer=attribute["said"],
                        document=attribute["article"], places=[self._texts.sentence(attribute["article"], attribute["start"])], needs=needs,
                    )
                )  # fmt: skip
                values[str(len(steps))] = _typed(attribute)
        if candidate["other"] >= 0:
            values["value"] = self._named_value(pattern, corpus.attributes[candidate["other"]], list(values.values()), draw)
        return steps, values, roles

    def _asked(self, attribute: Mapping[str, Any], name: str, draw: int, *, nested: bool) -> str:
        if attribute["kind"] != ENTITY:
            return f"What is the {attribute['name']} of {name}?"
        return asked_about(self._corpus.hops[attribute["hop"]], self._templates, name, draw, nested=nested)

    def _named_value(
        self, pattern: PatternSettings, attribute: Mapping[str, Any], values: Sequence[Mapping[str, Any]], draw: int
    ) -> dict[str, Any]:
        """The value that the question names: an entity, a quantity, or the first day of a year."""
        typed = _typed(attribute)
        if attribute["kind"] == ENTITY:
            return {**typed, "text": self._corpus.labels.get(attribute["answer_entity"], attribute["said"])}
        if attribute["kind"] == QUANTITY:
            return {**typed, "text": attribute["said"]}
        year = bounds(typed)[0][0]
        if pattern.kind == "every" and draw % 2:  # else one of the dates is in the year, so that not all are before it
            year = max(bounds(value)[1][0] for value in values if "time" in value) + 1 + (draw >> 1) % 4
        return {
            "time": f"{year:04d}-01-01" if year > 0 else f"{year - 1:05d}-01-01",
            "calendar": typed["calendar"],
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

    def _fault(
        self, candidate: Mapping[str, Any], pattern: PatternSettings, text: str, answer: str, kind: str,
        values: Mapping[str, Mapping[str, Any]],
    ) -> str:  # fmt: skip
        """A key of ``REASONS``, empty without a fault."""
        corpus, passage = self._corpus, candidate["passage"]
        question = Text(text)
        linked = [entity for entity in candidate["entities"] if entity != candidate["subject"]]
        for entity in linked:
            if question.states(patterns_of_names((corpus.labels.get(entity, ""), *corpus.names.get(entity, ())))):
                return "named"
        if kind == "span" and pattern.kind not in {"least", "most"} and question.states(patterns_of_names([answer])):
            return "named"
        if kind == "span" and not self._is_span(candidate, pattern, answer):
            return "span"
        rows = [corpus.attributes[row] for row in candidate["attributes"]]
        for row in rows:
            if row["article"] == passage:
                continue
            targets = self._targets(row)
            is_withheld = row["article"] in self._texts.withheld
            if row["kind"] == ENTITY or is_withheld:
                if self._text(passage).states(targets):
                    return "passage"
            elif any(Text(sentence).states(targets) for sentence in self._around(passage, row["entity"])):
                return "passage"
            if is_withheld:
                others = {article for article, _, _ in self._texts.links[passage].values()} - self._texts.withheld
                if any(self._text(article).states(targets) for article in sorted(others)):
                    return "stated"
        if pattern.kind == "every" and any(row["article"] in self._texts.withheld for row in rows):
            # One that is not before the year is enough for "no".
            known = [_typed(row) for row in rows if row["article"] not in self._texts.withheld]
            if (
                known
                and evaluate(
                    f"every_less([{', '.join(f'#{place}' for place in range(len(known)))}], value)",
                    {**dict(zip(map(str, range(len(known))), known, strict=True)), "value": values["value"]},
                )
                == "no"
            ):
                return "decided"
        if not any(article not in self._texts.withheld for article, _, _ in self._texts.links[passage].values()):
            return "few"
        return ""

    def _is_span(self, candidate: Mapping[str, Any], pattern: PatternSettings, answer: str) -> bool:
        if pattern.kind in {"least", "most"}:
            return answer in self._texts.texts[candidate["passage"]]
        row = self._corpus.attributes[candidate["attributes"][0]]
        return answer in self._texts.texts[row["article"]][row["start"] : row["end"]]

    def _targets(self, row: Mapping[str, Any]) -> tuple[Stated, ...]:
        if row["kind"] == ENTITY:
            return patterns_of_names((row["said"], *self._corpus.names.get(row["answer_entity"], ())))
        if row["kind"] == TIME:
            return patterns_of_names([said_year(bounds(_typed(row))[0][0]).removesuffix(" BC")])
        return patterns_of_names([row["said"]])

    def _around(self, passage: str, entity: str) -> list[str]:
        """The sentence of a passage with the link to ``entity``."""
        start, end = self._texts.sentence(passage, self._texts.links[passage][entity][1])
        return [self._texts.texts[passage][start:end]]

    def _text(self, document: str) -> Text:
        if document not in self._read:
            self._read[document] = Text(self._texts.texts[document])
        return self._read[document]


def _typed(attribute: Mapping[str, Any]) -> dict[str, Any]:
    if attribute["kind"] == ENTITY:
        return {"entity": attribute["answer_entity"], "text": attribute["said"]}
    if attribute["kind"] == TIME:
        return {"time": attribute["time"], "calendar": attribute["calendar"]}
    return {"number": attribute["number"], "unit": attribute["unit"], "base": attribute["base"]}


def _program(pattern: PatternSettings, candidate: Mapping[str, Any], values: Mapping[str, Mapping[str, Any]], roles: Sequence[str]) -> str:
    steps = [f"#{name}" for name in values if name.isdigit() and name not in roles]
    every = ", ".join(steps)
    is_date = "time" in values[steps[0][1:]]
    match pattern.kind:
        case "ask" | "shared":
            return f"same({steps[0]})"
        case "is":
            return f"equal({steps[0]}, value)"
        case "same":
            return f"equal({every})"
        case "value":
            return f"{'year' if is_date else 'number'}({steps[0]})"
        case "difference":
            return f"{('calendar_years' if pattern.calendar else 'years') if is_date else 'difference'}({every})"
        case "total":
            return f"total([{every}])"
        case "least" | "most":
            things = ", ".join(name if not name.isdigit() else f"#{name}" for name in roles)
            return f"{pattern.kind}([{things}], [{every}])"
        case "less" | "more":
            return f"{pattern.kind}({every}{', value' if 'value' in values else ''})"
        case "range":
            return f"{'calendar_range' if is_date else 'range'}([{every}])"
        case "every":
            return f"every_less([{every}], value)"
    return f"{'count_less' if pattern.values else 'count_equal'}([{every}], value)"


def _operation(program: str, pattern: PatternSettings, values: Mapping[str, Mapping[str, Any]], roles: Sequence[str]) -> str:
    """The last step's question; empty where the step before it has the answer already."""
    name = program.partition("(")[0]
    if name in {"year", "number"} or (name == "same" and pattern.kind == "ask"):
        return ""
    steps = [f"#{step}" for step in values if step.isdigit() and step not in roles]
    key = {"same": "shared", "equal": pattern.kind, "count_equal": "count"}.get(name, name)
    things = [f"#{role}" if role.isdigit() else str(values[role]["text"]) for role in roles]
    text = str(values.get("value", {}).get("text", ""))
    return OPERATIONS[key].format(*steps, text, all=listed(steps), things=listed(things), value=text)


__all__ = ["MAX_WORDS", "REASONS", "Asker", "Corpus"]
