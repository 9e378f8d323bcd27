"""The kinds of contrast, each with its purpose, its transform and its invariant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kgqa.recipes import papers
from kgqa.recipes.contrasts import pool
from kgqa.recipes.contrasts.adversarial import adversarial
from kgqa.recipes.contrasts.document_removal import document_removal, document_removal_faults
from kgqa.recipes.contrasts.facts import FactQuestion
from kgqa.recipes.contrasts.gold_chain import gold_chain, gold_chain_faults
from kgqa.recipes.contrasts.invariants import INVARIANTS, adversarial_faults
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.probe_of_sufficiency import probe_of_sufficiency
from kgqa.recipes.contrasts.questions import MAX_FACTS, question_of
from kgqa.recipes.contrasts.sufficiency import sufficiency
from kgqa.recipes.contrasts.trivial import trivial
from kgqa.recipes.contrasts.unanswerable import unanswerable, unanswerable_faults
from kgqa.recipes.names import entities
from kgqa.records import Instance
from kgqa.runs.funnel import Rejection

Maker = Callable[[Instance], list[Instance] | Rejection]
"""Makes the instances of one question, or a rejection."""
Read = Callable[[], Iterator[Instance]]
"""Returns an iterator over the questions of one split."""
KINDS = {
    "probe": "P(D): what a system reaches from contexts none of which holds all supporting facts (Trivedi et al. 2020, section 3.2)",
    "sufficiency": "T(D): contexts that suffice beside contexts that do not, of the same length (Trivedi et al. 2020, section 4.2)",
    "probe-of-sufficiency": "P(T(D)): what a system reaches on T(D) from parts of the supporting facts (Trivedi et al. 2020, section 4.3)",
    "trivial": "T_trv(D): three copies of a question, the control for grouped scores (Trivedi et al. 2020, appendix G)",
    "adversarial": "T_adv(D): false paragraphs in the places of distractors (AddDoc of Jiang and Bansal 2019)",
    "unanswerable": "every question and a twin in whose context one step has no answer (MuSiQue-Full, Trivedi et al. 2022, step S8)",
    "gold-chain": "only the paragraphs on the chains to the answer (Welbl et al. 2018, section 6.4)",
    "document-removal": "no paragraph that mentions no candidate, so none of those that only lead to one (Welbl et al. 2018, section 6.5)",
}
"""Kind → its description in one sentence."""
PAPERS = {
    "adversarial": papers.ADVERSARIAL,
    "unanswerable": papers.MUSIQUE,
    "gold-chain": papers.WIKIHOP,
    "document-removal": papers.WIKIHOP,
}
"""Kind → the paper to cite; the paper of DiRe for all others."""
_BY_FACTS: Mapping[str, Callable[..., list[Instance]]] = {
    "probe": probe,
    "sufficiency": sufficiency,
    "probe-of-sufficiency": probe_of_sufficiency,
    "trivial": trivial,
}
BY_FACTS = frozenset(_BY_FACTS)
"""Kinds that remove facts, and so have a level and a limit of facts; the others work on whole paragraphs."""
_REMOVALS: Mapping[str, tuple[Maker, Callable[[Instance, Sequence[Instance]], Iterable[str]]]] = {
    "gold-chain": (gold_chain, gold_chain_faults),
    "document-removal": (document_removal, document_removal_faults),
}
"""Kinds that look at one question only and are not random → their maker and their invariant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a transform."""

    kind: str
    seed: int
    level: str = "paragraph"
    max_facts: int = MAX_FACTS

    def maker(self, read: Read) -> Maker:
        """The maker for a split's questions. Adversarial and unanswerable read the whole split once beforehand."""
        if self.kind == "adversarial":
            names = entities.Collector(seed=self.seed)
            for instance in read():
                names.see(instance)
            return partial(adversarial, pool=names.pool(), seed=self.seed)
        if self.kind == "unanswerable":
            paragraphs = pool.Collector(seed=self.seed)
            for instance in read():
                paragraphs.see(instance)
            return partial(unanswerable, pool=paragraphs.pool(), seed=self.seed)
        return _REMOVALS[self.kind][0] if self.kind in _REMOVALS else self._by_facts

    def _by_facts(self, instance: Instance) -> list[Instance] | Rejection:
        question = question_of(instance, level=self.level, max_facts=self.max_facts)
        return question if isinstance(question, Rejection) else _BY_FACTS[self.kind](question, seed=self.seed)

    def faults(self, instance: Instance, group: Sequence[Instance]) -> list[str]:
        """The faults of a question's instances against the transform's invariant (``invariants.py``)."""
        if self.kind == "adversarial":
            return list(adversarial_faults(instance, group))
        if self.kind == "unanswerable":
            return list(unanswerable_faults(instance, group))
        if self.kind in _REMOVALS:
            return list(_REMOVALS[self.kind][1](instance, group))
        question = question_of(instance, level=self.level, max_facts=self.max_facts)
        assert isinstance(question, FactQuestion)
        return list(INVARIANTS[self.kind](question, group))
