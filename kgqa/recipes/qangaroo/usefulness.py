"""Estimates how probable it is that a query about a path is useful: its answer holds, is unique and is not trivial.

A logistic regression over measures that any domain has: how well known the hop is, how many other answers compete, what the graph says.
Each measure enters as its percentile among all queries of the domain, so sizes and units of a domain do not matter. For measures of fame
(``FAME``) it is minus the logarithm of the share above it: the most famous tenth of a domain is far more trivial than the next one.

The weights were fitted on verdicts of language models (``docs/readings/paths-*.tsv``); ``python -m benchmarks.usefulness`` fits and tests
them anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit
from scipy.stats import rankdata

from kgqa.arrays.rows import Adjacency, IntArray, find, paired
from kgqa.recipes.qangaroo.distractors import Ranks, named_together
from kgqa.recipes.qangaroo.types import Types
from kgqa.rules.roles import RoleGraph

WEIGHTS: dict[str, float] = {
    "together": -1.09, "answer_share": 1.41, "bridge_frequency": 0.96, "answer_frequency": -0.37, "objects": -1.02, "rivals": 1.12,
    "bridge_rank": -0.90, "bridge_facts": -0.77, "answer_documents": -0.34, "facts": 0.54, "functional": 0.60,
}  # fmt: skip
"""The weight of each measure (:meth:`Usefulness.measures`), scaled by :func:`scaled`."""
FAME = frozenset({"together", "answer_frequency", "bridge_facts", "answer_documents"})
"""Measures of how well known a hop is."""
INTERCEPT = -1.46
MOST = 1000
"""Documents that mention bridge and answer together are counted up to this number, to bound the work for hubs."""
AT_ONCE = 1 << 16
"""Queries whose rivals are counted at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usefulness:
    """Measures queries about paths and estimates the probability that they are useful."""

    facts: RoleGraph
    linked: Adjacency
    """Document → entities that it mentions; ``mentioning`` is the reverse."""
    mentioning: Adjacency
    ranks: Ranks
    types: Types
    forwards: npt.NDArray[np.float64]
    """Functionality of each role."""
    alike: float
    """Minimum similarity of two entities of one type (``qangaroo.paths.alike``)."""

    def of(self, chains: pl.DataFrame) -> npt.NDArray[np.float64]:
        """The probability for each chain (float64 in 0 to 1, rounded to 6 digits, so that platforms agree on the order)."""
        measures = self.measures(chains)
        logits = np.full(len(chains), INTERCEPT)
        for name, weight in WEIGHTS.items():
            logits += weight * scaled(name, measures[name])
        return np.round(expit(logits), 6)

    def measures(self, chains: pl.DataFrame) -> dict[str, npt.NDArray[np.float64]]:
        """The measures of ``chains`` (``document, first, bridge, answer_document, second, answer, facts``), float64, one per chain.

        - ``together``: documents that mention bridge and answer, at most ``MOST``. A hop that many documents state is common knowledge.
        - ``answer_share``: the share of the bridge's documents that mention the answer.
        - ``bridge_frequency``: the share of the facts of the first role that have the bridge as object.
        - ``answer_frequency``: the share of the facts of the second role that have the answer as object. A frequent answer is guessed.
        - ``objects``: objects of the second role that the graph knows for the bridge. Several objects are several answers.
        - ``rivals``: entities of the answer's type in the answer's document.
        - ``bridge_rank``: entities with articles that the subject's document mentions before the bridge.
        - ``bridge_facts``: facts about the bridge. ``answer_documents``: documents that mention the answer.
        - ``facts``: hops that are facts of the graph. ``functional``: functionality of the second role.

        O(entities in the answers' documents + documents that mention bridge or answer). Memory: about 100 bytes per chain.
        """
        document, bridge, answer_document, answer = (
            chains[name].to_numpy() for name in ("document", "bridge", "answer_document", "answer")
        )
        first, second = chains["first"].to_numpy(), chains["second"].to_numpy()
        document_counts = np.diff(self.mentioning.offsets)
        together = named_together(self.mentioning, bridge, answer, MOST)
        return {
            "together": together.astype(np.float64),
            "answer_share": (together + 1) / (document_counts[bridge] + 1),
            "bridge_frequency": self._object_shares(first, bridge),
            "answer_frequency": self._object_shares(second, answer),
            "objects": _counts(paired(self.facts.sources(), self.facts.roles), paired(bridge, second)),
            "rivals": self._rivals(answer_document, answer),
            "bridge_rank": self.ranks.of(document, bridge).astype(np.float64),
            "bridge_facts": np.diff(self.facts.offsets)[bridge].astype(np.float64),
            "answer_documents": document_counts[answer].astype(np.float64),
            "facts": chains["facts"].to_numpy().astype(np.float64),
            "functional": self.forwards[second],
        }

    def _object_shares(self, roles: IntArray, objects: IntArray) -> npt.NDArray[np.float64]:
        """The share of the facts of each role that have the object."""
        totals = np.bincount(self.facts.roles, minlength=self.facts.role_count)
        return _counts(paired(self.facts.targets, self.facts.roles), paired(objects, roles)) / np.maximum(totals[roles], 1)

    def _rivals(self, documents: IntArray, answers: IntArray) -> npt.NDArray[np.float64]:
        """The entities of each answer's type that its document mentions."""
        counts = np.zeros(len(documents), np.float64)
        for begin in range(0, len(documents), AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            rows = self.linked.take(documents[part])
            of = rows.sources()
            is_rival = self.types.alike(rows.targets, answers[part][of]) >= self.alike
            counts[part] = np.bincount(of[is_rival], minlength=len(documents[part]))
        return counts


def scaled(name: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The values of a measure as they enter the regression: their percentiles, or for ``FAME`` minus the log of the share above them.

    >>> scaled("rivals", np.array([3.0, 1.0])).tolist(), scaled("together", np.array([3.0, 1.0])).round(3).tolist()
    ([0.75, 0.25], [1.386, 0.288])
    """
    return -np.log1p(-percentiles(values)) if name in FAME else percentiles(values)


def percentiles(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The percentile of each value among all of them, from 0 to 1; equal values get their mean.

    >>> percentiles(np.array([7.0, 7.0, 9.0, 5.0])).tolist()
    [0.5, 0.5, 0.875, 0.125]
    """
    return (rankdata(values) - 0.5) / max(len(values), 1)


def _counts(keys: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """How often each of ``wanted`` is in ``keys``."""
    distinct_keys, counts = np.unique(keys, return_counts=True)
    return np.append(counts, 0)[find(distinct_keys, wanted)].astype(np.float64)
