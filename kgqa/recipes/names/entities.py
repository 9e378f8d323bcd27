"""Answers and names of a dataset by kind, to draw false answers from.

``kinds.py`` finds the kind of a name. Where no title names an entity of a graph, its chains give the kind: entities before the answers of
one relation are of one kind if their ids look alike (``DB00682`` and ``DB00945``), as the graph's schema makes them.
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
"""Sample sizes of a dataset's titles (with their first sentences) and of its answers. Memory: some 500 bytes for each."""
PER_KIND = 2000
"""Maximum number of names of one kind."""
LINKED = 5
"""Length of the shortest chain with something between subject and answer, in entities and documents."""
TRIES = 200
"""Maximum number of names of one kind that are tried for a question."""
_NUMBERED = re.compile(r"(\D*)\d+")


@dataclass(frozen=True, slots=True)
class Entity:
    """A name, and the id of its entity where the dataset gives one."""

    name: str
    id: str | None = None


Named = tuple[Entity, Stated | None]
"""An entity, and the pattern that finds its name in a text."""


def about(paragraph: Paragraph) -> Entity | None:
    """The entity in a paragraph's title, with its id where a mention in the text has the same words."""
    if not paragraph.title:
        return None
    name = split_title(paragraph.title)[0]
    spelled = name.lower()
    ids = (m.entity for m in placed(paragraph) if m.end - m.start == len(name) and paragraph.text[m.start : m.end].lower() == spelled)
    return Entity(name, next(ids, None))


def entity_kinds(instance: Instance, entity: str) -> list[Kind]:
    """The kinds of a graph's entity, from the title that names it; from its place in the chains only where no title has an id."""
    titles = {titled.id: paragraph for paragraph in instance.paragraphs if (titled := about(paragraph)) and titled.id is not None}
    if entity in titles:
        return title_kinds(titles[entity].title or "", titles[entity].text)
    return [] if titles else chain_kinds(instance, entity)


def chain_kinds(instance: Instance, entity: str) -> list[Kind]:
    """The kind of the entity before the answer in a chain: the relation of the question, and the form of the id."""
    numbered = _NUMBERED.fullmatch(entity)
    return [("before the answer", instance.question.partition(" ")[0], f"{numbered[1]}0" if numbered else "")]


class Collector:
    """Collects the names of all questions of a dataset, in any order."""

    def __init__(self, *, seed: int) -> None:
        """Start with empty samples."""
        self._pages = Reservoir[tuple[str, str, Entity]](PAGES, purpose="titles", seed=seed, order=lambda page: (page[2].id or "",))
        self._answers = Reservoir[tuple[Sequence[Kind], Entity]](ANSWERS, purpose="answers", seed=seed)

    def see(self, instance: Instance) -> None:
        """Collect the names of one question."""
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
        if kinds and PLACEHOLDER not in entity.name:  # a mask has a meaning in its own question only
            self._answers.add(f"{kinds}\0{entity.id}\0{entity.name}", (kinds, entity))

    def pool(self) -> Pool:
        """The pool of all names; the first names of a kind are a sample, because reservoirs return theirs in random order."""
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
    """The entities before the answers in the chains, as the last document spells them."""
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
    """Cache of the drawn names' patterns; at most twice as many as the names in ``kinds``."""

    def resolved_kinds(self, kinds: Sequence[Kind], name: str) -> list[Kind]:
        """``kinds``; for an answer to "who", a person's kinds if its first word is a known first name, else none."""
        if WHO not in kinds:
            return list(kinds)
        return [(PERSON, "who"), (PERSON,)] if first_name(name) in self.first_names else []

    def draw(self, kinds: Iterable[Kind], like: str, *, purpose: str, seed: int, id: str) -> Iterator[Named]:  # noqa: A002 - as in drawing
        """Names of the first kind, then of the wider ones, each list from a random position on.

        A part after a comma, as in "Saint Paul, Minnesota", is dropped if ``like`` has no comma.
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
