"""Windows: every token stands where its text says, nothing is longer than the encoder reads, and answers are where a search finds them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kgqa.records import Candidate, Instance, Mention, Paragraph
from kgqa.settings.reader import CONNECTED, EncoderSettings
from tests.small_questions import paragraph, question

pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.errors import SettingsError
from kgqa.readers.answers import OPTIONS, occurrences
from kgqa.readers.transformer.encoder import Encoder, load_encoder
from kgqa.readers.transformer.examples import CUT, HIDDEN, NO_CANDIDATE, NOT_AMONG, NOT_STATED, UNSUPPORTED, Targets, encode
from kgqa.readers.transformer.windows import OPTION_TEXT, Cutter

STRANGE = st.text(st.sampled_from("ab Z9.,-_éßﬁİ\u0301\u200b\u200d\ufeff中文🙂👩‍👩‍👧\u202e\t\n\x00ﷺǅ½"), max_size=200)
WORDS = st.lists(st.sampled_from(["the", "city", "zyx", "capital", "Kem", "élan", "New", "York", "5%", "(a)"]), max_size=90).map(" ".join)
TEXTS = STRANGE | WORDS
LAYOUTS = ("packed", "apart")


@pytest.fixture(scope="module")
def encoder(tiny_encoder: str) -> Encoder:
    return load_encoder(tiny_encoder)


def cutter(encoder: Encoder, layout: str, *, options: bool = False, **more: Any) -> Cutter:
    made = Cutter(encoder, EncoderSettings(**{"encoder": "tiny", "stride": 8, **more}), options=options)
    made.packs = layout == "packed"
    return made


def instance(texts: list[str], *, asked: str = "who?", titles: list[str | None] | None = None, **more: Any) -> Instance:
    titles = titles or [None] * len(texts)
    shown = tuple(
        Paragraph(id=f"p{number}", title=title, text=text, supporting=None)
        for number, (text, title) in enumerate(zip(texts, titles, strict=True))
    )
    return replace(question(0), question=asked, paragraphs=shown, **more)


def row(asked: Instance, made: Cutter, lessons: Targets | None = None) -> dict[str, Any]:
    [found] = encode([asked], made, lessons or Targets()).to_pylist()
    return dict(found)


def check_row(found: dict[str, Any], asked: Instance, made: Cutter) -> None:
    """What has to hold of every row."""
    count = len(asked.paragraphs)
    assert (
        sum(found["lengths"]) == found["tokens"] == len(found["ids"]) == len(found["paragraph"]) == len(found["begin"]) == len(found["end"])
    )
    assert max(found["lengths"]) <= made.longest
    assert found["question_tokens"] <= min(found["lengths"])
    covered: dict[int, set[int]] = {number: set() for number in range(count)}
    for place, begin, end in zip(found["paragraph"], found["begin"], found["end"], strict=True):
        assert -1 <= place <= count + 1
        if place < 0:
            assert begin == end == 0
            continue
        text = OPTION_TEXT if place >= count else asked.paragraphs[place].text
        assert 0 <= begin <= end <= len(text)
        if place < count:
            covered[place].update(range(begin, end))
    for number, shown in enumerate(asked.paragraphs):
        ids = made.tokens([shown.text])[shown.text]
        assert covered[number] == {at for begin, end in zip(ids.begins, ids.ends, strict=True) for at in range(begin, end)}
    assert sorted(set(found["mark_paragraph"])) == list(range(count))
    end = made._end[0]
    assert all(found["ids"][mark] == end and found["paragraph"][mark] == -1 for mark in found["mark"])
    assert len(set(found["mark"])) == len(found["mark"])


@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_token_stands_where_its_text_says(encoder: Encoder, layout: str, data: st.DataObject) -> None:
    texts = data.draw(st.lists(TEXTS, max_size=5))
    titles = data.draw(st.lists(st.none() | TEXTS, min_size=len(texts), max_size=len(texts)))
    asked = instance(texts, asked=data.draw(TEXTS), titles=titles)
    made = cutter(
        encoder,
        layout,
        options=data.draw(st.booleans()),
        question_tokens=data.draw(st.integers(1, 900)),
        max_length=data.draw(st.integers(32, 160)),
    )
    check_row(row(asked, made), asked, made)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(
    words=st.lists(st.sampled_from(["kem", "Kem", "new york", "York", "capital", "x,", "the"]), min_size=1, max_size=120),
    answer=st.sampled_from(["kem", "New York", "york", "capital of"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_spans_are_those_of_a_plain_search(encoder: Encoder, layout: str, words: list[str], answer: str) -> None:
    text = " ".join(words)
    asked, made = instance([text, "the city"], answers=(answer,)), cutter(encoder, layout)
    found = row(asked, made)
    spans = {
        (found["paragraph"][first], found["begin"][first], found["end"][last])
        for first, last in zip(found["span_first"], found["span_last"], strict=True)
    }  # fmt: skip
    wanted = {(0, match.start(), match.end()) for match in re.finditer(rf"(?<!\w){answer}(?!\w)", text)} or {
        (0, match.start(), match.end()) for match in re.finditer(rf"(?<!\w){answer}(?!\w)", text, re.IGNORECASE)
    }
    assert spans == wanted
    assert found["fault"] == (None if wanted else NOT_STATED)


def test_aliases_and_supporting_paragraphs_decide_where_the_answer_is(encoder: Encoder) -> None:
    texts = ["kem and the vax", "vax", "nothing"]
    plain = instance(texts, answers=("Kem", "vax"))
    assert len(row(plain, cutter(encoder, "apart"))["span_first"]) == 3
    marked = replace(plain, paragraphs=tuple(replace(each, supporting=number == 1) for number, each in enumerate(plain.paragraphs)))
    assert len(row(marked, cutter(encoder, "apart"))["span_first"]) == 1
    elsewhere = replace(plain, paragraphs=tuple(replace(each, supporting=number == 2) for number, each in enumerate(plain.paragraphs)))
    assert len(row(elsewhere, cutter(encoder, "apart"))["span_first"]) == 3


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("answer", ["yes", "No", " no "])
def test_yes_and_no_stand_in_every_window(encoder: Encoder, layout: str, answer: str) -> None:
    asked = instance(["no city " * 90, "yes"], answers=(answer,))
    found = row(asked, cutter(encoder, layout, options=True))
    assert len(found["span_first"]) == len(found["lengths"]) > 1
    for first, last in zip(found["span_first"], found["span_last"], strict=True):
        assert found["paragraph"][first] == found["paragraph"][last] == 2 + OPTIONS.index(answer.strip().lower())
        assert OPTION_TEXT[found["begin"][first] : found["end"][last]] == answer.strip().lower()
    assert row(asked, cutter(encoder, layout))["fault"] is not None


def test_titles_are_no_answers(encoder: Encoder) -> None:
    asked = instance(["a city"], titles=["kem"], answers=("kem",))
    assert row(asked, cutter(encoder, "apart"))["fault"] == NOT_STATED


def test_candidates_are_found_by_mention_and_by_text(encoder: Encoder) -> None:
    text = "kem is near new york"
    mention = Mention(entity="k", start=12, end=20)
    asked = instance(
        [text], answers=("new york",), candidates=(Candidate(id="k", text="kem"), Candidate(id="n", text="new york")), answer_id="n"
    )
    found = row(asked, cutter(encoder, "apart"))
    assert (found["choices"], found["gold"], found["fault"]) == (2, 1, None)
    assert sorted(zip(found["span_owner"], found["span_first"], strict=True))[0][0] == 0
    marked = replace(asked, paragraphs=(replace(asked.paragraphs[0], mentions=(mention,)),))
    found = row(marked, cutter(encoder, "apart"))
    first = {owner: found["begin"][at] for owner, at in zip(found["span_owner"], found["span_first"], strict=True)}
    assert first == {0: 12, 1: 12}  # as the set marks it, and by its text where it marks nothing
    missing = replace(asked, answers=("oslo",), answer_id="o", candidates=(*(asked.candidates or ()), Candidate(id="o", text="oslo")))
    assert row(missing, cutter(encoder, "apart"))["fault"] == NO_CANDIDATE
    assert row(replace(missing, answer_id="r", answers=("rome",)), cutter(encoder, "apart"))["fault"] == NOT_AMONG
    assert row(question(0, answers=()), cutter(encoder, "apart"))["fault"] == HIDDEN


def test_an_answer_that_no_window_holds_whole_says_so(encoder: Encoder) -> None:
    answer = " ".join(["city"] * 200)
    found = row(instance([answer], answers=(answer,)), cutter(encoder, "apart"))
    assert (found["fault"], found["span_first"]) == (CUT, [])


def test_a_selector_needs_support_and_nothing_else(encoder: Encoder) -> None:
    lessons = Targets(answer=False)
    assert row(question(0, answers=()), cutter(encoder, "apart"), lessons)["fault"] is None
    assert row(instance(["vax"]), cutter(encoder, "apart"), lessons)["fault"] == UNSUPPORTED
    stating = Targets(answer=False, support="has-answer")
    assert row(instance(["vax", "wim"], answers=("vax",)), cutter(encoder, "apart"), stating)["mark_label"] == [1, 0]
    assert row(instance(["wim"], answers=("vax",)), cutter(encoder, "apart"), stating)["fault"] == NOT_STATED


def test_nothing_to_read_is_one_window_with_the_question(encoder: Encoder) -> None:
    for layout in LAYOUTS:
        found = row(instance([]), cutter(encoder, layout))
        assert (len(found["lengths"]), found["fault"], found["mark"]) == (1, NOT_STATED, [])
        empty = row(instance(["", " ", "\u200b"]), cutter(encoder, layout))
        assert empty["mark_paragraph"] == [0, 1, 2]


def test_packed_windows_hold_as_many_paragraphs_as_fit(encoder: Encoder) -> None:
    asked = question(0, shown=5)
    apart, packed = row(asked, cutter(encoder, "apart")), row(asked, cutter(encoder, "packed"))
    assert len(apart["lengths"]) == 5
    assert len(packed["lengths"]) < 5
    assert packed["tokens"] < apart["tokens"]
    assert packed["mark_label"] == apart["mark_label"]
    assert len(packed["span_first"]) == len(apart["span_first"]) == 1


def test_an_encoder_that_reads_more_than_a_thousand_tokens_packs(encoder: Encoder) -> None:
    assert not Cutter(encoder, EncoderSettings(), options=False).packs
    config, longest = encoder.network.config, encoder.tokenizer.model_max_length
    before = config.max_position_embeddings
    try:
        config.max_position_embeddings = encoder.tokenizer.model_max_length = CONNECTED + 1
        assert Cutter(encoder, EncoderSettings(), options=False).packs
        assert not Cutter(encoder, EncoderSettings(max_length=CONNECTED), options=False).packs
    finally:
        config.max_position_embeddings, encoder.tokenizer.model_max_length = before, longest


def test_a_window_that_is_too_short_is_a_mistake(encoder: Encoder) -> None:
    with pytest.raises(SettingsError, match=r"max_length = 31: .*at least 32"):
        cutter(encoder, "apart", max_length=31)


def test_equal_texts_under_two_ids_are_two_paragraphs(encoder: Encoder) -> None:
    twice = replace(question(0), paragraphs=(paragraph(0, supporting=True), replace(paragraph(0, supporting=False), id="again")))
    for layout in LAYOUTS:
        found = row(twice, cutter(encoder, layout))
        assert found["mark_label"] == [1, 0]
        assert {found["paragraph"][first] for first in found["span_first"]} == {0}


def test_sentences_are_marked_where_they_begin(encoder: Encoder) -> None:
    asked = question(0)
    for layout in LAYOUTS:
        found = row(asked, cutter(encoder, layout))
        for token, number, sentence, label in zip(
            found["sentence"], found["sentence_paragraph"], found["sentence_number"], found["sentence_label"], strict=True
        ):
            shown = asked.paragraphs[number]
            assert found["begin"][token] == shown.sentences[sentence]
            assert label == int(sentence in (shown.supporting_sentences or ()))
        assert len(found["sentence"]) == 6


def test_occurrences_are_whole_words_as_they_are_spelt() -> None:
    assert occurrences("Kem", "Kem kem Kemton") == [(0, 3)]
    assert occurrences("KEM", "Kem kem") == [(0, 3), (4, 7)]
    assert occurrences("new york", "new\n york") == [(0, 9)]
    assert occurrences("", "x") == occurrences("  ", "x  ") == []
    assert occurrences("5%", "15% 5% 5%x") == [(4, 6), (7, 9)]
    assert occurrences("(a", "((a") == [(1, 3)]
