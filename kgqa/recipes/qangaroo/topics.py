"""How much an entity has to do with a document, by what texts mention together, without reading them.

Random indexing (Kanerva et al. 2000): each document has a random vector of signs, an entity the sum of those of the documents that mention
it, a document the weighted sum of its entities, and so once more, so that two that share no document but neighbours are alike too. In
this space "Genoa" lies near an article about Turin, and far from one about Kyoto.
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
"""Numbers in a vector: the signs of a document are the bits of one hash."""
PASSES = 2
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """A vector of length 1, or 0 for what is mentioned nowhere, for each row of the tables of entities and documents."""

    entities: Vectors
    documents: Vectors

    @classmethod
    def of(cls, links: Rows, ids: pa.ChunkedArray, entities: int) -> Topics:
        """``links`` are the entities that each document mentions, ``ids`` those of documents.

        O(links × ``SIZE``); memory: 4 × ``SIZE`` bytes an entity and a document.
        Sums are made in the order of the rows, so that they do not depend on threads.
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
        """The cosine of each pair, in hundredths; 0 where the document is -1."""
        out = np.zeros(len(entity), np.float32)
        step = 1 << 18  # pairs at a time: each holds two vectors
        for first in range(0, len(entity), step):
            part = slice(first, first + step)
            out[part] = np.einsum("ij,ij->i", self.entities[entity[part]], self.documents[np.maximum(document[part], 0)])
        return np.where(document >= 0, np.round(out, 2), np.float32(0))


def _unit(vectors: Vectors) -> Vectors:
    """Each row less the mean of all, which says nothing of any, at length 1; rows of zeros stay."""
    nonzero = vectors.any(axis=1, keepdims=True)
    centred = np.where(nonzero, vectors - vectors.mean(axis=0, keepdims=True), np.float32(0))
    length = np.sqrt(np.einsum("ij,ij->i", centred, centred))[:, None]
    unit: Vectors = (centred / np.maximum(length, np.float32(1e-12))).astype(np.float32)
    return unit
