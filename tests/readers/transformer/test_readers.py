"""The readers learn what there is, say the same after they were saved, and of a question the same whatever stands beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kgqa.records import Candidate, Instance
from tests.small_questions import paragraph, question, questions

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.errors import BrokenInput, KgqaError, MissingInput  # noqa: E402
from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.specification import specification  # noqa: E402
from kgqa.training import predicting  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402
from kgqa.training.reader import Fitting, Prediction, Reader  # noqa: E402

FIVE = ("ee", "sa", "one-paragraph", "question-only", "context-only")


def made(name: str, encoder: str, settings: dict[str, Any] | None = None, **training: Any) -> tuple[Reader, Any]:
    asked = specification(
        name, settings={"encoder": encoder, **(settings or {})},
        training={"learning_rate": 0.003, "batch": 8, "epochs": 1, "device": "cpu", "patience": 1000, **training},
    )  # fmt: skip
    return asked.make(), asked.training


def fitted(
    name: str,
    encoder: str,
    place: Path,
    some: Sequence[Instance],
    *,
    dev: Sequence[Instance] = (),
    settings: dict[str, Any] | None = None,
    **training: Any,
) -> Reader:
    reader, told = made(name, encoder, settings, **training)
    fitting = Fitting(place=place, settings=told, seed=3, progress=Silent(), record=lambda _: None)
    reader.fit(of_list(some), of_list(dev) if dev else None, fitting)
    return reader


def said(reader: Reader, some: Sequence[Instance]) -> list[Prediction]:
    return list(reader.predict(of_list(some), Silent()))


def right(found: Sequence[Prediction], some: Sequence[Instance]) -> int:
    return sum(one.answer == each.answers[0] for one, each in zip(found, some, strict=True))


def again(reader: Reader, name: str, encoder: str, folder: Path) -> Reader:
    folder.mkdir()
    reader.save(folder)
    other, _ = made(name, encoder)
    other.load(folder)
    return other


EPOCHS = {"ee": 150, "question-only": 60, "context-only": 60, "sa": 150, "one-paragraph": 150}
REPEATED = {("question-only", True), ("context-only", False), ("sa", False), ("one-paragraph", True)}
"""Whether there are candidates matters to the network that all of them have; ``ee`` is trained both ways."""
LEARNED = [
    pytest.param(name, epochs, candidates, marks=pytest.mark.thorough if (name, candidates) in REPEATED else pytest.mark.slow)
    for name, epochs in EPOCHS.items()
    for candidates in (False, True)
]


@pytest.mark.parametrize(("name", "epochs", "candidates"), LEARNED)
def test_eight_questions_are_learned_and_kept(name: str, epochs: int, candidates: bool, tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(8, shown=2, candidates=candidates)
    # Of so few questions a selector learns nothing about others, as it would have to in folds.
    settings = {"sa": {"selected": 1, "folds": 1}, "one-paragraph": {"folds": 1}}.get(name)
    reader = fitted(name, tiny_encoder, tmp_path / "fit", some, epochs=epochs, settings=settings)
    found = said(reader, some)
    assert right(found, some) >= 7
    assert [each.id for each in found] == [each.id for each in some]
    for one, each in zip(found, some, strict=True):
        assert 0 <= one.confidence <= 1
        assert (one.candidate is not None) == candidates
        if candidates:
            assert one.candidate in {every.id for every in each.candidates or ()}
    if name == "ee":
        wanted = [tuple(shown.id for shown in each.paragraphs if shown.supporting) for each in some]
        assert sum(one.supporting == ids for one, ids in zip(found, wanted, strict=True)) >= 7
        assert sum(one.supporting_sentences == tuple((id_, 1) for id_ in ids) for one, ids in zip(found, wanted, strict=True)) >= 7
    assert said(again(reader, name, tiny_encoder, tmp_path / "saved"), some) == found


@pytest.mark.parametrize("name", FIVE)
def test_the_best_weights_are_those_that_predict_at_once_and_later(
    name: str, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the last evaluation was of other weights than those that are kept."""
    scores, mean = iter([0.9, 0.1] * 4), predicting.mean_score  # two epochs of up to four networks
    monkeypatch.setattr("kgqa.training.loop.mean_score", lambda *given, **more: (mean(*given, **more), next(scores))[1])
    some = questions(8)
    reader = fitted(name, tiny_encoder, tmp_path / "fit", some, dev=some, epochs=2, learning_rate=0.02)
    assert said(again(reader, name, tiny_encoder, tmp_path / "saved"), some) == said(reader, some)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIVE)
