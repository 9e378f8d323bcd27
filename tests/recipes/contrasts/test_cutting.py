"""A paragraph without some sentences: nothing moves to a wrong place."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from kgqa.recipes.contrasts.cutting import cut
from kgqa.recipes.contrasts.facts import sentence_bounds
from kgqa.records import Mention, Paragraph
from tests.recipes.contrasts.drawing import paragraph

SENTENCES = ["Merlin met Arthur. ", "They rode on. ", "Avalon was near. ", "Night fell."]


def sentences_of(entry: Paragraph) -> list[str]:
    bounds = [sentence_bounds(entry, number) for number in range(len(entry.sentences or ()))]
    return [entry.text[start:end] for start, end in bounds]


@st.composite
def marked(draw: st.DrawFn) -> Paragraph:
    """Some sentences with marks and mentions at words."""
    sentences = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5))
    entry = paragraph("p", sentences, supporting=sorted(draw(st.sets(st.integers(0, len(sentences) - 1)))))
    places = st.tuples(st.integers(0, len(entry.text)), st.integers(0, len(entry.text)))
    mentions = [Mention(entity="E", start=min(pair), end=max(pair)) for pair in draw(st.lists(places, max_size=4))]
    return replace(entry, mentions=tuple(mentions))


@given(marked(), st.sets(st.integers(0, 4)))
def test_what_is_left_is_where_it_says(entry: Paragraph, gone: set[int]) -> None:
    stay = [number for number in range(len(entry.sentences or ())) if number not in gone]
    left = cut(entry, gone)
    if left is None:
        assert not stay
        return
    assert sentences_of(left) == [sentences_of(entry)[number] for number in stay]
    assert "".join(sentences_of(left)) == left.text
    marks = [stay[number] for number in left.supporting_sentences or ()]
    assert marks == [number for number in entry.supporting_sentences or () if number in stay]
    assert left.supporting == bool(marks)
    inside = [
        entry.text[mention.start : mention.end]
        for number in stay
        for mention in entry.mentions or ()
        if sentence_bounds(entry, number)[0] <= mention.start and mention.end <= sentence_bounds(entry, number)[1]
    ]
    assert [left.text[mention.start : mention.end] for mention in left.mentions or ()] == inside
    assert (left.id, left.title) == (entry.id, entry.title)


def test_a_mention_across_two_sentences_goes_with_either() -> None:
    entry = replace(paragraph("p", SENTENCES), mentions=(Mention(entity="E", start=7, end=25), Mention(entity="F", start=33, end=39)))
    left = cut(entry, {1})
    assert left is not None
    assert [(mention.entity, left.text[mention.start : mention.end]) for mention in left.mentions or ()] == [("F", "Avalon")]


def test_the_first_sentence_begins_with_the_text_and_a_paragraph_without_offsets_has_none() -> None:
    entry = replace(paragraph("p", ["  One. ", "Two."]), sentences=(2, 7))
    assert sentences_of(entry) == ["  One. ", "Two."]
    assert cut(replace(entry, sentences=(), supporting_sentences=()), {0}) is None
