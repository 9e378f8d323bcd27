"""A PostgreSQL server of the tests' own, from the system packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.ports import free_port


def binaries() -> Path | None:
    """The folder of the server's programs; None where it is not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = next((folder for folder in reversed(folders) if (folder / "initdb").is_file()), None)
    if found is None and (program := shutil.which("initdb")) is not None:
        found = Path(program).resolve().parent
    return found


class Postgres:
    """A server with one empty database on a free port of this machine."""

    def __init__(self, programs: Path) -> None:
        """Make the data folder; the server refuses to run as root, so root hands it to the user that the package made."""
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="kgqa-postgres-"))
        self._data = self._folder / "data"
        self._prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._prefix:
            shutil.chown(self._folder, "postgres")
        self._port = free_port()
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", "kgqa", "--no-sync")
        self.start()
        self._run("createdb", "-h", "127.0.0.1", "-p", self._port, "-U", "kgqa", "annotations")

    @property
    def address(self) -> str:
        """The address of the database."""
        return f"postgresql://kgqa:s3cret@127.0.0.1:{self._port}/annotations"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", self._data.parent / "log", "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")

    def remove(self) -> None:
        """Stop it, and remove its data."""
        self.stop()
        shutil.rmtree(self._folder)

    def _run(self, program: str, *arguments: object) -> None:
        command = [*self._prefix, str(self._programs / program), *map(str, arguments)]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
