"""Queries that define the searched graph."""

from __future__ import annotations

from pydantic import Field

from kgqa.settings.base import Settings


class ProjectionSettings(Settings):
    """Named queries that define the edges of the searched graph (docs/decisions/0003-projection.md)."""

    document_to_entity: tuple[str, ...] = Field(min_length=1)
    """Names of queries that return ``document, entity``: the edges of the traversal from documents to entities."""
    entity_to_document: tuple[str, ...] = Field(min_length=1)
    """Names of queries that return ``entity, document``: the edges of the traversal from entities to documents."""
    candidates: tuple[str, ...] = ()
    """For ``--traversal cypher``: names of queries that return each ``candidate`` reached from an ``entity`` over one, two, … documents."""
    chains: tuple[str, ...] = ()
    """For ``--traversal cypher``: names of queries that return the chains of one, two, … documents from an ``entity`` to ``candidates``."""
    files: tuple[str, ...] = ()
    """Additional ``.cypher`` files, in the folder of the TOML file or below."""
