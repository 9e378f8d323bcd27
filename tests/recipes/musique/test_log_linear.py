"""The quick filter's readers learn from a pool, and are told nothing of what may be an answer."""

from __future__ import annotations

import numpy as np

from kgqa.arrays.parallel import Threads
from kgqa.recipes.musique.log_linear import LogLinear, Places, QuestionOnly, cross_fitted, f1
from kgqa.records import Instance, Paragraph

NAMES = ("Riga", "Oslo", "Bern", "Rome", "Lima", "Doha", "Baku", "Kyiv", "Bonn", "Cork")


def _asked() -> list[Instance]:
    """Each paragraph names where somebody was born and where they died, in any order."""
    questions = []
    for number, name in enumerate(NAMES):
        second = NAMES[(number + 3) % len(NAMES)]
        text = f"Here she was born in {name}, and she died in {second}, älter."
        if number % 2:
            text = f"Älter, she died in {second}, but she was born in {name}."
        paragraph = Paragraph(id=str(number), title=None, text=text, supporting=True)
        for verb, answer in (("was she born", name), ("did she die", second)):
            questions.append(
                Instance(
                    id=f"{number}{verb}", question=f"Where {verb}?", paragraphs=(paragraph,), answers=(answer,), answer_type="span",
                    answerable=True, group=str(number), provenance=None,
                )
            )  # fmt: skip
    return questions


def test_a_reader_learns_what_stands_around_answers() -> None:
    questions = _asked()
    places = Places.of(questions)
    assert set(NAMES) <= set(places.texts)
    assert len(places.row) == len(NAMES)
    reader = LogLinear(places, epochs=10).train(questions[:14])
    result = reader.answers(questions[14:])
    assert f1(questions[14:], result).tolist() == [1.0] * 6
    assert [item.supporting for item in result] == [(item.group,) for item in questions[14:]]


def test_the_question_alone_tells_common_answers() -> None:
    some = [
        Instance(
            id=item.id, question=item.question, paragraphs=(), answers=("Riga" if "born" in item.question else "Oslo",), answer_type="span",
            answerable=True, group=item.group, provenance=None,
        )
        for item in _asked()
    ]  # fmt: skip
    assert [item.answer for item in QuestionOnly().train(some[:10]).answers(some[10:12])] == ["Riga", "Oslo"]


def test_who_is_judged_is_not_learned_from_whatever_the_workers() -> None:
    questions = _asked()
    places = Places.of(questions)
    first, second = (
        cross_fitted(questions, lambda seed: LogLinear(places, seed=seed), folds=5, seeds=(0, 1), engine=Threads(workers))
        for workers in (1, 3)
    )
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    assert first[1].tolist() == [1.0] * len(questions)  # there is one paragraph to choose
