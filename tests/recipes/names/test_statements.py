"""What a text states: at least what the scorers would find in it, and names that punctuation joins to other words."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from kgqa.metrics.normalize import normalize
from kgqa.recipes.names.statements import Text, names, paragraph_states, states, stating_places
from tests.linking import oracle
from tests.metrics.drawing import texts
from tests.recipes.contrasts.drawing import paragraph

LETTERS = st.text("aAnthe yY.-'\u0130K\u212a\xe9\xc9\u2013_1\u03a3\u03c3\u03c2\n", max_size=12) | texts
BETWEEN = st.sampled_from(["", " ", "-", "\u2013", "_", "\n", "'", "x", "\u03a3", "the ", "\0", "\ud800"])


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("They came from Paris.", "paris", True),
        ("a Paris-based band", "Paris", True),
        ("Paris–Lyon", "Lyon", True),
        ("The US army", "U.S.", True),
        ("the U. S. army", "U.S.", True),
        ("Parisian", "Paris", False),
        ("Hilton of Paris", "Paris Hilton", False),
        ("isle of the apples", "Isle of Apples", True),
        ("O'Neil", "ONeil", True),
        ("ÉLODIE", "Élodie", True),
        ("москва", "Москва", True),
        ("30 K", "30 K", True),
        ("born in 1956.", "1956", True),
        ("born in 19561", "1956", False),
        ("yes, no", "yes", False),
        ("the a", "The", False),
        ("+", "+", False),
        ("a → b", "→", True),
    ],
)
def test_examples(text: str, answer: str, expected: bool) -> None:
    assert states(text, names([answer])) is expected


@given(LETTERS, LETTERS, LETTERS, LETTERS)
@example("30 ", "K", "", "k")
@example("", "İ", "", "i\u0307")
def test_what_scorers_find_is_found(before: str, answer: str, after: str, other: str) -> None:
    text = f"{before} {answer} {after}"
    expected = names([other])
    result = f" {normalize(other)} " in f" {normalize(text)} "
    if expected and normalize(other) and result:
        assert states(text, expected)
    if names([answer]):
        assert (
            states(text, names([answer])) or normalize(text) != " ".join([normalize(before), normalize(answer), normalize(after)]).strip()
        )


def plainly_states(text: str, answer: str) -> bool:
    """What ``states`` says, by its definition."""
    if not names([answer]):
        return False
    readings = [(normalize(answer), normalize(text)), (words_of(answer), words_of(text))]
    return any(looked_for and f" {looked_for} " in f" {reading} " for looked_for, reading in readings)


def words_of(text: str) -> str:
    result = [token.folded for token in oracle.tokens(text) if oracle.sort(token.written[0]) != "sign"]
    return " ".join(word for word in result if word not in ("a", "an", "the"))


def respelled(answer: str) -> st.SearchStrategy[str]:
    """Ways in which a text may state it, or nearly."""
    ways = [
        answer,
        answer.upper(),
        answer.lower(),
        answer.title(),
        answer.replace(" ", "-"),
        answer.replace(" ", " the "),
        answer.replace(" ", "\n"),
    ]
    return st.sampled_from([*ways, ".".join(answer), answer[1:], answer + answer])


@given(st.data(), LETTERS)
def test_a_text_states_what_one_of_its_readings_has(data: st.DataObject, answer: str) -> None:
    parts = [data.draw(part) for _ in range(data.draw(st.integers(1, 3))) for part in (LETTERS, BETWEEN, respelled(answer), BETWEEN)]
    text = "".join(parts)
    assert states(text, names([answer])) is plainly_states(text, answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("30 \u212a", "30 k"),
        ("30 k", "30 \u212a"),
        ("\u0130stanbul", "\u0130stanbul"),
        ("\u0130stanbul", "istanbul"),
        ("i\u0307", "\u0130"),
        ("\u039f\u0394\u039f\u03a3'\u0391", "\u039f\u0394\u039f\u03a3"),
        ("\u039f\u0394\u039f\u03a3", "\u039f\u0394\u039f\u03a3"),
        ("Parisian Paris", "Paris"),
        ("Paris_", "Paris"),
        ("Paris\u00e9", "Paris"),
        ("\u00e9Paris", "Paris"),
        ("\u2013St. Louis\u2013", "St. Louis"),
        ("in the\u2013end", "end"),
        ("\ud800 Paris", "Paris"),
        ("\u2192\u2192", "\u2192"),
    ],
)
def test_letters_with_traps(text: str, answer: str) -> None:
    assert states(text, names([answer])) is plainly_states(text, answer)


@given(LETTERS, st.lists(LETTERS, max_size=3))
def test_a_text_asked_twice_answers_as_a_fresh_one(text: str, answers: list[str]) -> None:
    data = Text(text)
    for answer in answers:
        assert data.states(names([answer])) == states(text, names([answer]))
    assert data.states(names(answers)) == any(states(text, names([answer])) for answer in answers)


def test_titles_and_mentions_count_for_a_paragraph() -> None:
    entry = paragraph("Camelot", ["The court moved to Avalon."])
    assert paragraph_states(entry, names(["Page Camelot"]))
    assert paragraph_states(entry, (), "E7")
    assert not paragraph_states(entry, (), "E8")
    assert not paragraph_states(entry, names(["Tintagel"]))


@given(st.lists(LETTERS | st.just("a\0b"), max_size=4), st.lists(LETTERS, max_size=2), st.none() | st.just("E7"))
def test_paragraphs_together_are_each_as_alone(entries: list[str], answers: list[str], entity: str | None) -> None:
    context = [paragraph(f"{number}", [entry, " Avalon"][: 1 + number % 2]) for number, entry in enumerate(entries)]
    expected = names(answers)
    alone = [number for number, entry in enumerate(context) if paragraph_states(entry, expected, entity)]
    assert stating_places(context, expected, entity) == alone
