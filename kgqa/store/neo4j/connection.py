"""The Neo4j store: a server that people can open in Neo4j Browser. Loaded by :mod:`kgqa.store.neo4j.graph`."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, LiteralString, cast

import pyarrow as pa

from kgqa.errors import QueryError, QueryMemory, QueryTimeout, SettingsError, StoreError, StoreUnreachable
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store import paths
from kgqa.store.base import as_declared, check_runs_on, first_line
from kgqa.store.cypher import check_own_query, check_reads_only
from kgqa.store.limits import OWN_LIMITS, Answer, LimitErrors, Limits, remaining
from kgqa.store.neo4j.rows import plan_steps, table_of, weight
from kgqa.store.neo4j.timeout import Result, run_within
from kgqa.store.parameter_values import check_values
from kgqa.store.queries import Query, Value, read_queries
from kgqa.store.stop import stopped_by

if TYPE_CHECKING:
    import neo4j

THE_QUERY = "the query"
OLDEST = (5, 0)
"""Older servers lack EXISTS with a pattern inside, which the queries need."""
NEEDED = f"kgqa needs Neo4j {OLDEST[0]}.{OLDEST[1]} or later"
FETCH = 10_000
"""Rows that the server sends at a time."""
FETCH_LIMITED = 200
"""Rows at a time for a query with a limit of bytes, which cannot count rows that are still under way."""
RETRY_SECONDS = 30.0
CONNECT_SECONDS = 10.0
SILENT_SECONDS = 2.5
"""Minimum seconds that a busy server has to accept a second connection before it counts as away."""
CLOSE_SECONDS = 1.0
GRACE = 0.5
"""Extra seconds for a server to report a timeout itself. It checks only every two seconds."""
EXPLAIN = "EXPLAIN "
"""Prefix of a user's query that lets the server classify it."""
_PLACE = re.compile(r"\(line (\d+), column (\d+) \(offset: \d+\)\)")
"""Position of a fault in a server's message."""
NULL_HANDLER = logging.NullHandler()
"""Silence the driver's log and Python's report of unhandled errors: our own sentences say the same. One for all connections."""


