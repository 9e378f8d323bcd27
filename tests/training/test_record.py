"""The record of runs: whole after a kill, one curve after a resumption, shared by processes, and without anybody's password."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgqa.errors import BrokenInput, InterruptedRun, KgqaError, MissingInput, SettingsError, StorageError, TrainingError, WorkspaceBusy
from kgqa.training import record, run_database as databases
from kgqa.training.recorded import STATUSES, RecordedRun, read_named, read_runs
from kgqa.training.run_database import run_database
from tests.command import environment
from tests.conftest import Cli

FACTS = record.RunFacts(
    reader="ee", dataset="hotpotqa", hashes={"train.json": "ab"}, seed=7, settings={"training": {"batch": 16}, "encoder": "tiny"},
    device="cpu", versions={"kgqa": "1"},
)  # fmt: skip
SECRET = "s3cret/Pass"
ADDRESS = "postgresql://somebody:s3cret%2FPass@127.0.0.1:1/runs?sslpassword=0ther"


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_RUNS", raising=False)


def started(folder: Path, name: str = "ee-1", **more: Any) -> record.Run:
    return record.open_record(None, run=folder / name, facts=replace(FACTS, **more))


def known(folder: Path, name: str = "ee-1") -> RecordedRun:
    [found] = read_named(run_database(folder, beside=folder), [name])
    return found


def log_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text("utf-8").splitlines()]


def measured(found: RecordedRun) -> list[tuple[Any, ...]]:
    return [(point["part"], point["step"], point.get("loss"), point.get("score")) for point in found.curve]


def test_a_run_is_recorded_in_both_places(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        run.point({"step": 10, "loss": 2.0, "examples_per_second": 31.5, "rate": 1e-5})
        run.point({"step": 20, "loss": 1.0})
        run.point({"step": 20, "score": 0.25})
        run.point({"step": 30, "loss": float("nan"), "score": 0.25})
    found = known(tmp_path)
    assert (found.reader, found.dataset, found.hashes, found.seed, found.device) == ("ee", "hotpotqa", {"train.json": "ab"}, 7, "cpu")
    assert (found.settings, found.versions) == (FACTS.settings, {"kgqa": "1"})
    assert (found.status, found.steps, found.score, found.score_step, found.sessions) == ("finished", 30, 0.25, 20, 1)
    assert found.folder == tmp_path / "ee-1"
    assert found.started <= found.heartbeat
    assert found.ended is not None
    assert measured(found) == [("", 10, 2.0, None), ("", 20, 1.0, 0.25), ("", 30, None, 0.25)]
    assert (found.curve[0]["examples_per_second"], found.curve[0]["rate"]) == (31.5, 1e-5)
    lines = log_of(tmp_path / "ee-1")
    assert [line["kind"] for line in lines] == ["run", *["point"] * 4, "end"]
    assert (lines[0]["settings"], lines[-1]["status"]) == (FACTS.settings, "finished")


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (KeyboardInterrupt(), "interrupted", ""),
        (InterruptedRun("stopped."), "interrupted", ""),
        (TrainingError("the loss is nan in step 3."), "failed", "the loss is nan in step 3."),
        (ValueError("odd"), "failed", "ValueError: odd"),
    ],
)
def test_how_the_block_ends_is_how_the_run_ended(error: BaseException, status: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(type(error)), started(tmp_path):
        raise error
    found = known(tmp_path)
    assert (found.status, found.sentence) == (status, sentence)
    assert set(STATUSES) >= {status}


def test_what_was_said_goes_before_how_the_block_ends(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        run.finish(score=0.75, steps=99)
    assert (known(tmp_path).score, known(tmp_path).steps) == (0.75, 99)


def test_the_curve_of_a_resumed_run_is_that_of_one_run(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        for step in (10, 20, 30):
            run.point({"step": step, "loss": 100.0 + step, "score": 0.9})
        run.interrupted()
    with started(tmp_path, device="cuda") as run:
        run.point({"step": 10, "resumed": True})
        assert [point["step"] for point in run.points] == [10]
        run.point({"step": 15, "loss": 1.5})
        run.point({"step": 20, "loss": 2.0})
        assert known(tmp_path).status == "running"
    found = known(tmp_path)
    assert measured(found) == [("", 10, 110.0, 0.9), ("", 15, 1.5, None), ("", 20, 2.0, None)]
    assert (found.sessions, found.device, len(read_runs(run_database(tmp_path, beside=tmp_path)))) == (2, "cuda", 1)
    assert [line.get("step") for line in log_of(tmp_path / "ee-1")] == [None, 10, 15, 20, None]


def test_a_remark_on_the_step_from_which_a_run_goes_on_leaves_what_was_measured_there(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        run.point({"step": 10, "loss": 1.0, "score": 0.9})
        run.interrupted()
    with started(tmp_path) as run:
        run.point({"step": 10, "resumed": True})
        run.point({"step": 10, "remark": "half as many tokens"})
        run.point({"step": 20, "loss": 0.5, "score": 0.8})
    assert measured(known(tmp_path)) == [("", 10, 1.0, 0.9), ("", 20, 0.5, 0.8)]
    assert known(tmp_path).score == 0.9


def test_an_earlier_step_takes_the_place_of_later_ones_of_its_part(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        for part in ("selector", "reader"):
            for step in (10, 20, 30):
                run.point({"part": part, "step": step, "loss": 1.0, "score": 0.5 if part == "selector" else 0.4})
    with started(tmp_path) as run:
        run.point({"part": "reader", "step": 20, "loss": 7.0})
    found = known(tmp_path)
    assert measured(found)[3:] == [("reader", 10, 1.0, 0.4), ("reader", 20, 7.0, None)]
    assert (len(found.curve), found.score) == (5, 0.4)


def test_a_lost_database_is_made_again_from_the_log(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        run.point({"step": 1, "loss": 1.0})
    first = known(tmp_path)
    (tmp_path / "runs.sqlite").unlink()
    with started(tmp_path):
        pass
    again = known(tmp_path)
    assert (again.curve, again.started, again.sessions) == (first.curve, first.started, 2)


def test_a_line_that_was_cut_short_does_not_count(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        run.point({"step": 1, "loss": 1.0})
    with (tmp_path / "ee-1" / "log.jsonl").open("a") as file:
        file.write('{"kind": "point", "st')
    with started(tmp_path) as run:
        run.point({"step": 2, "loss": 2.0})
    assert [point["step"] for point in known(tmp_path).curve] == [1, 2]


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for _ in range(2):
        with started(tmp_path):
            pass
        shutil.rmtree(tmp_path / "ee-1")
    with started(tmp_path), started(tmp_path, "ee-2"):
        pass
    names = [found.name for found in read_runs(run_database(tmp_path, beside=tmp_path))]
    assert names == ["ee-1", "ee-1#2", "ee-1#3", "ee-2"]


def test_the_folder_is_found_where_both_were_moved(tmp_path: Path) -> None:
    with started(tmp_path / "here"):
        pass
    (tmp_path / "here").rename(tmp_path / "there")
    assert known(tmp_path / "there").folder == tmp_path / "there" / "ee-1"


TRAIN = """
import os, sys, time
from pathlib import Path
from kgqa.training import record
record.OFTEN = 0
facts = record.RunFacts(reader="ee", dataset="d", hashes={}, seed=0, settings={}, versions={})
with record.open_record(None, run=Path(sys.argv[1]), facts=facts, beat=0.05) as run:
    for step in range(1, int(sys.argv[2]) + 1):
        run.point({"step": step, "loss": 1 / step})
    if len(sys.argv) > 3:
        print("ready", flush=True)
        time.sleep(60)
