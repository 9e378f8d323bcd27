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

from kgqa.stop import NUMBERS, STOP

SOON = 0.02
"""Seconds after which an interruption is tried again."""
TRIES = 100
DELICATE = frozenset({"torch", "numba"})
"""Packages whose compiled code calls Python where no exception must come out: the process would be aborted, or the exception lost."""


def _interrupt(number: int, frame: FrameType | None, *, tries: int = TRIES) -> None:
    """Raise KeyboardInterrupt; where a kernel is at work at its end, and where something ``DELICATE`` is soon, after ``tries`` at most."""
    if number != signal.SIGALRM and STOP.came(number):
        return
    if tries and _is_delicate(frame):
        _try_again(tries - 1)
    else:
        raise KeyboardInterrupt


def _try_again(tries: int = TRIES) -> None:
    signal.signal(signal.SIGALRM, partial(_interrupt, tries=tries))
    signal.setitimer(signal.ITIMER_REAL, SOON)


def _is_delicate(frame: FrameType | None) -> bool:
    """Whether a function of such a package is being called."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in DELICATE:
            return True
        frame = frame.f_back
    return False


def _interrupt_again(hook_arguments: sys.UnraisableHookArgs) -> None:
    """Where the signal came while C code had called Python, as compilers do, Python only reports it, and the run would go on."""
    if isinstance(hook_arguments.exc_value, KeyboardInterrupt):
        _try_again()
    else:
        sys.__unraisablehook__(hook_arguments)


def print_nowhere() -> None:
    """Discard further output: its reader has gone, or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _end(status: int) -> NoReturn:
    """Exit. All work and output is done, so a signal during the interpreter's shutdown must not change the exit status.

    Signals are ignored only from the interpreter's exit on: a longer program that calls :func:`main` goes on, and its child processes would
    inherit ignored signals.
    """
    atexit.register(_ignore_signals)
    sys.exit(status)


def _ignore_signals() -> None:
    for number in (*NUMBERS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def _is_interruption(error: BaseException | None) -> bool:
    """Whether the error is a KeyboardInterrupt, or the chain of SystemErrors that compiled code makes of one."""
    while isinstance(error, SystemError):
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)


def main() -> None:
    """Run the command; a mistake of the user ends in one line on standard error and status 2, a signal in one and 128 and its number."""
    from kgqa.cli.printable import printable
    from kgqa.errors import InterruptedRun, KgqaError

    STOP.number = None
    # A scheduler that stops the run, or a terminal that is closed, is to leave as little behind as a person who stops it.
    for number in NUMBERS:
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
            if not _is_interruption(error):
                raise
            _ignore_signals()  # a second one would end what the first one began
            raise InterruptedRun("stopped; run the same command again.") from None
    except KgqaError as error:
        if isinstance(error, InterruptedRun):
            _ignore_signals()
        print(f"kgqa: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        if isinstance(error, InterruptedRun):
            # The frames that were interrupted go, and with them what a generator on its way to a "with" had made.
            error.__context__ = None
            gc.collect()
            # Python ends with the signal's status, not with ours, where the signal came while a library ran code by PyRun_String.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(STOP.status)
        _end(2)
    except MemoryError:
        print("kgqa: there is not enough memory for this; close other programs, or give it smaller files or limits.", file=sys.stderr)
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
