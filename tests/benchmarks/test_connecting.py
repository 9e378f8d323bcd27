"""The questions of the benchmark need two paragraphs, and it tells the readers apart by what they see alone."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch", reason="the extra [readers] is not installed")

from benchmarks.connecting import READERS, questions


def test_no_paragraph_gives_the_answer_away() -> None:
    for instance in questions(50, seed=3, name="q"):
        named = [set(re.findall(r"[A-Z]\w+", paragraph.text)) for paragraph in instance.paragraphs]
        asked = set(re.findall(r"[A-Z]\w+", instance.question.removeprefix("Where")))
        answer = instance.answers[0]
        supporting = [names for names, paragraph in zip(named, instance.paragraphs, strict=True) if paragraph.supporting]
        others = [names for names, paragraph in zip(named, instance.paragraphs, strict=True) if not paragraph.supporting]
        assert [len(names) for names in named] == [4] * 4
        assert set.intersection(*supporting) == {answer}
        assert all(len(names & asked) == 1 for names in supporting)
        # The other two share a company, too, so that a name which occurs twice is not the answer for that alone.
        assert len(set.intersection(*others)) == 1
        assert not set().union(*others) & (set().union(*supporting))


def test_questions_are_drawn_anew_and_repeatably() -> None:
    first = questions(40, seed=0, name="a")
    assert first == questions(40, seed=0, name="a")
    assert len({instance.question for instance in first}) > 30
    places = [[paragraph.supporting for paragraph in instance.paragraphs].index(True) for instance in first]
    assert set(places) == {0, 1, 2}


def test_the_readers_differ_in_positions_alone() -> None:
    first, second = READERS.values()
    assert set(first) - set(second) == {"positions"}
    assert second == {}
