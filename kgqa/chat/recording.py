"""A log of an endpoint's answers, written line by line, so that no paid request is repeated."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from kgqa.errors import BrokenInput, WorkspaceBusy, storage_errors
from kgqa.runs.files import key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one request."""

    text: str
    finish: str
    """The endpoint's reason for the end: ``stop``, ``length``, ``content_filter``."""
    input_tokens: Annotated[int, Field(ge=0)]
    """The endpoint's count, or an estimate without one; so is ``output_tokens``."""
    output_tokens: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    request: str
    answer: Answer


BEGIN = b'{"request": "'
"""The first bytes of each line."""
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)


def hash_of(answer: Answer) -> str:
    """A hash of the answer's text and finish reason, without its cost."""
    return key_of(answer.text, answer.finish)


class Recording:
    """A file of request hashes and answers; safe to use from several threads. Memory: all answers."""

    def __init__(self, path: Path) -> None:
        """Read an existing file; an incomplete last line is cut off. Raises BrokenInput, StorageError."""
        self.path = path
        self.input_tokens = self.output_tokens = 0
        """Totals over all answers."""
        self._lock = Lock()
        self._answers: dict[str, Answer] = {}
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                self._load()

    def _load(self) -> None:
        data = self.path.read_bytes()
        for number, line in enumerate(data.splitlines(), start=1):
            try:
                record = _LINE.validate_json(line)
            except ValidationError:
                if data.endswith(line) and _is_cut_off(line):
                    with self.path.open("r+b") as file:
                        file.truncate(len(data) - len(line))
                    return
                raise BrokenInput(
                    f"{self.path}, line {number}: this is no recorded answer; remove the line, and the request is sent again."
                ) from None
            self._remember(record.request, record.answer)
        if data and not data.endswith(b"\n"):  # an editor removed the last line break
            with self.path.open("ab") as file:
                file.write(b"\n")

    def _remember(self, request: str, answer: Answer) -> None:
        self._answers[request] = answer
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens

    def __len__(self) -> int:
        """The number of answers."""
        return len(self._answers)

    def find(self, request: str) -> Answer | None:
        """The recorded answer to the request with this hash, or None."""
        return self._answers.get(request)

    def add(self, request: str, answer: Answer) -> None:
        """Store an answer; on return it is on disk. Raises StorageError, and leaves the file as it was."""
        line = json.dumps(asdict(_Line(request=request, answer=answer)), ensure_ascii=True) + "\n"
        data = line.encode("ascii")
        with self._lock, storage_errors(self.path), self.path.open("ab", buffering=0) as file:
            size = file.tell()
            try:
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
            self._remember(request, answer)


def _is_cut_off(line: bytes) -> bool:
    """Whether this may be the begin of a line that :meth:`Recording.add` was stopped in; another program's file is left as it is."""
    return (line.startswith(BEGIN) or BEGIN.startswith(line)) and not line.endswith(b"}}")


@contextmanager
def only_recording(path: Path) -> Iterator[Recording]:
    """The recording in the file ``path``, locked against other processes. Raises WorkspaceBusy, BrokenInput, StorageError."""
    with storage_errors(path):
        if path.exists() and not path.is_file():
            raise BrokenInput(f"{path}: this is no file, so it holds no recorded answers; give another one.")
        file = path.open("ab")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkspaceBusy(f"{path}: another run records its answers here; wait for it, or name another file.") from None
        except OSError:
            pass  # this file system has no locks
        try:
            yield Recording(path)
        finally:
            with suppress(OSError):
                if not path.stat().st_size:
                    path.unlink()
