"""Which questions can be transformed, and why the others cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kgqa.errors import SettingsError
from kgqa.formats.provenance import everything
from kgqa.recipes.contrasts.alternatives import without_alternatives
from kgqa.recipes.contrasts.facts import NAME, Question, facts_of, has_sentences, texts_of
from kgqa.recipes.contrasts.instances import showing
from kgqa.records import Instance, Paragraph, Step
from kgqa.runs.funnel import Rejection

MAX_FACTS = 6
"""By default: n supporting facts make 2^n - 1 instances, six make 63; MuSiQue has at most four supporting paragraphs."""
MOST_FACTS = 10
"""What can be allowed at most: 1,023 instances a question."""
ABSENT = ("absent_facts", "supporting_facts")
"""What formats call the supporting facts that they note because the normal form has no place for them."""
PARTIAL = frozenset({"probe", "sufficiency", "probe-of-sufficiency"})
"""Transforms whose instances are no whole questions any more."""
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
"""Why a question cannot be transformed → the sentence that reports show."""


def whole(instance: Instance, *, once: str = "") -> Mapping[str, Any]:
    """The provenance of a whole question; SettingsError for an instance of a transform that leaves parts of questions, or of ``once``."""
    noted = everything(instance)
    earlier = noted.get(NAME)
    transform = earlier.get("transform") if isinstance(earlier, dict) else None
    if transform in PARTIAL:
        raise SettingsError(
            f"instance {instance.id}: this set was made by {transform} and holds parts of questions; transform the set that it was made of "
            "(the probe of the sufficiency transform is the kind probe-of-sufficiency)."
        )
    if once and transform == once:
        raise SettingsError(f"instance {instance.id}: this set was made by {once} already; transform the set that it was made of.")
    return noted


def without_answer(instance: Instance) -> Rejection | None:
    """The rejection of a question without an answer, or with an empty one."""
    if instance.answerable and any(map(str.strip, instance.answers)):
        return None
    if instance.hidden:
        return Rejection(reason=HIDDEN, detail="the set does not say it")
    return Rejection(reason=UNANSWERABLE, detail="no answer" if instance.answerable else "marked as unanswerable")


def step_elsewhere(instance: Instance) -> Step | None:
    """The first step that names a paragraph which is not among those shown."""
    shown = {paragraph.id for paragraph in instance.paragraphs}
    return next((step for step in instance.decomposition or () if step.paragraph_id is not None and step.paragraph_id not in shown), None)


def question_of(instance: Instance, *, level: str, max_facts: int) -> Question | Rejection:
    """The question with its facts, or why it cannot be transformed. SettingsError as :func:`whole`.

    A context of 2n - 1 facts is what equal lengths need (appendix A.3, footnote 13). Probes, which do not need it, are held to it too: so
    all transforms of a set have the same questions.
    """
    noted = whole(instance)
    unusable = without_answer(instance) or unmarked(instance, noted) or (_without_sentences(instance) if level == "sentence" else None)
    if unusable:
        return unusable
    dropped: frozenset[str] = frozenset()
    if instance.chains is not None:
        alone = without_alternatives(instance)
        if alone is None:
            return Rejection(reason=REASONS["alternatives"], detail="chains and marks differ")
        dropped = alone[1]
        if dropped:
            instance = showing(instance, alone[0], gone=dropped)
    facts = facts_of(instance, level)
    supporting = tuple([number for number, (place, sentence) in enumerate(facts) if _supports(instance.paragraphs[place], sentence)])
    others = tuple(sorted(set(range(len(facts))).difference(supporting)))
    reason = _unfit(len(supporting), len(others), max_facts)
    if reason:
        return Rejection(reason=REASONS[reason], detail=f"{len(supporting)} in a context of {len(facts)}")
    texts = [text.strip() for text in texts_of(instance, facts)]
    count = Counter(texts)
    twice = {texts[fact] for fact in supporting if count[texts[fact]] > 1}
    if twice:
        return Rejection(reason=REASONS["twice"], detail=min(twice)[:80])
    return Question(
        instance=instance, level=level, facts=facts, supporting=supporting, others=others, dropped=tuple(sorted(dropped)), noted=noted
    )


def _unfit(supporting: int, others: int, max_facts: int) -> str | None:
    if supporting < 2:
        return "few"
    if supporting > max_facts:
        return "many"
    return "short" if others < supporting - 1 else None


def unmarked(instance: Instance, noted: Mapping[str, Any]) -> Rejection | None:
    """The rejection of a question whose paragraphs do not all say whether they support the answer, or whose support is not all there."""
    if not instance.paragraphs or any(paragraph.supporting is None for paragraph in instance.paragraphs):
        return Rejection(reason=UNMARKED, detail="paragraphs" if instance.paragraphs else "no paragraphs")
    absent = sum(len(note.get(field, ())) for note in noted.values() if isinstance(note, dict) for field in ABSENT)
    if absent:
        return Rejection(reason=REASONS["absent"], detail=f"{absent} absent")
    step = step_elsewhere(instance)
    if step is not None:
        return Rejection(reason=REASONS["absent"], detail=f"step {step.id}, paragraph {step.paragraph_id}")
    return None


def _without_sentences(instance: Instance) -> Rejection | None:
    if any(paragraph.sentences is None for paragraph in instance.paragraphs):
        return Rejection(reason=REASONS["sentences"], detail="no sentence offsets")
    wrong = next((paragraph.id for paragraph in instance.paragraphs if not has_sentences(paragraph)), None)
    if wrong is not None:
        return Rejection(reason=REASONS["places"], detail=f"paragraph {wrong}")
    if any(paragraph.supporting and not paragraph.supporting_sentences for paragraph in instance.paragraphs):
        return Rejection(reason=UNMARKED, detail="sentences")
    return None


def _supports(paragraph: Paragraph, sentence: int | None) -> bool:
    return bool(paragraph.supporting) and (sentence is None or sentence in (paragraph.supporting_sentences or ()))
