"""The setting ``compile``: the same curve, weights and predictions but for rounding, and weights with their plain names."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info < (3, 12):  # setuptools refuses to load where an earlier test has loaded Python's own distutils
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from safetensors import safe_open  # noqa: E402
from torch import nn  # noqa: E402

import kgqa  # noqa: E402
from kgqa.errors import RunMismatch, SettingsError, TrainingError  # noqa: E402
from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.trained import load_reader  # noqa: E402
from kgqa.training import compiling  # noqa: E402
from kgqa.training.questions import of_split  # noqa: E402
from tests.commands.test_train import Place, curve  # noqa: E402
from tests.training.test_loop import Lengths, Point, curve as curve_of, fit, said  # noqa: E402

# Compiling imports distutils and then setuptools, and each warns of the other unless an earlier test has imported both.
pytestmark = pytest.mark.filterwarnings("ignore:.*distutils")
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, (os.environ.get("CXX") or "", *compiling.COMPILERS))), reason="there is no C++ compiler"
)


class Plain(Lengths):
    """Without dropout, which compiled steps draw in another way; it counts the times that torch traces it."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.traced = 0

    def losses(self, batch: Any) -> Any:
        if torch.compiler.is_compiling():
            self.traced += 1
        return super().losses(batch)


@needs_compiler
@pytest.mark.slow
def test_compiled_steps_learn_the_same(tmp_path: Path) -> None:
    curves: list[list[Point]] = [[], []]
    initial = Plain().network.state_dict()
    tasks = []
    for compiled in (False, True):
        task = Plain()
        task.network.load_state_dict(initial)
        tasks.append(fit(tmp_path / str(compiled), curves[compiled], task=task, epochs=2, compile=compiled)[0])
    assert (tasks[0].traced, tasks[1].traced > 0) == (0, True)
    plain, compiled_curve = (curve_of(points) for points in curves)
    assert plain.keys() == compiled_curve.keys()
    for step, point in plain.items():
        assert compiled_curve[step] == pytest.approx(point, rel=1e-4)
    assert [float(text) for text in said(tasks[1])] == pytest.approx([float(text) for text in said(tasks[0])], abs=1e-4)
    assert {*tasks[1].network.state_dict()} == {*initial}
    [checkpoint] = (tmp_path / "True" / "checkpoints").glob("*/model.safetensors")
    with safe_open(str(checkpoint), "pt") as weights:
        assert {*weights.keys()} == {*initial}
    with pytest.raises(RunMismatch):
        fit(tmp_path / "True", task=Plain(), epochs=2, compile=False)


def test_without_a_compiler_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(SettingsError, match=r"compile: torch found no C\+\+ compiler \(g\+\+\); install one"):
        fit(tmp_path, task=Plain(), compile=True)


@needs_compiler
def test_what_torch_cannot_compile_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "broken"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    from torch._inductor import config

    with config.patch({"cpp.cxx": (str(compiler),)}):
        torch.compiler.reset()
        with pytest.raises(TrainingError, match=r"torch cannot compile this reader \(.*No working C\+\+ compiler.*\); leave out compile"):
            fit(tmp_path / "run", task=Plain(), compile=True)


@needs_compiler
@pytest.mark.slow
def test_a_reader_that_was_compiled_predicts_the_same(tmp_path: Path, tiny_encoder: str) -> None:
    place = Place(tmp_path, tiny_encoder)
    text = place.toml(epochs=1).read_text("utf-8")
    confidences = []
    for compiled in ("false", "true"):
        toml = tmp_path / f"{compiled}.toml"
        toml.write_text(text.replace("[training]", f"[training]\ncompile = {compiled}"), "utf-8")
        run = tmp_path / compiled
        kgqa.train(str(toml), place.set, out=run)
        with safe_open(str(run / "reader" / "model.safetensors"), "pt") as weights:
            assert not any("_orig_mod" in name for name in weights.keys())  # noqa: SIM118 - it is no mapping
        questions = kgqa.open_dataset(place.set)
        confidences.append([each.confidence for each in load_reader(run).predict(of_split(questions, "dev"), Silent())])
    assert confidences[1] == pytest.approx(confidences[0], abs=1e-4)
    losses = [[point["loss"] for point in curve(tmp_path / compiled) if "loss" in point] for compiled in ("false", "true")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
