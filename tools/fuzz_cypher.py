"""Random Cypher against the check of a user's text and the engine behind it: nothing may be written, loaded or connected to.

``python -m tools.fuzz_cypher --texts 1000000 --store embedded`` (or ``neo4j``, an empty server that the ``NEO4J_*`` variables name). Texts
are made of what hides a clause from a reader of tokens (comments, quotation marks, escapes, spaces of other scripts) and of clauses that
write a file, load an extension, connect to a port or change the graph. What passes the check runs, as the check has written it, without any
wall: a file, a connection or a node that appears is a fault, and so is a text that the engine reads otherwise than the check did.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kgqa.errors import QueryError
from kgqa.store.cypher import check_reads_only
from kgqa.store.tokens import ESCAPES, tokens_of, written

BATCH = 1000
"""Texts between two looks at the traps."""
SOURCE = '#include <stdio.h>\n__attribute__((constructor)) static void run(void) { FILE *f = fopen("%s", "w"); if (f) fclose(f); }\n'
"""An extension that leaves a file as soon as it is loaded."""
WRITING = (
    'COPY (MATCH (n:Entity) RETURN n.id) TO "{file}"', 'EXPORT DATABASE "{folder}"', 'LOAD EXTENSION "{extension}"',
    'LOAD FROM "http://127.0.0.1:{port}/x.csv" RETURN *', 'INSTALL x FROM "http://127.0.0.1:{port}/"',
    'ATTACH "http://127.0.0.1:{port}/x" AS x (dbtype lbug)', 'ATTACH "{folder}" AS x (dbtype lbug)',
    'LOAD CSV FROM "http://127.0.0.1:{port}/x" AS r RETURN r', "CREATE (:Canary)", "MERGE (:Canary)", "CALL {{ CREATE (:Canary) }}",
    'CALL db.createLabel("Canary")', "CREATE INDEX canary FOR (n:Canary) ON (n.x)", "CREATE NODE TABLE Canary(id STRING PRIMARY KEY)",
    "MATCH (n:Entity) SET n:Canary", "FOREACH (x IN [1] | CREATE (:Canary))", "CALL threads=3", "BEGIN TRANSACTION", "CHECKPOINT",
)  # fmt: skip
"""Clauses that must not run; what stands in braces is where the traps are."""
READING = (
    "RETURN 1 AS x", "MATCH (n:Entity) RETURN n.id LIMIT 1", "UNWIND [1, 2] AS x RETURN x", "WITH 1 AS x RETURN x", "RETURN ",
    "MATCH (n:Entity) WHERE n.id = ", "RETURN 1 UNION RETURN 2", "EXPLAIN RETURN 1", "RETURN {a: 1}.a", "MATCH (n) RETURN *",
)  # fmt: skip
ENDS = (" AS document", " AS x", " RETURN 1", ";", "; RETURN 1", "*/", "//", "'", '"', "`", "", " LIMIT 1", " // end", "\n")
MARKS = (
    "'", '"', "`", "''", "``", '""', "\\", "\\'", '\\"', "\\\\", "\\`", "\\n", "\\N", "\\x41", "\\u0027", "\\U00000027", "\\0", "\\\n",
    "/*", "*/", "/**/", "/***/", "/* **/", "/* */", "/*/", "**/", "//", "// \\", "//*", "*//", "--", "#", ";", "$a",
    "$`a`", "$ a", "$", "|",
)  # fmt: skip
SPACES = (
    " ", "\n", "\r\n", "\t", "\r", "\f", "\v", "\x00", "\x1c", "\x1f", "\x85", "\u00a0", "\u1680", "\u180e", "\u2003", "\u200b", "\u2028",
    "\u2029", "\u202f", "\u3000", "\ufeff", "\u200d", "\u202e",
)  # fmt: skip
WORDS = (
    "COPY", "copy", "C\u04e9PY", "\u017fET", "LOAD", "CALL", "CREATE", "AS", "x", "n",
    "größe", "e\u0301", "\u212a", "1", "1e5", "0xFF", "1_0", "1.", "..",
    "(", ")", "[", "]", "{", "}", ".", ":", ",", "=", "+", "/", "*", "\U0001f600", "\ud800", "İ", "ı", "名前", "नाम",
)  # fmt: skip
WRAPS = (
    ("'", "'"), ('"', '"'), ("`", "`"), ("/* **/ RETURN ' */ ", " //'"), ('/* **/ RETURN " */ ', ' //"'), ("/*/ ", " */"), ("// ", "\n"),
    ("'\\\\' ", " '"), ("'\\", "'"), ("/* ", " */"), ("/* **/ RETURN ` */ ", " //`"), ("//\r", "\n"), ("//\u2028", "\n"), ("'\\'", "'"),
    ("{", "}"), ("COUNT {", "}"), ("", ""), ("`` ", " ``"), ("$` ", " `"), ("[", "]"), ("(", ")"),
)  # fmt: skip
"""What may make one reader see text, a comment or a name where the other sees a clause."""


class Engine(Protocol):
    """What runs the texts that passed."""

    def run(self, texts: Sequence[str]) -> list[Any]:
        """What each came to: ``(columns, first row)``, or a text that begins with ``fault:`` or ``refused``."""
        ...

    def faults(self) -> list[str]:
        """What is in the graph by now that was not."""
        ...


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    texts: int = 0
    passed: int = 0
    """Texts that the check lets pass."""
    ran: int = 0
    """Different ones that the engine could run."""
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Traps:
    """A folder in which nothing may appear, an extension that nothing may load, and a port that nothing may connect to."""

    def __init__(self, folder: Path) -> None:
        """In the new ``folder``."""
        self._canary = folder / "canary"
        self._canary.mkdir(parents=True)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.extension = folder / "x.lbug_extension"
        self.names: dict[str, object] = {
            "file": self._canary / "f.csv",
            "folder": self._canary / "d", "port": self._socket.getsockname()[1], "extension": self.extension,
        }  # fmt: skip
        compiler = shutil.which("cc")
        if compiler:
            source = folder / "x.c"
            source.write_text(SOURCE % (self._canary / "loaded"), "utf-8")
            subprocess.run([compiler, "-shared", "-fPIC", "-o", str(self.extension), str(source)], check=True)  # noqa: S603

    def sprung(self) -> list[str]:
        """What has happened since the last look; the traps are set again."""
        found = [f"{path.name} was written" for path in self._canary.iterdir()]
        for path in self._canary.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        with suppress(BlockingIOError):
            self._socket.accept()[0].close()
            found.append("the port was connected to")
        return found

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()


class Embedded:
    """The embedded engine on a graph that is open for reading, in a process of its own, as it may end."""

    def __init__(self, graph: Path) -> None:
        """Start it on ``graph``."""
        self._graph, self.ends = graph, 0
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, str(self._graph)), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, texts: Sequence[str]) -> list[Any]:
        """See :class:`Engine`; a text at which the engine ends is counted, and the others run."""
        results: list[Any] = []
        while len(results) < len(texts):
            self._pipe.send(list(texts[len(results) :]))
            try:
                while len(results) < len(texts):
                    results.append(self._pipe.recv())
            except EOFError:
                self.ends += 1
                results.append("refused: the engine ended")
                self._start()
        return results

    def faults(self) -> list[str]:
        """None: the file is open for reading."""
        return []

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def _serve(pipe: Any, graph: str) -> None:
    import ladybug

    database = ladybug.Database(graph, read_only=True, buffer_pool_size=256 << 20, max_num_threads=1)
    connection = ladybug.Connection(database, num_threads=1)
    connection.set_query_timeout(2000)
    done = 0
    while True:
        for text in pipe.recv():
            done += 1
            if done % 5000 == 0:  # it keeps the plan of each text
                connection.close()
                connection = ladybug.Connection(database, num_threads=1)
                connection.set_query_timeout(2000)
            pipe.send(_ran(connection, text))


def _ran(connection: Any, text: str) -> Any:
    try:
        result = connection.execute(text, {"a": 1} if "$a" in text else {})
        if isinstance(result, list):
            return "fault: the engine ran several statements"
        row = result.get_next() if result.has_next() else []
        found = result.get_column_names(), row if all(isinstance(value, str) for value in row) else []
        result.close()
        return found
    except Exception as error:
        return f"refused: {error}"


class Neo4j:
    """A database that was empty, in sessions that may write, so that the check alone stands before it."""

    def __init__(self, uri: str, password: str) -> None:
        """Connect."""
        from neo4j import GraphDatabase

        self._driver = GraphDatabase.driver(uri, auth=("neo4j", password), notifications_min_severity="OFF")
        self._before = self._state()

    def run(self, texts: Sequence[str]) -> list[Any]:
        """See :class:`Engine`."""
        from neo4j.exceptions import Neo4jError

        results: list[Any] = []
        with self._driver.session() as session:
            for text in texts:
                try:
                    result = session.run(text, {"a": 1})  # type: ignore[arg-type]
                    columns, rows = list(result.keys()), result.fetch(1)
                    kind = result.consume().query_type
                    row = list(rows[0].values()) if rows else []
                    found = columns, row if all(isinstance(value, str) for value in row) else []
                    results.append(found if kind in {"r", "s", None} else f"fault: the server says that it does {kind}")
                except Neo4jError as error:
                    results.append(f"refused: {error.message}")
        return results

    def faults(self) -> list[str]:
        """Nodes, labels, indexes that are new."""
        now = self._state()
        return [] if now == self._before else [f"the database holds {now} in place of {self._before}"]

    def _state(self) -> list[int]:
        counts = ("MATCH (n) RETURN count(n)", "CALL db.labels() YIELD label RETURN count(*)", "SHOW INDEXES YIELD name RETURN count(*)")
        with self._driver.session() as session:
            return [session.run(text).single(strict=True)[0] for text in counts]  # type: ignore[arg-type]

    def close(self) -> None:
        """Close the connection."""
        self._driver.close()


def texts(names: dict[str, object], *, count: int, seed: int) -> Iterator[str]:
    """So many random ones, the same for a seed; ``names`` say where the traps are."""
    draw = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
    clauses = [clause.format(**names) for clause in WRITING]
    for _ in range(count):
        yield _one(draw, clauses)


def _one(draw: random.Random, clauses: Sequence[str]) -> str:
    way = draw.random()
    if way < 0.6:  # a clause that is hidden somehow in a statement that reads
        opens, closes = draw.choice(WRAPS)
        head, tail = draw.choice((draw.choice(READING), "", "RETURN ")), draw.choice(ENDS)
        text = head + draw.choice(("", " ", draw.choice(SPACES))) + opens + draw.choice(clauses) + closes + tail
    elif way < 0.8:  # a text or a name of odd characters, which is to be read as it was meant
        quote = draw.choice("'\"`")
        inner = "".join(draw.choice(draw.choice((MARKS, SPACES, WORDS, clauses))) for _ in range(draw.randint(0, 4)))
        text = f"RETURN {quote}{inner}{quote} AS x" if quote != "`" else f"RETURN 1 AS `{inner}`"
    else:
        pools = (MARKS, SPACES, WORDS, READING, ENDS, clauses)
        text = draw.choice(READING) + "".join(draw.choice(draw.choice(pools)) for _ in range(draw.randint(1, 6)))
    for _ in range(draw.choice((0, 0, 0, 1, 2))):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(draw.choice((MARKS, SPACES, WORDS))) + text[at + draw.randint(0, 1) :]
    return text


def checked(text: str, store: str) -> str:
    """What an engine gets; raises QueryError. Reading it again must give the same."""
    plan, statement = check_reads_only(text, store=store)
    again = check_reads_only(statement, store=store)
    if again != ("", statement) or written(tokens_of(statement)) != statement:
        raise AssertionError(f"what was written is read otherwise: {text!r}")
    return f"{plan} {statement}" if plan else statement


def fuzz(
    engine: Engine, traps: Traps, *, store: str, count: int, seed: int, check: Callable[[str, str], str] = checked, most: int = 5
) -> Outcome:
    """Make ``count`` texts, run what passes ``check``, and look at the traps; ends with as many faults as ``most``."""
    outcome, begin, seen, batch = Outcome(), time.monotonic(), set[int](), list[str]()
    for text in texts(traps.names, count=count, seed=seed):
        outcome.texts += 1
        with suppress(QueryError):
            statement = check(text, store)
            outcome.passed += 1
            if hash(statement) not in seen:
                seen.add(hash(statement))
                batch.append(statement)
        if len(batch) == BATCH or (batch and outcome.texts == count):
            _run(engine, traps, batch, outcome)
            batch = []
            if len(outcome.faults) >= most:
                break
    outcome.seconds = time.monotonic() - begin
    return outcome


def _run(engine: Engine, traps: Traps, batch: list[str], outcome: Outcome) -> None:
    for text, result in zip(batch, engine.run(batch), strict=True):
        outcome.ran += not isinstance(result, str)
        if isinstance(result, str) and result.startswith("fault"):
            outcome.faults.append(f"{result}: {text!r}")
    outcome.faults += [f"{what} by one of a batch: {_culprits(engine, traps, batch)}" for what in [*traps.sprung(), *engine.faults()]]
    for text, meant in _literals(batch):
        result = engine.run([text])[0]
        if result != meant:
            outcome.faults.append(f"read as {result!r} in place of {meant!r}: {text!r}")


def _culprits(engine: Engine, traps: Traps, batch: list[str]) -> list[str]:
    found = []
    for text in batch:
        engine.run([text])
        if traps.sprung():
            found.append(text)
    return found


def _literals(batch: list[str]) -> Iterator[tuple[str, tuple[list[str], list[str]]]]:
    """Queries that give the texts and names in a batch back, by hundreds, and what they are to give."""
    found = set[str]()
    for text in batch:
        with suppress(QueryError):  # where another check let a text pass
            found |= {token.text for token in tokens_of(text) if token.text[0] in "'\"`"}
    values = sorted(found)
    for at in range(0, len(values), 100):
        some = values[at : at + 100]
        strings = [value if value[0] != "`" else f"'{number}'" for number, value in enumerate(some)]
        columns = [value if value[0] == "`" else f"`c{number}`" for number, value in enumerate(some)]
        query = "RETURN " + ", ".join(f"{value} AS {name}" for value, name in zip(strings, columns, strict=True))
        yield query, ([name[1:-1].replace("``", "`") for name in columns], [_meant(value) for value in strings])


def _meant(literal: str) -> str:
    value, characters = "", iter(literal[1:-1])
    for character in characters:
        value += ESCAPES[next(characters)] if character == "\\" else character
    return value


def small_graph(path: Path) -> Path:
    """A graph of five entities at the new ``path``."""
    import ladybug

    with closing(ladybug.Database(str(path), buffer_pool_size=256 << 20)) as database, closing(ladybug.Connection(database)) as connection:
        connection.execute("CREATE NODE TABLE Entity(id STRING, row INT64, PRIMARY KEY(id))")
        for row in range(5):
            connection.execute("CREATE (:Entity {id: $id, row: $row})", {"id": f"Q{row}", "row": row})
    return path


@contextmanager
def engine_of(store: str, folder: Path) -> Iterator[Embedded | Neo4j]:
    """The engine of a store; the server is the one that ``NEO4J_URI`` and ``NEO4J_PASSWORD`` name."""
    if store == "embedded":
        engine: Embedded | Neo4j = Embedded(small_graph(folder / "graph.lbug"))
    else:
        engine = Neo4j(os.environ["NEO4J_URI"], os.environ.get("NEO4J_PASSWORD", ""))
    with closing(engine):
        yield engine


def main() -> int:
    """Print what came of it; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="kgqa-fuzz-") as name,
        closing(Traps(Path(name) / "traps")) as traps,
        engine_of(given.store, Path(name)) as engine,
    ):
        outcome = fuzz(engine, traps, store=given.store, count=given.texts, seed=given.seed)
        ends = getattr(engine, "ends", 0)
    print(
        f"{outcome.texts:,} texts, {outcome.passed:,} passed the check, {outcome.ran:,} different ones ran, the engine ended at {ends}, "
        f"{len(outcome.faults)} faults, {outcome.seconds:.0f} s"
    )
    print(json.dumps(outcome.faults, indent=1, ensure_ascii=True) if outcome.faults else "nothing was written, loaded or connected to")
    return int(bool(outcome.faults))


if __name__ == "__main__":
    sys.exit(main())
