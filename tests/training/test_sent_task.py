"""Tasks that are sent to another process read there what they read here, without a copy of their weights."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.neural import NeuralReader  # noqa: E402
from kgqa.readers.specification import Specification, specification  # noqa: E402
from kgqa.training import predicting  # noqa: E402
from kgqa.training.questions import Questions, of_list  # noqa: E402
from kgqa.training.reader import Reader  # noqa: E402
from kgqa.training.sent_task import SentTask  # noqa: E402
from tests.readers.questions import fitting, two_hops  # noqa: E402
from tests.readers.recurrent.questions import born  # noqa: E402
from tests.small_links import linked_questions  # noqa: E402

RECURRENT = {"hidden": 4, "word_size": 6}
SETTINGS: dict[str, dict[str, Any]] = {
    "bidaf": RECURRENT,
    "fastqa": RECURRENT,
    "rnn": RECURRENT,
    "ex-ee": {"decompositions": "gold"},
    "linked": {"window": 32, "question_tokens": 16},
    "boolean": {},
}
FEW = {"max_steps": 2, "batch": 4, "device": "cpu"}


def asked(name: str, encoder: str) -> Specification:
    settings = SETTINGS.get(name, {})
    return specification(name, settings=settings if settings is RECURRENT else {"encoder": encoder, **settings}, training=FEW)


def questions_of(name: str) -> Questions:
    if name == "linked":
        return of_list(linked_questions(6))
    if name in {"ex-ee", "decomposer", "composer"}:
        return of_list(two_hops())
    if name == "boolean":
        return of_list([replace(each, answers=("yes" if row % 2 else "no",), answer_type="boolean") for row, each in enumerate(two_hops())])
    return of_list([born(number) for number in range(24)])


def fitted(name: str, encoder: str, place: Path) -> Reader:
    """A reader of this name after two steps."""
    reader = asked(name, encoder).make()
    reader.fit(questions_of(name), None, fitting(place, asked(name, encoder).training))
    return reader


class Pickling:
    """An engine that sends everything through pickles, as one in other processes does."""

    name, workers, device, cores = "pickling", 1, "cpu", 1

    def __init__(self) -> None:
        self.parts = 0

    def before(self) -> None:
        """What happens once everything is sent."""

    def map(self, function: Callable[..., Any], parts: Iterable[Any], shared: tuple[Any, ...] = ()) -> Iterator[Any]:
        there = pickle.loads(pickle.dumps(shared))
        self.before()
        for part in parts:
            self.parts += 1
            yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(part)), *there)))


@pytest.mark.parametrize(
    "name",
    ["bidaf", "fastqa", "rnn", "question-only", "ee", "sa", "numeric", "boolean", "program", "decomposer", "composer", "ex-ee", "linked"],
)
def test_it_reads_the_same(name: str, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, questions, engine = fitted(name, tiny_encoder, tmp_path), questions_of(name), Pickling()
    monkeypatch.setattr(predicting, "FEWEST_TOKENS", 60)  # some parts
    before = torch.get_num_threads()
    found = list(reader.predict(replace(questions, engine=engine), Silent()))
    torch.set_num_threads(before)
    assert found == list(reader.predict(questions, Silent()))
    assert engine.parts > 1


@pytest.mark.parametrize("kind", ["encoder", "static", "glove"])
def test_vectors_of_words_that_no_training_question_has(
    kind: str, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"encoder": tiny_encoder, "static": write_static(tmp_path, tiny_encoder), "glove": write_glove(tmp_path)}
    settings = {**RECURRENT, "embeddings": names[kind], "answer": "span"}
    asked = specification("fastqa", settings=settings, training=FEW)
    reader, engine = asked.make(), Pickling()
    reader.fit(questions_of("fastqa"), None, fitting(tmp_path / "fit", asked.training))
    unseen = of_list([born(number, places=[f"Narvik{number}", "Alta", "Bern", "Lima"]) for number in range(24)])
    monkeypatch.setattr(predicting, "FEWEST_TOKENS", 60)
    here = list(reader.predict(unseen, Silent()))
    if kind == "glove":  # the nodes have no such file
        monkeypatch.setattr(Pickling, "before", staticmethod((tmp_path / "glove.txt").unlink), raising=False)
    before = torch.get_num_threads()
    there = list(reader.predict(replace(unseen, engine=engine), Silent()))
    torch.set_num_threads(before)
    assert there == here
    assert engine.parts > 1


def write_static(folder: Path, encoder: str) -> str:
    """A static model as Sentence Transformers writes it, with the tokenizer of ``encoder`` and no config.json."""
    from safetensors.torch import save_file

    tokenizer = Path(encoder, "tokenizer.json").read_text("utf-8")
    (folder / "static").mkdir()
    (folder / "static" / "tokenizer.json").write_text(tokenizer, "utf-8")
    pieces = len(json.loads(tokenizer)["model"]["vocab"])
    save_file(
        {"embedding.weight": torch.randn(pieces, 4, generator=torch.Generator().manual_seed(1))}, folder / "static" / "model.safetensors"
    )
    return str(folder / "static")


def write_glove(folder: Path) -> str:
    path = folder / "glove.txt"
    lines = [f"Narvik{number} {number} 5 -{number}" for number in range(24)]
    path.write_text("\n".join(["born 10 0 5", "Oslo 0 10 -10", *lines]) + "\n")
    return str(path)


def test_its_weights_are_arrays_apart_and_stay_where_they_are(tiny_encoder: str, tmp_path: Path) -> None:
    reader = fitted("ee", tiny_encoder, tmp_path)
    assert isinstance(reader, NeuralReader)
    assert reader._task is not None
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(SentTask(reader._task), protocol=5, buffer_callback=buffers.append)
    own = dict(reader._task.network.named_parameters())
    assert sum(buffer.raw().nbytes for buffer in buffers) >= sum(value.nbytes for value in own.values())
    sent: SentTask = pickle.loads(data, buffers=[memoryview(bytes(buffer.raw())) for buffer in buffers])
    there = dict(sent.task().network.named_parameters())
    assert sent.task() is sent.task()
    assert there.keys() == own.keys()
    assert all(torch.equal(value, own[name]) and value.requires_grad == own[name].requires_grad for name, value in there.items())
    addresses = {array.data.__array_interface__["data"][0] for array in sent._arrays}
    assert {value.data_ptr() for value in there.values()} <= addresses


def test_a_part_of_one_question_is_not_the_whole_file(tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, sizes = fitted("ee", tiny_encoder, tmp_path), []

    class Weighing(Pickling):
        def map(self, function: Callable[..., Any], parts: Iterable[Any], shared: tuple[Any, ...] = ()) -> Iterator[Any]:
            for part in parts:
                sizes.append(len(pickle.dumps(part)))
                yield from super().map(function, [part], shared)

    monkeypatch.setattr(predicting, "FEWEST_TOKENS", 1)  # each question alone
    many = of_list([born(number % 24) for number in range(400)])
    predicting_now = reader.predict(replace(many, engine=Weighing()), Silent())
    assert len(list(predicting_now)) == 400
    assert len(sizes) > 30
    assert max(sizes) < 200_000
