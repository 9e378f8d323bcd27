"""One workspace for all datasets of a domain: the recipes share what they can, and each dataset is that of a workspace of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kgqa
from tests import contents
from tests.test_bad_input import copy_of_seeds

OWN = """
extends = "companies"
name = "mine"
dataset = "mines"
seed_domain = "companies"
[iirc]
min_links = 1
"""
Run = Callable[..., kgqa.Report | kgqa.Composition]
RECIPES: dict[str, Run] = {
    "mines": kgqa.generate,
    "mines-musique": lambda domain, **options: kgqa.compose(domain=domain, filter="lexical", **options),
    "mines-iirc": lambda domain, **options: kgqa.generate(domain, recipe="iirc", **options),
    "mines-strategyqa": lambda domain, **options: kgqa.generate(domain, recipe="strategyqa", **options),
}
"""Dataset → what makes it."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("domain") / "mine.toml"
    path.write_text(OWN, "utf-8")
    return path


@pytest.fixture(scope="module")
def fresh(own: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """Each dataset, made in a workspace of its own."""
    place = tmp_path_factory.mktemp("fresh")
    return {name: contents.dataset(run(own, workspace=place / name).dataset) for name, run in RECIPES.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "order", [pytest.param(list(RECIPES), marks=pytest.mark.thorough), list(reversed(RECIPES))], ids=["generate first", "generate last"]
)
def test_all_datasets_of_a_domain_fit_in_one_workspace(
    order: list[str], own: Path, fresh: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    reused = {}
    for name in order:
        report = RECIPES[name](own, workspace=tmp_path)
        assert report.dataset == tmp_path / "datasets" / name
        assert not report.changed
        reused[name] = set(report.reused)
    for name, files in fresh.items():
        assert contents.dataset(tmp_path / "datasets" / name) == files
    for name in order[1:]:
        assert "read_sources" in reused[name]
    # Names of WikiHop's candidates are linked more freely; the other recipes ask about all entities and have one linking.
    others = [name for name in order if name != "mines"]
    for name in others[1:]:
        assert {"read_sources", "link_mentions", "build_store"} <= reused[name]
    assert "find_values" in reused[[name for name in order if name in {"mines-iirc", "mines-strategyqa"}][1]]
    for run in RECIPES.values():  # again, and every dataset is there already
        report = run(own, workspace=tmp_path)
        assert "write_dataset" in report.reused
        assert not report.replaced


@pytest.mark.slow
def test_a_corrected_file_is_named_and_repeats_only_what_it_changes(tmp_path: Path) -> None:
    source, workspace = copy_of_seeds(tmp_path), tmp_path / "w"
    path = tmp_path / "mine.toml"
    path.write_text('extends = "wikidata"\nname = "mine"\ndataset = "mines"\n', "utf-8")
    commands: list[Run] = [kgqa.generate, RECIPES["mines-musique"]]
    for run in commands:
        run(path, source=source, workspace=workspace)
    triples = source / "triples.tsv"
    lines = triples.read_bytes().splitlines(keepends=True)
    triples.write_bytes(b"".join([*lines, lines[-1]]))  # a repeated fact changes nothing
    first, second = (run(path, source=source, workspace=workspace) for run in commands)
    assert (first.changed, second.changed) == (["triples.tsv"], [])
    assert "read_sources" not in first.reused
    assert {"project_edges", "ask_questions", "traverse", "filter_samples"} <= set(first.reused)
    assert {"read_sources", "single_hop", "find_pairs", "make_chains", "compose_questions"} <= set(second.reused)
    triples.write_bytes(b"".join(lines[:-3]))  # fewer facts change all that is made of them
    again = [run(path, source=source, workspace=workspace) for run in commands]
    assert again[0].changed == ["triples.tsv"]
    assert "ask_questions" not in again[0].reused
    for run, report in zip(commands, again, strict=True):
        alone = run(path, source=source, workspace=tmp_path / f"fresh-{report.dataset.name}")
        assert contents.dataset(report.dataset) == contents.dataset(alone.dataset)


def test_words_that_only_a_later_stage_writes_are_not_those_of_an_earlier_run(tmp_path: Path) -> None:
    """The phrase of a template is in no table before the questions are composed."""
    path = tmp_path / "mine.toml"
    for phrase in ("the maker of {head}", "the producer of {head}"):
        path.write_text(
            f'extends = "companies"\nname = "mine"\nseed_domain = "companies"\n[musique.templates.made_by]\nphrase = "{phrase}"\n', "utf-8"
        )
        report = kgqa.compose(domain=path, filter="none", workspace=tmp_path / "w")
        questions = [instance.question for split in report.counts for instance in kgqa.open_dataset(report.dataset).read(split)]
        assert any(phrase.partition("{")[0] in question for question in questions)
