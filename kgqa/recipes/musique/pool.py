"""Step S1 (Trivedi et al. 2022): the tables of the pool of single-hop questions, which all later steps use.

single_hop    ``id``, ``source`` (dataset or domain), ``question``, ``answer``, ``aliases``, ``paragraph`` (row of ``paragraphs``),
              ``start`` (of the answer in the paragraph's text, in characters), ``answer_entity``, ``kind`` (see ``wording.py``). For
              questions from facts also: ``relations`` (names of templates), ``entities`` and ``names`` (the subjects of the question),
              ``called`` (all names of these), ``noun`` (the noun for the answer) and ``read`` (whether a model read one of the facts
              out of an article). Sorted by id
stated        ``template``, ``head``, ``tail`` (entities), ``paragraph`` (id): the facts of a graph that paragraphs state, even without a
              question; empty for datasets
refused_single_hop    ``id`` (after the dataset's name), ``split`` (empty), ``stage``, ``reason``, ``detail`` (the question); for datasets
              only, since most facts of a graph give no question
paragraphs    ``id``, ``title``, ``text``; sorted by id, no two with the same text
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

SINGLE_HOP = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("aliases", pa.list_(pa.string())),
        ("paragraph", pa.int32()),
        ("start", pa.int32()),
        ("answer_entity", pa.string()),
        ("kind", pa.string()),
        ("relations", pa.list_(pa.string())),
        ("entities", pa.list_(pa.string())),
        ("names", pa.list_(pa.string())),
        ("called", pa.list_(pa.string())),
        ("noun", pa.string()),
        ("read", pa.bool_()),
    ]
)
PARAGRAPHS = pa.schema([("id", pa.string()), ("title", pa.string()), ("text", pa.string())])
STATED = pa.schema([(name, pa.string()) for name in ("template", "head", "tail", "paragraph")])
REFUSED = pa.schema([(name, pa.string()) for name in ("id", "split", "stage", "reason", "detail")])
REASONS = {
    "several paragraphs": "the question has no paragraph, or several that support its answer, so that it is no single-hop one",
    "not asked": "the relation is not asked about",
    "unnamed": "no document can state the fact: the article about its head that names its tail, or a sentence with both that counts",
    "no cue": "no sentence of the text that names the other end has a word that states the relation",
    "unstated": "the text that names head and tail hardly states the fact, by a model that was learned from the facts",
    "several": "the question has more than one answer in the graph",
    "incomplete": "the graph has one answer, but entities mostly have several in this relation",
    "copied": "a relation that says the same asks for this answer of the same thing",
    "span": "the answer stands nowhere in the paragraph",
    "short": "the paragraph has too few words",
    "long": "the paragraph has too many words",
    "alone": "no paragraph states one of the two facts by which it asks of anybody else, so that the other one is not needed",
    "improper": "the name of a profession is none, or stands where none can",
    "vague": "two facts hardly identify anything among all that its vague noun covers",
    "bound": "the question names nothing, so that only its paragraph says what it is about",
    "named": "the answer stands in the question",
    "reference": "the question has a number sign and a figure (#2), which in a decomposition is the answer to an earlier one",
    "unanswered": "the question has no answer, or one that is no span",
    "repeated": "the same question with the same answer and paragraph is there already",
    "unread": "no reader finds any of the answer",
}
"""Reason against a single-hop question (step S1) → the sentence in reports."""


def tokens_of(single_hop: pa.Table) -> npt.NDArray[np.int32]:
    """The number of words of each question; int32."""
    return pc.count_substring_regex(single_hop["question"], r"\S+").to_numpy().astype(np.int32)
