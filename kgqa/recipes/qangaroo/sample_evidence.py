"""Applies evidence to samples: selects relations, answers and candidates by grades, measures and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.parallel import Engine
from kgqa.arrays.rows import Adjacency
from kgqa.errors import EmptyResult
from kgqa.recipes.qangaroo.evidence import Evidence, with_best_chains
from kgqa.recipes.qangaroo.false_negatives import kin_of_answers, second_truths, stated_beside_answers
from kgqa.recipes.qangaroo.gates import (
    AnotherImpliedMore,
    AnswerNotImplied,
    ChainAddsLittle,
    PathLeadsAnywhere,
    RelationSaysLittle,
    RelationSeldomImplied,
    SampleGate,
)
from kgqa.recipes.qangaroo.mining import MINED, Mined, Triples, fact_graph, read_mined, training_facts
from kgqa.recipes.qangaroo.rejected import traverse_row
from kgqa.recipes.qangaroo.relations import RelationMeasures, relation_measures
from kgqa.recipes.qangaroo.samples import Questions, Samples, by_length
from kgqa.rules.roles import RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.settings.qangaroo import EvidenceSettings, QangarooSettings

TEXT = {"document": 0, "near": 1, "sentence": 2}
"""Name in the settings → text grade."""
SECOND_TRUTH = "a fact that implies the relation joins the candidate to the subject, so it may be true too"
KIN = "a fact of a part-whole relation joins the candidate to the answer, so it may be true too"
EQUALLY = "the candidate's chain has enough confidence for an answer, or nearly as much as the answer's, so it may be true too"
BY_FACTS = "two facts imply the candidate with enough confidence for an answer, or nearly as much as the answer's, so it may be true too"
BESIDE = "a document of the answer's chain names the candidate too, so both are equally good answers"
BEST_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEvidence:
    """The mined rules, facts and measures, and the selection of samples by them."""

    settings: EvidenceSettings
    mined: Mined
    training: Triples
    facts: RoleGraph
    measures: RelationMeasures
    labels: list[str]
    """The labels of the relations."""
    _evidence: Evidence

    @classmethod
    def read(cls, run: Run, tables: Mapping[str, pa.Table], questions: Questions) -> SampleEvidence:
        """From the tables of :func:`kgqa.recipes.qangaroo.mining.mine_rules`."""
        mined = read_mined({**tables, **run.tables(*MINED)})
        training, facts = training_facts(tables, questions), fact_graph(tables)
        return cls(
            _evidence=Evidence(facts, mined.hops, mined.rules, mined.implied),
            settings=run.section(QangarooSettings).evidence, mined=mined, training=training, facts=facts,
            measures=relation_measures(training, mined, tables["relations"].num_rows, tables),
            labels=tables["relations"]["label"].to_pylist(),
        )  # fmt: skip

    @property
    def knows_something(self) -> bool:
        """Whether any path rule was mined."""
        return len(self.mined.rules) > 0

    @property
    def least_facts(self) -> int:
        """Minimum number of facts on the path to an answer: that of the settings, or 0 if no rule has a fact on its path."""
        rules, roles = self.mined.rules, 2 * self.facts.relations
        return self.settings.facts if ((rules.first < roles) | (rules.second < roles)).any() else 0

    @property
    def _implied(self) -> AnswerNotImplied:
        settings = self.settings
        return AnswerNotImplied(
            least=settings.grade, long=settings.grade_long, text=TEXT[settings.text], facts=self.least_facts, roles=2 * self.facts.relations
        )

    def relation_gate(self, samples: Samples) -> RelationSaysLittle:
        """The gate that excludes uninformative relations; raises EmptyResult, naming the best relations, if it would exclude all."""
        out = np.array([bool(verdict) for verdict in self.measures.verdicts(self.settings)])
        relations = np.unique(samples.questions.relation)
        if len(relations) and out[relations].all():
            best = relations[np.argsort(self.measures.fewest[relations], kind="stable")][:BEST_SHOWN]
            lift = self.measures.text_lift
            nearest = ", ".join(f"{self.labels[r]} ({self.measures.fewest[r]:.1f} objects, text lift {lift[r]:.1f})" for r in best)
            raise EmptyResult(
                f"every relation says too little about its subject for questions; the best are {nearest}. Raise "
                "qangaroo.evidence.max_objects or lower qangaroo.evidence.text_lift, or set qangaroo.evidence.use to false."
            )
        return RelationSaysLittle(left_out=out)

    def graded(self, samples: Samples, *, only: bool, engine: Engine | None = None) -> Samples:
        """The same samples with grades; ``only``: with just the best chain of each candidate."""
        grades = self._evidence.grade(samples, facts=self.least_facts, engine=engine)
        return with_best_chains(samples, grades, ~self._implied.weak(grades), only=only)

    def sample_gates(self, before: npt.NDArray[np.int64]) -> list[SampleGate]:
        """The gates that look at grades; ``before`` (one entry per relation) is the number of samples that enter them."""
        settings, training = self.settings, self.training
        # Among the subjects of a relation, the share that has a given object: the chance of guessing it from its frequency.
        key = (training.relation.astype(np.int64) << 32) | training.tail
        of, count = np.unique(key, return_counts=True)
        share = count / np.maximum(self.measures.subjects[of >> 32], 1)
        return [
            self._implied,
            PathLeadsAnywhere(
                least=settings.functional, forwards=self.mined.forwards, backwards=self.mined.backwards, symmetric=self.measures.symmetric
            ),
            ChainAddsLittle(least=settings.odds, long=settings.odds_long, share=np.minimum(share, 1.0), of=of),
            *([AnotherImpliedMore()] if settings.better == "reject" else []),
            RelationSeldomImplied(least=settings.graded_share, samples=before),
        ]

    def without_second_truths(self, samples: Samples) -> tuple[Samples, list[FunnelRow]]:
        """The same samples without the candidates that facts make true as well, and without parts and wholes of the answer."""
        second = second_truths(samples, self.facts, self.mined.implied, self.settings.second_truth)
        kin = kin_of_answers(samples, self.facts, self.measures) & ~second if self.settings.hierarchy else np.zeros(len(second), np.bool_)
        rows = [
            traverse_row("candidates", SECOND_TRUTH, "qangaroo.evidence.second_truth", removed=int(second.sum())),
            traverse_row("candidates", KIN, "qangaroo.evidence.hierarchy", removed=int(kin.sum())),
        ]
        return samples.without_candidates(second | kin), rows

    def without_equally_implied(self, samples: Samples, stated: Adjacency) -> tuple[Samples, list[FunnelRow]]:
        """The same samples without the candidates that may be true by their chains, by facts, or by a document of the answer's chain.

        A chain or two facts make a candidate doubtful if their confidence would be enough for an answer, or comes within ``margin`` of the
        answer's. ``stated``: document → the entities in its text.
        """
        assert samples.grades is not None
        is_distractor, least = ~samples.is_answer(), samples.grades["confidence"][samples.is_answer()][samples.question_of_candidate()]
        least = least - np.float32(self.settings.margin)
        grade = by_length(samples.grades, self.settings.grade, self.settings.grade_long)
        near = is_distractor & ((samples.grades["confidence"] > least) | (samples.grades["confidence"] >= grade))
        by_facts = self._evidence.implied_by_facts(samples)
        implied = is_distractor & ~near & ((by_facts > least) | (by_facts >= np.float32(self.settings.grade)))
        beside = np.zeros(len(is_distractor), np.bool_)
        if not self.settings.beside_answer:
            beside = is_distractor & ~near & ~implied & stated_beside_answers(samples, stated)
        rows = [
            traverse_row("candidates", EQUALLY, "qangaroo.evidence.margin", removed=int(near.sum())),
            traverse_row("candidates", BY_FACTS, "qangaroo.evidence.margin", removed=int(implied.sum())),
            traverse_row("candidates", BESIDE, "qangaroo.evidence.beside_answer", removed=int(beside.sum())),
        ]
        return samples.without_candidates(near | implied | beside), rows
