"""A run in an experiment tracker, through ``accelerate``: what it is, and its curves. Nothing is tracked unless the user names a tracker.

A run that resumes follows the same curve, so points that the tracker has are not sent again. A tracker that fails while the run trains
gets no further points; the run goes on.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

from kgqa.errors import SettingsError, suggestion
from kgqa.runs.files import write_whole
from kgqa.settings.small_files import read_small
from kgqa.training.device import Device
from kgqa.training.processes import accelerator_of, is_only_process
from kgqa.training.run_log import MEASURES

TRACKERS = ("tensorboard", "mlflow", "trackio", "wandb")
"""Trackers by their names in ``accelerate``, which are those of the packages that they need."""
FILE = "tracking.json"
"""In the run's folder: the tracker, the run's name there, and the last step of each measure that it got."""
PROJECT = "kgqa"
"""The project or experiment of all runs."""


def check_tracker(name: str) -> None:
    """Raise SettingsError if there is no tracker of this name, or its package is not installed."""
    if name not in TRACKERS:
        raise SettingsError(f"--track {name}: there is no such tracker; {suggestion(name, TRACKERS)}")
    if find_spec(name) is None:
        raise SettingsError(f"--track {name} needs {name}, which is not installed; run pip install {name}, or leave --track out.")


@contextmanager
def tracked(
    name: str, folder: Path, *, run: str, facts: Mapping[str, Any], points: Sequence[Mapping[str, Any]], device: Device
) -> Iterator[Tracking]:
    """The run of the id ``run`` in the tracker ``name``; it ends with the block.

    ``folder`` is the run's. ``facts`` is what the run is, without secrets, and ``points`` its curve so far. Raises SettingsError if the
    tracker cannot be started.
    """
    with _state_of_accelerate(device):
        tracking = Tracking(name, folder, run=run, facts=facts)
        for point in points:
            tracking.point(point)
        try:
            yield tracking
        finally:
            tracking.finish()


class Tracking:
    """A run that a tracker follows, in the process that writes."""

    def __init__(self, name: str, folder: Path, *, run: str, facts: Mapping[str, Any]) -> None:
        """Start, or go on with what the tracker has of this run. Raises SettingsError."""
        self.name, self.fault = name, ""
        self._file = folder / FILE
        state = _read(self._file)
        is_new = state.get("tracker") != name
        self._sent: dict[str, int] = {} if is_new else state["sent"]
        self._run = f"{folder.resolve().name}-{run}" if is_new else state["run"]
        self._last_steps: dict[str, int] = {}
        settings = dict(_flat(facts))
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # trackers print where their page is
                self._tracker = _tracker(name, folder, None if is_new and name == "mlflow" else self._run, settings)
                self._tracker.main_process_only = False  # this is the only process that tracks
                self._tracker.start()
                if name == "mlflow":
                    self._run = self._tracker.active_run.info.run_id  # which MLflow chooses
                if is_new and name != "trackio":  # which takes settings at its start alone
                    self._tracker.store_init_configuration(settings)
        except Exception as error:  # each of them raises what it likes
            raise SettingsError(
                f"--track {name}: the tracker cannot be started ({_reason(error)}); set it up, or leave --track out."
            ) from None
        self._write()

    def point(self, point: Mapping[str, Any]) -> None:
        """Send the measures of a point of the curve, unless the tracker has them.

        The steps of a reader's parts follow each other, since some trackers take no step that is before the last one.
        """
        part, step = str(point.get("part", "")), int(point["step"])
        self._last_steps[part] = max(step, self._last_steps.get(part, 0))
        earlier = sum(self._last_steps[other] for other in takewhile(lambda other: other != part, self._last_steps))
        values = {f"{part}/{name}" if part else name: float(point[name]) for name in MEASURES if point.get(name) is not None}
        new = {name: value for name, value in values.items() if math.isfinite(value) and step > self._sent.get(name, -1)}
        if not new or self.fault:
            return
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                self._tracker.log(new, step=earlier + step)
        except Exception as error:  # as a server that is away
            self.fault = f"--track {self.name}: the tracker got no points after step {step:,} ({_reason(error)})."
            return
        self._sent |= dict.fromkeys(new, step)
        self._write()

    def finish(self) -> None:
        """Close the tracker's files or connection."""
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                self._tracker.finish()
        except Exception as error:
            self.fault = self.fault or f"--track {self.name}: the tracker did not end as it should ({_reason(error)})."

    def _write(self) -> None:
        write_whole(self._file, json.dumps({"tracker": self.name, "run": self._run, "sent": self._sent}, indent=1) + "\n")


@contextmanager
def _state_of_accelerate(device: Device) -> Iterator[None]:
    """Within it accelerate's trackers can log; what a single process needs for that alone is removed afterwards."""
    from accelerate import PartialState

    if not is_only_process():
        accelerator_of(device)
    if PartialState._shared_state:
        yield
        return
    PartialState(cpu=True)
    try:
        yield
    finally:
        PartialState._reset_state()


def _tracker(name: str, folder: Path, run: str | None, settings: Mapping[str, Any]) -> Any:
    """accelerate's tracker of this name, not yet started; ``run`` identifies the run to it, and is None if it gives the name itself."""
    from accelerate import tracking

    title = folder.resolve().name
    if name == "tensorboard":
        return tracking.TensorBoardTracker(name, folder)
    if name == "mlflow":
        return tracking.MLflowTracker(PROJECT, run_id=run, run_name=title)
    if name == "trackio":
        return tracking.TrackioTracker(PROJECT, name=run, resume="allow", config=settings)
    import wandb

    # Without these it would send the command line, which may have a password, the machine's load, its packages, and what is printed.
    quiet = wandb.Settings(
        console="off", disable_code=True, disable_git=True, silent=True, x_disable_meta=True, x_disable_stats=True,
        x_save_requirements=False,
    )  # fmt: skip
    return tracking.WandBTracker(PROJECT, id=run, name=title, resume="allow", dir=str(folder), settings=quiet)


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, bool | int | float | str]]:
    """The facts as names and values without nesting, as trackers take them: ``training/batch``."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value if isinstance(value, bool | int | float | str) else json.dumps(value)


def _read(file: Path) -> dict[str, Any]:
    """What the tracker has of the run, as :meth:`Tracking._write` wrote it; empty if nothing, or if that cannot be read."""
    try:
        state = json.loads(read_small(file))
        sent = {str(name): int(step) for name, step in state["sent"].items()}
        return {"tracker": str(state["tracker"]), "run": str(state["run"]), "sent": sent}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _reason(error: Exception) -> str:
    """The error in a line, without the user and password of an address."""
    line = " ".join(str(error).split())[:300].rstrip(".")
    return re.sub(r"//[^/@\s]+@", "//", f"{type(error).__name__}: {line}" if line else type(error).__name__)
