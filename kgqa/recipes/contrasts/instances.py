"""Making instances that show a part of a question's context."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kgqa.formats.faults import without_faults_of_answerable
from kgqa.formats.provenance import without_order
from kgqa.recipes.contrasts.cutting import cut
from kgqa.recipes.contrasts.facts import NAME, Fact, FactQuestion, support_of
from kgqa.records import Grade, Instance, Paragraph, Step

Chains = tuple[tuple[tuple[str, ...], ...], ...]
_encode = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Parts:
    """Makes the instances of one question. Shared values are made once, and at the level of paragraphs no text is copied."""

    question: FactQuestion
    transform: str
    head: str
    """The beginning of the provenance of answered instances."""
    unanswered_head: str
    """The beginning of the provenance of unanswered instances."""
    unmarked: tuple[Paragraph, ...]
    """The paragraphs without supporting marks, for instances without labels; empty if all instances have labels."""

    def part(
        self,
        sub_idx: int,
        *,
        removed: Collection[int],
        answered: bool,
        bipartition: int | None = None,
        sufficiency: int | None = None,
        marked: bool = True,
    ) -> Instance:
        """The question without the facts ``removed``.

        ``answered``: keep the answer, and set ``answerable``. ``marked``: keep the supporting marks, and the decomposition, chains and
        grades, which would reveal them.
        """
        question, instance = self.question, self.question.instance
        removed_facts = {question.facts[fact] for fact in removed}
        paragraphs = remaining_paragraphs(instance.paragraphs if marked else self.unmarked, removed_facts, level=question.level)
        missing_ids = _missing_ids(instance, removed_facts, paragraphs) if instance.chains or instance.decomposition else frozenset()
        note = {"bipartition": bipartition, "sub_idx": sub_idx, "sufficiency": sufficiency, "removed": question.name_facts(sorted(removed))}
        chains = _chains(instance.chains, missing_ids) if marked else None
        return Instance(
            id=f"{instance.id}#{self.transform}-{sub_idx}",
            question=instance.question,
            paragraphs=paragraphs,
            answers=instance.answers if answered else (),
            alternatives=instance.alternatives if answered else None,
            answer_id=instance.answer_id if answered else None,
            answer_type=instance.answer_type if answered else "none",
            candidates=instance.candidates,
            chains=chains,
            grades=_grades(instance, chains),
            decomposition=_decomposition(instance.decomposition, missing_ids) if marked else None,
            answerable=answered,
            group=instance.group,
            provenance=f"{self.head if answered else self.unanswered_head}{_encode(note)[1:]}}}",
        )


def parts_of(question: FactQuestion, transform: str, *, some_unmarked: bool = False) -> Parts:
    """The maker of the instances of ``question``; ``some_unmarked``: some instances will have no supporting marks."""
    notes = note_of(question.instance, transform, level=question.level, notes=question.notes)
    if question.dropped:
        notes["dropped"] = question.dropped
    other_notes = without_order({name: value for name, value in question.notes.items() if name != NAME})
    unanswered_notes = without_faults_of_answerable(other_notes)
    head = _head(other_notes, notes)
    unmarked_paragraphs = tuple(
        replace(paragraph, supporting=None, supporting_sentences=None) for paragraph in question.instance.paragraphs if some_unmarked
    )
    return Parts(
        question, transform, head, head if unanswered_notes == other_notes else _head(unanswered_notes, notes), unmarked_paragraphs
    )


def _head(notes: Mapping[str, Any], common_notes: Mapping[str, Any]) -> str:
    return f"{_encode(notes)[:-1]}{', ' if notes else ''}{_encode(NAME)}: {_encode(common_notes)[:-1]}, "


def note_of(instance: Instance, transform: str, *, level: str, notes: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the note (``facts.NAME``) that all instances of a question share; ``notes`` is the question's own provenance."""
    note: dict[str, Any] = {"question": instance.id, "transform": transform, "level": level, "answers": instance.answers}
    note["supporting"] = support_of(instance)
    if NAME in notes:
        note["of"] = notes[NAME]
    return note


def showing(instance: Instance, paragraphs: tuple[Paragraph, ...], *, removed_facts: Collection[str], **changes: Any) -> Instance:
    """``instance`` with other ``paragraphs``: steps lose the ids in ``removed_ids``, and chains through these paragraphs are dropped."""
    missing_ids = frozenset(removed_facts)
    chains = _chains(instance.chains, missing_ids)
    return replace(
        instance,
        paragraphs=paragraphs,
        chains=chains,
        grades=_grades(instance, chains),
        decomposition=_decomposition(instance.decomposition, missing_ids),
        **changes,
    )


def remaining_paragraphs(paragraphs: tuple[Paragraph, ...], removed_facts: Collection[Fact], *, level: str) -> tuple[Paragraph, ...]:
    """The paragraphs without these facts, in the same order."""
    if level == "paragraph":
        places = {place for place, _ in removed_facts}
        return tuple([paragraph for place, paragraph in enumerate(paragraphs) if place not in places])
    sentences: dict[int, set[int]] = {}
    for place, sentence in removed_facts:
        sentences.setdefault(place, set()).add(sentence or 0)
    paragraphs_left = (cut(paragraph, sentences[place]) if place in sentences else paragraph for place, paragraph in enumerate(paragraphs))
    return tuple([paragraph for paragraph in paragraphs_left if paragraph is not None])


def _missing_ids(instance: Instance, removed_facts: Iterable[Fact], paragraphs_left: Iterable[Paragraph]) -> frozenset[str]:
    """Ids of the paragraphs that lost all their facts."""
    changed_ids = {instance.paragraphs[place].id for place, _ in removed_facts}
    return frozenset(changed_ids.difference([paragraph.id for paragraph in paragraphs_left]))


def _chains(chains: Chains | None, missing_ids: frozenset[str]) -> Chains | None:
    if chains is None or not missing_ids:
        return chains
    return tuple(tuple(chain for chain in group if missing_ids.isdisjoint(chain[1::2])) for group in chains)


def _grades(instance: Instance, chains: Chains | None) -> tuple[Grade | None, ...] | None:
    """The grades if all chains remain: a grade belongs to a candidate's best chain, which may have been left out."""
    return instance.grades if chains is not None and chains == instance.chains else None


def _decomposition(steps: tuple[Step, ...] | None, missing_ids: frozenset[str]) -> tuple[Step, ...] | None:
    if steps is None or not missing_ids:
        return steps
    return tuple([replace(step, paragraph_id=None) if step.paragraph_id in missing_ids else step for step in steps])
