"""Cypher that tries to get past the check: random texts of comments, quotes, escapes, spaces and clauses that write, load or connect.

A :class:`Trap` is what such a text would spring: a folder where no file may appear, a library that leaves a mark when it is
loaded, and a port that nobody may connect to.
"""

from __future__ import annotations

import json
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.command import environment

BLANKS = [
    " ",
    "\n",
    "\t",
    "\r\n",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\xa0",
    "\u1680",
    "\u180e",
    "\u2028",
    "\u2029",
    "\u200b",
    "\u3000",
    "\ufeff",
    "",
]
QUOTES = ["'", '"', "`", "\\'", '\\"', "''", "``", "\\", "\\\\", "\\\\'", "\u2019", "\uff07"]
OPENERS = ["/*", "/**", "/* *", "/***/", "/* **/", "/*/", "//", "//\\", "/*\n", "/ *", "/*'", '/*"', "--", "#", "/\\*", "\u2215*"]
CLOSERS = ["*/", "**/", "* /", "*//", "\n", "\r\n", "\r", "*/ */", "\u2028", "*\\/", "***/", "/*/"]
WORDS = [
    "MATCH (n:Entity)",
    "RETURN 1",
    "RETURN n.id",
    "AS a",
    "WITH 1 AS x",
    "UNION",
    "UNION ALL",
    "WHERE n.id = 'x'",
    "LIMIT 1",
    ";",
    "; ;",
    "1",
]
BEGINNINGS = ["RETURN 1 AS a", "MATCH (n:Entity) RETURN n.id AS id", "UNWIND [1] AS x RETURN x", "WITH 1 AS x RETURN x", "RETURN "]
PAYLOADS = {
    "embedded": [
        "COPY (MATCH (n:Entity) RETURN n.id) TO '{file}'", "EXPORT DATABASE '{folder}'", "LOAD EXTENSION '{library}'", "LOAD '{library}'",
        "LOAD FROM 'http://127.0.0.1:{port}/x.csv' RETURN *", "ATTACH '{folder}' AS x (dbtype lbug)", "CREATE (n:Entity {{id: 'evil'}})",
        "CALL spill_to_disk=false", "INSTALL httpfs", "IMPORT DATABASE '{folder}'", "ATTACH 'http://127.0.0.1:{port}/x' AS y (dbtype lbug)",
    ],
    "neo4j": [
        "LOAD CSV FROM 'http://127.0.0.1:{port}/x' AS row RETURN row", "CREATE (n:Entity {{id: 'evil'}})", "MERGE (n:Evil)",
        "CALL db.createLabel('Evil')",
        "MATCH (n) DETACH DELETE n", "CREATE INDEX evil FOR (n:Evil) ON (n.id)", "FOREACH (x IN [1] | CREATE (:Evil))",
    ],
}  # fmt: skip
CLOSING_DIFFERENTLY = [
    ("/* **/", "*/"), ("/***/", "*/"), ("/* ***/", "*/"), ("//\\", "\n"), ("// \\", "\n"), ("/**", "*/"),
    ("// x\u2028", "\n"), ("// x\x85", "\n"),
    ("/*/", "*/"), ("//", "\u2028"), ("//", "\x0b"), ("'\\", "'"), ('"\\', '"'), ("`\\", "`"), ("'\\\\", "'"),
    ("/* // ", "*/"), ("// /*", "\n"),
]  # fmt: skip
"""Openers and closers over whose end two lexers may disagree."""
JOINTS = [
    ".", ":", "..", "|", "{", "}", "(", ")", "[", "]", ",", "!", "-[", "]->", "0x1.", "0xF.", "1_0.", "1e", "1.", "$p", "$`p`", "`a`.",
    "n.", "n:", "{a:", "EXPLAIN", "PROFILE", "CALL db.labels()", "CALL show_tables()", "SHOW INDEXES", "YIELD label", "EXISTS {", "COUNT {",
    "COLLECT {", "CASE WHEN", "END", "AS", "OPTIONAL", "ALL SHORTEST", "IN", "STARTS", "DISTINCT", "*", "USE", "CYPHER 25", ";", "", "", "",
]  # fmt: skip
"""What may stand where a clause cannot begin, or seems not to."""
SOUND = [
    "MATCH (n:Entity) WHERE n.id = 'x' RETURN n.id AS id",
    "MATCH (n:Entity) WITH n ORDER BY n.id SKIP 1 LIMIT 2 RETURN n {.id, .label} AS m",
    "UNWIND [1, 2] AS x WITH x WHERE x > 1 RETURN [y IN [x] WHERE y > 0 | y + 1] AS ys",
    "MATCH p = (a:Entity)-[f*1..2]->(b) WHERE EXISTS { MATCH (a)--(c) RETURN c } RETURN length(p) AS n",
    "RETURN CASE WHEN 1 < 2 THEN {a: 1} ELSE null END AS x UNION ALL RETURN {a: 2} AS x",
    "OPTIONAL MATCH (n:Entity) RETURN count(*) AS n, collect(n.id)[0..2] AS some",
]
"""Queries that only read."""
LOOKALIKES = {"S": "\u017f", "K": "\u212a", "I": "\u0131", "C": "\u0421", "E": "\uff25", "O": "\u039f", "A": "\\u0041", "L": "\u200bL"}
"""Letters of keywords that some comparison may take for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A folder of its own, with a library that leaves a mark in it, and a port."""

    folder: Path
    library: Path
    listener: socket.socket

    @property
    def sprung(self) -> list[str]:
        """What was written, loaded or connected."""
        marks = sorted(str(path) for path in self.folder.rglob("*"))
        try:
            self.listener.accept()
        except BlockingIOError:
            return marks
        return [*marks, "a connection"]

    @property
    def places(self) -> dict[str, object]:
        """What the payloads name."""
        return {
            "file": self.folder / "rows.csv",
            "folder": self.folder / "graph",
            "library": self.library,
            "port": self.listener.getsockname()[1],
        }


