"""The process in which a user's queries run: it stays within its budget, and it ends with whoever asks."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgqa.errors import QueryError, QueryLimit, QueryMemory, QueryTimeout, StoreError
from kgqa.runs.workspace import Workspace
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.limits import MIB, LimitErrors, Limits, read_size, remaining, size
from kgqa.store.query_process import HAS_PROC
from tests.command import environment
from tests.store.graphs import ad_hoc

COUNTING = "UNWIND range(1, 30000000) AS x RETURN count(x) AS n"
"""Left alone it takes more than a minute and 24 GB, and the engine does not look at the clock in it."""
LARGE = "UNWIND range(1, 30000000) AS x RETURN x, 'some text that takes memory' AS text"

MULTIPLYING = "UNWIND range(1, 30000) AS x UNWIND range(1, 30000) AS y WITH x * y AS z WHERE z < 0 RETURN z"
"""Takes long and no memory, and the engine looks at the clock."""


@pytest.fixture
def store(seed_wikidata: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store:
        yield store


def process_of(store: EmbeddedStore) -> int:
    """The process that answers for ``store``."""
    assert store._worker
    return store._worker._process.pid


def ended(process: int) -> bool:
    """Whether a process is there no more, or waits only to be collected."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def soon(true: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether something becomes true."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


needs_proc = pytest.mark.skipif(not HAS_PROC, reason="the system has no /proc to look at a process from outside")


@needs_proc
@pytest.mark.parametrize(
    "text",
    [
        LARGE,
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in (COUNTING, "MATCH (a:Entity), (b:Entity), (c:Entity) RETURN a.id, b.id, c.id")
        ),
    ],
)
def test_memory_stays_within_the_budget(store: EmbeddedStore, text: str) -> None:
    budget, most, watching = 300 * MIB, 0, True
    store.read("RETURN 1 AS one", limits=Limits(memory=budget))
    process = process_of(store)

    def held() -> int:
        try:
            return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0

    def watch() -> None:
        nonlocal most
        while watching:
            most = max(most, held())
            time.sleep(0.002)

    opened = held()
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    with pytest.raises(QueryMemory) as error:
        store.read(text, limits=Limits(memory=budget, seconds=30, rows=None))
    assert str(error.value).startswith("the query took more than 300 MiB of memory")
    assert str(error.value).endswith("; narrow it, or allow more (kgqa query --memory).")
    watching = False
    thread.join()
    assert 0 < opened <= most < opened + budget * 1.1
    assert store.read("RETURN 1 AS one").rows.num_rows == 1


def test_of_more_rows_than_memory_holds_the_first_are_given(store: EmbeddedStore) -> None:
    """The graph has 508 entities, so 130 million rows."""
    answer = store.read("MATCH (a:Entity), (b:Entity), (c:Entity) RETURN a.id, b.id, c.id", limits=Limits(memory=300 * MIB, rows=20))
    assert (answer.rows.num_rows, answer.cut) == (20, "rows")
    exact = store.read("MATCH (e:Entity) WHERE e.row < 20 RETURN e.row AS row ORDER BY row", limits=Limits(rows=20))
    assert (exact.rows["row"].to_pylist(), exact.cut) == (list(range(20)), "")


@pytest.mark.parametrize("text", [COUNTING, pytest.param(LARGE, marks=pytest.mark.slow)])
def test_time_is_kept_where_the_engine_does_not_look_at_the_clock(store: EmbeddedStore, text: str) -> None:
    begin = time.monotonic()
    with pytest.raises(QueryLimit, match=r"^the query took more than (1 seconds|1\.5 GiB of memory); narrow it"):
        store.read(text, limits=Limits(seconds=1, memory=1536 * MIB))
    assert time.monotonic() - begin < 30  # unlimited it takes minutes


@needs_proc
def test_what_the_engine_refuses_leaves_the_process_for_the_next_query(store: EmbeddedStore) -> None:
    store.read("RETURN 1 AS one")
    process = process_of(store)
    with pytest.raises(QueryError, match=r"^the query cannot be run: .*\.$"):
        store.read("MATCH (n:Nothing) RETURN n")
    with pytest.raises(QueryTimeout):  # here the engine notices by itself
        store.read(
            "UNWIND range(1, 30000) AS x UNWIND range(1, 30000) AS y WITH x * y AS z WHERE z < 0 RETURN z", limits=Limits(seconds=0.3)
        )
    assert store.read("RETURN 1 AS one").rows.num_rows == 1
    assert process_of(store) == process
    store.close()
    assert ended(process)


