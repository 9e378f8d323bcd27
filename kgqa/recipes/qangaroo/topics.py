"""Topical similarity of entities and documents, from co-mentions only.

Random indexing (Kanerva et al. 2000): each document starts with a random vector of signs. An entity's vector is the sum over the documents
that mention it, and a document's new vector the weighted sum over its entities. A second pass also relates entities that share no document
but have common neighbours. In this space "Genoa" is close to an article about Turin and far from one about Kyoto.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import IntArray, Rows

SIZE = 64
"""Dimension of the vectors: the signs of a document are the bits of one 64-bit hash."""
PASSES = 2
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """A vector (``SIZE``) of length 1 for each row of the entity and document tables; 0 for entities without mentions."""

    entities: Vectors
    documents: Vectors

    @classmethod
    def of(cls, links: Rows, ids: pa.ChunkedArray, entities: int) -> Topics:
        """``links``: document → entities that it mentions; ``ids``: the ids of documents; ``entities``: their number.

        O(links × ``SIZE``); memory: 4 × ``SIZE`` bytes per entity and per document. Sums follow the order of rows, so they do not depend on
        threads.
        """
        count = len(links.offsets) - 1
        ones = np.ones(len(links.targets), np.float32)
        mentions = sp.csr_matrix((ones, links.targets, links.offsets), shape=(count, entities))
        mentioning = mentions.T.tocsr()
        rarity = np.log(max(count, 1) / np.maximum(np.diff(mentioning.indptr), 1)).astype(np.float32)[:, None]
        documents = np.unpackbits(text_hashes(ids).astype("<u8").view(np.uint8).reshape(count, 8), axis=1).astype(np.float32) * 2 - 1
        vectors = np.zeros((entities, SIZE), np.float32)
        for _ in range(PASSES):
            vectors = _unit(mentioning @ documents)
            documents = _unit(mentions @ (vectors * rarity))
        return cls(entities=vectors, documents=documents)

    def alike(self, entity: IntArray, document: IntArray) -> npt.NDArray[np.float32]:
        """The cosine of each pair, rounded to hundredths; 0 if the document is -1."""
        out = np.zeros(len(entity), np.float32)
        step = 1 << 18  # pairs at a time, to bound the memory for two vectors per pair
        for first in range(0, len(entity), step):
            part = slice(first, first + step)
            out[part] = np.einsum("ij,ij->i", self.entities[entity[part]], self.documents[np.maximum(document[part], 0)])
        return np.where(document >= 0, np.round(out, 2), np.float32(0))


def _unit(vectors: Vectors) -> Vectors:
    """Centre the rows, because their mean carries no information, and scale them to length 1; rows of zeros stay zero."""
    nonzero = vectors.any(axis=1, keepdims=True)
    centred = np.where(nonzero, vectors - vectors.mean(axis=0, keepdims=True), np.float32(0))
    length = np.sqrt(np.einsum("ij,ij->i", centred, centred))[:, None]
    return (centred / np.maximum(length, np.float32(1e-12))).astype(np.float32)
