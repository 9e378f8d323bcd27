"""Where the last hop of a question is answered, and by what it is connected with the hop before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kgqa.recipes.names.entities import LINKED, entity_kinds
from kgqa.recipes.names.kinds import Kind, answer_kinds, split_title, title_kinds
from kgqa.recipes.names.statements import Stated, Text, names, placed, states
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
    """Kinds of the bridge, narrowest first."""
    is_answer: bool = False
    """Whether the answer itself is what both paragraphs speak of."""


class Supporting(NamedTuple):
    """A supporting paragraph, and its title and text to look in."""

    paragraph: Paragraph
    text: Text


def links(instance: Instance, supporting: list[Supporting], stating: list[Supporting], wanted: tuple[Stated, ...]) -> Iterator[Link]:
    """From the chains of a graph, then from the decomposition, then from titles that other supporting paragraphs mention.

    ``stating``: those of the ``supporting`` that state the answer, as which ``wanted`` is looked for.
    """
    for target in stating:
        yield from _by_chain(instance, target, wanted)
    for target in stating:
        yield from _by_decomposition(instance, target, supporting, wanted)
    for target in stating:
        yield from _by_title(instance, target, [other for other in supporting if other is not target], wanted)


def spellings(paragraphs: Iterable[Paragraph], entity: str | None) -> tuple[str, ...]:
    """How these paragraphs call an entity."""
    found = (paragraph.text[m.start : m.end] for paragraph in paragraphs for m in placed(paragraph) if m.entity == entity)
    return tuple(dict.fromkeys(found)) if entity is not None else ()


def titles(title: str, *more: str) -> tuple[str, ...]:
    """How a paragraph with this title may be called, first without what it says in brackets."""
    return tuple(dict.fromkeys((split_title(title)[0], title, *more)))


def with_short(names: Iterable[str]) -> tuple[str, ...]:
    """The names, and what stands before a comma in them: texts say Rockland for Rockland, Maine."""
    found = list(names)
    return tuple(dict.fromkeys([*found, *[name.partition(",")[0] for name in found if "," in name and not any(map(str.isdigit, name))]]))


def _by_chain(instance: Instance, target: Supporting, wanted: tuple[Stated, ...]) -> Iterator[Link]:
    paragraph = target.paragraph
    for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=False):
        for chain in chains if candidate.id == instance.answer_id else ():
            if len(chain) >= LINKED and chain[-2] == paragraph.id:
                entity = chain[-3]
                spelled = spellings([paragraph], entity)
                if spelled and not any(states(name, wanted) for name in spelled):
                    yield Link(target=paragraph, bridge=spelled, entity=entity, kinds=entity_kinds(instance, entity))


def _by_decomposition(instance: Instance, target: Supporting, supporting: list[Supporting], wanted: tuple[Stated, ...]) -> Iterator[Link]:
    steps = {step.id: step for step in instance.decomposition or ()}
    for step in reversed(steps.values()):
        if step.paragraph_id != target.paragraph.id or step.answer not in instance.answers:
            continue
        for earlier in [steps[before] for before in step.depends_on if before in steps]:
            answer = earlier.answer or ""
            looked_for = names([answer])
            if target.text.states(looked_for) and not any(name.states(wanted) for name in looked_for):
                kinds = answer_kinds(earlier.question, answer, [entry.paragraph for entry in supporting])
                yield Link(target=target.paragraph, bridge=(answer,), entity=None, kinds=kinds)


def _by_title(instance: Instance, target: Supporting, others: list[Supporting], wanted: tuple[Stated, ...]) -> Iterator[Link]:
    paragraph = target.paragraph
    base = split_title(paragraph.title or "")[0]
    called = {name.words for name in names([base, base.partition(",")[0]])}
    is_answer = any(name.words in called for name in wanted if name.words)
    if paragraph.title and (is_answer or not states(base, wanted)):
        bridge = titles(paragraph.title, *(instance.answers if is_answer else ()))
        looked_for = names(bridge)
        if any(other.text.states(looked_for) for other in others):
            kinds = title_kinds(paragraph.title, paragraph.text)
            yield Link(target=paragraph, bridge=bridge, entity=None, kinds=kinds, is_answer=is_answer)
    for other in others:
        title = other.paragraph.title
        if title and not states(title, wanted):
            bridge = titles(title)
            if target.text.states(names(bridge[:1])):
                yield Link(target=paragraph, bridge=bridge, entity=None, kinds=title_kinds(title, other.paragraph.text))
