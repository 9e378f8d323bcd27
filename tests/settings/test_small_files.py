"""Files that are read whole: none is waited for, none fills the memory, and a TOML file that is none is said to be none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa.collection.verdict_tables.table import read_table
from kgqa.errors import BrokenInput, SettingsError, StorageError
from kgqa.runs.files import write_whole
from kgqa.settings.small_files import MOST_BYTES, read_small, read_toml
from kgqa.store.queries import read_queries
from tests.conftest import Cli


def endless(path: Path) -> None:
    """A file of a terabyte that takes no room."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(BrokenInput, match="this is a pipe or device; give a file"):
            read_small(path)


def test_what_has_no_end_is_not_read(tmp_path: Path) -> None:
    endless(tmp_path / "file")
    with pytest.raises(BrokenInput, match="this has more than 64 MiB"):
        read_small(tmp_path / "file")
    (tmp_path / "file").write_bytes(b"x" * 1000)
    assert read_small(tmp_path / "file") == b"x" * 1000
    assert MOST_BYTES == 64 << 20


def test_a_folder_and_nothing_are_the_systems_errors(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_small(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_small(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"x = " + b"9" * 5000, "a number in it has thousands of digits; fix the file"),
        (b"a" + b".a" * 50_000 + b" = 1", "nested too deeply"),
        (b"[a" + b' . "a"' * 50_000 + b"]", "nested too deeply"),
        (b"x = { y = 1, a" + b".'a'" * 50_000 + b" = 1 }", "nested too deeply"),
        (b"x = " + b"[" * 20_000 + b"]" * 20_000, "nested too deeply"),
        (b"\xff\xfex\0", "this is not UTF-8"),
        (b"x = 1\0", "this is not TOML"),
        (b"<html>", "this is not TOML"),
    ],
)
def test_what_is_no_toml(text: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_bytes(text)
    begin = time.process_time()
    with pytest.raises(SettingsError, match=said):
        read_toml(tmp_path / "own.toml")
    assert time.process_time() - begin < 5  # a key of many parts takes half a minute


def test_a_mark_of_the_byte_order_and_line_ends_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")
    assert read_toml(tmp_path / "own.toml") == {"x": 1, "y": 2}


@pytest.mark.parametrize("read", [read_table, read_toml, lambda path: read_queries([path])])
def test_no_reader_of_small_files_fills_the_memory(read: Callable[[Path], object], tmp_path: Path) -> None:
    endless(tmp_path / "file")
    with pytest.raises(BrokenInput, match="this has more than 64 MiB"):
        read(tmp_path / "file")


@pytest.mark.parametrize("content", [b"x = " + b"9" * 5000, b"reader = " + b"[" * 20_000])
def test_a_readers_file_that_breaks_the_parser_is_a_sentence(content: bytes, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "reader.toml").write_bytes(content)
    cli("train", tmp_path / "reader.toml", tmp_path, "--out", tmp_path / "run").sentence("reader.toml: ", "fix the file")
    assert cli("audit", tmp_path, "--readers", "minimal", "--reader-settings", tmp_path / "reader.toml").status == 2
    assert not (tmp_path / "run").exists()


def test_nothing_is_written_into_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(StorageError, match="a pipe or device is in the place of the file"):
            write_whole(tmp_path / name, "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]
    assert (tmp_path / "pipe").is_fifo()


def test_too_little_memory_is_a_sentence(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("kgqa.cli.app.run", greedy)
    cli("query", "--list").sentence("there is not enough memory for this")
