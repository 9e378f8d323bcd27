"""The gold chain: only the paragraphs on the way to the answer are shown (Welbl et al. 2018, section 6.4).

What a reader gets that need not find what to read. Where several chains lead to the answer, as in MedHop, all of them are shown. The
candidates stay, also those that nothing shown mentions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgqa.recipes.contrasts.questions import REASONS, UNMARKED, unmarked, whole, without_answer
from kgqa.recipes.contrasts.thinning import thinned, thinned_broken
from kgqa.records import Instance
from kgqa.runs.funnel import Rejection

TRANSFORM = "gold-chain"


def gold_chain(instance: Instance) -> list[Instance] | Rejection:
    """The question with its supporting paragraphs alone; its id, answers and candidates are what they were. SettingsError as ``whole``."""
    noted = whole(instance, once=TRANSFORM)
    rejection = without_answer(instance) or unmarked(instance, noted) or _not_on_a_chain(instance)
    if rejection:
        return rejection
    return [thinned(instance, TRANSFORM, [bool(paragraph.supporting) for paragraph in instance.paragraphs], noted=noted)]


def _not_on_a_chain(instance: Instance) -> Rejection | None:
    """Where nothing supports the answer, or a chain or step leads through what does not."""
    supporting = {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
    if not supporting:
        return Rejection(reason=UNMARKED, detail=f"none of {len(instance.paragraphs)} paragraphs")
    shown = {paragraph.id for paragraph in instance.paragraphs}
    on_chains = {document for chain in _to_the_answer(instance) for document in chain[1::2]}
    through = {step.paragraph_id for step in instance.decomposition or () if step.paragraph_id is not None}.union(on_chains) & shown
    other = min(through - supporting, default=None)
    return None if other is None else Rejection(reason=REASONS["alternatives"], detail=f"paragraph {other}")


def _to_the_answer(instance: Instance) -> list[tuple[str, ...]]:
    pairs = zip(instance.candidates or (), instance.chains or (), strict=False)
    return [chain for candidate, chains in pairs if candidate.id == instance.answer_id for chain in chains]


def gold_chain_broken(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """What is broken of: the supporting paragraphs and no others, as they were; every chain to the answer and every step is still there."""
    (changed,) = group
    yield from thinned_broken(original, changed)
    if any(not paragraph.supporting for paragraph in changed.paragraphs):
        yield "a paragraph that does not support the answer is left"
    left = {paragraph.id for paragraph in changed.paragraphs}
    if any(paragraph.supporting and paragraph.id not in left for paragraph in original.paragraphs):
        yield "a supporting paragraph is gone"
    if _to_the_answer(changed) != _to_the_answer(original) or changed.decomposition != original.decomposition:
        yield "a chain to the answer or a step's paragraph is gone"
