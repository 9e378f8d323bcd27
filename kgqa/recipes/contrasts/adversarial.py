"""T_adv(D): distractors that answer the question's last hop with something else (AddDoc of Jiang and Bansal 2019, section 2.2).

A supporting paragraph that states the answer is copied with a false answer and another bridge entity, so that nothing connects the copy
with the rest of the chain. A reader that only looks for the right kind of answer then finds several. The copies replace distractors, so the
context keeps its length. The paper replaces single words by neighbours in an embedding; here, replacements are names of the same kind from
the same set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kgqa.arrays.draws import sample
from kgqa.formats.qangaroo import PLACEHOLDER
from kgqa.recipes.contrasts.facts import NAME
from kgqa.recipes.contrasts.instances import note_of, showing
from kgqa.recipes.contrasts.links import Link, Supporting, links, spellings, titles, with_short
from kgqa.recipes.contrasts.questions import whole, without_answer, without_marks
from kgqa.recipes.contrasts.substitution import Name, Template, person
from kgqa.recipes.names.english import are_english
from kgqa.recipes.names.entities import Entity, Named, Pool
from kgqa.recipes.names.kinds import PERSON, Kind, answer_kinds, title_kinds
from kgqa.recipes.names.statements import Stated, Text, names, stated, states, text_of, title_and_text
from kgqa.records import Instance, Paragraph
from kgqa.runs.funnel import Rejection

_encode = json.JSONEncoder(ensure_ascii=False).encode
TRANSFORM = "adversarial"
COPIES = 4
"""As in the authors' own data (``--num_new_doc=4``); at most half of the distractors are replaced, but at least one."""
OWN_REASONS = {
    "not stated": "no supporting paragraph states the answer",
    "no bridge": "no bridge entity connects the paragraph that states the answer with another supporting one",
    "no distractor": "there is no distractor whose place a new paragraph could take",
    "no kind": "nothing tells what kind of thing the answer or the bridge entity is, so that no other of its kind can be found",
    "language": "the texts are not English: adversarial tells by English words what kind of thing the answer and the bridge entity are, "
    "so that it cannot be made in another language unless the question has candidates",
    "no entity": "the set has no other entity of the same kind",
    "title": "the paragraph that states the answer is about a third thing, of which the set has no other of the same kind",
    "left": "the copy still states the answer or the bridge entity in another spelling, or has no place for the false answer",
}


class Copy(NamedTuple):
    """An adversarial paragraph with its false answer."""

    paragraph: Paragraph
    answer: str
    bridge: str


class Plan(NamedTuple):
    """The parts of a question to replace, and the kinds of their replacements."""

    link: Link
    supporting: list[Supporting]
    bridges: list[Kind]
    """Kinds of entities that may replace the bridge."""
    answers: list[Kind]
    """Kinds of entities that may replace the answer; empty if the question has candidates."""


