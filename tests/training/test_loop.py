"""The loop: one curve whatever the memory allows and whenever a run was stopped; and every end in a sentence."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.small_questions import question

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import safetensors.torch  # noqa: E402
from torch import nn  # noqa: E402

from kgqa.errors import BrokenInput, EmptyResult, InterruptedRun, MissingInput, OutOfMemory, RunMismatch, SettingsError, TrainingError  # noqa: E402
from kgqa.progress import Silent  # noqa: E402
from kgqa.records import Instance  # noqa: E402
from kgqa.settings.training import TrainingSettings  # noqa: E402
from kgqa.training import checkpoints, encoded, loop, predicting  # noqa: E402
from kgqa.training.device import Device  # noqa: E402
from kgqa.training.loop import FitResult, fit_task  # noqa: E402
from kgqa.training.predicting import predict_task  # noqa: E402
from kgqa.training.processes import Processes, accelerator_of  # noqa: E402
from kgqa.training.questions import Questions, of_list  # noqa: E402
from kgqa.training.reader import Fitting, Prediction  # noqa: E402

Point = dict[str, object]


class Lengths:
    """Learns how long a question is, with dropout; what it is shown is as many tokens as the question has letters."""

    encoding = "lengths"

    def __init__(self) -> None:
        torch.manual_seed(3)
        self.network: Any = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.2), nn.Tanh(), nn.Linear(16, 1))
        self.batches: list[int] = []

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        columns = {
            "id": pa.array([each.id for each in instances], pa.string()),
            "tokens": pa.array([len(each.question) for each in instances], pa.int32()),
            "fault": pa.array([None if each.answers else "it has no answer" for each in instances], pa.string()),
        }
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def collate(self, examples: pa.Table) -> dict[str, Any]:
        return {"length": torch.tensor(examples.column("tokens").to_pylist(), dtype=torch.float32)}

    def _said(self, batch: Any) -> Any:
        length = batch["length"] / 40
        return self.network(torch.stack([length, length**2, length.sin(), torch.ones_like(length)], dim=1)).squeeze(1)

    def losses(self, batch: Any) -> Any:
        self.batches.append(len(batch["length"]))
        return (self._said(batch).float() - batch["length"] / 20) ** 2

    def read(self, batch: Any) -> list[float]:
        return [float(value) for value in self._said(batch)]

    def answer(self, instance: Instance, reading: float) -> Prediction:
        return Prediction(id=instance.id, answer=f"{reading:.6f}", confidence=1.0)

    def score(self, instance: Instance, prediction: Prediction) -> float:
        return math.exp(-abs(float(prediction.answer) - len(instance.question) / 20))


def asked(count: int) -> Questions:
    return of_list([question(number % 16, id=f"q{number}", question="x" * (5 + 7 * number % 40)) for number in range(count)])


def fitting(place: Path, points: list[Point] | None = None, *, seed: int = 7, **settings: Any) -> Fitting:
    said: dict[str, Any] = {"batch": 4, "epochs": 3, "learning_rate": 0.01, "device": "cpu", "checkpoint_seconds": 0.0, **settings}
    return Fitting(
        place=place, settings=TrainingSettings(**said), seed=seed, progress=Silent(), record=(points if points is not None else []).append
    )


def fit(
    place: Path, points: list[Point] | None = None, *, task: Any = None, count: int = 18, dev: int = 6, key: str = "k", **more: Any
) -> tuple[Any, FitResult]:
    task = task or Lengths()
    return task, fit_task(task, asked(count), asked(dev) if dev else None, fitting(place, points, **more), key=key)


def said(task: Any) -> list[str]:
    return [each.answer for each in predict_task(task, asked(30), Silent(), TrainingSettings(device="cpu"))]


def curve(points: list[Point]) -> dict[int, Point]:
    """Step → what was measured there, of those that count; without speeds."""
    found: dict[int, Point] = {}
    for point in points:
        step = int(str(point["step"]))
        if point.get("resumed"):
            found = {before: values for before, values in found.items() if before <= step}
            continue
        found[step] = {**found.get(step, {}), **{name: value for name, value in point.items() if name != "examples_per_second"}}
    return found


@pytest.mark.slow
def test_the_same_seed_is_the_same_run_and_another_one_is_not(tmp_path: Path) -> None:
    curves: list[list[Point]] = [[], [], []]
    texts = [said(fit(tmp_path / str(number), curves[number], seed=seed)[0]) for number, seed in enumerate((7, 7, 8))]
    assert texts[0] == texts[1] != texts[2]
    assert curve(curves[0]) == curve(curves[1]) != curve(curves[2])


def test_dropout_is_on_from_the_first_step(tmp_path: Path) -> None:
    """Pretrained networks are loaded without it, and an evaluation would switch it on."""
    curves: list[list[Point]] = [[], []]
    task = Lengths()
    task.network.eval()
    fit(tmp_path / "loaded", curves[0], task=task, epochs=1)
    fit(tmp_path / "new", curves[1], epochs=1)
    assert curve(curves[0]) == curve(curves[1])


class Killed(BaseException):
    """The process is gone."""


class Acting(Lengths):
    """Acts in its n-th computation of losses, from 0: a step, where the batch is one part; before it, in each of them without a number."""

    def __init__(self, act: Callable[[], object], step: int | None = None) -> None:
        super().__init__()
        self._act, self._at = act, step

    def losses(self, batch: Any) -> Any:
        if self._at in {None, len(self.batches)}:
            self._act()
        return super().losses(batch)


def die() -> None:
    raise Killed


@pytest.mark.parametrize("seconds", [0.0, 1000.0])
@pytest.mark.parametrize("steps", [[0], [1, 2], [7], [4, 9, 14]])
def test_a_run_that_dies_in_a_step_goes_on_to_the_same_curve(
    tmp_path: Path, steps: list[int], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "REPORTS", 2)  # a point only every second step
    whole: list[Point] = []
    task, fitted = fit(tmp_path / "whole", whole)
    texts = said(task)
    points: list[Point] = []
    saved = 0
    for step in steps:
        with pytest.raises(Killed):
            fit(tmp_path / "run", points, task=Acting(die, step - saved), checkpoint_seconds=seconds)
        saved = step if seconds == 0 else 0  # with few checkpoints it begins anew
    task, again = fit(tmp_path / "run", points, checkpoint_seconds=seconds)
    assert said(task) == texts
    assert again == fitted
    assert curve(points) == curve(whole) if seconds == 0 else curve(points).items() >= curve(whole).items()
    assert fit(tmp_path / "run")[1] == fitted  # done, and reads what it learned


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_step_and_the_run_goes_on(tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "REPORTS", 2)
    whole: list[Point] = []
    texts, before = said(fit(tmp_path / "whole", whole)[0]), signal.getsignal(number)
    points: list[Point] = []
    with pytest.raises(InterruptedRun, match="stopped after step 7; run the same command again"):
        fit(tmp_path / "run", points, task=Acting(lambda: signal.raise_signal(number), 6), checkpoint_seconds=1000)
    assert signal.getsignal(number) == before
    assert said(fit(tmp_path / "run", points)[0]) == texts
    assert curve(points) == curve(whole)


@pytest.mark.parametrize("nth", [1, 2, 4, 6])
def test_a_signal_in_an_evaluation_is_obeyed_in_it(tmp_path: Path, nth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which comes first when the run goes on, so that the curve is the same."""
    monkeypatch.setattr(loop, "REPORTS", 2)
    whole: list[Point] = []
    task, fitted = fit(tmp_path / "whole", whole, batch_tokens=20, evaluations=2)
    texts, read, parts = said(task), Lengths.read, [0]

    def asks(self: Any, batch: Any) -> list[float]:
        parts[0] += 1
        if parts[0] == nth:
            signal.raise_signal(signal.SIGTERM)
        return read(self, batch)

    points: list[Point] = []
    with monkeypatch.context() as patched:
        patched.setattr(Lengths, "read", asks)
        patched.setattr(predicting, "_threads", lambda _: nullcontext())  # signals come to the main thread
        patched.setattr(predicting, "FEWEST_TOKENS", 20)
        with pytest.raises(InterruptedRun, match="stopped after step"):
            fit(tmp_path / "run", points, checkpoint_seconds=1000, batch_tokens=20, evaluations=2)
    assert parts[0] == nth
    task, again = fit(tmp_path / "run", points, batch_tokens=20, evaluations=2)
    assert (said(task), again, curve(points)) == (texts, fitted, curve(whole))


