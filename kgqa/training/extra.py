"""The optional dependencies of readers, and how to install them."""

from __future__ import annotations

from importlib.util import find_spec

from kgqa.errors import SettingsError

NETWORKS = ("torch", "transformers", "accelerate", "safetensors")
RECORDS = ("sqlalchemy",)


def require_readers(what: str, *, needed: tuple[str, ...] = (*NETWORKS, *RECORDS)) -> None:
    """Raise SettingsError with the install line if a ``needed`` package is missing, before any work is done."""
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise SettingsError(f"{what} needs {' and '.join(missing)}, which is not installed; run: pip install 'kgqa[readers]'")
