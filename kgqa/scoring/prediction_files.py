"""Writing the sets' official prediction files, which :mod:`kgqa.scoring.predictions` reads and the authors' scripts take.

Paragraphs are called as gold answers call them (:func:`kgqa.scoring.gold.called`): by title, or by id where they have none. A supporting
paragraph of which a reader names no sentence supports the answer with all of its sentences, as one without marks does in gold.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgqa.errors import BrokenInput, DuplicateId, SettingsError, storage_errors, suggestion
from kgqa.formats.json.write import write_lines
from kgqa.formats.provenance import noted
from kgqa.formats.qangaroo import expressions
from kgqa.metrics.drop import NONE
from kgqa.metrics.hotpotqa import Fact
from kgqa.records import Instance
from kgqa.runs.files import check_new_file
from kgqa.runs.scratch import scratch
from kgqa.scoring.dire_gold import NAME, notes_of
from kgqa.scoring.gold import all_sentences, called, official_id, paragraph_numbers
from kgqa.training.reader import Prediction

Pair = tuple[Instance, Prediction]
TRANSFORMED = ("dire-probe", "dire-sufficiency", "dire-probe-of-sufficiency")
LABELLED = TRANSFORMED[1:]
"""The metrics of sets with a label of sufficiency."""


def write_predictions(metric: str, instances: Iterable[Instance], predictions: Iterable[Prediction], path: Path) -> tuple[str, ...]:
    """Write the official file of a ``metric`` of ``kgqa evaluate``: a prediction for each Instance, in the same order.

    The file appears whole or not at all. What is to be said about it is returned, a sentence each. Memory: one prediction where the file
    has lines or is one object of answers; all predictions for ``hotpotqa``, ``twowiki`` and ``strategyqa``, whose objects have several
    parts. Raises SettingsError for an unknown metric, StorageError where something is at ``path``, BrokenInput where the predictions are
    not those of the Instances or cannot be written, DuplicateId for a question that occurs twice in a file with one entry for each.
    """
    if metric not in WRITERS:
        raise SettingsError(f"metric {metric!r} is not known; {suggestion(metric, tuple(WRITERS))}")
    check_new_file(path)
    with storage_errors(path), scratch(path) as folder:
        remarks = WRITERS[metric](_paired(instances, predictions), folder / path.name)
        (folder / path.name).replace(path)
    return remarks


def _paired(instances: Iterable[Instance], predictions: Iterable[Prediction]) -> Iterator[Pair]:
    others = "these are predictions for another set or split"
    given = iter(predictions)
    for number, instance in enumerate(instances, start=1):
        predicted = next(given, None)
        if predicted is None:
            raise BrokenInput(f"there are {number - 1} predictions and more questions; {others}.")
        if predicted.id != instance.id:
            raise BrokenInput(f"prediction {number} is for {predicted.id[:60]}, the question is {instance.id[:60]}; {others}.")
        yield instance, predicted
    if next(given, None) is not None:
        raise BrokenInput(f"there are more predictions than questions; {others}.")


Answer = Callable[[Instance, Prediction], str]


def _answers(answer: Answer) -> Callable[[Iterator[Pair], Path], tuple[str, ...]]:
    """The writer of an object id → answer, which is streamed."""

    def write(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
        seen: set[str] = set()
        with path.open("w", encoding="utf-8") as file:
            for instance, predicted in pairs:
                _once(instance, seen)
                entry = f"{json.dumps(instance.id, ensure_ascii=False)}: {json.dumps(answer(instance, predicted), ensure_ascii=False)}"
                file.write(("{\n" if len(seen) == 1 else ",\n") + entry)
            file.write("\n}\n" if seen else "{}\n")
        return ()

    return write


def _once(instance: Instance, seen: set[str]) -> None:
    if instance.id in seen:
        raise DuplicateId(f"question {instance.id}: it occurs twice, and the file has one entry for each; drop one of them.")
    seen.add(instance.id)


def _plain(_: Instance, predicted: Prediction) -> str:
    return predicted.answer


def _or_empty(_: Instance, predicted: Prediction) -> str:
    """SQuAD 2.0's sign for no answer is an empty one."""
    return predicted.answer if predicted.answerable else ""


