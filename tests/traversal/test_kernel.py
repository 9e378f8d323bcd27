"""The compiled search finds exactly what brute force finds, however it is cut into batches and spread over threads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.arrays.rows import Adjacency
from kgqa.recipes.qangaroo import search
from kgqa.recipes.qangaroo.corpus import Facts
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.settings.qangaroo import QangarooSettings, TraversalSettings
from kgqa.traversal.base import Graph
from kgqa.traversal.kernel import Kernel, breadth_first, naming_rows
from tests.lengths import example_count
from tests.traversal import oracle

Pairs = list[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class World:
    """A small graph with facts that are asked and the relations whose end points each entity is."""

    entities: int
    documents: int
    forth: Pairs
    """Entity → document."""
    back: Pairs
    """Document → entity."""
    facts: list[tuple[int, int, int]]
    """Head, relation, tail, in order; all of them are asked."""
    roles: Pairs
    closed: frozenset[int] = frozenset()
    """Entities that no chain leads through."""

    def adjacency(self) -> tuple[list[list[int]], list[list[int]]]:
        return (
            [sorted(d for e, d in self.forth if e == entity) for entity in range(self.entities)],
            [sorted(e for d, e in self.back if d == document) for document in range(self.documents)],
        )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Sparse and dense graphs, with hubs, isolated nodes, several questions per head and symmetric facts."""
    entities, documents = draw(st.integers(2, 6)), draw(st.integers(1, 5))
    cells = [(e, d) for e in range(entities) for d in range(documents)]
    density = draw(st.sampled_from([0.2, 0.4, 0.8]))
    most = int(density * len(cells)) + 1
    forth = draw(st.sets(st.sampled_from(cells), max_size=most))
    back = {(d, e) for e, d in draw(st.sets(st.sampled_from(cells), max_size=most))}
    if draw(st.booleans()):
        hub = draw(st.integers(0, entities - 1))
        forth |= {(hub, d) for d in range(documents)}
        back |= {(d, hub) for d in range(documents)}
    ids = st.integers(0, entities - 1)
    relations = st.integers(0, 1)
    facts = draw(st.sets(st.tuples(ids, relations, ids), min_size=1, max_size=10))
    facts |= {(t, r, h) for h, r, t in facts if r == 1}
    roles = draw(st.sets(st.tuples(ids, relations), max_size=2 * entities))
    closed = draw(st.frozensets(ids)) if draw(st.booleans()) else frozenset()
    return World(
        entities=entities, documents=documents, forth=sorted(forth), back=sorted(back), facts=sorted(facts), roles=sorted(roles),
        closed=closed,
    )  # fmt: skip


def rows(pairs: Pairs, count: int) -> Adjacency:
    columns = np.array(pairs, np.int32).reshape(-1, 2)
    return Adjacency.from_pairs(columns[:, 0], columns[:, 1], count)


def searched(world: World, *, chains: str, max_documents: int, max_chains: int = 16, workers: int = 1) -> Samples:
    """What the recipe's search makes of ``world``."""
    traversal = TraversalSettings.model_validate({"max_documents": max_documents, "chains": chains, "max_chains": max_chains})
    options = QangarooSettings(traversal=traversal)
    head, relation, tail = np.array(world.facts, np.int32).T.copy()
    questions = Questions(
        id=np.arange(len(head), dtype=np.uint64), split=np.zeros(len(head), np.int8), head=head, relation=relation, answer=tail
    )
    graph = Graph(documents_of=rows(world.forth, world.entities), entities_of=rows(world.back, world.documents))
    facts = Facts(head=head, relation=relation, tail=tail)
    closed = np.isin(np.arange(world.entities), sorted(world.closed)) if world.closed else None
    kernel = Kernel(graph, max_documents=max_documents, is_closed=closed)
    found = search.find_samples(questions, kernel, facts, rows(world.roles, world.entities), options, engine=Threads(workers))
    return found if chains == "tree" else search.add_chains(found, kernel, options.traversal, engine=Threads(workers))


Found = list[tuple[list[int], list[list[oracle.Chain]], list[int]]]


