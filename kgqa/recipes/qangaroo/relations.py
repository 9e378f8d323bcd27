"""Measures that separate informative relations from others: objects per subject, and lift in texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.rows import IntArray, distinct
from kgqa.recipes.qangaroo.mining import Mined, Triples
from kgqa.rules.roles import SYMMETRIC
from kgqa.settings.qangaroo import EvidenceSettings

Measure = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationMeasures:
    """Measures over the training facts, one entry per relation."""

    facts: Counts
    subjects: Counts
    objects: Counts
    named_together: Counts
    """Number of pairs of a subject and an object that some text mentions together."""
    stated: Counts
    """Number of these pairs that are facts."""
    turned: Counts
    """Number of facts whose inverse is a fact of the same relation."""

    @property
    def symmetric(self) -> npt.NDArray[np.bool_]:
        """Whether each relation joins similar entities, such as neighbours or siblings; these need not share their properties."""
        return self.turned >= SYMMETRIC * np.maximum(self.facts, 1)

    @property
    def objects_per_subject(self) -> Measure:
        """Mean number of objects per subject: 1 for a functional relation."""
        return self.facts / np.maximum(self.subjects, 1)

    @property
    def subjects_per_object(self) -> Measure:
        """Mean number of subjects per object: 1 for an inverse functional relation, such as that of a country to its counties."""
        return self.facts / np.maximum(self.objects, 1)

    @property
    def fewest(self) -> Measure:
        """The smaller of objects per subject and subjects per object."""
        return np.minimum(self.objects_per_subject, self.subjects_per_object)

    @property
    def text_lift(self) -> Measure:
        """Lift: the probability that a co-mentioned pair is a fact, over that of a random pair of a subject and an object.

        0 if no text mentions a pair together: the lift is then unknown.
        """
        chance = self.facts / np.maximum(self.subjects * self.objects, 1)
        return np.where(self.named_together > 0, self.stated / np.maximum(self.named_together, 1) / np.maximum(chance, 1e-12), 0.0)

    def verdicts(self, settings: EvidenceSettings) -> list[str]:
        """The reason for excluding each relation, as a sentence; empty for those that are kept."""
        many = self.fewest > np.where(self.symmetric, settings.max_objects / 2, settings.max_objects)
        unstated = (self.text_lift < settings.text_lift) & (self.named_together > 0)
        return [MANY if m else UNSTATED if u else "" for m, u in zip(many.tolist(), unstated.tolist(), strict=True)]


MANY = "a subject has too many objects, and an object too many subjects, for one of them to be the answer"
UNSTATED = "pairs that texts mention together have the relation hardly more often than random pairs"


def relation_measures(training: Triples, mined: Mined, relations: int, tables: Mapping[str, pa.Table]) -> RelationMeasures:
    """The measures of all relations, numbered 0 to ``relations - 1``, over the facts ``training``."""
    entities = tables["entities"].num_rows
    begin = mined.implied.relations.offsets[2 * relations]  # text roles come last
    by_text = mined.implied.relations.targets[begin:]
    forth, back = (
        _triples(training.relation, *ends, entities) for ends in ((training.head, training.tail), (training.tail, training.head))
    )
    return RelationMeasures(
        turned=np.bincount(training.relation[np.isin(forth, back)], minlength=relations),
        facts=np.bincount(training.relation, minlength=relations),
        subjects=_distinct(training.relation, training.head, relations, entities),
        objects=_distinct(training.relation, training.tail, relations, entities),
        named_together=_sums(by_text, mined.implied.typed[begin:], relations),
        stated=_sums(by_text, mined.implied.support[begin:], relations),
    )


def _sums(relation: IntArray, counts: Counts, relations: int) -> Counts:
    total = np.zeros(relations, np.int64)
    np.add.at(total, relation, counts)
    return total


def _triples(relation: IntArray, head: IntArray, tail: IntArray, entities: int) -> Counts:
    return (relation.astype(np.int64) * entities + head) * entities + tail


def _distinct(relation: npt.NDArray[np.int32], entity: npt.NDArray[np.int32], relations: int, entities: int) -> Counts:
    pairs = distinct(relation.astype(np.int64) * entities + entity)
    return np.bincount(pairs // entities, minlength=relations)
