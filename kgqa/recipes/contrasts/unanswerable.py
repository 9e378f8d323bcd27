"""MuSiQue-Full's unanswerable twins: the same question with a context in which one of its steps has no answer (step S8).

One random step loses its answer: every paragraph that states it is replaced by another paragraph of the set. The paper builds a new
context; here it differs from the answerable twin's only where necessary.
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
from kgqa.records import Instance, Paragraph, Step
from kgqa.runs.funnel import Rejection

NAME = "unanswerable"
"""The name of the twin's note: the ``step`` without an answer, its ``answer``, and the ids of ``removed`` and ``added`` paragraphs, pair by
pair."""
_NO_NAMES: Mapping[str, Sequence[str]] = MappingProxyType({})
_encode = json.JSONEncoder(ensure_ascii=False).encode
BY_PARAGRAPH = ("paragraphs", "corpus", "scores")
"""Fields of formats' notes that have values by paragraph id."""
REASONS = {
    "undecomposed": "the question has no decomposition whose steps have answers; kgqa can only remove a step's answer where it is known",
    "absent": "a step names a paragraph that is not there, so that the question may not be answerable as it is",
    "unstated": "no paragraph states the answer of a step, so that removing it changes nothing",
    "pool": "the set has too few other paragraphs that do not state the answer of a step",
}


def unanswerable(
    instance: Instance, *, pool: Pool, seed: int, further_names: Mapping[str, Sequence[str]] = _NO_NAMES
) -> list[Instance] | Rejection:
    """The question, and its twin ``<id>#unanswerable`` in the same group. Raises SettingsError for a part of a question.

    ``further_names``: step id → further names of its answer in a graph; paragraphs that state one of them are replaced too. The twin keeps
    the supporting marks of its remaining paragraphs; they are not labels, since it has no answer.
    """
    provenance = whole(instance)
    rejection = without_answer(instance)
    if rejection:
        return rejection
    missing_step = step_elsewhere(instance)
    if missing_step is not None:
        return Rejection(reason=REASONS["absent"], detail=f"step {missing_step.id}, paragraph {missing_step.paragraph_id}")
    steps = [step for step in instance.decomposition or () if step.answer]
    random_steps = sample(steps, len(steps), purpose="unanswerable", seed=seed, id=instance.id)
    if not any(_names_of_answer(instance, step, further_names) for step in random_steps):
        return Rejection(reason=REASONS["undecomposed"], detail=f"{len(instance.decomposition or ())} steps")
    is_stated = False
    for step in random_steps:
        names_of_answer = _names_of_answer(instance, step, further_names)
        entity = instance.answer_id if step.answer in instance.answers else None
        places = stating_places(instance.paragraphs, names_of_answer, entity)
        is_stated = is_stated or bool(places)
        replacements = _replacements(instance, pool, names_of_answer, entity, len(places), seed) if places else []
        if places and len(replacements) == len(places):
            paragraphs = _exchange(instance, dict(zip(places, replacements, strict=True)))
            return [instance, _twin(instance, step, paragraphs, places, provenance)]
    return Rejection(reason=REASONS["pool" if is_stated else "unstated"], detail=", ".join(step.answer or "" for step in steps))


def _names_of_answer(instance: Instance, step: Step, further_names: Mapping[str, Sequence[str]]) -> tuple[Stated, ...]:
    return names((*_answers(instance, step), *further_names.get(step.id, ())))


def _answers(instance: Instance, step: Step) -> tuple[str, ...]:
    """A step's answer; if it is the question's answer, all aliases, which sources give for the whole question only."""
    return instance.answers if step.answer in instance.answers else (step.answer or "",)


def _replacements(
    instance: Instance, pool: Pool, names_of_answer: tuple[Stated, ...], entity: str | None, count: int, seed: int
) -> list[Paragraph]:
    texts = [paragraph.text for paragraph in instance.paragraphs]
    return pool.suitable(instance.question, count, forbidden=names_of_answer, entity=entity, shown=texts, seed=seed, id=instance.id)


def _exchange(instance: Instance, replacements: dict[int, Paragraph]) -> tuple[Paragraph, ...]:
    """The paragraphs with ``replacements`` at some places. An id that is a position stays one; any other moves with its paragraph."""
    ids = {paragraph.id for place, paragraph in enumerate(instance.paragraphs) if place not in replacements}
    paragraphs = list(instance.paragraphs)
    for place, paragraph in replacements.items():
        name = str(place) if paragraphs[place].id == str(place) else paragraph.id
        while name in ids:
            name += "#other"
        ids.add(name)
        paragraphs[place] = _distractor(paragraph, name)
    return tuple(paragraphs)


def _distractor(paragraph: Paragraph, name: str) -> Paragraph:
    return Paragraph(
        id=name,
        title=paragraph.title,
        text=paragraph.text,
        supporting=None if paragraph.supporting is None else False,
        mentions=paragraph.mentions,
        sentences=paragraph.sentences,
        supporting_sentences=None if paragraph.supporting_sentences is None else (),
    )


def _twin(instance: Instance, step: Step, paragraphs: tuple[Paragraph, ...], places: list[int], provenance: Mapping[str, Any]) -> Instance:
    removed_ids = [instance.paragraphs[place].id for place in places]
    note = {"step": step.id, "answer": step.answer, "removed": removed_ids, "added": [paragraphs[place].id for place in places]}
    noted_before = without_faults_of_answerable(provenance)
    # Official files have the answer that an unanswerable question would have, and their evaluation reads it.
    official_note = noted_before.get(OFFICIAL)
    official = (official_note if isinstance(official_note, dict) else {}) | {
        "answer": instance.answers[0],
        "answer_aliases": list(instance.answers[1:]),
    }
    return showing(
        instance,
        paragraphs,
        removed_facts=removed_ids,
        id=instance.id + TWIN,
        answers=(),
        alternatives=None,
        answer_id=None,
        answer_type="none",
        answerable=False,
        provenance=_encode({**_without({**noted_before, OFFICIAL: official}, removed_ids), NAME: note}),
    )


def _without(provenance: Mapping[str, Any], removed_ids: Collection[str]) -> dict[str, Any]:
    """All notes without the values of removed paragraphs, whose ids other paragraphs may have now."""
    return {name: _note_without(note, removed_ids) if isinstance(note, dict) else note for name, note in provenance.items()}


def _note_without(note: dict[str, Any], removed_ids: Collection[str]) -> dict[str, Any]:
    by_paragraph = {field: note[field] for field in BY_PARAGRAPH if isinstance(note.get(field), dict)}
    return note | {
        field: {name: value for name, value in values.items() if name not in removed_ids} for field, values in by_paragraph.items()
    }


def unanswerable_faults(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """Faults against: the unchanged question, and a twin with as many paragraphs, distinct new ones, none with the step's answer."""
    answerable_twin, twin = group
    note = noted(twin, NAME)
    step = next(step for step in original.decomposition or () if (step.id, step.answer) == (note["step"], note["answer"]))
    entity = original.answer_id if step.answer in original.answers else None
    if answerable_twin != original:
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
