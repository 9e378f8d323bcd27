"""``qangaroo.bias.min_filtered``: the size from which the limits on shortcuts apply to a split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kgqa

SHARE = 0.4
DOMAIN = """
extends = "wikidata"
seed_domain = "wikidata"
[qangaroo.evidence]
use = false
[qangaroo.splits]
train = 0.5
dev = 0.25
test = 0.25
[qangaroo.bias]
position_share = {share}
min_filtered = {least}
"""


def made(folder: Path, least: int) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The sizes of the splits, and the last scores of the baselines."""
    folder.mkdir()
    (folder / "own.toml").write_text(DOMAIN.format(share=SHARE, least=least), "utf-8")
    result = kgqa.generate(folder / "own.toml", workspace=folder / "w")
    assert result.dataset is not None
    text = (result.dataset / "manifest.json").read_text("utf-8")
    return dict(result.counts), baselines_of(json.loads(text))


def baselines_of(manifest: Any) -> list[dict[str, Any]]:
    if isinstance(manifest, dict):
        if "baselines" in manifest:
            return next(scores for stage, scores in manifest["baselines"].items() if "position_share" in stage)
        return next((found for part in manifest.values() if (found := baselines_of(part))), [])
    return []


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_small_split_is_filtered_if_the_domain_says_so(split: str, tmp_path: Path) -> None:
    counts, _ = made(tmp_path / "kept", 100)
    fewer, scores = made(tmp_path / "filtered", 20)
    assert 20 < fewer[split] < counts[split] < 100
    (bridge,) = (score for score in scores if (score["split"], score["baseline"]) == (split, "first bridge"))
    assert bridge["accuracy"] <= max(SHARE, bridge["chance"])