def adversarial(instance: Instance, *, pool: Pool, seed: int) -> list[Instance] | Rejection:
    """The question with up to ``COPIES`` false paragraphs and the same id, answers and support. Raises SettingsError as ``whole`` does."""
    notes = whole(instance, once=TRANSFORM)
    plan = without_answer(instance) or _plan(instance, pool)
    if isinstance(plan, Rejection):
        return plan
    distractors = [place for place, paragraph in enumerate(instance.paragraphs) if not paragraph.supporting]
    places = sample(distractors, min(COPIES, max(1, len(distractors) // 2)), purpose="adversarial", seed=seed, id=instance.id)
    copies = _copies(instance, plan, pool, seed, count=len(places))
    if isinstance(copies, Rejection):
        return copies
    paragraphs = list(instance.paragraphs)
    for place, copy in zip(places, copies, strict=False):
        paragraphs[place] = copy.paragraph
    note = note_of(instance, TRANSFORM, level="paragraph", notes=notes)
    note |= {"bipartition": None, "sub_idx": 0, "sufficiency": None}
    removed_ids = note["removed"] = [instance.paragraphs[place].id for place in places[: len(copies)]]
    target, old_bridge = plan.link.target.id, plan.link.bridge[0]
    note["added"] = [{"id": new.id, "copy_of": target, "answer": answer, "bridge": [old_bridge, bridge]} for new, answer, bridge in copies]
    return [showing(instance, tuple(paragraphs), removed_facts=removed_ids, provenance=_encode({**notes, NAME: note}))]


def _plan(instance: Instance, pool: Pool) -> Plan | Rejection:
    """The plan for the first link whose bridge and answer have known kinds."""
    rejection = without_marks(instance)
    if rejection is not None:
        return rejection
    if all(paragraph.supporting for paragraph in instance.paragraphs):
        return Rejection(reason=OWN_REASONS["no distractor"], detail=f"{len(instance.paragraphs)} paragraphs, all supporting")
    answer_names, answer = names(instance.answers), instance.answers[0]
    support = [Supporting(paragraph, text_of(paragraph)) for paragraph in instance.paragraphs if paragraph.supporting]
    answer_support = [entry for entry in support if entry.text.states(answer_names) or spellings([entry.paragraph], instance.answer_id)]
    if not answer_support:
        return Rejection(reason=OWN_REASONS["not stated"], detail=answer)
    paragraphs = [entry.paragraph for entry in support]
    answer_kinds_in_pool = (
        [] if instance.candidates is not None else pool.resolved_kinds(answer_kinds(_last_question(instance), answer, paragraphs), answer)
    )
    bridges = []
    for link in links(instance, support, answer_support, answer_names):
        kinds = pool.resolved_kinds(link.kinds, link.bridge[0])
        if (kinds or PLACEHOLDER in link.bridge[0]) and (answer_kinds_in_pool or link.is_answer or instance.candidates is not None):
            return Plan(link, support, kinds, kinds if link.is_answer else answer_kinds_in_pool)
        bridges.append(link.bridge[0])
    if bridges:
        is_read = are_english([instance.question, *(entry.paragraph.text for entry in support)])
        return Rejection(reason=OWN_REASONS["no kind" if is_read else "language"], detail=f"{answer}; {', '.join(dict.fromkeys(bridges))}")
    return Rejection(reason=OWN_REASONS["no bridge"], detail=", ".join(entry.paragraph.id for entry in answer_support))


def _last_question(instance: Instance) -> str:
    """The question of the step that gives the answer, whose words are plainer than the whole question's; else the question itself."""
    steps = (step.question for step in reversed(instance.decomposition or ()) if step.answer in instance.answers)
    return next(steps, instance.question)


def _copies(instance: Instance, plan: Plan, pool: Pool, seed: int, *, count: int) -> list[Copy] | Rejection:
    """At most ``count`` copies, each with its own false answer; copies that still state the right answer or the bridge are left out."""
    link, support = plan.link, [entry.paragraph for entry in plan.supporting]
    answer_spellings = with_short([*instance.answers, *spellings(support, instance.answer_id)])
    bridge_spellings = with_short([*link.bridge, *spellings(support, link.entity)])
    question_text = Text("\n".join([instance.question, *map(title_and_text, support)]))
    search = _Search(
        pool, seed, instance.id, names([*answer_spellings, *bridge_spellings]), frozenset({instance.answer_id, link.entity}), question_text
    )
    is_listed, is_masked = instance.candidates is not None, PLACEHOLDER in link.bridge[0]
    answers = search.new(
        _candidates(instance, "answer", seed) if is_listed else search.draw(plan.answers, answer_spellings[0], "answer"), count
    )
    bridge_candidates = _candidates(instance, "bridge", seed) if is_masked else search.draw(plan.bridges, bridge_spellings[0], "bridge")
    bridges = answers if link.is_answer else search.new(bridge_candidates, count, besides=answers)
    detail = f"{instance.answers[0]}; {link.bridge[0]}"
    if not answers or not bridges:
        return Rejection(reason=OWN_REASONS["no entity"], detail=detail)
    names_to_replace = [
        _name_to_replace(plan.bridges, bridge_spellings, link.entity),
        _name_to_replace(plan.answers, answer_spellings, instance.answer_id),
    ]
    title_entities: list[Entity] = []
    if (title := _other_title(link, search)) is not None:
        kinds = title_kinds(title, link.target.text)
        title_entities = search.new(search.draw(kinds, title, "title"), count, besides=[*answers, *bridges])
        if not title_entities:
            return Rejection(reason=OWN_REASONS["title"], detail=title)
        names_to_replace.append(_name_to_replace(kinds, with_short(titles(title))))
    template = Template(link.target, names_to_replace)
    if not template.has(0 if link.is_answer else 1):
        return Rejection(reason=OWN_REASONS["left"], detail=detail)
    copies = []
    for number, answer in enumerate(answers):
        bridge = bridges[number % len(bridges)]
        new_entities = [bridge, answer, *[title_entities[number % len(title_entities)] for _ in title_entities[:1]]]
        paragraph = template.filled(new_entities, id=f"{link.target.id}#{TRANSFORM}-{number + 1}")
        text = text_of(paragraph)
        if text.states(names([answer.name])) and not text.states(search.forbidden):
            copies.append(Copy(paragraph, answer.name, bridge.name))
    return copies or Rejection(reason=OWN_REASONS["left"], detail=detail)


def _name_to_replace(kinds: list[Kind], spellings_of_name: tuple[str, ...], entity: str | None = None) -> Name:
    """The name to replace. Only a person's last name is replaced alone: the last word of Bangalore University means any university."""
    return person(spellings_of_name, entity) if (PERSON,) in kinds else Name(spellings_of_name, entity=entity)


def _other_title(link: Link, search: _Search) -> str | None:
    """The target's title, if it names neither answer nor bridge. Scorers would take two paragraphs with one title for the same."""
    title = link.target.title
    is_unsuitable = title is None or title in link.bridge or title.endswith(".") or states(title, search.forbidden)
    return None if is_unsuitable else title


def _candidates(instance: Instance, purpose: str, seed: int) -> Iterator[Named]:
    """The wrong candidates, in random order. They have the answer's kind, and masks of other questions mean nothing here."""
    distractors = [candidate for candidate in instance.candidates or () if candidate.id != instance.answer_id]
    for candidate in sample(distractors, len(distractors), purpose=purpose, seed=seed, id=instance.id):
        yield Entity(candidate.text, candidate.id), stated(candidate.text)


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for names that do not occur in a question."""

    pool: Pool
    seed: int
    id: str
    forbidden: tuple[Stated, ...]
    entities: frozenset[str | None]
    """Ids of the answer and the bridge."""
    known: Text
    """The question and its supporting paragraphs."""

    def draw(self, kinds: list[Kind], like: str, purpose: str) -> Iterator[Named]:
        """Names of these kinds, similar to the name ``like`` that they replace, in random order for this ``purpose``."""
        return self.pool.draw(kinds, like, purpose=purpose, seed=self.seed, id=self.id)

    def new(self, entities: Iterable[Named], count: int, *, besides: Iterable[Entity] = ()) -> list[Entity]:
        """The first ``count`` distinct names that contain nothing forbidden, are not shown yet, and are not among ``besides``."""
        names_so_far, result = {entity.name for entity in besides}, list[Entity]()
        for entity, name in entities:
            if name is None or entity.name in names_so_far or (entity.id is not None and entity.id in self.entities):
                continue
            if name.states(self.forbidden) or self.known.states((name,)):
                continue
            names_so_far.add(entity.name)
            result.append(entity)
            if len(result) == count:
                break
        return result
