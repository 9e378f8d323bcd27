"""What is half-written: it goes with its process, after ``kill -9`` with the next command, and never while somebody lives who writes it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import kgqa
from kgqa.runs.scratch import CLAIM, MARK, scratch, sweep
from kgqa.runs.workspace import Workspace
from tests.command import COMMAND, ROOT, environment, run_command
from tests.commands.test_convert import hotpotqa

EXAMPLE = ROOT / "tests" / "formats" / "examples" / "hotpotqa_dev.json"


@contextmanager
def writing(folder: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    """A conversion that is stopped in the middle of its writing."""
    source = hotpotqa(folder, *(f"q{number}" for number in range(5_000)), name="many_dev.json")
    command = [*COMMAND, "convert", str(source), "--to", "label_studio", "--out", str(out)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not any(path.stat().st_size for path in out.parent.glob(f".{out.name}.*.partial/{out.name}/*")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        try:
            yield process
        finally:
            process.kill()


def partial(folder: Path) -> list[str]:
    return [path.name for path in folder.glob(".*.partial")]


def test_the_next_command_removes_the_files_of_a_killed_run(tmp_path: Path) -> None:
    with writing(tmp_path, tmp_path / "out") as process:
        process.kill()
        assert process.wait() == -signal.SIGKILL
    assert partial(tmp_path)
    done = run_command("convert", EXAMPLE, "--to", "native", "--out", tmp_path / "other")
    assert done.status == 0, done.err
    assert {path.name for path in tmp_path.iterdir()} == {"many_dev.json", "other"}


@pytest.mark.slow
def test_the_files_of_a_running_process_stay(tmp_path: Path) -> None:
    with writing(tmp_path, tmp_path / "out") as process:
        before = partial(tmp_path)
        for out in ("other", "other.json"):
            assert run_command("convert", EXAMPLE, "--to", "hotpotqa", "--out", tmp_path / out).status == 0
        assert partial(tmp_path) == before != []
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=100)[1]
    assert (process.returncode, said) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"many_dev.json", "other", "other.json", "out"}
    assert len(list(kgqa.open_dataset(tmp_path / "out").instances())) == 5_000


def test_a_run_in_the_workspace_stays_too(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        (workspace.path / "datasets").mkdir()
        with writing(tmp_path, workspace.path / "datasets" / "out") as process:
            before = partial(workspace.path / "datasets")
            workspace.sweep()
            assert partial(workspace.path / "datasets") == before != []
            process.kill()
            process.wait()
            workspace.sweep()
            assert partial(workspace.path / "datasets") == []


def abandoned(folder: Path, name: str = ".out.abcd1234.partial", claim: bytes = CLAIM) -> Path:
    """What a killed run leaves."""
    path = folder / name
    (path / "out").mkdir(parents=True)
    (path / "out" / "dev.json").touch()
    (path / MARK).write_bytes(claim)
    return path


@pytest.mark.parametrize("command", ["convert", "convert one file", "contrast", "export", "evaluate", "audit"])
def test_every_command_clears_up_where_it_writes(command: str, seed_wikidata: Path, tmp_path: Path) -> None:
    out = tmp_path / "folder"
    left = abandoned(out if command in {"export", "audit"} else tmp_path)
    match command:
        case "convert":
            kgqa.convert(EXAMPLE, to="native", out=out)
        case "convert one file":
            kgqa.convert(EXAMPLE, to="hotpotqa", out=tmp_path / "one.json")
        case "contrast":
            kgqa.contrast("unanswerable", EXAMPLE.with_name("musique_dev.jsonl"), out=out)
        case "export":
            kgqa.export(seed_wikidata / "datasets" / "wikihop", to="qangaroo", out=out)
        case "evaluate":
            (tmp_path / "p.json").write_text(json.dumps({"answer": {"q1": "x", "q2": "y"}, "sp": {"q1": [], "q2": []}}))
            kgqa.evaluate(hotpotqa(tmp_path), tmp_path / "p.json", json=tmp_path / "report.json")
        case "audit":
            kgqa.audit(EXAMPLE, out=out)
    assert not left.exists()
    assert not list(tmp_path.rglob("*.partial"))


def test_only_abandoned_folders_of_kgqa_are_removed(tmp_path: Path) -> None:
    elsewhere = abandoned(tmp_path / "elsewhere")
    kept = [
        abandoned(tmp_path, ".a.abcd1234.partial", claim=b""),
        abandoned(tmp_path, ".b.abcd1234.partial", claim=CLAIM + b"and more"),
        abandoned(tmp_path, "c.abcd1234.partial"),
        abandoned(tmp_path, ".d.abcd1234.partial.old"),
        abandoned(tmp_path / "below"),
    ]
    (tmp_path / ".e.abcd1234.partial").symlink_to(elsewhere)
    (tmp_path / ".f.abcd1234.partial").write_bytes(CLAIM)
    (tmp_path / ".g.abcd1234.partial").mkdir()
    os.mkfifo(tmp_path / ".g.abcd1234.partial" / MARK)
    (tmp_path / ".h.abcd1234.partial").mkdir()
    (tmp_path / ".h.abcd1234.partial" / MARK).symlink_to(elsewhere / MARK)
    held = abandoned(tmp_path, ".i.abcd1234.partial")
    gone = abandoned(tmp_path, ".j\n\udcff.abcd1234.partial")
    (gone / "out" / "link").symlink_to(elsewhere)
    with (held / MARK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = sorted(path for path in tmp_path.rglob("*") if gone not in (path, *path.parents))
        sweep(tmp_path)
        assert sorted(tmp_path.rglob("*")) == before
        assert all(path.is_dir() for path in kept)
    sweep(tmp_path)
    assert not held.exists()


def test_sweeping_a_missing_folder_does_nothing(tmp_path: Path) -> None:
    sweep(tmp_path / "none")


def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    left = abandoned(tmp_path)
    monkeypatch.setattr(fcntl, "flock", refuse)
    with scratch(tmp_path / "x") as folder:
        assert not (folder / MARK).exists()
        monkeypatch.undo()
        sweep(tmp_path)
        assert folder.is_dir()
    assert not folder.exists()
    assert not left.exists()
    monkeypatch.setattr(fcntl, "flock", refuse)
    left = abandoned(tmp_path)
    sweep(tmp_path)
    assert left.exists()


def test_the_mark_is_deleted_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A second kill, while the first one's leftover is cleared.
    left = abandoned(tmp_path)

    delete = shutil.rmtree

    def killed(path: Path) -> None:
        delete(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path)
    assert [path.name for path in left.iterdir()] == [MARK]
    monkeypatch.undo()
    sweep(tmp_path)
    assert not left.exists()


INTERRUPTED = """
import {module}, signal
from kgqa.cli import main

real = {module}.{step}

def interrupted(*arguments):
    done = real(*arguments)
    if {when}:
        signal.raise_signal(signal.SIGINT)
    return done

{module}.{step} = interrupted
main()
"""
"""Ctrl-C while the hidden folder is being made."""


@pytest.mark.parametrize(
    ("module", "step", "when"),
    [("os", "mkdir", "str(arguments[0]).endswith('.partial')"), ("fcntl", "flock", "True"), ("os", "write", "True")],
    ids=["it is there", "it is locked", "it is marked"],
)
@pytest.mark.slow
def test_an_interrupt_before_the_folder_is_yielded_leaves_nothing(module: str, step: str, when: str, tmp_path: Path) -> None:
    script = INTERRUPTED.format(module=module, step=step, when=when)
    command = [sys.executable, "-c", script, "convert", str(EXAMPLE), "--to", "native", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "kgqa: stopped; run the same command again.\n")
    assert not list(tmp_path.iterdir())


def test_written_files_have_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        kgqa.convert(EXAMPLE, to="native", out=tmp_path / "folder")
        kgqa.convert(EXAMPLE, to="hotpotqa", out=tmp_path / "one.json")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("folder", "one.json")] == [0o755, 0o644]
