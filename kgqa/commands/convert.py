"""``kgqa convert``: convert a question set to another format, and report what that format cannot hold."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import EmptyResult, SettingsError, storage_errors
from kgqa.formats.card import derived_card
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.formats.registry import FileFormat, FolderFormat, find_format
from kgqa.formats.round_trip import Changes, WrittenQuestions
from kgqa.progress import Progress, Silent
from kgqa.records import Instance
from kgqa.runs.files import check_is_local, new_folder, parents_of, put_all
from kgqa.runs.manifest import versions, write_card, write_manifest
from kgqa.runs.scratch import scratch
from kgqa.version import __version__

FILE_ENDINGS = (".json", ".jsonl", ".parquet", ".gz", ".zip", ".tsv", ".csv")
"""Endings of file names; an output with one of them is not a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """Result of :func:`convert`: the files, counts and losses."""

    source: QuestionSet
    to: str
    files: tuple[Path, ...]
    counts: dict[str, int]
    """Split → number of questions."""
    changed: dict[str, int]
    """Part of an Instance → number of questions that differ when read back. Other keys are ``LOST``, ``MORE``, and ``note NAME.FIELD`` for
    a lost field of a note. Empty if nothing was lost.
    """
    gold: dict[str, int]
    """Part of the gold → number of questions that lost it; empty except for ``lossy`` conversions."""


def convert(
    dataset: str | Path,
    *,
    to: str,
    out: str | Path,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    strict: bool = False,
    lossy: bool = False,
    progress: Progress | None = None,
) -> Conversion:
    """Write ``dataset``, a file or folder of ``format`` (recognised by default), in the format ``to`` as ``out``.

    ``out`` is a new folder, or a file if the set has one split and ``out`` has the format's extension. The output is read back; changed,
    lost and additional questions are counted by part. A loss of gold (``kgqa.formats.gold``) raises GoldLost unless ``lossy``.
    ``paragraphs`` and ``strict``: as in :func:`kgqa.open_dataset`. After an error nothing is left behind. Memory: about 1.5 kB per question
    of a split, and what the two formats need.
    """
    check_is_local(Path(out))
    source, target = open_dataset(dataset, format, paragraphs=paragraphs, strict=strict, progress=progress), find_format(to)
    with storage_errors(Path(out)):
        out = Path(os.path.abspath(out))
    source.check_outside(out)
    single = not isinstance(target, FolderFormat) and out.name.endswith(target.SUFFIX)
    if single and len(source.files) > 1:
        raise SettingsError(f"{out}: the set has {len(source.files)} splits ({', '.join(source.files)}), give a folder for their files.")
    if not single and out.name.endswith(FILE_ENDINGS):
        description = "a folder" if isinstance(target, FolderFormat) else f"a folder, or a file that ends in {target.SUFFIX}"
        raise SettingsError(f"{out}: {to} is written as {description}; choose another --out.")
    progress = progress or Silent()
    if single:
        counts, changes, files = _single_file(source, to, out, progress, lossy=lossy)
    else:
        with new_folder(out, again=True) as partial:
            counts, changes = _write_and_compare(source, to, partial, progress, lossy=lossy)
            if to == "native":
                _describe(partial, source, counts)
        files = tuple(sorted(path for path in out.rglob("*") if path.is_file()))
    return Conversion(source=source, to=to, files=files, counts=counts, changed=dict(changes.parts), gold=dict(changes.gold))


def _write_and_compare(source: QuestionSet, to: str, partial: Path, progress: Progress, *, lossy: bool) -> tuple[dict[str, int], Changes]:
    target = find_format(to)
    before = {split: WrittenQuestions() for split in source.files}
    progress.start(f"Writing {to}", None, "questions")
    streams = {split: before[split].watch(source.read(split), progress) for split in source.files}
    if isinstance(target, FolderFormat):
        target.write_folder(streams, partial)
    else:
        partial.mkdir()
        for split, instances in streams.items():
            target.write(instances, partial / f"{split}{target.SUFFIX}")
    counts = {split: len(questions) for split, questions in before.items()}
    if not any(counts.values()):
        raise EmptyResult(f"{source.path}: the set has no questions; choose one that has.")
    progress.finish(f"{sum(counts.values()):,} questions")
    progress.start("Reading it again", sum(counts.values()), "questions")
    changes = Changes()
    for split, again in _read_back(target, partial, list(before)).items():
        changes += before[split].compare(again, progress)
    progress.finish("nothing lost" if not changes.parts else "")
    if not lossy:
        changes.check_gold(str(source.path), to, sum(counts.values()))
    return counts, changes


def _describe(folder: Path, source: QuestionSet, counts: dict[str, int]) -> None:
    """Write the card and, last, the manifest."""
    purpose = find_format(source.format).PURPOSE
    about = f"Converted by kgqa {__version__} from {source.format}: {purpose}."
    manifest = {"recipe": "convert", "from": source.origin, "inputs": source.hashes(), "counts": counts}
    manifest |= {"faults": source.faults.record(), "versions": versions(), **source.url_record}
    manifest |= write_card(folder, lambda digest: derived_card(folder, source, about, counts, digest))
    write_manifest(manifest, folder)


def _read_back(target: FileFormat | FolderFormat, partial: Path, splits: Iterable[str]) -> dict[str, Iterable[Instance]]:
    if not isinstance(target, FolderFormat):
        return {split: target.read(partial / f"{split}{target.SUFFIX}") for split in splits}
    paths = target.splits(partial)
    return {split: target.read(paths[split]) if split in paths else () for split in splits}


def _single_file(
    source: QuestionSet, to: str, out: Path, progress: Progress, *, lossy: bool
) -> tuple[dict[str, int], Changes, tuple[Path, ...]]:
    """Write the file of the only split as ``out``, with its companion files under the same stem."""
    with storage_errors(out), parents_of(out), scratch(out) as folder:
        counts, changes = _write_and_compare(source, to, folder / out.name, progress, lossy=lossy)
        files = sorted((folder / out.name).iterdir(), key=lambda path: len(path.name))
        targets = [out, *(out.with_name(out.stem + path.name.removeprefix(files[0].stem)) for path in files[1:])]
        put_all(dict(zip(files, targets, strict=True)))
    return counts, changes, tuple(targets)
