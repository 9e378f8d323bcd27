"""``generate(recipe=…)``: the good set and the paper's from one workspace, and what each says of itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import SettingsError
from kgqa.recipes.qangaroo.samples import Samples
from kgqa.runs.workspace import Workspace
from tests import contents
from tests.conftest import Cli

BEFORE = ["read_sources", "link_mentions", "build_store", "project_edges", "ask_questions"]
PAPER = "the paper's recipe"


def manifest(report: kgqa.Report) -> dict[str, Any]:
    return json.loads((report.dataset / "manifest.json").read_text("utf-8"))  # type: ignore[no-any-return]


def samples(workspace: Path) -> Samples:
    with Workspace(workspace) as place:
        return Samples.from_table(place.read_table("samples"))


def test_the_papers_recipe_replaces_the_good_set_and_back_to_the_same_bytes(wikidata_copy: Path) -> None:
    good = kgqa.generate("wikidata", workspace=wikidata_copy, recipe="entailed")
    first = contents.dataset(good.dataset)
    assert PAPER in good.baselines
    graded = samples(wikidata_copy).grades
    assert graded is not None
    assert (graded["confidence"] > 0).any()

    assert kgqa.plan("wikidata", workspace=wikidata_copy, recipe="paper").replaces
    paper = kgqa.generate("wikidata", workspace=wikidata_copy, recipe="paper")
    assert (paper.replaced, paper.dataset, PAPER in paper.baselines) == (True, good.dataset, False)
    assert [stage for stage in paper.reused if stage in BEFORE] == BEFORE
    assert sum(paper.counts.values()) > sum(good.counts.values())
    assert samples(wikidata_copy).grades is None
    assert not [row for row in paper.funnel if "evidence" in row.setting]
    assert manifest(paper)["passed"]["recipe"] == "paper"

    again = kgqa.generate("wikidata", workspace=wikidata_copy, recipe="entailed")
    assert again.replaced
    assert manifest(again)["passed"]["recipe"] == "entailed"
    assert contents.dataset(again.dataset) == first


def test_the_baselines_of_the_papers_recipe_are_those_of_the_set_that_it_makes(tmp_path: Path, wikidata_copy: Path) -> None:
    """On the card of the good set they stand beside its own."""
    good = kgqa.generate("wikidata", workspace=wikidata_copy, recipe="entailed")
    paper = kgqa.generate("wikidata", workspace=tmp_path / "paper", recipe="paper")
    said, made = (
        {(score["split"], score["baseline"]): (score["samples"], score["accuracy"]) for score in scores if score["baseline"] != "random"}
        for scores in (good.baselines[PAPER], list(paper.baselines.values())[-1])
    )
    assert said == made
    assert {split: samples for (split, _), (samples, _) in said.items()} == {"dev": paper.counts["dev"], "test": paper.counts["test"]}


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.thorough), 5])
def test_the_good_set_does_not_depend_on_the_workers(workers: int, tmp_path: Path, seed_wikidata: Path) -> None:
    report = kgqa.generate("wikidata", workspace=tmp_path / "w", workers=workers)
    there = json.loads((seed_wikidata / "datasets" / report.dataset.name / "manifest.json").read_text("utf-8"))
    assert manifest(report)["content"] == there["content"]


@pytest.mark.parametrize("call", [kgqa.generate, kgqa.plan])
@pytest.mark.parametrize(
    ("recipe", "said"), [("papr", "did you mean paper?"), ("best", "choose one of entailed, iirc, paper, strategyqa.")]
)
def test_a_recipe_that_the_domain_lacks_leaves_nothing_behind(call: Any, recipe: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"the domain has no recipe '{recipe}'; .*{said}"):
        call("wikidata", workspace=tmp_path / "w", recipe=recipe)
    assert not (tmp_path / "w").exists()


def test_the_command_takes_the_recipe(tmp_path: Path, cli: Cli) -> None:
    outcome = cli("generate", "--domain", "wikidata", "--recipe", "paper", "--workspace", tmp_path / "w")
    assert outcome.status == 0, outcome.err
    direct = kgqa.generate("wikidata", recipe="paper", workspace=tmp_path / "direct")
    content = json.loads((tmp_path / "w" / "datasets" / direct.dataset.name / "manifest.json").read_text("utf-8"))
    assert content["content"] == manifest(direct)["content"]
    assert "qangaroo.evidence" not in outcome.out
