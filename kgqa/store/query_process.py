"""Run a user's queries on an embedded graph in a process of its own, which is killed when it exceeds its limits.

The engine checks the clock only between its steps, and hardly checks its memory: counting thirty million numbers with a limit of two
seconds took 69 seconds and 24 GB. So the parent process watches from outside. The child also gives up its rights to write, to load and to
connect (:mod:`kgqa.store.sandbox`). It is a fresh interpreter, not a fork, because a fork of a program with threads may hang. It imports
only the engine and Arrow, and opens the graph for reading within 0.3 s.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgqa.errors import StoreError
from kgqa.store.limits import Answer, LimitErrors, Limits
from kgqa.store.memory import reading_memory
from kgqa.store.queries import read_queries
from kgqa.store.stop import stopped_by

PROGRAM = Path(__file__).with_name("query_program.py")
OPENING_SECONDS = 60.0
GRACE = 0.3
"""Seconds that the engine has to notice by itself that its time is up, which leaves the process alive."""
HAS_PROC = os.path.exists("/proc/self/statm")
INTERVAL = 0.01 if HAS_PROC else 0.1
"""Seconds between two looks; a query was seen to take 1.7 GB more in a second."""


class Refused(Exception):
    """A refusal by the engine, in its own words. The caller turns it into a sentence."""


class Worker:
    """A process that has one graph open; it answers one query after the other, and ends with the first that goes beyond its budget."""

    def __init__(self, graph: Path, *, memory: int, threads: int = 0) -> None:
        """Start it. Raises StoreError where it cannot open the graph."""
        self.memory = memory
        try:
            self._socket, self._process = _start_program()
        except OSError as failed:
            raise StoreError(f"{graph}: no process can be started to query the graph ({failed.strerror}); raise that limit.") from None
        self._ceiling = sys.maxsize
        try:
            buffer = min(reading_memory(graph), memory // 2)
            errors = LimitErrors(subject="to open the graph", options=False)
            start = {"path": sys.path, "graph": str(graph.absolute()), "first": read_queries()["answer"].text}
            self._send({**start, "buffer": buffer, "threads": threads, "memory": memory}, errors)
            reply = self._receive(errors, time.monotonic() + OPENING_SECONDS, OPENING_SECONDS)
            if error := reply.get("error"):
                raise StoreError(f"{graph}: the graph cannot be opened in a process of its own: {error}.")
            self.walls: tuple[str, ...] = tuple(reply["walls"])
            """Mechanisms that keep it from writing, loading and connecting, by their names in :mod:`kgqa.store.sandbox`; empty if there is
            none.
            """
        except BaseException:
            self.close()
            raise
        self._ceiling = _resident(self._process.pid) + memory

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def ask(self, text: str, values: Mapping[str, Any], limits: Limits, errors: LimitErrors) -> Answer:
        """The rows of the query ``text``. Raises Refused where the engine refuses, QueryTimeout, QueryMemory and QueryStopped."""
        with stopped_by(self._process.kill):
            return self._ask(text, values, limits, errors)

    def _ask(self, text: str, values: Mapping[str, Any], limits: Limits, errors: LimitErrors) -> Answer:
        end = time.monotonic() + limits.seconds + GRACE
        try:
            self._send((limits.seconds, text, dict(values), limits.rows, limits.bytes), errors)
            if error := self._receive(errors, end, limits.seconds).get("error"):
                raise Refused(error)
            pieces = []
            while piece := self._receive(errors, end, limits.seconds, raw=True):
                pieces.append(pa.ipc.open_stream(piece).read_all())
            return Answer(rows=pa.concat_tables(pieces), cut=self._receive(errors, end, limits.seconds)["cut"])
        except Refused:
            raise
        except BaseException:
            # The rest of the answer may still come, so this process cannot be used again.
            self.close()
            raise

    def close(self) -> None:
        """Kill the process and close its socket."""
        self._process.kill()
        self._process.wait()
        self._socket.close()
        if self._process.stdin:
            self._process.stdin.close()

    def _send(self, message: object, errors: LimitErrors) -> None:
        try:
            self._socket.send(message)
        except ConnectionError:  # it has ended since the last check
            raise errors.failed(self._process.wait(), self.memory) from None

    def _receive(self, errors: LimitErrors, end: float, seconds: float, *, raw: bool = False) -> Any:
        """The next message. Raises the error of the limit that is exceeded before it comes."""
        try:
            while not self._socket.poll(INTERVAL):
                self._look(errors, end, seconds)
            self._look(errors, end, seconds)
            return self._socket.recv_bytes() if raw else self._socket.recv()
        except (EOFError, ConnectionError):
            raise errors.failed(self._process.wait(), self.memory) from None

    def _look(self, errors: LimitErrors, end: float, seconds: float) -> None:
        if time.monotonic() > end:
            raise errors.too_long(seconds)
        if _resident(self._process.pid) > self._ceiling:
            raise errors.too_large(self.memory)


def _start_program() -> tuple[Connection, subprocess.Popen[bytes]]:
    """The child process, and the socket to it."""
    parent, child = Pipe()
    with child:
        command = [sys.executable, "-I", "-S", str(PROGRAM), str(child.fileno())]
        try:
            # Its own process group: Ctrl-C in a terminal reaches only the parent, which then ends it.
            return parent, subprocess.Popen(  # noqa: S603 - our own interpreter and file
                command,
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[child.fileno()], process_group=0,
            )  # fmt: skip
        except BaseException:
            parent.close()
            raise


def _resident(process: int) -> int:
    """Bytes of memory that a process holds; 0 where it has ended."""
    try:
        if HAS_PROC:
            with open(f"/proc/{process}/statm", encoding="ascii") as status:
                return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        command = ["/bin/ps", "-o", "rss=", "-p", str(process)]  # macOS
        output = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - nothing of a user is in it
        return int(output.stdout or 0) << 10
    except (OSError, ValueError, IndexError):
        return 0
