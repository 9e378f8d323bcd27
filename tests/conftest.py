"""Finished workspaces of both seed domains, made once; small disks; the command line; the real data."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.cli import main
from kgqa.settings.neo4j import Neo4jSettings
from tests.command import ROOT, Outcome
from tests.neo4j.server import Neo4jServer, missing

IN_CI = os.environ.get("CI") == "true"
Cli = Callable[..., Outcome]


class SmallDisk:
    """A file system of its own in memory, whose size can be changed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def mount(self, options: str) -> None:
        """Mount it, or change its options where it is mounted."""
        again = ["-o", "remount," + options] if self.path.is_mount() else ["-o", options]
        subprocess.run(["mount", "-t", "tmpfs", *again, "kgqa-test", str(self.path)], check=True, capture_output=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need the server run in one process, one after the other: it has one database."""
    for item in items:
        if {"neo4j_server", "server"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group("neo4j"))


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A running Neo4j with authentication on, of the tests' own."""
    if reason := missing():
        unavailable(reason)
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j") / "home")
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def neo4j_database(neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> Neo4jSettings:
    """Its database, emptied, and the environment that leads to it."""
    for name, value in neo4j_server.environment.items():
        monkeypatch.setenv(name, value)
    neo4j_server.empty()
    return Neo4jSettings.from_environment()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real data; without it the test is skipped, or fails where everything has to run."""
    folder = Path(os.environ.get("KGQA_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        unavailable(f"no real data at {folder}; set KGQA_DATA")
    return folder


def unavailable(reason: str) -> None:
    """Skip, or fail where everything has to run."""
    if IN_CI:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def seed_wikidata(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished workspace; nobody changes it."""
    return _finished("wikidata", tmp_path_factory)


@pytest.fixture(scope="session")
def seed_medline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished workspace; nobody changes it."""
    return _finished("medline", tmp_path_factory)


def _finished(domain: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp(f"seed-{domain}") / "workspace"
    kgqa.generate(domain, workspace=workspace)
    return workspace


@pytest.fixture
def wikidata_copy(seed_wikidata: Path, tmp_path: Path) -> Path:
    """A finished workspace of one's own."""
    return Path(shutil.copytree(seed_wikidata, tmp_path / "workspace"))


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """``cli("generate", "--domain", "wikidata")``: the command line in this process."""

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # which the command replaces

    def run(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["kgqa", *map(str, arguments)])
        capfd.readouterr()
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capfd.readouterr()
        return Outcome(status=status, out=out, err=err)

    return run


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk to fill; needs the right to mount."""
    disk = SmallDisk(tmp_path / "disk")
    disk.path.mkdir()
    try:
        disk.mount("size=1m")
    except (OSError, subprocess.CalledProcessError) as error:
        unavailable(f"a small file system cannot be mounted here: {error}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk.path)], check=True)
