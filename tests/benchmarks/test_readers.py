"""The settings behind printed figures: each file is valid, and the page with the figures names it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from kgqa.readers.specification import specification
from kgqa.settings.judging import JudgingSettings
from tests.command import ROOT

FILES = sorted((ROOT / "benchmarks" / "readers").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_settings_are_valid(path: Path) -> None:
    if path.stem == "judges":
        assert JudgingSettings.model_validate(tomllib.loads(path.read_text("utf-8"))).seeds == 1
    else:
        assert specification(str(path), settings={}, training={}).steps


def test_the_page_with_the_figures_names_all_of_them_and_no_others() -> None:
    page = (ROOT / "docs" / "experiments.md").read_text("utf-8")
    named = set(re.findall(r"([\w-]+)\.toml", page))
    assert named == {path.stem for path in FILES}
