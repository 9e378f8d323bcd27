"""Console of the commands: it prints data as it is, and survives a closed pipe."""

from __future__ import annotations

from rich.console import Console

from kgqa.cli import print_nowhere
from kgqa.cli.printable import printable


class Terminal(Console):
    """Rich would end the program, with status 1, where whoever reads our output has gone, as in ``kgqa audit set | head``."""

    def __init__(self, *, highlight: bool = False, markup: bool = False) -> None:
        """Nothing in a text means anything but itself, unless ``markup`` says so."""
        super().__init__(highlight=highlight, markup=markup, emoji=False)

    def say(self, text: str, *, style: str | None = None) -> None:
        """One line, however narrow the terminal; what could command the terminal is shown."""
        self.print(printable(text), style=style, soft_wrap=True, markup=False)

    def on_broken_pipe(self) -> None:
        """Go on without printing: what is written to files, and the exit status, do not depend on who looks on."""
        self.quiet = True
        print_nowhere()
