"""What holds of every reader that counts: an answer for each question, the same from a saved one, whatever the order of anything."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, EmptyResult, InputError, MissingInput
from kgqa.progress import Silent
from kgqa.readers.lexical import LEXICAL
from kgqa.readers.lexical.cue_readers import Majority
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.readers.lexical.spans import name_like
from kgqa.readers.specification import specification
from kgqa.records import Candidate, Instance, Paragraph
from kgqa.training.questions import of_list
from kgqa.training.reader import Prediction
from tests.readers.lexical.drawing import sets
from tests.readers.lexical.fitting import fitted

EVERY = pytest.mark.parametrize("name", LEXICAL)
TAUGHT = Instance(
    id="t", question="P1 of Ely", paragraphs=(Paragraph(id="d", title=None, text="Ely lies on the Ouse.", supporting=None),),
    answers=("Ouse",), answer_id="a", answer_type="candidate", candidates=(Candidate(id="a", text="Ouse"), Candidate(id="b", text="Cam")),
    answerable=True, group="t", provenance=None,
)  # fmt: skip


def trained(name: str, train: list[Instance], *, seed: int = 0) -> LexicalReader:
    return fitted(LEXICAL[name](), [TAUGHT, *train], seed=seed)


def predicted(reader: LexicalReader, instances: list[Instance]) -> list[Prediction]:
    return list(reader.predict(of_list(instances), Silent()))


def test_every_reader_can_be_asked_for_by_its_name() -> None:
    for name, kind in LEXICAL.items():
        assert kind.name == name
        assert isinstance(specification(name, settings={}, training={}).make(), kind)


@EVERY
@settings(max_examples=20)
@given(train=sets(), asked=sets())
def test_every_question_gets_an_answer_that_can_be_one(name: str, train: list[Instance], asked: list[Instance]) -> None:
    made = predicted(trained(name, train), asked)
    assert [prediction.id for prediction in made] == [instance.id for instance in asked]
    for instance, prediction in zip(asked, made, strict=True):
        assert 0 <= prediction.confidence <= 1
        assert set(prediction.supporting) <= {paragraph.id for paragraph in instance.paragraphs}
        if instance.candidates:
            assert (prediction.candidate, prediction.answer) in [(each.id, each.text) for each in instance.candidates]
            assert prediction.confidence > 0
        elif name in {"majority", "prior", "document-cue"}:
            assert prediction.answer in {answer for other in (TAUGHT, *train) for answer in other.answers}
            assert prediction.confidence > 0
        else:
            assert prediction.answer in (name_like(instance) or [""])
            assert (prediction.confidence > 0) == bool(prediction.answer)


@EVERY
@settings(max_examples=20)
@given(train=sets(), asked=sets(), seed=st.integers(0, 3))
def test_what_was_saved_predicts_the_same(name: str, train: list[Instance], asked: list[Instance], seed: int) -> None:
    reader, again = trained(name, train, seed=seed), LEXICAL[name](seed=99)
    with TemporaryDirectory() as folder:
        reader.save(Path(folder))
        again.load(Path(folder))
    assert predicted(again, asked) == predicted(reader, asked)
    assert again.seed == seed


@EVERY
@settings(max_examples=20)
@given(train=sets(), asked=sets(), data=st.data())
def test_no_order_changes_a_prediction(name: str, train: list[Instance], asked: list[Instance], data: st.DataObject) -> None:
    expected = {prediction.id: prediction for prediction in predicted(trained(name, train), asked)}
    turned = [replace(one, candidates=one.candidates[::-1] if one.candidates else None) for one in data.draw(st.permutations(asked))]
    for prediction in predicted(trained(name, train[::-1]), turned):
        mine = expected[prediction.id]
        assert (prediction.answer, prediction.candidate) == (mine.answer, mine.candidate)
        assert prediction.confidence == pytest.approx(mine.confidence)


@EVERY
def test_a_question_is_answered_alike_in_any_batch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    train = [replace(TAUGHT, id=f"t{number}", answers=(("Ouse", "Cam")[number % 2],), answer_id="ab"[number % 2]) for number in range(9)]
    asked = [replace(TAUGHT, id=f"q{number}", candidates=TAUGHT.candidates if number % 3 else None) for number in range(11)]
    whole = predicted(trained(name, train), asked)
    monkeypatch.setattr("kgqa.readers.lexical.reader.BATCH", 2)
    assert predicted(trained(name, train), asked) == whole


@EVERY
def test_a_tie_is_drawn_by_question_and_seed(name: str) -> None:
    silent = Paragraph(id="d", title=None, text="Nothing is said here.", supporting=None)
    candidates = tuple(Candidate(id=f"c{number}", text=f"Choice{number}") for number in range(4))
    asked = [replace(TAUGHT, id=f"q{number}", question="P2 x", paragraphs=(silent,), candidates=candidates) for number in range(400)]
    drawn = {seed: [prediction.candidate for prediction in predicted(trained(name, [], seed=seed), asked)] for seed in (0, 1)}
    assert drawn[0] != drawn[1]
    for chosen in drawn.values():
        # A hundred each is what is expected, and 8.7 a standard deviation.
        assert all(60 < chosen.count(candidate.id) < 140 for candidate in candidates)
    assert predicted(trained(name, []), asked)[0].confidence == 0.25 or name == "tf-idf"


def test_confidence_is_the_share_of_what_was_counted() -> None:
    # Three of four training questions have the answer Ouse; of the two candidates, Cam was never one.
    train = [replace(TAUGHT, id="u"), replace(TAUGHT, id="v"), replace(TAUGHT, id="w", answers=("Nene",), answer_id=None)]
    (chosen,) = predicted(trained("prior", train), [replace(TAUGHT, id="q")])
    (free,) = predicted(trained("prior", train), [replace(TAUGHT, id="q", candidates=None)])
    assert (chosen.answer, chosen.confidence) == ("Ouse", 1.0)
    assert (free.answer, free.candidate, free.confidence) == ("Ouse", None, 0.75)
    train[0] = replace(train[0], answers=("Cam",), answer_id="b")
    (chosen,) = predicted(trained("prior", train), [replace(TAUGHT, id="q")])
    assert chosen.confidence == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", ["majority", "prior", "document-cue"])
def test_an_answer_that_is_as_frequent_as_others_is_drawn(name: str) -> None:
    train = [replace(TAUGHT, id=f"t{number}", answers=(f"River {number}",), answer_id=None, candidates=None) for number in range(3)]
    reader = fitted(LEXICAL[name](), train)
    answers = [one.answer for one in predicted(reader, [replace(train[0], id=f"q{number}") for number in range(300)])]
    # A hundred each is what is expected, and 8.2 a standard deviation.
    assert all(60 < answers.count(f"River {number}") < 140 for number in range(3))


@pytest.mark.parametrize("name", ["majority", "prior", "document-cue"])
def test_a_set_without_answers_teaches_nothing(name: str) -> None:
    with pytest.raises(EmptyResult, match="no training question has an answer"):
        fitted(LEXICAL[name](), [replace(TAUGHT, answers=()), replace(TAUGHT, answerable=False)])


class TestAFolder:
    """A saved reader, and what is none."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        trained("majority", []).save(tmp_path)
        return tmp_path

    def refused(self, folder: Path, reader: LexicalReader | None = None) -> str:
        with pytest.raises(InputError) as error:
            (reader or Majority()).load(folder)
        assert "\n" not in str(error.value)
        assert str(folder) in str(error.value)
        return str(error.value)

    @EVERY
    def test_of_another_reader_or_version_is_refused(self, name: str, folder: Path) -> None:
        if name != "majority":
            assert f"this is the reader majority, not {name}" in self.refused(folder, LEXICAL[name]())
        said = json.loads((folder / "reader.json").read_text("utf-8"))
        assert (said["reader"], said["version"], said["seed"]) == ("majority", 1, 0)
        (folder / "reader.json").write_text(json.dumps(said | {"version": 2}), "utf-8")
        assert "version 2" in self.refused(folder, LEXICAL[name]())

    def test_that_is_not_whole_is_refused(self, folder: Path, tmp_path: Path) -> None:
        for file in ("counts.parquet", "answers.parquet", "reader.json"):
            broken = Path(shutil.copytree(folder, tmp_path.with_name(f"{tmp_path.name}-{file}")))
            (broken / file).unlink()
            with pytest.raises(MissingInput):
                Majority().load(broken)
            (broken / file).write_bytes(b"PAR1 no")
            with pytest.raises(BrokenInput):
                Majority().load(broken)

    def test_whose_tables_are_not_those_of_the_reader_is_refused(self, folder: Path) -> None:
        shutil.copy(folder / "answers.parquet", folder / "counts.parquet")
        assert "its columns are not those of this reader" in self.refused(folder)

    def test_without_a_seed_is_refused(self, folder: Path) -> None:
        said = json.loads((folder / "reader.json").read_text("utf-8"))
        (folder / "reader.json").write_text(json.dumps({name: value for name, value in said.items() if name != "seed"}), "utf-8")
        assert "no seed" in self.refused(folder)
