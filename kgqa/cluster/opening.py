"""Chooses the engine of a run: threads, or a cluster if an address is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kgqa.arrays.parallel import Engine, NetworkEngine, Threads
from kgqa.errors import SettingsError
from kgqa.progress import Progress, SeesParts
from kgqa.settings.cluster import ChosenCluster, is_cluster
from kgqa.settings.workers import worker_count

TRAIN = ("fsspec", "pandas")
"""Packages of ``ray[train]`` that may be missing where Ray is there."""


def for_networks(engine: Engine, *, device: str, cores: int = 1) -> NetworkEngine | None:
    """The cluster of ``engine`` for parts that run a network (:meth:`kgqa.cluster.ray_engine.RayEngine.for_networks`); None for threads."""
    if isinstance(engine, Threads):
        return None
    from kgqa.cluster.ray_engine import RayEngine

    assert isinstance(engine, RayEngine)
    return engine.for_networks(device, cores)


def run_group(
    engine: NetworkEngine, function: Callable[..., object], arguments: Mapping[str, Any], *, processes: int | None, folder: Path,
    progress: Progress,
) -> None:  # fmt: skip
    """Run ``function`` in processes that train one network together (:func:`kgqa.cluster.group.run_group`)."""
    missing = [name for name in TRAIN if find_spec(name) is None]
    if missing:
        raise SettingsError(f"training on a cluster needs {' and '.join(missing)}; run: pip install 'kgqa[cluster,readers]'")
    from kgqa.cluster import group
    from kgqa.cluster.ray_engine import RayEngine

    assert isinstance(engine, RayEngine)
    group.run_group(engine, function, arguments, processes=processes, folder=folder, progress=progress)


@contextmanager
def opened_engine(
    workers: int | None = None, cluster: str | ChosenCluster | None = None, progress: Progress | None = None
) -> Iterator[Engine]:
    """The engine of a run, open inside the ``with`` block.

    ``cluster``: None or ``none`` for threads; ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT`` for a Ray cluster
    (:func:`kgqa.cluster.address.probe`). ``workers``: maximum number of parts that run at the same time, by default one per core, or per
    core of the cluster. ``progress`` is told what the cluster does if it is a :class:`~kgqa.progress.SeesParts`. Raises SettingsError and
    ClusterError.
    """
    chosen = cluster if isinstance(cluster, ChosenCluster) else ChosenCluster.by_option(cluster)
    if not is_cluster(chosen.address):
        yield Threads(workers)
        return
    if workers is not None:
        worker_count(workers)
    if find_spec("ray") is None:
        raise SettingsError(f"{chosen.where} needs Ray, which is not installed; run: pip install 'kgqa[cluster]'")
    from kgqa.cluster.address import probe
    from kgqa.cluster.ray_engine import RayEngine

    see = progress.parts if isinstance(progress, SeesParts) else None
    with RayEngine(probe(str(chosen.address), chosen.where), workers, see) as engine:
        yield engine
