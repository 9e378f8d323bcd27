"""What a module of this folder offers: how its format is recognised, read and written.

A file format has one file a split: ``recognises``, ``read``, ``write``. A folder format keeps several splits in one folder, or is Parquet:
``is_folder``, ``splits``, ``read``, ``write_folder``. ``registry.FORMATS`` lists them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from kgqa.formats.huggingface.hub import Place
from kgqa.records import Instance


class FileFormat(Protocol):
    """A format with one file a split."""

    PURPOSE: str
    """What the format is, in one sentence. Where all records are of one type, ``Record`` and ``RECORD`` are that type: a file with
    some of its fields and other types is then not taken for the format."""
    SUFFIX: str
    """Of a split's file, as ``.jsonl``."""

    def recognises(self, record: Mapping[str, Any]) -> bool:
        """Whether the first record of a file, or the file's one object, is of this format, as far as its fields tell."""

    def read(self, path: Place) -> Iterator[Instance]:
        """The Instances of one file, in order. Raises InputError with file, record and field."""

    def write(self, instances: Iterable[Instance], path: Path) -> None:
        """Write one file, and what belongs beside it under the same stem; BrokenInput for a question that the format has no place for."""


@runtime_checkable
class TextsBeside(FileFormat, Protocol):
    """A file format whose texts may stand in a file beside the questions."""

    def texts_beside(self, path: Path) -> Path | None:
        """The file of texts that by its official name belongs to the questions in ``path``."""

    def fits(self, texts: Path) -> bool:
        """Whether ``texts`` is such a file, as far as its first entry tells."""

    def read(self, path: Place, texts: Path | None = None) -> Iterator[Instance]:
        """The Instances of one file, with the ``texts`` that are named, or those that stand beside it and fit."""


@runtime_checkable
class FolderFormat(Protocol):
    """A format that is a folder."""

    PURPOSE: str

    def is_folder(self, path: Path) -> bool:
        """Whether the folder, or single file, ``path`` is of this format."""

    def splits(self, path: Path) -> dict[str, Path]:
        """Split → what :meth:`read` takes for it."""

    def read(self, path: Place) -> Iterator[Instance]:
        """The Instances of one split, in order; of the formats only ``huggingface`` reads from the hub."""

    def write_folder(self, splits: Mapping[str, Iterable[Instance]], folder: Path) -> None:
        """Write all splits into the new ``folder``."""
