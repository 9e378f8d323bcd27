"""What must hold of a question and what a transform made of it: each function says what is broken, nothing where all is well.

From the instances alone and not from how they were made; every set that ``kgqa contrast`` writes is held to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kgqa.formats.provenance import noted
from kgqa.metrics.dire import PARTIAL, SUFFICIENT, UNSUPPORTED
from kgqa.readers.answers import is_option
from kgqa.recipes.contrasts.facts import NAME, Question, facts_of, texts_of
from kgqa.recipes.names.statements import names, paragraph_states, states
from kgqa.records import Instance

Shown = list[tuple[str, str]]
"""The facts of a context, in order: paragraph id and text."""


def probe_broken(question: Question, group: Sequence[Instance]) -> Iterator[str]:
    """P(D): per bi-partition two contexts with all distractors and every supporting fact in exactly one of them, so that none has all."""
    whole, support = _whole(question)
    expected = 2 ** (len(support) - 1) - 1
    pairs = _by_bipartition(group)
    if sorted(pairs) != list(range(expected)) or any(len(pair) != 2 for pair in pairs.values()):
        yield f"{len(support)} supporting facts need {expected} bi-partitions with two instances each"
        return
    seen = set()
    for pair in pairs.values():
        kept = [support.intersection(_shown(question, instance)) for instance in pair]
        seen.add(frozenset(map(frozenset, kept)))
        if kept[0] | kept[1] != support or kept[0] & kept[1] or not all(kept):
            yield "two contexts of a bi-partition do not divide the supporting facts"
        for instance, here in zip(pair, kept, strict=True):
            if _shown(question, instance) != [fact for fact in whole if fact not in support or fact in here]:
                yield "a distractor is missing, or the order has changed"
    if len(seen) != expected:
        yield "a bi-partition is there twice"
    yield from _labels_broken(group)


def sufficiency_broken(question: Question, group: Sequence[Instance]) -> Iterator[str]:
    """T(D): one context with all supporting facts, and one for each proper part of them but none; all have |C| - n + 1 facts."""
    whole, support = _whole(question)
    length = len(whole) - len(support) + 1
    yield from _contexts_broken(question, group, length=length)
    kept = [frozenset(support.intersection(_shown(question, instance))) for instance in group]
    if len(set(kept)) != len(group) or len(group) != 2 ** len(support) - 1 or frozenset() in kept:
        yield f"{len(support)} supporting facts need {2 ** len(support) - 1} contexts with different, non-empty parts of them"
    for instance, here in zip(group, kept, strict=True):
        sufficient = here == support
        if _label(instance) != (SUFFICIENT if sufficient else PARTIAL):
            yield "a label does not say whether the context suffices"
        if instance.answerable != sufficient or bool(instance.answers) != sufficient:
            yield "an insufficient context carries an answer, or the sufficient one does not"
        if not sufficient and any(paragraph.supporting is not None for paragraph in instance.paragraphs):
            yield "an insufficient context carries supporting marks"
        if not sufficient and any(field is not None for field in (instance.decomposition, instance.chains, instance.grades)):
            yield "an insufficient context carries steps, chains or grades, which name the answer and the support"


def probe_of_sufficiency_broken(question: Question, group: Sequence[Instance]) -> Iterator[str]:
    """P(T(D)): per bi-partition two contexts that divide the supporting facts (0), one with none of them (-1); all have |C| - n facts."""
    whole, support = _whole(question)
    yield from _contexts_broken(question, group, length=len(whole) - len(support))
    triples = _by_bipartition(group)
    if len(triples) != 2 ** (len(support) - 1) - 1:
        yield f"{len(support)} supporting facts need {2 ** (len(support) - 1) - 1} bi-partitions"
    for triple in triples.values():
        kept: dict[int, list[set[tuple[str, str]]]] = {label: [] for label in (PARTIAL, UNSUPPORTED)}
        for instance in triple:
            kept.setdefault(_label(instance) or 0, []).append(support.intersection(_shown(question, instance)))
        if [len(kept[PARTIAL]), len(kept[UNSUPPORTED])] != [2, 1] or len(triple) != 3:
            yield "a bi-partition has other labels than 0, 0 and -1"
        elif kept[PARTIAL][0] | kept[PARTIAL][1] != support or kept[PARTIAL][0] & kept[PARTIAL][1] or not all(kept[PARTIAL]):
            yield "two contexts of a bi-partition do not divide the supporting facts"
        elif kept[UNSUPPORTED][0]:
            yield "a context labelled -1 holds a supporting fact"
    yield from _labels_broken(group)


def trivial_broken(question: Question, group: Sequence[Instance]) -> Iterator[str]:
    """T_trv(D): three contexts with all supporting facts and one distractor less, different ones as far as there are enough."""
    whole, support = _whole(question)
    yield from _contexts_broken(question, group, length=len(whole) - 1)
    if len(group) != 3:
        yield "a question needs three copies"
    for instance in group:
        if not support <= set(_shown(question, instance)) or instance.answers != question.instance.answers:
            yield "a copy lacks a supporting fact or the answer"
    removed = {str(noted(instance, NAME)["removed"]) for instance in group}
    if len(removed) != min(3, len(whole) - len(support)):
        yield "two copies lack the same distractor although there are others"


def adversarial_broken(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """T_adv(D): the same question with as long a context, in which only distractors are others, and no new one states answer or bridge."""
    (changed,) = group
    note = noted(changed, NAME)
    added = {entry["id"]: entry for entry in note["added"]}
    if len(changed.paragraphs) != len(original.paragraphs) or not added or not added.keys() <= {new.id for new in changed.paragraphs}:
        yield "the context is longer or shorter than it was, or what was added is not there"
    for old, new in zip(original.paragraphs, changed.paragraphs, strict=False):
        if new.id not in added and new != old:
            yield "a paragraph that was not replaced has changed"
        if new.id in added and (old.supporting is not False or new.supporting is not False):
            yield "a supporting paragraph was replaced, or a new one is marked as supporting"
    for paragraph in changed.paragraphs:
        if paragraph.id in added:
            forbidden = names([*original.answers, added[paragraph.id]["bridge"][0]])
            if paragraph_states(paragraph, forbidden, original.answer_id):
                yield "a new paragraph states the answer or the old bridge entity"
            if not paragraph_states(paragraph, names([added[paragraph.id]["answer"]])):
                yield "a new paragraph does not state the false answer"
            old, new_bridge = added[paragraph.id]["bridge"]
            if new_bridge == added[paragraph.id]["answer"] and not states(old, names(original.answers)):
                yield "the false answer is the new bridge entity as well"
    if len({paragraph.id for paragraph in changed.paragraphs}) != len({paragraph.id for paragraph in original.paragraphs}):
        yield "two paragraphs have the same id"
    if (changed.id, changed.question, changed.answers, changed.group) != (original.id, original.question, original.answers, original.group):
        yield "the question, its answers, its id or its group has changed"


BROKEN: Mapping[str, Callable[[Question, Sequence[Instance]], Iterable[str]]] = {
    "probe": probe_broken,
    "sufficiency": sufficiency_broken,
    "probe-of-sufficiency": probe_of_sufficiency_broken,
    "trivial": trivial_broken,
}
"""Transform of a question's facts → its invariant."""


