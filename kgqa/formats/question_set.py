"""A question set of any format, recognised by what is in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from kgqa.errors import BrokenInput, InputError, MissingInput, SettingsError, storage_errors
from kgqa.formats import native, squad
from kgqa.formats.base import FileFormat, FolderFormat, TextsBeside
from kgqa.formats.faults import FaultCounts, counted
from kgqa.formats.huggingface import hub
from kgqa.formats.huggingface.hub import HubAddress, Place
from kgqa.formats.huggingface.rows import is_row
from kgqa.formats.json import stream
from kgqa.formats.json.validate import RepeatedId, validated
from kgqa.formats.registry import FILE_FORMATS, FOLDER_FORMATS, FORMATS, find_format
from kgqa.formats.split_names import in_order, split_in
from kgqa.formats.strategyqa import evidence_texts
from kgqa.records import Instance
from kgqa.runs.files import Watch, hashes_of, real_path

ROWS = "huggingface"
"""The format whose flat rows may stand in JSON as well as in Parquet."""
_MASKED = ".masked."
"""In the names of a masked twin's files, which are a set of their own."""
_ARTICLES = "context_articles"
"""In the name of IIRC's file of texts."""
_PACKED = re.compile(r"\.jsonl?\.(7z|bz2|lz4|xz|zip|zst)", re.IGNORECASE)
_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """A question set on disk."""

    path: Place
    format: str
    """Name of the format, a key of ``FORMATS``."""
    recognised: bool
    """Whether nobody named the format."""
    files: Mapping[str, Place]
    """Split → where its questions are."""
    paragraphs: Path | None = None
    """A file of texts that somebody named; without it those are taken that stand beside the questions under their official name."""
    strict: bool = False
    """Whether a fault of content is an error."""
    naming: str = "--from"
    """How a user names the format."""
    counts: dict[str, FaultCounts] = field(default_factory=dict, compare=False, repr=False)
    """Split → the faults that were found when it was last read to its end."""
    watch: Watch = field(default_factory=Watch, compare=False, repr=False)
    """Its files, as they were when it was opened."""

    @property
    def name(self) -> str:
        """What cards and reports call it: the last part of its path, or of its name on the hub."""
        return Path(os.path.abspath(self.path)).name if isinstance(self.path, Path) else self.path.set.rpartition("/")[2]

    @property
    def folder(self) -> Path | None:
        """The folder that it is; None for a single file or a set on the hub."""
        return self.path if isinstance(self.path, Path) and self.path.is_dir() else None

    @property
    def origin(self) -> str:
        """The format that it had first: of a folder of ours, what its manifest says, from which ``kgqa evaluate`` knows the metric."""
        before = native.manifest_of(self.folder).get("from") if self.format == "native" and self.folder else None
        return before if isinstance(before, str) and before in FORMATS else self.format

    def hashes(self) -> dict[str, str]:
        """File → SHA-256 of its bytes; none of what is not a file of this machine.

        Raises InputChanged where one is not the file any more that was there when the set was opened.
        """
        found = hashes_of(path for path in self.files.values() if isinstance(path, Path))
        self.watch.check()
        return found

    def read(self, split: str) -> Iterator[Instance]:
        """The Instances of one split, in order; raises InputError with file, record and field.

        Faults of content (``kgqa.formats.faults``) are kept and counted; BrokenInput at the first of them where the set is ``strict``.
        """
        found, path, counts = find_format(self.format), self.files[split], FaultCounts()
        instances = found.read(path, self.paragraphs) if isinstance(found, TextsBeside) else found.read(path)
        try:
            yield from counted(instances, counts, where=path.name, strict=self.strict)
        except RepeatedId as error:
            # DiRe's probes are like HotpotQA's records in all but this, that a question's have its id.
            if not (self.recognised and self.format == "hotpotqa"):
                raise
            said = str(error).removesuffix(".")
            raise RepeatedId(f"{said}, or name the format if these are probes of DiRe's: {self.naming} dire.") from None
        self.counts[split] = counts

    @property
    def faults(self) -> FaultCounts:
        """Those of all splits that were read."""
        total = FaultCounts()
        for counts in self.counts.values():
            total += counts
        return total

    @property
    def remarks(self) -> list[str]:
        """What whoever reads the set should be told once it was read: files passed over, and what is imperfect; a sentence each."""
        faults = self.faults
        # Sets for retrieval are without answers, and nobody holds them back.
        hidden = "" if self.format == "beir" else _hidden(faults)
        return [*self._passed_over(), *filter(None, [hidden, faults.sentence])]

    def _passed_over(self) -> Iterator[str]:
        found = find_format(self.format)
        if self.paragraphs is not None or not isinstance(found, TextsBeside):
            return
        files = [path for path in self.files.values() if isinstance(path, Path)]
        beside = {texts for path in files if (texts := found.texts_beside(path)) is not None}
        for texts in sorted(beside):
            if not found.fits(texts):
                yield f"{texts.name} holds no texts of {self.format} and is passed over; name another file with --paragraphs."
        for file in _called_after_texts({path.parent for path in files}):
            if file not in beside and file not in files and found.fits(file):
                yield f"{file.name} is not what the texts of these questions are called, and is passed over; name it with --paragraphs."

    def check_outside(self, out: Path, option: str = "--out") -> None:
        """SettingsError where ``out`` lies inside the set's own folder, which it would change."""
        with storage_errors(out):
            if self.folder and real_path(self.folder) in real_path(out).parents:
                raise SettingsError(f"{out}: this lies inside the set that is read, {self.path}; choose another {option}.")

    def instances(self) -> Iterator[Instance]:
        """The Instances of all splits."""
        for split in self.files:
            yield from self.read(split)


