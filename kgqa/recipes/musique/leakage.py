"""Step S5 (Trivedi et al. 2022): the items that chains of two splits must not share: single-hop questions, answers, paragraphs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import Adjacency
from kgqa.metrics.normalize import normalize
from kgqa.recipes.musique.shapes import Rows4


def shared_items(hops: Rows4, single_hop: pa.Table) -> Adjacency:
    """Chain → its items, numbered from 0: each different question, answer, answer entity and paragraph of its hops.

    Questions are compared by their words, answers as scorers compare them; an entity may have many spellings.
    """
    chain, place = np.nonzero(hops >= 0)
    hop = hops[chain, place]
    hop_rows, inverse = np.unique(hop, return_inverse=True)
    hops_of_chain = single_hop.select(["question", "answer", "answer_entity", "paragraph"]).take(pa.array(hop_rows))
    texts = [normalize(text) for text in hops_of_chain["answer"].to_pylist()]
    # An answer without an entity counts by its text.
    entities = [
        f"={text}" if entity is None else entity for entity, text in zip(hops_of_chain["answer_entity"].to_pylist(), texts, strict=True)
    ]
    columns = [
        text_hashes(pa.array([normalize(text) for text in hops_of_chain["question"].to_pylist()], pa.string()), seed=1),
        text_hashes(pa.array(texts, pa.string()), seed=2),
        text_hashes(pa.array([str(row) for row in hops_of_chain["paragraph"].to_pylist()], pa.string()), seed=3),
        text_hashes(pa.array(entities, pa.string()), seed=4),
    ]
    _, numbers = np.unique(np.concatenate(columns), return_inverse=True)
    of = numbers.reshape(len(columns), -1)[:, inverse]
    return Adjacency.from_pairs(np.tile(chain, len(columns)), of.ravel(), len(hops))
