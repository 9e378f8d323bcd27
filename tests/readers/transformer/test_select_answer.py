"""Select+Answer: two encoders, a selector of single paragraphs, and selections of questions that their selector does not know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import MissingInput, SettingsError
from kgqa.records import Instance
from tests.small_questions import paragraph, question, questions, write_set, write_toml

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.transformer.end_to_end import SpanReader  # noqa: E402
from kgqa.readers.transformer.examples import paragraphs_with_answer  # noqa: E402
from kgqa.readers.transformer.select_answer import SelectAnswer  # noqa: E402
from kgqa.settings.reader import CONNECTED  # noqa: E402
from kgqa.training.questions import Questions, of_list  # noqa: E402
from kgqa.training.reader import Fitting  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, made, said  # noqa: E402


def widths(reader: Any) -> tuple[int, int]:
    return reader._selector._encoder.width, reader._answerer._encoder.width


@pytest.mark.parametrize("name", ["sa", "one-paragraph"])
def test_selector_and_answerer_have_encoders_of_their_own(name: str, tiny_encoder: str, other_encoder: str, tmp_path: Path) -> None:
    some = questions(8)
    reader = fitted(name, tiny_encoder, tmp_path / "fit", some, settings={"answerer_encoder": other_encoder, "folds": 1})
    assert widths(reader) == (32, 16)
    kept = again(reader, name, tiny_encoder, tmp_path / "saved")
    assert widths(kept) == (32, 16)
    assert said(kept, some) == said(reader, some)
    alone = fitted(name, tiny_encoder, tmp_path / "alone", some, settings={"folds": 1})
    assert widths(alone) == (32, 32)


def test_the_selector_reads_one_paragraph_at_a_time_and_the_answerer_all(tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(8)
    reader: Any = fitted("sa", tiny_encoder, tmp_path, some, settings={"positions": CONNECTED + 1, "selected": 3})
    windows = [len(part._task.encode(some[:1]).to_pylist()[0]["lengths"]) for part in (reader._selector, reader._answerer)]
    assert windows == [3, 1]
    assert reader._selector._encoder.longest == 160


@pytest.mark.parametrize("folds", [1, 2, 3])
def test_no_selector_knows_the_questions_that_it_selects_for(
    folds: int, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: dict[int, set[str]] = {}
    pairs: list[tuple[set[str], set[str]]] = []
    fit, predict = SpanReader.fit, SpanReader.predict

    def spied_fit(self: SpanReader, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        learned[id(self)] = {instance.group for instance in train}
        fit(self, train, dev, fitting)

    def spied_predict(self: SpanReader, some: Questions, progress: Any) -> Iterator[Any]:
        pairs.append((learned[id(self)], {instance.group for instance in some}))
        return predict(self, some, progress)

    monkeypatch.setattr(SpanReader, "fit", spied_fit)
    monkeypatch.setattr(SpanReader, "predict", spied_predict)
    some = [replace(question(number), group=f"g{number // 2}") for number in range(12)]
    reader, told = made("sa", tiny_encoder, {"folds": folds})
    reader.fit(of_list(some), None, Fitting(place=tmp_path, settings=told, seed=3, progress=Silent(), record=lambda _: None))
    assert len(pairs) == folds
    assert set().union(*(asked for _, asked in pairs)) == {instance.group for instance in some}
    if folds > 1:
        assert all(not known & asked for known, asked in pairs)
        assert all(known | asked == {instance.group for instance in some} for known, asked in pairs)


def test_a_part_of_a_split_is_divided(tiny_encoder: str, tmp_path: Path) -> None:
    """As in cross-fitting, where a reader learns from some rows of the split."""
    import numpy as np

    some = of_list(questions(10)).only(np.arange(10) % 5 != 0)
    reader, told = made("sa", tiny_encoder)
    reader.fit(some, None, Fitting(place=tmp_path, settings=told, seed=3, progress=Silent(), record=lambda _: None))
    assert len(list(reader.predict(some, Silent()))) == 8


def test_more_folds_than_groups_is_a_sentence(tiny_encoder: str, tmp_path: Path) -> None:
    some = [replace(question(number), group="one") for number in range(4)]
    folder = write_set(tmp_path / "set", train=some)
    with pytest.raises(SettingsError, match="2 folds need at least as many groups of questions, and here are 1"):
        kgqa.train(str(write_toml(tmp_path / "sa.toml", "sa", tiny_encoder, epochs=1)), folder, out=tmp_path / "run")


@pytest.mark.slow
def test_a_run_resumes_predicts_and_starts_another(
    tiny_encoder: str, other_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_set(tmp_path / "set", train=questions(12), dev=questions(6))
    settings = f'answerer_encoder = "{other_encoder}"\nfolds = 3'
    toml = str(write_toml(tmp_path / "sa.toml", "sa", tiny_encoder, settings=settings, epochs=1))
    kgqa.train(toml, folder, out=tmp_path / "whole")
    selected_ids, calls = SelectAnswer._selected_ids, iter(range(100))

    def stopped(*given: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return selected_ids(*given)

    monkeypatch.setattr(SelectAnswer, "_selected_ids", stopped)
    with pytest.raises(KeyboardInterrupt):
        kgqa.train(toml, folder, out=tmp_path / "run")
    assert len(list((tmp_path / "run" / "fit").glob("fold-*.json"))) == 2
    kgqa.train(toml, folder, out=tmp_path / "run")
    files = [path.relative_to(tmp_path / "run") for path in sorted((tmp_path / "run" / "reader").rglob("*.safetensors"))]
    assert len(files) == 2
    assert all((tmp_path / "run" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes() for file in files)
    kgqa.predict(tmp_path / "run", folder, out=tmp_path / "p.json", metric="dire")
    kgqa.train(toml, folder, out=tmp_path / "more", start_from=tmp_path / "run")
    other = str(write_toml(tmp_path / "other.toml", "sa", tiny_encoder, settings=f'answerer_encoder = "{tiny_encoder}"', epochs=1))
    with pytest.raises(SettingsError, match=r"its answerer_encoder is .*; leave the answerer_encoder out"):
        kgqa.train(other, folder, out=tmp_path / "third", start_from=tmp_path / "run")


def test_an_encoder_of_the_answerer_that_is_not_there(tiny_encoder: str, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", train=questions(4))
    toml = str(write_toml(tmp_path / "sa.toml", "sa", tiny_encoder, settings='answerer_encoder = "./nowhere"', epochs=1))
    with pytest.raises(MissingInput, match=r"\./nowhere: there is no folder with an encoder of this name"):
        kgqa.train(toml, folder, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def stating(answers: tuple[str, ...], *texts: tuple[str, bool], **more: Any) -> Instance:
    shown = tuple(replace(paragraph(0), id=f"p{place}", text=text, supporting=mark, sentences=None, supporting_sentences=None)
                  for place, (text, mark) in enumerate(texts))  # fmt: skip
    return question(0, answers=answers, paragraphs=shown, **more)


def test_every_paragraph_that_states_the_answer_is_positive_for_one_paragraph() -> None:
    """Also a distractor (MuSiQue, section 7.2.2: any paragraph containing the answer); of yes and no the supporting ones (DiRe, B.2)."""
    assert paragraphs_with_answer(stating(("vax",), ("vax is here", True), ("vax is there", False), ("nothing", True))) == {0, 1}
    assert paragraphs_with_answer(stating(("wim", "vax"), ("wim", False), ("vax", False))) == {0, 1}
    assert paragraphs_with_answer(stating(("yes",), ("yes", False), ("so", True), ("it is", True), answer_type="boolean")) == {1, 2}
    assert paragraphs_with_answer(stating(("vaxen",), ("vax", True))) == set()
