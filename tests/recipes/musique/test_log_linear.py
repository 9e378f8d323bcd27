"""The quick filter's readers learn from a pool, and are told nothing of what may be an answer."""

from __future__ import annotations

import numpy as np

from kgqa.recipes.musique.log_linear import LogLinear, Places, QuestionOnly, cross_fitted, f1
from kgqa.records import Instance, Paragraph

NAMES = ("Riga", "Oslo", "Bern", "Rome", "Lima", "Doha", "Baku", "Kyiv", "Bonn", "Cork")


def _asked() -> list[Instance]:
    """Each paragraph names where somebody was born and where they died, in any order."""
    asked = []
    for number, name in enumerate(NAMES):
        other = NAMES[(number + 3) % len(NAMES)]
        text = f"Here she was born in {name}, and she died in {other}, älter."
        if number % 2:
            text = f"Älter, she died in {other}, but she was born in {name}."
        paragraph = Paragraph(id=str(number), title=None, text=text, supporting=True)
        for verb, answer in (("was she born", name), ("did she die", other)):
            asked.append(
                Instance(
                    id=f"{number}{verb}", question=f"Where {verb}?", paragraphs=(paragraph,), answers=(answer,), answer_type="span",
                    answerable=True, group=str(number), provenance=None,
                )
            )  # fmt: skip
    return asked


def test_a_reader_learns_what_stands_around_answers() -> None:
    asked = _asked()
    places = Places.of(asked)
    assert set(NAMES) <= set(places.texts)
    assert len(places.row) == len(NAMES)
    reader = LogLinear(places, epochs=10).train(asked[:14])
    found = reader.answers(asked[14:])
    assert f1(asked[14:], found).tolist() == [1.0] * 6
    assert [each.supporting for each in found] == [(each.group,) for each in asked[14:]]


def test_the_question_alone_tells_common_answers() -> None:
    some = [
        Instance(
            id=each.id, question=each.question, paragraphs=(), answers=("Riga" if "born" in each.question else "Oslo",), answer_type="span",
            answerable=True, group=each.group, provenance=None,
        )
        for each in _asked()
    ]  # fmt: skip
    assert [each.answer for each in QuestionOnly().train(some[:10]).answers(some[10:12])] == ["Riga", "Oslo"]


def test_who_is_judged_is_not_learned_from_whatever_the_workers() -> None:
    asked = _asked()
    places = Places.of(asked)
    one, other = (
        cross_fitted(asked, lambda seed: LogLinear(places, seed=seed), folds=5, seeds=(0, 1), workers=workers) for workers in (1, 3)
    )
    assert np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], other[1])
    assert one[1].tolist() == [1.0] * len(asked)  # there is one paragraph to choose
