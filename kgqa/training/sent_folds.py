"""Folds of a cross-fit on the nodes of a cluster: each is fitted and predicts there, in a folder that goes with it.

Memory of a process: the questions of all folds, and a reader while it is fitted. A node that fails begins its folds anew elsewhere.
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kgqa.arrays.parallel import NetworkEngine
from kgqa.errors import InterruptedRun, KgqaError
from kgqa.records import Instance
from kgqa.settings.training import TrainingSettings
from kgqa.training.folds import Fold
from kgqa.training.questions import Questions
from kgqa.training.reader import Reader

Points = list[dict[str, object]]
Splits = Mapping[str, Sequence[Instance]]


class PortableReader(Protocol):
    """How to make a reader, with all files that it takes, so that another machine can make it."""

    def make(self, folder: Path, device: str) -> Reader:
        """A reader for this device, not yet trained; its files go to ``folder``, which must stay as long as it is fitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Where readers are fitted, if not in this process."""

    engine: NetworkEngine
    reader: PortableReader


Fit = Callable[[Fold, int, Reader, Path, TrainingSettings], Points]
"""Fits a reader of a seed to a fold in a folder, and writes the tables of its predictions there; returns the points of its curve."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Questions without their texts."""

    key: str
    keep: npt.NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class _SentFold:
    seed: int
    train: _Rows
    dev: _Rows | None
    read: Mapping[str, _Rows]


def fit_on_nodes(
    folds: Sequence[tuple[int, Fold]], nodes: Nodes, settings: TrainingSettings, fit: Fit
) -> Iterator[tuple[dict[str, bytes], Points]]:
    """For each seed and fold, in order, the tables of predictions by name, and the points of the curve. ``fit``: a function of a module.

    On CPUs the weights have the same bytes as here if a part has as many cores as torch has threads here. Raises the errors of readers,
    ClusterError.
    """
    splits: dict[str, Sequence[Instance]] = {}
    for _, fold in folds:
        for questions in (fold.train, fold.dev, *fold.read.values()):
            if questions is not None and questions.key not in splits:
                splits[questions.key] = list(questions.read())
    sent = [
        _SentFold(
            seed, _rows(fold.train), None if fold.dev is None else _rows(fold.dev), {name: _rows(some) for name, some in fold.read.items()}
        )
        for seed, fold in folds
    ]
    own = settings.model_copy(update={"device": nodes.engine.device})
    yield from nodes.engine.map(_fit_on_node, sent, (splits, nodes.reader, own, nodes.engine.cores, fit))


def _rows(questions: Questions) -> _Rows:
    return _Rows(questions.key, questions.keep)


def _fit_on_node(
    sent: _SentFold, splits: Splits, reader: PortableReader, settings: TrainingSettings, cores: int, fit: Fit
) -> tuple[dict[str, bytes], Points]:
    import torch

    torch.set_num_threads(cores)
    fold = Fold(
        train=_questions(sent.train, splits),
        dev=None if sent.dev is None else _questions(sent.dev, splits),
        read={name: _questions(rows, splits) for name, rows in sent.read.items()},
    )
    with tempfile.TemporaryDirectory(prefix="kgqa-") as name:
        place = Path(name)
        try:
            points = fit(fold, sent.seed, reader.make(place / "files", settings.device), place / "fold", settings)
            return {path.stem: path.read_bytes() for path in (place / "fold").glob("*.parquet")}, points
        except InterruptedRun:
            pass  # the node is ending
        except KgqaError as error:
            # The folder and its checkpoints go with this call, so nothing is said of them.
            text = str(error).replace(f"{place / 'fold' / 'fit'}: ", "").replace("; the last checkpoint is kept", "")
            raise type(error)(f"the node {socket.gethostname()}: {text}") from None
    os.kill(os.getpid(), signal.SIGKILL)  # so that the fold begins again on another node
    raise AssertionError("a killed process goes on")


def _questions(rows: _Rows, splits: Splits) -> Questions:
    instances = splits[rows.key]
    return Questions(read=lambda: iter(instances), key=rows.key, count=len(instances), keep=rows.keep)
