"""Every form of an entity's names is found where a reader would see it, by a search that a plain one agrees with."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.arrays.rows import Rows, row_bounds
from kgqa.linking.dictionary import EXACT, FREE, INITIAL
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.surface import function_words_at, surface_forms, without_function_words
from kgqa.recipes.qangaroo.surface_search import build_forms, find_forms, left_readable, named_in_rows
from tests.lengths import example_count

Form = tuple[int, str, int]
"""Entity, form, case."""
WORDS = ("New", "new", "York", "york", "Šiška", "the", "d'Or", "A-b", "9th")
CASES = (FREE, INITIAL, EXACT)
FORMS = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), st.sampled_from(CASES)),
    min_size=1, max_size=8, unique=True,
)  # fmt: skip
TEXTS = st.lists(
    st.lists(st.sampled_from([*WORDS, "YORK", "Yorks", ",", "-", '"', "__", "😀", "é"]), max_size=10).flatmap(
        lambda words: st.sampled_from([" ", "  ", "-"]).map(lambda space: space.join(words))
    ),
    min_size=1, max_size=4,
)  # fmt: skip


def frame_of(forms: list[Form]) -> pl.DataFrame:
    schema = {"entity": pl.UInt32, "form": pl.String, "case": pl.UInt8}
    return pl.DataFrame([dict(zip(schema, form, strict=True)) for form in forms], schema=schema)


def column(texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.string())])


def tokens(text: str) -> list[re.Match[str]]:
    return list(re.finditer(r'[^\W_]+|[^\w\s"-]|_', text))


def found_plainly(text: str, forms: list[Form]) -> set[tuple[int, int, int]]:
    """Start, end and entity of every form, by comparing tokens one by one."""
    seen = tokens(text)
    result = set()
    for entity, form, case in forms:
        wanted = [token[0] for token in tokens(form)]
        for at in range(len(seen) - len(wanted) + 1):
            here = [token[0] for token in seen[at : at + len(wanted)]]
            same = [token.lower() for token in here] == [token.lower() for token in wanted]
            written = here if case == EXACT else [here[0][1:], *here[1:]]
            as_form = wanted if case == EXACT else [wanted[0][1:], *wanted[1:]]
            if same and (case == FREE or written == as_form):
                result.add((seen[at].start(), seen[at + len(wanted) - 1].end(), entity))
    return result


@settings(max_examples=example_count(300))
@given(forms=FORMS, texts=TEXTS)
def test_the_search_finds_what_a_plain_search_finds(forms: list[Form], texts: list[str]) -> None:
    found = find_forms(column(texts), build_forms(frame_of(forms)))
    for i, text in enumerate(texts):
        here = slice(found.offsets[i], found.offsets[i + 1])
        spans = list(zip(found.start[here].tolist(), found.end[here].tolist(), found.entity[here].tolist(), strict=True))
        assert set(spans) == found_plainly(text, forms)
        assert [span[0] for span in spans] == sorted(span[0] for span in spans)


@given(forms=FORMS, texts=TEXTS, candidates=st.lists(st.sets(st.integers(0, 3), max_size=3), min_size=1, max_size=3))
def test_only_candidates_of_the_sample_count_as_readable(forms: list[Form], texts: list[str], candidates: list[set[int]]) -> None:
    index = build_forms(frame_of(forms))
    rows = Rows.from_counts(np.array([len(c) for c in candidates]), np.array([e for c in candidates for e in sorted(c)], np.int32))
    sample = np.repeat(np.arange(len(candidates)), len(texts))
    left = left_readable(column(texts * len(candidates)), sample, rows, index)
    for at, count in enumerate(left.tolist()):
        found = find_forms(column([texts[at % len(texts)]]), index)
        assert count == sum(entity in candidates[at // len(texts)] for entity in found.entity.tolist())


def test_only_the_given_rows_are_searched() -> None:
    index = build_forms(frame_of([(2, "York", EXACT)]))
    named = named_in_rows(column(["York", "York", "New"]), np.array([1, 2, 1]), index)
    assert (named.offsets.tolist(), named.targets.tolist()) == ([0, 0, 1, 1], [2])


def tables(label: str, *names: str, text: str = "", mention: tuple[int, int] | None = None) -> dict[str, pa.Table]:
    spans = [mention] if mention else []
    return {
        "entities": pa.table({"id": ["other", "e"], "label": ["Elsewhere", label]}),
        "names": pa.table({"entity": pa.array(["e"] * len(names), pa.string()), "name": pa.array(names, pa.string())}),
        "documents": pa.table({"id": ["d"], "text": [text]}),
        "mentions": pa.table(
            {
                "document": pa.array(["d"] * len(spans), pa.string()),
                "entity": pa.array(["e"] * len(spans), pa.string()),
                "start": pa.array([start for start, _ in spans], pa.int32()),
                "end": pa.array([end for _, end in spans], pa.int32()),
            }
        ),
    }


def forms_of(label: str, *names: str, text: str = "", mention: tuple[int, int] | None = None) -> set[str]:
    made = tables(label, *names, text=text, mention=mention)
    found = surface_forms(made, np.array([False, True]), language="en")
    # Stages read the ids of mentions as dictionaries.
    coded = made["mentions"]
    for name in ("document", "entity"):
        coded = coded.set_column(coded.column_names.index(name), name, coded[name].dictionary_encode())
    assert surface_forms({**made, "mentions": coded}, np.array([False, True]), language="en").equals(found)
    assert found["entity"].unique().to_list() in ([1], [])
    assert found.select("entity", "form").is_unique().all()
    return set(found["form"])


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Scotland", "Scottish"), ("England", "English"), ("Ireland", "Irish"), ("Poland", "Polish"), ("Finland", "Finnish"),
        ("Iceland", "Icelandic"), ("Sweden", "Swedish"), ("Britain", "British"), ("Spain", "Spanish"), ("Turkey", "Turkish"),
        ("Italy", "Italian"), ("Italy", "Italians"), ("America", "American"), ("Russia", "Russian"), ("Canada", "Canadian"),
        ("China", "Chinese"), ("Vienna", "Viennese"), ("Iraq", "Iraqi"), ("Nepal", "Nepalese"), ("Europe", "European"),
        ("Belgium", "Belgian"), ("Cyprus", "Cyprian"), ("Germany", "German"), ("Germany", "Germans"), ("Uzbekistan", "Uzbek"),
        ("Christianity", "Christian"), ("Buddhism", "Buddhist"), ("Athens", "Athenian"), ("Texas", "Texan"), ("Toronto", "Torontonian"),
        ("Argentina", "Argentine"), ("Florence", "Florentine"), ("South Africa", "South African"), ("Islam", "Islamic"),
        ("drummer", "drummers"), ("city", "cities"), ("church", "churches"), ("hero", "heroes"), ("businessman", "businessmen"),
        ("Comedies", "Comedy"), ("buses", "bus"), ("film director", "film directors"), ("Animals", "Animal"),
        ("Georgia (U.S. state)", "Georgia"), ("Georgia (U.S. state)", "Georgian"), ("🇮🇹", "🇮🇹"),
    ],
)  # fmt: skip
def test_a_name_has_the_forms_by_which_it_is_recognised(name: str, form: str) -> None:
    assert {name, form} <= forms_of(name)
    assert form in forms_of("Something", name)


@pytest.mark.parametrize("name", ["1984", "7", "G", "☉", "?!", "___MASK12___", "MASK3", "mask", ""])
def test_numbers_single_characters_and_placeholders_are_no_forms(name: str) -> None:
    assert forms_of(name) == set()


def test_a_function_word_is_a_form_only_where_it_links() -> None:
    assert "in" not in forms_of("India", "in", text="It is in Asia.")
    assert "in" in forms_of("India", "in", text="See example.in today", mention=(12, 14))
    assert "IN" in forms_of("India", "IN")
    assert "movie" in forms_of("film", "movie", text="A movie.")


def test_function_words_among_places_stay_only_where_they_link() -> None:
    texts = column(["India is in Asia", "see example.in", "the movie is good", ""])
    spans = [(0, 0, 5), (0, 6, 8), (0, 9, 11), (1, 12, 14), (2, 4, 9), (2, 13, 17)]  # text, start, end

    def places_of(spans: list[tuple[int, int, int]], entities: list[int]) -> Places:
        text, start, end = (np.array(values, np.int32) for values in zip(*spans, strict=True))
        return Places(offsets=row_bounds(text, len(texts)), entity=np.array(entities, np.int32), start=start, end=end)

    places = places_of(spans, [7, 8, 7, 7, 5, 9])
    links = places_of([spans[5]], [9])
    linked = function_words_at(links, texts)
    assert linked.rows() == [(0, 9, "good")]
    kept = without_function_words(places, texts, linked=linked)
    assert (kept.offsets.tolist(), kept.entity.tolist(), kept.start.tolist(), kept.end.tolist()) == (
        [0, 1, 1, 3, 3], [7, 5, 9], [0, 4, 13], [5, 9, 17],
    )  # fmt: skip
    elsewhere = function_words_at(places_of([spans[3]], [7]), texts)
    assert 9 in without_function_words(places, texts, linked=elsewhere).start.tolist()  # "in" links to the same entity elsewhere


@pytest.mark.parametrize(("form", "case"), [("New York", FREE), ("York", EXACT), ("drummer", INITIAL), ("US", EXACT)])
def test_case_counts_for_single_words(form: str, case: int) -> None:
    found = surface_forms(tables(form), np.array([False, True]), language="en")
    assert found.filter(pl.col("form") == form)["case"].to_list() == [case]
