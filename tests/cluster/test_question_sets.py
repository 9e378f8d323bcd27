"""Audits, contrasts and predictions on three nodes have the bytes of those on threads."""

from __future__ import annotations

from pathlib import Path

import pytest

import kgqa
from tests.cluster.conftest import Nodes
from tests.command import run_command
from tests.conftest import Cli


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Composed questions of a small domain."""
    return kgqa.compose(domain="companies", workspace=tmp_path_factory.mktemp("composed")).dataset


@pytest.fixture(scope="module")
def medhop(seed_medline: Path) -> Path:
    """Questions with candidates of another."""
    return seed_medline / "datasets" / "medhop"


def run(*arguments: str | Path) -> None:
    outcome = run_command(*arguments, seconds=300)
    assert outcome.status == 0, outcome.err


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in {".parquet", ".json", ".html"}}


def test_audit(cluster: Nodes, medhop: Path, composed: Path, tmp_path: Path) -> None:
    for out, more in (("threads", []), ("nodes", ["--cluster", cluster.address])):
        run("audit", medhop, "--against", composed, "--out", tmp_path / out, *more)
    assert contents(tmp_path / "nodes") == contents(tmp_path / "threads")


@pytest.mark.parametrize("kind", ["probe", "adversarial", "unanswerable", "document-removal"])
def test_contrast(cluster: Nodes, medhop: Path, composed: Path, tmp_path: Path, kind: str) -> None:
    dataset = medhop if kind == "document-removal" else composed
    made = [kgqa.contrast(kind, dataset, out=tmp_path / out, cluster=on) for out, on in (("threads", None), ("nodes", cluster.address))]
    assert made[0].counts == made[1].counts
    assert made[0].funnel == made[1].funnel
    tables = [{name: data for name, data in contents(each.dataset).items() if name != "manifest.json"} for each in made]
    assert tables[0] == tables[1]
    assert len(tables[0]) > 1


@pytest.mark.parametrize("reader", ["majority", "document-cue", "tf-idf"])
def test_predict(cluster: Nodes, medhop: Path, tmp_path: Path, reader: str) -> None:
    kgqa.train(reader, medhop, out=tmp_path / "run")
    kgqa.predict(tmp_path / "run", medhop, out=tmp_path / "threads.json")
    kgqa.predict(tmp_path / "run", medhop, out=tmp_path / "nodes.json", cluster=cluster.address)
    assert (tmp_path / "nodes.json").read_bytes() == (tmp_path / "threads.json").read_bytes()


@pytest.mark.parametrize("command", ["audit", "contrast", "predict", "import"])
def test_what_is_no_cluster_is_one_sentence(medhop: Path, tmp_path: Path, cli: Cli, command: str) -> None:
    if command == "predict":
        kgqa.train("majority", medhop, out=tmp_path / "run")
    text = tmp_path / "texts.jsonl"
    text.write_text('{"id": "1", "title": "T", "text": "word"}\n')
    arguments_of: dict[str, list[str | Path]] = {
        "audit": [medhop],
        "contrast": ["document-removal", medhop],
        "predict": [tmp_path / "run", medhop],
        "import": ["texts", text],
    }
    arguments = arguments_of[command]
    outcome = cli(command, *arguments, "--out", tmp_path / "out", "--cluster", "nonsense")
    outcome.sentence("--cluster 'nonsense' is no address of a cluster; give auto, HOST:PORT or ray://HOST:PORT.")
    assert not (tmp_path / "out").exists()
    assert cli(command, *arguments, "--out", tmp_path / "out", "--cluster", "none").status == 0


def test_an_endpoint_is_asked_from_one_process(medhop: Path, tmp_path: Path, cli: Cli) -> None:
    arguments = ["predict", "llm", medhop, "--model", "m", "--endpoint", "http://127.0.0.1:9", "--out", tmp_path / "p"]
    cli(*arguments, "--cluster", "auto").sentence("--cluster is for readers that run on the nodes, but the reader is llm; leave it out.")
