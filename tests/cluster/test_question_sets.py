"""Audits, contrasts and predictions on three nodes have the bytes of those on threads."""

from __future__ import annotations

from pathlib import Path

import pytest

import kgqa
from tests.cluster.conftest import Nodes
from tests.command import run_command
from tests.conftest import Cli


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the datasets of two small domains."""
    folder = tmp_path_factory.mktemp("sets")
    kgqa.generate("medline", workspace=folder)
    kgqa.compose(domain="companies", workspace=folder / "composed")
    return folder


def run(*arguments: str | Path) -> None:
    outcome = run_command(*arguments, seconds=300)
    assert outcome.status == 0, outcome.err


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in {".parquet", ".json", ".html"}}


def test_audit(cluster: Nodes, sets: Path, tmp_path: Path) -> None:
    dataset = sets / "datasets" / "medhop"
    for out, more in (("threads", []), ("nodes", ["--cluster", cluster.address])):
        run("audit", dataset, "--against", sets / "composed" / "datasets" / "musique", "--out", tmp_path / out, *more)
    assert contents(tmp_path / "nodes") == contents(tmp_path / "threads")


@pytest.mark.parametrize(
    "kind", ["probe", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("adversarial", "unanswerable", "document-removal"))]
)
def test_contrast(cluster: Nodes, sets: Path, tmp_path: Path, kind: str) -> None:
    dataset = sets / "datasets" / "medhop" if kind == "document-removal" else sets / "composed" / "datasets" / "musique"
    made = [kgqa.contrast(kind, dataset, out=tmp_path / out, cluster=on) for out, on in (("threads", None), ("nodes", cluster.address))]
    assert made[0].counts == made[1].counts
    assert made[0].funnel == made[1].funnel
    tables = [{name: data for name, data in contents(each.dataset).items() if name != "manifest.json"} for each in made]
    assert tables[0] == tables[1]
    assert len(tables[0]) > 1


@pytest.mark.parametrize("reader", ["majority", *(pytest.param(reader, marks=pytest.mark.slow) for reader in ("document-cue", "tf-idf"))])
def test_predict(cluster: Nodes, sets: Path, tmp_path: Path, reader: str) -> None:
    dataset = sets / "datasets" / "medhop"
    kgqa.train(reader, dataset, out=tmp_path / "run")
    run("predict", tmp_path / "run", dataset, "--out", tmp_path / "threads.json")
    run("predict", tmp_path / "run", dataset, "--out", tmp_path / "nodes.json", "--cluster", cluster.address)
    assert (tmp_path / "nodes.json").read_bytes() == (tmp_path / "threads.json").read_bytes()


@pytest.mark.parametrize("command", ["audit", "contrast", "predict", "import"])
def test_what_is_no_cluster_is_one_sentence(sets: Path, tmp_path: Path, cli: Cli, command: str) -> None:
    dataset = sets / "datasets" / "medhop"
    if command == "predict":
        kgqa.train("majority", dataset, out=tmp_path / "run")
    text = tmp_path / "texts.jsonl"
    text.write_text('{"id": "1", "title": "T", "text": "word"}\n')
    arguments_of: dict[str, list[str | Path]] = {
        "audit": [dataset],
        "contrast": ["document-removal", dataset],
        "predict": [tmp_path / "run", dataset],
        "import": ["texts", text],
    }
    arguments = arguments_of[command]
    outcome = cli(command, *arguments, "--out", tmp_path / "out", "--cluster", "nonsense")
    outcome.sentence("--cluster 'nonsense' is no address of a cluster; give auto, HOST:PORT or ray://HOST:PORT.")
    assert not (tmp_path / "out").exists()
    assert cli(command, *arguments, "--out", tmp_path / "out", "--cluster", "none").status == 0


def test_an_endpoint_is_asked_from_one_process(sets: Path, tmp_path: Path, cli: Cli) -> None:
    arguments = [
        "predict",
        "llm",
        sets / "datasets" / "medhop",
        "--model",
        "m",
        "--endpoint",
        "http://127.0.0.1:9",
        "--out",
        tmp_path / "p",
    ]
    cli(*arguments, "--cluster", "auto").sentence("--cluster is for readers that run on the nodes, but the reader is llm; leave it out.")
