"""Masking replaces every expression of a sample's candidates and nothing else, and knows where everything is afterwards."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings, strategies as st

from kgqa.arrays.rows import Rows
from kgqa.linking.matcher import match
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.masking import MaskedTexts, mask_texts
from tests.lengths import example_count
from tests.linking.oracle import Name, tokens
from tests.linking.test_matcher import column, corpora, dictionary, name_of, places

Span = tuple[int, int, int]
"""Start, end, entity."""
ENTITIES = 5
OF_PLACEHOLDERS = {"_"} | {f"mask{number}" for number in range(100)}
MASK = re.compile(r"___MASK(\d+)___")


@dataclass(frozen=True, kw_only=True)
class Case:
    """Texts with their occurrences and mentions, and which documents each sample shows with which candidates."""

    texts: list[str]
    occurrences: list[list[Span]]
    mentions: list[list[Span]]
    samples: list[tuple[list[int], dict[int, int]]]
    """Documents; candidate → number of its placeholder."""


def as_places(spans: list[list[Span]]) -> Places:
    columns = np.array([span for part in spans for span in part], np.int32).reshape(-1, 3)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in spans])]).astype(np.int64)
    return Places(offsets=offsets, entity=columns[:, 2].copy(), start=columns[:, 0].copy(), end=columns[:, 1].copy())


def rows(parts: list[list[int]]) -> Rows:
    return Rows.from_counts(np.array([len(part) for part in parts], np.int64), np.array([n for part in parts for n in part], np.int32))


def masked(case: Case) -> tuple[list[str], list[list[Span]]]:
    numbers = np.array([number for _, candidates in case.samples for number in candidates.values()], np.int32)
    found: MaskedTexts = mask_texts(
        column(case.texts), as_places(case.occurrences), as_places(case.mentions), rows([shown for shown, _ in case.samples]),
        rows([list(candidates) for _, candidates in case.samples]), numbers,
    )  # fmt: skip
    spans = found.mentions
    listed = list(zip(spans.start.tolist(), spans.end.tolist(), spans.entity.tolist(), strict=True))
    return found.texts.to_pylist(), [listed[a:b] for a, b in zip(spans.offsets[:-1], spans.offsets[1:], strict=True)]


def chosen(occurrences: list[Span], mentions: list[Span], candidates: dict[int, int]) -> list[Span]:
    """Linked ones, then longest first, then leftmost, then the one that comes first; none over another; in the order of the text."""
    kept = [span for span in mentions if span[2] in candidates]
    for span in sorted((s for s in occurrences if s[2] in candidates), key=lambda span: (span[0] - span[1], span[0])):
        if all(span[1] <= other[0] or other[1] <= span[0] for other in kept):
            kept.append(span)
    return sorted(kept)


def plainly_masked(text: str, occurrences: list[Span], mentions: list[Span], candidates: dict[int, int]) -> tuple[str, list[Span]]:
    """The same in plain Python."""
    spans = chosen(occurrences, mentions, candidates)
    free = [m for m in mentions if all(m[1] <= span[0] or span[1] <= m[0] for span in spans)]
    out, found, at = "", [], 0
    for start, end, entity in sorted(spans + free):
        out += text[at:start]
        shown = f"___MASK{candidates[entity]}___" if (start, end, entity) in spans else text[start:end]
        found.append((len(out), len(out) + len(shown), entity))
        out, at = out + shown, end
    return out + text[at:], found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    texts = draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=14), min_size=1, max_size=4))
    occurrences, mentions = [], []
    for text in texts:
        spans = st.tuples(st.integers(0, len(text)), st.integers(1, 6), st.integers(0, ENTITIES - 1))
        fitting = [(s, min(s + n, len(text)), e) for s, n, e in draw(st.lists(spans, max_size=8)) if s < len(text)]
        occurrences.append(sorted(dict.fromkeys(fitting), key=lambda span: (span[0], -span[1])))
        apart: list[Span] = []
        for s, n, e in sorted(draw(st.lists(spans, max_size=6))):
            if s < len(text) and (not apart or apart[-1][1] <= s):
                apart.append((s, min(s + n, len(text)), e))
        mentions.append(apart)
    samples = draw(
        st.lists(
            st.tuples(
                st.lists(st.integers(0, len(texts) - 1), max_size=3),
                st.dictionaries(st.integers(0, ENTITIES - 1), st.integers(0, 99), min_size=1, max_size=3),
            ),
            max_size=4,
        )
    )
    return Case(texts=texts, occurrences=occurrences, mentions=mentions, samples=samples)


@settings(max_examples=example_count(400))
@given(case=cases())
def test_texts_and_mentions_are_those_of_the_plain_version(case: Case) -> None:
    expected = [
        plainly_masked(case.texts[d], case.occurrences[d], case.mentions[d], candidates)
        for shown, candidates in case.samples
        for d in shown
    ]
    texts, mentions = masked(case)
    assert texts == [text for text, _ in expected]
    assert mentions == [spans for _, spans in expected]


@given(case=cases())
def test_putting_the_names_back_gives_the_text_back(case: Case) -> None:
    shown = [(d, candidates) for documents, candidates in case.samples for d in documents]
    for (document, candidates), text in zip(shown, masked(case)[0], strict=True):
        if not MASK.search(case.texts[document]):
            spans = chosen(case.occurrences[document], case.mentions[document], candidates)
            names = iter([case.texts[document][start:end] for start, end, _ in spans])
            assert MASK.sub(lambda _, names=names: next(names), text) == case.texts[document]  # type: ignore[misc]


@settings(max_examples=example_count(200))
@given(corpus=corpora(), wanted=st.sets(st.integers(0, 3), min_size=1, max_size=3))
@example(corpus=([name_of("New York", 0, 0), name_of("York City", 1, 0), name_of("City", 2, 0)], ["New York City"]), wanted={0, 1, 2})
def test_no_name_of_a_candidate_is_left(corpus: tuple[list[Name], list[str]], wanted: set[int]) -> None:
    texts = corpus[1]
    names = [replace(name, candidate=True) for name in corpus[0] if not {token.folded for token in tokens(name.name)} & OF_PLACEHOLDERS]
    known = dictionary(names or [name_of("x", 0, 0)])
    found = places(match(column(texts), known).occurrences)
    occurrences = [[(s, e, entity) for d, s, e, entity in found if d == document] for document in range(len(texts))]
    numbers = {entity: number for number, entity in enumerate(sorted(wanted))}
    case = Case(texts=texts, occurrences=occurrences, mentions=[[] for _ in texts], samples=[(list(range(len(texts))), numbers)])
    left = places(match(column(masked(case)[0]), known).occurrences)
    assert not [place for place in left if place[3] in wanted]


@given(case=cases())
@example(case=Case(texts=["The York Times"], occurrences=[[(0, 14, 1)]], mentions=[[(4, 8, 0)]], samples=[([0], {0: 4, 1: 5})])).via(
    "the name of another candidate is longer"
)
def test_a_linked_candidate_has_a_place_of_its_own_and_nothing_of_it_is_left(case: Case) -> None:
    shown = [(d, candidates) for documents, candidates in case.samples for d in documents]
    for (document, candidates), spans, text in zip(shown, masked(case)[1], masked(case)[0], strict=True):
        linked = [mention for mention in case.mentions[document] if mention[2] in candidates]
        placeholders = [text[start:end] for start, end, entity in spans if entity in candidates]
        for entity in candidates:
            own = placeholders.count(f"___MASK{candidates[entity]}___")
            assert own >= sum(mention[2] == entity for mention in linked) * (list(candidates.values()).count(candidates[entity]) == 1)
        kept = "".join(c for at, c in enumerate(case.texts[document]) if not any(start <= at < end for start, end, _ in linked))
        if not MASK.search(case.texts[document]):
            assert is_part("".join(MASK.split(text)[::2]), kept)


def is_part(short: str, long: str) -> bool:
    """Whether the characters of ``short`` stand in ``long`` in this order."""
    left = iter(long)
    return all(character in left for character in short)


def test_a_mention_of_an_entity_that_no_occurrence_reaches() -> None:
    case = Case(texts=["a b"], occurrences=[[(0, 1, 0)]], mentions=[[(2, 3, 4000)]], samples=[([0], {0: 7})] * 50)
    assert masked(case) == (["___MASK7___ b"] * 50, [[(0, 11, 0), (12, 13, 4000)]] * 50)


def test_placeholders_are_counted() -> None:
    texts, occurrences = column(["a b c"]), as_places([[(0, 1, 0), (2, 3, 1)]])
    found = mask_texts(texts, occurrences, as_places([[]]), rows([[0], [0]]), rows([[0], [0, 1]]), np.array([1, 2, 3], np.int32))
    assert found.hidden == 3


def test_placeholders_of_one_two_and_three_digits() -> None:
    case = Case(texts=["a b c"], occurrences=[[(0, 1, 0), (2, 3, 1), (4, 5, 2)]], mentions=[[]], samples=[([0], {0: 0, 1: 42, 2: 999})])
    assert masked(case)[0] == ["___MASK0___ ___MASK42___ ___MASK999___"]


def test_nothing_to_mask_is_nothing() -> None:
    assert masked(Case(texts=[""], occurrences=[[]], mentions=[[]], samples=[])) == ([], [])
    assert pa.array(masked(Case(texts=["é"], occurrences=[[]], mentions=[[]], samples=[([0, 0], {0: 1})]))[0]).to_pylist() == ["é", "é"]
