"""A Neo4j server of our own: a home folder, free ports, a password, and a process that we stop by its own id."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.command import ROOT
from tests.ports import free_port

JARS = Path(os.environ.get("KGQA_NEO4J_JARS", ROOT / ".cache" / "neo4j"))
PASSWORD = "correct-horse"
ENTRY = "META-INF/services/org.neo4j.server.startup.EntryPoint"
"""Where a jar says which class starts the server; it is another one since 2025."""
ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"
QUICK = ("-XX:TieredStopAtLevel=1",)
"""For a server of minutes: compile quickly rather than well, which takes 40% less of the machine."""
SECONDS = 90
"""How long it may take to come up."""


def missing() -> str:
    """Why no server can be started here; empty if one can."""
    if not shutil.which(java()):
        return "no Java on this machine, which a Neo4j server needs"
    if not any(JARS.glob("neo4j-server-*.jar")):
        return f"no Neo4j in {JARS.relative_to(ROOT) if JARS.is_relative_to(ROOT) else JARS}; make neo4j fetches it"
    return ""


def java() -> str:
    """The Java to run it with."""
    return os.environ.get("KGQA_JAVA", "java")


def main_class() -> str:
    """The class that starts the server. Raises RuntimeError where no jar names one."""
    for path in sorted(JARS.glob("neo4j-*.jar")):
        with zipfile.ZipFile(path) as jar:
            if ENTRY in jar.namelist():
                return jar.read(ENTRY).decode().strip()
    raise RuntimeError(f"{JARS}: no jar says how the server is started")


class Neo4jServer:
    """Stopped at first; :meth:`start` it, :meth:`stop` it, and start it again on the same data and ports."""

    def __init__(self, home: Path, *, authentication: bool = True, quick: bool = True, settings: Mapping[str, str] | None = None) -> None:
        """In the new folder ``home``; without ``quick`` Java compiles as it does for everybody."""
        self.home, self._java = home, QUICK if quick else ()
        self.port, self.http_port = free_port(), free_port()
        self.password = PASSWORD if authentication else ""
        self._process: subprocess.Popen[bytes] | None = None
        (home / "conf").mkdir(parents=True)
        lines = {
            "server.bolt.listen_address": f"127.0.0.1:{self.port}",
            "server.bolt.advertised_address": f"127.0.0.1:{self.port}",
            "server.http.listen_address": f"127.0.0.1:{self.http_port}",
            "server.http.advertised_address": f"127.0.0.1:{self.http_port}",
            "server.https.enabled": "false",
            "server.memory.heap.max_size": "1g",
            "server.memory.pagecache.size": "256m",
            "db.memory.transaction.max": "300m",
            "dbms.usage_report.enabled": "false",
            "server.jvm.additional": "--add-opens=java.base/java.nio=ALL-UNNAMED",  # the importer of newer versions needs it
            "dbms.security.auth_enabled": str(authentication).lower(),
            **(settings or {}),
        }
        (home / "conf" / "neo4j.conf").write_text("".join(f"{key}={value}\n" for key, value in lines.items()), "utf-8")
        self._fresh = authentication

    @property
    def uri(self) -> str:
        """Where the driver finds it."""
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def browser(self) -> str:
        """Where Neo4j Browser is."""
        return f"http://127.0.0.1:{self.http_port}/browser/"

    @property
    def environment(self) -> dict[str, str]:
        """What kgqa reads."""
        return {"NEO4J_URI": self.uri, "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": self.password or "none"}

    def admin(self, *arguments: str | Path, folder: Path | None = None) -> str:
        """``neo4j-admin ARGUMENTS`` in ``folder``, while the server is stopped; what it printed."""
        assert self._process is None
        command = [java(), f"-Dbasedir={self.home}", "-cp", f"{JARS}/*", ADMIN, *map(str, arguments)]
        environment = {**os.environ, "NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")}
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self) -> None:
        """Start it and wait until it answers; raises RuntimeError with the end of its log if it does not."""
        command = [java(), *self._java, "-cp", f"{JARS}/*", main_class(), f"--home-dir={self.home}", f"--config-dir={self.home}/conf"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + SECONDS
        while not self._started():
            if time.monotonic() > end or self._process.poll() is not None:
                self.kill()
                log = self.home / "logs" / "neo4j.log"
                raise RuntimeError(f"Neo4j did not start: {log.read_text()[-2000:] if log.exists() else 'no log'}")
            time.sleep(0.1)
        if self._fresh:
            self._set_password()

    def stop(self) -> None:
        """Ask it to stop, and wait."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=60)
            self._process = None

    def restore(self) -> None:
        """Start it unless it runs."""
        if self._process is None or self._process.poll() is not None:
            self._process = None
            self.start()

    def kill(self) -> None:
        """Stop it at once, as a power cut does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=60)
            self._process = None

    def empty(self) -> None:
        """Remove every node; this server and all in it was made by the tests."""
        from neo4j import GraphDatabase

        with GraphDatabase.driver(self.uri, auth=("neo4j", self.password)) as driver, driver.session() as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 500 ROWS").consume()

    def pause(self) -> None:
        """It falls silent."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """It falls silent, and goes on."""
        self.pause()
        assert self._process is not None
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def _set_password(self) -> None:
        """Change the one that every new server has."""
        from neo4j import GraphDatabase

        with GraphDatabase.driver(self.uri, auth=("neo4j", "neo4j")) as driver:
            driver.execute_query("ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new", new=PASSWORD, database_="system")
        self._fresh = False

    def _started(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1), socket.create_connection(("127.0.0.1", self.http_port), 1):
                return True
        except OSError:
            return False
