"""The formats that are known, in the order in which they are tried, and the module of each, which is imported when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from kgqa.errors import SettingsError, suggestion
from kgqa.formats.base import FileFormat, FolderFormat

FOLDER_FORMATS = {
    "native": "kgqa.formats.native",
    "beir": "kgqa.formats.beir.format",
    "huggingface": "kgqa.formats.huggingface.format",
}
FILE_FORMATS = {
    "twowiki": "kgqa.formats.twowiki",
    "dire": "kgqa.formats.dire",
    "hotpotqa": "kgqa.formats.hotpotqa",
    "qangaroo": "kgqa.formats.qangaroo",
    "musique": "kgqa.formats.musique",
    "strategyqa": "kgqa.formats.strategyqa.format",
    "boolq": "kgqa.formats.boolq",
    "nq": "kgqa.formats.nq",
    "quoref": "kgqa.formats.quoref",
    "squad": "kgqa.formats.squad",
    "squad2": "kgqa.formats.squad2",
    "drop": "kgqa.formats.drop",
    "iirc": "kgqa.formats.iirc.format",
    "label_studio": "kgqa.formats.label_studio.format",
}
FORMATS = FOLDER_FORMATS | FILE_FORMATS


def find_format(name: str) -> FileFormat | FolderFormat:
    """The module of a format; SettingsError for a name that is none."""
    if name not in FORMATS:
        raise SettingsError(f"format {name!r} is not known; {suggestion(name, FORMATS)}")
    return cast("FileFormat | FolderFormat", import_module(FORMATS[name]))
