"""MuSiQue-Full's unanswerable twins: the same question with a context in which one of its steps has no answer (step S8).

One step is drawn; every paragraph that states its answer goes, and others of the set take their places. The paper builds such a context
anew; here it differs from the answerable twin's only where it must.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kgqa.arrays.draws import sample
from kgqa.formats.faults import without_faults_of_answerable
from kgqa.formats.musique import NAME as OFFICIAL, TWIN
from kgqa.formats.provenance import noted
from kgqa.recipes.contrasts.instances import showing
from kgqa.recipes.contrasts.pool import Pool
from kgqa.recipes.contrasts.questions import step_elsewhere, whole, without_answer
from kgqa.recipes.names.statements import Stated, names, paragraph_states, stating_places
from kgqa.recipes.rejection import Rejection
from kgqa.records import Instance, Paragraph, Step

NAME = "unanswerable"
"""Under this name the twin's provenance says which ``step`` has no answer, its ``answer``, and the ids of the paragraphs that were
``removed`` and ``added``, pair by pair."""
_NO_NAMES: Mapping[str, Sequence[str]] = MappingProxyType({})
_encode = json.JSONEncoder(ensure_ascii=False).encode
BY_PARAGRAPH = ("paragraphs", "corpus", "scores")
"""What formats call that which they note by paragraph id."""
REASONS = {
    "undecomposed": "the question has no decomposition whose steps have answers; kgqa can only remove a step's answer where it is known",
    "absent": "a step names a paragraph that is not there, so that the question may not be answerable as it is",
    "unstated": "no paragraph states the answer of a step, so that removing it changes nothing",
    "pool": "the set has too few other paragraphs that do not state the answer of a step",
}


def unanswerable(
    instance: Instance, *, pool: Pool, seed: int, called: Mapping[str, Sequence[str]] = _NO_NAMES
) -> list[Instance] | Rejection:
    """The question as it is, and its twin ``<id>#unanswerable`` in the same group. SettingsError where it is a part of a question only.

    ``called``: step's id → further names of its answer, where a graph knows some; what states one of them goes too.
    The twin's marks of what supports the answer stay on the paragraphs that stay; they are no label, as nothing there is to be found.
    """
    provenance = whole(instance)
    rejection = without_answer(instance)
    if rejection:
        return rejection
    absent = step_elsewhere(instance)
    if absent is not None:
        return Rejection(reason=REASONS["absent"], detail=f"step {absent.id}, paragraph {absent.paragraph_id}")
    steps = [step for step in instance.decomposition or () if step.answer]
    drawn = sample(steps, len(steps), purpose="unanswerable", seed=seed, id=instance.id)
    if not any(_wanted(instance, step, called) for step in drawn):
        return Rejection(reason=REASONS["undecomposed"], detail=f"{len(instance.decomposition or ())} steps")
    stated = False
    for step in drawn:
        wanted = _wanted(instance, step, called)
        entity = instance.answer_id if step.answer in instance.answers else None
        places = stating_places(instance.paragraphs, wanted, entity)
        stated = stated or bool(places)
        new = _replacements(instance, pool, wanted, entity, len(places), seed) if places else []
        if places and len(new) == len(places):
            paragraphs = _exchanged(instance, dict(zip(places, new, strict=True)))
            return [instance, _twin(instance, step, paragraphs, places, provenance)]
    return Rejection(reason=REASONS["pool" if stated else "unstated"], detail=", ".join(step.answer or "" for step in steps))


def _wanted(instance: Instance, step: Step, called: Mapping[str, Sequence[str]]) -> tuple[Stated, ...]:
    return names((*_answers(instance, step), *called.get(step.id, ())))


def _answers(instance: Instance, step: Step) -> tuple[str, ...]:
    """A step's answer; with the aliases, which sources give for the whole question only, where it is the question's."""
    return instance.answers if step.answer in instance.answers else (step.answer or "",)


def _replacements(instance: Instance, pool: Pool, wanted: tuple[Stated, ...], entity: str | None, count: int, seed: int) -> list[Paragraph]:
    shown = [paragraph.text for paragraph in instance.paragraphs]
    return pool.suitable(instance.question, count, stated=wanted, entity=entity, shown=shown, seed=seed, id=instance.id)


def _exchanged(instance: Instance, new: dict[int, Paragraph]) -> tuple[Paragraph, ...]:
    """The paragraphs with others at some places; an id that is a position stays one, any other moves with its paragraph."""
    taken = {paragraph.id for place, paragraph in enumerate(instance.paragraphs) if place not in new}
    paragraphs = list(instance.paragraphs)
    for place, paragraph in new.items():
        name = str(place) if paragraphs[place].id == str(place) else paragraph.id
        while name in taken:
            name += "#other"
        taken.add(name)
        paragraphs[place] = _distractor(paragraph, name)
    return tuple(paragraphs)


def _distractor(paragraph: Paragraph, id: str) -> Paragraph:  # noqa: A002 - what it is called
    return Paragraph(
        id=id,
        title=paragraph.title,
        text=paragraph.text,
        supporting=None if paragraph.supporting is None else False,
        mentions=paragraph.mentions,
        sentences=paragraph.sentences,
        supporting_sentences=None if paragraph.supporting_sentences is None else (),
    )


def _twin(instance: Instance, step: Step, paragraphs: tuple[Paragraph, ...], places: list[int], provenance: Mapping[str, Any]) -> Instance:
    removed = [instance.paragraphs[place].id for place in places]
    note = {"step": step.id, "answer": step.answer, "removed": removed, "added": [paragraphs[place].id for place in places]}
    noted_before = without_faults_of_answerable(provenance)
    # Official files have the answer that an unanswerable question would have, and their evaluation reads it.
    known = noted_before.get(OFFICIAL)
    official = (known if isinstance(known, dict) else {}) | {"answer": instance.answers[0], "answer_aliases": list(instance.answers[1:])}
    return showing(
        instance,
        paragraphs,
        gone=removed,
        id=instance.id + TWIN,
        answers=(),
        alternatives=None,
        answer_id=None,
        answer_type="none",
        answerable=False,
        provenance=_encode({**_without({**noted_before, OFFICIAL: official}, removed), NAME: note}),
    )


def _without(provenance: Mapping[str, Any], removed: Collection[str]) -> dict[str, Any]:
    """What was noted, but nothing of paragraphs that were removed: others may have their ids now."""
    return {name: _less(note, removed) if isinstance(note, dict) else note for name, note in provenance.items()}


def _less(note: dict[str, Any], removed: Collection[str]) -> dict[str, Any]:
    said = {field: note[field] for field in BY_PARAGRAPH if isinstance(note.get(field), dict)}
    return note | {field: {id: value for id, value in values.items() if id not in removed} for field, values in said.items()}  # noqa: A001


def unanswerable_broken(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """What is broken of: the question as it was, and a twin with as many paragraphs, new ones different, none with the step's answer."""
    kept, twin = group
    note = noted(twin, NAME)
    step = next(step for step in original.decomposition or () if (step.id, step.answer) == (note["step"], note["answer"]))
    entity = original.answer_id if step.answer in original.answers else None
    if kept != original:
        yield "the answerable twin has changed"
    if twin.answerable or twin.answers or twin.answer_type != "none" or (twin.id, twin.group) != (original.id + TWIN, original.group):
        yield "the twin carries an answer, or is not in its question's group"
    if any(paragraph_states(paragraph, names(_answers(original, step)), entity) for paragraph in twin.paragraphs):
        yield "a paragraph of the twin states the answer of the step"
    if len(twin.paragraphs) != len(original.paragraphs):
        yield "the twin's context is longer or shorter"
    texts = [new.text for old, new in zip(original.paragraphs, twin.paragraphs, strict=False) if old != new]
    if (
        len(texts) != len(set(texts))
        or {paragraph.text for paragraph in original.paragraphs} & set(texts)
        or len(texts) != len(note["removed"])
    ):
        yield "a new paragraph was there already, or more paragraphs than noted are new"
    if len({paragraph.id for paragraph in twin.paragraphs}) != len(twin.paragraphs):
        yield "two paragraphs of the twin have the same id"