def test_a_question_gets_the_same_answer_whatever_stands_beside_it(name: str, tiny_encoder: str, tmp_path: Path) -> None:
    some = [question(number, shown=2 + number % 3, candidates=number % 2 == 1) for number in range(12)]
    reader = fitted(name, tiny_encoder, tmp_path / "fit", some, epochs=8)
    found = said(reader, some)
    alone = [said(reader, [each])[0] for each in some]
    backwards = said(reader, some[::-1])[::-1]
    for other in (alone, backwards):
        for one, two in zip(found, other, strict=True):
            assert same(one) == same(two)
            assert one.confidence == pytest.approx(two.confidence, abs=1e-5)
    assert said(reader, some) == found


def same(found: Prediction) -> dict[str, Any]:
    """All but the numbers, whose last digits depend on how many are multiplied at once."""
    values = asdict(replace(found, confidence=0.0, paragraph_scores=()))
    return {**values, "scored": [name for name, _ in found.paragraph_scores]}


ODD = [
    question(0, shown=0),
    question(1, paragraphs=()),
    question(2, question=""),
    question(3, question="who " * 400),
    question(4, paragraphs=(replace(paragraph(4), text="", sentences=None, supporting_sentences=None),)),
    question(5, paragraphs=(replace(paragraph(5), text="\u200b\u200d\ufeff", sentences=(0,), supporting_sentences=None),)),
    question(6, paragraphs=(replace(paragraph(6), text="中文🙂 é\u0301ß " * 80, sentences=(0, 5)),), question="中文\u202e?"),
    question(7, answers=(), answerable=False, answer_type="none"),
    question(8, candidates=True, paragraphs=()),
    replace(question(9), candidates=(Candidate(id="a", text=""), Candidate(id="b", text="\u200b"))),
    question(10, paragraphs=tuple(replace(paragraph(10), id=f"twin{number}") for number in range(3))),
    question(11, paragraphs=(replace(paragraph(11), title="title " * 300, text="word " * 900),)),
    question(12, answers=("yes",), answer_type="boolean"),
    question(13, candidates=True, answers=(), answer_id=None),
]


@pytest.mark.parametrize("name", ["ee", *(pytest.param(name, marks=pytest.mark.slow) for name in FIVE if name != "ee")])
def test_odd_questions_are_learned_from_and_answered(name: str, tiny_encoder: str, tmp_path: Path) -> None:
    some = [*questions(4), *(replace(each, id=f"odd{number}") for number, each in enumerate(ODD))]
    reader = fitted(name, tiny_encoder, tmp_path / "fit", some, dev=some, epochs=2, batch=3)
    found = said(again(reader, name, tiny_encoder, tmp_path / "saved"), some)
    assert [each.id for each in found] == [each.id for each in some]
    for one, each in zip(found, some, strict=True):
        assert set(one.supporting) <= {shown.id for shown in each.paragraphs}
        assert 0 <= one.confidence <= 1
        if each.candidates:
            assert one.candidate in {every.id for every in each.candidates}
        elif name != "question-only":
            assert one.answer in {"yes", "no", ""} or any(one.answer in shown.text for shown in each.paragraphs)
    assert [said(reader, [each])[0].answer for each in some] == [each.answer for each in found]
    assert said(reader, []) == []


@pytest.mark.slow
def test_yes_and_no_are_learned(tiny_encoder: str, tmp_path: Path) -> None:
    some = [
        question(
            number, question=f"is {('arl', 'bem')[number % 2]} a city?", answers=(("yes", "no")[number % 2],), answer_type="boolean",
            paragraphs=(paragraph(number % 2, supporting=True),),
        )
        for number in range(8)
    ]  # fmt: skip
    found = said(fitted("ee", tiny_encoder, tmp_path, some, epochs=60), some)
    assert right(found, some) == 8


