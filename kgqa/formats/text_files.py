"""Files of texts that belong to questions, for formats that keep the two apart (:class:`~kgqa.formats.registry.SeparateTexts`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from kgqa.errors import BrokenInput, MissingInput, SettingsError, storage_errors
from kgqa.formats.registry import WITH_SEPARATE_TEXTS, SeparateTexts, find_format

JSON_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


def check_texts(path: Path, format_name: str) -> Path:
    """``path``, a file of texts that the user names. Raises InputError or SettingsError unless it holds texts of the format."""
    module = find_format(format_name)
    if not isinstance(module, SeparateTexts):
        raise SettingsError(f"--paragraphs gives a file of texts, but the questions of {format_name} contain their own; leave it out.")
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such file of paragraphs; correct the path.")
        if not module.fits(path):
            raise BrokenInput(f"{path}: this is not a file of texts for {format_name}; give the one that belongs to the questions.")
    return path


def may_hold_texts(file: Path) -> bool:
    """Whether the name of a file is like that of a file of texts."""
    return any(module.TEXTS_WORD in file.name for module in _modules())


def may_be_ignored(file: Path) -> bool:
    """Whether a packed file may be ignored, since by its name it holds optional texts."""
    return any(module.TEXTS_WORD in file.name for module in _modules() if module.TEXTS_ARE_OPTIONAL)


def is_file_of_texts(file: Path) -> bool:
    """Whether a file in a folder of questions holds texts of any format instead of questions."""
    return any(module.is_file_of_texts(file) for module in _modules())


def remarks_on_texts(module: SeparateTexts, format_name: str, files: Sequence[Path]) -> Iterator[str]:
    """A sentence for each file of texts that is ignored although it may belong to the questions in ``files``."""
    texts_files = {texts for path in files if (texts := module.texts_beside(path)) is not None}
    for texts in sorted(texts_files):
        if not module.fits(texts):
            yield f"{texts.name} holds no texts of {format_name} and is passed over; name another file with --paragraphs."
    for file in _candidates({path.parent for path in files}):
        if file not in texts_files and file not in files and module.fits(file):
            yield f"{file.name} is not what the texts of these questions are called, and is passed over; name it with --paragraphs."


def _candidates(folders: Iterable[Path]) -> list[Path]:
    files = (file for folder in folders for file in folder.iterdir() if file.is_file() and file.name.endswith(JSON_SUFFIXES))
    return sorted(filter(may_hold_texts, files))


def _modules() -> list[SeparateTexts]:
    return [cast(SeparateTexts, find_format(name)) for name in WITH_SEPARATE_TEXTS]
