"""Pretrained files that a reader starts from; their content can change under the same path."""

from __future__ import annotations

from pathlib import Path

from kgqa.readers.recurrent.static import static_folder
from kgqa.readers.transformer.encoder import place_of
from kgqa.runs.files import file_hash, file_hashes, files_below, key_of
from kgqa.settings.base import Settings

SETTINGS = ("encoder", "answerer_encoder", "embeddings")
"""Settings with the path or name of pretrained files."""


def pretrained_key(settings: Settings) -> str:
    """Hash of the files that the settings name, if they are on this machine; empty if they are not.

    Raises MissingInput, and BrokenInput for an incomplete folder.
    """
    files = [key_of(file_hash(place) if place.is_file() else file_hashes(place)) for place in _places(settings) if place.exists()]
    return key_of(files) if files else ""


def pretrained_files(settings: Settings) -> list[Path]:
    """The files that :func:`pretrained_key` hashes. Raises the same errors."""
    return [file for place in _places(settings) for file in ([place] if place.is_file() else files_below(place))]


def _places(settings: Settings) -> list[Path]:
    """Files and folders that the settings name, whether or not they exist."""
    names = [name for name in (getattr(settings, setting, None) for setting in SETTINGS) if name is not None]
    return [Path(name) if Path(name).is_file() else static_folder(name) or Path(place_of(name)) for name in names]
