"""A question set of any format: opening it, reading its splits, and counting its faults."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from kgqa.errors import MissingInput, SettingsError, storage_errors
from kgqa.formats import native
from kgqa.formats.faults import FaultCounts, count_faults
from kgqa.formats.fetching import fetched
from kgqa.formats.huggingface import hub
from kgqa.formats.huggingface.hub import HubAddress, Place
from kgqa.formats.json import stream
from kgqa.formats.json.validate import RepeatedId
from kgqa.formats.recognise import recognise, split_files
from kgqa.formats.registry import FORMATS, HUB_FORMAT, FileFormat, FolderFormat, SeparateTexts, SeveralFiles, find_format
from kgqa.formats.text_files import check_texts, remarks_on_texts
from kgqa.object_store.address import url_of
from kgqa.object_store.mirror import local_copy
from kgqa.progress import Progress
from kgqa.records import Instance
from kgqa.runs.files import Watch, hashes_of, real_path


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """A question set on disk or on the hub."""

    path: Place
    format: str
    """Name of the format, a key of ``FORMATS``."""
    recognised: bool
    """Whether the format was recognised, not named by the user."""
    files: Mapping[str, Place]
    """Split → the place of its questions."""
    inputs: tuple[Path, ...] = ()
    """The files that are read, each once: of questions, their parts and their texts; none of a set on the hub."""
    paragraphs: Path | None = None
    """The file of texts that the user named; by default, the texts with the official name are used."""
    strict: bool = False
    """Whether a fault of content is an error."""
    naming: str = "--from"
    """How users name the format, for messages."""
    counts: dict[str, FaultCounts] = field(default_factory=dict, compare=False, repr=False)
    """Split → the faults found when the split was last read to its end."""
    watch: Watch = field(default_factory=Watch, compare=False, repr=False)
    """The state of its files when the set was opened."""
    url: str | None = None
    """The URL of the object store that the files were copied from; manifests record it."""

    @property
    def url_record(self) -> dict[str, str]:
        """The URL in the form that manifests and reports have it; empty without one."""
        return {"url": self.url} if self.url else {}

    @property
    def name(self) -> str:
        """The name for cards and reports: the last part of the path, or of the name on the hub."""
        return Path(os.path.abspath(self.path)).name if isinstance(self.path, Path) else self.path.repository.rpartition("/")[2]

    @property
    def folder(self) -> Path | None:
        """The set's folder; None for a single file or a set on the hub."""
        return self.path if isinstance(self.path, Path) and self.path.is_dir() else None

    @property
    def origin(self) -> str:
        """The format before conversion to kgqa's own, from the manifest; ``kgqa evaluate`` chooses the metric by it."""
        earlier_source = native.manifest_of(self.folder).get("from") if self.format == "native" and self.folder else None
        return earlier_source if isinstance(earlier_source, str) and earlier_source in FORMATS else self.format

    def hashes(self) -> dict[str, str]:
        """Each of the ``inputs`` → SHA-256 of its bytes. Raises InputChanged if a file has changed since the set was opened."""
        hashes = hashes_of(self.inputs)
        self.watch.check()
        return hashes

    def read(self, split: str) -> Iterator[Instance]:
        """The Instances of one split, in order. Raises InputError with file, record and field, InputChanged after the last Instance if a
        file has changed since the set was opened.

        Faults of content (``kgqa.formats.faults``) are kept and counted; in a ``strict`` set the first one raises BrokenInput.
        """
        module, path, counts = find_format(self.format), self.files[split], FaultCounts()
        instances = module.read(path, self.paragraphs) if isinstance(module, SeparateTexts) else module.read(path)
        try:
            yield from count_faults(instances, counts, location=path.name, strict=self.strict)
        except RepeatedId as error:
            explanation = getattr(module, "REPEATED_IDS", None)
            if not (self.recognised and explanation):
                raise
            reason, other_format = explanation
            message = str(error).removesuffix(".")
            raise RepeatedId(f"{message}, or name the format if {reason}: {self.naming} {other_format}.") from None
        self.watch.check()
        self.counts[split] = counts

    @property
    def faults(self) -> FaultCounts:
        """The faults of all splits that were read."""
        total = FaultCounts()
        for counts in self.counts.values():
            total += counts
        return total

    @property
    def remarks(self) -> list[str]:
        """Sentences for the user after reading: ignored files of texts, hidden answers, and faults."""
        module, faults = find_format(self.format), self.faults
        files = [path for path in self.files.values() if isinstance(path, Path)]
        if self.paragraphs is None and isinstance(module, SeparateTexts):
            sentences = list(remarks_on_texts(module, self.format, files))
        else:
            sentences = []
        if faults.hidden and not getattr(module, "FOR_RETRIEVAL", False):
            questions = f"{faults.hidden:,} of {faults.questions:,} questions"
            sentences.append(f"The answers of {questions} are hidden: the set says neither what they are nor whether there are any.")
        return [*sentences, *filter(None, [faults.sentence])]

    def check_outside(self, out: Path, option: str = "--out") -> None:
        """Raise SettingsError if ``out`` lies inside the set's own folder, which it would change."""
        with storage_errors(out):
            if self.folder and real_path(self.folder) in real_path(out).parents:
                raise SettingsError(f"{out}: this is inside the set that is read, {self.path}; choose another {option}.")

    def instances(self) -> Iterator[Instance]:
        """The Instances of all splits."""
        for split in self.files:
            yield from self.read(split)


