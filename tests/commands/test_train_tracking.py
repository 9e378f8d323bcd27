"""``kgqa train --track``: what a tracker shows is what the run's own log says, also after a kill; and nothing is tracked unasked."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra [readers] is not installed")

import kgqa
from kgqa.errors import SettingsError
from kgqa.training import loop, tracking
from kgqa.training.device import Device
from tests.commands.test_train import Killed, Place, curve, dies, place  # noqa: F401 - a fixture
from tests.conftest import Cli

CPU = Device(name="cpu", bf16=False)
FACTS = {"reader": "bidaf", "settings": {"training": {"batch": 4, "max_steps": None}}, "hashes": {"train.json": "ab"}}


def toml(place: Place) -> Path:  # noqa: F811
    path = place.folder / "reader.toml"
    lines = 'reader = "fastqa"\n[settings]\nhidden = 4\nword_size = 6\n[training]\nlearning_rate = 0.02\nbatch = 4\nepochs = 2\n'
    path.write_text(f'{lines}evaluations = 2\ndevice = "cpu"\ncheckpoint_seconds = 0\n', "utf-8")
    return path


def shown(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The scalars in TensorBoard's event files: measure → steps and values."""
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="tensorboard is not installed")
    events = accumulators.EventAccumulator(str(folder)).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def logged(run: Path, measure: str) -> list[tuple[int, Any]]:
    return [(point["step"], pytest.approx(point[measure], rel=1e-6)) for point in curve(run) if point.get(measure) is not None]


def test_tensorboard_shows_the_curve_and_the_settings_of_the_run(place: Place, cli: Cli) -> None:  # noqa: F811
    result = cli("train", toml(place), place.set, "--out", place.run, "--track", "tensorboard")
    assert result.status == 0, result.err
    scalars = shown(place.run / "tensorboard")
    assert scalars.keys() == {"loss", "score", "examples_per_second"}
    for measure in ("loss", "score"):
        assert scalars[measure] == logged(place.run, measure)
        assert scalars[measure]
    [settings] = [path.read_text("utf-8") for path in (place.run / "tensorboard").rglob("hparams.yml")]
    hashes = json.loads((place.run / "run.json").read_text("utf-8"))["dataset"]["files"]
    assert "settings/training/batch: 4" in settings
    assert str(place.folder / "runs.sqlite") not in settings
    assert all(f"hashes/{file}: {code}" in settings for file, code in hashes.items())


def test_a_run_that_died_goes_on_in_the_tracker(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    with monkeypatch.context() as patched:
        dies(patched, loop, "to_device", 4)
        with pytest.raises(Killed):
            kgqa.train(str(toml(place)), place.set, out=place.run, track="tensorboard")
    first = shown(place.run / "tensorboard")["loss"]
    kgqa.train(str(toml(place)), place.set, out=place.run, track="tensorboard")
    scalars = shown(place.run / "tensorboard")
    assert 0 < len(first) < len(scalars["loss"])
    for measure in ("loss", "score"):
        assert scalars[measure] == logged(place.run, measure)
    assert len(list((place.run / "tensorboard").rglob("hparams.yml"))) == 1


def test_nothing_is_tracked_unasked(place: Place) -> None:  # noqa: F811
    kgqa.train(str(toml(place)), place.set, out=place.run)
    assert not (place.run / tracking.FILE).exists()
    assert not (place.run / "tensorboard").exists()


def test_a_tracker_that_is_not_there_is_a_sentence_and_leaves_no_run(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    cli("train", toml(place), place.set, "--out", place.run, "--track", "tensorbord").sentence("did you mean tensorboard?")
    monkeypatch.setattr(tracking, "find_spec", lambda name: None if name == "wandb" else find_spec(name))
    cli("train", toml(place), place.set, "--out", place.run, "--track", "wandb").sentence("not installed; run pip install wandb, or")
    assert not place.run.exists()


def test_a_tracker_that_cannot_be_started_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    (tmp_path / "tensorboard").write_text("a file where the tracker's folder goes")
    with (
        pytest.raises(SettingsError, match="--track tensorboard: the tracker cannot be started"),
        tracking.tracked("tensorboard", tmp_path, run="1", facts=FACTS, points=[], device=CPU),
    ):
        pass


def test_parts_follow_each_other_and_points_are_sent_once(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    points = [{"part": part, "step": step, "loss": loss} for part, step, loss in (("a", 5, 2.0), ("a", 10, 1.0), ("b", 5, 3.0))]
    for session in (points[:2], points):
        with tracking.tracked("tensorboard", tmp_path, run="1", facts=FACTS, points=session, device=CPU) as kept:
            kept.point({"part": "b", "step": 5, "resumed": True})
            kept.point({"part": "b", "step": 7, "loss": float("nan")})
            assert not kept.fault
    assert shown(tmp_path / "tensorboard") == {"a/loss": [(5, 2.0), (10, 1.0)], "b/loss": [(15, 3.0)]}


def test_a_tracker_that_fails_does_not_stop_the_run(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    with tracking.tracked("tensorboard", tmp_path, run="1", facts=FACTS, points=[], device=CPU) as kept:
        kept.point({"step": 1, "loss": 2.0})
        kept._tracker.writer.close()
        kept._tracker.writer = None  # as if its connection were gone
        kept.point({"step": 2, "loss": 1.0})
        kept.point({"step": 3, "loss": 0.5})
    assert kept.fault.startswith("--track tensorboard: the tracker got no points after step 2")
    assert json.loads((tmp_path / tracking.FILE).read_text("utf-8"))["sent"] == {"loss": 1}


def test_what_the_tracker_lacks_is_said_at_the_end(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """As a tracker that sends its last points when it ends; and a run that was finished without a tracker."""
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from accelerate.tracking import TensorBoardTracker

    def fails(_: object) -> None:
        raise ConnectionError("no answer")

    monkeypatch.setattr(TensorBoardTracker, "finish", fails)
    result = kgqa.train(str(toml(place)), place.set, out=place.run, track="tensorboard")
    assert result.tracking_fault == "--track tensorboard: the tracker did not end as it should (ConnectionError: no answer)."
    again = cli("train", toml(place), place.set, "--out", place.run, "--track", "tensorboard")
    assert again.status == 0
    assert "--track tensorboard: nothing was sent, as this run was already finished." in " ".join((again.out + again.err).split())
    assert not kgqa.train(str(toml(place)), place.set, out=place.run).tracking_fault


def test_a_reason_has_no_password() -> None:
    error = ValueError("no answer from https://somebody:s3cret@tracker.example/api.")
    assert tracking._reason(error) == "ValueError: no answer from https://tracker.example/api"
