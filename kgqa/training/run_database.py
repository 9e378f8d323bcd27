"""Where runs are recorded: an SQLite file, or a database server; and the meaning of their errors.

An address may contain a password. So no message shows an address as given, or a driver's text as it is.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kgqa.errors import BrokenInput, KgqaError, MissingInput, SettingsError, StorageError, StoreUnreachable, storage_errors
from kgqa.training.extra import RECORDS, require_readers

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

FILE = "runs.sqlite"
VARIABLE = "KGQA_RUNS"
PATIENCE = 30.0
"""Seconds to wait for a locked database when nobody is waiting for the result."""
HIDDEN = "***"
_LOCK = 0x6B676171
"""The number of the server's lock under which tables are created."""
_REFUSALS = {
    "locked": "another process has kept it locked; try again when that is done, or choose another --runs",
    "readonly": "it is read-only; choose another --runs",
    "unable to open": "it cannot be opened, or its folder cannot be written to; choose another --runs",
    "full": "the disk is full; free some space and run the same command again",
    "disk i/o": "the disk reports an input/output error; check it before you run again",
}
"""A part of SQLite's message → what it means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDatabase:
    """One database; nothing is opened before first use."""

    name: str
    """The name in messages: the path, or the address without user, password and options."""
    path: Path | None = None
    """The path of an SQLite file."""
    url: URL | None = field(default=None, repr=False)
    """Address of a database server; None for a file."""

    def hide(self, text: str) -> str:
        """``text`` without the address and its password."""
        if self.url is None:
            return text
        for secret in (self.url.render_as_string(hide_password=False), *_secrets(self.url)):
            text = text.replace(secret, HIDDEN)
        return text

    def hide_address(self, text: str) -> str:
        """A setting without the address. Other settings are returned as they are, even if they happen to equal the password."""
        return self.hide(text) if "://" in text or (self.url is not None and text in _secrets(self.url)) else text

    @contextmanager
    def writing(self, patience: float = PATIENCE) -> Iterator[Connection]:
        """An exclusive transaction, with the tables created. Raises KgqaError, as :meth:`reading` does."""
        if self.path is not None:
            with storage_errors(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._refusals(), self._engine(patience=patience).begin() as connection:
            self._prepare(connection)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction. Raises MissingInput if there is no such file, BrokenInput if it is something else."""
        if self.path is not None and not self.path.is_file():
            raise MissingInput(f"{self.path}: no runs are recorded here; give the folder or file in which kgqa train recorded some.")
        with self._refusals(), self._engine(write=False).connect() as connection:
            if not self._is_ours(connection):
                raise MissingInput(f"{self.name}: no runs are recorded in this database; give the one that kgqa train recorded some in.")
            try:
                yield connection
            except ValueError as error:  # of a column of JSON
                raise BrokenInput(f"{self.name}: what it holds of a run is no JSON ({error}); choose another, or train again.") from None

    def _engine(self, *, write: bool = True, patience: float = PATIENCE) -> Engine:
        from sqlalchemy import create_engine, event
        from sqlalchemy.exc import NoSuchModuleError
        from sqlalchemy.pool import NullPool

        if self.path is None:
            try:
                return create_engine(self.url or "", poolclass=NullPool)
            except (ImportError, NoSuchModuleError):
                raise SettingsError(
                    f"{self.name}: the database's driver is not installed; run pip install 'psycopg[binary]' first."
                ) from None
        # What a killed process left half-written has to be undone before anything can be read.
        has_journal = self.path.with_name(f"{self.path.name}-journal").exists()
        address = f"file:{quote(os.path.abspath(self.path))}?mode={'rwc' if write else 'rw' if has_journal else 'ro'}"
        engine = create_engine(
            "sqlite://", poolclass=NullPool, creator=lambda: sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
        )
        if write:
            # Who reads first and writes then may find that somebody else wrote in between, for which SQLite does not wait.
            event.listen(engine, "begin", _begin_immediately)
        return engine

    def _prepare(self, connection: Connection) -> None:
        from sqlalchemy import func, insert, select

        from kgqa.training import run_tables

        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        if not self._is_ours(connection):
            run_tables.METADATA.create_all(connection)
            connection.execute(insert(run_tables.SCHEMA).values(version=run_tables.VERSION))

    def _is_ours(self, connection: Connection) -> bool:
        """False if the tables do not exist yet. Raises BrokenInput if other tables have their names, or they have another version."""
        from sqlalchemy import inspect, select

        from kgqa.training import run_tables

        tables = set(inspect(connection).get_table_names())
        if run_tables.SCHEMA.name not in tables:
            if tables & {run_tables.RUN.name, run_tables.POINT.name}:
                raise BrokenInput(f"{self.name}: this is another program's database, which has a table of ours; choose another --runs.")
            return False
        version = connection.execute(select(run_tables.SCHEMA.c.version)).scalar()
        if version != run_tables.VERSION:
            raise BrokenInput(
                f"{self.name}: its tables have version {version}, this kgqa knows version {run_tables.VERSION}; use the kgqa that made "
                "them, or choose another --runs."
            )
        return True

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except SQLAlchemyError as error:
            raise self._sentence(error) from None

    def _sentence(self, error: Exception) -> KgqaError:
        from sqlalchemy.exc import OperationalError

        reason = " ".join(str(getattr(error, "orig", None) or error).split())
        if self.path is None:
            if isinstance(error, OperationalError):
                return StoreUnreachable(f"{self.name}: the database does not answer, or lets nobody in; check address, user and password.")
            return StorageError(f"{self.name}: the database refuses ({self.hide(reason)[:200]}); choose another database.")
        for word, meaning in _REFUSALS.items():
            if word in reason.lower():
                return StorageError(f"{self.path}: {meaning}.")
        return BrokenInput(f"{self.path}: this is no database of SQLite, or a damaged one ({reason[:100]}); choose another file.")


