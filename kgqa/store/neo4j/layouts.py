"""The kinds of graphs that kgqa puts into a database, each with a marker and queries of its own; a database holds one of them."""

from __future__ import annotations

from dataclasses import dataclass

from kgqa.store.graph import TABLES
from kgqa.store.questions import QUESTION_TABLES

ON_SAMPLES = (
    "constrain_sample", "index_sample", "index_sample_relation", "index_sample_split", "index_sample_row", "index_sample_hops",
    "constrain_chain", "constrain_blocked", "index_blocked_value", "index_blocked_reason", "index_blocked_relation",
)  # fmt: skip
"""Constraints and indexes for what :mod:`kgqa.store.samples` puts on a graph; they are made before there is any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What :mod:`kgqa.store.neo4j.graph` asks to load, count and erase a graph of this kind; fields but the first three name queries.

    A table ``x`` is filled by ``add_x`` and counted by ``count_x``.
    """

    holds: str
    """What it is, in a sentence."""
    tables: tuple[str, ...]
    """Nodes first."""
    anew: str
    """What to do where the graph is not as kgqa left it."""
    constraints: tuple[str, ...]
    """Made before anything is loaded: by them nodes are found again."""
    indexes: tuple[str, ...]
    """Made when everything is there, which is faster: only people's queries need them."""
    marker: str
    claim: str
    take_over: str
    finish: str
    strangers: str
    begin_erasing: str
    erase_batch: str
    erase_marker: str


GRAPH = Layout(
    holds="graph of entities and documents",
    tables=TABLES,
    anew="load it anew with kgqa load --store neo4j --replace",
    constraints=("constrain_marker", "constrain_entity", "constrain_document", "forget_questions", *ON_SAMPLES),
    indexes=(
        "index_label",
        "index_entity_row",
        "index_entity_documents",
        "index_title",
        "index_relation",
        "index_names",
        "index_titles",
        "index_words_of_names",
        "index_words_of_titles",
        "await_indexes",
    ),
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
    tables=QUESTION_TABLES,
    anew="give kgqa an empty database",
    constraints=("constrain_questions", "constrain_question", "constrain_answer", "constrain_subject"),
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
