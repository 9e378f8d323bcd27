"""The verdict after a run: what the audit finds, how the splits differ, what limits the size; short, and the same each time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

import pytest

import kgqa
from kgqa.checks.verdict import PURPOSES, limit
from kgqa.cli.summary import print_verdict
from kgqa.cli.terminal import Terminal
from kgqa.formats.columns import OF_RECIPES
from kgqa.formats.native import write_split
from kgqa.recipes.registry import RECIPES
from kgqa.records import Candidate, Instance
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.verdict import Verdict
from kgqa.splits.makeup import makeups, skews

FACTS = ["capital", "river", "mayor"]


def sample(number: int, relation: str, chains: Sequence[Sequence[str]] = (("h", "d1", "a"),)) -> Instance:
    return Instance(
        id=f"s{number}", question=f"{relation} Town {number}", paragraphs=(), answers=("Ayo",), answer_id="a", answer_type="candidate",
        candidates=(Candidate(id="b", text="Bem"), Candidate(id="a", text="Ayo")), chains=((("h", "d9", "b"),), tuple(map(tuple, chains))),
        answerable=True, group=f"s{number}", provenance=json.dumps({"recipe": "qangaroo", "relation": relation}),
    )  # fmt: skip


def written(folder: Path, splits: Mapping[str, Sequence[Instance]]) -> Path:
    for split, instances in splits.items():
        write_split(instances, folder / f"{split}.parquet", OF_RECIPES)
    return folder


def test_a_relation_that_only_one_split_has_is_told(tmp_path: Path) -> None:
    dev = [sample(number, "P47" if number < 42 else "P36") for number in range(50)]
    test = [sample(number, "P36") for number in range(100, 150)]
    splits = makeups(written(tmp_path, {"dev": dev, "test": test}), {"P47": "border"})
    assert [str(skew) for skew in skews(splits)] == ["Relation 'border': 84% of dev, 0% of test."]
    assert splits["dev"].share("relation", "border") == 0.84
    assert splits["dev"].most("answer", 1) == [("Ayo", 50)]


def test_a_split_that_is_too_small_to_tell_is_left_out(tmp_path: Path) -> None:
    train = [sample(number, FACTS[number % 3]) for number in range(90)]
    splits = makeups(written(tmp_path, {"train": train, "test": [sample(99, "capital")]}), {})
    assert skews(splits) == []


def test_shapes_count_the_shortest_chain_to_the_answer(tmp_path: Path) -> None:
    chains = [("h", "d1", "x", "d2", "y", "d3", "a"), ("h", "d1", "x", "d2", "a")]
    splits = makeups(written(tmp_path, {"train": [sample(1, "P/^Q", chains), sample(2, "P/^Q")]}), {"Q": "mayor", "P/^Q": "of → mayor"})
    assert splits["train"].counts["shape"] == {"2 documents": 1, "1 document": 1}
    assert splits["train"].counts["relation"] == {"of → mayor": 2}
    assert splits["train"].counts["last"] == {"mayor": 2}


def test_the_rule_that_dropped_most_questions_limits_the_size() -> None:
    rows = [
        FunnelRow(stage="link", what="names", reason="short", removed=900, left=1, setting="x"),
        FunnelRow(stage="filter", what="questions", reason="few candidates", removed=30, left=4, setting="qangaroo.min_candidates"),
        FunnelRow(stage="filter", what="questions", reason="too long", removed=2, left=2, setting="y"),
    ]
    assert limit(rows) == ("few candidates: 30 questions dropped; its setting is qangaroo.min_candidates.", "qangaroo.min_candidates")
    assert limit(rows[:1]) == ("", "")


def test_each_recipe_has_a_purpose() -> None:
    assert set(PURPOSES) == {*RECIPES, "paper"}


def shown(verdict: Verdict, dataset: Path) -> list[str]:
    """The lines on a terminal of 80 columns, those counted twice that it breaks."""
    console = Terminal()
    console.file = StringIO()
    print_verdict(console, verdict, str(dataset))
    return [line[at : at + 80] for line in console.file.getvalue().splitlines() for at in range(0, len(line), 80)]


@pytest.mark.parametrize("domain", ["wikidata", "medline", "companies"])
def test_the_verdict_is_what_the_audit_finds(domain: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    workspace: Path = request.getfixturevalue(f"seed_{domain}")
    report = kgqa.generate(domain, workspace=workspace)
    audited = kgqa.audit(report.dataset, out=tmp_path / "audit")
    wrong = [finding.check for finding in audited.findings if finding.state == "found"]
    assert [text.partition(":")[0] for text in report.verdict.findings] == wrong
    card = (report.dataset / "README.md").read_text("utf-8")
    assert card.index("## Size") < card.index("## Verdict") < card.index("## How to load it")
    assert "| relation, % of the questions | train | dev | test |" in card
    assert len(shown(report.verdict, Path("workspace/datasets/wikihop"))) <= 12


def test_a_dataset_without_a_verdict_gets_one(wikidata_copy: Path) -> None:
    folder = wikidata_copy / "datasets" / "wikihop"
    before = (folder / "README.md").read_bytes()
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    verdict = manifest.pop("verdict")
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    report = kgqa.generate("wikidata", workspace=wikidata_copy)
    assert report.verdict.as_entry() == verdict
    assert (folder / "README.md").read_bytes() == before
    assert kgqa.generate("wikidata", workspace=wikidata_copy).reused[-1] == "write_dataset"


@pytest.mark.slow
def test_composed_questions_get_a_verdict(tmp_path: Path) -> None:
    made = kgqa.compose(domain="companies", workspace=tmp_path / "w")
    (best,) = made.verdict.shortcuts
    assert best.startswith("Best shortcut baseline on dev and test: ")
    assert ", chance " in best
    card = (made.dataset / "README.md").read_text("utf-8")
    for kind in ("relation", "last hop", "shape", "answer"):
        assert f"| {kind}, % of the questions | train | dev | test |" in card
    assert len(shown(made.verdict, Path("workspace/datasets/musique"))) <= 12
    shutil.rmtree(made.dataset)
    again = kgqa.compose(domain="companies", workspace=tmp_path / "w")
    assert (again.dataset / "README.md").read_text("utf-8") == card
