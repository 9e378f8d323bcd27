"""Mentions of candidates, by name and as the set marks them, and their tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, strategies as st

from kgqa.readers.answers import candidate_spans, outermost_spans, right_candidate
from kgqa.readers.recurrent.forms import question_forms, split
from kgqa.readers.recurrent.superdocument import ABSENT, Assembler
from kgqa.readers.recurrent.vocabulary import SEPARATOR, count_vocabulary
from kgqa.records import Candidate, Mention
from tests.readers.recurrent.questions import born, paragraph

SPANS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 5)).map(lambda span: (span[0], span[1], span[1] + span[2])))


@given(SPANS)
def test_only_spans_inside_a_longer_one_go(spans: list[tuple[int, int, int]]) -> None:
    def inside(small: tuple[int, int, int], large: tuple[int, int, int]) -> bool:
        return large[1] <= small[1] and small[2] <= large[2] and small[1:] != large[1:]

    assert outermost_spans(spans) == sorted({span for span in spans if not any(inside(span, other) for other in spans)})


def test_a_name_inside_a_longer_one_is_no_mention_for_any_reader() -> None:
    shown = (paragraph("p", "South Africa lies in Africa."),)
    instance = replace(born(0), paragraphs=shown, candidates=(Candidate(id="Q1", text="Africa"), Candidate(id="Q2", text="South Africa")))
    assert list(candidate_spans(instance)) == [(0, 0, 21, 27), (1, 0, 0, 12)]
    document = Assembler(count_vocabulary([instance], most=100), seed=0, max_length=100).assemble(instance)
    first = 2  # after the marks for the text and its paragraph
    assert document.token_spans(candidate_spans(instance)) == [(0, first + 4, first + 4), (1, first, first + 1)]


def test_the_right_candidate_is_known_by_id_or_text() -> None:
    named = replace(born(0), candidates=(Candidate(id="Q1", text="Oslo"), Candidate(id="Q2", text="Rome")), answers=("Rome",))
    assert right_candidate(replace(named, answer_id="Q1")) == 0
    assert right_candidate(replace(named, answer_id=None)) == 1
    assert right_candidate(replace(named, answer_id=None, answers=("Bonn",))) == -1


def test_placeholders_are_one_token_and_relations_come_whole() -> None:
    assert split("in ___MASK12___, ___MASK3______MASK4___").forms == ["in", "___MASK12___", ",", "___MASK3___", "___MASK4___"]
    assert question_forms("part_of ___MASK12___") == ["part_of", "part", "of", "___MASK12___"]


def test_masked_and_marked_candidates_are_mentioned() -> None:
    text = "The capital of ___MASK7___ is called the White City."
    start = text.index("White City")
    shown = (paragraph("p", text, mentions=[Mention(entity="Q2", start=start, end=start + len("White City"))]),)
    candidates = (Candidate(id="Q1", text="___MASK7___"), Candidate(id="Q2", text="Belgrade"))
    instance = replace(born(0), paragraphs=shown, candidates=candidates)
    document = Assembler(count_vocabulary([instance], most=100), seed=0, max_length=100).assemble(instance)
    first = 2  # after the marks for the text and its paragraph
    assert document.token_spans(candidate_spans(instance)) == [(0, first + 3, first + 3), (1, first + 7, first + 8)]
    assert document.token_spans(candidate_spans(instance, marked=False)) == [(0, first + 3, first + 3)]


@given(st.integers(0, 5), st.integers(4, 40))
def test_a_superdocument_is_its_paragraphs_in_a_drawn_order(seed: int, limit: int) -> None:
    instance = born(1)
    document = Assembler(count_vocabulary([instance], most=100), seed=seed, max_length=limit).assemble(instance)
    assert len(document.words) <= limit
    assert [int(document.words[mark]) for mark in document.marks] == [SEPARATOR] * len(document.order)
    for number in document.order:
        text = instance.paragraphs[number].text
        tokens = np.flatnonzero(document.paragraphs == number)
        said = [text[first:last] for first, last in zip(document.starts[tokens], document.ends[tokens], strict=True)]
        assert said == split(text).forms[: len(said)]
    assert document.paragraphs[0] == ABSENT
