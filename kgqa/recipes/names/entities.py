"""Answers and names of a set, by kind, from which false ones are drawn.

``kinds.py`` tells what kind a name is. What a graph's entity is, where no paragraph's title names it, its chains tell: entities that stand
before the answers of one relation are of one kind if their ids look alike (``DB00682`` and ``DB00945``), as the graph's schema makes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from kgqa.arrays.draws import Reservoir, draw
from kgqa.formats.qangaroo import PLACEHOLDER
from kgqa.recipes.names.kinds import LEAD, PERSON, WHO, Kind, answer_kinds, first_name, split_title, title_kinds
from kgqa.recipes.names.statements import Stated, placed, stated
from kgqa.records import Instance, Paragraph

PAGES, ANSWERS = 100_000, 50_000
"""What is kept of a set's titles with the sentences about them, and of its answers: a sample. Memory: some 500 bytes for each."""
PER_KIND = 2000
"""Names of one kind."""
LINKED = 5
"""The entities and documents of the shortest chain that has something between the subject and the answer."""
TRIES = 200
"""Names of one kind that are looked at for a question."""
_NUMBERED = re.compile(r"(\D*)\d+")


@dataclass(frozen=True, slots=True)
class Entity:
    """A name, and the id of what it names where the set gives one."""

    name: str
    id: str | None = None


Named = tuple[Entity, Stated | None]
"""An entity, and what to look for to find its name in a text."""


def about(paragraph: Paragraph) -> Entity | None:
    """What a paragraph's title names, with its id where a mention in the text has the same words."""
    if not paragraph.title:
        return None
    name = split_title(paragraph.title)[0]
    spelled = name.lower()
    ids = (m.entity for m in placed(paragraph) if m.end - m.start == len(name) and paragraph.text[m.start : m.end].lower() == spelled)
    return Entity(name, next(ids, None))


def entity_kinds(instance: Instance, entity: str) -> list[Kind]:
    """The kinds of a graph's entity: those of the title that names it; its place in the chains only where titles name none."""
    titles = {titled.id: paragraph for paragraph in instance.paragraphs if (titled := about(paragraph)) and titled.id is not None}
    if entity in titles:
        return title_kinds(titles[entity].title or "", titles[entity].text)
    return [] if titles else chain_kinds(instance, entity)


def chain_kinds(instance: Instance, entity: str) -> list[Kind]:
    """The kind of what stands before the answer in a chain: the relation that was asked, and what the id looks like."""
    numbered = _NUMBERED.fullmatch(entity)
    return [("before the answer", instance.question.partition(" ")[0], f"{numbered[1]}0" if numbered else "")]


class Collector:
    """Sees every question of a set, in any order."""

    def __init__(self, *, seed: int) -> None:
        """Nothing was seen yet."""
        self._pages = Reservoir[tuple[str, str, Entity]](PAGES, purpose="titles", seed=seed, order=lambda page: (page[2].id or "",))
        self._answers = Reservoir[tuple[Sequence[Kind], Entity]](ANSWERS, purpose="answers", seed=seed)

    def see(self, instance: Instance) -> None:
        """Take the names of one question."""
        supporting = [paragraph for paragraph in instance.paragraphs if paragraph.supporting]
        if instance.answers and instance.answer_type != "boolean":
            self._add(answer_kinds(instance.question, instance.answers[0], supporting), Entity(instance.answers[0]))
        for step in instance.decomposition or ():
            if step.answer:
                self._add(answer_kinds(step.question, step.answer, supporting), Entity(step.answer))
        title_entities = [about(paragraph) for paragraph in instance.paragraphs]
        for paragraph, entity in zip(instance.paragraphs, title_entities, strict=True):
            if entity is not None and PLACEHOLDER not in entity.name:
                title, lead = paragraph.title or "", paragraph.text[:LEAD]
                self._pages.add(f"{title}\0{lead}", (title, lead, entity))
        if instance.chains and not any(entity.id is not None for entity in title_entities if entity):
            for entity in _before_answers(instance):
                self._add(chain_kinds(instance, entity.id or ""), entity)

    def _add(self, kinds: Sequence[Kind], entity: Entity) -> None:
        if kinds and PLACEHOLDER not in entity.name:  # what a question's mask means, no other question knows
            self._answers.add(f"{kinds}\0{entity.id}\0{entity.name}", (kinds, entity))

    def pool(self) -> Pool:
        """What was seen; the first names of a kind are a sample of it, because reservoirs give theirs in a random order."""
        kinds: dict[Kind, dict[Entity, None]] = {}
        pages = ((title_kinds(title, lead), entity) for title, lead, entity in self._pages.values())
        for entry_kinds, entity in chain(self._answers.values(), pages):
            for kind in entry_kinds:
                kinds.setdefault(kind, {})[entity] = None
        names = {kind: list(islice(entities, PER_KIND)) for kind, entities in kinds.items() if kind != WHO}
        first_names = frozenset(first_name(entity.name) for entity in kinds.get((PERSON,), ()))
        names[PERSON, "who"] = [entity for entity in kinds.get(WHO, ()) if first_name(entity.name) in first_names][:PER_KIND]
        return Pool(names, first_names)


def _before_answers(instance: Instance) -> Iterator[Entity]:
    """What stands there in the chains, as the last document spells it."""
    paragraphs = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    for path in (path for paths in instance.chains or () for path in paths if len(path) >= LINKED and path[-2] in paragraphs):
        paragraph = paragraphs[path[-2]]
        spelled = (paragraph.text[m.start : m.end] for m in placed(paragraph) if m.entity == path[-3])
        yield from (Entity(name, path[-3]) for name in spelled)


@dataclass(frozen=True, slots=True)
class Pool:
    """The names of a set, by kind."""

    kinds: dict[Kind, list[Entity]]
    first_names: frozenset[str]
    _stated: dict[str, Stated | None] = field(default_factory=dict, repr=False, compare=False)
    """Of the names that were drawn; no more than twice as many as there are in ``kinds``."""

    def resolved_kinds(self, kinds: Sequence[Kind], name: str) -> list[Kind]:
        """The kinds, where a name that "who" asks for is a person's if its first word is the first name of one in the set."""
        if WHO not in kinds:
            return list(kinds)
        return [(PERSON, "who"), (PERSON,)] if first_name(name) in self.first_names else []

    def draw(self, kinds: Iterable[Kind], like: str, *, purpose: str, seed: int, id: str) -> Iterator[Named]:  # noqa: A002 - as in drawing
        """Names of the first of the kinds, then of the wider ones, each from a random place on.

        What stands after a comma, as in "Saint Paul, Minnesota", is left out where the name that it is ``like`` has none.
        """
        start, cache, is_short = draw(purpose=purpose, seed=seed, id=id), self._stated, "," not in like
        for kind in kinds:
            names = self.kinds.get(kind, [])
            for step in range(min(len(names), TRIES)):
                entity = names[(start + step) % len(names)]
                if is_short and "," in entity.name:
                    entity = Entity(entity.name.partition(",")[0], entity.id)
                if entity.name not in cache:
                    cache[entity.name] = stated(entity.name)
                yield entity, cache[entity.name]