def _hidden(counts: FaultCounts) -> str:
    """What is said of hidden answers, empty where there are none."""
    if not counts.hidden:
        return ""
    asked = f"{counts.hidden:,} of {counts.questions:,} questions"
    return f"The answers of {asked} are hidden: the set says neither what they are nor whether there are any."


def open_dataset(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    *,
    paragraphs: str | Path | None = None,
    strict: bool = False,
    naming: str = "--from",
) -> QuestionSet:
    """The question set in a file or folder, or on the hub (``hf://owner/name``), of ``format`` or of the one that its content shows.

    A file's split is the word train, dev (or validation) or test in its name; a file without one is taken for ``test``, on which nothing
    is trained. ``paragraphs`` is the file of its texts, for a format that keeps them apart; ``strict`` refuses faults of content that
    break a promise of the format, which are kept and counted otherwise. ``naming`` is how a user names a format, for messages that say
    so. Raises MissingInput where nothing is there, BrokenInput where no format is recognised, SettingsError for an unknown format.
    """
    if not str(path):
        raise SettingsError("the dataset has no name; give a file or folder.")
    address = hub.address(path)
    if address is not None:
        if paragraphs is not None:
            _named_texts(Path(paragraphs), "huggingface")
        return _on_the_hub(address, format, naming, strict=strict)
    path = Path(path)
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such file or folder.")
        stream.check_rereadable(path)
        name = _recognise(path, naming) if format is None else format
        found = find_format(name)
        files = found.splits(path) if isinstance(found, FolderFormat) and found.is_folder(path) else split_files(path)
        texts = None if paragraphs is None else _named_texts(Path(paragraphs), name)
        watch = Watch(file for file in (*files.values(), texts) if file is not None)
        return QuestionSet(
            path=path, format=name, recognised=format is None, files=MappingProxyType(files), paragraphs=texts, strict=strict,
            naming=naming, watch=watch,
        )  # fmt: skip


def _called_after_texts(folders: Iterable[Path]) -> list[Path]:
    """The files there whose names say that they may hold texts of questions."""
    files = (file for folder in folders for file in folder.iterdir() if file.is_file() and file.name.endswith(_SUFFIXES))
    return sorted(file for file in files if evidence_texts.NAMED in file.name or _ARTICLES in file.name)


def _named_texts(path: Path, format: str) -> Path:  # noqa: A002
    """``path``, which must be a file of texts of the ``format``."""
    found = find_format(format)
    if not isinstance(found, TextsBeside):
        raise SettingsError(f"--paragraphs names a file of texts, and the questions of {format} hold their own; leave it out.")
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such file of paragraphs.")
        if not found.fits(path):
            raise BrokenInput(f"{path}: this is no file of texts of {format}; give the one that belongs to the questions.")
    return path


def _on_the_hub(address: HubAddress, format: str | None, naming: str, *, strict: bool) -> QuestionSet:  # noqa: A002
    if format not in {None, "huggingface"}:
        raise SettingsError(f"{address}: a set on the hub is read as huggingface; leave out {naming} {format}.")
    files = MappingProxyType[str, Place](dict(hub.splits(address)))
    return QuestionSet(path=address, format="huggingface", recognised=format is None, files=files, strict=strict)