def set_trap(folder: Path) -> Trap:
    """Lay it below ``folder``."""
    marks = folder / "marks"
    marks.mkdir(parents=True)
    library = folder / "mark.lbug_extension"
    source = folder / "mark.c"
    source.write_text(
        f'#include <stdio.h>\n__attribute__((constructor)) static void mark(void) {{ fclose(fopen("{marks}/loaded", "w")); }}\n'
    )
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is not None:
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    return Trap(folder=marks, library=library, listener=listener)


def payloads(trap: Trap, store: str) -> list[str]:
    """The statements that would spring it."""
    return [payload.format(**trap.places) for payload in PAYLOADS[store]]


def hostile_texts(seed: int, number: int, trap: Trap, store: str) -> Iterator[str]:
    """So many texts: made after the ways in which lexers are known to differ, at random, and sound queries with a payload put into them."""
    rng = random.Random(seed)
    bad = payloads(trap, store)
    for _ in range(number):
        pick, payload, kind = rng.choice, rng.choice(bad), rng.random()
        if kind < 0.4:
            opener, closer = pick(CLOSING_DIFFERENTLY)
            quote = pick(["'", '"', "`"])
            begin, end = pick(["", pick(BEGINNINGS)]), pick([";", "", " //", "; //", "/*", "--"])
            yield pick(
                [
                    f"{begin} {opener} RETURN {quote} {closer} {payload}{end} {quote} AS a",
                    f"{opener}{pick(BLANKS)}{begin}{pick(BLANKS)}{closer} {payload}{end}\n{begin}",
                    f"{begin} AS {quote}{opener}{quote} {closer} {payload} {end} {quote}{closer}{quote}",
                    f"RETURN {quote}{opener}{payload}{closer}{quote} AS a {opener} {payload} {closer} {end}",
                    f"{begin}{opener} {quote} {closer} {payload}{end} {opener} {quote} {closer}",
                ]
            )
        elif kind < 0.7:
            parts = [pick([BLANKS, QUOTES, OPENERS, CLOSERS, WORDS, [payload], BLANKS])[:] for _ in range(rng.randrange(2, 10))]
            yield pick(BEGINNINGS) + " ".join(pick(part) for part in parts)
        else:
            words = pick(SOUND).split(" ")
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(words) + 1)
                words[at:at] = [pick(JOINTS), _disguised(rng, payload) if rng.random() < 0.5 else "", pick(JOINTS)]
            yield pick([" ", " ", " ", *BLANKS]).join(words)


def _disguised(rng: random.Random, payload: str) -> str:
    """The statement with its first word written in some other way."""
    word, space, rest = payload.partition(" ")
    at = rng.randrange(len(word))
    first = rng.choice(
        [
            word,
            word.lower(),
            f"`{word}`",
            word[:at] + LOOKALIKES.get(word[at], word[at].lower()) + word[at + 1 :],
            f"{word[:at]}/**/{word[at:]}",
            f"{word[:at]}{rng.choice(BLANKS)}{word[at:]}",
            f"n.{word}",
            f"{{{word}:",
        ]
    )
    return first + space + rest


UNGUARDED = """
import json, sys
import ladybug
database = ladybug.Database(sys.argv[1], read_only=True, buffer_pool_size=64 << 20, max_num_threads=1)
for line in sys.stdin:
    connection = ladybug.Connection(database)
    connection.set_query_timeout(500)
    try:
        connection.execute(json.loads(line)).close()
    except RuntimeError:
        pass
    connection.close()
    print(flush=True)
"""
"""Runs texts on a graph without a wall."""


def run_unguarded(graph: Path, texts: Iterable[str]) -> int:
    """Run them in processes without any wall; a text that ends the engine's process is passed over. Returns how many ran."""
    process, done = None, 0
    try:
        for text in texts:
            if process is None or process.poll() is not None:
                process = subprocess.Popen(
                    [sys.executable, "-c", UNGUARDED, str(graph)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
                )  # fmt: skip
            assert process.stdin
            assert process.stdout
            try:
                process.stdin.write(json.dumps(text) + "\n")
                process.stdin.flush()
            except BrokenPipeError:
                continue
            done += bool(process.stdout.readline())
    finally:
        if process is not None:
            process.kill()
            process.communicate()
    return done
