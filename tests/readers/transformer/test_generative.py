"""The generative reader is shown question, choices and numbered paragraphs, and what it writes becomes an answer or a candidate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import kgqa
from kgqa.records import Candidate
from tests.small_questions import question, questions, write_set, write_toml
from tests.small_typed import typed_questions

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.readers.transformer.generative import ANSWERING  # noqa: E402
from tests.readers.transformer.test_decoding import write_t5  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, right, said  # noqa: E402


def test_it_reads_the_question_before_numbered_paragraphs() -> None:
    plain, with_choices = question(0, shown=2), question(0, shown=2, candidates=True)
    first, second = plain.paragraphs
    paragraphs = f"[1] {first.title}: {first.text} [2] {second.title}: {second.text}"
    assert ANSWERING.source(plain) == f"question: {plain.question} {paragraphs}"
    names = " ; ".join(candidate.text for candidate in with_choices.candidates or ())
    assert ANSWERING.source(with_choices) == f"question: {plain.question} choices: {names} {paragraphs}"


def test_it_learns_answers_as_they_are() -> None:
    assert [ANSWERING.target(each) for each in typed_questions(1)] == ["vax", "vax ;; wim", "2", "50", "no", ";;"]
    assert ANSWERING.target(question(3, candidates=True)) == question(3).answers[0]
    assert ANSWERING.target(question(3, candidates=True, answers=(), answer_id=None)) is None
    assert ANSWERING.target(question(3, answers=())) is None


def test_a_line_is_a_text_several_or_none() -> None:
    some = question(0)
    assert ANSWERING.prediction(some, " 1,500  soldiers ").answer == "1,500 soldiers"
    two = ANSWERING.prediction(some, "vax ;; wim;;")
    assert (two.answer, two.parts, two.answerable) == ("vax, wim", ("vax", "wim"), True)
    for line in ("Simon; Garfunkel", "a ; b", "None", "none"):
        one = ANSWERING.prediction(some, line)
        assert (one.answer, one.parts, one.answerable, one.sufficiency) == (line, (), True, 1)
    for line in (";;", "; ;", "  "):
        none = ANSWERING.prediction(some, line)
        assert (none.answer, none.answerable, none.sufficiency) == ("", False, 0)


def test_a_line_becomes_the_nearest_candidate() -> None:
    names = ("South Africa", "Africa", "The Cape of Good Hope", "the cape")
    some = question(0, candidates=True)
    some = replace(some, candidates=tuple(Candidate(id=f"c{place}", text=name) for place, name in enumerate(names)))
    found = {line: ANSWERING.prediction(some, line).candidate for line in ("Africa", "south africa!", "good hope", "the cape")}
    assert found == {"Africa": "c1", "south africa!": "c0", "good hope": "c2", "the cape": "c3"}
    backwards = replace(some, candidates=tuple(reversed(some.candidates or ())))
    for line in ("Peru", "none", ""):
        assert ANSWERING.prediction(some, line).candidate == ANSWERING.prediction(backwards, line).candidate


@pytest.mark.parametrize("candidates", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_answers_are_learned_and_kept(candidates: bool, tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(3, shown=1, candidates=candidates)
    settings = {"target_tokens": 8, "source_tokens": 60, "tunes_embeddings": True}
    reader = fitted("generative", tiny_encoder, tmp_path / "fit", some, epochs=60, learning_rate=0.005, settings=settings)
    found = said(reader, some)
    assert right(found, some) == len(some)
    assert said(again(reader, "generative", tiny_encoder, tmp_path / "saved"), some) == found


def test_a_t5_is_trained_and_predicts_with_lora(tiny_encoder: str, tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the extra [readers] is not installed")
    folder = write_set(tmp_path / "set", train=questions(8), dev=questions(4))
    (tmp_path / "t5").mkdir()
    settings = "copies = false\nlora_rank = 2\nbeams = 2\ntarget_tokens = 8"
    toml = write_toml(tmp_path / "reader.toml", "generative", write_t5(tmp_path / "t5", tiny_encoder), settings=settings, epochs=1)
    kgqa.train(str(toml), folder, out=tmp_path / "run")
    kgqa.train(str(toml), folder, out=tmp_path / "more", start_from=tmp_path / "run")
    for name in ("run", "more"):
        kgqa.predict(tmp_path / name, folder, out=tmp_path / f"{name}.json", metric="squad", split="dev")
        assert (tmp_path / f"{name}.json").is_file()
