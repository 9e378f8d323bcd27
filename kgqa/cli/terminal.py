"""What the commands print on: a console that outlives its reader."""

from __future__ import annotations

import os
import sys

from rich.console import Console


class Terminal(Console):
    """Rich would end the program, with status 1, where whoever reads our output has gone, as in ``kgqa audit set | head``."""

    def on_broken_pipe(self) -> None:
        """Go on without printing: what is written to files, and the exit status, do not depend on who looks on."""
        self.quiet = True
        print_nowhere()


def print_nowhere() -> None:
    """Whoever read our output has gone; what is still printed, and what waits to be, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
