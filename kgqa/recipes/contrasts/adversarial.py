"""T_adv(D): distractors that answer the question's last hop with something else (AddDoc of Jiang and Bansal 2019, section 2.2).

A supporting paragraph that states the answer is copied with a false answer and with another bridge entity, so that nothing connects the
copy with the rest of the chain: who only looks for the right kind of answer finds several. The copies take the places of distractors, so
the context stays as long as it was. The paper replaces single words by neighbours in an embedding; here names come from the same set, and
are of the same kind as what they replace.
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
from kgqa.recipes.contrasts.questions import UNMARKED, whole, without_answer
from kgqa.recipes.contrasts.substitution import Name, Template, person
from kgqa.recipes.names.english import are_english
from kgqa.recipes.names.entities import Entity, Named, Pool
from kgqa.recipes.names.kinds import PERSON, Kind, answer_kinds, title_kinds
from kgqa.recipes.names.statements import Stated, Text, names, shown, stated, states, title_and_text
from kgqa.records import Instance, Paragraph
from kgqa.runs.funnel import Rejection

_encode = json.JSONEncoder(ensure_ascii=False).encode
TRANSFORM = "adversarial"
COPIES = 4
"""As in the authors' own data (``--num_new_doc=4``), but at most half of the distractors are replaced, or the only one."""
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
    """What is known before a name is drawn."""

    link: Link
    supporting: list[Supporting]
    bridges: list[Kind]
    """The kinds of what may take the bridge's place."""
    answers: list[Kind]
    """The kinds of what may take the answer's place; none where the candidates do."""


def adversarial(instance: Instance, *, pool: Pool, seed: int) -> list[Instance] | Rejection:
    """The question with up to ``COPIES`` false paragraphs; its id, answers and support are what they were. SettingsError as ``whole``."""
    noted = whole(instance, once=TRANSFORM)
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
    note = note_of(instance, TRANSFORM, level="paragraph", noted=noted)
    note |= {"bipartition": None, "sub_idx": 0, "sufficiency": None}
    gone = note["removed"] = [instance.paragraphs[place].id for place in places[: len(copies)]]
    target, old = plan.link.target.id, plan.link.bridge[0]
    note["added"] = [{"id": new.id, "copy_of": target, "answer": answer, "bridge": [old, bridge]} for new, answer, bridge in copies]
    return [showing(instance, tuple(paragraphs), gone=gone, provenance=_encode({**noted, NAME: note}))]


def _plan(instance: Instance, pool: Pool) -> Plan | Rejection:
    """By the first link of which it is known of what kind the bridge is and of what kind the answer."""
    if not instance.paragraphs or any(paragraph.supporting is None for paragraph in instance.paragraphs):
        return Rejection(reason=UNMARKED, detail="paragraphs" if instance.paragraphs else "no paragraphs")
    if all(paragraph.supporting for paragraph in instance.paragraphs):
        return Rejection(reason=OWN_REASONS["no distractor"], detail=f"{len(instance.paragraphs)} paragraphs, all supporting")
    wanted, answer = names(instance.answers), instance.answers[0]
    supporting = [Supporting(paragraph, shown(paragraph)) for paragraph in instance.paragraphs if paragraph.supporting]
    stating = [entry for entry in supporting if entry.text.states(wanted) or spellings([entry.paragraph], instance.answer_id)]
    if not stating:
        return Rejection(reason=OWN_REASONS["not stated"], detail=answer)
    about = [entry.paragraph for entry in supporting]
    asked = [] if instance.candidates is not None else pool.told(answer_kinds(_last_question(instance), answer, about), answer)
    bridges = []
    for link in links(instance, supporting, stating, wanted):
        kinds = pool.told(link.kinds, link.bridge[0])
        if (kinds or PLACEHOLDER in link.bridge[0]) and (asked or link.is_answer or instance.candidates is not None):
            return Plan(link, supporting, kinds, kinds if link.is_answer else asked)
        bridges.append(link.bridge[0])
    if bridges:
        is_read = are_english([instance.question, *(entry.paragraph.text for entry in supporting)])
        return Rejection(reason=OWN_REASONS["no kind" if is_read else "language"], detail=f"{answer}; {', '.join(dict.fromkeys(bridges))}")
    return Rejection(reason=OWN_REASONS["no bridge"], detail=", ".join(entry.paragraph.id for entry in stating))


def _last_question(instance: Instance) -> str:
    """What is asked at last: of a decomposition the step that has the answer, whose words are plainer than the whole question's."""
    steps = (step.question for step in reversed(instance.decomposition or ()) if step.answer in instance.answers)
    return next(steps, instance.question)


