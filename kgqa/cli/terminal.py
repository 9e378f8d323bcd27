"""Console of the commands: it prints data as it is, and survives a closed pipe."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.console import Console

from kgqa.cli import print_nowhere
from kgqa.cli.printable import as_line

if TYPE_CHECKING:
    from kgqa.cli.progress import ConsoleProgress


class Terminal(Console):
    """A console that goes on when the reader of a pipe has gone, as in ``kgqa audit set | head``; Rich would exit with status 1."""

    def __init__(self, *, highlight: bool = False, markup: bool = False) -> None:
        """Text is printed literally, unless ``markup`` is set."""
        # Rich would print nothing at all into a terminal of no columns, as some programs that start others name it.
        width = 80 if set(os.environ.get("COLUMNS", "")) == {"0"} else None
        super().__init__(highlight=highlight, markup=markup, emoji=False, width=width)

    def say(self, text: str, *, style: str | None = None) -> None:
        """Print one line, however narrow the terminal, with control characters and line ends made visible."""
        self.print(as_line(text), style=style, soft_wrap=True, markup=False)

    def progress(self) -> ConsoleProgress:
        """Draws what a command does while it runs."""
        from kgqa.cli.progress import ConsoleProgress

        return ConsoleProgress(self)

    def on_broken_pipe(self) -> None:
        """Go on without printing: files and the exit status do not depend on the terminal."""
        self.quiet = True
        print_nowhere()
