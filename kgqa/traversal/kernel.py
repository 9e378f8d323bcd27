"""Breadth-first search over the bipartite graph, compiled; ``tests/traversal/oracle.py`` says the same in plain Python.

Everything here works on rows of the entity and document tables, without the interpreter lock, on one batch of queries at a time.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import Adjacency, IntArray
from kgqa.arrays.search import row_holds
from kgqa.traversal.base import Chains, EndPoints, Reached, Searches
from kgqa.traversal.graph import Graph


@kernel
def breadth_first(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, closed, start, max_documents,
    order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp, stamp,
):  # fmt: skip
    """Visit the entities that ``start`` reaches over at most ``max_documents`` documents; return how many, ``start`` included.

    No chain leads on from an entity for which ``closed`` holds, unless it is ``start``.
    ``order`` (int32, entities) lists them as visited; ``entity_parent`` holds the document through which an entity was first seen,
    ``document_parent`` the entity through which a document was; both depths count documents. As rows are sorted, the first parent lies on
    the lexicographically smallest shortest chain. ``*_stamp`` hold the query that saw a node last, so that nothing is cleared between
    queries. O(edges visited), no allocation.
    """
    order[0] = start
    entity_stamp[start] = stamp
    entity_depth[start] = 0
    entity_parent[start] = -1
    count, at = 1, 0
    while at < count:
        entity = order[at]
        at += 1
        depth = entity_depth[entity] + 1
        if depth > max_documents:
            break
        if closed[entity] and entity != start:
            continue
        for i in range(document_offsets[entity], document_offsets[entity + 1]):
            document = document_targets[i]
            if document_stamp[document] == stamp:
                continue
            document_stamp[document] = stamp
            document_depth[document] = depth
            document_parent[document] = entity
            for j in range(entity_offsets[document], entity_offsets[document + 1]):
                reached = entity_targets[j]
                if entity_stamp[reached] != stamp:
                    entity_stamp[reached] = stamp
                    entity_depth[reached] = depth
                    entity_parent[reached] = document
                    order[count] = reached
                    count += 1
    return count


@kernel
def find_candidates(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, closed, max_documents,
    heads, relations, answers, role_offsets, roles, fact_offsets, fact_relations, fact_tails, with_chains,
):  # fmt: skip
    """For each query the end points that its head reaches, and the breadth-first tree's chain to each.

    ``heads`` (ascending), ``relations``, ``answers``: int32, one entry a query. Entity e is an end point of relation r if r is in
    ``roles[role_offsets[e]:role_offsets[e + 1]]`` (sorted); not if it is the head, nor another true object of the query: ``fact_relations``
    and ``fact_tails`` list the head's facts. The answer is always an end point. Returns ``reached`` (bool, whether the answer is),
    ``counts`` (int32, candidates per query), ``candidates`` (int32, ascending within a query; none where the answer is not reached),
    ``lengths`` (int32, nodes of the chain of each candidate), ``nodes`` (int32: entity, document, entity, …), ``document_counts`` and
    ``chained`` (int32: the documents on the chains of each query, ascending); the last four are empty without chains. One search per
    distinct head.
    """
    entities, documents = len(document_offsets) - 1, len(entity_offsets) - 1
    order, entity_depth, entity_parent = np.empty(entities, np.int32), np.empty(entities, np.int32), np.empty(entities, np.int32)
    document_depth, document_parent = np.empty(documents, np.int32), np.empty(documents, np.int32)
    entity_stamp, document_stamp = np.full(entities, -1, np.int32), np.full(documents, -1, np.int32)
    excluded, wanted = np.full(entities, -1, np.int32), np.empty(entities, np.int32)
    chained_stamp, chained, document_count = np.full(documents, -1, np.int32), np.empty(1024, np.int32), 0
    queries = len(heads)
    reached, counts = np.zeros(queries, np.bool_), np.zeros(queries, np.int32)
    document_counts = np.zeros(queries, np.int32)
    candidates, lengths, nodes = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(8192, np.int32)
    candidate_count, node_count, visited = 0, 0, 0
    for query in range(queries):
        head, relation, answer = heads[query], relations[query], answers[query]
        if query == 0 or heads[query - 1] != head:
            visited = breadth_first(
                document_offsets, document_targets, entity_offsets, entity_targets, closed, head, max_documents,
                order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp, query,
            )  # fmt: skip
            stamp = query
        if entity_stamp[answer] != stamp or answer == head:
            continue
        reached[query] = True
        for i in range(fact_offsets[head], fact_offsets[head + 1]):
            if fact_relations[i] == relation:
                excluded[fact_tails[i]] = query
        found = 0
        for i in range(1, visited):
            entity = order[i]
            if entity == answer or (excluded[entity] != query and row_holds(role_offsets, roles, entity, relation)):
                wanted[found] = entity
                found += 1
        counts[query] = found
        if candidate_count + found > len(candidates):
            candidates, lengths = grown(candidates, candidate_count + found), grown(lengths, candidate_count + found)
        candidates[candidate_count : candidate_count + found] = np.sort(wanted[:found])
        if with_chains:
            first_document = document_count
            for i in range(candidate_count, candidate_count + found):
                length = 2 * entity_depth[candidates[i]] + 1
                lengths[i] = length
                if node_count + length > len(nodes):
                    nodes = grown(nodes, node_count + length)
                entity = candidates[i]
                for at in range(node_count + length - 1, node_count, -2):
                    document = entity_parent[entity]
                    nodes[at] = entity
                    nodes[at - 1] = document
                    entity = document_parent[document]
                    if chained_stamp[document] != query:
                        chained_stamp[document] = query
                        if document_count == len(chained):
                            chained = grown(chained, document_count + 1)
                        chained[document_count] = document
                        document_count += 1
                nodes[node_count] = head
                node_count += length
            chained[first_document:document_count].sort()
            document_counts[query] = document_count - first_document
        candidate_count += found
    lengths = lengths[: candidate_count if with_chains else 0].copy()
    chained = chained[:document_count].copy()
    return reached, counts, candidates[:candidate_count].copy(), lengths, nodes[:node_count].copy(), document_counts, chained


@kernel
def naming_rows(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, order, visited, document_parent, document_stamp, stamp,
    begin, end, documents, naming,
):  # fmt: skip
    """After :func:`breadth_first`: which of the documents that it saw lead to each entity that it saw.

    Those of entity e are ``naming[begin[e]:end[e]]`` (ascending) afterwards; returns ``naming``, which grows. ``documents`` (int32, all
    documents) is room to work in. A hub is named in a share of all documents, but in few that one search sees. O(edges visited).
    """
    count, need = 0, 0
    for at in range(visited):
        entity = order[at]
        end[entity] = 0
        for i in range(document_offsets[entity], document_offsets[entity + 1]):
            document = document_targets[i]
            if document_stamp[document] == stamp and document_parent[document] == entity:
                documents[count] = document
                count += 1
    documents[:count].sort()
    for i in range(count):
        for j in range(entity_offsets[documents[i]], entity_offsets[documents[i] + 1]):
            end[entity_targets[j]] += 1
    for at in range(visited):
        entity = order[at]
        begin[entity] = need
        need += end[entity]
        end[entity] = begin[entity]
    naming = grown(naming, need)
    for i in range(count):
        for j in range(entity_offsets[documents[i]], entity_offsets[documents[i] + 1]):
            entity = entity_targets[j]
            naming[end[entity]] = documents[i]
            end[entity] += 1
    return naming


@kernel
def find_chains(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, closed,
    leading_offsets, leading_targets, max_documents, heads, offsets, candidates, longer, limit,
):  # fmt: skip
    """All shortest chains (or, if ``longer``, all simple chains) from each head to each of its candidates, at most ``limit`` of each.

    ``candidates[offsets[q]:offsets[q + 1]]`` belong to ``heads[q]``. The ``leading`` rows say which entities lead to a document: chains
    are grown backwards from the candidate, over what the search from the head saw, and because a node that is deeper than its place allows
    is never entered, hardly a step is wasted. Order: shorter first, then by the rows of the nodes read from the candidate back to the head.
    Returns ``counts`` (int32, chains per candidate), ``lengths`` (int32, nodes per chain), ``nodes`` (int32).
    """
    entities, documents = len(document_offsets) - 1, len(entity_offsets) - 1
    order, entity_depth, entity_parent = np.empty(entities, np.int32), np.empty(entities, np.int32), np.empty(entities, np.int32)
    document_depth, document_parent = np.empty(documents, np.int32), np.empty(documents, np.int32)
    entity_stamp, document_stamp = np.full(entities, -1, np.int32), np.full(documents, -1, np.int32)
    counts = np.zeros(len(candidates), np.int32)
    lengths, nodes = np.empty(1024, np.int32), np.empty(8192, np.int32)
    chain_count, node_count = 0, 0
    naming_begin, naming_end = np.empty(entities, np.int64), np.empty(entities, np.int64)
    room, naming = np.empty(documents, np.int32), np.empty(8192, np.int32)
    path, cursor = np.empty(2 * max_documents + 1, np.int32), np.empty(2 * max_documents + 1, np.int64)
    stamp = -1
    for query in range(len(heads)):
        head = heads[query]
        if query == 0 or heads[query - 1] != head:
            stamp = query
            visited = breadth_first(
                document_offsets, document_targets, entity_offsets, entity_targets, closed, head, max_documents,
                order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp, stamp,
            )  # fmt: skip
            naming = naming_rows(
                document_offsets, document_targets, entity_offsets, entity_targets, order, visited, document_parent, document_stamp, stamp,
                naming_begin, naming_end, room, naming,
            )  # fmt: skip
        for index in range(offsets[query], offsets[query + 1]):
            candidate = candidates[index]
            if entity_stamp[candidate] != stamp or candidate == head:
                continue
            for hops in range(entity_depth[candidate], (max_documents if longer else entity_depth[candidate]) + 1):
                top = 2 * hops
                at = top
                path[at] = candidate
                cursor[at] = naming_begin[candidate]
                while at <= top and counts[index] < limit:
                    # Even places hold entities, odd ones documents; place p lies (p + 1) // 2 documents away from the head.
                    node = path[at]
                    end = naming_end[node] if at % 2 == 0 else leading_offsets[node + 1]
                    if cursor[at] == end:
                        at += 1
                        continue
                    before = naming[cursor[at]] if at % 2 == 0 else leading_targets[cursor[at]]
                    cursor[at] += 1
                    place = at - 1
                    if place % 2 == 1:
                        if document_stamp[before] != stamp or document_depth[before] > (place + 1) // 2:
                            continue
                    elif (
                        entity_stamp[before] != stamp
                        or entity_depth[before] > place // 2
                        or (before == head) != (place == 0)
                        or (closed[before] and place > 0)
                    ):
                        continue
                    repeated = False
                    for other in range(place + 2, top + 1, 2):
                        repeated = repeated or path[other] == before
                    if repeated:
                        continue
                    path[place] = before
                    if place == 0:
                        if chain_count == len(lengths):
                            lengths = grown(lengths, chain_count + 1)
                        if node_count + top + 1 > len(nodes):
                            nodes = grown(nodes, node_count + top + 1)
                        nodes[node_count : node_count + top + 1] = path[: top + 1]
                        node_count += top + 1
                        lengths[chain_count] = top + 1
                        chain_count += 1
                        counts[index] += 1
                        continue
                    at = place
                    cursor[at] = naming_begin[before] if at % 2 == 0 else leading_offsets[before]
    return counts, lengths[:chain_count].copy(), nodes[:node_count].copy()


class Kernel:
    """:class:`~kgqa.traversal.base.Traversal` by the compiled search over adjacency arrays.

    Memory: at most 32 bytes an entity and 16 a document for each call, beside the result.
    """

    batch = 4096
    concurrent = True

    def __init__(self, graph: Graph, *, max_documents: int, closed: npt.NDArray[np.bool_] | None = None) -> None:
        """Search ``graph`` over at most ``max_documents`` documents; no chain leads through an entity that is ``closed``, only to it."""
        documents, entities = graph.documents_of, graph.entities_of
        closed = np.zeros(graph.entities, np.bool_) if closed is None else closed
        self._arrays = documents.offsets, documents.targets, entities.offsets, entities.targets, closed
        self._graph = graph
        self._max_documents = max_documents

    def reach(self, searches: Searches, ends: EndPoints, *, with_chains: bool) -> Reached:
        """Implements :meth:`Traversal.reach <kgqa.traversal.base.Traversal.reach>` in memory."""
        _, counts, candidates, lengths, nodes, document_counts, documents = find_candidates(
            *self._arrays, self._max_documents,
            searches.heads, searches.relations, searches.answers,
            ends.roles.offsets, ends.roles.targets, ends.fact_offsets, ends.fact_relations, ends.fact_tails, with_chains,
        )  # fmt: skip
        return Reached(
            counts=counts, candidates=candidates, lengths=lengths, nodes=nodes, document_counts=document_counts, documents=documents
        )

    def chains(self, heads: IntArray, offsets: npt.NDArray[np.int64], candidates: IntArray, *, longer: bool, limit: int) -> Chains:
        """Implements :meth:`Traversal.chains <kgqa.traversal.base.Traversal.chains>` in memory."""
        leading = self._leading
        counts, lengths, nodes = find_chains(
            *self._arrays, leading.offsets, leading.targets, self._max_documents, heads, offsets, candidates, longer, limit,
        )  # fmt: skip
        return Chains(counts=counts, lengths=lengths, nodes=nodes)

    @cached_property
    def _leading(self) -> Adjacency:
        """Document → the entities that lead to it."""
        return self._graph.documents_of.reversed(self._graph.documents)
