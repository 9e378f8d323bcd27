"""Where the last hop of a question is answered, and by what it is connected with the hop before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kgqa.recipes.dire.entities import LINKED, about, entity_kinds
from kgqa.recipes.dire.kinds import Kind, answer_kinds, split_title, title_kinds
from kgqa.recipes.stating import Stated, names, states
from kgqa.records import Instance, Paragraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One paragraph that states the answer, and what it shares with another supporting one."""

    target: Paragraph
    """The supporting paragraph that states the answer."""
    bridge: tuple[str, ...]
    """How it, or the paragraph before it, calls the entity that both speak of."""
    entity: str | None
    """The bridge's id, where the set has one."""
    kinds: list[Kind]
    """Of the bridge."""
    is_title: bool
    """Whether the bridge is what the target is about."""
    is_answer: bool = False
    """Whether the answer itself is what both paragraphs speak of."""


def links(instance: Instance, stating: list[Paragraph], wanted: tuple[Stated, ...]) -> Iterator[Link]:
    """From the chains of a graph, then from the decomposition, then from titles that other supporting paragraphs mention.

    ``stating``: the supporting paragraphs that state the answer, as which ``wanted`` is looked for.
    """
    for target in stating:
        yield from _by_chain(instance, target, wanted)
    for target in stating:
        yield from _by_decomposition(instance, target, wanted)
    others = [paragraph for paragraph in instance.paragraphs if paragraph.supporting]
    for target in stating:
        yield from _by_title(target, [other for other in others if other is not target], instance, wanted)


def spellings(paragraphs: Iterable[Paragraph], entity: str | None) -> tuple[str, ...]:
    """How these paragraphs call an entity."""
    found = (paragraph.text[m.start : m.end] for paragraph in paragraphs for m in paragraph.mentions or () if m.entity == entity)
    return tuple(dict.fromkeys(found)) if entity is not None else ()


def titles(title: str, *more: str) -> tuple[str, ...]:
    """How a paragraph with this title may be called, first without what it says in brackets."""
    return tuple(dict.fromkeys((split_title(title)[0], title, *more)))


def _by_chain(instance: Instance, target: Paragraph, wanted: tuple[Stated, ...]) -> Iterator[Link]:
    for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=False):
        for chain in chains if candidate.id == instance.answer_id else ():
            if len(chain) >= LINKED and chain[-2] == target.id:
                spelled = spellings([target], chain[-3])
                if spelled and not any(states(name, wanted) for name in spelled):
                    named = about(target)
                    is_title = named is not None and named.id == chain[-3]
                    yield Link(target=target, bridge=spelled, entity=chain[-3], kinds=entity_kinds(instance, chain[-3]), is_title=is_title)


def _by_decomposition(instance: Instance, target: Paragraph, wanted: tuple[Stated, ...]) -> Iterator[Link]:
    steps = {step.id: step for step in instance.decomposition or ()}
    for step in reversed(steps.values()):
        if step.paragraph_id != target.id or step.answer not in instance.answers:
            continue
        for earlier in [steps[before] for before in step.depends_on if before in steps]:
            answer = earlier.answer or ""
            looked_for = names([answer])
            if states(target.text, looked_for) and not states(answer, wanted):
                kinds = answer_kinds(earlier.question, answer, instance.paragraphs)
                is_title = states(target.title or "", looked_for)
                yield Link(target=target, bridge=(answer,), entity=None, kinds=kinds, is_title=is_title)


def _by_title(target: Paragraph, others: list[Paragraph], instance: Instance, wanted: tuple[Stated, ...]) -> Iterator[Link]:
    if target.title:
        is_answer = states(split_title(target.title)[0], wanted)
        bridge = titles(target.title, *(instance.answers if is_answer else ()))
        if any(states(other.text, names(bridge)) for other in others):
            kinds = title_kinds(target.title, target.text)
            yield Link(target=target, bridge=bridge, entity=None, kinds=kinds, is_title=True, is_answer=is_answer)
    for other in others:
        if other.title and not states(other.title, wanted):
            bridge = titles(other.title)
            if states(target.text, names(bridge[:1])):
                yield Link(target=target, bridge=bridge, entity=None, kinds=title_kinds(other.title, other.text), is_title=False)
