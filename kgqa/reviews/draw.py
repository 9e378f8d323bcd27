"""Drawing of samples by the hashes of their ids, independent of their order."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kgqa.arrays.draws import Reservoir
from kgqa.errors import DuplicateId, EmptyResult, SettingsError, check_seed, suggestion
from kgqa.formats import native
from kgqa.records import SPLITS
from kgqa.runs.files import hashes_of, key_of

MOST_SAMPLE = 1_000_000_000
ALL = "all"
"""The split that stands for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where samples were drawn, and how: whoever has the dataset draws the same ones."""

    dataset: str
    """The name of its folder."""
    content: str
    """Hash of all that the dataset holds but its card, as its manifest and card give it."""
    split: str
    """One of them, or ``all``."""
    seed: int
    sample: int
    """Requested number; there may be fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The drawn samples, with their origin and splits."""

    origin: Origin
    splits: Mapping[str, str]
    """Sample → its split, in the order of the draw."""
    available: int
    """Samples among which they were drawn."""


def draw(dataset: Path, *, sample: int, seed: int, split: str = ALL) -> Drawn:
    """The ``sample`` samples with the smallest hashes of seed and id; a larger draw of the same seed begins with the smaller one.

    All of them where there are no more. Memory: an id for each that is drawn. Raises SettingsError, EmptyResult, MissingInput, BrokenInput,
    and DuplicateId where one that is drawn is there twice.
    """
    _check(sample, seed, split)
    files = native.split_files(dataset)
    reservoir: Reservoir[str] = Reservoir(sample, purpose="review", seed=seed)
    places: dict[str, str] = {}
    available = 0
    for name in (name for name in files if split in {name, ALL}):
        for row in native.read_fields(files[name], "id"):
            available += 1
            if row["id"] in places:
                where = places[row["id"]]
                raise DuplicateId(f"{files[name]}: sample {row['id']} is there twice, or in {where} too; make the dataset again.")
            places[row["id"]] = name
            if (left_out := reservoir.add(row["id"], row["id"])) is not None:
                places.pop(left_out, None)
    if not available:
        raise EmptyResult(
            f"{dataset}: there are no samples{'' if split == ALL else f' in {split}'} to read; give another dataset or --split."
        )
    origin = Origin(dataset=name_of(dataset), content=content_of(dataset), split=split, seed=seed, sample=sample)
    return Drawn(origin=origin, splits={each: places[each] for each in reservoir.values()}, available=available)


def name_of(dataset: Path) -> str:
    """The name of a dataset's folder, whatever way leads there."""
    return Path(os.path.realpath(dataset)).name


def content_of(dataset: Path) -> str:
    """Content hash of a dataset, from its manifest, else from its files. Raises MissingInput."""
    found = native.manifest_of(dataset).get("content")
    return found if isinstance(found, str) and found else key_of(hashes_of(native.split_files(dataset).values()))


def _check(sample: int, seed: int, split: str) -> None:
    check_seed(seed)
    if not 1 <= sample <= MOST_SAMPLE:
        raise SettingsError(f"sample {sample} is not between 1 and {MOST_SAMPLE}; give another --sample.")
    if split not in {*SPLITS, ALL}:
        raise SettingsError(f"split {split!r} is not known; {suggestion(split, [*SPLITS, ALL])}")
