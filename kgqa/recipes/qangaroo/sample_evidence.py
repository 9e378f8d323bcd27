"""What the evidence says of samples: which relations, answers and candidates stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
from kgqa.recipes.qangaroo.relations import RelationMeasures, relation_measures
from kgqa.recipes.qangaroo.samples import Questions, Samples, by_length
from kgqa.rules.roles import RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.settings.qangaroo import EvidenceSettings, QangarooSettings

TEXT = {"document": 0, "near": 1, "sentence": 2}
"""What the settings call a text grade."""
SECOND_TRUTH = "a fact that implies the relation joins the candidate to the subject, so it may be true as well"
KIN = "a fact joins the candidate to the answer as parts are joined to wholes, to few and in one direction, so it may be true as well"
EQUALLY = "the candidate's chain implies it surely enough for an answer, or nearly as surely as the answer, so it may be true as well"
BY_FACTS = "facts that no text need have imply the candidate surely enough for an answer, or nearly as surely, so it may be true as well"
BESIDE = "a document of the answer's chain states the candidate too, so the two are as good"
BEST_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEvidence:
    """The mined rules, and what follows from them for samples."""

    settings: EvidenceSettings
    mined: Mined
    training: Triples
    facts: RoleGraph
    measures: RelationMeasures
    labels: list[str]
    """Of the relations."""
    _evidence: Evidence

    @classmethod
    def read(cls, run: Run, tables: Mapping[str, pa.Table], questions: Questions) -> SampleEvidence:
        """From what :func:`kgqa.recipes.qangaroo.mining.mine_rules` wrote."""
        mined = read_mined({**tables, **run.tables(*MINED)})
        training, facts = training_facts(tables, questions), fact_graph(tables)
        return cls(
            _evidence=Evidence(facts, mined.hops, mined.rules, mined.implied),
            settings=run.domain.settings.section(QangarooSettings).evidence, mined=mined, training=training, facts=facts,
            measures=relation_measures(training, mined, tables["relations"].num_rows, tables),
            labels=tables["relations"]["label"].to_pylist(),
        )  # fmt: skip

    @property
    def knows_something(self) -> bool:
        """Whether there is any rule."""
        return len(self.mined.rules) > 0

    @property
    def least_facts(self) -> int:
        """Hops of an answer's path that must be facts: what the settings say, or none where no rule has a fact in its path."""
        rules, roles = self.mined.rules, 2 * self.facts.relations
        return self.settings.facts if ((rules.first < roles) | (rules.second < roles)).any() else 0

    @property
    def _implied(self) -> AnswerNotImplied:
        settings = self.settings
        return AnswerNotImplied(
            least=settings.grade, long=settings.grade_long, text=TEXT[settings.text], facts=self.least_facts, roles=2 * self.facts.relations
        )

    def relation_gate(self, samples: Samples) -> RelationSaysLittle:
        """Raises EmptyResult where no relation of the ``samples`` is left, and names those that come nearest."""
        out = np.array([bool(verdict) for verdict in self.measures.verdicts(self.settings)])
        relations = np.unique(samples.questions.relation)
        if len(relations) and out[relations].all():
            best = relations[np.argsort(self.measures.fewest[relations], kind="stable")][:BEST_SHOWN]
            lift = self.measures.text_lift
            nearest = ", ".join(f"{self.labels[r]} ({self.measures.fewest[r]:.1f} objects, text lift {lift[r]:.1f})" for r in best)
            raise EmptyResult(
                f"every relation says too little about its subject to be asked about; the best are {nearest}. Raise "
                "qangaroo.evidence.max_objects or lower qangaroo.evidence.text_lift, or set qangaroo.evidence.use to false."
            )
        return RelationSaysLittle(left_out=out)

    def graded(self, samples: Samples, *, only: bool, workers: int) -> Samples:
        """The same samples with grades; ``only``: each candidate with its best chain alone."""
        grades = self._evidence.grade(samples, facts=self.least_facts, workers=workers)
        return with_best_chains(samples, grades, ~self._implied.weak(grades), only=only)

    def sample_gates(self, before: npt.NDArray[np.int64]) -> list[SampleGate]:
        """The rules about what chains imply; ``before`` are the samples of each relation that come to them."""
        settings, training = self.settings, self.training
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
        """The same samples less the candidates that facts make true as well, or parts of the answer."""
        second = second_truths(samples, self.facts, self.mined.implied, self.settings.second_truth)
        kin = kin_of_answers(samples, self.facts, self.measures) & ~second if self.settings.hierarchy else np.zeros(len(second), np.bool_)
        rows = [_row(SECOND_TRUTH, second, "qangaroo.evidence.second_truth"), _row(KIN, kin, "qangaroo.evidence.hierarchy")]
        return samples.without_candidates(second | kin), rows

    def without_equally_implied(self, samples: Samples, stated: Adjacency) -> tuple[Samples, list[FunnelRow]]:
        """The same samples less the candidates that chains or facts imply surely enough for an answer, or nearly as surely as the answer,
        or that stand beside it.

        ``stated`` says which entities each document states.
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
            _row(EQUALLY, near, "qangaroo.evidence.margin"), _row(BY_FACTS, implied, "qangaroo.evidence.margin"),
            _row(BESIDE, beside, "qangaroo.evidence.beside_answer"),
        ]  # fmt: skip
        return samples.without_candidates(near | implied | beside), rows


def _row(reason: str, dropped: npt.NDArray[np.bool_], setting: str) -> FunnelRow:
    return FunnelRow(stage="traverse", what="candidates", reason=reason, removed=int(dropped.sum()), left=None, setting=setting)
