"""Connection to a Neo4j server, by default from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kgqa.errors import SettingsError

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neo4jSettings:
    """Connection to a Neo4j server."""

    uri: str = "bolt://localhost:7687"
    """Address of the server."""
    username: str = "neo4j"
    password: str = field(default="", repr=False)
    """Empty if the server requires none."""
    database: str = ""
    """Name of the database; empty: the user's home database, by default ``neo4j``."""

    @classmethod
    def from_environment(cls, *, uri: str | None = None, username: str | None = None, database: str | None = None) -> Neo4jSettings:
        """The arguments, by default ``NEO4J_URI``, ``NEO4J_USERNAME``, ``NEO4J_DATABASE``; the password only from ``NEO4J_PASSWORD``."""
        options = {"uri": uri, "username": username, "database": database}
        values = {name: value or os.environ.get(f"NEO4J_{name.upper()}") for name, value in options.items()}
        return cls(**{name: value for name, value in values.items() if value}, password=os.environ.get("NEO4J_PASSWORD", ""))

    def __post_init__(self) -> None:
        """Raise SettingsError for an invalid address, without showing the address, which may contain a password."""
        try:
            parts = urlsplit(self.uri)
            usable = parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            usable = False
        if not usable:
            raise SettingsError(
                "--neo4j-uri or NEO4J_URI is not the address of a Neo4j server; it must begin with "
                f"{', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}."
            )
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise SettingsError("--neo4j-uri or NEO4J_URI contains more than scheme, host and port; leave out the rest.")
        try:
            f"{self.uri}{self.username}{self.password}{self.database}".encode()
        except UnicodeEncodeError:
            raise SettingsError("NEO4J_USERNAME, NEO4J_PASSWORD or NEO4J_DATABASE is not UTF-8; set it again.") from None
        if parts.username or parts.password:
            raise SettingsError("--neo4j-uri or NEO4J_URI contains a user or a password; put them into NEO4J_USERNAME and NEO4J_PASSWORD.")

    @property
    def place(self) -> str:
        """Server and database for messages."""
        return f"{self.uri}, database {self.database}" if self.database else self.uri
