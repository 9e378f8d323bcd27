"""Where a reader sends its requests, and the file that keeps the answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgqa.chat.recording import Recording, only_recording
from kgqa.errors import storage_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """An endpoint and a recording, which all readers of a run share."""

    path: Path
    """The file of the recording; its folder is made."""
    address: str | None = None
    """None: as the environment names it."""

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """The recording, locked against other processes; if it stays empty, neither it nor a folder made for it is left.

        Raises WorkspaceBusy, BrokenInput, StorageError.
        """
        folder = self.path.parent
        is_new = not folder.exists()
        with storage_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            with only_recording(self.path) as recording:
                yield recording
        finally:
            if is_new and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
