"""Static embedding models on this machine: a table of pieces with its tokenizer and no further layer, in a folder or a package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from kgqa.readers.transformer.encoder import PACKAGE
from kgqa.settings.small_files import read_small

WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
NAMES = ("embedding.weight", "embeddings")
"""Name of the table among the weights, as Sentence Transformers and Model2Vec write it."""
SUBFOLDER = "0_StaticEmbedding"
"""Older versions of Sentence Transformers write the files into this subfolder."""
KIND = "model2vec"
"""The kind of network in the configuration of a static model; Sentence Transformers writes no configuration."""


def static_folder(name: str) -> Path | None:
    """The folder with the weights of the static model ``name``, a folder or ``package:NAME``; None if it is something else."""
    return next((folder for folder in _folders(name) if _is_static(folder)), None)


def _folders(name: str) -> Iterable[Path]:
    if not name.startswith(PACKAGE):
        return (Path(name), Path(name) / SUBFOLDER)
    module = name.removeprefix(PACKAGE).replace("-", "_")
    spec = find_spec(module) if module.isidentifier() else None
    roots = (spec.submodule_search_locations or ()) if spec else ()
    found = [path.parent for root in roots for path in Path(root).rglob(TOKENIZER)]
    return sorted(found, key=lambda folder: (len(folder.parts), folder))


def _is_static(folder: Path) -> bool:
    if not ((folder / WEIGHTS).is_file() and (folder / TOKENIZER).is_file()):
        return False
    if not (folder / CONFIG).is_file():
        return True
    with suppress(OSError, ValueError, RecursionError):
        config = json.loads(read_small(folder / CONFIG))
        return isinstance(config, dict) and config.get("model_type") == KIND
    return False
