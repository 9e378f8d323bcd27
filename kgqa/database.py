"""Databases through SQLAlchemy: an SQLite file or a PostgreSQL server, and the meaning of their errors.

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

from kgqa.errors import BrokenInput, KgqaError, SettingsError, StorageError, StoreUnreachable, storage_errors

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, Pool

PATIENCE = 30.0
"""Seconds to wait for a locked database when nobody is waiting for the result."""
HIDDEN = "***"
_REFUSALS = {
    "locked": "another process has kept it locked; try again when that is done, or choose another {option}",
    "readonly": "it is read-only; choose another {option}",
    "unable to open": "it cannot be opened, or its folder cannot be written to; choose another {option}",
    "full": "the disk is full; free some space and run the same command again",
    "disk i/o": "the disk reports an input/output error; check it before you run again",
}
"""A part of SQLite's message → what it means."""
_LOST = {"OperationalError", "InterfaceError"}
"""Names of the errors of a lost or refused connection, in SQLAlchemy and in drivers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One database; nothing is opened before first use."""

    name: str
    """The name in messages: the path, or the address without user, password and options."""
    option: str
    """The option or setting that names it, for messages."""
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

    def make_folder(self) -> None:
        """Make the folder of an SQLite file."""
        if self.path is not None:
            with storage_errors(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)

    def engine(self, *, write: bool = True, patience: float = PATIENCE, pool: type[Pool] | None = None, **options: Any) -> Engine:
        """An engine; by default each of its connections is opened anew. A writing one of SQLite locks the file when a transaction begins.

        Raises SettingsError where the driver is not installed.
        """
        from sqlalchemy import create_engine, event
        from sqlalchemy.exc import NoSuchModuleError
        from sqlalchemy.pool import NullPool

        pool = pool or NullPool
        if self.path is None:
            try:
                return create_engine(self.url or "", poolclass=pool, **options)
            except (ImportError, NoSuchModuleError):
                raise SettingsError(
                    f"{self.name}: the database's driver is not installed; run pip install 'psycopg[binary]' first."
                ) from None
        # What a killed process left half-written has to be undone before anything can be read.
        has_journal = any(self.path.with_name(f"{self.path.name}-{kind}").exists() for kind in ("journal", "wal"))
        address = f"file:{quote(os.path.abspath(self.path))}?mode={'rwc' if write else 'rw' if has_journal else 'ro'}"
        engine = create_engine(
            "sqlite://",
            poolclass=pool,
            creator=lambda: sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False),
            **options,
        )
        if write:
            # Who reads first and writes then may find that somebody else wrote in between, for which SQLite does not wait.
            event.listen(engine, "begin", _begin_immediately)
        return engine

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Raise errors of SQLAlchemy and of the driver as KgqaError."""
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except (SQLAlchemyError, *_driver_errors()) as error:  # type: ignore[misc] # mypy does not read a tuple with more than one part
            raise self._sentence(error) from None

    def _sentence(self, error: Exception) -> KgqaError:
        reason = " ".join(str(getattr(error, "orig", None) or error).split())
        if self.path is None:
            if _LOST & {kind.__name__ for kind in type(error).__mro__}:
                return StoreUnreachable(f"{self.name}: the database does not answer, or lets nobody in; check address, user and password.")
            return StorageError(f"{self.name}: the database refuses ({self.hide(reason)[:200]}); choose another database.")
        for word, meaning in _REFUSALS.items():
            if word in reason.lower():
                return StorageError(f"{self.path}: {meaning.format(option=self.option)}.")
        return BrokenInput(f"{self.path}: this is no database of SQLite, or a damaged one ({reason[:100]}); choose another file.")


def database_at(location: str | Path, *, option: str, file: str) -> Database:
    """The database at ``location``: an address, a file, or a folder that has or gets the file ``file``. Raises SettingsError."""
    if not str(location):
        raise SettingsError(f"{option} is empty; give a folder, a file or a database's address, or leave it out.")
    if is_address(location):
        return _database_of_address(str(location), option)
    path = Path(location)
    with storage_errors(path):
        is_file = path.is_file() or (not path.exists() and bool(path.suffix))
    path = path if is_file else path / file
    return Database(name=str(path), option=option, path=path)


def _driver_errors() -> tuple[type[Exception], ...]:
    """The errors of the drivers that are installed."""
    try:
        from psycopg import Error
    except ImportError:
        return (sqlite3.Error,)
    return (sqlite3.Error, Error)


def is_address(location: str | Path) -> bool:
    """Whether this is meant as a database's address, even a mistyped one: a path would be printed, with a password in it."""
    text = str(location)
    return "://" in text or ("@" in text and ":" in text and not os.path.lexists(text))


def _database_of_address(address: str, option: str) -> Database:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    examples = "give one as postgresql://USER@HOST/NAME or sqlite:///FILE, or a folder"
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise SettingsError(f"{option} is not the address of a database; {examples}.") from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        if not url.database or url.database == ":memory:":
            raise SettingsError(f"{option} is a database in memory, which nobody could read again; {examples}.")
        return Database(name=url.database, option=option, path=Path(url.database))
    if kind != "postgresql":
        raise SettingsError(f"{option} is a database of a kind that kgqa does not know; {examples}.")
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    host_and_name = f"{url.host or ''}{f':{url.port}' if url.port else ''}/{url.database or ''}"
    return Database(name=f"{kind}://{host_and_name}", option=option, url=url)


def _secrets(url: URL) -> Iterator[str]:
    """The password, plain and URL-quoted, and the values of options that may be one."""
    for value in (url.password, *url.query.values()):
        for text in (value,) if isinstance(value, str) else value or ():
            if text:
                yield str(text)
                yield quote(str(text), safe="")


def _begin_immediately(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
