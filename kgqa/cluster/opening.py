"""Chooses the engine of a run: threads, or a cluster if an address is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from kgqa.arrays.parallel import Engine, Threads
from kgqa.errors import SettingsError
from kgqa.progress import Progress, SeesParts
from kgqa.settings.cluster import NONE, ChosenCluster
from kgqa.settings.workers import worker_count


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
    if chosen.address in (None, NONE):
        yield Threads(workers)
        return
    if workers is not None:
        worker_count(workers)
    if find_spec("ray") is None:
        raise SettingsError(f"{chosen.where} needs Ray, which is not installed; run: pip install 'kgqa[cluster]'")
    from kgqa.cluster.address import probe
    from kgqa.cluster.ray_engine import RayEngine

    see = progress.parts if isinstance(progress, SeesParts) else None
    with RayEngine(probe(chosen.address, chosen.where), workers, see) as engine:
        yield engine
