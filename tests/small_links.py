"""Questions on a passage with two links, one of which leads to the article that states the answer."""

from __future__ import annotations

from kgqa.records import Instance, Mention, Paragraph
from tests.small_questions import CAPITALS, COUNTRIES

FILLER = "who is the river. "
KNOWN = "the capital of {} is {}. "


def article(number: int, *, supporting: bool | None) -> Paragraph:
    """One whose second sentence says what the capital of a country is."""
    name = COUNTRIES[number]
    sentence = KNOWN.format(name, CAPITALS[number])
    starts = (0, len(FILLER), len(FILLER) + len(sentence))
    return Paragraph(
        id=name.upper(), title=name.upper(), text=FILLER + sentence + FILLER, supporting=supporting, sentences=starts,
        supporting_sentences=None if supporting is None else (1,) if supporting else (),
    )  # fmt: skip


def linked_question(number: int, *, articles: bool = True) -> Instance:
    """What the capital of country ``number`` is, on a passage that links to it and to another country."""
    others = sorted({number, (number + 3) % 8})
    text = " and ".join(COUNTRIES[other] for other in others) + " met."
    links = tuple(
        Mention(entity=COUNTRIES[other], start=text.index(COUNTRIES[other]), end=text.index(COUNTRIES[other]) + 3) for other in others
    )
    shown = tuple(article(other, supporting=other == number) for other in others) if articles else ()
    return Instance(
        id=f"q{number}", question=f"capital of {COUNTRIES[number]}?",
        paragraphs=(Paragraph(id="main", title="met", text=text, supporting=False, mentions=links), *shown),
        answers=(CAPITALS[number],), answer_type="span", answerable=True, group=f"g{number}", provenance=None,
    )  # fmt: skip


def linked_questions(count: int = 8) -> list[Instance]:
    """The first so many."""
    return [linked_question(number) for number in range(count)]