def _or_none(_: Instance, predicted: Prediction) -> str:
    """IIRC's is a word."""
    return (predicted.answer if predicted.answerable else "") or NONE


def _candidate(instance: Instance, predicted: Prediction) -> str:
    """The candidate as the set's official file shows it, where one was chosen or its text is the answer; else the answer."""
    shown = expressions(instance)
    if predicted.candidate is not None:
        if predicted.candidate not in shown:
            raise BrokenInput(f"prediction {predicted.id}: {predicted.candidate[:60]!r} is no candidate of the question; predict again.")
        return shown[predicted.candidate]
    same = (shown[candidate.id] for candidate in instance.candidates or () if candidate.text == predicted.answer)
    return next(same, predicted.answer)


def _hotpotqa(pairs: Iterator[Pair], path: Path, *, evidence: bool = False) -> tuple[str, ...]:
    """``answer`` and ``sp``; with ``evidence``, which no reader predicts, an empty list of triples for each question, too."""
    answers: dict[str, str] = {}
    support: dict[str, list[Fact]] = {}
    seen: set[str] = set()
    for instance, predicted in pairs:
        _once(instance, seen)
        answers[instance.id] = predicted.answer
        support[instance.id] = facts(instance, predicted)
    _write_object({"answer": answers, "sp": support, **({"evidence": {key: [] for key in answers}} if evidence else {})}, path)
    return ()


