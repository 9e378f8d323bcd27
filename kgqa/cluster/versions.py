"""What must be the same on all nodes of a cluster, so that every node computes the same bytes."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import kgqa
from kgqa.version import __version__

PACKAGES = ("numba", "numpy", "polars", "pyarrow")
OF_NETWORKS = ("torch", "transformers", "tokenizers", "safetensors", "peft")
"""Packages that run networks."""
MISSING = "missing"
"""Stands for the version of a package that is not installed."""


@cache
def versions() -> dict[str, str]:
    """Name → version, for kgqa, its code, Python and the packages that compute. Takes some 30 ms, for hashing the code."""
    folder = Path(kgqa.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return {
        "kgqa": __version__, "code of kgqa": digest.hexdigest()[:12], "Python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }  # fmt: skip


@cache
def network_versions() -> dict[str, str]:
    """Name → version of the packages that run networks, without the kind of a build, as ``+cpu``, or :data:`MISSING`."""
    return {name: _version(name).partition("+")[0] for name in OF_NETWORKS}


def has_gpu() -> bool:
    """Whether torch can use a GPU in this process. Takes some seconds, for importing torch."""
    import torch

    return torch.cuda.is_available()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return MISSING


def difference(here: dict[str, str], there: dict[str, str]) -> str:
    """The first difference in words, or an empty text.

    >>> difference({"Python": "3.11.7"}, {"Python": "3.12.1"})
    'Python 3.12.1 instead of 3.11.7'
    """
    return next((f"{name} {there.get(name, MISSING)} instead of {value}" for name, value in here.items() if there.get(name) != value), "")