def test_a_process_that_is_killed_is_said_and_replaced(store: EmbeddedStore) -> None:
    store.read("RETURN 1 AS one")
    process = process_of(store)
    threading.Timer(0.3, os.kill, (process, signal.SIGKILL)).start()
    with pytest.raises(QueryMemory, match=r"or the graph engine failed for another reason \(signal 9\); narrow it"):
        store.read(MULTIPLYING)
    assert store.read("RETURN 1 AS one").rows.num_rows == 1


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_whoever_asks_takes_the_process_along(seed_wikidata: Path, number: signal.Signals) -> None:
    script = (
        "import sys; from pathlib import Path; from kgqa.store.embedded import EmbeddedStore\n"
        "store = EmbeddedStore(Path(sys.argv[1])); store.read('RETURN 1 AS one')\n"
        "print(store._worker._process.pid, flush=True)\n"
        "store.read('UNWIND range(1, 90000) AS x UNWIND range(1, 90000) AS y WITH x * y AS z WHERE z < 0 RETURN z')\n"
    )
    command = [sys.executable, "-c", script, str(Workspace(seed_wikidata).graph)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as asker:
        assert asker.stdout
        process = int(asker.stdout.readline())
        time.sleep(0.3)
        assert not ended(process)
        asker.send_signal(number)
        asker.wait(timeout=20)
    assert soon(lambda: ended(process))


@needs_proc
def test_ctrl_c_is_for_whoever_asks(seed_wikidata: Path) -> None:
    script = (
        "import signal, sys; from pathlib import Path; from kgqa.store.embedded import EmbeddedStore\n"
        "signal.signal(signal.SIGINT, lambda *_: None)\n"  # a program may do with it what it likes, as a notebook does
        "with EmbeddedStore(Path(sys.argv[1])) as store:\n"
        "    for _ in range(2):\n"
        "        store.read('RETURN 1 AS one'); print(store._worker._process.pid, flush=True); sys.stdin.readline()\n"
    )
    command = [sys.executable, "-c", script, str(Workspace(seed_wikidata).graph)]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as asker:
        assert asker.stdout
        process = int(asker.stdout.readline())
        os.killpg(asker.pid, signal.SIGINT)  # what a terminal does
        time.sleep(0.3)
        assert not ended(process)
        assert asker.communicate("\n\n", timeout=60)[0] == f"{process}\n"
    assert asker.returncode == 0


def test_a_process_that_ended_between_two_looks_is_said(store: EmbeddedStore) -> None:
    store.read("RETURN 1 AS one")
    worker = store._worker
    assert worker
    os.kill(process_of(store), signal.SIGKILL)
    worker._process.wait()
    with pytest.raises(QueryMemory, match=r"or the graph engine failed for another reason \(signal 9\)"):
        worker.ask("RETURN 1 AS one", {}, Limits(), LimitErrors(subject="the query"))


def test_a_system_that_starts_no_process_is_said(store: EmbeddedStore) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as last:
        resource.setrlimit(resource.RLIMIT_NOFILE, (last.fileno() + 2, hard))
    try:
        with pytest.raises(StoreError, match=r"graph\.lbug: no process can be started to query the graph \(Too many open files\)"):
            store.read("RETURN 1 AS one")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert store.read("RETURN 1 AS one").rows.num_rows == 1


@pytest.mark.parametrize(("seconds", "used", "remain"), [(5, 0.5, 5), (5, 3, 3), (2, 1.25, 1.75), (2, 90, 1), (0.5, 90, 0.5)])
def test_what_comes_before_a_query_takes_from_its_time_beyond_a_second(seconds: float, used: float, remain: float) -> None:
    assert remaining(seconds, time.monotonic() - used) == pytest.approx(remain, abs=0.2)


def test_the_first_value_of_a_limit_does_not_stay(store: EmbeddedStore) -> None:
    query = ad_hoc("MATCH (e:Entity) RETURN e.id AS id ORDER BY e.row LIMIT $n", "id: string", "n: integer", own=True)
    assert [store.run(query, {"n": number}).num_rows for number in (2, 5, 1)] == [2, 5, 1]


@pytest.mark.parametrize(
    ("limit", "option"), [(resource.RLIMIT_AS, "-v"), pytest.param(resource.RLIMIT_DATA, "-d", marks=pytest.mark.slow)]
)
def test_a_limit_of_addresses_is_no_fault_of_the_graph(seed_wikidata: Path, limit: int, option: str) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux counts reserved addresses")
    command = [sys.executable, "-m", "kgqa", "query", "hubs", "--workspace", str(seed_wikidata)]
    process = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, timeout=120,
        preexec_fn=lambda: resource.setrlimit(limit, (4 << 30, 4 << 30)),
    )  # fmt: skip
    assert process.returncode == 2
    assert process.stderr.endswith(
        "graph.lbug: the engine reserves 8 TiB of addresses, but the system allows fewer; "
        f"raise the limit (ulimit {option} unlimited); the graph is unchanged.\n"
    )


def test_nothing_advises_to_delete_a_graph_that_may_be_sound(tmp_path: Path) -> None:
    (tmp_path / "graph").write_bytes(b"no graph" * 1000)
    with pytest.raises(StoreError, match="cannot be opened") as error:
        EmbeddedStore(tmp_path / "graph")
    assert "delete" not in str(error.value).removeprefix(str(tmp_path))
    assert (tmp_path / "graph").read_bytes() == b"no graph" * 1000


@pytest.mark.parametrize(
    ("text", "number"), [("300MiB", 300 << 20), ("2 gib", 2 << 30), ("1.5GB", 1_500_000_000), ("1000000", 1_000_000), ("64 KiB", 1 << 16)]
)
def test_sizes_are_read(text: str, number: int) -> None:
    assert read_size(text) == number


@pytest.mark.parametrize("text", ["", "much", "-1GiB", "1e3", "1 PB", "GiB", "1.2.3GiB", "9" * 30])
def test_what_is_no_size_is_said(text: str) -> None:
    with pytest.raises(QueryError, match=r"is not a size; give a number with a unit"):
        read_size(text)


def test_sizes_are_written() -> None:
    assert [size(number) for number in (2 << 30, 300 << 20, 1536 << 20, 1 << 16, 5)] == ["2 GiB", "300 MiB", "1.5 GiB", "64 KiB", "5 bytes"]
