"""The two examples at the end of each command's help run, as they stand there, one after the other in one folder."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from kgqa.cli.app import app
from kgqa.cli.examples import EXAMPLES
from kgqa.collection.draw import draw
from kgqa.collection.verdict_tables.table import Judgement, Table
from tests.chat_server import Reply, chat_server
from tests.collection.verdict_tables import table_text
from tests.command import COMMAND, environment
from tests.conftest import Cli
from tests.domains.small_files import write_raw_files

SERVED = ("kgqa explore", "kgqa annotate kgqa", "kgqa annotate serve")
STARTS_WITHIN = 60.0
"""Seconds until a page has an address."""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and sub-command by its full name; a group with sub-commands too."""
    group: Any = typer.main.get_group(app)
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield name, command
        for part, sub_command in getattr(command, "commands", {}).items():
            yield f"{name} {part}", sub_command


def test_every_command_ends_with_two_examples(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert EXAMPLES.keys() == dict(commands()).keys()
    for name in EXAMPLES:
        lines = cli(*name.split(), "--help").out.splitlines()
        assert lines[-3:] == ["  Examples:", *(f"    {example}" for example in EXAMPLES[name])]
        assert all(example.startswith(f"kgqa {name} ") for example in EXAMPLES[name])
        assert max(map(len, lines[:-2])) <= 80


def serve_and_stop(arguments: list[str], folder: Path) -> None:
    """Start a page, wait for its address, and stop it."""
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        seen, begin = "", time.monotonic()
        while "http://" not in seen and process.poll() is None and time.monotonic() < begin + STARTS_WITHIN:
            seen += process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert "http://" in seen, error
    assert process.returncode == 128 + signal.SIGINT, error


def write_tables(dataset: Path) -> None:
    """Tables of verdicts by two people on one draw, in the current folder."""
    drawn = draw(dataset, sample=4, seed=7)
    for reader in ("ann", "bob"):
        judgements = tuple(Judgement(sample=sample, reader=reader, verdict="follows", marks=()) for sample in drawn.splits)
        Path(f"{reader}.tsv").write_text(table_text(Table(origin=drawn.origin, judgements=judgements)), "utf-8")


def write_annotations(tasks: Path) -> None:
    """Label Studio's exports of two tasks with an annotation, in the current folder."""
    (path,) = tasks.glob("*.json")
    result = [{"from_name": "verdict", "to_name": "item", "type": "choices", "value": {"choices": ["follows"]}}]
    annotation = {"completed_by": 1, "result": result, "created_at": "2026-01-02T03:04:05Z"}
    for name, task in zip(("done", "more"), json.loads(path.read_text("utf-8")), strict=False):
        Path(f"{name}.json").write_text(json.dumps([{**task, "annotations": [annotation]}]), "utf-8")


def prepare(name: str) -> None:
    """Make what the examples of a command take for granted, in the current folder."""
    dataset = Path("kgqa-workspace/datasets/wikihop")
    if name == "import":
        write_raw_files(Path())
    elif name == "annotate import":
        write_annotations(Path("tasks"))
    elif name == "annotate figures":
        write_tables(dataset)


def judged(_: dict[str, Any]) -> Reply:
    return Reply(content=json.dumps({"note": "It says so.", "verdict": "follows", "marks": [], "candidate": ""}))


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.chdir(tmp_path)
    with chat_server(judged) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        for name, examples in EXAMPLES.items():
            prepare(name)
            for example in examples:
                _, *arguments = shlex.split(example)
                if example.startswith(SERVED) and "--print" not in arguments:
                    serve_and_stop(arguments, tmp_path)
                else:
                    outcome = cli(*arguments)
                    assert outcome.status == 0, (example, outcome.err)