def open_dataset(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the public name
    *,
    paragraphs: str | Path | None = None,
    strict: bool = False,
    naming: str = "--from",
    progress: Progress | None = None,
) -> QuestionSet:
    """The question set in a file or folder, by default with the format that its content shows.

    ``path`` can also name a set on the hub (``hf://owner/name``), or files in an object store (``s3://bucket/prefix``, ``gs://…``), which
    are copied first (:func:`kgqa.object_store.mirror.local_copy`).

    A file's split is the word train, dev (or validation) or test in its name; without such a word it is ``test``. ``paragraphs`` is the
    file of texts for a format that keeps them apart. ``strict`` refuses faults of content that break a promise of the format; by default
    they are kept and counted. ``naming``: how users name a format, for messages. Raises MissingInput for a missing file, BrokenInput if no
    format is recognised, SettingsError for an unknown format.
    """
    if not str(path):
        raise SettingsError("the dataset has no name; give a file or folder.")
    address = hub.address(path)
    if address is not None:
        if paragraphs is not None:
            check_texts(Path(paragraphs), HUB_FORMAT)
        return _open_on_hub(address, format, naming, strict=strict)
    url = url_of(path)
    path = fetched(path, progress=progress)
    paragraphs = None if paragraphs is None else local_copy(paragraphs, progress=progress)
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such file or folder; correct the path.")
        stream.check_rereadable(path)
        name = recognise(path, naming) if format is None else format
        module = find_format(name)
        files = module.splits(path) if isinstance(module, FolderFormat) and module.is_folder(path) else split_files(path)
        texts = None if paragraphs is None else check_texts(Path(paragraphs), name)
        inputs = tuple(dict.fromkeys(_inputs(module, files.values(), texts)))
        return QuestionSet(
            path=path, format=name, recognised=format is None, files=MappingProxyType(files), inputs=inputs, paragraphs=texts,
            strict=strict, naming=naming, watch=Watch(inputs), url=url,
        )  # fmt: skip


def _inputs(module: FileFormat | FolderFormat, files: Iterable[Path], texts: Path | None) -> Iterator[Path]:
    """The files that the format reads for the splits in ``files``; ``texts`` is the file of texts that the user named."""
    for path in files:
        yield from module.files_of(path) if isinstance(module, SeveralFiles) else [path]
        if isinstance(module, SeparateTexts) and (text_files := texts or module.texts_beside(path)):
            yield text_files


def _open_on_hub(address: HubAddress, format_name: str | None, option: str, *, strict: bool) -> QuestionSet:
    if format_name not in {None, HUB_FORMAT}:
        raise SettingsError(f"{address}: a set on the hub is read as {HUB_FORMAT}; leave out {option} {format_name}.")
    files = MappingProxyType[str, Place](dict(hub.splits(address)))
    return QuestionSet(path=address, format=HUB_FORMAT, recognised=format_name is None, files=files, strict=strict)
