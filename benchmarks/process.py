"""Run a program and see how long it took and how much memory it held."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One finished run of a program."""

    seconds: float
    """Wall clock."""
    processor: float
    """Seconds of all cores."""
    gibibytes: float
    """The largest resident memory."""
    output: str


def python(arguments: Sequence[str], *, environment: Mapping[str, str] | None = None, root: Path = ROOT) -> Outcome:
    """Run this Python with ``arguments`` in the repository, or in another checkout; raises RuntimeError with its last words if it fails."""
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=root, env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments[:3])} … ended with {process.returncode}:\n{output[-2000:]}")
    return Outcome(seconds=seconds, processor=usage.ru_utime + usage.ru_stime, gibibytes=usage.ru_maxrss / 2**20, output=output)
