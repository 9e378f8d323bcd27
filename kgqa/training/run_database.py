"""Where runs are recorded: an SQLite file, or a database server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.database import PATIENCE, Database, database_at
from kgqa.errors import BrokenInput, MissingInput
from kgqa.training.extra import RECORDS, require_readers

if TYPE_CHECKING:
    from sqlalchemy import Connection

FILE = "runs.sqlite"
VARIABLE = "KGQA_RUNS"
_LOCK = 0x6B676171
"""The number of the server's lock under which tables are created."""


class RunDatabase(Database):
    """The database of runs; nothing is opened before first use."""

    @contextmanager
    def writing(self, patience: float = PATIENCE) -> Iterator[Connection]:
        """An exclusive transaction, with the tables created. Raises KgqaError, as :meth:`reading` does."""
        self.make_folder()
        with self.refusals(), self.engine(patience=patience).begin() as connection:
            self._prepare(connection)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction. Raises MissingInput if there is no such file, BrokenInput if it is something else."""
        if self.path is not None and not self.path.is_file():
            raise MissingInput(f"{self.path}: no runs are recorded here; give a folder or file of runs that kgqa train recorded.")
        with self.refusals(), self.engine(write=False).connect() as connection:
            if not self._is_ours(connection):
                raise MissingInput(
                    f"{self.name}: no runs are recorded in this database; give the database of runs that kgqa train recorded."
                )
            try:
                yield connection
            except ValueError as error:  # of a column of JSON
                raise BrokenInput(
                    f"{self.name}: its description of a run or a point is not JSON ({error}); choose another, or train again."
                ) from None

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


def run_database(where: str | Path | None, *, beside: Path) -> RunDatabase:
    """The database at ``where``: an address, a file, or a folder that has or gets a ``runs.sqlite``.

    Without ``where``: the database in the variable ``KGQA_RUNS``, else the one in the folder ``beside``. Raises SettingsError.
    """
    require_readers("the record of runs", needed=RECORDS)
    named = os.environ.get(VARIABLE) if where is None else None
    database = database_at(named or (beside if where is None else where), option=VARIABLE if named else "--runs", file=FILE)
    return RunDatabase(name=database.name, option=database.option, path=database.path, url=database.url)
