"""Each wall around a user's query holds alone, with the check switched off: nothing is written, read, loaded or connected to."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kgqa.errors import StoreError
from kgqa.runs.workspace import Workspace
from kgqa.store import wall
from kgqa.store.apart import walls
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.limits import Limits
from tests.conftest import unavailable
from tests.store.graphs import ad_hoc
from tools.fuzz_cypher import Traps

ATTACKS = (
    'COPY (MATCH (n:Entity) RETURN n.id) TO "{file}"',
    'COPY (MATCH (n:Entity) RETURN n.id) TO "{folder}.parquet"',
    'EXPORT DATABASE "{folder}"',
    'LOAD EXTENSION "{extension}"',
    "LOAD EXTENSION httpfs",
    "INSTALL httpfs",
    'INSTALL json FROM "http://127.0.0.1:{port}/"',
    'LOAD FROM "http://127.0.0.1:{port}/x.csv" RETURN *',
    'LOAD FROM "/etc/passwd" (file_format="csv", header=false, delim=":") RETURN *',
    'LOAD FROM "{graph}" (file_format="csv", header=false) RETURN *',
    'ATTACH "{folder}" AS other (dbtype lbug)',
    'ATTACH "{graph}" AS other (dbtype lbug)',
    "CREATE (:Entity {{id: 'canary'}})",
)
HIDDEN = "/* **/ RETURN ' */ {} //' AS document"
"""Passed the check once; the engine ends the comment elsewhere."""
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these walls")


@pytest.fixture
def traps(tmp_path: Path) -> Iterator[Traps]:
    if not shutil.which("cc"):
        unavailable("no C compiler to make an extension")
    with closing(Traps(tmp_path / "traps")) as traps:
        yield traps


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is switched off, and an engine gets what a user wrote."""
    monkeypatch.setattr("kgqa.store.embedded.check_reads_only", lambda text, values, store: ("", text))
    monkeypatch.setattr("kgqa.store.embedded.check_own_query", lambda query: query)


def attacks(traps: Traps, graph: Path) -> list[str]:
    """As texts, plain and hidden."""
    plain = [attack.format(**traps.names, graph=graph) for attack in ATTACKS]
    return [*plain, *map(HIDDEN.format, plain)]


def test_this_system_has_the_walls_that_its_kernel_has() -> None:
    found = walls()
    assert "limits" in found
    if sys.platform == "linux":
        known = re.search(r"^Seccomp:", Path("/proc/self/status").read_text(), re.MULTILINE)
        assert ("seccomp" in found) == bool(known)
        assert ("landlock" in found) == (wall._call(wall.CREATE_RULESET, None, 0, 1) >= 1)


@pytest.mark.usefixtures("unchecked")
def test_with_the_check_switched_off_nothing_gets_out(seed_wikidata: Path, traps: Traps) -> None:
    graph = Workspace(seed_wikidata).graph
    before = graph.read_bytes()
    with EmbeddedStore(graph) as store:
        for text in attacks(traps, graph):
            with pytest.raises(StoreError):
                store.read(text, limits=Limits(rows=None, seconds=20))
            with pytest.raises(StoreError):
                store.run(ad_hoc(text, "document: string", own=True))
            assert traps.sprung() == [], text
        assert store.read("MATCH (e:Entity) RETURN count(e) AS n").to_pylist() == [{"n": 508}]
    assert graph.read_bytes() == before
    assert [path.name for path in graph.parent.iterdir() if path.name.startswith(graph.name)] == [graph.name]


ALONE = """
    import ctypes, os, runpy, socket, sys, threading
    import ladybug, pyarrow
    ladybug.Connection(ladybug.Database(":memory:")).execute("RETURN 1")
    wall = runpy.run_path(sys.argv[1])
    database = ladybug.Database(sys.argv[2], read_only=True, buffer_pool_size=64 << 20)
    connection = ladybug.Connection(database)
    count = lambda: connection.execute("MATCH (n:Entity) RETURN count(n)").get_next()
    count()
    assert wall[sys.argv[3]]({argument}), "not here"
    tried = [lambda text=text: connection.execute(text) for text in sys.argv[5:]]
    tried += [
        lambda: open(sys.argv[4] + "/f", "w"), lambda: open("/etc/passwd"), lambda: ctypes.CDLL(sys.argv[4] + "/../x.lbug_extension"),
        lambda: os.execv("/bin/true", ["true"]) if sys.argv[3] != "_limits" else 1 / 0,
        lambda: os.mkdir(sys.argv[4] + "/d") if sys.argv[3] != "_limits" else 1 / 0,
    ]
    for each in tried:
        try:
            each()
        except (RuntimeError, OSError, ZeroDivisionError, ImportError):
            continue
        os.write(1, b"done: " + str(each).encode())
        os._exit(1)
    os.write(1, str(count()).encode())
    os._exit(0)
"""


