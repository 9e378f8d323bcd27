"""Pairs as questions of two hops, and how far questions can be guessed by who does not connect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import kgqa
from kgqa.arrays.parallel import Threads
from kgqa.progress import Progress
from kgqa.recipes.musique.comparison import two_hops
from kgqa.recipes.musique.shortcut_baselines import disconnected
from kgqa.records import Instance, Step
from kgqa.runs.workspace import Workspace
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction
from tests.readers.questions import two_hops as asked
from tests.small_single_hops import single_hop


def test_pairs_become_questions_of_two_hops(tmp_path: Path) -> None:
    kgqa.compose(single_hop(tmp_path / "set"), filter="none", workspace=tmp_path / "w")
    tables = {name: Workspace(tmp_path / "w").read_table(name) for name in ("pairs", "single_hop", "paragraphs")}
    output = two_hops(**tables, count=24, seed=3, engine=Threads(1))
    assert output == two_hops(**tables, count=24, seed=3, engine=Threads(3))
    table = [instance for some in output.values() for instance in some]
    assert 12 < len(table) <= 24
    assert "What country is (Where was Ada born?) the capital of?" in {
        instance.question for some in two_hops(**tables, count=99, seed=3, engine=Threads(1)).values() for instance in some
    }
    for instance in table:
        assert len({paragraph.id for paragraph in instance.paragraphs}) == 20
        assert instance.decomposition
        assert instance.decomposition[-1].answer == instance.answers[0]
    steps = [{step.id for instance in some for step in instance.decomposition or ()} for some in output.values()]
    assert all(steps)
    assert not steps[0] & (steps[1] | steps[2])
    random = two_hops(**tables, count=24, seed=3, engine=Threads(1), random=True)
    assert sum(map(len, random.values())) == 24
    assert {step.id for step in _steps(random["train"])} & {step.id for step in _steps([*random["dev"], *random["test"]])}


def _steps(instances: list[Instance]) -> list[Step]:
    return [step for instance in instances for step in instance.decomposition or ()]


class _Knowing:
    """Knows an answer where it is shown so many supporting paragraphs, or the one that states it."""

    def __init__(self, needed: int) -> None:
        self._needed = needed

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        raise AssertionError("it knows all")

    def save(self, folder: Path) -> None:
        raise AssertionError("nobody saves it")

    def load(self, folder: Path) -> None:
        raise AssertionError("nobody saved it")

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        for instance in questions:
            context = [paragraph.text for paragraph in instance.paragraphs if paragraph.supporting]
            name = instance.id.partition("#")[0]
            right = next(whole for whole in asked() if whole.id == name)
            knows = len(context) >= self._needed and any(right.answers[0] in text for text in context)
            yield Prediction(id=instance.id, answer=right.answers[0] if knows else "nobody", confidence=0.9 if knows else 0.5)


def test_who_needs_one_paragraph_is_disconnected_and_who_needs_both_is_not() -> None:
    instances: list[Instance] = asked()
    assert disconnected(_Knowing(1), instances, seed=0) == [1.0] * len(instances)
    assert disconnected(_Knowing(2), instances, seed=0) == [0.0] * len(instances)
