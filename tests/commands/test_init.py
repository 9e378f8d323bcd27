"""A new domain: what is written loads and runs as it stands, and bad names and files are one sentence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kgqa
from kgqa.domains import built_in, load_domain
from tests import contents
from tests.command import COMMAND, environment
from tests.conftest import Cli
from tests.domains.small_files import write_raw_files

TOWNS = ["edges:facts.csv", "nodes:places.tsv", "texts:articles.jsonl"]


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with raw files of a graph and texts, which is the current one."""
    write_raw_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def uncommented(text: str) -> str:
    """The settings with every default that a comment shows made a line."""
    return re.sub(r"^#(?=\w+ = )", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("extends", built_in())
def test_the_defaults_in_comments_are_those_that_hold(extends: str, tmp_path: Path) -> None:
    new = kgqa.init("mine", directory=tmp_path, extends=extends)
    text = new.settings.read_text("utf-8")
    assert tomllib.loads(text)["extends"] == extends
    shown = uncommented(text)
    assert len(tomllib.loads(shown)["qangaroo"]) > len(tomllib.loads(text).get("qangaroo", {}))
    before = load_domain(new.settings, source=tmp_path).settings.model_dump()
    new.settings.write_text(shown, "utf-8")
    assert load_domain(new.settings, source=tmp_path).settings.model_dump() == before


def test_every_line_of_the_settings_has_a_comment(tmp_path: Path) -> None:
    lines = kgqa.init("mine", directory=tmp_path).settings.read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        if re.match(r"#?\w+ = ", line):
            above = next(other for other in reversed(lines[:number]) if not re.match(r"#?\w+ = ", other))
            assert " # " in line or above.startswith("# ") or above == "[projection]", line


@pytest.mark.slow
def test_the_commands_of_the_readme_run_as_they_stand(raw: Path) -> None:
    new = kgqa.init("towns", from_=TOWNS, title='Towns of "Silvanya"', licence="cc0-1.0")
    readme = (new.folder / "README.md").read_text("utf-8")
    commands = readme.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert tuple(commands) == new.commands
    assert len(commands) == 4
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command], cwd=new.folder, env={**environment(), "PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    manifest = json.loads((new.folder / "workspace" / "datasets" / "towns" / "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["train"] > 0
    card = (new.folder / "workspace" / "datasets" / "towns" / "README.md").read_text("utf-8")
    assert 'license: "cc0-1.0"' in card


def test_a_new_domain_without_files_reads_the_small_one(tmp_path: Path, cli: Cli) -> None:
    assert cli("init", "mine", "--dir", tmp_path).status == 0
    outcome = cli("generate", "--domain", tmp_path / "mine" / "mine.toml", "--workspace", tmp_path / "w")
    assert outcome.status == 0, outcome.err
    assert "mine: train " in outcome.out


def test_the_files_are_linked_and_named_in_their_order(raw: Path) -> None:
    new = kgqa.init("towns", from_=[*TOWNS, "texts:more[1].jsonl"])
    settings = tomllib.loads(new.settings.read_text("utf-8"))
    assert [(entry["format"], entry["files"]) for entry in settings["imports"]] == [
        ("edges", ["sources/facts.csv"]), ("nodes", ["sources/places.tsv"]),
        ("texts", ["sources/articles.jsonl", "sources/more[[]1].jsonl"]),
    ]  # fmt: skip
    assert os.path.samefile(new.folder / "sources" / "facts.csv", raw / "facts.csv")
    assert new.copied == ()


def test_another_language_reaches_linking_and_the_formats_that_ask_for_it(raw: Path) -> None:
    new = kgqa.init("latgalia", from_=["wikidata:dump.json"], language="ltg")
    settings = tomllib.loads(new.settings.read_text("utf-8"))
    assert settings["linking"]["language"] == settings["linking"]["articles"] == ""
    assert settings["imports"][0]["options"] == {"language": ["ltg", "en"]}


def test_the_rules_are_those_of_the_first_format(raw: Path) -> None:
    assert tomllib.loads(kgqa.init("drugs", from_=["pubmed:dump.json"]).settings.read_text("utf-8"))["extends"] == "medline"


BAD = {
    "a path": (["../evil"], "the name '../evil' is not"),
    "an absolute path": (["/evil"], "the name '/evil' is not"),
    "a dot": (["."], "the name '.' is not"),
    "no name": ([""], "the name '' is not"),
    "capitals": (["Towns"], "the name 'Towns' is not"),
    "a control character": (["to\x07wns"], "the name 'to\\x07wns' is not"),
    "a line end": (["towns\n"], "is not 1 to 64"),
    "half a character": (["\udcff"], "is not 1 to 64"),
    "a long name": (["x" * 65], "is not 1 to 64"),
    "a built-in domain": (["wikidata"], "wikidata is a built-in domain"),
    "the layout of questions": (["questions"], "questions is a built-in domain"),
    "no format": (["towns", "--from", "facts.csv"], "'facts.csv' is not FORMAT:FILE"),
    "no file": (["towns", "--from", "edges:"], "'edges:' is not FORMAT:FILE"),
    "an unknown format": (["towns", "--from", "edgs:facts.csv"], "did you mean edges?"),
    "a file that is not there": (["towns", "--from", "edges:nothing.csv"], "nothing.csv"),
    "a folder": (["towns", "--from", "edges:folder"], "folder"),
    "a format with an option": (["towns", "--from", "sparql:facts.csv"], "needs the option endpoint"),
    "the same name twice": (["towns", "--from", "edges:facts.csv", "--from", "nodes:folder/facts.csv"], "have the same name"),
    "an unknown base": (["towns", "--extends", "wikidatta"], "there is no built-in domain 'wikidatta' to extend; did you mean wikidata?"),
    "a language in words": (["towns", "--language", "Latgalian language"], "is not a language code such as en"),
    "a title of two lines": (["towns", "--title", "a\nb"], "the title 'a\\nb' is not one line"),
    "an empty licence": (["towns", "--licence", " "], "the licence ' ' is not one line"),
    "a long title": (["towns", "--title", "x" * 201], "is not one line of 1 to 200"),
    "a folder with content": (["full"], "full: this already exists; choose another name or --dir"),
    "a file of that name": (["facts"], "facts: this already exists"),
    "a link of that name": (["link"], "link: this already exists"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_nothing_is_written(case: str, raw: Path, cli: Cli) -> None:
    arguments, part = BAD[case]
    (raw / "full").mkdir()
    (raw / "full" / "x").touch()
    (raw / "facts").touch()
    (raw / "link").symlink_to("full")
    (raw / "folder").mkdir()
    (raw / "folder" / "facts.csv").touch()
    before = contents.files(raw)
    cli("init", *arguments, "--yes").sentence(part)
    assert contents.files(raw) == before


def test_on_a_terminal_a_few_questions_are_asked(raw: Path) -> None:
    import pty

    parent, child = pty.openpty()
    with subprocess.Popen([*COMMAND, "init", "towns"], stdin=child, stdout=child, stderr=child, cwd=raw, env=environment()) as process:
        os.close(child)
        os.write(parent, b"Towns\nedges:facts.csv\n\n\nde\n")
        said = b""
        try:
            while piece := os.read(parent, 4096):
                said += piece
        except OSError:  # the end of a terminal
            pass
    os.close(parent)
    assert process.returncode == 0, said
    assert said.count(b"?") == 0
    settings = tomllib.loads((raw / "towns" / "towns.toml").read_text("utf-8"))
    assert (settings["title"], settings["linking"]["language"], settings["extends"]) == ("Towns", "", "wikidata")


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert kgqa.init("mine", directory=tmp_path).settings.is_file()
