"""Processes on the nodes of a cluster that train one network together, started by Ray Train with the process group of torch."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from kgqa.cluster.address import answers
from kgqa.cluster.ray_engine import LOST, RETRIES, RayEngine
from kgqa.errors import ClusterError, KgqaError, SettingsError, WorkspaceBusy
from kgqa.progress import Progress, Silent

POLL = 0.5
"""Seconds between two polls of the messages of the processes."""
WAIT = timedelta(days=1)
"""Timeout for processes that wait for each other, as while the first one tokenises; the end of one ends the others at once."""
GO_ON = "run the same command again to go on from the last checkpoint"


def run_group(
    engine: RayEngine, function: Callable[..., object], arguments: Mapping[str, Any], *, processes: int | None, folder: Path,
    progress: Progress,
) -> None:  # fmt: skip
    """``function(**arguments, progress=…)`` at the same time in each process of a group, one for each place of ``engine`` by default.

    ``function`` is one of a module, and finds the group in the environment as under ``torchrun``. It is called in the folder of this
    process, and must go on where it was stopped: if a process fails, the whole group is started again. All nodes must see ``folder``, which
    exists, and in which Ray keeps files of its own while the group runs. Raises what the function raises if it is a KgqaError,
    SettingsError for too many processes, and ClusterError.
    """
    room = engine.workers
    if processes is not None and processes > room:
        raise SettingsError(
            f"--processes {processes}: the cluster has room for {room}, each with {engine.place}; give a smaller number, or start a node."
        )
    number = processes or room
    engine.check_folder(folder)
    failure: BaseException | None = None
    for _ in range(RETRIES + 1):
        _wait_for_room(engine, number)
        failure = _Attempt(engine, number, folder, progress).run(function, arguments)
        if failure is None:
            return
    raise ClusterError(f"a process of the group failed {RETRIES + 1} times ({_last_line(failure)}); {GO_ON}.")


def _wait_for_room(engine: RayEngine, number: int) -> None:
    """Wait for nodes that are started again, or for places that the last group has left. Raises ClusterError."""
    end = time.monotonic() + LOST
    while (room := engine.workers) < number:
        if time.monotonic() > end:
            raise ClusterError(f"the cluster has room for {room} of {number} processes; start a node, and {GO_ON}.")
        time.sleep(POLL)


class _Messages:
    """An actor that collects the messages of the processes for the driver."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._fault: KgqaError | None = None

    def add(self, name: str, *arguments: Any) -> None:
        self._calls.append((name, arguments))

    def fail(self, fault: KgqaError) -> None:
        self._fault = self._fault or fault

    def take(self) -> tuple[list[tuple[str, tuple[Any, ...]]], KgqaError | None]:
        """Calls of progress since the last time, and the first fault."""
        calls, self._calls = self._calls, []
        return calls, self._fault


class _RemoteProgress:
    """The progress of the first process, which the driver shows."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Pass the call on to the driver, as all of these do."""
        self._messages.add.remote("start", stage, total, unit)

    def advance(self, amount: int) -> None:
        self._messages.add.remote("advance", amount)

    def finish(self, note: str = "") -> None:
        self._messages.add.remote("finish", note)


class _Attempt:
    """The group from its start to its end or the failure of a process."""

    def __init__(self, engine: RayEngine, number: int, folder: Path, progress: Progress) -> None:
        self._engine, self._number, self._progress = engine, number, progress
        self._files = folder / f".ray-{token_hex(4)}"
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._messages: Any = ray.remote(num_cpus=0)(_Messages).options(scheduling_strategy=here).remote()
        self._failure: BaseException | None = None

    def run(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> BaseException | None:
        """The failure of a process, if a new attempt may succeed; None if all processes finished. Raises KgqaError."""
        trainer = self._trainer(function, arguments)
        # Outside the main thread Ray leaves Ctrl-C alone. It interrupts the loop below, and to leave the cluster ends the group.
        thread = threading.Thread(target=self._fit, args=(trainer,), daemon=True)
        thread.start()
        lost = 0.0
        try:
            while thread.is_alive():
                thread.join(POLL)
                has_head = answers(self._engine.address)
                lost = 0.0 if has_head else lost + POLL
                if lost > LOST:
                    raise ClusterError(f"the cluster has had no head for {lost:.0f} seconds; start it, and {GO_ON}.")
                if has_head:
                    self._show()
            fault = self._show()
        finally:
            with suppress(OSError):
                shutil.rmtree(self._files)
        # The process that failed may not be gone yet, and a folder belongs to it until then.
        if fault is not None and not isinstance(fault, WorkspaceBusy):
            raise fault
        if fault is None and self._failure is not None and not _may_pass(self._failure):
            raise ClusterError(f"the cluster failed: {_last_line(self._failure)}; {GO_ON}.") from self._failure
        return fault or self._failure

    def _trainer(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> Any:
        from ray.train import FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchConfig, TorchTrainer

        on_gpus, cores = self._engine.device == "cuda", self._engine.cores
        resources = {"CPU": cores, "GPU": 1} if on_gpus else {"CPU": cores}
        # Ray would start again what failed for a reason that stays, and wait without end for places that a lost node had.
        failures = FailureConfig(max_failures=0, controller_failure_limit=0)  # type: ignore[call-arg]  # types are of an older interface
        return TorchTrainer(
            _in_group,
            train_loop_config={"function": function, "arguments": dict(arguments), "folder": str(Path.cwd()), "messages": self._messages},
            torch_config=TorchConfig(backend="nccl" if on_gpus else "gloo", timeout_s=int(WAIT.total_seconds())),
            scaling_config=ScalingConfig(num_workers=self._number, use_gpu=on_gpus, resources_per_worker=resources),
            run_config=RunConfig(name="group", storage_path=str(self._files), failure_config=failures),
        )

    def _fit(self, trainer: Any) -> None:
        try:
            trainer.fit()
        except BaseException as error:
            self._failure = error

    def _new_messages(self) -> tuple[list[tuple[str, tuple[Any, ...]]], KgqaError | None]:
        return ray.get(self._messages.take.remote())

    def _show(self) -> KgqaError | None:
        calls, fault = self._new_messages()
        for name, arguments in calls:
            getattr(self._progress, name)(*arguments)
        return fault


def _in_group(config: dict[str, Any]) -> None:
    """In each process: the function, whose KgqaError goes to the driver as it is."""
    messages = config["messages"]
    progress: Progress = _RemoteProgress(messages) if os.environ["RANK"] == "0" else Silent()
    try:
        try:
            os.chdir(config["folder"])
        except OSError:
            raise SettingsError(
                f"the node {socket.gethostname()} has no folder {config['folder']}; start kgqa in one that all nodes have."
            ) from None
        config["function"](**config["arguments"], progress=progress)
    except KgqaError as error:
        ray.get(messages.fail.remote(error))
        raise


def _may_pass(error: BaseException) -> bool:
    """Whether it may not happen again, as the end of a process or a node."""
    from ray.train import TrainingFailedError

    return isinstance(error, (TrainingFailedError, RayError))


def _last_line(error: BaseException | None) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".")
