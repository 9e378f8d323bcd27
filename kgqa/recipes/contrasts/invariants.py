"""Invariants of the transforms: each function yields a sentence for each fault of a question and the instances made from it.

They inspect the instances alone, independently of the code that made them. Every set of ``kgqa contrast`` is tested before it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kgqa.formats.provenance import noted
from kgqa.metrics.dire import PARTIAL, SUFFICIENT, UNSUPPORTED
from kgqa.readers.answers import is_option
from kgqa.recipes.contrasts.facts import NAME, FactQuestion, facts_of, texts_of
from kgqa.recipes.names.statements import names, paragraph_states, states
from kgqa.records import Instance, Paragraph

Shown = list[tuple[str, str]]
"""Paragraph id and text of each fact of a context, in order."""


def probe_faults(question: FactQuestion, group: Sequence[Instance]) -> Iterator[str]:
    """P(D): each bi-partition has two contexts with all distractors, and every supporting fact is in exactly one of them."""
    context, support = _whole(question)
    expected_count = 2 ** (len(support) - 1) - 1
    pairs = _by_bipartition(group)
    if sorted(pairs) != list(range(expected_count)) or any(len(pair) != 2 for pair in pairs.values()):
        yield f"{len(support)} supporting facts need {expected_count} bi-partitions with two instances each"
        return
    partitions = set()
    for pair in pairs.values():
        parts = [support.intersection(_visible_part(question, instance)) for instance in pair]
        partitions.add(frozenset(map(frozenset, parts)))
        if parts[0] | parts[1] != support or parts[0] & parts[1] or not all(parts):
            yield "two contexts of a bi-partition do not divide the supporting facts"
        for instance, part in zip(pair, parts, strict=True):
            if _visible_part(question, instance) != [fact for fact in context if fact not in support or fact in part]:
                yield "a distractor is missing, or the order has changed"
    if len(partitions) != expected_count:
        yield "a bi-partition occurs twice"
    yield from _labels_faults(group)


def sufficiency_faults(question: FactQuestion, group: Sequence[Instance]) -> Iterator[str]:
    """T(D): a context for each non-empty subset of the supporting facts; all contexts have |C| - n + 1 facts."""
    context, support = _whole(question)
    length = len(context) - len(support) + 1
    yield from _contexts_faults(question, group, length=length)
    parts = [frozenset(support.intersection(_visible_part(question, instance))) for instance in group]
    if len(set(parts)) != len(group) or len(group) != 2 ** len(support) - 1 or frozenset() in parts:
        yield f"{len(support)} supporting facts need {2 ** len(support) - 1} contexts with different, non-empty parts of them"
    for instance, part in zip(group, parts, strict=True):
        sufficient = part == support
        if _label(instance) != (SUFFICIENT if sufficient else PARTIAL):
            yield "a label does not say whether the context suffices"
        if instance.answerable != sufficient or bool(instance.answers) != sufficient:
            yield "an insufficient context carries an answer, or the sufficient one does not"
        if not sufficient and any(paragraph.supporting is not None for paragraph in instance.paragraphs):
            yield "an insufficient context carries supporting marks"
        if not sufficient and any(field is not None for field in (instance.decomposition, instance.chains, instance.grades)):
            yield "an insufficient context carries steps, chains or grades, which name the answer and the support"


def probe_of_sufficiency_faults(question: FactQuestion, group: Sequence[Instance]) -> Iterator[str]:
    """P(T(D)): each bi-partition has two contexts that divide the supporting facts (0) and one without any (-1), of |C| - n facts each."""
    context, support = _whole(question)
    yield from _contexts_faults(question, group, length=len(context) - len(support))
    triples = _by_bipartition(group)
    if len(triples) != 2 ** (len(support) - 1) - 1:
        yield f"{len(support)} supporting facts need {2 ** (len(support) - 1) - 1} bi-partitions"
    for triple in triples.values():
        parts: dict[int, list[set[tuple[str, str]]]] = {label: [] for label in (PARTIAL, UNSUPPORTED)}
        for instance in triple:
            parts.setdefault(_label(instance) or 0, []).append(support.intersection(_visible_part(question, instance)))
        if [len(parts[PARTIAL]), len(parts[UNSUPPORTED])] != [2, 1] or len(triple) != 3:
            yield "a bi-partition has other labels than 0, 0 and -1"
        elif parts[PARTIAL][0] | parts[PARTIAL][1] != support or parts[PARTIAL][0] & parts[PARTIAL][1] or not all(parts[PARTIAL]):
            yield "two contexts of a bi-partition do not divide the supporting facts"
        elif parts[UNSUPPORTED][0]:
            yield "a context labelled -1 holds a supporting fact"
    yield from _labels_faults(group)


def trivial_faults(question: FactQuestion, group: Sequence[Instance]) -> Iterator[str]:
    """T_trv(D): three contexts with all supporting facts, each without another distractor as far as possible."""
    context, support = _whole(question)
    yield from _contexts_faults(question, group, length=len(context) - 1)
    if len(group) != 3:
        yield "a question needs three copies"
    for instance in group:
        if not support <= set(_visible_part(question, instance)) or instance.answers != question.instance.answers:
            yield "a copy lacks a supporting fact or the answer"
    removed_ids = {str(noted(instance, NAME)["removed"]) for instance in group}
    if len(removed_ids) != min(3, len(context) - len(support)):
        yield "two copies lack the same distractor although there are others"


def adversarial_faults(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """T_adv(D): the same question with a context of the same length; only distractors differ, and no new one states answer or bridge."""
    (changed,) = group
    note = noted(changed, NAME)
    copies = {entry["id"]: entry for entry in note["added"]}
    if (
        len(changed.paragraphs) != len(original.paragraphs)
        or not copies
        or not copies.keys() <= {new_paragraph.id for new_paragraph in changed.paragraphs}
    ):
        yield "the context is longer or shorter than it was, or what was added is not there"
    for old_paragraph, new_paragraph in zip(original.paragraphs, changed.paragraphs, strict=False):
        if new_paragraph.id not in copies and new_paragraph != old_paragraph:
            yield "a paragraph that was not replaced has changed"
        if new_paragraph.id in copies and (old_paragraph.supporting is not False or new_paragraph.supporting is not False):
            yield "a supporting paragraph was replaced, or a new one is marked as supporting"
    for paragraph in changed.paragraphs:
        if paragraph.id in copies:
            yield from _copy_faults(original, paragraph, copies[paragraph.id])
    if len({paragraph.id for paragraph in changed.paragraphs}) != len({paragraph.id for paragraph in original.paragraphs}):
        yield "two paragraphs have the same id"
    if (changed.id, changed.question, changed.answers, changed.group) != (original.id, original.question, original.answers, original.group):
        yield "the question, its answers, its id or its group has changed"


def _copy_faults(original: Instance, paragraph: Paragraph, copy: Mapping[str, Any]) -> Iterator[str]:
    """Faults of a new ``paragraph``, of which the note says ``copy``."""
    old_bridge, new_bridge = copy["bridge"]
    if paragraph_states(paragraph, names([*original.answers, old_bridge]), original.answer_id):
        yield "a new paragraph states the answer or the old bridge entity"
    if not paragraph_states(paragraph, names([copy["answer"]])):
        yield "a new paragraph does not state the false answer"
    if new_bridge == copy["answer"] and not states(old_bridge, names(original.answers)):
        yield "the false answer is the new bridge entity as well"


INVARIANTS: Mapping[str, Callable[[FactQuestion, Sequence[Instance]], Iterable[str]]] = {
    "probe": probe_faults,
    "sufficiency": sufficiency_faults,
    "probe-of-sufficiency": probe_of_sufficiency_faults,
    "trivial": trivial_faults,
}
"""Transform of a question's facts → its invariant."""


