"""Chosen questions become Instances, each with its decomposition and the paragraphs that state its steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from kgqa.formats.decomposition import dependencies
from kgqa.formats.provenance import ENCODER
from kgqa.formats.strategyqa import format as official
from kgqa.records import Instance, Paragraph, Step
from kgqa.settings.strategyqa import PatternSettings

_PLACE = re.compile(r"\{([ab])\}")
NAME = "strategy"
"""Key of the note in an Instance's provenance: the ``pattern``, its ``test``, and the ``entities`` of the question."""


def instances(
    questions: pl.DataFrame, texts: Mapping[tuple[str, int], tuple[str, str]], patterns: Mapping[str, PatternSettings]
) -> Iterator[Instance]:
    """An Instance for each row; ``texts``: document and number of a paragraph → its title and text."""
    paragraphs = {
        (document, number): Paragraph(id=f"{document}-{number}", title=title, text=text, supporting=True)
        for (document, number), (title, text) in texts.items()
    }
    for row in questions.iter_rows(named=True):
        evidence = [paragraphs[row[f"{side}_document"], row[f"{side}_paragraph"]] for side in ("a", "b")]
        yield _instance(row, evidence, patterns[row["pattern"]])


def _instance(row: Mapping[str, Any], evidence: list[Paragraph], pattern: PatternSettings) -> Instance:
    names = {"a": row["a_name"], "b": row["b_name"]}
    answer = official.ANSWERS[row["yes"]]
    questions = [filled(step, names) for step in pattern.steps]
    ids = [str(number) for number in range(1, len(questions) + 1)]
    depends_on = dependencies(pattern.steps, ids)  # of the pattern, as a name may hold "#1"
    answers = [row["a_answer"], row["b_answer"], answer]
    supports = [evidence[0].id, evidence[1].id, None]
    steps = tuple(
        Step(id=ids[place], question=questions[place], answer=answers[place], paragraph_id=supports[place], depends_on=depends_on[place])
        for place in range(len(questions))
    )
    facts = [f"{question} {answer_text}" for question, answer_text in zip(questions[:-1], answers, strict=False)]
    record = {
        "term": row["a_name"], "description": row["description"], "facts": facts,
        "evidence": [[[[evidence[0].id]], [[evidence[1].id]], ["operation"]]],
    }  # fmt: skip
    origin = {"pattern": row["pattern"], "test": pattern.test, "entities": [row["a"], row["b"]]}
    return Instance(
        id=row["id"],
        question=filled(pattern.question[row["draw"] % len(pattern.question)], names),
        paragraphs=tuple(dict.fromkeys(evidence)),
        answers=(answer,),
        answer_type="boolean",
        decomposition=steps,
        answerable=True,
        group=row["id"],
        provenance=ENCODER.encode({NAME: origin, official.NAME: record}),
    )


def filled(form: str, names: Mapping[str, str]) -> str:
    """The form with the names in place of ``{a}`` and ``{b}``."""
    text = _PLACE.sub(lambda place: names[place[1]], form)  # at once, as a name may hold braces
    return text[:1].upper() + text[1:]
