"""``kgqa relations``: the figures are those of the tables, the verdicts those of the run, and mistakes are sentences.

The seed domains' own recipe does not grade chains, and measures no relations; their variant ``entailed`` does.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import kgqa
from kgqa.errors import KgqaError
from kgqa.recipes.qangaroo.relation_figures import ASKED
from tests import contents
from tests.conftest import Cli


def counted(workspace: Path, table: str) -> Counter[int]:
    """Rows of each relation, by its row."""
    return Counter(pl.read_parquet(workspace / "tables" / f"{table}.parquet", columns=["relation"])["relation"].to_list())


@pytest.fixture(scope="module")
def entailed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Finished workspaces of seed domains, by domain."""
    folder = tmp_path_factory.mktemp("entailed")
    for name in ("wikidata", "medline"):
        kgqa.generate(name, workspace=folder / name, recipe="entailed")
    return {name: folder / name for name in ("wikidata", "medline")}


@pytest.fixture(params=["wikidata", "medline"])
def found(request: pytest.FixtureRequest, entailed: dict[str, Path]) -> tuple[Path, kgqa.Relations]:
    """A finished workspace of a seed domain, and its relations."""
    workspace = entailed[request.param]
    return workspace, kgqa.relations(request.param, workspace=workspace, recipe="entailed", sort="id")


def test_every_relation_has_the_figures_of_the_tables(found: tuple[Path, kgqa.Relations]) -> None:
    workspace, report = found
    ids = pl.read_parquet(workspace / "tables" / "relations.parquet")["id"].to_list()
    assert [one.id for one in report.relations] == ids
    for name, table in (("questions", "questions"), ("reached", "plain"), ("kept", "kept")):
        rows = counted(workspace, table)
        assert [getattr(one, name) for one in report.relations] == [rows[row] for row in range(len(ids))]
    assert report.is_seed
    assert not report.remark


def test_measures_are_those_of_the_training_facts(entailed: dict[str, Path]) -> None:
    tables = entailed["wikidata"] / "tables"
    train = pl.read_parquet(tables / "questions.parquet").filter(pl.col("split") == 0)
    relations = kgqa.relations("wikidata", workspace=entailed["wikidata"], recipe="entailed", sort="id").relations
    for row, one in enumerate(relations):
        mine = train.filter(pl.col("relation") == row)
        if len(mine):
            assert (one.facts, one.subjects, one.objects) == (len(mine), mine["head"].n_unique(), mine["answer"].n_unique())
            assert one.objects_per_subject == pytest.approx(one.facts / one.subjects)
            assert one.subjects_per_object == pytest.approx(one.facts / one.objects)


def test_what_is_kept_is_asked_and_nothing_else(found: tuple[Path, kgqa.Relations]) -> None:
    for one in found[1].relations:
        assert (one.verdict == ASKED) == bool(one.kept)
        assert one.implied is not None
        assert (one.kept or 0) <= one.implied
        assert one.share_implied is None or 0 <= one.share_implied <= 1


def test_a_finished_workspace_and_its_dataset_stay_as_they_are(entailed: dict[str, Path]) -> None:
    before = contents.files(entailed["wikidata"])
    kgqa.relations("wikidata", workspace=entailed["wikidata"], recipe="entailed")
    assert contents.files(entailed["wikidata"]) == before


def test_no_dataset_is_written_and_workers_change_nothing(tmp_path: Path, entailed: dict[str, Path]) -> None:
    result = kgqa.relations("medline", workspace=tmp_path / "w", recipe="entailed", workers=3)
    assert not (tmp_path / "w" / "datasets").exists()
    assert result == kgqa.relations("medline", workspace=entailed["medline"], recipe="entailed", workers=1)