def split_files(path: Path) -> dict[str, Path]:
    """Split → file, for a file or for the files of a folder whose names say which split they are."""
    if not path.is_dir():
        return {split_in(path.name) or "test": path}
    files: dict[str, Path] = {}
    for file in _data_files(path):
        split = split_in(file.name)
        if split is None:
            raise BrokenInput(f"{file}: its name says no split (train, dev or test); rename it, move it away, or give one file.")
        if split in files:
            raise BrokenInput(f"{path}: both {files[split].name} and {file.name} are its {split} split; give one of the files.")
        files[split] = file
    if not files:
        raise MissingInput(f"{path}: no file here is called train, dev or test ({', '.join(_SUFFIXES)}); give one of its files.")
    return in_order(files)


def _data_files(folder: Path) -> list[Path]:
    """Those that hold questions; the masked ones only where there are no others."""
    found = sorted(file for file in folder.iterdir() if file.is_file())
    packed = (file for file in found if _PACKED.fullmatch("".join(file.suffixes[-2:])) and split_in(file.name))
    lost = next((file for file in packed if not file.with_suffix("").exists() and evidence_texts.NAMED not in file.name), None)
    if lost is not None:
        raise BrokenInput(f"{lost}: of packed files only gzip's are read; unpack it, or move it away.")
    files = [file for file in found if file.name.endswith(_SUFFIXES) and _ARTICLES not in file.name and _holds_questions(file)]
    return [file for file in files if _MASKED not in file.name] or files


def _holds_questions(file: Path) -> bool:
    """Whether it is not called after paragraphs, or is no file of texts nevertheless, but one of questions."""
    if evidence_texts.NAMED not in file.name:
        return True
    if evidence_texts.is_called_so(file) or evidence_texts.fits(file):
        return False
    try:
        record = stream.head(file)
    except InputError:
        return False
    return any(_recognised_by(name, record) for name in FILE_FORMATS)


def _recognise(path: Path, naming: str) -> str:
    for name in FOLDER_FORMATS:
        if cast(FolderFormat, find_format(name)).is_folder(path):
            return name
    found = {file: _recognise_file(file, naming) for file in split_files(path).values()}
    if len(set(found.values())) > 1:
        kinds = ", ".join(f"{file.name} is {name}" for file, name in found.items())
        raise BrokenInput(f"{path}: its files are of several formats ({kinds}); give one of them.")
    return next(iter(found.values()))


def _recognise_file(file: Path, naming: str) -> str:
    record = squad.articles(file, stream.head(file))
    for name in FILE_FORMATS:
        if _recognised_by(name, record):
            return name
    if isinstance(record, Mapping) and is_row(record):
        return ROWS
    fields = ", ".join(list(record)[:6]) or "none"
    doubts = " ".join(_doubts(record)) if isinstance(record, Mapping) else ""
    raise BrokenInput(
        f"{file}: no known format has these fields ({fields}). {doubts}{' ' * bool(doubts)}Name one with {naming}: {', '.join(FORMATS)}."
    )


def _recognised_by(name: str, record: Mapping[str, Any]) -> bool:
    return isinstance(record, Mapping) and cast(FileFormat, find_format(name)).recognises(record) and not _contradiction(name, record)


def _contradiction(name: str, record: Mapping[str, Any]) -> str:
    """What in ``record`` is not as in the format that its first look shows, where most of the rest is unknown to it too; else empty.

    One key is no proof: a file of another set may have it. A broken record of the format itself has most of its fields.
    """
    module = find_format(name)
    kind, known = getattr(module, "RECORD", None), getattr(getattr(module, "Record", None), "__annotations__", {})
    shared = len(record.keys() & known.keys())
    # A file that is one object, as a contrast set, has none of a record's fields.
    if kind is None or not shared or 2 * shared > len(record):
        return ""
    try:
        validated(record, kind, "")
    except InputError as error:
        return str(error).partition(";")[0].lstrip(", ")
    return ""


def _doubts(record: Mapping[str, Any]) -> Iterator[str]:
    """Why it is not of a format that it looks like."""
    for name in FILE_FORMATS:
        module = cast(FileFormat, find_format(name))
        if module.recognises(record) and (wrong := _contradiction(name, record)):
            yield f"It is not {name}, some of whose fields it has: {wrong}."
        elif reason := getattr(module, "why_not", lambda _: "")(record):
            yield reason
