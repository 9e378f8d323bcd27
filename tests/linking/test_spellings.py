"""Names with numbers are found as texts spell them otherwise."""

from __future__ import annotations

import polars as pl

from kgqa.linking.spellings import spellings

NAMES = pl.DataFrame(
    {
        "entity": ["r1", "r2", "c2", "w"], "name": ["5HT1A", "beta-2 adrenoceptor", "COX2", "plain name"],
        "source": ["synonym", "synonym", "gene", "synonym"],
    }
)  # fmt: skip


def found(*texts: str) -> list[tuple[str, str, str]]:
    return spellings(NAMES, pl.Series(texts)).rows()


def test_hyphens_spaces_brackets_and_greek_letters_make_no_difference() -> None:
    assert found("The 5-HT(1A) receptor and the β2-adrenoceptor.", "COX-2 or COX 2; beta(2) adrenoceptor") == [
        ("c2", "COX 2", "gene"), ("c2", "COX-2", "gene"), ("r1", "5-HT(1A)", "synonym"), ("r2", "beta(2) adrenoceptor", "synonym"),
        ("r2", "β2-adrenoceptor", "synonym"),
    ]  # fmt: skip


def test_parts_of_words_other_numbers_and_names_without_a_number_are_not_found() -> None:
    assert not found("XCOX-2 and COX-23 and COX, 2 and plain-name and cox2")
    assert not found("COX", "2")
