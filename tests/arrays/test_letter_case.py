"""Letters of any script are told apart as Python tells them apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from kgqa.arrays.letter_case import CAPITAL, FIGURE, OTHER, SMALL, case_table, cases_at


def written(letter: str) -> int:
    if ord(letter) > 0xFFFF:
        return OTHER
    if letter.isdigit():
        return FIGURE
    if letter.isupper() or letter.istitle():
        return CAPITAL
    return SMALL if letter.islower() else OTHER


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_every_character_is_told(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    places = np.cumsum([0, *(len(letter.encode()) for letter in text)])  # the last one is the end
    found = cases_at(data, places, case_table()).tolist()
    assert found == [*(written(letter) for letter in text), OTHER]
    within = [place for place in range(len(data)) if place not in places]
    assert cases_at(data, np.array(within, np.int64), case_table()).tolist() == [OTHER] * len(within)


def test_scripts() -> None:
    shown = "aÖéЙйßΩω中5٣-"
    data = np.frombuffer(shown.encode(), np.uint8)
    places = np.cumsum([0, *(len(letter.encode()) for letter in shown[:-1])])
    wanted = [SMALL, CAPITAL, SMALL, CAPITAL, SMALL, SMALL, CAPITAL, SMALL, OTHER, FIGURE, FIGURE, OTHER]
    assert cases_at(data, places, case_table()).tolist() == wanted
