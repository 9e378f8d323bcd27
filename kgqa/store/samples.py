"""The rows of a dataset's samples on the graph, the same for every store: samples, their chains as paths, and rejected questions.

sample         ``key``, ``id``, ``dataset``, ``split``, ``row`` (in the dataset), ``question``, ``relation``, ``answer``, ``hops``
               (documents on the shortest chain to the answer), ``grade`` (of the answer; null where it has none), ``relation_label``
chain          ``key``, ``row``, ``dataset``, ``sample``, ``candidate``, ``number`` (among the candidate's chains), ``correct`` (whether it
               leads to the answer), ``grade`` (of the candidate, by its best chain; null where it has none), ``length`` (documents)
subquestion    ``key``, ``row``, ``dataset``, ``sample``, ``number`` (among the steps of its question, from 1, as in ``#1``), ``id`` (of the
               single-hop question), ``question``, ``answer``, ``relation`` (null where unknown)
blocked        ``key``, ``id``, ``dataset``, ``row``, ``split``, ``stage``, ``reason``, ``detail``, ``question``, ``relation``, ``subject``,
               ``answer``, ``setting``, ``value``, ``threshold`` (what a filter compared with its setting; null where that is no number),
               ``filter`` (its key), ``place`` (among the filter's questions)
filter         ``key``, ``row`` (in the order of their first questions), ``dataset``, ``stage``, ``reason``, ``setting``, ``questions``
sample_about   ``sample``, ``entity``: the subject
sample_answer  ``sample``, ``entity``
candidate      ``sample``, ``entity``, ``position``, ``correct`` (whether it is the answer), ``grade``, ``path``, ``text`` (null where
               nothing is graded)
support        ``sample``, ``document``, ``position``
has_chain      ``sample``, ``chain``
step_entity    ``chain``, ``entity``, ``position`` (the subject has 0, the candidate the last), ``role`` (``subject``, ``bridge``,
               ``answer`` or ``candidate``)
step_document  ``chain``, ``document``, ``position``, ``role`` (``document``)
has_subquestion  ``sample``, ``subquestion``
supported_by   ``subquestion``, ``document``: the paragraph that has its answer
subquestion_answer  ``subquestion``, ``entity``
sample_relation, subquestion_relation: ``sample`` or ``subquestion``, ``relation`` (the row of a relation on the graph)
depends_on     ``subquestion``, ``needed``: the earlier sub-question whose answer it asks about
blocked_about, blocked_answer: ``blocked``, ``entity``
rejected_by    ``blocked``, ``filter``

A sample, a chain, a sub-question, a question and a filter are named by their ``key``, which begins with the dataset's name.
"""

from __future__ import annotations

SAMPLE_PART = (
    "sample", "chain", "subquestion", "sample_about", "sample_answer", "candidate", "support", "has_chain", "step_entity", "step_document",
    "has_subquestion", "supported_by", "subquestion_answer", "sample_relation", "subquestion_relation", "depends_on",
)  # fmt: skip
"""Tables that ``kgqa load --dataset`` adds, nodes first."""
REJECTED_PART = ("blocked", "filter", "blocked_about", "blocked_answer", "rejected_by")
"""Tables that ``--rejected`` adds."""
_NODES = ("sample", "chain", "subquestion", "blocked", "filter")
ON_GRAPH = (*_NODES, *(table for table in (*SAMPLE_PART, *REJECTED_PART) if table not in _NODES))
"""All tables that lie on a graph, nodes first."""
SCHEMA = (
    *_NODES, "subjects", "answers", "candidate", "support", "has_chain", "step", "has_subquestion", "supported_by", "depends_on",
    "of_relation", "rejected_by",
)  # fmt: skip
"""Tables that an embedded graph needs first, each made by a query ``schema_x``; one table of relationships may have several kinds of ends.
"""
SAMPLES_VERSION = 6
"""Raised when the same dataset gives other nodes or relationships."""