def test_a_signal_between_two_parts_of_a_step_is_obeyed_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "REPORTS", 2)
    whole: list[Point] = []
    task, fitted = fit(tmp_path / "whole", whole, batch_tokens=20)
    texts, losses, parts = said(task), Lengths.losses, [0]

    def asks(self: Any, batch: Any) -> Any:
        parts[0] += 1
        if parts[0] == 6:
            signal.raise_signal(signal.SIGINT)
        return losses(self, batch)

    points: list[Point] = []
    with monkeypatch.context() as patched:
        patched.setattr(Lengths, "losses", asks)
        with pytest.raises(InterruptedRun, match="stopped after step"):
            fit(tmp_path / "run", points, checkpoint_seconds=1000, batch_tokens=20)
    assert parts[0] == 6
    task, again = fit(tmp_path / "run", points, batch_tokens=20)
    assert (said(task), again, curve(points)) == (texts, fitted, curve(whole))


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        fit(tmp_path / "run", task=Acting(lambda: signal.raise_signal(signal.SIGHUP)))
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("nth", [1, 2, 5, 6, 29, 30, 31, 32])
def test_a_run_that_dies_while_it_saves_goes_on(tmp_path: Path, nth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it writes the weights, odd numbers, or the optimiser; the last step is saved twice, as a step and as the end."""
    texts, inner, count = said(fit(tmp_path / "whole", dev=0)[0]), safetensors.torch.save_file, 0

    def once(*given: Any) -> Any:
        nonlocal count
        count += 1
        if count == nth:
            raise Killed
        return inner(*given)

    with monkeypatch.context() as patched:
        patched.setattr(safetensors.torch, "save_file", once)
        with pytest.raises(Killed):
            fit(tmp_path / "run", dev=0)
    assert said(fit(tmp_path / "run", dev=0)[0]) == texts
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-000000015-finished"]


@pytest.mark.parametrize("tokens", [1, 30, 60])
def test_memory_does_not_change_what_a_step_learns(tmp_path: Path, tokens: int) -> None:
    whole: list[Point] = []
    parts: list[Point] = []
    first, second = Lengths(), Lengths()
    for task in (first, second):
        task.network[1].p = 0.0  # as each part draws its own dropout
    fit(tmp_path / "whole", whole, task=first)
    fit(tmp_path / "parts", parts, task=second, batch_tokens=tokens)
    assert len(second.batches) > len(first.batches)
    losses = [[point["loss"] for point in points if "loss" in point] for points in (whole, parts)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_a_run_may_go_on_with_fewer_tokens_at_once(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        fit(tmp_path / "run", task=Acting(die, 5))
    task = Lengths()
    fit(tmp_path / "run", task=task, batch_tokens=1)
    assert set(task.batches) == {1}


class Hungry(Lengths):
    """Has no memory for the first calls."""

    def __init__(self, refuses: Callable[[int], bool]) -> None:
        super().__init__()
        self.refuses, self.calls = refuses, 0

    def losses(self, batch: Any) -> Any:
        self.calls += 1
        if self.refuses(self.calls):
            raise torch.OutOfMemoryError("CUDA out of memory")
        return super().losses(batch)


def test_out_of_memory_once_is_half_the_tokens_and_the_same_batch(tmp_path: Path) -> None:
    whole: list[Point] = []
    points: list[Point] = []
    starts: list[str] = []

    class Heard(Silent):
        def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
            starts.append(stage)

    one, task = Lengths(), Hungry(lambda call: call == 3)
    one.network[1].p = task.network[1].p = 0.0
    fit(tmp_path / "whole", whole, task=one)
    fit_task(task, asked(18), asked(6), replace(fitting(tmp_path / "run", points), progress=Heard()), key="k")
    assert "Out of memory: continuing with 4,096 tokens at once and the same batch size" in starts
    assert [point["remark"] for point in points if "remark" in point] == ["memory did not suffice: 4,096 tokens at once from now on"]
    losses = [[point["loss"] for point in found if "loss" in point] for found in (whole, points)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_out_of_memory_holds_nothing_of_the_try_before(tmp_path: Path) -> None:
    """The second try runs without what the first one held, as no exception refers to its frames any more."""
    import weakref

    held: list[Any] = []

    class Holding(Hungry):
        def losses(self, batch: Any) -> Any:
            if self.calls == 1:
                assert held[0]() is None
            big = torch.zeros(10)
            held.append(weakref.ref(big))
            return super().losses(batch)

    fit(tmp_path, task=Holding(lambda call: call == 1))
    assert len(held) > 2


SENTENCES = [
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "CUDA error: out of memory",
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
    "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.",
    "DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes.",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_library_may_say_that_memory_ran_out(sentence: str, tmp_path: Path) -> None:
    class Said(Lengths):
        most, answers = 2, 3

        def losses(self, batch: Any) -> Any:
            if len(batch["length"]) > self.most:
                raise RuntimeError(sentence)
            return super().losses(batch)

        def read(self, batch: Any) -> list[float]:
            if len(batch["length"]) > self.answers:
                raise RuntimeError(sentence)
            return super().read(batch)

    points: list[Point] = []
    task, _ = fit(tmp_path / "run", points, task=Said(), epochs=1)
    assert max(task.batches) == 2  # after as many halvings as it takes
    assert [point for point in points if "remark" in point]
    task.most = 0
    with pytest.raises(OutOfMemory, match="this machine has too little memory for the network and one question"):
        fit(tmp_path / "other", task=task)


def test_another_error_of_the_runtime_is_no_lack_of_memory(tmp_path: Path) -> None:
    class Wrong(Lengths):
        def losses(self, batch: Any) -> Any:
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x3 and 4x16)")

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        fit(tmp_path, task=Wrong())


def test_out_of_memory_to_the_end_is_the_end_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutOfMemory, match="has too little memory for the network and one question; take a smaller encoder"):
        fit(tmp_path, task=Hungry(lambda call: call > 5))
    assert checkpoints.latest(tmp_path / "checkpoints") is not None


def test_the_first_process_decides_when_all_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They wait for each other while they do; one that went by its own clock would wait for ever."""
    task, waits = Lengths(), []
    monkeypatch.setattr(Processes, "is_first", False)
    monkeypatch.setattr(Processes, "wait", lambda _: waits.append(len(task.batches)))
    fit(tmp_path, task=task, dev=0, checkpoint_seconds=0)
    assert waits == [15, 15]  # after the last save, and at the end


def test_another_number_of_tokens_may_be_halved_again(tmp_path: Path) -> None:
    def refuses(call: int) -> bool:
        if call == 9:
            raise Killed
        return call == 1

    with pytest.raises(Killed):
        fit(tmp_path, task=Hungry(refuses), batch_tokens=64)
    points: list[Point] = []
    fit(tmp_path, points, task=Hungry(lambda call: call == 1), batch_tokens=128)
    assert [point["remark"] for point in points if "remark" in point] == ["memory did not suffice: 64 tokens at once from now on"]


def test_a_network_that_does_not_fit_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Large(nn.Linear):
        def to(self, *_: Any, **__: Any) -> Any:
            raise torch.OutOfMemoryError("CUDA out of memory")

    task = Lengths()
    task.network = nn.Sequential(Large(4, 1))
    task.network.to = task.network[0].to
    with pytest.raises(OutOfMemory, match="for the network"):
        list(predict_task(task, asked(3), Silent(), TrainingSettings(device="cpu")))
    monkeypatch.setattr(Processes, "prepare", lambda _self, module: module.network.to("cpu"))
    with pytest.raises(OutOfMemory, match="for the network and one question"):
        fit(tmp_path, task=task)


def test_the_best_weights_are_those_that_the_checkpoint_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a run is killed after an evaluation, before its checkpoint, and then goes on to other scores."""

    class Scored(Lengths):
        def __init__(self, *scores: float) -> None:
            super().__init__()
            self.scores = [score for score in scores for _ in range(6)]

        def score(self, instance: Instance, prediction: Prediction) -> float:
            return self.scores.pop(0)

    save = checkpoints.save

    def killed(folder: Path, state: Any, *more: Any) -> None:
        if state.best == pytest.approx(0.6):
            raise Killed
        save(folder, state, *more)

    first = Scored(0.5, 0.4, 0.3)
    _, fitted = fit(tmp_path / "whole", task=first)
    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "save", killed)
        with pytest.raises(Killed):
            fit(tmp_path / "run", task=Scored(0.5, 0.6))
    second = Scored(0.4, 0.3)
    assert fit(tmp_path / "run", task=second)[1] == fitted
    assert fitted.best == pytest.approx(0.5)
    assert fitted.best_step == 5
    first.scores = second.scores = []
    assert said(second) == said(first)
    assert [path.name for path in (tmp_path / "run").glob("best*")] == ["best-000000005.safetensors"]


def test_an_example_is_taken_without_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded, "CHUNK", 2)
    examples = encoded.encode(Lengths(), asked(2000), tmp_path, Silent(), what="questions")
    rows = np.array([1999, 0, 1000, 1000])
    whole, least = pa.default_memory_pool(), examples.table.nbytes
    counting = pa.proxy_memory_pool(whole)
    pa.set_memory_pool(counting)
    try:
        assert examples.take(rows).column("id").to_pylist() == ["q1999", "q0", "q1000", "q1000"]
        assert examples.take(rows[:0]).schema == examples.table.schema
    finally:
        pa.set_memory_pool(whole)
    assert counting.max_memory() < least / 20


def test_out_of_memory_elsewhere_is_a_sentence_too(tmp_path: Path) -> None:
    class Reads(Lengths):
        def read(self, batch: Any) -> list[float]:
            if len(batch["length"]) > self.most:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return super().read(batch)

        most = 0

    with pytest.raises(OutOfMemory, match="one question"):
        fit(tmp_path / "a", task=Reads())
    task = Reads()
    task.most = 2
    assert list(map(float, said(task))) == pytest.approx(list(map(float, said(Lengths()))), abs=1e-5)

    class Full(torch.optim.AdamW):  # type: ignore[misc, name-defined]
        def step(self, closure: Any = None) -> Any:
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch.optim, "AdamW", Full)
        with pytest.raises(OutOfMemory, match="one question"):
            fit(tmp_path / "b")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_checkpoint(tmp_path: Path, value: float) -> None:
    class Wrong(Lengths):
        def losses(self, batch: Any) -> Any:
            found = super().losses(batch)
            return found * value if len(self.batches) == 4 else found

    with pytest.raises(
        TrainingError, match=r"the loss is (nan|inf) in step 4 \(questions q\d+, q\d+, q\d+ and 1 more\); the last checkpoint is kept"
    ):
        fit(tmp_path, task=Wrong())
    found = checkpoints.latest(tmp_path / "checkpoints")
    assert found is not None
    assert found[1].step == 3
    fit(tmp_path)


def test_bf16_on_the_cpu_learns_too(tmp_path: Path) -> None:
    points: list[Point] = []
    fit(tmp_path, points, precision="bf16", epochs=8)
    losses = [float(str(point["loss"])) for point in points if "loss" in point]
    assert losses[-1] < losses[0]


def test_the_precision_is_ours_whatever_accelerate_is_configured_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(True)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    assert accelerator_of(Device(name="cpu", bf16=False)).mixed_precision == "no"
    AcceleratorState._reset_state(True)


def test_whoever_may_read_new_files_may_read_weights(tmp_path: Path) -> None:
    (tmp_path / "new").touch()
    checkpoints.save_weights(Lengths().network, tmp_path / "weights")
    assert (tmp_path / "weights").stat().st_mode == (tmp_path / "new").stat().st_mode


def test_early_stop_keeps_the_best_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.1, 0.5, 0.4, 0.3, 0.9])
    monkeypatch.setattr(loop, "mean_score", lambda *_, **__: next(scores))
    task, fitted = fit(tmp_path / "run", epochs=10, patience=2)
    assert (fitted.steps, fitted.best, fitted.best_step) == (20, 0.5, 10)
    shorter = Acting(die, 10)
    monkeypatch.setattr(loop, "mean_score", lambda *_, **__: 0.0)
    with pytest.raises(Killed):
        fit(tmp_path / "short", task=shorter, epochs=10, patience=100)
    assert said(shorter) == said(task)


def test_a_dev_split_whose_answers_are_secret_decides_nothing(tmp_path: Path) -> None:
    secret = of_list([replace(each, answers=()) for each in asked(6)])
    fitted = fit_task(Lengths(), asked(18), secret, fitting(tmp_path), key="k")
    assert (fitted.best, fitted.steps) == (None, 15)
    assert fit_task(Lengths(), asked(18), of_list([]), fitting(tmp_path / "none"), key="k").best is None


def test_without_questions_to_learn_from_it_says_why(tmp_path: Path) -> None:
    with pytest.raises(EmptyResult, match="the train split has no question"):
        fit(tmp_path / "none", count=0)
    secret = of_list([replace(each, answers=()) for each in asked(6)])
    with pytest.raises(EmptyResult, match=r"none of the 6 training questions can be learned from \(it has no answer: 6\)"):
        fit_task(Lengths(), secret, None, fitting(tmp_path / "secret"), key="k")


@pytest.mark.parametrize("other", [{"seed": 8}, {"key": "l"}, {"count": 17}, {"learning_rate": 0.02}, {"epochs": 4}, {"batch": 5}])
def test_another_run_does_not_go_on_here(tmp_path: Path, other: dict[str, Any]) -> None:
    fit(tmp_path, epochs=1)
    with pytest.raises(RunMismatch, match="started with other settings, another dataset or another version"):
        fit(tmp_path, **{"epochs": 1, **other})


def test_another_version_of_a_step_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fit(tmp_path, epochs=1)
    monkeypatch.setattr(loop, "VERSION", loop.VERSION + 1)
    with pytest.raises(RunMismatch):
        fit(tmp_path, epochs=1)


STATE = {"key": "k", "step": 1}


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", '{"key": 1}', json.dumps(STATE | {"step": "1"}), json.dumps(STATE | {"more": 1}),
        json.dumps(STATE | {"step": -1, "batch_tokens": 1}), "\xff", "[" * 100_000,
    ],
)  # fmt: skip
def test_a_state_edited_by_hand_is_a_sentence(tmp_path: Path, text: str) -> None:
    fit(tmp_path, epochs=1)
    [place] = (tmp_path / "checkpoints").iterdir()
    (place / "state.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(BrokenInput, match="this is not the state of a run; remove step-"):
        fit(tmp_path, epochs=1)


@pytest.mark.parametrize("name", ["model.safetensors", "optimiser.safetensors"])
def test_a_checkpoint_that_was_cut_or_is_of_another_network_is_a_sentence(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(tmp_path / "run", epochs=1)
    [place] = (tmp_path / "run" / "checkpoints").iterdir()
    whole = (place / name).read_bytes()
    for text in (b"", whole[:50], whole[:-5], b"pickle" * 50):
        (place / name).write_bytes(text)
        with pytest.raises(BrokenInput, match=r"weights of this reader are incomplete|optimiser state is incomplete"):
            fit(tmp_path / "run", epochs=1)
    other = Lengths()
    other.network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    fit(tmp_path / "other", task=other, epochs=1)
    (place / name).write_bytes((tmp_path / "other" / "checkpoints" / place.name / name).read_bytes())
    with pytest.raises(BrokenInput, match=r"another network|weights of this reader are incomplete|optimiser state is incomplete"):
        fit(tmp_path / "run", epochs=1)
    (place / name).unlink()
    with pytest.raises(MissingInput, match="there is no such file"):
        fit(tmp_path / "run", epochs=1)


@pytest.mark.parametrize("change", ["shape", "missing", "other"])
def test_a_state_of_an_optimiser_that_is_not_whole_is_a_sentence(tmp_path: Path, change: str) -> None:
    from safetensors.torch import load_file, save_file

    fit(tmp_path, epochs=1)
    [place] = (tmp_path / "checkpoints").iterdir()
    tensors = load_file(place / "optimiser.safetensors")
    name = next(name for name in tensors if name.startswith("exp_avg/"))
    value = tensors.pop(name)
    tensors |= {"shape": {name: value.flatten()[:, None].repeat(1, 1)}, "missing": {}, "other": {f"x{name}": value}}[change]
    save_file(tensors, place / "optimiser.safetensors")
    with pytest.raises(BrokenInput, match=r"optimiser\.safetensors: this .* remove step-"):
        fit(tmp_path, epochs=1)


def test_tied_weights_are_saved_once_and_to_the_same_bytes_each_time(tmp_path: Path) -> None:
    network = nn.ModuleDict({name: nn.Linear(3, 3) for name in "abcdefgh"})
    for each in network.values():
        each.weight = network["c"].weight
    saved = []
    for number in range(4):
        checkpoints.save_weights(network, path := tmp_path / f"{number}.safetensors")
        saved.append(path.read_bytes())
    assert set(saved) == {saved[0]}
    assert saved[0].count(b".weight") == 1
    other = nn.ModuleDict({name: nn.Linear(3, 3) for name in "abcdefgh"})
    for each in other.values():
        each.weight = other["e"].weight
    checkpoints.load_weights(other, path)
    assert torch.equal(other["g"].weight, network["a"].weight)
    assert torch.equal(other["g"].bias, network["g"].bias)


def test_runs_in_one_process_may_differ_in_device_and_precision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import accelerate

    def losses(name: str, precision: str) -> list[object]:
        points: list[Point] = []
        fit(tmp_path / name, points, dev=0, precision=precision)
        return [point["loss"] for point in points if "loss" in point]

    single, half = losses("single", "fp32"), losses("half", "bf16")
    assert single != half
    assert (losses("single again", "fp32"), losses("half again", "bf16")) == (single, half)
    # accelerate keeps to the first device that it is asked for, so that a run without other processes does not ask.
    monkeypatch.setattr(accelerate, "Accelerator", None)
    monkeypatch.setattr(accelerate, "PartialState", None)
    assert losses("alone", "fp32") == single


def waits(place: Path, **settings: Any) -> int:
    """How often a run of 100 steps reads a value from its device; on a GPU each of these would wait for all that is queued."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counted(TorchDispatchMode):  # type: ignore[no-untyped-call]
        count = 0

        def __torch_dispatch__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            of_mask = function is torch.ops.aten.index.Tensor and any(part is not None and part.dtype is torch.bool for part in given[1])
            self.count += of_mask or function in {torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default}
            return function(*given, **(named or {}))

    with Counted() as counted:  # type: ignore[no-untyped-call]
        float(torch.ones(1))
        assert counted.count == 1
        fit(place, count=400, dev=0, epochs=1, checkpoint_seconds=1e6, **settings)
    return int(counted.count) - 1


def test_a_step_does_not_wait_for_its_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "REPORTS", 2)
    few = waits(tmp_path / "whole")
    assert few <= 4 * 2  # four values of each point of the curve
    assert waits(tmp_path / "parts", batch_tokens=64) == few
    monkeypatch.setattr(loop, "REPORTS", 50)
    assert waits(tmp_path / "often") > 10 * few


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_do_not_change_a_byte(workers: int, tmp_path: Path) -> None:
    curves: list[list[Point]] = [[], []]
    options: dict[str, Any] = {"batch_tokens": 64, "epochs": 2}
    alone, _ = fit(tmp_path / "alone", curves[0], **options)
    helped, _ = fit(tmp_path / "helped", curves[1], workers=workers, **options)
    assert curve(curves[0]) == curve(curves[1])
    assert said(alone) == said(helped)
    assert not multiprocessing.active_children()


