"""An import that kills itself at a step: ``python -m tests.runs.killed_import STEP OUT PART_BYTES WORKERS FORMAT FILE…``.

A step is a note of a part, a query of the merge or a table that is put in its place, so the place of a kill does not depend on the clock.
Step 0 is never reached.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kgqa
from kgqa.runs import importing, merging, parts


def main() -> None:
    """Count the steps, and die at that one before it is done; ``steps: N`` says how many there were."""
    last, count = int(sys.argv[1]), 0

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return call

    parts.PART_BYTES = int(sys.argv[3])
    importing.PROCESSES_FROM = importing.MUCH_LONGER = 0  # all processes read each file, so that this one notes the parts
    parts.note_part = counted(parts.note_part)
    merging._write = counted(merging._write)
    merging._view = counted(merging._view)
    Path.replace = counted(Path.replace)  # type: ignore[method-assign]
    kgqa.import_files(sys.argv[5], sys.argv[6:], out=sys.argv[2], workers=int(sys.argv[4]))
    sys.stdout.write(f"steps: {count}\n")


if __name__ == "__main__":
    main()
