"""A spaCy pipeline decides on types where it is asked to, as strictly as the paper: what it does not tag is of no type."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import MissingInput, SettingsError
from tests.small_single_hops import LANDS, TOWNS, single_hop

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    spacy = pytest.importorskip("spacy", reason="the extra [spacy] is not installed")


def pipeline(folder: Path, labels: dict[str, tuple[str, ...]]) -> Path:
    """A real one, which knows names by a list."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        language = spacy.blank("en")
        ruler = language.add_pipe("entity_ruler")
        ruler.add_patterns([{"label": label, "pattern": name} for label, names in labels.items() for name in names])
        language.to_disk(folder)
    return folder


def composed(folder: Path, name: Path | str) -> kgqa.Composition:
    toml = folder / "own.toml"
    toml.write_text(f'extends = "questions"\n[musique.pairs]\nspacy = "{name}"\n', "utf-8")
    return kgqa.compose(folder / "set", domain=toml, filter="none", workspace=folder / "w")


def test_only_what_is_tagged_alike_is_paired(tmp_path: Path) -> None:
    single_hop(tmp_path / "set")
    plain = kgqa.compose(tmp_path / "set", filter="none", workspace=tmp_path / "plain")
    [table] = [row.left for row in plain.funnel if row.reason.startswith("a search for the answer")]
    place = pipeline(tmp_path / "tagger", {"TOWN": TOWNS, "LAND": LANDS[:3]})
    output = composed(tmp_path, place)
    [row] = [row for row in output.funnel if "spaCy" in row.reason]
    assert (row.removed, row.left) == (len(LANDS) - 3, table - (len(LANDS) - 3) if table else None)
    # Another pipeline at the same place is another one.
    again = composed(tmp_path, pipeline(place, {"TOWN": TOWNS[:4]}))
    assert "find_pairs" not in again.reused
    [row] = [row for row in again.funnel if "spaCy" in row.reason]
    assert row.left == 4


def test_a_pipeline_that_cannot_be_used(tmp_path: Path) -> None:
    single_hop(tmp_path / "set")
    with pytest.raises(MissingInput, match="the pipeline en_nowhere cannot be loaded"):
        composed(tmp_path, "en_nowhere")
    with pytest.raises(MissingInput, match="cannot be loaded"):
        composed(tmp_path, tmp_path / "set")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(SettingsError, match="recognises no entities"):
        composed(tmp_path, tmp_path / "blank")
    assert not (tmp_path / "w").exists()
