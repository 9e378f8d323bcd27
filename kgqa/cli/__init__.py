"""The command line: parses, calls the function of the same name, prints what it returns. The only place that prints."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import logging
import os
import signal
import sys
from functools import partial
from types import FrameType
from typing import NoReturn

from kgqa.stop import NUMBERS, STOP

SOON = 0.02
"""Seconds until the next attempt to interrupt."""
TRIES = 100
DELICATE = frozenset({"torch", "numba"})
"""Packages whose compiled code calls Python where an exception would abort the process or be lost."""


def _interrupt(number: int, frame: FrameType | None, *, tries: int = TRIES) -> None:
    """Raise KeyboardInterrupt. A running kernel is interrupted at its end; a function of a ``DELICATE`` package delays it, for up to
    ``tries`` attempts.
    """
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
    """Whether the program is inside such a package."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in DELICATE:
            return True
        frame = frame.f_back
    return False


def _interrupt_again(hook_arguments: sys.UnraisableHookArgs) -> None:
    """Repeat an interruption that came while C code had called Python: Python would only report it, and the run would go on."""
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


class _Notes(logging.Handler):
    """Prints the first note of a process about compiled code that cannot be kept: each run is then much slower."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line, and no further one."""
        from kgqa.cli.printable import as_line

        self.setLevel(logging.CRITICAL + 1)
        print(f"kgqa: {as_line(record.getMessage())}.", file=sys.stderr)


_NOTES = _Notes()


def _set_up_process() -> None:
    """Handlers of signals, and the streams that are printed to."""
    STOP.number = None
    logging.getLogger("kgqa.arrays.cache").addHandler(_NOTES)  # which keeps it once, however often this is called
    # SIGTERM from a scheduler and SIGHUP from a closed terminal must clean up like Ctrl-C.
    for number in NUMBERS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    os.environ.setdefault("HF_HUB_VERBOSITY", "critical")  # our own sentence says what the hub's package logs
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without a letter shows its number


def main() -> None:
    """Run the command. An error of the user prints one line and exits with 2; a signal prints one line and exits with 128 plus its
    number.
    """
    from kgqa.cli.printable import printable
    from kgqa.errors import InterruptedRun, KgqaError

    _set_up_process()
    try:
        try:
            from kgqa.cli.app import run

            _end(run())
        except KgqaError:
            raise
        except (KeyboardInterrupt, Exception) as error:
            # Interrupted compiled code raises a SystemError, whose cause is the KeyboardInterrupt; a compiler raises an error of its own.
            if not _is_interruption(error) and STOP.number is None:
                raise
            _ignore_signals()  # a second signal would interrupt the clean-up
            raise InterruptedRun("stopped; run the same command again.") from None
    except KgqaError as error:
        if isinstance(error, InterruptedRun):
            _ignore_signals()
        print(f"kgqa: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        if isinstance(error, InterruptedRun):
            # Drop the interrupted frames, so that generators that had not reached their "with" clean up.
            error.__context__ = None
            gc.collect()
            # If the signal came while a library ran code with PyRun_String, Python would end with the signal's status instead of ours.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(STOP.status)
        _end(2)
    except MemoryError:
        print("kgqa: there is not enough memory for this; close other programs, or give it smaller files or limits.", file=sys.stderr)
        _end(2)
    except BrokenPipeError:
        # The reader of the pipe has gone, as in "kgqa query hubs | head"; that is no error.
        print_nowhere()
        sys.exit(0)
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        print_nowhere()
        print("kgqa: standard output: the disk is full; free some space and run the same command again.", file=sys.stderr)
        sys.exit(2)
