"""Without the Neo4j driver, whatever needs it says in one sentence how to get it, and all else works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT

SENTENCE = "kgqa: the Neo4j driver is not installed; run: pip install 'kgqa[neo4j]'\n"


def kgqa_without_driver(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in an interpreter in which importing neo4j fails as where it is not installed."""
    program = f"import sys; sys.modules['neo4j'] = None; sys.argv = {['kgqa', *map(str, arguments)]!r}; from kgqa.cli import main; main()"
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(Path.home()), "COLUMNS": "200"}
    return subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "--domain", "wikidata", "--workspace", "new", "--store", "neo4j"],
        ["query", "hubs", "--workspace", "WORKSPACE", "--store", "neo4j"],
        ["query", "--cypher", "MATCH (n) RETURN n.id", "--workspace", "WORKSPACE", "--store", "neo4j"],
        ["load", "--workspace", "WORKSPACE", "--store", "neo4j"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_the_driver_gives_the_install_line(arguments: list[str], seed_wikidata: Path, tmp_path: Path) -> None:
    result = kgqa_without_driver(*(str(seed_wikidata) if part == "WORKSPACE" else part for part in arguments), folder=tmp_path)
    assert (result.returncode, result.stderr) == (2, SENTENCE)
    assert not list(tmp_path.rglob("*.parquet"))


def test_the_doctor_says_it_and_examines_the_embedded_store(tmp_path: Path) -> None:
    result = kgqa_without_driver("doctor", "--queries", "5", folder=tmp_path)
    assert "the Neo4j driver is not installed; run: pip install 'kgqa[neo4j]'" in " ".join(result.stdout.split())
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("arguments", [["query", "hubs", "--workspace", "WORKSPACE"], ["export", "neo4j"]], ids=["query", "export"])
def test_what_needs_no_server_needs_no_driver(arguments: list[str], seed_wikidata: Path, tmp_path: Path) -> None:
    if arguments[0] == "export":
        arguments = ["export", "--to", "neo4j", "out", "--workspace", str(seed_wikidata)]
    result = kgqa_without_driver(*(str(seed_wikidata) if part == "WORKSPACE" else part for part in arguments), folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
