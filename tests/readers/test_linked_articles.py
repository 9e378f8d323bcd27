"""Which articles links lead to, what a question needs of them, and how parts of them are named."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from kgqa.formats.provenance import note
from kgqa.readers.linked_articles import (
    articles_of,
    evidence_places,
    link_question,
    link_targets,
    linked_articles,
    needed_links,
    part_of,
    whole_of,
)
from tests.small_links import KNOWN, article, linked_question


def test_supporting_articles_are_needed_else_the_noted_links() -> None:
    instance = linked_question(0)
    assert needed_links(instance) == frozenset({"arl"})
    unknown = tuple(replace(paragraph, supporting=None) for paragraph in instance.paragraphs)
    assert needed_links(replace(instance, paragraphs=unknown)) is None
    noted = replace(instance, paragraphs=unknown, provenance=note("iirc", {"question_links": ["DUN", "Elsewhere"]}))
    assert needed_links(noted) == frozenset({"dun", "elsewhere"})
    assert needed_links(replace(instance, paragraphs=tuple(replace(each, supporting=False) for each in instance.paragraphs))) == frozenset()
    assert needed_links(replace(instance, paragraphs=())) is None


def test_a_link_question_tells_no_answer_and_shows_only_the_passage() -> None:
    shown = link_question(linked_question(0))
    assert [paragraph.id for paragraph in shown.paragraphs] == ["main"]
    assert [candidate.id for candidate in shown.candidates or ()] == ["arl", "dun"]
    assert (shown.answers, shown.answer_id) == ((), None)
    assert link_question(replace(linked_question(0), paragraphs=())).candidates == ()


def test_articles_come_from_the_question_then_from_the_file() -> None:
    instance = linked_question(0, articles=False)
    found = linked_articles(instance, frozenset({"arl", "dun", "no such article"}), {"arl": "text of arl"})
    assert [(each.id, each.text, each.supporting) for each in found] == [("arl", "text of arl", None)]
    shown = linked_articles(linked_question(0), frozenset({"arl"}), {"arl": "another text"})
    assert shown == (article(0, supporting=True),)


def test_evidence_is_the_marked_sentence_the_noted_one_the_answer_or_all() -> None:
    instance = linked_question(0)
    shown = articles_of(instance)[0]
    (place,) = evidence_places(instance, shown)
    assert shown.text[slice(*place)] == KNOWN.format("arl", "vax")
    bare = replace(shown, sentences=None, supporting_sentences=None)
    assert [bare.text[slice(*each)] for each in evidence_places(instance, bare)] == ["vax"]
    noted = replace(instance, provenance=note("iirc", {"context": [{"text": " who is the river.", "passage": "arl"}]}))
    assert [bare.text[slice(*each)] for each in evidence_places(noted, bare)] == ["who is the river."]
    assert evidence_places(replace(instance, answers=("nowhere",)), bare) == [(0, len(bare.text))]
    assert evidence_places(instance, replace(shown, supporting=None)) == []


@given(st.text(min_size=1, max_size=12), st.integers(0, 99), st.integers(0, 99))
def test_the_article_of_a_part_is_found_by_its_id(title: str, start: int, end: int) -> None:
    whole = replace(article(0, supporting=None), id=title)
    assert whole_of(part_of(whole, start, end, supporting=None).id) == title


def test_links_are_listed_once_in_the_order_of_the_passage() -> None:
    instance = linked_question(0)
    passage = instance.paragraphs[0]
    again = replace(passage, mentions=(*(passage.mentions or ()), replace((passage.mentions or ())[0], entity="ARL")))
    assert link_targets(replace(instance, paragraphs=(again,))) == {"arl": "arl", "dun": "dun"}
    assert link_targets(replace(instance, paragraphs=(replace(passage, mentions=None),))) == {}
