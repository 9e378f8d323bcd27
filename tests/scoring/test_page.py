"""The page about ``kgqa evaluate`` shows prediction files that are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kgqa.scoring.breakdown import DIMENSIONS
from kgqa.scoring.metrics import METRICS
from tests.command import ROOT

PAGE = (ROOT / "docs" / "evaluate.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r"^### (\S+)\n.*?^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_every_metric_has_its_example() -> None:
    assert list(EXAMPLES) == list(METRICS)
    assert all(dimension in PAGE for dimension in DIMENSIONS)


@pytest.mark.parametrize("metric", METRICS)
def test_the_example_is_read(metric: str, tmp_path: Path) -> None:
    file = tmp_path / "predictions.json"
    file.write_text(EXAMPLES[metric], "utf-8")
    assert set(METRICS[metric].ids(METRICS[metric].read(file))) <= {"q1", "q2", "q3", "q4", "2hop__1_2", "WH_dev_0", "MH_dev_0"}