def test_the_file_has_all_columns_in_the_order_asked_for(entailed: dict[str, Path], tmp_path: Path, cli: Cli) -> None:
    arguments = ("--recipe", "entailed", "--workspace", entailed["wikidata"], "--sort", "text_lift", "--out", tmp_path / "r.tsv")
    outcome = cli("relations", "wikidata", *arguments)
    assert outcome.status == 0, outcome.err
    assert f"Written: {tmp_path / 'r.tsv'}" in outcome.out
    with (tmp_path / "r.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    report = kgqa.relations("wikidata", workspace=entailed["wikidata"], recipe="entailed", sort="text_lift")
    assert [row["id"] for row in rows] == [one.id for one in report.relations]
    assert [row["verdict"] for row in rows] == [one.verdict for one in report.relations]
    lifts = [float(row["text_lift"] or -1) for row in rows]
    assert lifts == sorted(lifts, reverse=True)
    asked = sum(row["verdict"] == ASKED for row in rows)
    assert f"{asked} of {len(rows)} relations become questions." in outcome.out
    for verdict, count in Counter(row["verdict"] for row in rows).items():
        assert verdict == ASKED or f"{count} not, because {verdict}." in outcome.out


def test_the_card_has_the_relations_and_the_papers_recipe(entailed: dict[str, Path], tmp_path: Path) -> None:
    card = (entailed["wikidata"] / "datasets" / "wikihop" / "README.md").read_text("utf-8")
    report = kgqa.relations("wikidata", workspace=entailed["wikidata"], recipe="entailed")
    for one in report.relations:
        assert not one.kept or f"| {one.label} | {one.kept:,} | {one.reached:,} | {one.implied:,} |" in card
    for verdict, count in Counter(one.verdict for one in report.relations if one.verdict != ASKED).items():
        assert f"| {count} | {verdict} |" in card
    plain = kgqa.generate("wikidata", recipe="paper", workspace=tmp_path / "w")
    alone = (plain.dataset / "README.md").read_text("utf-8")
    assert "## Comparison with the paper's recipe" in card
    assert "paper's recipe\n" not in alone
    assert "## Relations" not in alone


def test_the_card_has_the_domains_limits(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('extends = "wikidata"\nseed_domain = "wikidata"\nlimits = "Nobody read it."\n')
    report = kgqa.generate(tmp_path / "own.toml", workspace=tmp_path / "w")
    assert "## Limits\n\nNobody read it.\n" in (report.dataset / "README.md").read_text("utf-8")


def test_mistakes_are_sentences(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    there = tmp_path / "there.tsv"
    there.write_text("mine")
    for arguments, parts in (
        (["--sort", "kep"], ("no column 'kep'", "kept")),
        (["--recipe", "paper"], ("domain wikidata", "chains must imply their answer", "--recipe entailed", "qangaroo.evidence.use")),
        (["--out", str(there)], ("there.tsv", "already there")),
        (["--workers", "0"], ("workers",)),
    ):
        cli("relations", "wikidata", "--workspace", seed_wikidata, *arguments).sentence(*parts)
    cli("relations", "wikidatta", "--workspace", seed_wikidata).sentence("wikidatta", "wikidata")
    assert there.read_text() == "mine"
    for place, part in ((there / "x.tsv", "there.tsv is a file"), (tmp_path / "none" / "x.tsv", "there is no folder")):
        outcome = cli("relations", "wikidata", "--workspace", tmp_path / "w", "--out", place)
        outcome.sentence(str(place), part, "--out")
        assert not (tmp_path / "w").exists()  # known before anything is done
    with pytest.raises(KgqaError):
        kgqa.relations("wikidata", workspace=seed_wikidata, sort="kep")


def test_a_domain_of_which_no_relation_is_left_is_measured_all_the_same(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(
        'extends = "wikidata"\nseed_domain = "wikidata"\n[qangaroo.evidence]\nuse = true\nmax_objects = 0.5\n'
    )
    cli("generate", "--domain", tmp_path / "own.toml", "--workspace", tmp_path / "w").sentence(
        "every relation says too little", "max_objects"
    )
    report = kgqa.relations(tmp_path / "own.toml", workspace=tmp_path / "w")
    assert "every relation says too little" in report.remark
    assert all(one.facts and one.kept is None and one.verdict != ASKED for one in report.relations if one.questions)
