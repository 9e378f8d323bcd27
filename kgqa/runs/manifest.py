"""Where a result comes from: inputs, settings as passed and as resolved, seed, versions, counts, seconds."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from kgqa.version import __version__

PACKAGES = ("ladybug", "numba", "numpy", "polars", "pyarrow", "pydantic")


@cache
def versions() -> Mapping[str, str]:
    """kgqa's, Python's and every package's version that can influence a dataset; to look them up takes as long as to score a small set."""
    found = {"kgqa": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def run_record(*, passed: dict[str, Any], resolved: dict[str, Any], inputs: dict[str, str]) -> dict[str, Any]:
    """What is known before a run begins; counts and seconds are added at its end."""
    return {"passed": passed, "settings": resolved, "inputs": inputs, "versions": versions()}
