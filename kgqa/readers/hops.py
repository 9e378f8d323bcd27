"""The single-hop questions that a decomposition consists of, each with the context of the whole question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kgqa.formats.decomposition import REFERENCE
from kgqa.records import Instance, Paragraph, Step
from kgqa.runs.files import key_of
from kgqa.training.questions import Questions

VERSION = 1
"""Of how single-hop questions are made."""


def filled(number: int, steps: tuple[Step, ...], answers: Mapping[str, str]) -> str:
    """The question of step ``number``, from 0, with ``#k`` replaced by the answer of step k, for the steps that it depends on.

    A reference to a step without an answer stays, as does any other ``#k``, which is text.
    """
    step = steps[number]

    def answer(reference: str, place: int) -> str:
        found = steps[place - 1].id if 1 <= place <= len(steps) else None
        return answers.get(found) or reference if found is not None and found in step.depends_on else reference

    return REFERENCE.sub(lambda match: answer(match[0], int(match[1])), step.question)


def hop(instance: Instance, number: int, steps: tuple[Step, ...], answers: Mapping[str, str]) -> Instance:
    """Step ``number`` as a question on its own, about which nothing is told: the last one has the candidates, where there are any."""
    return replace(
        instance,
        id=f"{instance.id}/step-{number + 1}",
        question=filled(number, steps, answers),
        candidates=instance.candidates if number == len(steps) - 1 else None,
        decomposition=None,
        chains=None,
        grades=None,
    )


def single_hop_instances(instance: Instance) -> Iterator[Instance]:
    """The steps with their gold answers and paragraphs; the Instance itself where it is not decomposed.

    A step whose paragraph is not shown is not answerable (MuSiQue-Full's twins).
    """
    steps = instance.decomposition
    if not steps:
        yield instance
        return
    answers = {step.id: step.answer for step in steps if step.answer is not None}
    shown = {paragraph.id for paragraph in instance.paragraphs}
    for number, step in enumerate(steps):
        asked = hop(instance, number, steps, answers)
        named = _names(instance, step) if step.paragraph_id in shown else ()
        yield replace(
            asked,
            answers=named,
            answer_id=asked.answer_id if asked.candidates else None,
            answer_type="none" if step.paragraph_id not in shown else "candidate" if asked.candidates else "span",
            answerable=step.paragraph_id in shown,
            paragraphs=tuple(_supporting(each, is_it=each.id == step.paragraph_id) for each in instance.paragraphs),
        )


def _names(instance: Instance, step: Step) -> tuple[str, ...]:
    """The step's answer; of one that answers the whole question its other names too."""
    if step.answer is None:
        return ()
    return instance.answers if step.answer in instance.answers[:1] else (step.answer,)


def _supporting(paragraph: Paragraph, *, is_it: bool) -> Paragraph:
    sentences = paragraph.supporting_sentences if is_it or paragraph.supporting_sentences is None else ()
    return replace(paragraph, supporting=is_it, supporting_sentences=sentences)


def single_hop(questions: Questions) -> Questions:
    """All their steps, as questions; read once, to count them."""

    def read() -> Iterator[Instance]:
        for instance in questions:
            yield from single_hop_instances(instance)

    kept = None if questions.keep is None else questions.rows().tolist()
    count = sum(len(instance.decomposition or (None,)) for instance in questions)
    return Questions(read=read, key=key_of("single-hop", VERSION, questions.key, kept), count=count)