def _twowiki(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
    return _hotpotqa(pairs, path, evidence=True)


def _musique(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
    write_lines((_musique_line(instance, predicted) for instance, predicted in pairs), path)
    return ()


def _musique_line(instance: Instance, predicted: Prediction) -> dict[str, Any]:
    numbers = paragraph_numbers(instance)
    _check_known(predicted, numbers)
    return {
        "id": official_id(instance),
        "predicted_answer": predicted.answer,
        "predicted_support_idxs": sorted(numbers[key] for key in set(_paragraphs(predicted))),
        "predicted_answerable": predicted.answerable,
    }


def _dire(metric: str) -> Callable[[Iterator[Pair], Path], tuple[str, ...]]:
    """The writer of DiRe's lines, with what tells a question's instances apart where a transform made several."""

    def write(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
        write_lines((_dire_line(metric, instance, predicted) for instance, predicted in pairs), path)
        return ()

    return write


def _dire_line(metric: str, instance: Instance, predicted: Prediction) -> dict[str, Any]:
    if not math.isfinite(predicted.confidence):
        raise BrokenInput(f"prediction {predicted.id}: its confidence is {predicted.confidence}, which no file can hold; train again.")
    note = notes_of(instance) if metric in TRANSFORMED else None
    found: dict[str, Any] = {
        "question_id": instance.id if note is None else note["question"],
        "answer": predicted.answer,
        "answer_confidence": predicted.confidence,
        "supporting_paragraphs": _titles(instance, predicted),
        "supporting_sentences": facts(instance, predicted),
    }
    if note is not None:
        found["sub_idx"] = note["sub_idx"]
    if metric in LABELLED:
        found["sufficiency"] = predicted.sufficiency
    return found


def facts(instance: Instance, predicted: Prediction) -> list[Fact]:
    """What the paragraphs are called, and the numbers of their sentences, in the order shown; BrokenInput for a paragraph not shown.

    Of an instance from which a transform of DiRe cut sentences the number is that among those shown, which the scorer changes to that in
    the whole paragraph; where two paragraphs are called alike it does not, and the number in the whole paragraph is written.
    """
    _check_known(predicted, {paragraph.id for paragraph in instance.paragraphs})
    named: dict[str, list[int]] = {key: [] for key in _paragraphs(predicted)}
    for key, sentence in predicted.supporting_sentences:
        named[key].append(sentence)
    cut = _cut_of_namesakes(instance)
    found: dict[Fact, None] = {}
    for paragraph in instance.paragraphs:
        if paragraph.id in named:
            for sentence in sorted(named[paragraph.id]) or all_sentences(paragraph):
                found[called(paragraph), _whole(sentence, cut.get(paragraph.id, ()))] = None
    return list(found)


def _titles(instance: Instance, predicted: Prediction) -> list[str]:
    named = set(_paragraphs(predicted))
    return list(dict.fromkeys(called(paragraph) for paragraph in instance.paragraphs if paragraph.id in named))


def _paragraphs(predicted: Prediction) -> Iterator[str]:
    """The supporting ones, and those of supporting sentences."""
    yield from predicted.supporting
    yield from (key for key, _ in predicted.supporting_sentences)


def _check_known(predicted: Prediction, known: Iterable[str]) -> None:
    strange = next(iter(set(_paragraphs(predicted)).difference(known)), None)
    if strange is not None:
        raise BrokenInput(f"prediction {predicted.id}: its question has no paragraph {strange[:60]!r}; predict on this set.")


def _cut_of_namesakes(instance: Instance) -> dict[str, list[int]]:
    """Paragraph → the numbers of the sentences that DiRe's transforms cut, of those whose name another paragraph has."""
    bearers = Counter(map(called, instance.paragraphs))
    if len(bearers) == len(instance.paragraphs) or not noted(instance, NAME):
        return {}
    cut: dict[str, list[int]] = {paragraph.id: [] for paragraph in instance.paragraphs if bearers[called(paragraph)] > 1}
    for removed in notes_of(instance)["removed"] or ():
        if not isinstance(removed, str) and removed[0] in cut:
            cut[removed[0]].append(removed[1])
    return {key: sorted(numbers) for key, numbers in cut.items()}


def _whole(number: int, cut: Iterable[int]) -> int:
    for gone in cut:
        number += gone <= number
    return number


def _strategyqa(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
    """Answers as true and false; the questions and paragraphs of steps where some prediction has any."""
    entries: dict[str, dict[str, Any]] = {}
    neither = 0
    seen: set[str] = set()
    for instance, predicted in pairs:
        _once(instance, seen)
        said = predicted.answer.strip().lower()
        neither += said not in {"yes", "no"}
        steps = [step.question for step in predicted.steps]
        entries[instance.id] = {"answer": said == "yes", "decomposition": steps, "paragraphs": _ranked(predicted)}
    for task in ("decomposition", "paragraphs"):
        if not any(entry[task] for entry in entries.values()):  # the evaluator tells a task that is not done from one done badly
            for entry in entries.values():
                del entry[task]
    _write_object(entries, path)
    return (f"{neither:,} answers are neither yes nor no; StrategyQA's file has nothing else, so they are in it as no.",) if neither else ()


def _ranked(predicted: Prediction) -> list[str]:
    """The paragraphs with the surest first, or the supporting ones where there is no probability."""
    if predicted.paragraph_scores:
        return [key for key, _ in sorted(predicted.paragraph_scores, key=lambda entry: -entry[1])]
    return list(dict.fromkeys(_paragraphs(predicted)))


def _write_object(found: Mapping[str, Any], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(found, file, ensure_ascii=False)
        file.write("\n")


WRITERS: Mapping[str, Callable[[Iterator[Pair], Path], tuple[str, ...]]] = MappingProxyType(
    {
        "squad": _answers(_plain),
        "squad2": _answers(_or_empty),
        "hotpotqa": _hotpotqa,
        "musique": _musique,
        **{metric: _dire(metric) for metric in ("dire", *TRANSFORMED)},
        "twowiki": _twowiki,
        "drop": _answers(_plain),
        "iirc": _answers(_or_none),
        "strategyqa": _strategyqa,
        "qangaroo": _answers(_candidate),
    }
)
"""Metric → function that writes its file and returns remarks."""