"""


def process(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", TRAIN, *map(str, arguments)], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_processes_write_at_once(tmp_path: Path) -> None:
    several = [process(tmp_path / f"run-{number}", 25) for number in range(2)]
    for one in several:
        _, err = one.communicate(timeout=100)
        assert one.returncode == 0, err
    found = read_runs(run_database(tmp_path, beside=tmp_path))
    assert sorted((run.name, run.status, run.steps) for run in found) == [(f"run-{number}", "finished", 25) for number in range(2)]
    for run in found:
        assert [point["step"] for point in known(tmp_path, run.name).curve] == list(range(1, 26))


@pytest.fixture
def training(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    one = process(tmp_path / "ee-1", 5, "wait")
    assert one.stdout is not None
    assert one.stdout.readline() == "ready\n"
    yield one
    one.kill()
    one.communicate()


def test_a_process_that_is_killed_is_seen_to_be_gone(training: subprocess.Popen[str], tmp_path: Path) -> None:
    first = known(tmp_path)
    assert (first.status, first.steps) == ("running", 5)
    with pytest.raises(WorkspaceBusy, match="another process trains"):
        started(tmp_path)
    time.sleep(0.3)
    assert known(tmp_path).heartbeat > first.heartbeat
    training.send_signal(signal.SIGKILL)
    training.wait()
    assert known(tmp_path).status == "stopped"
    with started(tmp_path) as run:
        assert len(run.points) == 5
    assert known(tmp_path).status == "finished"


@pytest.mark.parametrize(("silent", "status"), [(10.0, "running"), (10_000.0, "stopped")])
def test_of_another_machine_the_last_sign_of_life_tells(silent: float, status: str, tmp_path: Path) -> None:
    with started(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "runs.sqlite") as connection:
        connection.execute("UPDATE run SET status = 'running', host = 'elsewhere', heartbeat = ?", (time.time() - silent,))
    connection.close()
    assert known(tmp_path).status == status


def test_training_goes_on_while_the_database_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "OFTEN", 0)
    monkeypatch.setattr(record, "BRIEF", 0.01)
    with started(tmp_path) as run:
        other = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        run.point({"step": 1, "loss": 1.0})
        other.execute("COMMIT")
        other.close()
    assert [point["step"] for point in known(tmp_path).curve] == [1]


def test_a_database_that_stays_locked_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "ee-1").mkdir()
    run_of_another = started(tmp_path, "ee-2")
    run_of_another.finish()
    other = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with (
            pytest.raises(StorageError, match="another process has kept it locked"),
            run_database(tmp_path, beside=tmp_path).writing(patience=0.05),
        ):
            pass
    finally:
        other.close()


LEAVES_HALF = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size=1")
database.execute("BEGIN IMMEDIATE")
database.execute("CREATE TABLE more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT hex(i) FROM n")
os._exit(9)
"""
"""What a process leaves that is killed while it writes more than fits into its memory."""


