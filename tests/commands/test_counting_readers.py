"""Readers that count are trained, asked and scored without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import environment

COUNTED = """
import sys
import kgqa
made = kgqa.generate("wikidata", workspace="work")
assert kgqa.train("majority", made.dataset, out="run").steps == 0
kgqa.predict("run", made.dataset, out="answers.json")
print(round(kgqa.evaluate(made.dataset, "answers.json").scores.official["accuracy"]), {"torch", "transformers"} & set(sys.modules))
"""


@pytest.mark.slow
def test_counting_needs_no_torch(tmp_path: Path) -> None:
    process = subprocess.run([sys.executable, "-c", COUNTED], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    accuracy, loaded = process.stdout.split(maxsplit=1)
    assert 0 <= int(accuracy) <= 100
    assert loaded.strip() == "set()"