def as_lists(samples: Samples) -> Found:
    """Per question its candidates, the chains to each of them, and its documents."""
    nodes = [tuple(chain.tolist()) for chain in np.split(samples.nodes.targets, samples.nodes.offsets[1:-1])]
    chains = [[nodes[i] for i in part.tolist()] for part in np.split(samples.chains.targets, samples.chains.offsets[1:-1])]
    result = []
    for i in range(len(samples)):
        part = slice(samples.candidates.offsets[i], samples.candidates.offsets[i + 1])
        shown = samples.documents.targets[samples.documents.offsets[i] : samples.documents.offsets[i + 1]]
        candidates = samples.candidates.targets[part].tolist()
        result.append((candidates, chains[part] if candidates else [], shown.tolist()))
    return result


def expected(world: World, *, chains: str, max_documents: int, max_chains: int = 16) -> Found:
    """The same by brute force."""
    result: Found = []
    for head, relation, answer in world.facts:
        every = oracle.simple_chains(*world.adjacency(), head, max_documents, closed=world.closed)
        others = {t for h, r, t in world.facts if (h, r) == (head, relation)} - {answer}
        found = oracle.candidates(every, answer, {e for e, r in world.roles if r == relation}, others)
        if chains == "tree":
            kept = [[oracle.tree_chain(every, candidate)] for candidate in found]
        else:
            kept = [oracle.ordered_chains(every, c, longer=chains == "all_simple", limit=max_chains) for c in found]
        result.append((found, kept, sorted({d for of_candidate in kept for chain in of_candidate for d in chain[1::2]})))
    return result


@pytest.mark.parametrize("max_documents", [1, 2, 3, 4])
@pytest.mark.parametrize("chains", ["tree", "all_shortest", "all_simple"])
@settings(max_examples=example_count(60))
@given(world=worlds(), max_chains=st.sampled_from([1, 2, 3, 1000]))
def test_the_search_finds_what_brute_force_finds(world: World, chains: str, max_documents: int, max_chains: int) -> None:
    found = searched(world, chains=chains, max_documents=max_documents, max_chains=max_chains)
    assert as_lists(found) == expected(world, chains=chains, max_documents=max_documents, max_chains=max_chains)


@settings(max_examples=example_count(60))
@given(world=worlds(), max_documents=st.integers(1, 4))
def test_neither_the_head_nor_another_true_object_is_a_candidate_and_the_answer_always_is(world: World, max_documents: int) -> None:
    for (head, relation, answer), (candidates, _, _) in zip(
        world.facts, as_lists(searched(world, chains="tree", max_documents=max_documents)), strict=True
    ):
        others = {t for h, r, t in world.facts if (h, r) == (head, relation)} - {answer}
        assert head not in candidates
        assert not others & set(candidates)
        assert not candidates or answer in candidates


