"""The kinds of contrast that a question set can be put to, each with what it is for and the invariant that it must keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kgqa.recipes import papers
from kgqa.recipes.contrasts import pool
from kgqa.recipes.contrasts.adversarial import adversarial
from kgqa.recipes.contrasts.document_removal import document_removal, document_removal_broken
from kgqa.recipes.contrasts.facts import Question
from kgqa.recipes.contrasts.gold_chain import gold_chain, gold_chain_broken
from kgqa.recipes.contrasts.invariants import BROKEN, adversarial_broken
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.probe_of_sufficiency import probe_of_sufficiency
from kgqa.recipes.contrasts.questions import MAX_FACTS, question_of
from kgqa.recipes.contrasts.sufficiency import sufficiency
from kgqa.recipes.contrasts.trivial import trivial
from kgqa.recipes.contrasts.unanswerable import unanswerable, unanswerable_broken
from kgqa.recipes.names import entities
from kgqa.records import Instance
from kgqa.runs.funnel import Rejection

Maker = Callable[[Instance], list[Instance] | Rejection]
"""Makes the instances of one question, or says why it cannot."""
Read = Callable[[], Iterator[Instance]]
"""Begins to read the questions of one split."""
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
"""Kind → what it is, in one sentence."""
PAPERS = {
    "adversarial": papers.ADVERSARIAL,
    "unanswerable": papers.MUSIQUE,
    "gold-chain": papers.WIKIHOP,
    "document-removal": papers.WIKIHOP,
}
"""Kind → whom to cite; of the others the authors of DiRe."""
_BY_FACTS: Mapping[str, Callable[..., list[Instance]]] = {
    "probe": probe,
    "sufficiency": sufficiency,
    "probe-of-sufficiency": probe_of_sufficiency,
    "trivial": trivial,
}
BY_FACTS = frozenset(_BY_FACTS)
"""Kinds that take facts away, and so have a level and a limit of facts; the others deal in whole paragraphs."""
_THINNING: Mapping[str, tuple[Maker, Callable[[Instance, Sequence[Instance]], Iterable[str]]]] = {
    "gold-chain": (gold_chain, gold_chain_broken),
    "document-removal": (document_removal, document_removal_broken),
}
"""Kinds that look at one question and draw nothing → what makes its instance, and the invariant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a set is transformed."""

    kind: str
    seed: int
    level: str = "paragraph"
    max_facts: int = MAX_FACTS

    def maker(self, read: Read) -> Maker:
        """What makes the instances of a split's questions. Adversarial and unanswerable look at the whole split once beforehand."""
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
        return _THINNING[self.kind][0] if self.kind in _THINNING else self._by_facts

    def _by_facts(self, instance: Instance) -> list[Instance] | Rejection:
        question = question_of(instance, level=self.level, max_facts=self.max_facts)
        return question if isinstance(question, Rejection) else _BY_FACTS[self.kind](question, seed=self.seed)

    def broken(self, instance: Instance, made: Sequence[Instance]) -> list[str]:
        """What does not hold of the question and its instances; see ``invariants.py``."""
        if self.kind == "adversarial":
            return list(adversarial_broken(instance, made))
        if self.kind == "unanswerable":
            return list(unanswerable_broken(instance, made))
        if self.kind in _THINNING:
            return list(_THINNING[self.kind][1](instance, made))
        question = question_of(instance, level=self.level, max_facts=self.max_facts)
        assert isinstance(question, Question)
        return list(BROKEN[self.kind](question, made))
