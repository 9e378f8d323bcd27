"""Selecting the questions that can be transformed, with a reason for each rejection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kgqa.errors import SettingsError
from kgqa.formats.provenance import everything
from kgqa.recipes.contrasts.facts import NAME, FactQuestion, facts_of, has_sentences, texts_of
from kgqa.recipes.contrasts.instances import showing
from kgqa.records import Instance, Paragraph, Step
from kgqa.runs.funnel import Rejection

MAX_FACTS = 6
"""The default: n supporting facts make 2^n - 1 instances, six make 63; MuSiQue has at most four supporting paragraphs."""
MOST_FACTS = 10
"""The maximum: 1,023 instances per question."""
ABSENT = ("absent_facts", "supporting_facts")
"""Fields of formats' notes with supporting facts that an Instance cannot hold."""
PARTIAL = frozenset({"probe", "sufficiency", "probe-of-sufficiency"})
"""Transforms that make parts of questions."""
UNANSWERABLE = "the question has no answer"
HIDDEN = "the answer of the question is hidden"
UNMARKED = "the source does not say which facts support the answer"
REASONS = {
    "absent": "a supporting fact is not among the paragraphs",
    "sentences": "the source does not say where the sentences of its paragraphs begin",
    "places": "a sentence is not where the source says",
    "alternatives": "the paragraphs marked as supporting are not those of the chains to the answer",
    "few": "fewer than two supporting facts, so that there is nothing to connect",
    "many": "more supporting facts than max_facts",
    "twice": "a supporting fact is there a second time, so that it cannot be taken away",
    "short": "too few distractors: n supporting facts need a context of at least 2n - 1 facts",
}
"""Reason for a rejection → the sentence in reports."""


def whole(instance: Instance, *, once: str = "") -> Mapping[str, Any]:
    """The provenance of a whole question. Raises SettingsError for an instance of a PARTIAL transform, or of the transform ``once``."""
    notes = everything(instance)
    earlier = notes.get(NAME)
    transform = earlier.get("transform") if isinstance(earlier, dict) else None
    if transform in PARTIAL:
        raise SettingsError(
            f"instance {instance.id}: this set was made by {transform} and contains parts of questions; transform the original set "
            "(the probe of the sufficiency transform is the kind probe-of-sufficiency)."
        )
    if once and transform == once:
        raise SettingsError(f"instance {instance.id}: this set was made by {once} already; transform the set that it was made of.")
    return notes


def without_answer(instance: Instance) -> Rejection | None:
    """The rejection of a question without an answer, or with an empty one."""
    if instance.answerable and any(map(str.strip, instance.answers)):
        return None
    if instance.hidden:
        return Rejection(reason=HIDDEN, detail="the set does not say it")
    return Rejection(reason=UNANSWERABLE, detail="no answer" if instance.answerable else "marked as unanswerable")


def step_elsewhere(instance: Instance) -> Step | None:
    """The first step that names a paragraph outside the context."""
    context = {paragraph.id for paragraph in instance.paragraphs}
    return next((step for step in instance.decomposition or () if step.paragraph_id is not None and step.paragraph_id not in context), None)


