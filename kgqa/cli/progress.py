"""Progress as people see it: a bar with totals and the time that remains, and one line for each finished stage."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

from kgqa.cli.printable import on_one_line
from kgqa.progress import PartsSeen


class ConsoleProgress:
    """Draws the progress of a command (:class:`kgqa.progress.Progress`) in the terminal."""

    def __init__(self, console: Console) -> None:
        """Bars appear on a terminal only; lines of finished stages everywhere."""
        self._console = console
        self._bars = Progress(
            SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[amount]}", markup=False),
            TimeRemainingColumn(), TextColumn("{task.fields[parts]}", markup=False),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self._task: TaskID | None = None
        self._stage, self._unit = "", ""
        self._total: int | None = None
        self._done, self._begin = 0, 0.0
        self._clusters: dict[str, list[PartsSeen]] = {}
        """Stage → the calls of it that ran on a cluster."""

    def __enter__(self) -> ConsoleProgress:
        """Start drawing the progress bar."""
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop drawing, also after an error, and say what a cluster did."""
        self._bars.stop()
        for stage, calls in self._clusters.items():
            self._console.print(f"On the cluster, {stage or 'before the first stage'}: {_summary(calls)}", soft_wrap=True, markup=False)

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage with an empty bar; without ``total`` the bar only counts."""
        self._drop()
        self._stage = on_one_line(stage)
        self._total, self._unit, self._done, self._begin = total, unit, 0, time.perf_counter()
        self._task = self._bars.add_task(self._stage, total=total, amount=self._amount(), parts="")

    def advance(self, amount: int) -> None:
        """Move the bar by ``amount`` units."""
        self._done += amount
        if self._task is not None:
            self._bars.update(self._task, advance=amount, amount=self._amount())

    def parts(self, state: PartsSeen) -> None:
        """Show what a cluster does of the stage, and keep what it did for the end."""
        if state.ended:
            self._clusters.setdefault(self._stage, []).append(state)
        if self._task is not None:
            self._bars.update(self._task, parts="" if state.ended else _state(state))

    def finish(self, note: str = "") -> None:
        """Replace the bar by a line with the stage's note and seconds."""
        self._drop()
        seconds = time.perf_counter() - self._begin
        self._console.print(f"{self._stage}: {on_one_line(note) or 'done'} ({seconds:.1f} s)", soft_wrap=True, markup=False)

    def _amount(self) -> str:
        if self._unit == "bytes":
            amount, total = f"{self._done / 1e6:,.1f}", "" if self._total is None else f" of {self._total / 1e6:,.1f}"
            return f"{amount}{total} MB"
        return f"{self._done:,}" + ("" if self._total is None else f" of {self._total:,}") + f" {self._unit}"

    def _drop(self) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None


def _state(state: PartsSeen) -> str:
    """Parts done, how fast, the time that remains, and what ran again."""
    rate = state.done / state.seconds if state.seconds else 0.0
    total = "" if state.total is None else f" of {state.total:,}"
    remaining = "" if state.total is None or not rate else f", {(state.total - state.done) / rate:,.0f} s left"
    return f"parts {state.done:,}{total}, {rate:,.1f}/s{remaining}{_again(state.again)}"


def _summary(calls: list[PartsSeen]) -> str:
    """Parts, seconds, idle share and bytes of all calls of a stage."""
    seconds, offered = sum(state.seconds for state in calls), sum(state.workers * state.seconds for state in calls)
    idle = max(0.0, 1 - sum(state.busy for state in calls) / offered) if offered else 0.0
    moved = ""
    if all(state.sent is not None and state.received is not None for state in calls):
        sent, received = sum(state.sent or 0 for state in calls), sum(state.received or 0 for state in calls)
        moved = f", {decimal(sent)} sent, {decimal(received)} received"
    again = _again(sum(state.again for state in calls))
    parts = sum(state.done for state in calls)
    return f"{parts:,} part{'' if parts == 1 else 's'} in {seconds:.1f} s, workers {idle:.0%} idle{moved}{again}"


def _again(count: int) -> str:
    return f", {count:,} ran again" if count else ""
