"""What a text says that an abbreviation stands for decides what it means there, and says something of it elsewhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kgqa.linking.definitions import CONTRADICTED, DEFINED, SILENT, defined_from, shares, verdicts
from tests.linking.test_dictionary import Names, found, link

CHAIN: Names = [("c", "CHC", "gene"), ("c", "clathrin heavy chain", "synonym"), ("h", "Hepitol", "name")]
PLAIN = "CHC was measured in all of the samples."


@pytest.mark.parametrize(
    ("text", "short", "words"),
    [
        ("a case of chronic hepatitis C (CHC)", "CHC", "chronic hepatitis C "),
        ("the interleukin-2 (IL-2) gene", "IL-2", "interleukin-2 "),
        ("the Department of Defense (DoD)", "DoD", "Department of Defense "),
        ("every man (CHC)", "CHC", None),
        ("chronic cases. The hepatitis caps (CHC)", "CHC", None),
        ("chronic (acute) hepatitis caps (CHC)", "CHC", None),
        ("one two three four five six seven eight oxen (OX)", "OX", "oxen "),
        ("box of wax (OX)", "OX", "of wax "),
        ("a very long run of small words and no more of the same at the end (VM)", "VM", None),
    ],
)
def test_the_words_before_a_bracket_are_found_by_their_letters(text: str, short: str, words: str | None) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    bracket = text.rindex("(")
    start = defined_from(data, 0, bracket + 1, bracket + 1 + len(short), bracket)
    assert (text[start:bracket] if start >= 0 else None) == words


def test_an_abbreviation_of_something_else_does_not_link_anywhere_in_its_text() -> None:
    text = "Chronic hepatitis C (CHC) is frequent. It is unknown how CHC spreads."
    assert found(link(CHAIN, PLAIN, belief=0.3)) == [("c", 0)]
    assert found(link(CHAIN, text, belief=0.3)) == []


def test_an_abbreviation_of_a_name_links_and_decides_between_bearers() -> None:
    names: Names = [*CHAIN, ("d", "CHC", "gene"), ("d", "cholesterol carrier", "synonym")]
    assert found(link(names, "The clathrin heavy chains (CHC) bind.", belief=0.3)) == [("c", 27)]
    assert found(link(names, "The cholesterol carriers (CHC) bind.", belief=0.3)) == [("d", 26)]


def test_definitions_elsewhere_make_an_abbreviation_doubtful() -> None:
    neighbours = [f"Chronic hepatitis C (CHC) is frequent in group {i}." for i in range(4)]
    assert found(link(CHAIN, PLAIN, *neighbours, belief=0.3)) == []


def test_a_definition_says_nothing_of_an_entity_that_no_name_spells_out() -> None:
    names: Names = [("c", "CHC", "gene"), ("h", "Hepitol", "name")]
    assert found(link(names, "Chronic hepatitis C (CHC) is frequent.", belief=0.3)) == [("c", 21)]


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        ("tumour necrosis factor", "tumor necrosis factor", DEFINED),
        ("prostaglandin cyclooxygenases", "cyclo-oxygenase", DEFINED),
        ("Australian rules football", "Arena Football League", CONTRADICTED),
        ("extraneuronal monoamine transporter", "epithelial-mesenchymal transition", CONTRADICTED),
        ("cytarabine hydrochloride", "kinetic parameters estimated for cytarabine", SILENT),
    ],
)
def test_the_words_are_compared_with_the_names_that_spell_an_entity_out(name: str, words: str, says: int) -> None:
    pairs = pl.DataFrame({"document": [0], "place": [0], "entity": [7], "name": [0]})
    names = pl.DataFrame({"entity": [7, 7], "name": ["ABC", name]})
    stretch = np.array([0], np.int32), np.array([len(words)], np.int32)
    assert verdicts(np.array([0]), stretch, pairs, names, pl.Series([words])).tolist() == [says]


def test_the_share_of_a_name_counts_documents() -> None:
    says = np.array([CONTRADICTED, CONTRADICTED, DEFINED, SILENT, DEFINED, CONTRADICTED], np.int8)
    documents = np.array([1, 1, 2, 3, 1, 4], np.int32)
    names = np.array([0, 0, 0, 0, 1, 2])
    assert shares(says, documents, names, 4).tolist() == [2 / 3, 1.0, 0.5, 1.0]
