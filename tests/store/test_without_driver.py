"""Without the Neo4j driver, whatever needs it says in one sentence how to get it, and all else works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT

SENTENCE = "kgqa: the Neo4j driver is not installed; run: pip install 'kgqa[neo4j]'\n"
NEEDING = {
    "generate": ["generate", "--domain", "wikidata", "--workspace", "new", "--store", "neo4j"],
    "query": ["query", "hubs", "--workspace", "WORKSPACE", "--store", "neo4j"],
    "cypher": ["query", "--cypher", "MATCH (n) RETURN n.id", "--workspace", "WORKSPACE", "--store", "neo4j"],
    "load": ["load", "--workspace", "WORKSPACE", "--store", "neo4j"],
}
NOT_NEEDING = {
    "query here": ["query", "hubs", "--workspace", "WORKSPACE"],
    "export": ["export", "--to", "neo4j", "out", "--workspace", "WORKSPACE"],
}
DOCTOR = {"doctor": ["doctor", "--queries", "5"]}
PROGRAM = """
import contextlib, io, json, sys
sys.modules["neo4j"] = None
from kgqa.cli import main
ended = {}
for name, arguments in json.load(sys.stdin).items():
    sys.argv = ["kgqa", *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as end:
            ended[name] = end.code, out.getvalue(), err.getvalue()
print(json.dumps(ended))
"""
"""Commands one after the other in an interpreter in which importing neo4j fails as where it is not installed."""

Ended = dict[str, tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("without")


@pytest.fixture(scope="module")
def ended(seed_wikidata: Path, folder: Path) -> Ended:
    """Name → status, output and errors of each command."""
    commands = {
        name: [str(seed_wikidata) if part == "WORKSPACE" else part for part in arguments]
        for name, arguments in {**NEEDING, **DOCTOR, **NOT_NEEDING}.items()
    }
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(Path.home()), "COLUMNS": "200"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=folder, env=environment, input=json.dumps(commands), capture_output=True, text=True, check=True)
    return {name: tuple(end) for name, end in json.loads(done.stdout).items()}


@pytest.mark.parametrize("name", NEEDING)
def test_what_needs_the_driver_gives_the_install_line(name: str, ended: Ended, folder: Path) -> None:
    status, _, errors = ended[name]
    assert (status, errors) == (2, SENTENCE)
    assert not (folder / "new").exists()


def test_the_doctor_says_it_and_examines_the_embedded_store(ended: Ended) -> None:
    _, out, errors = ended["doctor"]
    assert "the Neo4j driver is not installed; run: pip install 'kgqa[neo4j]'" in " ".join(out.split())
    assert "Traceback" not in errors


@pytest.mark.parametrize("name", NOT_NEEDING)
def test_what_needs_no_server_needs_no_driver(name: str, ended: Ended) -> None:
    status, out, errors = ended[name]
    assert (status, errors) == (0, "")
    assert out
