"""Breadth-first search in the bipartite graph, compiled; ``tests/traversal/oracle.py`` is the same search in plain Python.

All arrays hold rows of the entity and document tables. A call processes one batch of queries and releases the interpreter lock.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import Adjacency, IntArray
from kgqa.arrays.search import row_holds
from kgqa.traversal.base import Chains, EndPoints, Graph, Reached, Searches


@kernel
def breadth_first(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, is_closed, start, max_documents,
    order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp, stamp,
):  # fmt: skip
    """Visit the entities that ``start`` reaches over at most ``max_documents`` documents; return their number, ``start`` included.

    No chain leads through a closed entity (``is_closed``: bool, entities), except from ``start`` itself.

    Output arrays: ``order`` (int32, entities) lists the entities as visited. ``entity_parent`` is the document through which an entity was
    first seen, ``document_parent`` the entity through which a document was; both depths count documents. Rows are sorted, so the first
    parent lies on the lexicographically smallest shortest chain. The ``*_stamp`` arrays hold the last query that saw a node, so that
    nothing has to be cleared between queries. O(edges visited), no allocation.
    """
    order[0] = start
    entity_stamp[start] = stamp
    entity_depth[start] = 0
    entity_parent[start] = -1
    count, at = 1, 0
    while at < count:
        entity = order[at]
        at += 1
        # Entities are visited by depth, so the search ends at the first one that is too deep.
        depth = entity_depth[entity] + 1
        if depth > max_documents:
            break
        if is_closed[entity] and entity != start:
            continue
        for i in range(document_offsets[entity], document_offsets[entity + 1]):
            document = document_targets[i]
            if document_stamp[document] == stamp:
                continue
            document_stamp[document] = stamp
            document_depth[document] = depth
            document_parent[document] = entity
            for j in range(entity_offsets[document], entity_offsets[document + 1]):
                neighbour = entity_targets[j]
                if entity_stamp[neighbour] != stamp:
                    entity_stamp[neighbour] = stamp
                    entity_depth[neighbour] = depth
                    entity_parent[neighbour] = document
                    order[count] = neighbour
                    count += 1
    return count


@kernel
def search_arrays(entities, documents):  # type: ignore[no-untyped-def]
    """The last arrays of :func:`breadth_first`: ``order`` to ``document_stamp``, for searches with stamps from 0."""
    order, entity_depth, entity_parent = np.empty(entities, np.int32), np.empty(entities, np.int32), np.empty(entities, np.int32)
    document_depth, document_parent = np.empty(documents, np.int32), np.empty(documents, np.int32)
    entity_stamp, document_stamp = np.full(entities, -1, np.int32), np.full(documents, -1, np.int32)
    return order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp


@kernel
def find_candidates(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, is_closed, max_documents,
    heads, relations, answers, role_offsets, roles, fact_offsets, fact_relations, fact_tails, with_chains,
):  # fmt: skip
    """Find the candidates of each query, and the chain of the breadth-first tree to each of them.

    Input: ``heads`` (ascending), ``relations``, ``answers``: int32, one entry per query. Entity e is an end point of relation r if r is in
    ``roles[role_offsets[e]:role_offsets[e + 1]]`` (sorted). The answer is always a candidate. The head is never one, nor are the other true
    objects of the query, which ``fact_relations`` and ``fact_tails`` list (facts by head).

    Output, all int32 except ``reached``:
    - ``reached`` (bool, queries): whether the head reaches the answer;
    - ``counts`` (queries) and ``candidates``: the candidates, ascending within a query; none if the answer is not reached;
    - ``lengths`` (candidates) and ``nodes``: the chain to each candidate: entity, document, entity, …;
    - ``document_counts`` (queries) and ``chained``: the documents on the chains of each query, ascending.

    Without ``with_chains`` the last four are empty. One search per distinct head.
    """
    entities, documents = len(document_offsets) - 1, len(entity_offsets) - 1
    order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp = search_arrays(entities, documents)
    excluded, end_points = np.full(entities, -1, np.int32), np.empty(entities, np.int32)
    chained_stamp, chained, document_count = np.full(documents, -1, np.int32), np.empty(1024, np.int32), 0
    queries = len(heads)
    is_reached, counts = np.zeros(queries, np.bool_), np.zeros(queries, np.int32)
    document_counts = np.zeros(queries, np.int32)
    candidates, lengths, nodes = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(8192, np.int32)
    candidate_count, node_count, visit_count = 0, 0, 0
    for query in range(queries):
        head, relation, answer = heads[query], relations[query], answers[query]
        # Queries are ordered by head, so one search serves all queries with the same head.
        if query == 0 or heads[query - 1] != head:
            visit_count = breadth_first(
                document_offsets, document_targets, entity_offsets, entity_targets, is_closed, head, max_documents,
                order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp, query,
            )  # fmt: skip
            stamp = query
        if entity_stamp[answer] != stamp or answer == head:
            continue
        is_reached[query] = True
        # Other objects of the same head and relation are true as well, so they are excluded.
        for i in range(fact_offsets[head], fact_offsets[head + 1]):
            if fact_relations[i] == relation:
                excluded[fact_tails[i]] = query
        reached_count = 0
        for i in range(1, visit_count):
            entity = order[i]
            if entity == answer or (excluded[entity] != query and row_holds(role_offsets, roles, entity, relation)):
                end_points[reached_count] = entity
                reached_count += 1
        counts[query] = reached_count
        if candidate_count + reached_count > len(candidates):
            candidates, lengths = grown(candidates, candidate_count + reached_count), grown(lengths, candidate_count + reached_count)
        # Ascending, so that the output does not show the order of the search.
        candidates[candidate_count : candidate_count + reached_count] = np.sort(end_points[:reached_count])
        if with_chains:
            # Follow the parents from each candidate back to the head, and fill its chain from the end.
            first_document = document_count
            for i in range(candidate_count, candidate_count + reached_count):
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
            # Chains share documents; the stamp kept each of them once, and sorting makes the order independent of the chains.
            chained[first_document:document_count].sort()
            document_counts[query] = document_count - first_document
        candidate_count += reached_count
    lengths = lengths[: candidate_count if with_chains else 0].copy()
    chained = chained[:document_count].copy()
    return is_reached, counts, candidates[:candidate_count].copy(), lengths, nodes[:node_count].copy(), document_counts, chained


@kernel
def naming_rows(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, order, visit_count, document_parent, document_stamp, stamp,
    begin, end, documents, naming,
):  # fmt: skip
    """Collect the visited documents that lead to each visited entity, after :func:`breadth_first`.

    Writes those of entity e to ``naming[begin[e]:end[e]]`` (ascending) and returns ``naming``, which may have grown. ``documents`` (int32,
    all documents) is scratch space. This is cheaper than the full rows: a hub occurs in many documents, but one search visits few of them.
    O(edges visited).
    """
    count, need = 0, 0
    # The visited documents are those whose parent is a visited entity; each has one parent, so each is collected once.
    for at in range(visit_count):
        entity = order[at]
        end[entity] = 0
        for i in range(document_offsets[entity], document_offsets[entity + 1]):
            document = document_targets[i]
            if document_stamp[document] == stamp and document_parent[document] == entity:
                documents[count] = document
                count += 1
    documents[:count].sort()
    # A counting sort of the edges by entity: count, turn counts into bounds, then place. Documents stay in ascending order.
    for i in range(count):
        for j in range(entity_offsets[documents[i]], entity_offsets[documents[i] + 1]):
            end[entity_targets[j]] += 1
    for at in range(visit_count):
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
    document_offsets, document_targets, entity_offsets, entity_targets, is_closed,
    leading_offsets, leading_targets, max_documents, heads, offsets, candidates, longer, limit,
):  # fmt: skip
    """Find all shortest chains (``longer``: all simple chains) from each head to each of its candidates, at most ``limit`` per candidate.

    The candidates of ``heads[q]`` are ``candidates[offsets[q]:offsets[q + 1]]``. The ``leading`` rows list the entities that lead to each
    document. Chains are grown backwards from the candidate, through nodes that the search from the head visited. A node that lies too deep
    for its place on the chain is skipped, so few steps lead to a dead end. Order: shorter chains first, then by their nodes, read from the
    candidate back to the head. Returns ``counts`` (int32, chains per candidate), ``lengths`` (int32, nodes per chain), ``nodes`` (int32).
    """
    # Scratch arrays for all searches, and output arrays that grow.
    entities, documents = len(document_offsets) - 1, len(entity_offsets) - 1
    order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp = search_arrays(entities, documents)
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
            visit_count = breadth_first(
                document_offsets, document_targets, entity_offsets, entity_targets, is_closed, head, max_documents,
                order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp, stamp,
            )  # fmt: skip
            naming = naming_rows(
                document_offsets, document_targets, entity_offsets, entity_targets, order, visit_count, document_parent, document_stamp,
                stamp, naming_begin, naming_end, room, naming,
            )  # fmt: skip
        for index in range(offsets[query], offsets[query + 1]):
            candidate = candidates[index]
            if entity_stamp[candidate] != stamp or candidate == head:
                continue
            # Depth-first search for each length in turn. ``path`` is filled from its end, ``cursor`` holds the next neighbour to try.
            for hops in range(entity_depth[candidate], (max_documents if longer else entity_depth[candidate]) + 1):
                top = 2 * hops
                at = top
                path[at] = candidate
                cursor[at] = naming_begin[candidate]
                while at <= top and counts[index] < limit:
                    # Even places hold entities, odd places documents; place p is (p + 1) // 2 documents away from the head.
                    node = path[at]
                    end = naming_end[node] if at % 2 == 0 else leading_offsets[node + 1]
                    # All neighbours of this node are used up: go back one place.
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
                        or (is_closed[before] and place > 0)
                    ):
                        continue
                    # Simple chains: entities are compared with entities, documents with documents, hence steps of two.
                    is_repeat = False
                    for position in range(place + 2, top + 1, 2):
                        is_repeat = is_repeat or path[position] == before
                    if is_repeat:
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

    Memory: at most 32 bytes per entity and 16 per document for each call, plus the result.
    """

    batch = 4096
    concurrent = True

    def __init__(self, graph: Graph, *, max_documents: int, is_closed: npt.NDArray[np.bool_] | None = None) -> None:
        """Search ``graph`` for chains of at most ``max_documents`` documents; they may end at a closed
        entity (``is_closed``), not go through it."""
        documents, entities = graph.documents_of, graph.entities_of
        is_closed = np.zeros(graph.entities, np.bool_) if is_closed is None else is_closed
        self._arrays = documents.offsets, documents.targets, entities.offsets, entities.targets, is_closed
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

    def __getstate__(self) -> dict[str, object]:
        """The state with all derived rows, so that no copy in another process derives them anew."""
        assert self._leading
        return self.__dict__

    @cached_property
    def _leading(self) -> Adjacency:
        """Document → the entities that a chain may enter it from."""
        return self._graph.documents_of.reversed(self._graph.documents)