def _shown(question: Question, instance: Instance) -> Shown:
    facts = facts_of(instance, question.level)
    ids = [instance.paragraphs[place].id for place, _ in facts]
    return list(zip(ids, texts_of(instance, facts), strict=True))


def _whole(question: Question) -> tuple[Shown, set[tuple[str, str]]]:
    """The whole context, and the supporting facts in it; these are there once, or the question was rejected."""
    whole = _shown(question, question.instance)
    return whole, {whole[number] for number in question.supporting}


def _contexts_broken(question: Question, group: Sequence[Instance], *, length: int) -> Iterator[str]:
    whole = _whole(question)[0]
    for instance in group:
        shown = _shown(question, instance)
        if len(shown) != length:
            yield f"a context has {len(shown)} facts instead of {length}"
        rest = iter(whole)
        if not all(fact in rest for fact in shown):
            yield "a context holds a fact that the question has not, or in another order"


def _by_bipartition(group: Sequence[Instance]) -> dict[int, list[Instance]]:
    found: dict[int, list[Instance]] = {}
    for instance in group:
        found.setdefault(noted(instance, NAME)["bipartition"], []).append(instance)
    return found


def _label(instance: Instance) -> int | None:
    label: int | None = noted(instance, NAME)["sufficiency"]
    return label


def _labels_broken(group: Sequence[Instance]) -> Iterator[str]:
    """An answer is a label only where a paragraph that is there and supports it states it."""
    for instance in group:
        if instance.answerable != bool(instance.answers) or instance.answer_type != (
            "none" if not instance.answers else instance.answer_type
        ):
            yield "answerable does not say whether the instance carries an answer"
        wanted = names(instance.answers)
        supporting = [paragraph for paragraph in instance.paragraphs if paragraph.supporting]
        stating = supporting if is_option(instance) else [each for each in supporting if paragraph_states(each, wanted, instance.answer_id)]
        if instance.answers and not stating:
            yield "an instance carries an answer that none of its supporting facts states"
