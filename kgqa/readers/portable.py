"""Readers that other machines can make: their settings, and the pretrained files that these name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgqa.arrays.parallel import Engine
from kgqa.cluster.opening import for_networks
from kgqa.errors import storage_errors
from kgqa.readers.pretrained import SETTINGS
from kgqa.readers.recurrent.static import static_folder
from kgqa.readers.registry import READERS
from kgqa.readers.specification import Specification
from kgqa.readers.transformer.encoder import HUB_FILES, folder_of, is_trained, place_of
from kgqa.training.reader import Reader
from kgqa.training.sent_folds import Nodes

Bytes = npt.NDArray[np.uint8]
FILES = (*SETTINGS, "articles")
"""Settings that name files."""
OTHERS = ("beside", "answering", "decomposer")
"""Settings that name datasets, or a further reader with files of its own."""


class Portable:
    """A reader's settings with its files; see :class:`~kgqa.training.sent_folds.PortableReader`."""

    def __init__(self, reader: Specification) -> None:
        """Maps the files into memory, and downloads an encoder of the hub. Raises InputError, StorageError."""
        named = {setting: getattr(reader.settings, setting, None) for setting in FILES}
        self._reader = reader
        self._files = {setting: _files_of(name) for setting, name in named.items() if name is not None}

    def make(self, folder: Path, device: str) -> Reader:
        """The reader, not yet trained, with its files in ``folder``."""
        changes = {setting: str(_write(files, folder / setting)) for setting, files in self._files.items()}
        reader = self._reader
        settings, training = reader.settings.model_copy(update=changes), reader.training.model_copy(update={"device": device})
        return replace(reader, settings=settings, training=training).make()


def nodes_for(engine: Engine | None, reader: Specification) -> Nodes | None:
    """Where a reader that is trained in steps is fitted: on the cluster of ``engine``; None: in this process.

    A reader with code or datasets that are on this machine alone stays here. Raises SettingsError, InputError, ClusterError.
    """
    if engine is None or not reader.steps or reader.name not in READERS or any(getattr(reader.settings, name, None) for name in OTHERS):
        return None
    import torch

    # As many cores as threads here, so that sums have the same order.
    on_cluster = for_networks(engine, device=reader.training.device, cores=torch.get_num_threads())
    return None if on_cluster is None else Nodes(engine=on_cluster, reader=Portable(reader))


def _files_of(name: str) -> dict[str, Bytes]:
    """Relative path → content, of the file or encoder of this name; a single file has the path ``.``."""
    if Path(name).is_file():
        return {".": _mapped(Path(name))}
    folder = static_folder(name) or Path(folder_of(place_of(name), name))
    patterns = ("**/*",) if is_trained(folder) else (*HUB_FILES, "*.json")
    paths = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return {path.relative_to(folder).as_posix(): _mapped(path) for path in sorted(paths)}


def _mapped(path: Path) -> Bytes:
    with storage_errors(path):
        return np.memmap(path, np.uint8, "r").view(np.ndarray) if path.stat().st_size else np.zeros(0, np.uint8)


def _write(files: Mapping[str, Bytes], place: Path) -> Path:
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content.tofile(path)
    return place
