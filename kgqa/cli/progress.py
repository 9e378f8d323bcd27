"""Progress as people see it: a bar with totals and the time that remains, and one line for each finished stage."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn


class ConsoleProgress:
    """Draws the progress of a command (:class:`kgqa.progress.Progress`) in the terminal."""

    def __init__(self, console: Console) -> None:
        """Bars appear on a terminal only; lines of finished stages everywhere."""
        self._console = console
        self._bars = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"), TimeRemainingColumn(),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self._task: TaskID | None = None
        self._stage, self._unit = "", ""
        self._total: int | None = None
        self._done, self._begin = 0, 0.0

    def __enter__(self) -> ConsoleProgress:
        """Start drawing the progress bar."""
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop drawing, also after an error."""
        self._bars.stop()

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage with an empty bar; without ``total`` the bar only counts."""
        self._drop()
        self._stage, self._total, self._unit, self._done, self._begin = stage, total, unit, 0, time.perf_counter()
        self._task = self._bars.add_task(stage, total=total, amount=self._amount())

    def advance(self, amount: int) -> None:
        """Move the bar by ``amount`` units."""
        self._done += amount
        if self._task is not None:
            self._bars.update(self._task, advance=amount, amount=self._amount())

    def finish(self, note: str = "") -> None:
        """Replace the bar by a line with the stage's note and seconds."""
        self._drop()
        self._console.print(f"{self._stage}: {note or 'done'} ({time.perf_counter() - self._begin:.1f} s)", soft_wrap=True)

    def _amount(self) -> str:
        if self._unit == "bytes":
            amount, total = f"{self._done / 1e6:,.1f}", "" if self._total is None else f" of {self._total / 1e6:,.1f}"
            return f"{amount}{total} MB"
        return f"{self._done:,}" + ("" if self._total is None else f" of {self._total:,}") + f" {self._unit}"

    def _drop(self) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
