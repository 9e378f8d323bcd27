"""Names are found where all of their tokens stand, as a naive search finds them."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, strategies as st

from kgqa.recipes.musique.mentions import find_names

TEXT = st.lists(st.sampled_from(["new", "New", "york", "York", "é", "city", "?", "-"]), max_size=7).map(" ".join)


def naive(names: list[str], texts: list[str]) -> set[tuple[int, str, int, int]]:
    """Text, name in small letters, start and end in bytes."""
    result = set()
    for row, text in enumerate(texts):
        tokens, at = [], 0
        for token in text.split(" "):
            tokens.append((token.lower(), at, at + len(token.encode())))
            at += len(token.encode()) + 1
        tokens = [token for token in tokens if token[0]]
        for name in names:
            expected = name.lower().split()
            for first in range(len(tokens)):
                if expected and [token for token, *_ in tokens[first : first + len(expected)]] == expected:
                    result.add((row, " ".join(expected), tokens[first][1], tokens[first + len(expected) - 1][2]))
    return result


@given(st.lists(TEXT, max_size=6), st.lists(TEXT, max_size=6))
def test_every_place_is_found(names: list[str], texts: list[str]) -> None:
    places, groups = find_names(pa.array(names, pa.string()), pa.array(texts, pa.string()))
    of = {group: " ".join(name.lower().split()) for group, name in zip(groups.tolist(), names, strict=True) if group >= 0}
    result = {
        (text, of[name], start, end)
        for text, name, start, end in zip(
            places.text.tolist(), places.name.tolist(), places.start.tolist(), places.end.tolist(), strict=True
        )
    }
    assert result == naive(names, texts)
    assert all((group < 0) == (not name.split()) for group, name in zip(groups.tolist(), names, strict=True))


@given(st.lists(TEXT, max_size=6), st.lists(TEXT, max_size=6))
def test_a_place_is_inside_where_a_longer_one_has_all_of_it(names: list[str], texts: list[str]) -> None:
    places, _ = find_names(pa.array(names, pa.string()), pa.array(texts, pa.string()))
    spans = list(zip(places.text.tolist(), places.start.tolist(), places.end.tolist(), strict=True))
    for span, inside in zip(spans, places.inside.tolist(), strict=True):
        longer = [s for s in spans if s[0] == span[0] and s[1] <= span[1] and s[2] >= span[2] and s != span]
        assert inside == bool(longer)


def test_case_does_not_matter_and_boundaries_do() -> None:
    places, _ = find_names(pa.array(["New York", "York"]), pa.array(["who left new york?", "Yorkshire"]))
    assert places.text.tolist() == [0, 0]
    assert places.inside.tolist() == [False, True]
