"""Small questions for the recurrent readers."""

from __future__ import annotations

from collections.abc import Sequence

from kgqa.records import Candidate, Instance, Mention, Paragraph

PLACES = ("Oslo", "Lima", "Bern", "New Delhi", "Cairo", "Quito", "Rome", "Paris")
PEOPLE = ("Ada", "Bob", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal")


def paragraph(name: str, text: str, *, supporting: bool | None = None, mentions: Sequence[Mention] = ()) -> Paragraph:
    return Paragraph(id=name, title=None, text=text, supporting=supporting, mentions=tuple(mentions) or None)


def born(number: int, *, candidates: bool = True, places: Sequence[str] = PLACES) -> Instance:
    """Where somebody was born, which one of two paragraphs says."""
    right, wrong = places[number % len(places)], places[(number + 3) % len(places)]
    who = PEOPLE[number % len(PEOPLE)]
    shown = (
        paragraph("right", f"{who} was born in {right} long ago.", supporting=True),
        paragraph("wrong", f"{who} has died in {wrong} since then.", supporting=False),
    )
    return Instance(
        id=f"q{number}",
        question=f"place_of_birth {who}",
        paragraphs=shown,
        answers=(right,),
        answer_id=right if candidates else None,
        answer_type="candidate" if candidates else "span",
        candidates=tuple(Candidate(id=each, text=each) for each in sorted({right, wrong})) if candidates else None,
        answerable=True,
        group=f"g{number}",
        provenance=None,
    )
