"""The documentation is true: its commands run, its settings exist, its files are there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import kgqa
from kgqa.domains import model
from kgqa.formats.registry import FORMATS
from tests.conftest import Cli

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text("utf-8"))]


def environment() -> dict[str, str]:
    """This Python's ``kgqa`` first on the path."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def run(command: list[str], folder: Path) -> str:
    """What ``command`` prints; it must succeed."""
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def typed(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``typed("kgqa show first")``: the line runs in ``tmp_path`` and must succeed; kgqa in this process, as each start takes seconds."""
    monkeypatch.chdir(tmp_path)

    def run_line(line: str) -> None:
        words = shlex.split(line, comments=True)
        if words[0] == "kgqa" and not {"|", ">", "&&", ";"} & {*words}:
            done = cli(*words[1:])
            assert done.status == 0, f"{line}: {done.out}\n{done.err}"
        else:
            run(["sh", "-c", line], tmp_path)

    return run_line


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path: Path, typed: Callable[[str], None]) -> None:
    commands = 0
    for language, text in blocks(ROOT / "docs" / "tutorial.md"):
        if language == "toml":
            name = text.splitlines()[0].removeprefix("# ").strip()
            (tmp_path / name).write_text(text, "utf-8")
        elif language == "python":
            run([sys.executable, "-c", text], tmp_path)
        elif language == "sh":
            for line in text.splitlines():
                typed(line)
                commands += 1
    assert commands >= 8
    assert (tmp_path / "first-official" / "train.masked.json").is_file()


@pytest.mark.slow
def test_the_page_about_domains_runs(tmp_path: Path, typed: Callable[[str], None]) -> None:
    commands = 0
    for language, text in blocks(ROOT / "docs" / "domains.md"):
        if language == "sh":
            for line in text.splitlines():
                typed(line)
                commands += 1
        else:
            name = text.splitlines()[0].removeprefix("//").removeprefix("#").strip()
            assert Path(name).suffix == {"python": ".py"}.get(language, f".{language}"), text
            (tmp_path / name).write_text(text, "utf-8")
    assert commands == 4
    for workspace in ("museums-workspace", "edges-workspace"):
        manifest = json.loads((tmp_path / workspace / "datasets" / "museumhop" / "manifest.json").read_text("utf-8"))
        assert min(manifest["counts"].values()) > 0
        assert sum(manifest["counts"].values()) == 9  # "one of ten samples goes"


@pytest.mark.slow
def test_the_page_about_ones_own_domain_runs(tmp_path: Path, typed: Callable[[str], None]) -> None:
    page = ROOT / "docs" / "own-domain.md"
    commands = 0
    for language, text in blocks(page):
        if language == "sh":
            for line in text.splitlines():
                typed(line)
                commands += 1
                if line.startswith(("kgqa generate", "kgqa compose")):
                    (dataset,) = [
                        path for path in (tmp_path / "mine-workspace" / "datasets").iterdir() if ("compose" in line) == ("-" in path.name)
                    ]
                    counts = json.loads((dataset / "manifest.json").read_text("utf-8"))["counts"]
                    assert ", ".join(f"{split} {counts[split]}" for split in ("train", "dev", "test")) in page.read_text("utf-8")
        else:
            (tmp_path / text.splitlines()[0].removeprefix("#").strip()).write_text(text, "utf-8")
    assert commands == 9


@pytest.mark.slow
def test_the_commands_of_the_readme_run(typed: Callable[[str], None]) -> None:
    shown = [line for language, text in blocks(ROOT / "README.md") if language == "sh" for line in text.splitlines()]
    commands = [line for line in shown if line.startswith("kgqa ")]
    assert len(commands) == 5
    for command in commands:
        typed(command)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "tutorial.md"], ids=lambda page: page.name)
def test_a_sample_that_is_shown_is_a_real_one(page: Path, seed_wikidata: Path, cli: Cli) -> None:
    fenced = re.findall(r"^```\w*\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (sample,) = [text for text in fenced if "Chain: " in text]
    printed = " ".join(cli("show", seed_wikidata / "datasets" / "wikihop", "wikihop-a16447ab6d322b5f").out.split())
    pieces = [" ".join(piece.split()) for piece in re.split(r"…|\n\n", sample) if piece.strip()]
    places = [printed.find(piece) for piece in pieces]
    assert min(places) >= 0, pieces[places.index(-1)]
    assert places == sorted(places)


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    programs = [text for language, text in blocks(ROOT / "README.md") if language == "python"]
    assert len(programs) == 1
    assert "train" in run([sys.executable, "-c", programs[0]], tmp_path)


def settings_of(model: type[BaseModel], prefix: str = "") -> list[str]:
    """The dotted name of every setting."""
    names = []
    for name, field in model.model_fields.items():
        inner: Any = field.annotation
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        names += settings_of(inner, f"{prefix}{name}.") if nested else [f"{prefix}{name}"]
    return names


def test_every_setting_is_described() -> None:
    page = (ROOT / "docs" / "domains.md").read_text("utf-8")
    described = set(re.findall(r"^\| `([a-z_.]+)` \|", page.partition("## All settings")[2], re.MULTILINE))
    assert described == set(settings_of(model()))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    prose = BLOCK.sub("", page.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)}


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            file = page.parent / name if name else page
            assert file.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(file), f"{page.name}: {target}"


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_every_row_of_a_table_has_the_cells_of_its_header(page: Path) -> None:
    header = ""
    for line in BLOCK.sub("", page.read_text("utf-8")).splitlines():
        header = (header or line) if line.startswith("|") else ""
        assert len(re.findall(r"(?<!\\)\|", line)) == len(re.findall(r"(?<!\\)\|", header)) or not header, line


@pytest.mark.parametrize("folder", ["kgqa", "tests", "cypher", "benchmarks", "tools", "seeds"])
def test_pages_that_files_name_are_there(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".toml", ".cypher", ".md"}]
    named = {(path.name, page) for path in files for page in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text("utf-8"))}
    assert not [(name, page) for name, page in named if not (ROOT / page).exists()]


def test_the_index_links_every_page_once() -> None:
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "index.md")
    assert pages == sorted(re.findall(r"\]\((\w[\w-]*\.md)\)", (ROOT / "docs" / "index.md").read_text("utf-8")))


def test_what_is_said_to_be_somewhere_is_there() -> None:
    named = re.findall(r"`((?:kgqa|seeds|docs|cypher|tests|benchmarks|tools)/[\w/.]*)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert len(named) > 15
    assert not [name for name in named if not (ROOT / name).exists()]


def test_every_part_of_the_package_has_its_line() -> None:
    parts = {path.name for path in (ROOT / "kgqa").iterdir() if (path / "__init__.py").exists()}
    folders = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Folders")[2].partition("\n## ")[0]
    assert parts == set(re.findall(r"`kgqa/(\w+)`", folders))


def test_every_public_name_is_on_the_page_about_python() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    assert set(re.findall(r"`kgqa\.(\w+)`", page)) - {"metrics"} == set(vars(kgqa)["__all__"])


def test_the_page_about_python_runs(seed_wikidata: Path, tmp_path: Path) -> None:
    (tmp_path / "first").symlink_to(seed_wikidata)
    texts = [text for language, text in blocks(ROOT / "docs" / "python.md") if language == "python"]
    out = run([sys.executable, "-c", "\n".join([*texts, "print(around, sample, whole)"])], tmp_path)
    assert out.count("MultiDiGraph with") == 3
    assert kgqa.show(seed_wikidata / "datasets" / "wikihop").question in out
    assert (tmp_path / "first-musique" / "train.jsonl").is_file()


def test_the_changelog_names_the_version() -> None:
    from kgqa import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_format_has_its_place_on_the_page() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    headings = {name for line in page.splitlines() if line.startswith("### ") for name in re.findall(r"\w+", line)}
    for name in FORMATS:
        assert re.search(rf"^\|.*`{name}`.*\|.*\|.*\|$", page, re.MULTILINE)
        assert name in headings