@linux
@pytest.mark.parametrize("name", ["_limits", "_landlock", "_seccomp"])
def test_each_wall_holds_alone(seed_wikidata: Path, traps: Traps, name: str) -> None:
    if name.strip("_") not in walls():
        pytest.skip(f"this kernel has no {name.strip('_')}")
    graph = Workspace(seed_wikidata).graph
    canary = Path(str(traps.names["file"])).parent
    # Limits let a folder be made, but nothing in it; and behind Landlock the graph itself can be read.
    outside = {"_limits": "EXPORT", "_landlock": str(graph)}.get(name, "nothing")
    texts = [text for text in attacks(traps, graph) if outside not in text]
    script = textwrap.dedent(ALONE).format(argument="()" if name == "_landlock" else "")
    if name == "_landlock":  # it is for the threads that are started behind it
        script = script.replace("database = ", "wall['_prctl'](38, 1); wall['_landlock'](sys.argv[2:3]); database = ")
    if name == "_seccomp":
        script = script.replace("database = ", "wall['_prctl'](38, 1); database = ")
    command = [sys.executable, "-c", script, str(Path(wall.__file__)), str(graph), name, str(canary), *texts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "[508]"), done.stderr[-2000:]
    assert traps.sprung() == []


@linux
def test_the_filter_of_each_machine_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, calls in wall.CALLS.items():
        program = wall._program(machine)
        assert len(program) < 4096
        assert len(set(calls.values())) == len(calls)
        decide = interpreter(program)
        for number in calls.values():
            assert decide(number, ()) == wall.ALLOW
        mmap, mprotect = wall.MAPPING[machine]
        assert [decide(mmap, (0, 9, kind)) == wall.ALLOW for kind in (0, 1, 3, 4, 5, 7)] == [True, True, True, False, False, False]
        assert decide(mprotect, (0, 9, 5)) != wall.ALLOW
        assert decide(wall.CLONE[machine], (0x3D0F00,)) == wall.ALLOW
        assert decide(wall.CLONE[machine], (17,)) != wall.ALLOW
        assert decide(wall.CLONE3, ()) == wall.ERROR | wall.ENOSYS
        assert decide(wall.TGKILL[machine], (1,)) != wall.ALLOW
        assert decide(0x40000000, ()) != wall.ALLOW
        assert decide(0, (), architecture=0x40000003) == wall.KILL
    opening = {
        "x86_64": (2, 41, 42, 56, 57, 59, 83, 85, 87, 101, 257, 322, 425, 437),
        "aarch64": (34, 35, 38, 56, 117, 198, 203, 221, 281, 437),
    }
    for machine, numbers in opening.items():  # open, socket, connect, fork, execve, mkdir, creat, unlink, ptrace, openat, io_uring …
        decide = interpreter(wall._program(machine))
        assert all(decide(number, (0,)) != wall.ALLOW for number in numbers)


def interpreter(program: list[tuple[int, int, int, int]]) -> Callable[..., int]:
    """What the kernel makes of ``program``."""

    def decide(number: int, arguments: tuple[int, ...], *, architecture: int | None = None) -> int:
        data = {0: number, 4: program[1][3] if architecture is None else architecture}
        data |= {16 + 8 * at: value for at, value in enumerate(arguments)}
        at, held = 0, 0
        while True:
            code, if_true, if_false, value = program[at]
            at += 1
            if code == wall.LOAD:
                held = data.get(value, 0)
            elif code == wall.ANSWER:
                return value
            else:
                at += if_true if (held == value if code == wall.EQUAL else held & value) else if_false

    return decide


@pytest.mark.parametrize("mark", ["'", '"'])
def test_what_once_got_through_is_harmless_text(seed_wikidata: Path, traps: Traps, mark: str) -> None:
    other = '"' if mark == "'" else "'"
    text = f"/* **/ RETURN {mark} */ EXPORT DATABASE {other}{traps.names['folder']}{other} //{mark} AS document"
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store:
        (row,) = store.read(text).to_pylist()
    assert "EXPORT DATABASE" in row["document"]
    assert traps.sprung() == []
