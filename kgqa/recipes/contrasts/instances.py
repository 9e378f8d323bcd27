"""Instances that show a part of a question's context."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kgqa.formats.faults import without_faults_of_answerable
from kgqa.formats.provenance import without_order
from kgqa.recipes.contrasts.cutting import cut
from kgqa.recipes.contrasts.facts import NAME, Fact, Question, support_of
from kgqa.records import Grade, Instance, Paragraph, Step

Chains = tuple[tuple[tuple[str, ...], ...], ...]
_encode = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Parts:
    """Makes the instances of one question; what they share is made once, and at the level of paragraphs no text is copied."""

    question: Question
    transform: str
    head: str
    """The beginning of their provenance."""
    unanswered_head: str
    """That of those that are not answered."""
    unmarked: tuple[Paragraph, ...]
    """The paragraphs without supporting marks, for instances without labels; empty where there are none."""

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

        ``answered``: with the answer as its label, which is also what ``answerable`` says; ``marked``: with supporting marks, and
        with the decomposition, the chains and the grades, which say as much.
        """
        question, whole = self.question, self.question.instance
        gone = {question.facts[fact] for fact in removed}
        paragraphs = left_of(whole.paragraphs if marked else self.unmarked, gone, level=question.level)
        ids = _missing(whole, gone, paragraphs) if whole.chains or whole.decomposition else frozenset()
        note = {"bipartition": bipartition, "sub_idx": sub_idx, "sufficiency": sufficiency, "removed": question.name_facts(sorted(removed))}
        chains = _chains(whole.chains, ids) if marked else None
        return Instance(
            id=f"{whole.id}#{self.transform}-{sub_idx}",
            question=whole.question,
            paragraphs=paragraphs,
            answers=whole.answers if answered else (),
            alternatives=whole.alternatives if answered else None,
            answer_id=whole.answer_id if answered else None,
            answer_type=whole.answer_type if answered else "none",
            candidates=whole.candidates,
            chains=chains,
            grades=_grades(whole, chains),
            decomposition=_decomposition(whole.decomposition, ids) if marked else None,
            answerable=answered,
            group=whole.group,
            provenance=f"{self.head if answered else self.unanswered_head}{_encode(note)[1:]}}}",
        )


def parts_of(question: Question, transform: str, *, some_unmarked: bool = False) -> Parts:
    """What makes the instances of ``question``; ``some_unmarked``: some of them will carry no supporting marks."""
    shared = note_of(question.instance, transform, level=question.level, noted=question.noted)
    if question.dropped:
        shared["dropped"] = question.dropped
    others = without_order({name: value for name, value in question.noted.items() if name != NAME})
    unanswered = without_faults_of_answerable(others)
    head = _head(others, shared)
    unmarked = tuple(map(_without_marks, question.instance.paragraphs)) if some_unmarked else ()
    return Parts(question, transform, head, head if unanswered == others else _head(unanswered, shared), unmarked)


def _head(others: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    return f"{_encode(others)[:-1]}{', ' if others else ''}{_encode(NAME)}: {_encode(shared)[:-1]}, "


def note_of(instance: Instance, transform: str, *, level: str, noted: Mapping[str, Any]) -> dict[str, Any]:
    """What the instances of one question note alike (see ``facts.NAME``); ``noted``: what stood in its provenance before."""
    note: dict[str, Any] = {"question": instance.id, "transform": transform, "level": level, "answers": instance.answers}
    note["supporting"] = support_of(instance)
    if NAME in noted:
        note["of"] = noted[NAME]
    return note


def showing(instance: Instance, paragraphs: tuple[Paragraph, ...], *, gone: Collection[str], **changes: Any) -> Instance:
    """``instance`` with other paragraphs: steps whose paragraph is ``gone`` lose its id, chains through it are left out."""
    missing = frozenset(gone)
    chains = _chains(instance.chains, missing)
    return replace(
        instance,
        paragraphs=paragraphs,
        chains=chains,
        grades=_grades(instance, chains),
        decomposition=_decomposition(instance.decomposition, missing),
        **changes,
    )


def left_of(paragraphs: tuple[Paragraph, ...], gone: Collection[Fact], *, level: str) -> tuple[Paragraph, ...]:
    """The paragraphs without these facts, in the same order."""
    if level == "paragraph":
        places = {place for place, _ in gone}
        return tuple([paragraph for place, paragraph in enumerate(paragraphs) if place not in places])
    sentences: dict[int, set[int]] = {}
    for place, sentence in gone:
        sentences.setdefault(place, set()).add(sentence or 0)
    found = (cut(paragraph, sentences[place]) if place in sentences else paragraph for place, paragraph in enumerate(paragraphs))
    return tuple([paragraph for paragraph in found if paragraph is not None])


def _missing(whole: Instance, gone: Iterable[Fact], left: Iterable[Paragraph]) -> frozenset[str]:
    """Ids of the paragraphs that lost a fact and are not there any more."""
    touched = {whole.paragraphs[place].id for place, _ in gone}
    return frozenset(touched.difference([paragraph.id for paragraph in left]))


def _chains(chains: Chains | None, missing: frozenset[str]) -> Chains | None:
    if chains is None or not missing:
        return chains
    return tuple(tuple(chain for chain in group if missing.isdisjoint(chain[1::2])) for group in chains)


def _grades(whole: Instance, chains: Chains | None) -> tuple[Grade | None, ...] | None:
    """A grade is that of a candidate's best chain, which may be the one that is left out."""
    return whole.grades if chains is not None and chains == whole.chains else None


def _decomposition(steps: tuple[Step, ...] | None, missing: frozenset[str]) -> tuple[Step, ...] | None:
    if steps is None or not missing:
        return steps
    return tuple([_elsewhere(step) if step.paragraph_id in missing else step for step in steps])


def _elsewhere(step: Step) -> Step:
    return Step(id=step.id, question=step.question, answer=step.answer, paragraph_id=None, depends_on=step.depends_on)


def _without_marks(paragraph: Paragraph) -> Paragraph:
    return Paragraph(
        id=paragraph.id,
        title=paragraph.title,
        text=paragraph.text,
        supporting=None,
        mentions=paragraph.mentions,
        sentences=paragraph.sentences,
        supporting_sentences=None,
    )