class Neo4jStore:
    """A connection to one database of a server.

    A slow answer is waited for as long as the server accepts new connections; a silent server is not waited for.
    """

    name = "neo4j"

    def __init__(self, settings: Neo4jSettings, *, seconds: float | None = None, patience: float = RETRY_SECONDS) -> None:
        """Connect. Raises StoreUnreachable if no server answers or accepts the credentials, StoreError if it is too old.

        ``seconds`` limits the connection, and later each answer. Without it, the server has ``patience`` seconds to come back or to show
        that it is alive.
        """
        self.settings = settings
        self._seconds = seconds
        self._patience = max(patience, SILENT_SECONDS)
        self._lost = False
        self._driver = _connect(settings, patience if seconds is None else seconds)
        self._announced: neo4j.Session | None = None
        try:
            self.version = self._within(seconds, self._greet)
        except BaseException as error:
            self.close()
            if isinstance(error, TimeoutError):
                raise _nobody_answers(settings) from None
            raise

    def _greet(self) -> str:
        """The server's version, once it answers."""
        with self._sentences(LimitErrors(subject="the connection")):
            version = self._driver.get_server_info().agent.rpartition("/")[2]  # of Neo4j/5.26.30
        if _numbers(version) < OLDEST:
            raise StoreError(f"{self.settings.uri}: this is Neo4j {version}; {NEEDED}.")
        self.run(read_queries()["answer"])
        return version

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float | None = None) -> pa.Table:
        """The rows of ``query``; see :class:`~kgqa.store.base.GraphStore`. Without ``seconds``, transient errors are retried."""
        check_runs_on(query, self.name)
        values = dict(arguments or {})
        if query.search:
            return paths.answer(self, query, values, seconds=seconds)
        if not query.own:
            return as_declared(self._rows(query, values, seconds or self._seconds), query)
        text = check_own_query(query)
        limits = OWN_LIMITS if seconds is None else replace(OWN_LIMITS, seconds=seconds)
        errors = LimitErrors(subject=f"query {query.name} ({query.file})", options=False, seconds=limits.seconds)
        answer = self._first_rows(text, values, errors, limits, query)
        if answer.cut:
            raise errors.too_much(limits.bytes)
        return as_declared(answer.rows, query)

    def read(self, text: str, parameters: Mapping[str, Any] | None = None, *, limits: Limits | None = None) -> Answer:
        """The first rows of any Cypher that only reads; see :class:`~kgqa.store.base.GraphStore`. The server limits the memory.

        After EXPLAIN or PROFILE the rows are the steps of the plan, the last one first.
        """
        limits, values = limits or Limits(), dict(parameters or {})
        plan, statement = check_reads_only(text, values, store=self.name)
        check_values(values, one_kind=False)
        errors = LimitErrors(subject=THE_QUERY, seconds=limits.seconds)
        if not plan:
            return self._first_rows(statement, values, errors, limits)
        begin = time.monotonic()
        self._check_reads_only(statement, values, errors, limits.seconds)
        steps = self._timed(f"{plan} {statement}", values, errors, remaining(limits.seconds, begin), plan_steps)
        return Answer(rows=steps.slice(0, limits.rows), cut="rows" if limits.rows is not None and steps.num_rows > limits.rows else "")

    def tables(self, text: str) -> Iterator[pa.Table]:
        """All rows of any Cypher that only reads and has no parameters, ``FETCH`` at a time, however long it takes."""
        _, statement = check_reads_only(text, (), store=self.name)
        errors = LimitErrors(subject=THE_QUERY, options=False)
        self._check_reads_only(statement, {}, errors, OWN_LIMITS.seconds)
        with self._session(write=False) as session:

            def step(work: Callable[[], Result]) -> Result:
                with self._sentences(errors):
                    return self._within(None, work)

            result = step(lambda: session.run(_literal(statement)))
            while rows := step(lambda: result.fetch(FETCH)):
                yield table_of(result.keys(), [tuple(record) for record in rows], None)

    def write(
        self,
        query: Query,
        arguments: Mapping[str, Any] | None = None,
        *,
        expect: list[list[Any]] | None = None,
        anew: str = "load it anew with kgqa load --store neo4j --replace",
    ) -> list[list[Any]]:
        """Run a query that changes the database, in one transaction. Returns its rows.

        If it returns rows other than those to ``expect``, the transaction is rolled back and StoreError raised, with the advice ``anew``.
        """
        check_runs_on(query, self.name)

        def work(transaction: neo4j.ManagedTransaction) -> list[list[Any]]:
            rows = transaction.run(_literal(query.text), dict(arguments or {})).values()
            if expect is not None and rows and rows != expect:
                raise StoreError(f"{self.settings.place}: nodes are missing from the graph; {anew}.")
            return rows

        def run() -> list[list[Any]]:
            with self._sentences(LimitErrors(subject=f"query {query.name}")), self._session(write=True) as session:
                return session.execute_write(work)

        return self._within(None, run)

    def announce(self, name: str) -> None:
        """Hold a transaction with ``name`` in its metadata open until this process ends, so that other loaders see this one."""
        with self._sentences(LimitErrors(subject="the announcement")):
            self._announced = session = self._open_session(write=False)
            text = _literal(read_queries()["answer"].text)
            self._within(None, lambda: session.begin_transaction(metadata={"kgqa": name}).run(text).consume())

    def close(self) -> None:
        """Close the connection, without waiting for a silent server or for work that has timed out."""

        def close() -> None:
            for part in (self._announced, self._announced, self._driver):
                if part is not None:
                    _close(part)

        with suppress(TimeoutError):
            run_within(CLOSE_SECONDS, close)

    def __enter__(self) -> Neo4jStore:
        """Use as a context manager."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connection, also after an error."""
        self.close()

    @contextmanager
    def _session(self, *, write: bool, fetch: int = FETCH) -> Iterator[neo4j.Session]:
        session = self._open_session(write=write, fetch=fetch)
        try:
            with session:
                yield session
        finally:
            _close(session)  # once more; see _close

    def _open_session(self, *, write: bool, fetch: int = FETCH) -> neo4j.Session:
        return self._driver.session(
            database=self.settings.database or None, default_access_mode="WRITE" if write else "READ", fetch_size=fetch
        )

    def _rows(self, query: Query, arguments: dict[str, Any], seconds: float | None) -> pa.Table:
        errors = LimitErrors(subject=f"query {query.name}")

        def work(result: neo4j.Result) -> pa.Table:
            return table_of(result.keys(), [tuple(record) for record in result], query)

        if seconds is not None:  # no retries: a caller with a limit learns at once that the server is away
            return self._timed(query.text, arguments, errors, seconds, work)

        def run() -> pa.Table:
            with self._sentences(errors), self._session(write=False) as session:
                return session.execute_read(lambda transaction: work(transaction.run(_literal(query.text), arguments)))

        return self._within(None, run)

    def _first_rows(self, text: str, arguments: dict[str, Any], errors: LimitErrors, limits: Limits, query: Query | None = None) -> Answer:
        def work(result: neo4j.Result) -> Answer:
            rows: list[tuple[Any, ...]] = []
            free_bytes, limit = limits.bytes, ""
            for record in result:
                free_bytes -= sum(map(weight, record))
                limit = "bytes" if free_bytes < 0 else "rows" if len(rows) == limits.rows else ""
                if limit:
                    break
                rows.append(tuple(record))
            return Answer(rows=table_of(result.keys(), rows, query), cut=limit)

        begin = time.monotonic()
        self._check_reads_only(text, arguments, errors, limits.seconds)
        return self._timed(text, arguments, errors, remaining(limits.seconds, begin), work, fetch=FETCH_LIMITED)

    def _check_reads_only(self, text: str, arguments: dict[str, Any], errors: LimitErrors, seconds: float) -> None:
        """Raise QueryError unless the server also classifies the query as reading."""
        try:
            kind = self._timed(f"{EXPLAIN}{text}", arguments, errors, seconds, lambda result: result.consume().query_type)
        except QueryError as error:
            raise QueryError(_PLACE.sub(_without_explain, str(error))) from None
        if kind not in {"r", "s"}:  # "s": SHOW INDEXES or CONSTRAINTS; other SHOW commands were refused before
            raise QueryError(f"{errors.subject} does more than read; remove the parts that change the database or ask about the server.")

    def _timed(
        self, text: str, arguments: dict[str, Any], errors: LimitErrors, seconds: float, work: Callable[[neo4j.Result], Result],
        *, fetch: int = FETCH,
    ) -> Result:  # fmt: skip
        """Apply ``work`` once to the result of the query, within ``seconds``. The server ends a longer query even if nobody waits."""
        from neo4j import Query as Timed

        name = uuid.uuid4().hex

        def run() -> Result:
            with self._sentences(errors, seconds), self._session(write=False, fetch=fetch) as session:
                return work(session.run(Timed(_literal(text), metadata={"kgqa_query": name}, timeout=seconds), arguments))

        try:
            with stopped_by(lambda: self._terminate(name)):
                return self._within(seconds + GRACE, run)
        except TimeoutError:
            raise errors.too_long(seconds) from None

    def _terminate(self, name: str) -> None:
        """End the query of this ``name`` on the server, if it still runs."""
        from neo4j.exceptions import DriverError, Neo4jError

        with suppress(DriverError, Neo4jError, OSError), self._session(write=False) as session:
            session.run(_literal(read_queries()["terminate_query"].text), {"name": name}).consume()

    def _within(self, seconds: float | None, work: Callable[[], Result]) -> Result:
        """The result of ``work``; see :func:`run_within`. Raises StoreUnreachable if the server stops answering."""
        if self._lost:
            raise _has_fallen_silent(self.settings, self._patience)
        if self._seconds is not None:
            return run_within(seconds, work)
        return run_within(seconds, work, check=self._check_is_there, interval=self._patience / SILENT_SECONDS)

    def _check_is_there(self, seconds: float) -> None:
        """Raise StoreUnreachable if the server does not accept a new connection within ``seconds``. Any answer, even an error, shows that
        it is there.
        """
        from neo4j.exceptions import DriverError, Neo4jError

        def greet() -> None:
            with suppress(DriverError, Neo4jError, OSError), _connect(self.settings, SILENT_SECONDS) as driver:
                driver.verify_connectivity()

        try:
            run_within(min(seconds, self._patience), greet)
        except TimeoutError:
            if seconds < self._patience:
                return
            self._lost = True
            raise _has_fallen_silent(self.settings, self._patience) from None

    @contextmanager
    def _sentences(self, errors: LimitErrors, seconds: float | None = None) -> Iterator[None]:
        """Turn exceptions of the driver into ours, each with one sentence."""
        from neo4j import exceptions

        try:
            yield
        except exceptions.AuthError as error:
            hint = "set NEO4J_PASSWORD" if not self.settings.password else "check NEO4J_USERNAME and NEO4J_PASSWORD"
            if "RateLimit" in (error.code or ""):
                hint = "too many wrong passwords were tried; wait a few seconds, then check NEO4J_USERNAME and NEO4J_PASSWORD"
            raise StoreUnreachable(f"{self.settings.uri}: the server does not let {self.settings.username} in; {hint}.") from None
        except (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError):
            raise _nobody_answers(self.settings) from None
        except exceptions.Neo4jError as error:
            raise self._refusal(error, errors, seconds) from None
        except exceptions.ConfigurationError:
            # Servers before version 5 do not know the option that disables notices.
            raise StoreError(f"{self.settings.uri}: this server is too old; {NEEDED}.") from None
        except exceptions.DriverError as error:
            raise StoreError(f"{self.settings.place}: {errors.subject} failed: {first_line(str(error))}") from None

    def _refusal(self, error: neo4j.exceptions.Neo4jError, errors: LimitErrors, seconds: float | None) -> StoreError:
        """Our exception for an error that the server reports."""
        place, subject = self.settings.place, errors.subject
        code, message = error.code or "", first_line(error.message or str(error))
        if "DatabaseNotFound" in code:
            return StoreUnreachable(
                f"{self.settings.uri}: there is no database {self.settings.database!r}; create it, or set NEO4J_DATABASE to another."
            )
        if seconds is not None and ("TimedOut" in code or "Terminated" in code):
            return errors.too_long(seconds)
        if "OutOfMemory" in code:
            limit = "db.memory.transaction.max or dbms.memory.transaction.total.max"
            return QueryMemory(f"{subject} took more memory than the server allows ({limit} there); narrow it, or raise the limit.")
        if "TimedOut" in code:
            return QueryTimeout(f"{place}: {subject} took longer than the server allows; raise db.transaction.timeout there.")
        if subject == THE_QUERY:
            return QueryError(f"the query cannot be run: {message}")
        return StoreError(f"{place}: {subject} failed: {message}")


