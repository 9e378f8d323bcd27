"""Malformed predictions by the thousand: one sentence that names the file, or a score; never a traceback, never half a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import KgqaError
from kgqa.scoring.report import Evaluation
from tests.scoring.families import FAMILIES, NAMES, Family
from tests.scoring.mutations import malformed, text_of


def outcome(gold: Path, predictions: Path, **options: Any) -> Evaluation | str:
    """What was found, or the one sentence in which a mistake ends."""
    try:
        return kgqa.evaluate(gold, predictions, **options)
    except KgqaError as error:
        return str(error)


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_malformed_predictions(family: Family, mutant_count: int, tmp_path: Path) -> None:
    gold, file = family.write(tmp_path)
    out, options = tmp_path / "out.json", family.options(tmp_path)
    others = [other.perfect for other in FAMILIES if other.metric != family.metric]
    made = refused = 0
    for data in malformed(family.perfect, others, mutant_count):
        made += 1
        file.write_bytes(data)
        found = outcome(gold, file, json=out, **options)
        if isinstance(found, str):
            refused += 1
            assert "\n" not in found, (found, data[:200])
            assert found.endswith("."), (found, data[:200])
            assert file.name in found, (found, data[:200])
            assert not out.exists()
        else:
            assert json.loads(out.read_text("utf-8"))["official"] == found.scores.official
            out.unlink()
        assert not list(tmp_path.glob("*.partial"))
    # What is left is well-formed: another answer, another title.
    assert made / 4 < refused < made


BESIDE = [(family, name) for family in FAMILIES for name in ("original", "aliases", "na_prob_file") if getattr(family, name) is not None]


@pytest.mark.parametrize(("family", "name"), BESIDE, ids=[name for _, name in BESIDE])
def test_malformed_files_beside(family: Family, name: str, mutant_count: int, tmp_path: Path) -> None:
    gold, predictions = family.write(tmp_path, family.worked)
    others = [other.perfect for other in FAMILIES if other.metric != family.metric]
    file, options = tmp_path / "beside.json", family.options(tmp_path)
    made = refused = 0
    for data in malformed(getattr(family, name), others, mutant_count):
        made += 1
        file.write_bytes(data)
        found = outcome(gold, predictions, **options, **{name: file})
        if isinstance(found, str):
            refused += 1
            assert "\n" not in found, (found, data[:200])
            assert found.endswith("."), (found, data[:200])
    assert made / 4 < refused < made


def test_the_right_file_is_none_of_them(tmp_path: Path) -> None:
    for family in FAMILIES:
        gold, file = family.write(tmp_path)
        file.write_bytes(text_of(family.perfect))
        assert kgqa.evaluate(gold, file, **family.options(tmp_path)).scores.missing == ()
