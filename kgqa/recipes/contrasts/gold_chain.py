"""The gold chain: only the paragraphs on the chains to the answer are shown (Welbl et al. 2018, section 6.4).

It measures a reader that need not select paragraphs. If several chains lead to the answer, as in MedHop, all of them are shown. All
candidates remain, even those that no shown paragraph mentions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgqa.recipes.contrasts.paragraph_removal import removal_faults, with_paragraphs
from kgqa.recipes.contrasts.questions import REASONS, UNMARKED, unmarked, whole, without_answer
from kgqa.records import Instance
from kgqa.runs.funnel import Rejection

TRANSFORM = "gold-chain"


def gold_chain(instance: Instance) -> list[Instance] | Rejection:
    """The question with only its supporting paragraphs, and the same id, answers and candidates. Raises SettingsError as ``whole`` does."""
    notes = whole(instance, once=TRANSFORM)
    rejection = without_answer(instance) or unmarked(instance, notes) or _not_on_a_chain(instance)
    if rejection:
        return rejection
    return [with_paragraphs(instance, TRANSFORM, [bool(paragraph.supporting) for paragraph in instance.paragraphs], notes=notes)]


def _not_on_a_chain(instance: Instance) -> Rejection | None:
    """The rejection of a question without support, or whose chain or step uses a paragraph that is not supporting."""
    support_ids = {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
    if not support_ids:
        return Rejection(reason=UNMARKED, detail=f"none of {len(instance.paragraphs)} paragraphs")
    context = {paragraph.id for paragraph in instance.paragraphs}
    on_chains = {document for chain in _to_the_answer(instance) for document in chain[1::2]}
    needed_ids = {step.paragraph_id for step in instance.decomposition or () if step.paragraph_id is not None}.union(on_chains) & context
    missing_id = min(needed_ids - support_ids, default=None)
    return None if missing_id is None else Rejection(reason=REASONS["alternatives"], detail=f"paragraph {missing_id}")


def _to_the_answer(instance: Instance) -> list[tuple[str, ...]]:
    pairs = zip(instance.candidates or (), instance.chains or (), strict=False)
    return [chain for candidate, chains in pairs if candidate.id == instance.answer_id for chain in chains]


def gold_chain_faults(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """Faults against: exactly the supporting paragraphs, unchanged, with every chain to the answer and every step."""
    (instance,) = group
    yield from removal_faults(original, instance)
    if any(not paragraph.supporting for paragraph in instance.paragraphs):
        yield "a paragraph that does not support the answer is left"
    left_ids = {paragraph.id for paragraph in instance.paragraphs}
    if any(paragraph.supporting and paragraph.id not in left_ids for paragraph in original.paragraphs):
        yield "a supporting paragraph is gone"
    if _to_the_answer(instance) != _to_the_answer(original) or instance.decomposition != original.decomposition:
        yield "a chain to the answer or a step's paragraph is gone"
