"""The protocols that a format's module implements, and the modules of all formats, which are imported when they are needed.

A file format has one file per split: ``recognises``, ``read``, ``write``. A folder format keeps several splits in one folder, or is
Parquet: ``is_folder``, ``splits``, ``read``, ``write_folder``. The other protocols are optional abilities of some formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from kgqa.errors import check_known
from kgqa.formats.huggingface.hub import Place
from kgqa.records import Instance

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
"""Name → module, in the order of recognition."""
WITH_SEPARATE_TEXTS = ("strategyqa", "iirc")
"""File formats that implement :class:`SeparateTexts`."""
HUB_FORMAT = "huggingface"
"""The format of sets on the hub, whose flat rows may also be in JSON."""


class FileFormat(Protocol):
    """A format with one file per split.

    A module whose records all have one type calls it ``Record``, and ``RECORD`` its adapter: a file with some of the fields, but with
    values of other types, is then not recognised as this format. Three more names are optional: ``whole_file(path, record)`` turns the
    first record of a file into what ``recognises`` needs; ``why_not(record)`` explains why a similar file is not of this format;
    ``REPEATED_IDS`` is a pair, an explanation for repeated ids and the format to name then.
    """

    PURPOSE: str
    """The format in one sentence."""
    SUFFIX: str
    """The suffix of a split's file, as ``.jsonl``."""

    def recognises(self, record: Mapping[str, Any]) -> bool:
        """Whether the fields of a file's first record, or of its one object, are those of this format."""

    def read(self, path: Place) -> Iterator[Instance]:
        """The Instances of one file, in order. Raises InputError with file, record and field."""

    def write(self, instances: Iterable[Instance], path: Path) -> None:
        """Write one file, and its separate texts if it has any. Raises BrokenInput for a question that the format cannot hold."""


@runtime_checkable
class SeparateTexts(FileFormat, Protocol):
    """A file format whose texts may be in a second file."""

    TEXTS_WORD: str
    """Part of the names of files of texts."""
    TEXTS_ARE_OPTIONAL: bool
    """Whether a folder is read without texts that are there but packed."""

    def texts_beside(self, path: Path) -> Path | None:
        """The file of texts that by its official name belongs to the questions in ``path``, None if it does not exist."""

    def is_file_of_texts(self, path: Path) -> bool:
        """Whether a file in a folder of questions holds texts instead of questions."""

    def fits(self, texts: Path) -> bool:
        """Whether the first entry of ``texts`` is a text of this format."""

    def read(self, path: Place, texts: Path | None = None) -> Iterator[Instance]:
        """The Instances of one file with their ``texts``, by default those with the official name if they fit."""


@runtime_checkable
class FolderFormat(Protocol):
    """A format that is a folder, or a single Parquet file; ``FOR_RETRIEVAL`` is set if its questions never have answers."""

    PURPOSE: str

    def is_folder(self, path: Path) -> bool:
        """Whether the folder, or single file, ``path`` is of this format."""

    def splits(self, path: Path) -> dict[str, Path]:
        """Split → the path for :meth:`read`."""

    def read(self, path: Place) -> Iterator[Instance]:
        """The Instances of one split, in order; only the format of the hub reads addresses."""

    def write_folder(self, splits: Mapping[str, Iterable[Instance]], folder: Path) -> None:
        """Write all splits into the new ``folder``."""


@runtime_checkable
class SeveralFiles(FolderFormat, Protocol):
    """A folder format that reads a split from several files."""

    def files_of(self, path: Path) -> list[Path]:
        """The files that :meth:`read` reads for the split at ``path``."""


@runtime_checkable
class FlatRows(FolderFormat, Protocol):
    """A folder format whose rows may also be the records of a JSON file."""

    def is_row(self, record: Mapping[str, Any]) -> bool:
        """Whether ``record`` is a row that differs from the official records of its set."""


def find_format(name: str) -> FileFormat | FolderFormat:
    """The module of a format. Raises SettingsError for an unknown name."""
    check_known("format", name, FORMATS)
    return cast("FileFormat | FolderFormat", import_module(FORMATS[name]))
