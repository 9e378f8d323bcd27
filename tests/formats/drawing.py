"""Instances that hypothesis draws: anything that the normal form allows, with places inside their texts and ids that are there once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from kgqa.records import ANSWER_TYPES, Candidate, Grade, Instance, Mention, Paragraph, Step

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["é", "e\u0301", "🌍 日本", "\0", "a\nb"])

IDS = TEXT.filter(bool)
"""A question has one."""


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nothing, or several."""
    return st.none() | st.lists(values, max_size=3).map(tuple)


@st.composite
def paragraphs(draw: st.DrawFn, ids: st.SearchStrategy[str] = TEXT, texts: st.SearchStrategy[str] = TEXT) -> Paragraph:
    """A paragraph whose places are inside its text."""
    text = draw(texts)
    places = st.integers(0, len(text))
    mentions = st.tuples(TEXT, places, places).map(lambda drawn: Mention(entity=drawn[0], start=min(drawn[1:]), end=max(drawn[1:])))
    sentences = draw(some(places))
    return Paragraph(
        id=draw(ids),
        title=draw(st.none() | texts),
        text=text,
        supporting=draw(st.none() | st.booleans()),
        mentions=draw(some(mentions)),
        sentences=sentences,
        supporting_sentences=draw(some(st.integers(0, len(sentences) - 1)) if sentences else st.sampled_from([None, ()])),
    )


STEPS = st.builds(
    Step, id=TEXT, question=TEXT, answer=st.none() | TEXT, paragraph_id=st.none() | TEXT, depends_on=st.lists(TEXT, max_size=2).map(tuple)
)

GRADES = st.builds(Grade, confidence=st.floats(0, 1, width=32), path=TEXT, text=TEXT)
"""With as many digits as a file holds."""


def graded(instance: Instance) -> st.SearchStrategy[Instance]:
    """``instance`` with a grade for each candidate, or without any."""
    count = len(instance.candidates or ())
    grades = st.none() | st.lists(st.none() | GRADES, min_size=count, max_size=count).map(tuple)
    return grades.map(lambda drawn: replace(instance, grades=drawn))


def instances(
    ids: st.SearchStrategy[str] = IDS, shown: st.SearchStrategy[Paragraph] | None = None, at_least: int = 0
) -> st.SearchStrategy[Instance]:
    """Instances with ``at_least`` so many paragraphs, of those ``shown`` where given."""
    return st.builds(
        Instance,
        id=ids,
        question=TEXT,
        paragraphs=st.lists(
            paragraphs() if shown is None else shown, min_size=at_least, max_size=3, unique_by=lambda paragraph: paragraph.id
        ).map(tuple),
        answers=st.lists(TEXT, max_size=2).map(tuple),
        alternatives=st.none() | st.lists(st.lists(TEXT, min_size=2, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple),
        answer_id=st.none() | TEXT,
        answer_type=st.sampled_from(sorted(ANSWER_TYPES)),
        candidates=some(st.builds(Candidate, id=TEXT, text=TEXT)),
        chains=some(st.lists(st.lists(TEXT, max_size=3).map(tuple), max_size=2).map(tuple)),
        decomposition=some(STEPS),
        answerable=st.booleans(),
        group=TEXT,
        # Not under a format's own name, which Hypothesis finds in the code.
        provenance=st.none() | st.dictionaries(TEXT.map("other {}".format), TEXT | st.integers(), min_size=1, max_size=2).map(json.dumps),
    ).flatmap(graded)


def sets(found: st.SearchStrategy[Instance], at_least: int = 0) -> st.SearchStrategy[list[Instance]]:
    """Instances none of which has another's id."""
    return st.lists(found, min_size=at_least, max_size=4, unique_by=lambda instance: instance.id)
