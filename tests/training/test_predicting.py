"""Reading in threads: the same bytes with any number of them, and the process as it was afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.specification import specification  # noqa: E402
from kgqa.settings.training import TrainingSettings  # noqa: E402
from kgqa.training import predicting  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402
from kgqa.training.reader import Fitting  # noqa: E402
from tests.readers.recurrent.questions import born  # noqa: E402
from tests.training.test_loop import Lengths, asked  # noqa: E402

QUESTIONS = of_list([born(number) for number in range(40)])


@pytest.fixture(autouse=True)
def threads_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(predicting, "TOKENS_AT_ONCE", 60)  # some parts
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["bidaf", "question-only", "ee"])
def test_any_number_of_threads_finds_the_same(name: str, tiny_encoder: str, tmp_path: Path) -> None:
    settings = {"hidden": 4, "word_size": 6} if name == "bidaf" else {"encoder": tiny_encoder}
    chosen = specification(name, settings=settings, training={"max_steps": 2, "batch": 4, "device": "cpu"})
    reader = chosen.make()
    reader.fit(QUESTIONS, None, Fitting(place=tmp_path, settings=chosen.training, seed=5, progress=Silent(), record=lambda point: None))
    found = []
    for count in (1, 2, 5):
        torch.set_num_threads(count)
        found.append(list(reader.predict(QUESTIONS, Silent())))
        assert torch.get_num_threads() == count
    assert found[0] == found[1] == found[2]


def test_what_fails_in_a_thread_fails_here(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Lengths()
    monkeypatch.setattr(task, "read", lambda batch: 1 / 0)
    torch.set_num_threads(2)
    with pytest.raises(ZeroDivisionError):
        list(predicting.predict_task(task, asked(30), Silent(), TrainingSettings(device="cpu")))
    assert torch.get_num_threads() == 2
