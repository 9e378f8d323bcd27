"""A new recipe needs a folder and one line: a toy one runs as WikiHop does, with stages, settings, funnel and manifest of its own."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import SettingsError
from kgqa.recipes.registry import RECIPES, find_recipe
from tests import contents
from tests.conftest import Cli
from tests.recipes.toy.recipe import ToySettings

TOY = ToySettings, "tests.recipes.toy.recipe"
TOML = 'extends = "wikidata"\nname = "mine"\ndataset = "toys"\nseed_domain = "wikidata"\nrecipe = "toy"\n'


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A domain that uses it; registering it is one line."""
    monkeypatch.setitem(RECIPES, "toy", TOY)
    path = tmp_path / "mine.toml"
    path.write_text(f"{TOML}[toy]\nmost = 3\n")
    return path


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_whole(name: str) -> None:
    recipe = find_recipe(name)
    assert len({stage.name for stage in recipe.stages}) == len(recipe.stages)
    assert recipe.files


def test_a_new_recipe_makes_its_dataset(toy: Path, tmp_path: Path) -> None:
    report = kgqa.generate(toy, workspace=tmp_path / "w")
    assert (report.counts, report.baselines) == ({"train": 0, "dev": 0, "test": 3}, {})
    made = list(kgqa.open_dataset(report.dataset).read("test"))
    assert [instance.question[:3] for instance in made] == ["is "] * 3
    (row,) = [row for row in report.funnel if row.stage == "ask"]
    assert (row.left, (row.removed or 0) > 100) == (3, True)
    manifest = json.loads((report.dataset / "manifest.json").read_text("utf-8"))
    assert manifest["settings"]["toy"] == {"most": 3, "verb": "is"}
    assert "qangaroo" not in manifest["settings"]
    assert set(manifest["files"]) == find_recipe("toy").files


def test_it_is_resumed_by_its_own_settings(toy: Path, tmp_path: Path) -> None:
    first = kgqa.generate(toy, workspace=tmp_path / "w")
    assert kgqa.generate(toy, workspace=tmp_path / "w").reused == [*first.seconds]
    before = contents.files(first.dataset)
    toy.write_text(f'{TOML}[toy]\nmost = 3\nverb = "was"\n')
    again = kgqa.generate(toy, workspace=tmp_path / "w")
    assert again.reused == [name for name in first.seconds if name != "write_dataset"]
    assert again.replaced
    assert contents.files(first.dataset) != before
    toy.write_text(f"{TOML}[toy]\nmost = 4\n")
    assert kgqa.plan(toy, workspace=tmp_path / "w").stages[-2:] == [("Asking facts", "to do"), ("Writing the dataset", "to do")]


def test_it_prints_as_every_run_does(toy: Path, tmp_path: Path, cli: Cli) -> None:
    outcome = cli("generate", "--domain", toy, "--workspace", tmp_path / "w")
    assert (outcome.status, "more than are asked" in outcome.out, "test 3" in outcome.out) == (0, True, True)
    assert "The train split is empty; use more data." in outcome.out
    assert "qangaroo" not in outcome.out


def test_two_recipes_take_only_shared_stages_from_each_other(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, "other", TOY)
    first = kgqa.generate(toy, workspace=tmp_path / "w")
    toy.write_text(TOML.replace('"toy"', '"other"') + "[other]\nmost = 3\n")
    shared = ["read_sources", "link_mentions", "build_store", "project_edges"]
    assert set(first.seconds) == {*shared, "ask_facts", "write_dataset"}
    assert kgqa.generate(toy, workspace=tmp_path / "w").reused == shared


def test_a_recipe_that_writes_an_undeclared_file_fails_an_assertion(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.recipes.toy.recipe.RECIPE", replace(find_recipe("toy"), files=frozenset({"train.parquet"})))
    with pytest.raises(AssertionError, match="only the files that it declares"):
        kgqa.generate(toy, workspace=tmp_path / "w")
    assert not (tmp_path / "w" / "datasets" / "toys").exists()


def test_a_recipe_cannot_be_called_like_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, "linking", TOY)
    with pytest.raises(AssertionError, match="the name of a setting"):
        kgqa.load_domain("wikidata")


def test_a_domain_goes_to_another_process(toy: Path) -> None:
    for domain in (kgqa.load_domain("wikidata"), kgqa.load_domain(toy)):
        again = pickle.loads(pickle.dumps(domain))
        assert again == domain
        assert again.settings.resolved() == domain.settings.resolved()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{TOML}[toy]\nmots = 3\n", "unknown setting 'toy.mots'; did you mean most?"),
        (f"{TOML}[toy]\nmost = 0\n", "the setting 'toy.most' cannot be 0"),
        (f"{TOML}[qangaroo]\nmax_documents = 3\n", "the recipe is toy, so [qangaroo] has no effect"),
        (TOML.replace('"toy"', '"toi"'), "the setting 'recipe' cannot be \"toi\""),
    ],
)
def test_what_it_cannot_be_told_is_refused(text: str, sentence: str, toy: Path, tmp_path: Path) -> None:
    toy.write_text(text)
    with pytest.raises(SettingsError) as refusal:
        kgqa.generate(toy, workspace=tmp_path / "w")
    assert sentence in str(refusal.value)
    assert not (tmp_path / "w").exists()
