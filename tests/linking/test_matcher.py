"""The compiled matcher finds what the plain one finds, in any script, on any number of threads, however the texts are cut."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.arrays.tokens import spellings
from kgqa.linking import matcher
from kgqa.linking.dictionary import CASES, Dictionary
from kgqa.linking.matcher import Matches, Spans, match
from kgqa.linking.trie import build_trie
from tests.lengths import example_count
from tests.linking import oracle
from tests.linking.oracle import Name, Place

WORDS = (
    "New", "new", "NEW", "York", "york", "City", "IL", "Il", "il", "2", "10", "ER", "İ", "ß", "ẞ", "Straße", "São", "São", "é", "É", "Ǆ",
    "’", "'", "–", "-", "—", "“", '"', "(", ")", ".", "Ⓐ", "ⓐ", "🌍", "🇩🇪", "☎️", "東", "京", "カ", "タ", "한국", "עברית", "µ", "μ", "Σ",
    "σ", "ς", "𐐀", "𐐨", "\u00ad", "\u200d", "_", "ﬁ", "Å", "Å", "K", "k",
)  # fmt: skip
GAPS = st.sampled_from(["", "", " ", " ", " ", "  ", "\n", "\t", "\u00a0", "\u3000"])
ANY = st.text(st.characters(codec="utf-8"), max_size=4)


@st.composite
def written(draw: st.DrawFn, *, most: int) -> str:
    """Words and signs, with and without space between them, now and then anything at all, composed or decomposed."""
    words = st.one_of(st.sampled_from(WORDS), st.sampled_from(WORDS), st.sampled_from(WORDS), ANY)
    text = "".join(word + gap for word, gap in draw(st.lists(st.tuples(words, GAPS), max_size=most)))
    form = draw(st.sampled_from(["", "", "NFC", "NFD"]))
    return unicodedata.normalize(form, text) if form else text  # type: ignore[arg-type]


@st.composite
def corpora(draw: st.DrawFn, *, texts: int = 4) -> tuple[list[Name], list[str]]:
    """Names and texts; most names are cut out of the texts and then written in another way, so that they overlap and nest."""
    context = draw(st.lists(written(most=14), min_size=1, max_size=texts))
    names = []
    for _ in range(draw(st.integers(1, 8))):
        words = oracle.tokens(text := draw(st.sampled_from(context)))
        name = draw(written(most=3).filter(oracle.tokens)) if not words or draw(st.integers(0, 5)) == 0 else ""
        if not name:
            first = draw(st.integers(0, len(words) - 1))
            last = draw(st.integers(first, min(first + 3, len(words) - 1)))
            name = getattr(
                text[words[first].start : words[last].end], draw(st.sampled_from(["strip", "strip", "upper", "lower", "title"]))
            )()
            name = name if oracle.tokens(name) else text[words[first].start : words[last].end]
        entity, case, priority = draw(st.integers(0, 3)), draw(st.sampled_from(sorted(CASES))), draw(st.integers(0, 1))
        names.append(Name(name=name, entity=entity, case=case, priority=priority, candidate=entity % 2 == 0))
    return names, context


Corpus = tuple[list[Name], list[str]]


def name_of(name: str, entity: int, priority: int) -> Name:
    return Name(name=name, entity=entity, case="free", priority=priority, candidate=True)


def column(texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.string())])


def dictionary(names: list[Name]) -> Dictionary:
    """The same names as the matcher wants them: grouped by folded tokens, then by priority and entity."""
    texts = column([name.name for name in names])
    trie, group = build_trie(texts)
    whole, but_first = spellings(texts).T
    spelling = [but_first[i] if name.case == "initial" else whole[i] for i, name in enumerate(names)]
    order = sorted(range(len(names)), key=lambda i: (group[i], names[i].priority, names[i].entity))
    ordered = [names[i] for i in order]
    return Dictionary(
        trie=trie,
        offsets=np.searchsorted(group[order], np.arange(group.max() + 2)).astype(np.int64),
        entity=np.array([name.entity for name in ordered], np.int32),
        case=np.array([CASES[name.case] for name in ordered], np.uint8),
        spelling=np.array([spelling[i] for i in order], np.uint64),
        priority=np.array([name.priority for name in ordered], np.int32),
        candidate=np.array([name.candidate for name in ordered], np.bool_),
        skip=np.zeros(len(ordered), np.uint8),
        name=np.arange(len(ordered), dtype=np.uint32),
        names=pl.DataFrame(),
        cut=np.zeros(len(ordered), np.uint8),
        removed={},
        endings=(),
    )


def places(spans: Spans) -> list[Place]:
    columns = (spans.document.tolist(), spans.start.tolist(), spans.end.tolist(), spans.entity.tolist())
    return list(zip(*columns, strict=True))


def as_plain(found: Matches) -> tuple[list[Place], list[Place], int]:
    return places(found.mentions), places(found.occurrences), found.shared


@settings(max_examples=example_count(400))
@given(corpus=corpora(), before_number=st.booleans())
@example(corpus=([Name(name="Ⓐ", entity=0, case="exact", priority=0, candidate=True)], ["Ⓐ ⓐ"]), before_number=True)
@example(corpus=([name_of(n, e, p) for n, e, p in [("york", 0, 0), ("York", 1, 0), ("YORK", 0, 1)]], ["New York"]), before_number=True)
def test_the_matcher_finds_what_the_plain_one_finds(corpus: Corpus, before_number: bool) -> None:
    names, texts = corpus
    result = match(column(texts), dictionary(names), before_number=before_number)
    mentions, occurrences, shared = as_plain(result)
    assert (mentions, sorted(occurrences), shared) == oracle.match(texts, names, before_number=before_number)
    starts = [(document, start, -end) for document, start, end, _ in occurrences]
    assert starts == sorted(starts)


@settings(max_examples=example_count(200))
@given(corpus=corpora())
def test_offsets_are_characters_and_the_text_between_them_folds_to_a_name_of_the_entity(corpus: Corpus) -> None:
    names, texts = corpus
    result = match(column(texts), dictionary(names))
    for document, start, end, entity in [*places(result.mentions), *places(result.occurrences)]:
        surface = [token.folded for token in oracle.tokens(texts[document][start:end])]
        assert surface in [[token.folded for token in oracle.tokens(name.name)] for name in names if name.entity == entity]


@settings(max_examples=example_count(100))
@given(corpus=corpora())
def test_mentions_do_not_overlap(corpus: Corpus) -> None:
    names, texts = corpus
    result = places(match(column(texts), dictionary(names)).mentions)
    assert all(a[0] < b[0] or a[2] <= b[1] for a, b in pairwise(result))


@pytest.mark.parametrize("workers", [1, 3])
@settings(max_examples=example_count(60))
@given(corpus=corpora(texts=8), size=st.integers(1, 40))
def test_the_result_does_not_depend_on_batches_and_threads(corpus: Corpus, size: int, workers: int) -> None:
    names, texts = corpus
    whole = as_plain(match(column(texts), dictionary(names)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher, "BATCH", size)
        done: list[int] = []
        assert as_plain(match(column(texts), dictionary(names), engine=Threads(workers), advance=done.append)) == whole
        assert sum(done) == sum(len(text.encode()) for text in texts)
        assert len(done) > 1 or sum(done) <= size or len(texts) == 1


@settings(max_examples=example_count(60))
@given(corpus=corpora())
def test_without_occurrences_the_mentions_are_the_same(corpus: Corpus) -> None:
    names, texts = corpus
    with_them, without = (match(column(texts), dictionary(names), occurrences=expected) for expected in (True, False))
    assert places(without.mentions) == places(with_them.mentions)
    assert without.shared == with_them.shared
    assert places(without.occurrences) == []


@settings(max_examples=example_count(60))
@given(corpus=corpora(), cut=st.integers(0, 4))
def test_a_column_in_pieces_is_the_same_column(corpus: Corpus, cut: int) -> None:
    names, texts = corpus
    pieces = pa.chunked_array([pa.array(["before", *texts[:cut]], pa.string()).slice(1), pa.array(texts[cut:], pa.string())])
    assert as_plain(match(pieces, dictionary(names))) == as_plain(match(column(texts), dictionary(names)))


def found_in(text: str, *names: str, case: str = "free", before_number: bool = True) -> list[str]:
    """The surfaces of the mentions of ``names``, each the name of another entity."""
    data = [Name(name=name, entity=i, case=case, priority=0, candidate=True) for i, name in enumerate(names)]
    result = match(column([text]), dictionary(data), before_number=before_number)
    return [text[start:end] for _, start, end, _ in places(result.mentions)]


@pytest.mark.parametrize(
    ("text", "names", "surfaces"),
    [
        ("He left New York City.", ["York", "New York", "New York City", "City"], ["New York City"]),
        ("New York York", ["York", "New York"], ["New York", "York"]),
        ("Newark, New Yorker", ["New", "New York"], ["New"]),
        ("( ER)-negative and (ER )-negative", ["(ER)-negative"], ["( ER)-negative", "(ER )-negative"]),
        ("Saint Paul’s Cathedral", ["saint paul's cathedral"], ["Saint Paul’s Cathedral"]),
        ("Notre–Dame, Notre - Dame", ["notre-dame"], ["Notre–Dame", "Notre - Dame"]),
        ("😀😀 São Paulo 😀", ["são paulo"], ["São Paulo"]),
        ("Sa\u0303o Paulo", ["Sa\u0303o Paulo"], ["Sa\u0303o Paulo"]),
        ("我在東京都", ["東京"], ["東京"]),
        ("call ☎️ me", ["☎️"], ["☎️"]),
        ("İstanbul'da, ISPARTA", ["istanbul", "ısparta"], ["İstanbul", "ISPARTA"]),
        ("STRAẞE", ["straße"], ["STRAẞE"]),
    ],
)
def test_examples(text: str, names: list[str], surfaces: list[str]) -> None:
    assert found_in(text, *names) == surfaces


def test_case_rules() -> None:
    text = "Art, art, ART, aRt"
    assert found_in(text, "Art") == ["Art", "art", "ART", "aRt"]
    assert found_in(text, "Art", case="initial") == ["Art", "art"]
    assert found_in(text, "Art", case="exact") == ["Art"]


def test_a_name_before_a_hyphen_and_a_digit_can_be_left_out() -> None:
    assert found_in("IL-2, IL- and IL -2", "IL") == ["IL"] * 3
    assert found_in("IL-2, IL- and IL -2", "IL", before_number=False) == ["IL"] * 2


def test_names_longer_than_any_stack_and_nested_ones_are_found() -> None:
    long = " ".join(f"w{i}" for i in range(200))
    assert found_in(f"x {long} y", long) == [long]
    nested = [" ".join(f"w{i}" for i in range(n)) for n in range(1, 60)]
    assert found_in(f"x {long} y", *nested) == [nested[-1]]


def test_no_texts_and_empty_texts_have_no_mentions() -> None:
    data = dictionary([Name(name="a", entity=0, case="free", priority=0, candidate=True)])
    for texts in ([], [""], ["", " ", "\u200b"]):
        assert as_plain(match(column(texts), data)) == ([], [], 0)
