"""How alike the types of two entities are: by their roles in facts, or by how the articles about them begin.

A graph has facts about few of the entities that have articles. The others get the roles that a ridge regression expects from the first
words of their articles; it learns from the entities whose roles are known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import IntArray, Rows
from kgqa.rules.roles import RoleGraph
from kgqa.statements.model import Profiles
from kgqa.statements.subjects import SEEN, openings

TYPED = 3
"""Minimum number of facts of an entity for knowing its type from its facts."""
EXAMPLES = 20_000
"""Maximum number of entities that the regression learns from."""
PENALTY, STEPS = 1.0, 10
"""Weight of the squared coefficients, and the number of steps of conjugate gradients; more of them change no type."""
LEAST = 0.02
"""Smaller expected weights of roles count as 0."""
AT_ONCE = 1 << 13
"""Entities whose roles are guessed at once."""
Floats = npt.NDArray[np.float32]


class Types:
    """Similarity of types: the cosine of two entities' roles in facts, weighted by log count and inverse frequency.

    An entity with fewer than ``TYPED`` facts and an article has the expected roles of an entity whose article begins like it. Their length
    is below 1, the more so the less is certain, so the product of two profiles is the similarity that is expected.
    """

    def __init__(self, facts: RoleGraph, texts: pa.ChunkedArray, articles: IntArray) -> None:
        """``texts`` of the documents; ``articles``: entity → row of the document about it, or -1.

        Memory: 12 bytes per pair of an entity and a role, and 4 bytes per role for each of ``EXAMPLES`` entities.
        """
        profiles = Profiles.of(facts)
        rarity = np.log(facts.entities / np.bincount(profiles.roles, minlength=facts.role_count).clip(1))
        weights = (1 + np.log(profiles.counts)) * rarity[profiles.roles]
        entity = Rows(offsets=profiles.offsets, targets=profiles.roles).sources()
        length = np.sqrt(np.bincount(entity, weights**2, minlength=facts.entities))
        weights /= np.maximum(length, 1e-12)[entity]
        known = sp.csr_matrix((weights, profiles.roles, profiles.offsets), shape=(facts.entities, facts.role_count))
        is_known = profiles.totals >= TYPED
        self._has_type = is_known | (articles >= 0)
        if (is_known & (articles >= 0)).any():
            known = _with_guessed(known, is_known, texts, articles)
        self._offsets, self._roles, self._weights = known.indptr.astype(np.int64), known.indices.astype(np.int32), known.data

    def alike(self, first: IntArray, second: IntArray) -> npt.NDArray[np.float64]:
        """The similarity of each pair, from 0 to 1; 0 if ``first`` has fewer than ``TYPED`` facts and no article."""
        cosines: npt.NDArray[np.float64] = _cosines(self._offsets, self._roles, self._weights, first, second)
        return np.where(self._has_type[first], cosines, 0.0)


def _with_guessed(known: sp.csr_matrix, is_known: npt.NDArray[np.bool_], texts: pa.ChunkedArray, articles: IntArray) -> sp.csr_matrix:
    """The profiles, with guessed ones for entities that have an article but are not in ``is_known``."""
    entities = np.flatnonzero(articles >= 0)
    words, vocabulary = openings(texts, articles[entities])
    begins = sp.csr_matrix((np.ones(len(words.targets), np.float32), words.targets, words.offsets), shape=(len(entities), vocabulary))
    rows = np.flatnonzero(is_known[entities])
    examples = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), EXAMPLES)).astype(np.int64))]
    counts = np.asarray(begins.sum(axis=0)).ravel()
    usual = np.flatnonzero(np.asarray(begins[examples].sum(axis=0)).ravel() >= SEEN)
    begins = begins[:, usual] @ sp.diags(np.log(len(entities) / counts[usual]).astype(np.float32))
    length = np.sqrt(np.asarray(begins.multiply(begins).sum(axis=1)).ravel())
    begins = (sp.diags((1 / np.maximum(length, 1e-9)).astype(np.float32)) @ begins).tocsr()
    coefficients = _ridge(begins[examples], known[entities[examples]].toarray().astype(np.float32))
    parts = []
    unknown = np.flatnonzero(~is_known[entities])
    for first in range(0, len(unknown), AT_ONCE):
        expected = begins[unknown[first : first + AT_ONCE]] @ coefficients
        parts.append(sp.csr_matrix(np.where(expected >= LEAST, expected, np.float32(0)).round(4).astype(np.float64)))
    if not parts:
        return known
    place = np.full(known.shape[0], -1, np.int64)
    place[entities[unknown]] = known.shape[0] + np.arange(len(unknown))
    return sp.vstack([known, *parts]).tocsr()[np.where(place >= 0, place, np.arange(known.shape[0]))]


def _ridge(inputs: sp.csr_matrix, outputs: Floats) -> Floats:
    """The coefficients (inputs × outputs) of a ridge regression without intercept, by conjugate gradients, each output by itself."""
    transposed = inputs.T.tocsr()
    coefficients = np.zeros((inputs.shape[1], outputs.shape[1]), np.float32)
    rest = transposed @ outputs
    direction, length = rest.copy(), (rest * rest).sum(axis=0)
    for _ in range(STEPS):
        curved = transposed @ (inputs @ direction) + np.float32(PENALTY) * direction
        step = length / np.maximum((direction * curved).sum(axis=0), np.float32(1e-12))
        coefficients += step * direction
        rest -= step * curved
        shorter = (rest * rest).sum(axis=0)
        direction = rest + shorter / np.maximum(length, np.float32(1e-12)) * direction
        length = shorter
    return coefficients


@kernel
def _cosines(offsets, roles, weights, first, second):  # type: ignore[no-untyped-def]
    """The dot products of the sparse rows ``first[i]`` and ``second[i]`` (float64), by merging their ascending ``roles``.

    >>> rows = np.array([0, 2, 3]), np.array([1, 4, 4]), np.array([0.6, 0.8, 1.0])
    >>> _cosines(*rows, np.array([0]), np.array([1])).tolist()
    [0.8]
    """
    out = np.zeros(len(first), np.float64)
    for i in range(len(first)):
        a, first_end, b, end = offsets[first[i]], offsets[first[i] + 1], offsets[second[i]], offsets[second[i] + 1]
        while a < first_end and b < end:
            if roles[a] == roles[b]:
                out[i] += weights[a] * weights[b]
                a += 1
                b += 1
            elif roles[a] < roles[b]:
                a += 1
            else:
                b += 1
    return out
