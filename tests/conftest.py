"""How the tests share the work, how thorough they are, and what many of them use: the server, finished workspaces, the command line.

Two options: ``--thorough`` (``make test-thorough``) makes random tests as long as they can be and runs those marked ``thorough`` too,
``--update-golden`` (``make golden``) accepts today's seed datasets.
"""

from __future__ import annotations

import fcntl
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

import kgqa
from kgqa.cli import main
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.stop import NUMBERS
from tests.command import ROOT, Outcome
from tests.lengths import QUICK
from tests.neo4j.server import Neo4jServer, missing
from tests.object_server import copies, moto_port, objects  # noqa: F401
from tests.tiny_encoder import other_encoder, tiny_encoder  # noqa: F401

# Two workers share the cores; torch with a thread for each core in both of them waits for itself.
os.environ.setdefault("OMP_NUM_THREADS", "1")

IN_CI = os.environ.get("CI") == "true"
Cli = Callable[..., Outcome]
USES_SERVER = re.compile(r"\b(neo4j_server|neo4j_database|on_server)\b")
BOTH_STORES = {"tests/store/test_contract.py", "tests/store/test_values.py"}
"""What the two stores must do alike. ``make test`` asks a server for this alone; other tests on a server are ``slow``."""


class SmallDisk:
    """A file system of its own in memory, whose size can be changed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def mount(self, options: str) -> None:
        """Mount it, or change its options where it is mounted."""
        again = ["-o", "remount," + options] if self.path.is_mount() else ["-o", options]
        subprocess.run(["mount", "-t", "tmpfs", *again, "kgqa-test", str(self.path)], check=True, capture_output=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="random tests at length: 1,000 changes of a file, 10,000 queries of a store")
    parser.addoption("--update-golden", action="store_true", help="accept today's seed datasets as the golden ones")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--thorough"):
        settings.register_profile("quick", settings(), max_examples=QUICK)
        settings.load_profile("quick")


def pytest_collection_finish() -> None:
    """Set aside what imports and collection made: it stays to the end, and going through it takes a twentieth of the tests' time."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    sizes = {
        "changes of a file": _mutants(config),
        "queries of a store": _queries(config),
        "examples of a property": settings().max_examples,
    }
    return "random tests: " + ", ".join(f"{size:,} {what}" for what, size in sizes.items()) + f"; KGQA_TEST_SEED={_seed()}"


def _seed() -> int:
    """The date, so that each day draws others: 20250131."""
    return int(os.environ.get("KGQA_TEST_SEED") or f"{datetime.now(UTC):%Y%m%d}")


def _mutants(config: pytest.Config) -> int:
    return 1_000 if config.getoption("--thorough") else 25


def _queries(config: pytest.Config) -> int:
    return 10_000 if config.getoption("--thorough") else 250


@pytest.fixture(scope="session")
def mutant_count(pytestconfig: pytest.Config) -> int:
    """In how many ways a file is changed."""
    return _mutants(pytestconfig)


@pytest.fixture(scope="session")
def random_seed() -> int:
    """Of random tests; the same one again by the variable KGQA_TEST_SEED, which the first lines of a test run give."""
    return _seed()


@pytest.fixture(scope="session")
def query_count(pytestconfig: pytest.Config) -> int:
    """How many random queries a store is asked."""
    return _queries(pytestconfig)


def file_of(nodeid: str) -> str:
    """The path of a test's file in the repository."""
    return nodeid.split("::", maxsplit=1)[0]


@cache
def piece(path: str) -> str:
    """What goes to one worker together: a file, all files that use the server, which has one database, and those that use a cluster."""
    if path.startswith("tests/cluster/"):
        return "cluster"
    return "server" if USES_SERVER.search((ROOT / path).read_text("utf-8")) else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """``--dist loadfile``, with those files as one; the marks of ``--dist loadgroup`` are lost between pytest 9.2 and xdist 3.8."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class Pieces(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return piece(file_of(nodeid))

    return Pieces(config, log)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what runs on a server or on a cluster as slow."""
    started = {"neo4j_server", "spare_server", "nodes"} & set(getattr(item, "fixturenames", ()))
    if started and file_of(item.nodeid) not in BOTH_STORES:
        item.add_marker("slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only repeats, and set the order in which pieces begin, which ``make test`` tells xdist to keep.

    First what uses the server, as it takes longest; in it, the file that needs no kernels, so that the other worker compiles them
    meanwhile. Then the longest files, so that no worker begins one when the other has nothing left. A slow test or one on real data
    takes about as long as twenty others.
    """
    if not config.getoption("--thorough"):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    sizes = Counter[str]()
    for item in items:
        sizes[piece(file_of(item.nodeid))] += 20 if item.get_closest_marker("slow") or item.get_closest_marker("real_data") else 1

    def order(item: pytest.Item) -> tuple[bool, bool, int, str, Path]:
        name = piece(file_of(item.nodeid))
        return name != "server", item.path.name != "test_neo4j.py", -sizes[name], name, item.path

    items.sort(key=order)


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A running Neo4j with authentication on, of the tests' own; the one of this run."""
    if reason := missing():
        unavailable(reason)
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j") / "home")
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="session")
def second_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """Another server, for ``spare_server``."""
    if reason := missing():
        unavailable(reason)
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j") / "spare")
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def spare_server(second_server: Neo4jServer) -> Neo4jServer:
    """An empty server to stop, kill and start: after a kill, recovery takes as long as the log is, and the log of the other is long."""
    second_server.restore()
    second_server.empty()
    return second_server


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


@pytest.fixture(scope="session")
def seed_companies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished workspace; nobody changes it."""
    return _finished("companies", tmp_path_factory)


@pytest.fixture(scope="session")
def real_wikidata(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished workspace of the real data; nobody changes it."""
    return _finished("wikidata", tmp_path_factory, source=real_data / "wikidata")


@pytest.fixture(scope="session")
def real_medline(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished workspace of the real data; nobody changes it."""
    return _finished("medline", tmp_path_factory, source=real_data / "medline")


def _finished(domain: str, tmp_path_factory: pytest.TempPathFactory, *, source: Path | None = None) -> Path:
    """A copy for this worker, as a workspace serves one process at a time, of what is made once by the first that needs it."""
    name = domain if source is None else f"real-{domain}"
    base = tmp_path_factory.getbasetemp()
    everyones = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = everyones / f"made-{name}"
    with (everyones / f"made-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            workers = None if source is None else 2  # a test compares the real data's with another number
            report = kgqa.generate(domain, source=source, workspace=everyones / f"making-{name}", workers=workers)
            report.dataset.parents[1].rename(made)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp(f"seed-{name}") / "workspace"))


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
        status, before = 0, {number: signal.getsignal(number) for number in (*NUMBERS, signal.SIGALRM)}
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        finally:  # a stopped command ignores further signals until its process ends; this one goes on
            for number, handler in before.items():
                signal.signal(number, handler)
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
