"""What the command line and the functions have in common where nothing is said."""

from __future__ import annotations

from pathlib import Path

DEFAULT_WORKSPACE = Path("kgqa-workspace")