def _connect(settings: Neo4jSettings, seconds: float) -> neo4j.Driver:
    try:
        from neo4j import GraphDatabase, exceptions
    except ImportError:
        raise StoreError("the Neo4j driver is not installed; run: pip install 'kgqa[neo4j]'") from None
    logging.getLogger("neo4j").addHandler(NULL_HANDLER)
    try:
        return GraphDatabase.driver(
            settings.uri,
            auth=(settings.username, settings.password) if settings.password else None,
            user_agent="kgqa",
            connection_timeout=min(CONNECT_SECONDS, seconds),
            max_transaction_retry_time=min(RETRY_SECONDS, seconds),
            retry_delay_multiplier=1.2,
            notifications_min_severity="OFF",
        )
    except (exceptions.ConfigurationError, ValueError):
        raise SettingsError("NEO4J_URI is not an address that the driver understands; give scheme, host and port only.") from None


def _close(part: neo4j.Session | neo4j.Driver) -> None:
    """Close it if possible. A session whose transaction cannot be rolled back needs a second call."""
    from neo4j.exceptions import DriverError, Neo4jError

    with suppress(DriverError, Neo4jError, OSError):
        part.close()


def _nobody_answers(settings: Neo4jSettings) -> StoreUnreachable:
    return StoreUnreachable(f"{settings.uri}: no Neo4j server answers here; start it, or set NEO4J_URI, and run the same command again.")


def _has_fallen_silent(settings: Neo4jSettings, seconds: float) -> StoreUnreachable:
    return StoreUnreachable(
        f"{settings.uri}: the Neo4j server has said nothing for {seconds:g} seconds; see to it, and run the same command again."
    )


def _literal(text: str) -> LiteralString:
    """The text of a query in the type that the driver requires. It comes from a file, or from a user."""
    return cast("Any", text)


def _without_explain(place: re.Match[str]) -> str:
    """Move the position of a fault to the user's own text, which follows ``EXPLAIN``."""
    line, column = int(place[1]), int(place[2])
    return f"(line {line}, column {column - len(EXPLAIN) if line == 1 else column})"


def _numbers(version: str) -> tuple[int, int]:
    """``5.26.30`` and ``5.26-aura`` → (5, 26)."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)
