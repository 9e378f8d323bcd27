"""Cross-fitting: no group leaks, every question is judged once a seed, and what was killed goes on to the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from kgqa.errors import RunMismatch, SettingsError
from kgqa.progress import Progress, Silent
from kgqa.records import Instance, Paragraph
from kgqa.settings.training import TrainingSettings
from kgqa.training.cross_fit import FOLDS, cross_fit
from kgqa.training.folds import folds_of
from kgqa.training.judgements import JUDGED, CrossFitted
from kgqa.training.questions import Questions, of_list
from kgqa.training.reader import Fitting, Prediction

SETTINGS = TrainingSettings(epochs=1)


def question(number: int, group: str, answer: str = "") -> Instance:
    answer = answer or f"answer {number}"
    paragraph = Paragraph(id="p", title=None, text=f"It is {answer}.", supporting=True)
    return Instance(
        id=f"q{number}", question="What is it?", paragraphs=(paragraph,), answers=(answer,), answer_type="span", answerable=True,
        group=group, provenance=None,
    )  # fmt: skip


class Memory:
    """Answers what it has learned by the question's group, and is told of everything that it must not see."""

    def __init__(self, seed: int, told: Callable[[str], None] = lambda _: None) -> None:
        self.seed, self.told = seed, told
        self.answers: dict[str, str] = {}
        self.seen: set[str] = set()

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        self.told("fit")
        begun = fitting.place / "begun"
        begun.write_text("a checkpoint")
        for instance in train:
            self.answers[instance.group] = instance.answers[0]
        self.seen = {instance.group for questions in (train, dev or ()) for instance in questions}
        self.told("fitted")

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        for instance in questions:
            assert instance.group not in self.seen
            self.told("read")
            yield Prediction(id=instance.id, answer=self.answers.get(instance.group, ""), confidence=self.seed / 10)

    def save(self, folder: Path) -> None: ...

    def load(self, folder: Path) -> None: ...


def exact(instance: Instance, prediction: Prediction) -> float:
    return float(prediction.answer in instance.answers)


GROUPS = st.lists(st.sampled_from("abcdefghijkl"), min_size=20, max_size=60).filter(lambda groups: len(set(groups)) >= FOLDS)


@given(GROUPS, st.integers(2, FOLDS), st.integers(0, 9))
def test_a_group_is_in_one_fold_and_folds_are_even(groups: list[str], count: int, seed: int) -> None:
    folds = folds_of(groups, count, seed=seed)
    assert len({(group, fold) for group, fold in zip(groups, folds.tolist(), strict=True)}) == len(set(groups))
    sizes = np.bincount(folds, minlength=count)
    assert sizes.max() - sizes.min() <= max(map(groups.count, groups))
    assert sizes.min() > 0


def test_folds_depend_on_the_seed_and_not_on_the_order() -> None:
    groups = [f"g{number}" for number in range(40)]
    assert folds_of(groups, 4, seed=0).tolist() != folds_of(groups, 4, seed=1).tolist()
    assert folds_of(groups[::-1], 4, seed=0).tolist() == folds_of(groups, 4, seed=0).tolist()[::-1]


@hypothesis_settings(max_examples=10, deadline=None)
@given(groups=GROUPS, validate=st.booleans())
def test_no_group_leaks_and_every_question_is_judged_once_a_seed(
    tmp_path_factory: pytest.TempPathFactory, groups: list[str], validate: bool
) -> None:
    asked = [question(number, group) for number, group in enumerate(groups)]
    probe = [question(number, group) for number, group in enumerate(groups) for _ in range(2)]
    done = cross_fit(
        of_list(asked), Memory, place=tmp_path_factory.mktemp("folds") / "run", seeds=(3, 1), settings=SETTINGS, validate=validate,
        beside={"probe": of_list(probe)},
    )  # fmt: skip
    for seed in (3, 1):
        assert [each.id for each in done.predictions(seed)] == [each.id for each in asked]
        assert [each.id for each in done.predictions(seed, "probe")] == [each.id for each in probe]
        assert {each.confidence for each in done.predictions(seed)} == {seed / 10}
    # Whoever remembers what it has read knows nothing of a question whose group it has not read.
    assert done.mean_scores(exact).tolist() == [0.0] * len(asked)
    assert done.scores(exact, "probe").shape == (2, len(probe))


def test_a_part_of_a_split_is_judged_alone(tmp_path: Path) -> None:
    asked = of_list([question(number, f"g{number}") for number in range(30)])
    part = asked.only(np.arange(30) % 2 == 0)
    done = cross_fit(part, Memory, place=tmp_path / "run", seeds=(0,), settings=SETTINGS)
    assert [each.id for each in done.predictions(0)] == [f"q{number}" for number in range(0, 30, 2)]


