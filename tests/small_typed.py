"""Small questions with answers of every type: what is in a text, two of it, a count, a difference, yes or no, or nothing."""

from __future__ import annotations

from kgqa.records import Instance, Paragraph

NAMES = ("ana", "bo", "cy", "dee", "eli", "fay", "gus", "hal")


def typed_question(number: int, kind: str) -> Instance:
    """Question ``number`` of a ``kind``: span, spans, count, difference, boolean, none."""
    name, born, died = NAMES[number % len(NAMES)], 1900 + 3 * number, 1950 + 5 * number
    text = f"{name} was born in {born} in the city vax and died in {died} in the city wim."
    question, answers, answer_type = {
        "span": (f"where was {name} born?", ("vax",), "span"),
        "spans": (f"which city did {name} know?", ("vax", "wim"), "spans"),
        "count": (f"how many city names are there of {name}?", ("2",), "number"),
        "difference": (f"how old was {name}?", (str(died - born),), "number"),
        "boolean": (f"did {name} die?", ("yes" if number % 2 else "no",), "boolean"),
        "none": (f"who married {name}?", (), "none"),
    }[kind]
    return Instance(
        id=f"{kind}-{number}", question=question,
        paragraphs=(Paragraph(id="p", title=name, text=text, supporting=None if kind == "none" else True),),
        answers=answers, answer_type=answer_type, answerable=kind != "none", group=f"{kind}-{number}", provenance=None,
    )  # fmt: skip


KINDS = ("span", "spans", "count", "difference", "boolean", "none")


def typed_questions(count: int = 3) -> list[Instance]:
    """``count`` of each kind."""
    return [typed_question(number, kind) for kind in KINDS for number in range(count)]