def run_database(where: str | Path | None, *, beside: Path) -> RunDatabase:
    """The database at ``where``: an address, a file, or a folder that has or gets a ``runs.sqlite``.

    Without ``where``: the database in the variable ``KGQA_RUNS``, else the one in the folder ``beside``. Raises SettingsError.
    """
    require_readers("the record of runs", needed=RECORDS)
    location = where if where is not None else os.environ.get(VARIABLE) or beside
    if not str(location):
        raise SettingsError("--runs is empty; give a folder, a file or a database's address, or leave it out.")
    if is_address(location):
        return _database_of_address(str(location))
    path = Path(location)
    with storage_errors(path):
        is_file = path.is_file() or (not path.exists() and bool(path.suffix))
    path = path if is_file else path / FILE
    return RunDatabase(name=str(path), path=path)


def is_address(location: str | Path) -> bool:
    """Whether this is meant as a database's address, even a mistyped one: a path would be printed, with a password in it."""
    text = str(location)
    return "://" in text or ("@" in text and ":" in text and not os.path.lexists(text))


def _database_of_address(address: str) -> RunDatabase:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    examples = "give one as postgresql://USER@HOST/NAME or sqlite:///FILE, or a folder"
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise SettingsError(f"--runs is not the address of a database; {examples}.") from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        if not url.database or url.database == ":memory:":
            raise SettingsError(f"--runs is a database in memory, which nobody could read again; {examples}.")
        return RunDatabase(name=url.database, path=Path(url.database))
    if kind != "postgresql":
        raise SettingsError(f"--runs is a database of a kind that kgqa does not know; {examples}.")
    host_and_name = f"{url.host or ''}{f':{url.port}' if url.port else ''}/{url.database or ''}"
    return RunDatabase(name=f"{kind}://{host_and_name}", url=url)


def _secrets(url: URL) -> Iterator[str]:
    """The password, plain and URL-quoted, and the values of options that may be one."""
    for value in (url.password, *url.query.values()):
        for text in (value,) if isinstance(value, str) else value or ():
            if text:
                yield str(text)
                yield quote(str(text), safe="")


def _begin_immediately(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
