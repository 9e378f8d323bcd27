"""Which queries say what the graph is that is searched."""

from __future__ import annotations

from pydantic import Field

from kgqa.settings.base import Settings


class ProjectionSettings(Settings):
    """Which named queries say what the graph's edges are (docs/decisions/0003-projection.md)."""

    document_to_entity: tuple[str, ...] = Field(min_length=1)
    """Queries that return ``document, entity``: the traversal may go from the document to the entity."""
    entity_to_document: tuple[str, ...] = Field(min_length=1)
    """Queries that return ``entity, document``: the traversal may go from the entity to the document."""
    candidates: tuple[str, ...] = ()
    """For ``--traversal cypher``: queries that find what an entity (``entity``) reaches over one, two, … documents (``candidate``)."""
    chains: tuple[str, ...] = ()
    """For ``--traversal cypher``: queries for the chains of one, two, … documents from an entity (``entity``) to ``candidates``."""
    files: tuple[str, ...] = ()
    """Further ``.cypher`` files, in the TOML file's folder or below; kgqa's own are always there."""