def test_what_a_killed_process_left_half_written_is_undone(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        run.point({"step": 1, "loss": 1.0})
    subprocess.run([sys.executable, "-c", LEAVES_HALF, str(tmp_path / "runs.sqlite")], check=False)
    assert (tmp_path / "runs.sqlite-journal").stat().st_size
    assert known(tmp_path).status == "finished"


def refused(where: str | Path | None, folder: Path) -> KgqaError:
    with pytest.raises(KgqaError) as caught:
        record.open_record(where, run=folder / "ee-1", facts=FACTS)
    text = str(caught.value)
    assert text.endswith((".", "?", "'"))
    for secret in ("s3cret", "0ther", "somebody"):
        assert secret not in text
        assert secret not in repr(caught.value.__context__ or "") or caught.value.__suppress_context__
    return caught.value


def test_what_cannot_hold_a_record_is_refused_in_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"no database, but long enough to be one; " * 100)
    assert isinstance(refused(broken, tmp_path), BrokenInput)
    theirs = tmp_path / "theirs.sqlite"
    with sqlite3.connect(theirs) as connection:
        connection.execute("CREATE TABLE run (id INTEGER)")
    connection.close()
    assert "another program's" in str(refused(theirs, tmp_path))
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as connection:
        connection.execute("CREATE TABLE kgqa_schema (version INTEGER)")
        connection.execute("INSERT INTO kgqa_schema VALUES (99)")
    connection.close()
    assert "version 99" in str(refused(newer, tmp_path))
    assert isinstance(refused(broken / "below" / "runs.sqlite", tmp_path), StorageError)
    for address in ("sqlite://", "mysql://somebody:s3cret@h/d", "postgresql+odd://somebody:s3cret@h/d", "postgresql://somebody:s3cret@h:port/d",
                    "postgresql:/somebody:s3cret@h/d", ""):  # fmt: skip
        assert isinstance(refused(address, tmp_path), SettingsError)
    with started(tmp_path):
        pass
    (tmp_path / "ee-1" / "log.jsonl").write_text('{"step": 1, "loss": 2.0}\n', "utf-8")
    assert "line 1" in str(refused(None, tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        "settings = '{'", "settings = '[1]'", "hashes = '3'", "started = 'x'", "started = 1e300", "score = 'x'", "steps = 'x'",
        "seed = 'x'", "sessions = x'ff'", "score_step = 'x'", "name = x'ff00'", "reader = x'ff00'", "status = 'odd'", "sentence = x'00'",
        "device = x'00'",
    ],
)  # fmt: skip
def test_a_record_edited_by_hand_is_a_sentence(change: str, tmp_path: Path) -> None:
    with started(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "runs.sqlite") as connection:
        connection.execute(f"UPDATE run SET {change}")
    connection.close()
    for read in (lambda: read_runs(run_database(tmp_path, beside=tmp_path)), lambda: known(tmp_path)):
        with pytest.raises(BrokenInput, match=r"runs\.sqlite: (the|its) .* train again"):
            read()