@pytest.mark.slow
def test_unanswerable_questions_are_learned(tiny_encoder: str, tmp_path: Path) -> None:
    some = [question(number, shown=1) for number in range(4)]
    some += [
        question(number, shown=1, id=f"n{number}", question="who?", answers=(), answerable=False, answer_type="none") for number in range(4)
    ]
    found = said(fitted("ee", tiny_encoder, tmp_path, some, epochs=60), some)
    assert [each.answerable for each in found] == [True] * 4 + [False] * 4
    assert [each.sufficiency for each in found] == [1] * 4 + [0] * 4


def test_context_only_does_not_see_the_question_and_question_only_no_context(tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(6)
    blind = fitted("context-only", tiny_encoder, tmp_path / "c", some, epochs=4)
    other = [replace(each, question="something else?") for each in some]
    assert said(blind, some) == said(blind, other)
    deaf = fitted("question-only", tiny_encoder, tmp_path / "q", some, epochs=4)
    assert said(deaf, some) == said(deaf, [replace(each, paragraphs=()) for each in some])


def test_question_only_goes_on_with_new_answers_beside_the_old(tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(8)
    first = fitted("question-only", tiny_encoder, tmp_path / "first", some[:4])
    (tmp_path / "saved").mkdir()
    first.save(tmp_path / "saved")
    second, told = made("question-only", tiny_encoder, epochs=40)
    fitting = Fitting(place=tmp_path / "fit", settings=told, seed=3, progress=Silent(), record=lambda _: None, start=tmp_path / "saved")
    second.fit(of_list(some), None, fitting)
    assert right(said(second, some), some) == 8


def test_one_paragraph_reads_one_paragraph(tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(6)
    reader = fitted("one-paragraph", tiny_encoder, tmp_path, some, epochs=2, settings={"folds": 1})
    assert {len(each.paragraph_scores) for each in said(reader, some)} == {1}


GARBAGE = [
    "",
    "[]",
    "{",
    "null",
    '{"reader": 3}',
    '{"reader": "READER", "version": 9}',
    '{"reader": "READER", "version": 1}',
    '{"reader": "READER", "version": 1, "settings": {"no": 1}, "state": {}}',
    '{"reader": "READER", "version": 1, "settings": [], "state": 3}',
]


@pytest.mark.parametrize("name", ["ee", "question-only", pytest.param("sa", marks=pytest.mark.slow)])
def test_a_saved_reader_that_was_changed_is_a_sentence(name: str, tiny_encoder: str, tmp_path: Path) -> None:
    reader = fitted(name, tiny_encoder, tmp_path / "fit", questions(4))
    saved = tmp_path / "saved"
    again(reader, name, tiny_encoder, saved)
    told = saved / "reader.json"
    before = told.read_text("utf-8")
    for text in GARBAGE:
        told.write_text(text.replace("READER", name), "utf-8")
        with pytest.raises(KgqaError) as raised:
            made(name, tiny_encoder)[0].load(saved)
        assert isinstance(raised.value, BrokenInput), text
    told.write_text(json.dumps({**json.loads(before), "reader": "another"}), "utf-8")
    with pytest.raises(BrokenInput, match="this is the reader another"):
        made(name, tiny_encoder)[0].load(saved)
    told.write_text(before, "utf-8")
    for path in sorted(saved.rglob("*")):
        if not path.is_file() or path == told or path.name == "tokenizer_config.json":
            continue
        whole = path.read_bytes()
        for part in (b"", b"{", whole[: len(whole) // 2]):
            path.write_bytes(part)
            with pytest.raises(BrokenInput) as broken:
                made(name, tiny_encoder)[0].load(saved)
            assert "\n" not in str(broken.value)
        path.unlink()
        with pytest.raises((MissingInput, BrokenInput), match=path.name.split(".")[0]):
            made(name, tiny_encoder)[0].load(saved)
        path.write_bytes(whole)
    made(name, tiny_encoder)[0].load(saved)