def question_of(instance: Instance, *, level: str, max_facts: int) -> FactQuestion | Rejection:
    """The question with its facts, or a rejection. Raises SettingsError as :func:`whole` does.

    Contexts of equal length need 2n - 1 facts (appendix A.3, footnote 13). Probes do not need them, but follow the same rule, so that all
    transforms of a set have the same questions.
    """
    notes = whole(instance)
    rejection = without_answer(instance) or unmarked(instance, notes) or (_without_sentences(instance) if level == "sentence" else None)
    if rejection:
        return rejection
    dropped_ids: frozenset[str] = frozenset()
    if instance.chains is not None:
        one_chain = without_alternatives(instance)
        if one_chain is None:
            return Rejection(reason=REASONS["alternatives"], detail="chains and marks differ")
        dropped_ids = one_chain[1]
        if dropped_ids:
            instance = showing(instance, one_chain[0], removed_facts=dropped_ids)
    facts = facts_of(instance, level)
    support = tuple([number for number, (place, sentence) in enumerate(facts) if _supports(instance.paragraphs[place], sentence)])
    distractors = tuple(sorted(set(range(len(facts))).difference(support)))
    reason = _unfit(len(support), len(distractors), max_facts)
    if reason:
        return Rejection(reason=REASONS[reason], detail=f"{len(support)} in a context of {len(facts)}")
    texts = [text.strip() for text in texts_of(instance, facts)]
    counts = Counter(texts)
    duplicates = {texts[fact] for fact in support if counts[texts[fact]] > 1}
    if duplicates:
        return Rejection(reason=REASONS["twice"], detail=min(duplicates)[:80])
    return FactQuestion(
        instance=instance,
        level=level,
        facts=facts,
        supporting=support,
        distractors=distractors,
        dropped=tuple(sorted(dropped_ids)),
        notes=notes,
    )


def _unfit(support_count: int, other_count: int, max_facts: int) -> str | None:
    if support_count < 2:
        return "few"
    if support_count > max_facts:
        return "many"
    return "short" if other_count < support_count - 1 else None


def without_marks(instance: Instance) -> Rejection | None:
    """The rejection of a question with a paragraph of unknown support."""
    if instance.paragraphs and all(paragraph.supporting is not None for paragraph in instance.paragraphs):
        return None
    return Rejection(reason=UNMARKED, detail="paragraphs" if instance.paragraphs else "no paragraphs")


def unmarked(instance: Instance, notes: Mapping[str, Any]) -> Rejection | None:
    """The rejection of a question with a paragraph of unknown support, or with a missing supporting fact."""
    rejection = without_marks(instance)
    if rejection is not None:
        return rejection
    absent = sum(len(note.get(field, ())) for note in notes.values() if isinstance(note, dict) for field in ABSENT)
    if absent:
        return Rejection(reason=REASONS["absent"], detail=f"{absent} absent")
    step = step_elsewhere(instance)
    if step is not None:
        return Rejection(reason=REASONS["absent"], detail=f"step {step.id}, paragraph {step.paragraph_id}")
    return None


def _without_sentences(instance: Instance) -> Rejection | None:
    if any(paragraph.sentences is None for paragraph in instance.paragraphs):
        return Rejection(reason=REASONS["sentences"], detail="no sentence offsets")
    invalid = next((paragraph.id for paragraph in instance.paragraphs if not has_sentences(paragraph)), None)
    if invalid is not None:
        return Rejection(reason=REASONS["places"], detail=f"paragraph {invalid}")
    if any(paragraph.supporting and not paragraph.supporting_sentences for paragraph in instance.paragraphs):
        return Rejection(reason=UNMARKED, detail="sentences")
    return None


def _supports(paragraph: Paragraph, sentence: int | None) -> bool:
    return bool(paragraph.supporting) and (sentence is None or sentence in (paragraph.supporting_sentences or ()))


def without_alternatives(instance: Instance) -> tuple[tuple[Paragraph, ...], frozenset[str]] | None:
    """The paragraphs without the further chains to the answer, and the ids of the removed ones.

    The first of the chains with the fewest documents is kept. None for a question without chains, or if the marked paragraphs are not those
    of the chains.
    """
    chains = _documents_of_answer_chains(instance)
    support_ids = {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
    if not chains or set().union(*chains) != support_ids:
        return None
    shortest = min(chains, key=len)
    if shortest == support_ids:
        return instance.paragraphs, frozenset()
    removed_ids = frozenset(support_ids - shortest)
    return tuple(paragraph for paragraph in instance.paragraphs if paragraph.id not in removed_ids), removed_ids


def _documents_of_answer_chains(instance: Instance) -> list[set[str]]:
    return [
        set(chain[1::2])
        for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=False)
        if candidate.id == instance.answer_id
        for chain in chains
    ]
