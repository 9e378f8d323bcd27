"""The command line: parses, calls the function of the same name, prints what it returns. The only place that prints."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command; a mistake of the user ends in one line on standard error and exit status 2."""
    from kgqa.cli.app import app
    from kgqa.errors import KgqaError

    try:
        app()
    except KgqaError as error:
        print(f"kgqa: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has gone, as in "kgqa query hubs | head"; nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
