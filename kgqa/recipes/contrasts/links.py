"""The paragraph that answers the last hop of a question, and the entity that links it to the hop before."""

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
    """A paragraph that states the answer, and the entity that it shares with another supporting paragraph."""

    target: Paragraph
    """The supporting paragraph that states the answer."""
    bridge: tuple[str, ...]
    """Names of the shared entity in these paragraphs."""
    entity: str | None
    """The entity's id, None if the set has no ids."""
    kinds: list[Kind]
    """Kinds of the bridge, narrowest first."""
    is_answer: bool = False
    """Whether the shared entity is the answer itself."""


class Supporting(NamedTuple):
    """A supporting paragraph, and its title and text, prepared for search."""

    paragraph: Paragraph
    text: Text


def links(instance: Instance, supporting: list[Supporting], stating: list[Supporting], answer_names: tuple[Stated, ...]) -> Iterator[Link]:
    """Links from chains of a graph, then from the decomposition, then from titles that other supporting paragraphs mention.

    ``stating``: the ``supporting`` paragraphs that state the answer; ``answer_names``: the answer's names.
    """
    for target in stating:
        yield from _by_chain(instance, target, answer_names)
    for target in stating:
        yield from _by_decomposition(instance, target, supporting, answer_names)
    for target in stating:
        yield from _by_title(instance, target, [other for other in supporting if other is not target], answer_names)


def spellings(paragraphs: Iterable[Paragraph], entity: str | None) -> tuple[str, ...]:
    """The distinct texts of an entity's mentions in these paragraphs."""
    texts = (paragraph.text[m.start : m.end] for paragraph in paragraphs for m in placed(paragraph) if m.entity == entity)
    return tuple(dict.fromkeys(texts)) if entity is not None else ()


def titles(title: str, *more: str) -> tuple[str, ...]:
    """The names that a title gives, first the one without its part in brackets, and the names ``more``."""
    return tuple(dict.fromkeys((split_title(title)[0], title, *more)))


def with_short(names: Iterable[str]) -> tuple[str, ...]:
    """The names, and their parts before a comma, since texts say Rockland for Rockland, Maine.

    >>> with_short(["Rockland, Maine", "May 1, 1990"])
    ('Rockland, Maine', 'May 1, 1990', 'Rockland')
    """
    spellings_found = list(names)
    return tuple(
        dict.fromkeys(
            [*spellings_found, *[name.partition(",")[0] for name in spellings_found if "," in name and not any(map(str.isdigit, name))]]
        )
    )


def _by_chain(instance: Instance, target: Supporting, answer_names: tuple[Stated, ...]) -> Iterator[Link]:
    paragraph = target.paragraph
    for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=False):
        for chain in chains if candidate.id == instance.answer_id else ():
            if len(chain) >= LINKED and chain[-2] == paragraph.id:
                entity = chain[-3]
                bridge = spellings([paragraph], entity)
                if bridge and not any(states(name, answer_names) for name in bridge):
                    yield Link(target=paragraph, bridge=bridge, entity=entity, kinds=entity_kinds(instance, entity))


def _by_decomposition(
    instance: Instance, target: Supporting, supporting: list[Supporting], answer_names: tuple[Stated, ...]
) -> Iterator[Link]:
    steps = {step.id: step for step in instance.decomposition or ()}
    for step in reversed(steps.values()):
        if step.paragraph_id != target.paragraph.id or step.answer not in instance.answers:
            continue
        for earlier in [steps[before] for before in step.depends_on if before in steps]:
            answer = earlier.answer or ""
            bridge_names = names([answer])
            if target.text.states(bridge_names) and not any(name.states(answer_names) for name in bridge_names):
                kinds = answer_kinds(earlier.question, answer, [entry.paragraph for entry in supporting])
                yield Link(target=target.paragraph, bridge=(answer,), entity=None, kinds=kinds)


def _by_title(
    instance: Instance, target: Supporting, other_supporting: list[Supporting], answer_names: tuple[Stated, ...]
) -> Iterator[Link]:
    paragraph = target.paragraph
    base = split_title(paragraph.title or "")[0]
    title_words = {name.words for name in names([base, base.partition(",")[0]])}
    is_answer = any(name.words in title_words for name in answer_names if name.words)
    if paragraph.title and (is_answer or not states(base, answer_names)):
        bridge = titles(paragraph.title, *(instance.answers if is_answer else ()))
        bridge_names = names(bridge)
        if any(other.text.states(bridge_names) for other in other_supporting):
            kinds = title_kinds(paragraph.title, paragraph.text)
            yield Link(target=paragraph, bridge=bridge, entity=None, kinds=kinds, is_answer=is_answer)
    for other in other_supporting:
        title = other.paragraph.title
        if title and not states(title, answer_names):
            bridge = titles(title)
            if target.text.states(names(bridge[:1])):
                yield Link(target=paragraph, bridge=bridge, entity=None, kinds=title_kinds(title, other.paragraph.text))
