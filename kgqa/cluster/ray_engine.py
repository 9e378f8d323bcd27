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
from copy import copy
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from pathlib import Path
from secrets import token_hex
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
from kgqa.cluster.versions import MISSING, difference, has_gpu, network_versions, versions
from kgqa.errors import ClusterError, SettingsError, storage_errors
from kgqa.progress import PartsSeen
from kgqa.settings.cluster import SHARE
from kgqa.settings.environment import number

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
ASKED = 0.01
"""Share of a GPU with which a node is asked whether torch can use it."""
Node = dict[str, Any]
"""A node, as Ray describes it."""


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
            self._limit, self._numbers, self._checked = workers, count(1), set[float]()
            self._place(cores=1, share=0.0)
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
        """Number of parts for which the cluster has cores and GPUs, at most the limit."""
        places = sum(map(self._places, _nodes()))
        return places if self._limit is None else min(places, self._limit)

    @property
    def address(self) -> str:
        """Of the cluster's head."""
        return self._address

    @property
    def place(self) -> str:
        """What a part has, in words."""
        return f"{self.cores} core{'s' if self.cores > 1 else ''}{' and a GPU' if self._share else ''}"

    def check_folder(self, folder: Path) -> None:
        """Raise SettingsError if a node with room for a part does not see the ``folder`` of this machine."""
        mark = folder / f".seen-by-nodes-{token_hex(4)}"
        with storage_errors(folder):
            mark.touch()
        try:
            nodes = [node for node in _nodes() if self._places(node)]
            for name, sees in _ask(_sees, nodes, str(mark), advice="start it again"):
                if not sees:
                    raise SettingsError(f"{name} does not see {folder}; use a folder on a disk that all nodes have at the same path.")
        finally:
            mark.unlink()

    def for_networks(self, device: str = "auto", cores: int = 1) -> RayEngine:
        """An engine on the same cluster for parts that run a network, each on a GPU if the cluster has any.

        ``device``: ``auto``, ``cpu`` or ``cuda``. ``cores``: of each part on a CPU, but no more than the largest node has. A part has a
        GPU alone, or the share of it that ``KGQA_CLUSTER_GPU`` says. Raises SettingsError if there is no GPU, and ClusterError if a node
        cannot run networks.
        """
        share = number(SHARE, 1.0, least=0.01, most=1, what="a share of a GPU")
        has_gpus = any(_gpus(node) for node in _nodes())
        if device == "cuda" and not has_gpus:
            raise SettingsError(f"--device cuda: the cluster at {self._address} has no GPU; leave it out, or start a node that has one.")
        on_gpus = has_gpus and device != "cpu"
        most = max((int(node["Resources"]["CPU"]) for node in _nodes()), default=1)
        engine = self.with_resources(cores=1 if on_gpus else min(cores, most), share=share if on_gpus else 0.0)
        if engine._share not in self._checked:
            engine._check_networks()
            self._checked.add(engine._share)
        return engine

    def with_resources(self, *, cores: int, share: float) -> RayEngine:
        """An engine on the same cluster whose parts have these cores, and a ``share`` of a GPU if it is not 0. Raises ClusterError."""
        engine = copy(self)  # with the same numbers of calls, by which processes of nodes know shared values
        engine._place(cores=cores, share=share)
        if not engine.workers:
            raise ClusterError(f"no node of the cluster at {self._address} has a GPU and a core; start one that has both.")
        return engine

    def _place(self, *, cores: int, share: float) -> None:
        self.device, self.cores, self._share = "cuda" if share else "cpu", cores, share
        self._call: Any = ray.remote(num_cpus=cores, num_gpus=share, max_retries=RETRIES)(_call)

    def _places(self, node: Node) -> int:
        """Number of parts for which a node has room."""
        cores = int(node["Resources"]["CPU"]) // self.cores
        return min(cores, int(_gpus(node) / self._share + 1e-9)) if self._share else cores

    def map(self, function: Callable[..., R], parts: Iterable[P], shared: tuple[Any, ...] = ()) -> Iterator[R]:
        """See :meth:`Engine.map <kgqa.arrays.parallel.Engine.map>`. Raises ClusterError if the cluster fails."""
        try:
            references = [ray.put(value) for value in shared]
        except (ObjectStoreFullError, RaySystemError) as error:
            raise _failure(error) from None
        ahead = self.workers * (AHEAD if self._limit is None else 1)
        number = next(self._numbers)
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
            return value

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
                has_room = has_head and self.workers > 0
                lost = 0.0 if has_room else lost + time.monotonic() - before
                if lost >= LOST:
                    missing = "head" if not has_head else "GPU" if self._share else "core"
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
        for name, there in _ask(_versions, _nodes(), advice=f"install {here['kgqa']} of kgqa there"):
            if fault := difference(here, there):
                raise ClusterError(f"{name} has {fault}; install the same versions on all nodes.")

    def _check_networks(self) -> None:
        """Raise ClusterError if a node with room for a part lacks torch, has another version of it, or a GPU that torch cannot use."""
        nodes, here = [node for node in _nodes() if self._places(node)], network_versions()
        advice = "run there: pip install 'kgqa[readers]'"
        for name, there in _ask(_network_versions, nodes, advice=advice):
            if missing := [package for package in here if there.get(package, MISSING) == MISSING != here[package]]:
                raise ClusterError(f"{name} lacks {' and '.join(missing)}, which networks need; {advice}")
            if fault := difference(here, there):
                raise ClusterError(f"{name} has {fault}; install the same versions on all nodes.")
        for name, is_usable in _ask(_has_gpu, nodes, advice=advice, share=ASKED) if self._share else ():
            if not is_usable:
                raise ClusterError(f"{name} has a GPU that torch cannot use; install its driver and a torch for it, or give --device cpu.")


def _silence() -> None:
    """Keep Ray from printing each failure of a worker to standard output, where only results belong; no option of Ray does."""
    worker: Any = import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


def _nodes() -> list[Node]:
    """The nodes that have a core."""
    nodes: list[Node] = ray.nodes()  # type: ignore[no-untyped-call]
    return [node for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


def _gpus(node: Node) -> float:
    return float(node["Resources"].get("GPU", 0))


def _ask(function: Callable[..., R], nodes: list[Node], *given: object, advice: str, share: float = 0.0) -> Iterator[tuple[str, R]]:
    """What each node answers to ``function(*given)``, with its name. Raises ClusterError with the ``advice`` for a node that cannot."""
    call = ray.remote(num_cpus=0, num_gpus=share, max_retries=1)(function)
    strategies = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
    references = [call.options(scheduling_strategy=strategy).remote(*given) for strategy in strategies]
    for node, reference in zip(nodes, references, strict=True):
        name = f"the node {node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
        try:
            yield name, ray.get(reference, timeout=NODE_SECONDS)
        except TaskUnschedulableError:
            continue  # the node has just ended, and gets no parts either
        except (RayError, ImportError, RuntimeError) as error:
            raise ClusterError(f"{name} cannot run kgqa: {_first_line(error)}; {advice}.") from None


# Ray takes no cached function itself, and none that a test has replaced.
def _versions() -> dict[str, str]:
    return versions()


def _network_versions() -> dict[str, str]:
    return network_versions()


def _has_gpu() -> bool:
    return has_gpu()


def _sees(path: str) -> bool:
    return Path(path).exists()


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
