"""The command line: parses, calls the function of the same name, prints what it returns. The only place that prints."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import signal
import sys
from functools import partial
from types import FrameType
from typing import NoReturn

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SOON = 0.02
"""Seconds after which an interruption is tried again."""
TRIES = 100
ABORTS = "torch"
"""A package whose compiled code calls Python where an exception must not come out of it: the process would be aborted."""


def _interrupt(number: int, frame: FrameType | None, *, tries: int = TRIES) -> None:
    """Raise KeyboardInterrupt; while ``ABORTS`` is at work try again soon, so often as ``tries`` says."""
    if tries and _is_within(ABORTS, frame):
        _try_again(tries - 1)
    else:
        raise KeyboardInterrupt


def _try_again(tries: int = TRIES) -> None:
    signal.signal(signal.SIGALRM, partial(_interrupt, tries=tries))
    signal.setitimer(signal.ITIMER_REAL, SOON)


def _is_within(package: str, frame: FrameType | None) -> bool:
    """Whether a function of ``package`` is being called."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            return True
        frame = frame.f_back
    return False


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Where the signal came while C code had called Python, as compilers do, Python only reports it, and the run would go on."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        _try_again()
    else:
        sys.__unraisablehook__(lost)


def print_nowhere() -> None:
    """Whoever read our output has gone, or its disk is full; what is still printed, and what waits to be, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _end(status: int) -> NoReturn:
    """Exit; all is said and done, so that who stops what is left, the interpreter's own end, changes neither.

    Only at its end: whoever calls :func:`main` within a program goes on, and what it starts would inherit signals that are ignored.
    """
    atexit.register(_ignore_signals)
    sys.exit(status)


def _ignore_signals() -> None:
    for number in (*STOPPING, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def main() -> None:
    """Run the command; a mistake of the user ends in one line on standard error and exit status 2."""
    from kgqa.cli.printable import printable
    from kgqa.errors import InterruptedRun, KgqaError

    # A scheduler that stops the run, or a terminal that is closed, is to leave as little behind as a person who stops it.
    for number in STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    os.environ.setdefault("HF_HUB_VERBOSITY", "critical")  # what the hub's package has to say stands in our own sentence
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without a letter shows its number
    try:
        try:
            from kgqa.cli.app import run

            _end(run())
        except (KeyboardInterrupt, SystemError) as error:
            # Compiled code that is interrupted fails with an error of its own, whose cause is the interruption.
            if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise
            raise InterruptedRun("stopped; run the same command again.") from None
    except KgqaError as error:
        print(f"kgqa: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        if isinstance(error, InterruptedRun):
            # The frames that were interrupted go, and with them what a generator on its way to a "with" had made.
            error.__context__ = None
            gc.collect()
            # Python ends with the signal's status, not with ours, where the signal came while a library ran code by PyRun_String.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(2)
        _end(2)
    except BrokenPipeError:
        # Whoever read our output has gone, as in "kgqa query hubs | head"; nothing is wrong.
        print_nowhere()
        sys.exit(0)
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        print_nowhere()
        print("kgqa: standard output: the disk is full; free some space and run the same command again.", file=sys.stderr)
        sys.exit(2)
