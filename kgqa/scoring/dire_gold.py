"""What is right for the instances of DiRe's transforms, and the sentence numbers that their predictions mean.

Where a transform cut sentences out of a paragraph, a system numbers those that it was shown; gold and predictions are compared by the
numbers of the whole paragraph, which are the same in all instances of a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats.json.validate import Open, validated
from kgqa.formats.provenance import noted
from kgqa.metrics import dire
from kgqa.metrics.hotpotqa import Fact
from kgqa.records import Instance
from kgqa.scoring.gold import all_sentences, called, facts, single_answer


class Notes(Open):
    """Note of a transform, or of the parser of DiRe's files, under ``dire``; kgqa's transforms note the whole ``supporting``."""

    question: str
    transform: str
    bipartition: int | None
    sub_idx: int
    sufficiency: int | None
    removed: list[str | Annotated[tuple[str, int], Strict(False)]] | None
    answers: NotRequired[list[str]]
    supporting: NotRequired[list[Annotated[tuple[str, int | None], Strict(False)]]]


NOTES = TypeAdapter(Notes)
NAME = "dire"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Gold of one instance."""

    instance: dire.Instance
    cut: Mapping[str, Sequence[int]]
    """Paragraph → the numbers of sentences that are not shown. One whose title another has is left out: a prediction may mean either."""


def dire_label(instance: Instance) -> Label:
    """The question's answer and the supporting facts that are still there; MissingInput where no transform made the instance."""
    note = notes_of(instance)
    names = {paragraph.id: called(paragraph) for paragraph in instance.paragraphs}
    bearers = Counter(names.values())
    cut: dict[str, list[int]] = {}
    for removed in note["removed"] or ():
        if not isinstance(removed, str) and removed[0] in names and bearers[names[removed[0]]] == 1:
            cut.setdefault(names[removed[0]], []).append(removed[1])
    if instance.answers:
        single_answer(instance)
    answers = note.get("answers") or instance.answers
    if not answers:
        raise MissingInput(f"instance {instance.id}: the answer of its question is not noted; make the set again with kgqa contrast.")
    label = dire.Instance(
        question_id=note["question"],
        answer=answers[0],
        support=frozenset(_support(instance, note)),
        bipartition=note["bipartition"] or 0,
        sufficiency=note["sufficiency"],
        sub_idx=note["sub_idx"],
    )
    return Label(instance=label, cut={name: sorted(sentences) for name, sentences in cut.items()})


def notes_of(instance: Instance) -> Notes:
    """The note; MissingInput without one, BrokenInput if it is malformed."""
    found = noted(instance, NAME)
    if not found:
        raise MissingInput(
            f"instance {instance.id}: no transform of DiRe made it; make the set with kgqa contrast, or read it with --from dire."
        )
    return validated(found, NOTES, f"instance {instance.id}, provenance, {NAME!r}")


def _support(instance: Instance, note: Notes) -> list[Fact]:
    """Noted facts of the remaining paragraphs and sentences; without a note, marks and additional facts of published files."""
    paragraphs = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    if "supporting" in note:
        removed = set(note["removed"] or ())
        return [
            (called(paragraphs[key]), number)
            for key, sentence in note["supporting"]
            if key in paragraphs and (key, sentence) not in removed
            for number in (all_sentences(paragraphs[key]) if sentence is None else (sentence,))
        ]
    return facts(instance)


def whole_numbers(predictions: Sequence[dire.Prediction], labels: Sequence[Label]) -> list[dire.Prediction]:
    """The predictions with the sentence numbers of whole paragraphs; they find their instance as in the scorer."""
    if not any(label.cut for label in labels):
        return list(predictions)
    numbered = all(predicted.sub_idx is not None for predicted in predictions)
    cuts = {}
    seen: Counter[str] = Counter()
    for label in labels:
        key = label.instance.question_id
        cuts[key, label.instance.sub_idx if numbered else seen[key]] = label.cut
        seen[key] += 1
    found = []
    seen.clear()
    for predicted in predictions:
        key = predicted.question_id
        cut = cuts.get((key, predicted.sub_idx if numbered else seen[key]), {})
        seen[key] += 1
        sentences = frozenset((name, _whole(number, cut.get(name, ()))) for name, number in predicted.sentences)
        found.append(replace(predicted, sentences=sentences))
    return found


def _whole(number: int, cut: Sequence[int]) -> int:
    for gone in cut:
        number += gone <= number
    return number
