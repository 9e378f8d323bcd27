"""An import from a Neo4j database, by the user's own queries."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from pydantic import ValidationError

from kgqa.errors import SettingsError, suggestion
from kgqa.settings.base import Settings, setting_fault
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.sources.graphs.neo4j_graph import Neo4jGraph
from kgqa.sources.rows import Rows
from kgqa.store.neo4j.connection import Neo4jStore


class Neo4jQueries(Settings):
    """The server; its password is read from ``NEO4J_PASSWORD``."""

    uri: str = ""
    """Server address; by default NEO4J_URI, or bolt://localhost:7687."""
    username: str = ""
    """User; by default NEO4J_USERNAME."""
    database: str = ""
    """Database; by default NEO4J_DATABASE, or the server's own default."""

    def pages(self, queries: str, token: str = "") -> Iterator[tuple[Rows, str]]:
        """Rows of the queries in a TOML file with the fields of :class:`kgqa.sources.graphs.neo4j_graph.Neo4jGraph`."""
        try:
            graph = Neo4jGraph.model_validate(tomllib.loads(queries))
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"the queries are not TOML: {error}; fix the file.") from None
        except ValidationError as error:
            first = min(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")  # a misspelt name first
            if first["type"] == "extra_forbidden":
                name = ".".join(map(str, first["loc"]))
                raise SettingsError(f"there is no query or setting {name!r}; {suggestion(name, list(Neo4jGraph.model_fields))}") from None
            raise SettingsError(setting_fault(first, Neo4jGraph)) from None
        values = {name: value or None for name, value in self.model_dump().items()}
        with Neo4jStore(Neo4jSettings.from_environment(**values)) as store:
            yield from graph.pages(store, token)
