"""A graph of any size with the shape of an encyclopedia, and questions on it; NumPy only, the same for the same seed.

Entity i is what article i is about, so there is one link from each entity to its article, and each article mentions some entities,
popular ones more often. Every entity is an end point of one relation, so a question about that relation has it as a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.rows import Adjacency, IntArray
from kgqa.recipes.qangaroo.corpus import Facts
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.traversal.base import Graph

HUBS = 0.5
"""The share of mentions that follow popularity; the others fall on any entity alike."""
RELATIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A graph with what is asked on it."""

    graph: Graph
    questions: Questions
    """Ordered by head; every answer is reached over at most three documents."""
    facts: Facts
    """Those asked about, and further true objects that may not be candidates."""
    role: npt.NDArray[np.int32]
    """Entity → the relation whose end point it is."""

    def roles(self) -> Adjacency:
        """``role`` as the search reads it."""
        return Adjacency.from_counts(np.ones(len(self.role), np.int64), self.role)


def make_world(*, documents: int, links: int, questions: int, seed: int = 0) -> World:
    """``documents`` articles and entities, ``links`` links (the articles' own among them), and ``questions`` questions."""
    rng = np.random.default_rng(seed)
    graph = make_graph(documents, links - documents, rng)
    role = rng.integers(0, RELATIONS, documents, dtype=np.int32)
    asked, further = _facts(graph, role, questions, rng)
    facts = np.unique(np.concatenate([asked, further]), axis=0)
    return World(
        graph=graph,
        questions=Questions(
            id=np.arange(len(asked), dtype=np.uint64),
            split=np.zeros(len(asked), np.int8),
            head=asked[:, 0].copy(),
            relation=asked[:, 1].copy(),
            answer=asked[:, 2].copy(),
        ),
        facts=Facts(head=facts[:, 0].copy(), relation=facts[:, 1].copy(), tail=facts[:, 2].copy()),
        role=role,
    )


def make_graph(documents: int, mentions: int, rng: np.random.Generator) -> Graph:
    """Articles with about ``mentions`` mentions in all; a repeated pair counts once, so a little more is drawn and the rest cut off."""
    drawn = int(mentions * 1.03) + 16
    document = rng.integers(0, documents, drawn, dtype=np.int32)
    entity = rng.integers(0, documents, drawn, dtype=np.int32)
    popular = rng.random(drawn, dtype=np.float32) < HUBS
    # Zipf by inversion: the k-th most popular entity is mentioned in proportion to 1/k; ranks are spread over all rows.
    rank = np.exp(rng.random(int(popular.sum())) * np.log(documents)).astype(np.int64) - 1
    entity[popular] = rank * 2654435761 % documents
    keys = (document.astype(np.int64) << 32) | entity
    del document, entity, popular, rank
    keys.sort()
    new = np.concatenate([[True], keys[1:] != keys[:-1]])
    excess = int(new.sum()) - mentions
    if excess > 0:
        new[rng.choice(np.flatnonzero(new), excess, replace=False)] = False
    keys = keys[new]
    counts = np.bincount(keys >> 32, minlength=documents)
    own = np.arange(documents, dtype=np.int32)
    return Graph(
        documents_of=Adjacency.from_counts(np.ones(documents, np.int64), own),
        entities_of=Adjacency.from_counts(counts, (keys & 0xFFFFFFFF).astype(np.int32)),
    )


def _facts(graph: Graph, role: IntArray, questions: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """(head, relation, tail) of the questions, in order, and of further true facts: tails are where a random walk ends."""
    heads = rng.integers(0, graph.entities, 2 * questions).astype(np.int32)
    ends = [_walk(graph, heads, int(length), rng) for length in (1, 2, 3)]
    tail = np.choose(rng.integers(0, 3, len(heads)), ends).astype(np.int32)
    good = np.flatnonzero((tail >= 0) & (tail != heads))
    rows = np.stack([heads[good], role[tail[good]], tail[good]], axis=1)
    asked = np.unique(rows[:questions], axis=0)
    # Another object of the same relation for a part of the heads, so that there is something to leave out.
    other = _walk(graph, asked[:, 0], 2, rng)
    known = np.flatnonzero((other >= 0) & (other != asked[:, 0]) & (rng.random(len(asked)) < 0.3))
    return asked, np.stack([asked[known, 0], role[other[known]], other[known]], axis=1)


def _walk(graph: Graph, start: IntArray, documents: int, rng: np.random.Generator) -> IntArray:
    """Where a walk over so many documents ends; -1 where it meets a document that mentions nothing."""
    at = start.astype(np.int64)
    rows = graph.entities_of
    for _ in range(documents):
        size = rows.offsets[at + 1] - rows.offsets[at]
        step = rows.offsets[at] + (rng.random(len(at)) * size).astype(np.int64)
        found = np.where(size > 0, rows.targets[np.minimum(step, len(rows.targets) - 1)], -1)
        at = np.where((at >= 0) & (size > 0), found, -1)
    return at.astype(np.int32)
