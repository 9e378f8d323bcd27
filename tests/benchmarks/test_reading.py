"""The benchmark of readers reads what it says: half of one set is imperfect, and nothing of the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reading import CONVERTED, FORMS, make, read, row
from kgqa.errors import InputError
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FORMATS

NAMES = [*FORMS, *CONVERTED]


def test_every_format_is_read() -> None:
    assert sorted(NAMES) == sorted(FORMATS)


@pytest.mark.parametrize("name", NAMES)
def test_the_sets_are_what_they_should_be(name: str, tmp_path: Path) -> None:
    sound, imperfect = make(name, tmp_path, 20)
    assert read(name, sound) == (20, 0)
    if name not in CONVERTED and name != "dire":  # whose records are those of HotpotQA
        assert open_dataset(sound).format == name
    try:
        assert read(name, imperfect) == (20, 10)
    except InputError:
        assert row(name, sound, imperfect, questions=20, rounds=1)[3] == "refused"
