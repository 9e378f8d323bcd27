"""Where runs are recorded: a file of SQLite, or the database of a server, and what its refusals mean.

An address may hold a password. So no message shows an address as it was given, nor what a driver says as it says it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kgqa.errors import BrokenInput, KgqaError, MissingInput, SettingsError, StorageError, StoreUnreachable, storage_errors

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

FILE = "runs.sqlite"
VARIABLE = "KGQA_RUNS"
PATIENCE = 30.0
"""Seconds that a locked database is waited for where nobody waits for us."""
HIDDEN = "***"
_LOCK = 0x6B676171
"""The number of the lock under which tables are made on a server."""
_REFUSALS = {
    "locked": "another process has kept it locked; try again when that is done, or choose another --runs",
    "readonly": "it is read-only; choose another --runs",
    "unable to open": "it cannot be opened, or its folder cannot be written to; choose another --runs",
    "full": "the disk is full; free some space and run the same command again",
    "disk i/o": "the disk reports an input/output error; check it before you run again",
}
"""What SQLite says, and what it means."""


def require_sqlalchemy() -> None:
    """Raise SettingsError with the install line where SQLAlchemy is missing, before any work is done."""
    if find_spec("sqlalchemy") is None:
        raise SettingsError("runs are recorded with SQLAlchemy, which is not installed; run: pip install 'kgqa[readers]'")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDatabase:
    """One database; nothing is opened before it is used."""

    name: str
    """What messages call it: the path, or the address without user, password and options."""
    path: Path | None = None
    """Of a file of SQLite."""
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
        """A setting without the address, whose other texts may hold what happens to be a password, too."""
        return self.hide(text) if "://" in text or (self.url is not None and text in _secrets(self.url)) else text

    @contextmanager
    def writing(self, patience: float = PATIENCE) -> Iterator[Connection]:
        """A transaction that nobody else's comes between; the tables are there. Raises KgqaError, as :meth:`reading` does."""
        if self.path is not None:
            with storage_errors(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._refusals(), self._engine(patience=patience).begin() as connection:
            self._prepare(connection)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction in which nothing is changed; MissingInput where there is no such file, BrokenInput where it is something else."""
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
        undoes = self.path.with_name(f"{self.path.name}-journal").exists()
        address = f"file:{quote(os.path.abspath(self.path))}?mode={'rwc' if write else 'rw' if undoes else 'ro'}"
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
        """False where the tables are not there yet; BrokenInput where others are that have their names, or newer ones."""
        from sqlalchemy import inspect, select

        from kgqa.training import run_tables

        there = set(inspect(connection).get_table_names())
        if run_tables.SCHEMA.name not in there:
            if there & {run_tables.RUN.name, run_tables.POINT.name}:
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

        said = " ".join(str(getattr(error, "orig", None) or error).split())
        if self.path is None:
            if isinstance(error, OperationalError):
                return StoreUnreachable(f"{self.name}: the database does not answer, or lets nobody in; check address, user and password.")
            return StorageError(f"{self.name}: the database refuses ({self.hide(said)[:200]}); choose another database.")
        for word, meaning in _REFUSALS.items():
            if word in said.lower():
                return StorageError(f"{self.path}: {meaning}.")
        return BrokenInput(f"{self.path}: this is no database of SQLite, or a damaged one ({said[:100]}); choose another file.")


def run_database(given: str | Path | None, *, beside: Path) -> RunDatabase:
    """The database that is ``given``: an address, a file, or a folder in which it is or will be ``runs.sqlite``.

    Where nothing is given it is the one that the variable ``KGQA_RUNS`` names, else that in the folder ``beside``. Raises SettingsError.
    """
    require_sqlalchemy()
    where = given if given is not None else os.environ.get(VARIABLE) or beside
    if not str(where):
        raise SettingsError("--runs is empty; give a folder, a file or a database's address, or leave it out.")
    if is_address(where):
        return _addressed(str(where))
    path = Path(where)
    with storage_errors(path):
        is_file = path.is_file() or (not path.exists() and bool(path.suffix))
    path = path if is_file else path / FILE
    return RunDatabase(name=str(path), path=path)


def is_address(where: str | Path) -> bool:
    """Whether an address of a database is meant, be it with a slip of the hand: a path would be shown, with a password in it."""
    text = str(where)
    return "://" in text or ("@" in text and ":" in text and not os.path.lexists(text))


def _addressed(address: str) -> RunDatabase:
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
    place = f"{url.host or ''}{f':{url.port}' if url.port else ''}/{url.database or ''}"
    return RunDatabase(name=f"{kind}://{place}", url=url)


def _secrets(url: URL) -> Iterator[str]:
    """The password, as it is and as it stands in an address, and the values of options that may be one."""
    for value in (url.password, *url.query.values()):
        for text in (value,) if isinstance(value, str) else value or ():
            if text:
                yield str(text)
                yield quote(str(text), safe="")


def _begin_immediately(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
