"""What people see while a command runs."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import kgqa
from kgqa.cli.progress import ConsoleProgress
from kgqa.cli.terminal import Terminal
from kgqa.progress import PartsSeen, Within
from kgqa.runs import importing


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_import_shows_its_bytes_and_the_time_that_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(importing, "PROCESSES_FROM", 0)
    files = []
    for number in range(8):  # the remaining time is known once two files are read, however fast
        line = f'{{"id": "%d", "title": "T", "text": "{number} {"word " * 400}"}}\n'
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text("".join(line % at for at in range(2_000)))
    size = sum(file.stat().st_size for file in files)
    seen: list[tuple[str, float | None]] = []
    shown = io.StringIO()

    class Noted(ConsoleProgress):
        def advance(self, amount: int) -> None:
            super().advance(amount)
            self._bars.refresh()
            task: Any = self._bars.tasks[-1]
            seen.append((task.description, task.time_remaining))

    console = Console(file=shown, force_terminal=True, width=120)
    with Noted(console) as progress:
        kgqa.import_files("texts", files, out=tmp_path / "out", workers=workers, progress=progress)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue())
    amounts = [float(amount) for amount in re.findall(rf"Parsing [^\r\n]*? ([0-9.]+) of {size / 1e6:.1f} MB", text)]
    assert amounts == sorted(amounts)
    assert len(set(amounts)) > 1
    assert amounts[-1] == pytest.approx(size / 1e6, abs=0.1)
    assert any(remaining is not None and remaining > 0 for stage, remaining in seen if stage == "Parsing")
    assert re.search(rf"Parsing [^\r\n]* of {size / 1e6:.1f} MB 0:0\d:\d\d", text)
    assert re.search(r"Merging: .*documents", text)


def test_what_a_cluster_did_is_shown_while_it_works_and_at_the_end() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=160)
    seen = PartsSeen(done=6, total=10, again=2, seconds=3.0, busy=4.5, workers=3, sent=2_000_000, received=5_000, ended=False)
    with ConsoleProgress(console) as progress:
        Within(progress, "entry 1").start("Linking", 100, "texts")
        Within(progress, "entry 1").parts(seen)
        progress._bars.refresh()
        progress.parts(replace(seen, done=10, ended=True))
        progress.parts(replace(seen, done=2, again=0, seconds=1.0, busy=0.5, ended=True))
        progress.finish()
        progress.start("Searching")
        progress.parts(replace(seen, sent=None, received=None, again=0, ended=True))
        progress.finish()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue())
    assert "parts 6 of 10, 2.0/s, 2 s left, 2 ran again" in text
    linking = "On the cluster, Linking, entry 1: 12 parts in 4.0 s, workers 58% idle, 4.0 MB sent, 10.0 kB received, 2 ran again\n"
    assert linking in text.replace("\r", "")
    assert "On the cluster, Searching: 6 parts in 3.0 s, workers 50% idle\n" in text.replace("\r", "")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_name_in_a_stage_or_a_note_stays_on_its_line(is_terminal: bool) -> None:
    shown = io.StringIO()
    with ConsoleProgress(Console(file=shown, force_terminal=is_terminal, width=160)) as progress:
        progress.start("Reading [/red]a\nb\x1b]0;owned", 10, "[/questions]")
        progress._bars.refresh()
        progress.finish("1 of [bold]\nc\rd")
        assert "\nb" not in shown.getvalue()
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue()).replace("\r", "")
    assert re.search(r"Reading \[/red\]a b␛\]0;owned: 1 of \[bold\] c d \(0\.\d s\)\n", last), last


def test_a_line_of_a_terminal_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().say("  two  spaces\nand\ta\x1bname")
    assert capsys.readouterr().out == "  two  spaces␊and␉a␛name\n"


def test_a_terminal_of_no_columns_shows_everything(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    Terminal().print("some words")
    assert capsys.readouterr().out == "some words\n"