def _visible_part(question: FactQuestion, instance: Instance) -> Shown:
    facts = facts_of(instance, question.level)
    ids = [instance.paragraphs[place].id for place, _ in facts]
    return list(zip(ids, texts_of(instance, facts), strict=True))


def _whole(question: FactQuestion) -> tuple[Shown, set[tuple[str, str]]]:
    """The whole context, and its supporting facts, which occur only once, since other questions are rejected."""
    context = _visible_part(question, question.instance)
    return context, {context[number] for number in question.supporting}


def _contexts_faults(question: FactQuestion, group: Sequence[Instance], *, length: int) -> Iterator[str]:
    context = _whole(question)[0]
    for instance in group:
        facts = _visible_part(question, instance)
        if len(facts) != length:
            yield f"a context has {len(facts)} facts instead of {length}"
        paragraphs = iter(context)
        if not all(fact in paragraphs for fact in facts):
            yield "a context holds a fact that the question has not, or in another order"


def _by_bipartition(group: Sequence[Instance]) -> dict[int, list[Instance]]:
    groups: dict[int, list[Instance]] = {}
    for instance in group:
        groups.setdefault(noted(instance, NAME)["bipartition"], []).append(instance)
    return groups


def _label(instance: Instance) -> int | None:
    return noted(instance, NAME)["sufficiency"]


def _labels_faults(group: Sequence[Instance]) -> Iterator[str]:
    """An instance may have an answer only if one of its supporting paragraphs states it."""
    for instance in group:
        if instance.answerable != bool(instance.answers) or (not instance.answers and instance.answer_type != "none"):
            yield "answerable does not say whether the instance carries an answer"
        answer_names = names(instance.answers)
        is_stated = any(
            is_option(instance) or paragraph_states(paragraph, answer_names, instance.answer_id)
            for paragraph in instance.paragraphs
            if paragraph.supporting
        )
        if instance.answers and not is_stated:
            yield "an instance carries an answer that none of its supporting facts states"
