"""The benchmark of the audit compares like with like."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("datasketch", reason="pip install --group bench")

from benchmarks.audit import CHUNK, EVERY, SHOWN, WIDTH, datasketch_pairs, made_texts, write_set
from kgqa.arrays.tokens import word_hashes
from kgqa.formats import native
from kgqa.splits.near_duplicates import near_duplicates
from kgqa.splits.shingles import shingle


def test_both_find_the_near_duplicates_that_were_made() -> None:
    (texts,) = made_texts(600)
    shingles = shingle(word_hashes(pa.array(texts)), width=WIDTH)
    found = near_duplicates(shingles)
    assert datasketch_pairs(shingles) == set(zip(found.one.tolist(), found.other.tolist(), strict=True))
    assert len(found) == len(range(0, 599, EVERY))


def test_texts_depend_on_their_seed_alone() -> None:
    assert list(made_texts(30, seed=1)) == list(made_texts(30, seed=1)) != list(made_texts(30, seed=2))
    assert [len(chunk) for chunk in made_texts(CHUNK + 1)] == [CHUNK, 1]


def test_the_set_has_the_size_that_is_asked_for(tmp_path: Path) -> None:
    write_set(tmp_path, 9)
    splits = {split: list(native.read(path)) for split, path in native.split_files(tmp_path).items()}
    assert {split: len(instances) for split, instances in splits.items()} == {"train": 4, "dev": 5}
    assert all(len(instance.paragraphs) == SHOWN for instances in splits.values() for instance in instances)
