"""The engine that runs parts as tasks of a Ray cluster (Moritz et al. 2018).

Shared arrays go to the object store once per call, and once to each node that uses them; the tasks of a node map the same memory. Ray runs
a part again if its worker or node fails. Parts are pure, so this changes no result.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from ray.exceptions import (
    GetTimeoutError,
    NodeDiedError,
    ObjectLostError,
    ObjectStoreFullError,
    OutOfMemoryError,
    RayError,
    RaySystemError,
    RayTaskError,
    TaskUnschedulableError,
    WorkerCrashedError,
)
from ray.experimental import get_local_object_locations
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from kgqa.arrays.parallel import in_order, read_only
from kgqa.cluster.address import answers
from kgqa.cluster.versions import difference, versions
from kgqa.errors import ClusterError
from kgqa.progress import PartsSeen

P = TypeVar("P")
R = TypeVar("R")
AHEAD = 2
"""Number of parts per worker that are submitted at once: no worker waits for the driver, and few results wait for an earlier one."""
RETRIES = 4
"""How often a part is run again after its worker or node has failed."""
CHECK = 5.0
"""Seconds without a result after which the driver checks that the cluster has cores left."""
LOST = 20.0
"""Seconds without any core, or without the head, after which the driver gives up."""
NODE_SECONDS = 120.0
"""Seconds in which each node must say which versions it has."""


class RayEngine:
    """An :class:`~kgqa.arrays.parallel.Engine` on a Ray cluster."""

    name = "ray"

    def __init__(self, address: str, workers: int | None = None, see: Callable[[PartsSeen], object] | None = None) -> None:
        """Connect to the cluster at ``address`` (:func:`kgqa.cluster.address.probe`); raises ClusterError if a node has other versions.

        ``workers``: maximum number of parts that run at the same time, by default one per core of the cluster. ``see`` is called after each
        part and at the end of each call.
        """
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL, configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            raise ClusterError(f"--cluster {address}: {_first_line(error)}") from None
        finally:
            for number, handler in handlers.items():  # Ray sets its own, which end the process
                with suppress(ValueError):  # not in the main thread
                    signal.signal(number, handler)
        _silence()
        try:
            self._address, self._see = address, see or (lambda _: None)
            self._check_nodes()
            self._limit, self._calls = workers, 0
            self._call: Any = ray.remote(num_cpus=1, max_retries=RETRIES)(_call)
            if not self.workers:
                raise ClusterError(f"the cluster at {address} has no cores; start a node with: ray start --address {address}")
        except BaseException:
            ray.shutdown()
            raise

    def __enter__(self) -> RayEngine:
        """The engine itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster, which cancels unfinished parts."""
        ray.shutdown()

    @property
    def workers(self) -> int:
        """Number of cores of the cluster, at most the limit."""
        cores = int(_cores())
        return cores if self._limit is None else min(cores, self._limit)

    def map(self, function: Callable[..., R], parts: Iterable[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        """See :meth:`Engine.map <kgqa.arrays.parallel.Engine.map>`. Raises ClusterError if the cluster fails."""
        try:
            references = [ray.put(value) for value in shared]
        except (ObjectStoreFullError, RaySystemError) as error:
            raise _failure(error) from None
        ahead = self.workers * (AHEAD if self._limit is None else 1)
        self._calls += 1
        number = self._calls
        tally = _Tally(len(parts) if isinstance(parts, Sized) else None, self.workers, knows_sizes=not self._address.startswith("ray://"))
        tally.sent += tally.size(references)

        def submit(part: P) -> Any:
            data = pickle.dumps(part, protocol=5)
            tally.sent += len(data)
            # In a list, references are not resolved before the call, so that a process can keep what it has read.
            return self._call.remote(function, data, number, references)

        def result(reference: Any) -> R:
            value, seconds, attempt = self._result(reference)
            tally.done += 1
            tally.busy += seconds
            tally.again += attempt
            tally.received += tally.size([reference])
            self._see(tally.seen(ended=False))
            return value  # type: ignore[no-any-return]

        yield from in_order(submit, result, parts, ahead=ahead)
        self._see(tally.seen(ended=True))

    def _result(self, reference: Any) -> Any:
        """The result of a part, when it is there."""
        lost = 0.0
        while True:
            before = time.monotonic()
            try:
                return ray.get(reference, timeout=CHECK)
            except GetTimeoutError:
                # Without its head the cluster answers nothing, and Ray ends this process after a minute.
                has_head = answers(self._address)
                has_cores = has_head and _cores() >= 1
                lost = 0.0 if has_cores else lost + time.monotonic() - before
                if lost >= LOST:
                    missing = "core" if has_head else "head"
                    raise ClusterError(
                        f"the cluster has had no {missing} for {lost:.0f} seconds; start one, and run the same command again to go on from "
                        "the last finished stage."
                    ) from None
            except RayTaskError as error:
                if isinstance(error.cause, ImportError):
                    missing = _first_line(error.cause)
                    raise ClusterError(f"a node lacks a package ({missing}); install kgqa there with the same extras.") from None
                raise error.cause if isinstance(error.cause, Exception) else _failure(error) from None
            except RayError as error:
                raise _failure(error) from None

    def _check_nodes(self) -> None:
        """Raise ClusterError if a node lacks kgqa, or has other versions than this process."""
        here = versions()
        all_nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        nodes = [node for node in all_nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        on_node = [
            ray.remote(num_cpus=0, max_retries=1)(_versions).options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            )
            for node in nodes
        ]
        for node, reference in zip(nodes, [call.remote() for call in on_node], strict=True):
            name = f"the node {node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
            try:
                there = ray.get(reference, timeout=NODE_SECONDS)
            except TaskUnschedulableError:
                continue  # the node has just ended, and gets no parts either
            except (RayError, ImportError, RuntimeError) as error:
                raise ClusterError(f"{name} cannot run kgqa: {_first_line(error)}; install {here['kgqa']} of kgqa there.") from None
            if fault := difference(here, there):
                raise ClusterError(f"{name} has {fault}; install the same versions on all nodes.")


def _silence() -> None:
    """Keep Ray from printing each failure of a worker to standard output, where only results belong; no option of Ray does."""
    worker: Any = import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


def _cores() -> float:
    return float(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]


def _versions() -> dict[str, str]:
    return versions()  # Ray takes no cached function itself


_shared: dict[tuple[str, int], tuple[Any, ...]] = {}
"""In a process of a node: the shared values of the last call, by job and number of the call."""


def _call(function: Callable[..., R], data: bytes, number: int, references: list[Any]) -> tuple[R, float, int]:
    """The result of a part, its seconds, and how often it ran before."""
    context = ray.get_runtime_context()
    key = context.get_job_id(), number
    if key not in _shared:
        _shared.clear()
        _shared[key] = tuple(map(read_only, ray.get(references)))
    part = pickle.loads(data)  # noqa: S301 - from the driver
    begin = time.perf_counter()
    result = function(part, *_shared[key])
    # No public function of Ray tells a task how often it was tried.
    attempt = getattr(context.worker.core_worker, "get_current_task_attempt_number", int)()
    return result, time.perf_counter() - begin, attempt


@dataclass(slots=True)
class _Tally:
    """What was done of one call."""

    total: int | None
    workers: int
    knows_sizes: bool
    """Ray Client does not tell the sizes of objects."""
    begin: float = field(default_factory=time.perf_counter)
    done: int = 0
    again: int = 0
    busy: float = 0.0
    sent: int = 0
    received: int = 0

    def size(self, references: list[Any]) -> int:
        """Bytes of objects, as Ray has serialised them."""
        places = get_local_object_locations(references) if self.knows_sizes and references else {}
        return sum(place["object_size"] or 0 for place in places.values())

    def seen(self, *, ended: bool) -> PartsSeen:
        """As progress shows it."""
        sent, received = (self.sent, self.received) if self.knows_sizes else (None, None)
        return PartsSeen(
            done=self.done, total=self.total, again=self.again, seconds=time.perf_counter() - self.begin, busy=self.busy,
            workers=self.workers, sent=sent, received=received, ended=ended,
        )  # fmt: skip


def _failure(error: Exception) -> ClusterError:
    """One sentence for what the cluster could not do."""
    again = "run the same command again to go on from the last finished stage."
    if isinstance(error, ObjectStoreFullError):
        return ClusterError(f"a node's object store is full; start its Ray with a larger --object-store-memory, and {again}")
    if isinstance(error, OutOfMemoryError):
        return ClusterError(f"a node ran out of memory {RETRIES + 1} times on one part; give --workers, or more memory, and {again}")
    if isinstance(error, (NodeDiedError, ObjectLostError, WorkerCrashedError)):
        return ClusterError(f"workers failed {RETRIES + 1} times on one part, or a node was lost with it; {again}")
    return ClusterError(f"the cluster failed: {_first_line(error)}; {again}")


def _first_line(error: BaseException) -> str:
    """The last line of a message that says something, without its stop: Ray writes the cause below the traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".")