def test_one_fold_decides_when_to_stop(tmp_path: Path) -> None:
    sizes: list[tuple[int, int | None]] = []

    class Sized(Memory):
        def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
            sizes.append((len(train), None if dev is None else len(dev)))

    asked = of_list([question(number, f"g{number}") for number in range(50)])
    cross_fit(asked, Sized, place=tmp_path / "a", seeds=(0,), settings=SETTINGS)
    cross_fit(asked, Sized, place=tmp_path / "b", seeds=(0,), folds=2, validate=False, settings=SETTINGS)
    cross_fit(of_list([question(99, "other")]), Sized, train=asked, place=tmp_path / "c", seeds=(0,), settings=SETTINGS)
    assert sizes == [(30, 10)] * 5 + [(25, None)] * 2 + [(40, 10)]


class Killed(BaseException):
    pass


def contents(folder: Path) -> Mapping[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def run(place: Path, told: Callable[[str], None] = lambda _: None) -> CrossFitted:
    asked = [question(number, f"g{number % 7}") for number in range(20)]
    return cross_fit(of_list(asked), lambda seed: Memory(seed, told), place=place, seeds=(0, 1), settings=SETTINGS, key="memory")


@pytest.mark.parametrize("at", [1, 2, 3, 8, 13, 25, 40, 59])
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path, at: int) -> None:
    run(tmp_path / "whole")
    told: list[str] = []

    def kill(what: str) -> None:
        told.append(what)
        if len(told) == at:
            raise Killed

    with pytest.raises(Killed):
        run(tmp_path / "killed", kill)
    fits_before = told.count("fitted")
    again: list[str] = []
    run(tmp_path / "killed", again.append)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    # Of the folds that were done none is fitted again: at most the last that was.
    assert 10 <= fits_before + again.count("fitted") <= 11
    assert sorted(contents(tmp_path / "whole")) == [f"{JUDGED}.parquet", "key.txt"]


def test_what_is_done_is_not_done_again_and_something_else_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "run")
    told: list[str] = []
    assert [each.id for each in run(tmp_path / "run", told.append).predictions(1)][:2] == ["q0", "q1"]
    assert told == []
    other = of_list([question(number, f"g{number}") for number in range(20)])
    with pytest.raises(RunMismatch, match="are of other questions, readers"):
        cross_fit(other, Memory, place=tmp_path / "run", settings=SETTINGS)


def test_the_table_says_which_reader_judged(tmp_path: Path) -> None:
    run(tmp_path / "run")
    table = pq.read_table(tmp_path / "run" / f"{JUDGED}.parquet")
    assert table.column_names[:4] == ["seed", "fold", "id", "answer"]
    by_group: dict[int, set[int]] = {}
    for row in table.to_pylist():
        by_group.setdefault(int(row["id"][1:]) % 7, set()).add(row["fold"])
    assert all(len(folds) == 1 for folds in by_group.values())
    assert set().union(*by_group.values()) == set(range(FOLDS))


def test_mistakes_are_told_in_a_sentence(tmp_path: Path) -> None:
    few = of_list([question(number, f"g{number % 3}") for number in range(9)])
    with pytest.raises(SettingsError, match="5 folds need at least as many groups of questions, and here are 3"):
        cross_fit(few, Memory, place=tmp_path / "few", settings=SETTINGS)
    with pytest.raises(SettingsError, match="2 folds leave nothing to learn from"):
        cross_fit(few, Memory, place=tmp_path / "few", folds=2, settings=SETTINGS)
    with pytest.raises(SettingsError, match="no question of its group else is judged"):
        cross_fit(few, Memory, place=tmp_path / "few", folds=3, settings=SETTINGS, beside={"probe": of_list([question(1, "else")])})


def test_networks_share_what_was_encoded(tmp_path: Path, tiny_encoder: str) -> None:
    from kgqa.readers.specification import specification

    stages: list[str] = []

    class Stages(Silent):
        def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
            stages.append(stage)

    asked = specification("ee", settings={"encoder": tiny_encoder}, training={"max_steps": 2, "batch": 4, "device": "cpu"})
    questions = of_list([question(number, f"g{number}", answer=f"city {number}") for number in range(9)])
    done = cross_fit(
        questions, lambda _: asked.make(), place=tmp_path / "run", folds=3, seeds=(0,), settings=asked.training, progress=Stages()
    )  # fmt: skip
    assert [each.id for each in done.predictions(0)] == [f"q{number}" for number in range(9)]
    assert sum("Tokenising" in stage for stage in stages) == 1
    assert "Training, seed 0, fold 1 of 3" in stages