def test_a_run_goes_on_with_another_number_of_workers(tmp_path: Path) -> None:
    whole: list[Point] = []
    points: list[Point] = []
    reader, _ = fit(tmp_path / "whole", whole)

    def refuses(call: int) -> bool:
        if call == 9:
            raise Killed
        return False

    with pytest.raises(Killed):
        fit(tmp_path / "run", points, task=Hungry(refuses), workers=2)
    again, _ = fit(tmp_path / "run", points, workers=1)
    assert curve(points) == curve(whole)
    assert said(again) == said(reader)
    assert not multiprocessing.active_children()


def test_workers_begin_anew_with_smaller_parts_where_memory_ran_out(tmp_path: Path) -> None:
    whole: list[Point] = []
    points: list[Point] = []
    one, task = Lengths(), Hungry(lambda call: call == 3)
    one.network[1].p = task.network[1].p = 0.0
    fit(tmp_path / "whole", whole, task=one, batch_tokens=64)
    fit(tmp_path / "run", points, task=task, workers=1, batch_tokens=64)
    losses = [[point["loss"] for point in found if "loss" in point] for found in (whole, points)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert any("remark" in point for point in points)


def test_a_worker_that_dies_is_a_sentence(tmp_path: Path) -> None:
    class Dying(Lengths):
        def collate(self, examples: pa.Table) -> dict[str, Any]:
            if multiprocessing.parent_process() is not None:
                os._exit(9)
            return super().collate(examples)

    with pytest.raises(TrainingError, match=r"a process that prepares batches died \(.*\); give fewer workers"):
        fit(tmp_path, task=Dying(), workers=1)


@pytest.mark.parametrize("is_set", [False, True])
def test_the_settings_of_a_gpu_hold_while_it_trains(is_set: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def now() -> tuple[object, ...]:
        cudnn = torch.backends.cudnn.allow_tf32
        return torch.get_float32_matmul_precision(), cudnn, torch.are_deterministic_algorithms_enabled()

    class Watched(Lengths):
        def losses(self, batch: Any) -> Any:
            found.add(now())
            return super().losses(batch)

    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    found: set[tuple[object, ...]] = set()
    before = now()
    fit(tmp_path, task=Watched(), tf32=is_set, deterministic=is_set)
    assert found == {("high" if is_set else "highest", is_set, is_set)}
    assert now() == before
    assert ("CUBLAS_WORKSPACE_CONFIG" in os.environ) == is_set
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")


def test_what_cannot_be_deterministic_is_a_sentence(tmp_path: Path) -> None:
    class Unruly(Lengths):
        def losses(self, batch: Any) -> Any:
            torch.zeros(2).put_(torch.tensor([0]), torch.ones(1))
            return super().losses(batch)

    fit(tmp_path / "free", task=Unruly(), epochs=1)
    with pytest.raises(TrainingError, match=r"put_ does not have a deterministic implementation.*; leave out deterministic"):
        fit(tmp_path / "bound", task=Unruly(), deterministic=True)


def test_a_network_that_cannot_compute_its_layers_again_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="gradient_checkpointing: this reader has no pretrained encoder"):
        fit(tmp_path, gradient_checkpointing=True)


PUBLISHED: dict[str, Any] = {"averaging": 0.9, "schedule": "halving", "patience": 100, "warm_up": 0.0}


@pytest.mark.parametrize("dev", [6, 0])
def test_averages_of_weights_are_what_a_run_ends_with(dev: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same steps as without averages, and other weights at the end: those of the recurrence, whose last evaluation is the best."""
    scores = iter(range(1, 100))
    monkeypatch.setattr(loop, "mean_score", lambda *_, **__: float(next(scores)))
    weights: list[Any] = []
    curves: list[list[Point]] = [[], []]

    class Watched(Lengths):
        def losses(self, batch: Any) -> Any:
            weights.append(self.network[0].weight.detach().clone())
            return super().losses(batch)

    plain, _ = fit(tmp_path / "plain", curves[0], task=Watched(), dev=dev)
    weights.append(plain.network[0].weight.detach().clone())
    task, _ = fit(tmp_path / "averaged", curves[1], dev=dev, averaging=0.9)
    assert [point.get("loss") for point in curve(curves[0]).values()] == [point.get("loss") for point in curve(curves[1]).values()]
    average = weights[1]
    for step, weight in enumerate(weights[2:], start=1):
        decay = min(0.9, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * weight
    assert torch.allclose(task.network[0].weight, average, atol=1e-6)
    assert not torch.allclose(task.network[0].weight, weights[-1], atol=1e-4)


def test_a_rate_is_halved_after_evaluations_without_improvement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.1, 0.1, 0.3, 0.2, 0.2, 0.4])
    monkeypatch.setattr(loop, "mean_score", lambda *_, **__: next(scores))
    rates: list[float] = []
    step = torch.optim.AdamW.step

    def watched(self: Any) -> None:
        rates.append(self.param_groups[0]["lr"])
        step(self)

    monkeypatch.setattr(torch.optim.AdamW, "step", watched)
    fit(tmp_path, epochs=6, schedule="halving", patience=100, warm_up=0.0)
    assert rates[::5] == [0.01, 0.01, 0.005, 0.005, 0.0025, 0.00125]


def test_a_rate_cannot_be_halved_without_dev_questions(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="schedule: the rate is halved after dev evaluations, and there are no dev questions"):
        fit(tmp_path, dev=0, schedule="halving")


@pytest.mark.parametrize("dies_at", [3, 6, 12])
def test_averages_and_halved_rates_go_on_after_a_killed_run(dies_at: int, tmp_path: Path) -> None:
    whole: list[Point] = []
    resumed: list[Point] = []
    task, _ = fit(tmp_path / "whole", whole, **PUBLISHED)
    with pytest.raises(Killed):
        fit(tmp_path / "killed", resumed, task=Acting(die, dies_at), **PUBLISHED)
    again, _ = fit(tmp_path / "killed", resumed, **PUBLISHED)
    assert said(again) == said(task)
    assert curve(resumed) == curve(whole)


def test_a_checkpoint_without_its_averages_is_a_sentence(tmp_path: Path) -> None:
    fit(tmp_path, epochs=1, averaging=0.9)
    [place] = (tmp_path / "checkpoints").iterdir()
    tensors = safetensors.torch.load_file(place / "optimiser.safetensors")
    safetensors.torch.save_file({key: value for key, value in tensors.items() if "average" not in key}, place / "optimiser.safetensors")
    with pytest.raises(BrokenInput, match="this optimiser state is incomplete"):
        fit(tmp_path, epochs=1, averaging=0.9)
