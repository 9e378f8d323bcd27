"""The optional dependencies of readers, and how to install them."""

from __future__ import annotations

from kgqa.errors import require_packages

NETWORKS = ("torch", "transformers", "accelerate", "safetensors")
RECORDS = ("sqlalchemy",)


def require_readers(what: str, *, needed: tuple[str, ...] = (*NETWORKS, *RECORDS)) -> None:
    """Raise SettingsError with the install line if a ``needed`` package is missing, before any work is done."""
    require_packages(what, "readers", *needed)
