"""What the commands print on: a console that outlives its reader."""

from __future__ import annotations

from rich.console import Console

from kgqa.cli import print_nowhere


class Terminal(Console):
    """Rich would end the program, with status 1, where whoever reads our output has gone, as in ``kgqa audit set | head``."""

    def on_broken_pipe(self) -> None:
        """Go on without printing: what is written to files, and the exit status, do not depend on who looks on."""
        self.quiet = True
        print_nowhere()