@pytest.mark.parametrize(
    "change", ["part = x'ff'", "step = 'x'", "seconds = 'x'", "loss = 'x'", "score = x'00'", "more = 'null'", "more = '[1]'", "more = '{'"]
)
def test_a_point_edited_by_hand_is_a_sentence(change: str, tmp_path: Path, cli: Cli) -> None:
    with started(tmp_path) as run:
        run.point({"step": 1, "loss": 2.0, "score": 0.5})
    with sqlite3.connect(tmp_path / "runs.sqlite") as connection:
        connection.execute(f"UPDATE point SET {change}")
        [[name]] = connection.execute("SELECT name FROM run").fetchall()
    connection.close()
    cli("runs", tmp_path, "--show", name).sentence("runs.sqlite: ", "; choose another, or train again")


@pytest.mark.parametrize("point", ['"loss": "x"', '"score": {}', '"loss": 1e999', '"step": 1' + "0" * 30])
def test_a_point_that_measures_nothing_is_a_sentence(point: str, tmp_path: Path) -> None:
    with started(tmp_path):
        pass
    log = tmp_path / "ee-1" / "log.jsonl"
    log.write_text(log.read_text("utf-8") + f'{{"kind": "point", "part": "", "step": 1, "seconds": 1, {point}}}\n', "utf-8")
    assert "this is not the log of a run" in str(refused(None, tmp_path))


def test_a_server_that_does_not_answer_and_its_password(tmp_path: Path) -> None:
    refused(ADDRESS, tmp_path)
    database = run_database(ADDRESS, beside=tmp_path)
    assert database.name == "postgresql://127.0.0.1:1/runs"
    for shown in (repr(database), database.hide(f"cannot reach {ADDRESS} with {SECRET}, 0ther")):
        assert not any(secret in shown for secret in (SECRET, "s3cret%2FPass", "0ther"))


def test_no_password_of_a_setting_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hiding = run_database(ADDRESS, beside=tmp_path)
    monkeypatch.setattr(record, "run_database", lambda where, beside: FileThatHides(tmp_path / "runs.sqlite", hiding))
    with pytest.raises(ValueError, match="cannot reach"), started(tmp_path, settings={"runs": ADDRESS, "note": "cannot"}):
        raise ValueError(f"cannot reach {ADDRESS}")
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"s3cret" not in everything
    assert b"0ther" not in everything
    assert known(tmp_path).settings["note"] == "cannot"


class FileThatHides:
    """A file in place of the server, whose address is hidden as the server's is."""

    def __init__(self, path: Path, server: databases.RunDatabase) -> None:
        file = run_database(path, beside=path.parent)
        self.path, self.writing = file.path, file.writing
        self.hide, self.hide_address = server.hide, server.hide_address


def test_the_environment_names_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_RUNS", str(tmp_path / "elsewhere" / "mine.sqlite"))
    with started(tmp_path / "here"):
        pass
    assert os.listdir(tmp_path / "elsewhere") == ["mine.sqlite"]
    assert run_database(tmp_path / "here", beside=tmp_path).path == tmp_path / "here" / "runs.sqlite"


def test_nothing_is_read_where_nothing_is(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no runs are recorded"):
        read_runs(run_database(tmp_path, beside=tmp_path))
    sqlite3.connect(tmp_path / "runs.sqlite").close()
    (tmp_path / "runs.sqlite").touch()
    with pytest.raises(MissingInput, match="no runs are recorded"):
        read_runs(run_database(tmp_path, beside=tmp_path))
    assert os.listdir(tmp_path) == ["runs.sqlite"]


def test_without_sqlalchemy_the_install_line_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.errors.find_spec", lambda name: None if name in {"torch", "sqlalchemy"} else name)
    with pytest.raises(
        SettingsError, match=r"the record of runs needs sqlalchemy, which is not installed; run: pip install 'kgqa\[readers\]'"
    ):
        run_database(None, beside=tmp_path)
