"""The kinds of graphs that kgqa puts into a database, each with a marker and queries of its own; a database holds one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kgqa.store.graph import GRAPH_VERSION, TABLES
from kgqa.store.questions import QUESTION_TABLES

ON_SAMPLES = (
    "index_sample", "index_sample_relation", "index_sample_split", "index_sample_row", "index_sample_hops", "index_sample_grade",
    "constrain_chain", "constrain_subquestion", "constrain_blocked", "index_blocked_value", "index_blocked_reason", "index_blocked_place",
    "index_blocked_relation", "await_indexes",
)  # fmt: skip
"""Constraints and indexes on the nodes of :mod:`kgqa.store.samples`. Only users' queries need them, so they are made after the load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The queries with which :mod:`kgqa.store.neo4j.graph` loads, counts and erases a graph of this kind. All fields but the first five
    name queries.

    ``add_x`` fills a table ``x``, and ``count_x`` counts its rows.
    """

    holds: str
    """Description of the graph."""
    version: int
    """Stored in the marker. Queries may need tables that a graph of an older version lacks."""
    nodes: tuple[str, ...]
    """The tables of nodes, which come first."""
    links: Mapping[str, Mapping[str, str]]
    """Table of relationships → columns of ids that the query takes as indexes → the query's parameter with the list of these ids."""
    anew: str
    """Advice for a graph that kgqa did not leave in this state."""
    constraints: tuple[str, ...]
    """Constraints made before the load."""
    keys: tuple[str, ...]
    """Indexes made after all nodes are loaded, which costs a third of updating them during the load: first the constraints that find nodes,
    then the indexes for users' queries. The server fills them while relationships are loaded.
    """
    indexes: tuple[str, ...]
    """Indexes made at the end."""
    marker: str
    claim: str
    take_over: str
    finish: str
    strangers: str
    begin_erasing: str
    erase_batch: str
    erase_marker: str

    @property
    def tables(self) -> tuple[str, ...]:
        """All tables in loading order."""
        return (*self.nodes, *self.links)


GRAPH = Layout(
    holds="graph of entities and documents",
    version=GRAPH_VERSION,
    nodes=TABLES[:3],
    links={
        "fact": {"head": "entities", "tail": "entities"},
        "mentions": {"document": "documents", "entity": "entities"},
        "about": {"entity": "entities", "document": "documents"},
    },
    anew="load it anew with kgqa load --store neo4j --replace",
    constraints=("constrain_marker", "constrain_sample"),
    keys=(
        "constrain_entity",
        "constrain_document",
        "constrain_relation",
        "index_label",
        "index_entity_row",
        "index_entity_documents",
        "index_title",
        "index_names",
        "index_titles",
        "index_words_of_names",
        "index_words_of_titles",
    ),
    indexes=("index_relation", "await_indexes"),
    marker="graph_marker",
    claim="claim_database",
    take_over="take_over",
    finish="finish_load",
    strangers="strangers",
    begin_erasing="begin_erasing",
    erase_batch="erase_batch",
    erase_marker="erase_marker",
)
QUESTIONS = Layout(
    holds="graph of questions",
    version=1,
    nodes=QUESTION_TABLES[:3],
    links={name: {} for name in QUESTION_TABLES[3:]},
    anew="give kgqa an empty database",
    constraints=("constrain_questions",),
    keys=("constrain_question", "constrain_answer", "constrain_subject"),
    indexes=(),
    marker="questions_marker",
    claim="claim_for_questions",
    take_over="take_over_questions",
    finish="finish_questions",
    strangers="question_strangers",
    begin_erasing="begin_erasing_questions",
    erase_batch="erase_questions",
    erase_marker="erase_questions_marker",
)
