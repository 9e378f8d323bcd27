"""Queries that define the searched graph."""

from __future__ import annotations

from pydantic import Field

from kgqa.settings.base import Settings


class ProjectionSettings(Settings):
    """Named queries that define the edges of the searched graph (docs/decisions/0003-projection.md)."""

    document_to_entity: tuple[str, ...] = Field(min_length=1)
    """Queries that return ``document, entity``: edges of the traversal from document to entity."""
    entity_to_document: tuple[str, ...] = Field(min_length=1)
    """Queries that return ``entity, document``: edges of the traversal from entity to document."""
    candidates: tuple[str, ...] = ()
    """For ``--traversal cypher``: queries for the entities (``candidate``) that an ``entity`` reaches over one, two, … documents."""
    chains: tuple[str, ...] = ()
    """For ``--traversal cypher``: queries for the chains of one, two, … documents from an ``entity`` to ``candidates``."""
    files: tuple[str, ...] = ()
    """Additional ``.cypher`` files, in the TOML file's folder or below."""