@pytest.mark.parametrize("chains", ["tree", "all_simple"])
@pytest.mark.parametrize(("batch", "workers"), [(1, 1), (1, 4), (2, 3), (3, 2)])
@settings(max_examples=25)
@given(world=worlds())
def test_the_result_does_not_depend_on_batches_and_threads(world: World, chains: str, batch: int, workers: int) -> None:
    whole = as_lists(searched(world, chains=chains, max_documents=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "batch", batch)
        assert as_lists(searched(world, chains=chains, max_documents=3, workers=workers)) == whole


def test_the_tie_between_two_shortest_chains_goes_to_the_lowest_document() -> None:
    world = World(entities=3, documents=2, forth=[(0, 0), (0, 1)], back=[(0, 2), (1, 2), (1, 1)], facts=[(0, 0, 2)], roles=[(1, 0)])
    candidates, chains, documents = as_lists(searched(world, chains="tree", max_documents=3))[0]
    assert (candidates, chains, documents) == ([1, 2], [[(0, 1, 1)], [(0, 0, 2)]], [0, 1])


def test_end_points_do_not_stop_the_traversal() -> None:
    world = World(entities=3, documents=2, forth=[(0, 0), (1, 1)], back=[(0, 1), (1, 2)], facts=[(0, 0, 2)], roles=[(1, 0), (2, 0)])
    assert as_lists(searched(world, chains="tree", max_documents=2))[0][1] == [[(0, 0, 1)], [(0, 0, 1, 1, 2)]]


@pytest.mark.parametrize("chains", ["tree", "all_shortest", "all_simple"])
@settings(max_examples=example_count(60))
@given(world=worlds(), max_documents=st.integers(1, 4))
def test_a_chain_may_begin_and_end_at_a_closed_entity_but_not_pass_through_it(world: World, chains: str, max_documents: int) -> None:
    for _, kept, _ in as_lists(searched(world, chains=chains, max_documents=max_documents)):
        assert all(not world.closed & set(chain[2:-1:2]) for of_candidate in kept for chain in of_candidate)


def test_chains_avoid_a_closed_entity_and_nothing_else_changes() -> None:
    # 0 –d0– 1 –d1– 3 is shorter than 0 –d0– 2 –d2– 4 –d3– 3, which is there where 1 is closed; 1 stays a candidate.
    forth, back = [(0, 0), (1, 1), (2, 2), (4, 3)], [(0, 1), (0, 2), (1, 3), (2, 4), (3, 3)]
    open_ = World(entities=5, documents=4, forth=forth, back=back, facts=[(0, 0, 3)], roles=[(1, 0)])
    closed = replace(open_, closed=frozenset({0, 1, 3}))
    for chains in ("tree", "all_shortest", "all_simple"):
        longer = [(0, 0, 2, 2, 4, 3, 3)] if chains == "all_simple" else []
        assert as_lists(searched(open_, chains=chains, max_documents=3))[0][:2] == ([1, 3], [[(0, 0, 1)], [(0, 0, 1, 1, 3), *longer]])
        found = as_lists(searched(closed, chains=chains, max_documents=3))[0]
        assert found == ([1, 3], [[(0, 0, 1)], [(0, 0, 2, 2, 4, 3, 3)]], [0, 2, 3])


def test_a_long_row_of_candidates_outgrows_the_first_buffers() -> None:
    many = 3000
    pairs = [(0, entity) for entity in range(1, many)]
    facts = [(0, 0, entity) for entity in (1, 2)]
    world = World(entities=many, documents=1, forth=[(0, 0)], back=pairs, facts=facts, roles=[(entity, 0) for entity in range(many)])
    for chains in ("tree", "all_shortest"):
        found = as_lists(searched(world, chains=chains, max_documents=3))
        assert [candidates for candidates, _, _ in found] == [[1, *range(3, many)], [*range(2, many)]]
        assert all(of_candidate == [(0, 0, c)] for candidates, kept, _ in found for c, of_candidate in zip(candidates, kept, strict=True))


def test_chains_to_a_hub_are_searched_only_in_visited_documents() -> None:
    """Of 500 articles that name the hub (entity 0) a chain from entity 3 can pass three: what leads back to the hub is those alone."""
    documents = entities = 500
    own = np.arange(documents)
    mentions = [(document, 0) for document in range(1, documents)] + [(3, 7), (7, 450)]
    forth = Adjacency.from_pairs(own, own, entities)
    naming, named = np.array(mentions).T
    back = Adjacency.from_pairs(naming, named, documents)
    depth, parent, stamp, order = (np.full((2, entities), -1, np.int32) for _ in range(4))
    arrays = forth.offsets, forth.targets, back.offsets, back.targets
    visited = breadth_first(
        *arrays, np.zeros(entities, np.bool_), 3, 3, order[0], depth[0], parent[0], depth[1], parent[1], stamp[0], stamp[1], 9
    )
    begin, end = np.full(entities, -1, np.int64), np.full(entities, -1, np.int64)
    room, naming = np.empty(documents, np.int32), np.empty(1, np.int32)
    naming = naming_rows(*arrays, order[0], visited, parent[1], stamp[1], 9, begin, end, room, naming)
    assert {int(e): naming[begin[e] : end[e]].tolist() for e in order[0][:visited]} == {3: [], 0: [3, 7, 450], 7: [3], 450: [7]}
    found = Kernel(Graph(documents_of=forth, entities_of=back), max_documents=3).chains(
        np.array([3], np.int32), np.array([0, 1]), np.array([0], np.int32), longer=True, limit=100
    )
    assert found.counts.tolist() == [3]
    assert found.nodes.tolist() == [3, 3, 0, 3, 3, 7, 7, 0, 3, 3, 7, 7, 450, 450, 0]
