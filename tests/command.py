"""The command line as users meet it: what it printed, and the one sentence in which a mistake ends."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS = {"runs": "training_runs", "import": "import_files"}
"""Command → its function, where a part of the package, or a word of Python, has the command's name."""
COMMAND = [sys.executable, "-m", "kgqa"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str

    def sentence(self, *parts: str) -> str:
        """The sentence of a mistake, which must be the only line on standard error and hold all ``parts``."""
        return self._sentence(2, *parts)

    def stopped(self, number: int, *parts: str) -> str:
        """The sentence of a run that the signal ended."""
        return self._sentence(128 + number, *parts)

    def _sentence(self, status: int, *parts: str) -> str:
        assert self.status == status, (self.status, self.err)
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("kgqa: "), lines
        assert lines[0].endswith((".", "?")), lines
        for part in parts:
            assert part in lines[0], (part, lines[0])
        return lines[0]


def function_name(command: str) -> str:
    """What the function of a command is called."""
    return FUNCTIONS.get(command, command)


def environment() -> dict[str, str]:
    """This checkout's ``kgqa``, whatever folder the command runs in."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run_command(*arguments: str | Path, cwd: Path | None = None, seconds: float = 120) -> Outcome:
    """``kgqa ARGUMENTS`` as a process of its own, which may take so many ``seconds``."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, env=environment(), capture_output=True, text=True, check=False, timeout=seconds
    )
    return Outcome(status=done.returncode, out=done.stdout, err=done.stderr)
