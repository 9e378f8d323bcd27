"""The picture of a curve: every measure that there is, the same bytes each time, and a remark in place of a missing package."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from kgqa.training import curve
from kgqa.training.curve import write_curve

POINTS = [{"part": "", "step": step, "seconds": 1.0, "loss": 1 / step} for step in range(1, 9)]
SCORED = [*POINTS, {"part": "reader", "step": 8, "seconds": 1.0, "score": 0.5}]


def test_a_curve_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    assert write_curve({"_<one> & $two$": SCORED, "ee-2": POINTS}, path) is None
    first = path.read_bytes()
    texts = "".join(ElementTree.fromstring(first).itertext())
    for part in ("<one> & $two$", "ee-2", "loss, reader", "dev score", "step"):
        assert part in texts, part
    write_curve({"_<one> & $two$": SCORED, "ee-2": POINTS}, path)
    assert path.read_bytes() == first


def test_nothing_to_draw_and_nothing_to_draw_with_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no point" in str(write_curve({"ee": []}, tmp_path / "curve.svg"))
    monkeypatch.setattr(curve, "find_spec", lambda name: None)
    assert "pip install 'kgqa[readers]'" in str(write_curve({"ee": SCORED}, tmp_path / "curve.svg"))
    assert not list(tmp_path.iterdir())
