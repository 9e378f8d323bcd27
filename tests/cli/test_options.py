"""Options that mean nothing, alone or together, are never ignored: one sentence, in a dry run as in a real one."""

from __future__ import annotations

from pathlib import Path

import pytest

import kgqa
from kgqa.commands.generate import Plan
from kgqa.errors import SettingsError
from kgqa.settings.neo4j import Neo4jSettings
from tests import contents
from tests.conftest import Cli

RUNS = pytest.mark.parametrize("dry", [[], ["--dry-run"]], ids=["run", "dry run"])
ADDRESS = (("--neo4j-uri", "bolt://127.0.0.1:9"), ("--neo4j-user", "someone"), ("--neo4j-database", "other"), ("--neo4j-uri", ""))


@RUNS
@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--workers", "0"), "workers 0 is not between 1 and 256"),
        (("--workers", "9999"), "workers 9999 is not between 1 and 256"),
        (("--limit", "0"), "limit 0 is not at least 1"),
        (("--seed", "-1"), "seed -1 is not between 0 and"),
        (("--seed", "1.5"), "Invalid value for '--seed': it must be a whole number; see kgqa generate --help."),
        (("--seed", "9" * 5000), "Invalid value for '--seed': the number is too large; see kgqa generate --help."),
        (("--store", "neo4jj"), "store 'neo4jj' is not known; did you mean neo4j?"),
        (("--traversal", "cipher"), "traversal 'cipher' is not known; did you mean cypher?"),
        (("--store", "neo4j", "--neo4j-user", ""), "--neo4j-user is empty; give a value"),
        (("--store", "neo4j", "--neo4j-uri", "localhost"), "NEO4J_URI is not the address of a Neo4j server"),
        (("--store", "neo4j", "--neo4j-uri", "bolt://127.0.0.1:9"), "bolt://127.0.0.1:9: no Neo4j server answers here"),
    ],
)
def test_a_dry_run_refuses_what_a_run_refuses(dry: list[str], arguments: tuple[str, ...], part: str, tmp_path: Path, cli: Cli) -> None:
    cli("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", *arguments, *dry).sentence(part)
    assert not (tmp_path / "w").exists()


@RUNS
def test_a_dry_run_too_finds_what_a_new_dataset_would_delete(dry: list[str], wikidata_copy: Path, cli: Cli) -> None:
    (wikidata_copy / "datasets" / "wikihop" / "thesis.txt").write_text("x")
    cli("generate", "--domain", "wikidata", "--workspace", wikidata_copy, *dry).sentence("thesis.txt: kgqa did not write this")


def test_workers_are_planned_as_they_are_run(tmp_path: Path) -> None:
    assert isinstance(kgqa.plan("wikidata", workspace=tmp_path / "w", workers=3), Plan)
    with pytest.raises(SettingsError, match="workers 9999"):
        kgqa.plan("wikidata", workspace=tmp_path / "w", workers=9999)


@RUNS
@pytest.mark.parametrize(("option", "value"), ADDRESS)
def test_a_server_without_use_is_refused(dry: list[str], option: str, value: str, tmp_path: Path, cli: Cli) -> None:
    cli("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", option, value, *dry).sentence(
        f"{option} requires --store neo4j, but the store is embedded"
    )
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("command", [["query", "hubs"], ["explore"], ["load", "--store", "embedded"]], ids=lambda command: command[0])
def test_every_command_refuses_a_server_without_use(command: list[str], seed_wikidata: Path, cli: Cli) -> None:
    for option, value in ADDRESS:
        cli(*command, "--workspace", seed_wikidata, option, value).sentence(f"{option} requires --store neo4j")


def test_the_environment_alone_is_no_mistake(seed_wikidata: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("URI", "nonsense"), ("USERNAME", "someone"), ("PASSWORD", "open-sesame"), ("DATABASE", "other")):
        monkeypatch.setenv(f"NEO4J_{name}", value)
    assert cli("query", "hubs", "--workspace", seed_wikidata).status == 0
    before = contents.files(seed_wikidata)
    assert cli("generate", "--domain", "wikidata", "--workspace", seed_wikidata, "--dry-run").status == 0
    assert contents.files(seed_wikidata) == before
    cli("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", "--store", "neo4j").sentence("NEO4J_URI is not the address")


def test_from_python_too(tmp_path: Path) -> None:
    for call in (kgqa.generate, kgqa.plan):
        with pytest.raises(SettingsError, match="the embedded store needs none"):
            call("wikidata", workspace=tmp_path / "w", neo4j=Neo4jSettings())
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    ("value", "part"),
    [("0", "'--limit': it must be at least 1"), ("x", "'--limit': it must be a whole number"), ("9" * 5000, "the number is too large")],
)
def test_a_number_outside_of_its_range_is_said_in_plain_words(value: str, part: str, tmp_path: Path, cli: Cli) -> None:
    cli("annotate", "seat", tmp_path, "--model", "m", "--limit", value).sentence(part, "see kgqa annotate seat --help")
