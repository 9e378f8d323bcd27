"""Random samples by the hashes of their ids, independent of their order."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kgqa.arrays.draws import Reservoir
from kgqa.errors import DuplicateId, EmptyResult, SettingsError, check_seed, suggestion
from kgqa.formats import native
from kgqa.records import SPLITS
from kgqa.runs.files import Watch, hashes_of, key_of
from kgqa.runs.manifest import MANIFEST

MOST_SAMPLE = 1_000_000_000
ALL = "all"
"""The split that stands for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where and how samples were drawn: anyone with the dataset draws the same ones."""

    dataset: str
    """The name of its folder."""
    content: str
    """Hash of the dataset's content without its card, as in its manifest and card."""
    split: str
    """A split, or ``all``."""
    seed: int
    sample: int
    """Requested number; there may be fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSamples:
    """The drawn samples, with their origin and splits."""

    origin: Origin
    splits: Mapping[str, str]
    """Sample → its split, in the order of the draw."""
    available: int
    """Samples in the population."""


def draw(dataset: Path, *, sample: int, seed: int, split: str = ALL) -> DrawnSamples:
    """The ``sample`` samples with the smallest hashes of seed and id; a larger draw of the same seed begins with the smaller one.

    All samples if there are no more. Memory: an id per drawn sample. Raises SettingsError, EmptyResult, MissingInput, BrokenInput,
    InputChanged if the dataset changes meanwhile, and DuplicateId if a drawn id occurs twice.
    """
    _check(sample, seed, split)
    files = native.split_files(dataset)
    watch = Watch([*files.values(), dataset / MANIFEST])
    reservoir: Reservoir[str] = Reservoir(sample, purpose="review", seed=seed)
    splits: dict[str, str] = {}
    available = 0
    for name in (name for name in files if split in {name, ALL}):
        for row in native.read_fields(files[name], "id"):
            available += 1
            if row["id"] in splits:
                other_split = splits[row["id"]]
                raise DuplicateId(f"{files[name]}: sample {row['id']} occurs twice, or in {other_split} too; generate the dataset again.")
            splits[row["id"]] = name
            if (left_out := reservoir.add(row["id"], row["id"])) is not None:
                splits.pop(left_out, None)
    if not available:
        raise EmptyResult(
            f"{dataset}: there are no samples{'' if split == ALL else f' in {split}'} to draw; give another dataset or split."
        )
    origin = Origin(dataset=name_of(dataset), content=content_of(dataset), split=split, seed=seed, sample=sample)
    watch.check()
    return DrawnSamples(origin=origin, splits={sample: splits[sample] for sample in reservoir.values()}, available=available)


def name_of(dataset: Path) -> str:
    """The name of a dataset's folder, with symbolic links resolved."""
    return Path(os.path.realpath(dataset)).name


def content_of(dataset: Path) -> str:
    """Content hash of a dataset, from its manifest, else from its files. Raises MissingInput."""
    content = native.manifest_of(dataset).get("content")
    return content if isinstance(content, str) and content else key_of(hashes_of(native.split_files(dataset).values()))


def _check(sample: int, seed: int, split: str) -> None:
    check_seed(seed)
    if not 1 <= sample <= MOST_SAMPLE:
        raise SettingsError(f"sample {sample} is not between 1 and {MOST_SAMPLE}; choose another number.")
    if split not in {*SPLITS, ALL}:
        raise SettingsError(f"split {split!r} is not known; {suggestion(split, [*SPLITS, ALL])}")