def _copies(instance: Instance, plan: Plan, pool: Pool, seed: int, *, count: int) -> list[Copy] | Rejection:
    """At most ``count``, each with its own false answer; those that say what they must not are left out."""
    link, supporting = plan.link, [entry.paragraph for entry in plan.supporting]
    right = with_short([*instance.answers, *spellings(supporting, instance.answer_id)])
    old = with_short([*link.bridge, *spellings(supporting, link.entity)])
    known = Text("\n".join([instance.question, *map(title_and_text, supporting)]))
    search = _Search(pool, seed, instance.id, names([*right, *old]), frozenset({instance.answer_id, link.entity}), known)
    is_listed, is_masked = instance.candidates is not None, PLACEHOLDER in link.bridge[0]
    answers = search.new(_candidates(instance, "answer", seed) if is_listed else search.drawn(plan.answers, right[0], "answer"), count)
    drawn = _candidates(instance, "bridge", seed) if is_masked else search.drawn(plan.bridges, old[0], "bridge")
    bridges = answers if link.is_answer else search.new(drawn, count, besides=answers)
    detail = f"{instance.answers[0]}; {link.bridge[0]}"
    if not answers or not bridges:
        return Rejection(reason=OWN_REASONS["no entity"], detail=detail)
    replaced = [_named(plan.bridges, old, link.entity), _named(plan.answers, right, instance.answer_id)]
    others: list[Entity] = []
    if (title := _other_title(link, search)) is not None:
        kinds = title_kinds(title, link.target.text)
        others = search.new(search.drawn(kinds, title, "title"), count, besides=[*answers, *bridges])
        if not others:
            return Rejection(reason=OWN_REASONS["title"], detail=title)
        replaced.append(_named(kinds, with_short(titles(title))))
    template = Template(link.target, replaced)
    if not template.has(0 if link.is_answer else 1):
        return Rejection(reason=OWN_REASONS["left"], detail=detail)
    copies = []
    for number, answer in enumerate(answers):
        bridge = bridges[number % len(bridges)]
        new = [bridge, answer, *[others[number % len(others)] for _ in others[:1]]]
        paragraph = template.filled(new, id=f"{link.target.id}#{TRANSFORM}-{number + 1}")
        said = shown(paragraph)
        if said.states(names([answer.name])) and not said.states(search.forbidden):
            copies.append(Copy(paragraph, answer.name, bridge.name))
    return copies or Rejection(reason=OWN_REASONS["left"], detail=detail)


def _named(kinds: list[Kind], spelled: tuple[str, ...], entity: str | None = None) -> Name:
    """Only a person has a last name that stands alone: the last word of Bangalore University is the word for any."""
    return person(spelled, entity) if (PERSON,) in kinds else Name(spelled, entity=entity)


def _other_title(link: Link, search: _Search) -> str | None:
    """The target's title, if it is a name and neither the answer nor the bridge: two paragraphs with one title would be one for scorers."""
    title = link.target.title
    known = title is None or title in link.bridge or title.endswith(".") or states(title, search.forbidden)
    return None if known else title


def _candidates(instance: Instance, purpose: str, seed: int) -> Iterator[Named]:
    """The other candidates, which are of the answer's kind; a masked bridge is one too, and no mask of another question means anything."""
    wrong = [candidate for candidate in instance.candidates or () if candidate.id != instance.answer_id]
    for candidate in sample(wrong, len(wrong), purpose=purpose, seed=seed, id=instance.id):
        yield Entity(candidate.text, candidate.id), stated(candidate.text)


@dataclass(frozen=True, slots=True)
class _Search:
    """Finds names that a question does not know."""

    pool: Pool
    seed: int
    id: str
    forbidden: tuple[Stated, ...]
    entities: frozenset[str | None]
    """Ids that are not new."""
    known: Text
    """The question and its supporting paragraphs."""

    def drawn(self, kinds: list[Kind], like: str, purpose: str) -> Iterator[Named]:
        """Names of these kinds, like a name that they stand for, drawn for ``purpose``."""
        return self.pool.draw(kinds, like, purpose=purpose, seed=self.seed, id=self.id)

    def new(self, entities: Iterable[Named], count: int, *, besides: Iterable[Entity] = ()) -> list[Entity]:
        """The first ``count`` that neither contain what is forbidden nor are shown already, each name once and not ``besides``."""
        seen, found = {entity.name for entity in besides}, list[Entity]()
        for entity, name in entities:
            if name is None or entity.name in seen or (entity.id is not None and entity.id in self.entities):
                continue
            if name.states(self.forbidden) or self.known.states((name,)):
                continue
            seen.add(entity.name)
            found.append(entity)
            if len(found) == count:
                break
        return found
