"""Every command that a command names as the next one runs, on every kind of set."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.command import ROOT, Outcome
from tests.conftest import Cli
from tests.languages.drawing import LANGUAGES, write_set as write_language
from tests.small_questions import question, write_set
from tests.small_single_hops import single_hop

PRINTS = {"compose", "contrast", "generate", "import_files", "load", "predict", "split", "train"}
"""The commands that name a next one."""


def following(outcome: Outcome, folder: Path) -> list[list[str]]:
    """The commands that an output names, with a place for what it leaves open."""
    assert outcome.status == 0, outcome.err
    lines, commands = outcome.out.splitlines(), []
    for at, line in enumerate(lines):
        if line.startswith("Next: "):
            items = [line.removeprefix("Next: "), *(more.strip() for more in lines[at + 1 :] if more.startswith("      kgqa "))]
            commands += [command.partition(", or Neo4j Browser")[0] for command in items]
    assert commands, outcome.out
    assert all(command.startswith("kgqa ") for command in commands)
    open_places = {"DIR": folder / "official", "FILE": folder / "predictions.json", "RUN": folder / "run", "METRIC": "musique"}
    return [[str(open_places.get(word, word)) for word in shlex.split(command)[1:]] for command in commands]


def run_all(outcome: Outcome, folder: Path, cli: Cli, *, skip: tuple[str, ...] = ()) -> list[Outcome]:
    """Run what it names, and return how each ended."""
    folder.mkdir()
    ended = []
    for command in following(outcome, folder):
        if command[0] not in skip:
            ended.append(cli(*command))
            assert ended[-1].status == 0, (command, ended[-1].err)
            assert ended[-1].out or (folder / "official").exists()
    return ended


def test_no_command_names_a_next_one_unnoticed() -> None:
    named = {path.stem for path in (ROOT / "kgqa" / "cli").glob("*.py") if re.search(r"\bNext: ", path.read_text("utf-8"))}
    assert named == PRINTS


@pytest.mark.parametrize("domain", ["wikidata", pytest.param("medline", marks=pytest.mark.slow)])
def test_after_generate_and_load(domain: str, tmp_path: Path, cli: Cli) -> None:
    workspace = tmp_path / "a workspace"
    run_all(cli("generate", "--domain", domain, "--workspace", workspace), tmp_path / "made", cli)
    (dataset,) = (workspace / "datasets").iterdir()
    result = cli("load", "--store", "embedded", "--workspace", workspace, "--dataset", dataset.name)
    run_all(result, tmp_path / "loaded", cli)


def test_after_importing_a_graph_and_its_texts(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, out = ROOT / "seeds" / "wikidata", tmp_path / "an import"
    monkeypatch.chdir(tmp_path)
    texts = cli("import", "texts", seed / "documents.jsonl", "--out", out, "-o", "about=entity")
    assert "No entities and no facts so far: import files that have them" in texts.out
    cli(
        "import",
        "nodes",
        seed / "entities.tsv",
        "--out",
        out,
        "-o",
        "label=label",
        "-o",
        "aliases=aliases",
        "-o",
        "description=description",
    )
    cli("import", "relations", seed / "relations.tsv", "--out", out)
    edges = cli(
        "import", "edges", seed / "triples.tsv", "--out", out, "-o", "header=false", "-o", "head=1", "-o", "relation=2", "-o", "tail=3"
    )
    (generated,) = run_all(edges, tmp_path / "next", cli)
    run_all(generated, tmp_path / "generated", cli)


def test_after_compose_from_a_graph(tmp_path: Path, cli: Cli) -> None:
    composed = cli("compose", "--domain", "wikidata", "--filter", "lexical", "--workspace", tmp_path / "w")
    shown, _ = run_all(composed, tmp_path / "next", cli)
    assert re.search(r"^Step 2: .*#1.* → .*\[.+\]$", shown.out, re.MULTILINE)
    assert "(supporting)" in shown.out


def test_after_compose_from_sets_and_what_is_made_of_them(tmp_path: Path, cli: Cli) -> None:
    composed = cli("compose", single_hop(tmp_path / "single"), "--filter", "none", "--workspace", tmp_path / "w")
    run_all(composed, tmp_path / "next", cli)
    dataset = tmp_path / "w" / "datasets" / "musique"
    for contrast in ("probe", "sufficiency"):
        result = cli("contrast", contrast, dataset, "--out", tmp_path / contrast)
        run_all(result, tmp_path / f"{contrast}-next", cli, skip=("evaluate",))  # which wants predictions
    run_all(cli("split", dataset, "--out", tmp_path / "split"), tmp_path / "split-next", cli, skip=("train",))


def test_after_train_and_predict(tmp_path: Path, cli: Cli) -> None:
    questions = write_set(tmp_path / "set", train=[question(n) for n in range(8)], dev=[question(n) for n in range(8, 12)])
    trained = cli("train", "tf-idf", questions, "--out", tmp_path / "run")
    (predicted,) = run_all(trained, tmp_path / "trained", cli)
    run_all(predicted, tmp_path / "predicted", cli)


def test_after_contrasts_in_another_language_and_what_is_predicted_on_them(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "set").mkdir()
    result = write_language(LANGUAGES["ko"], tmp_path / "set")
    shutil.copy(result, result.with_name("words_musique_train.jsonl"))
    assert cli("train", "tf-idf", tmp_path / "set", "--out", tmp_path / "run").status == 0
    for contrast in ("probe", "unanswerable"):
        made = cli("contrast", contrast, result, "--out", tmp_path / contrast)
        run_all(made, tmp_path / f"{contrast}-next", cli, skip=("evaluate",))
        predicted = cli("predict", tmp_path / "run", tmp_path / contrast, "--split", "dev", "--out", tmp_path / f"{contrast}.answers")
        run_all(predicted, tmp_path / f"{contrast}-predicted", cli)
