"""What a reader begins with: files of others, which may change while their place stays the same."""

from __future__ import annotations

from pathlib import Path

from kgqa.readers.transformer.encoder import place_of
from kgqa.runs.files import file_hash, file_hashes, files_below, key_of
from kgqa.settings.base import Settings

SETTINGS = ("encoder", "embeddings")
"""Those that say where they are."""


def pretrained_key(settings: Settings) -> str:
    """Hash of the files that the settings name, where they are on this machine; empty where there are none.

    Raises MissingInput, BrokenInput for a folder that lacks something.
    """
    named = [name for name in (getattr(settings, setting, None) for setting in SETTINGS) if name is not None]
    files = [key_of(file_hash(place) if place.is_file() else file_hashes(place)) for place in map(_place, named) if place.exists()]
    return key_of(files) if files else ""


def pretrained_files(settings: Settings) -> list[Path]:
    """Those that :func:`pretrained_key` hashes. Raises as it does."""
    named = [name for name in (getattr(settings, setting, None) for setting in SETTINGS) if name is not None]
    return [file for place in map(_place, named) for file in ([place] if place.is_file() else files_below(place))]


def _place(name: str) -> Path:
    return Path(name) if Path(name).is_file() else Path(place_of(name))
