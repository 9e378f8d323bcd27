"""Relationships between the nodes of an answer: facts, mentions and articles, as Neo4j Browser joins the nodes of a result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kgqa.web.explore.picture import Edge, document_key, entity_key
from kgqa.web.explore.stores import Graph


def edges_among(graph: Graph, keys: Iterable[str]) -> Iterator[Edge]:
    """The edges between entities and documents with these keys. Raises QueryTimeout and StoreError."""
    entities: list[str] = []
    documents: list[str] = []
    for key in keys:
        letter, _, name = key.partition(":")
        if letter in {"e", "d"}:  # samples, chains and questions come with their relationships, or without
            (entities if letter == "e" else documents).append(name)
    if len(entities) > 1:
        for row in graph.rows("page_facts_among", ids=entities):
            label = row["relation_label"] or row["relation"]
            yield Edge(source=entity_key(row["head"]), target=entity_key(row["tail"]), kind="fact", label=label)
    if entities and documents:
        for row in graph.rows("page_mentions_among", documents=documents, entities=entities):
            yield Edge(source=document_key(row["document"]), target=entity_key(row["entity"]), kind="mention", label="mentions")
        for row in graph.rows("page_articles_among", documents=documents, entities=entities):
            yield Edge(source=entity_key(row["entity"]), target=document_key(row["document"]), kind="article", label="article")
