"""Write the sets' official prediction files, which :mod:`kgqa.scoring.predictions` and the authors' scripts read.

Paragraphs have the names that gold uses (:func:`kgqa.scoring.gold.title_or_id`): the title, or the id if there is none. If a reader names
no sentence of a supporting paragraph, all its sentences support the answer, as in gold without marks.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgqa.errors import BrokenInput, DuplicateId, check_known, storage_errors
from kgqa.formats.json.write import write_lines
from kgqa.formats.provenance import noted
from kgqa.formats.qangaroo import expressions
from kgqa.metrics.drop import NONE
from kgqa.metrics.hotpotqa import Fact
from kgqa.records import Instance
from kgqa.runs.files import check_new_file
from kgqa.runs.scratch import scratch
from kgqa.scoring.dire_gold import NAME, notes_of, number_in_whole
from kgqa.scoring.gold import all_sentences, official_id, paragraph_numbers, title_or_id
from kgqa.training.reader import Prediction

Pair = tuple[Instance, Prediction]
Writer = Callable[[Iterator[Pair], Path], tuple[str, ...]]
"""Writes a file and returns remarks."""
TRANSFORMED = ("dire-probe", "dire-sufficiency", "dire-probe-of-sufficiency")
LABELLED = TRANSFORMED[1:]
"""The metrics of sets with a sufficiency label."""


def write_predictions(metric: str, instances: Iterable[Instance], predictions: Iterable[Prediction], path: Path) -> tuple[str, ...]:
    """Write the official file of a ``metric`` of ``kgqa evaluate``: one prediction per Instance, in the same order; return remarks, one
    sentence each.

    The file appears whole or not at all. Memory: one prediction if the file has lines or is one object of answers; all predictions for
    ``hotpotqa``, ``twowiki`` and ``strategyqa``, whose objects have several parts. Raises SettingsError for an unknown metric, StorageError
    if ``path`` exists, BrokenInput if the predictions belong to other Instances or cannot be written, and DuplicateId for a question that
    occurs twice in a file with one entry per question.
    """
    check_known("metric", metric, WRITERS)
    check_new_file(path)
    with storage_errors(path), scratch(path) as folder:
        remarks = WRITERS[metric](_pairs(instances, predictions), folder / path.name)
        (folder / path.name).replace(path)
    return remarks


def _pairs(instances: Iterable[Instance], predictions: Iterable[Prediction]) -> Iterator[Pair]:
    hint = "these are predictions for another set or split"
    remaining = iter(predictions)
    for number, instance in enumerate(instances, start=1):
        prediction = next(remaining, None)
        if prediction is None:
            raise BrokenInput(f"there are {number - 1} predictions and more questions; {hint}.")
        if prediction.id != instance.id:
            raise BrokenInput(f"prediction {number} is for {prediction.id[:60]}, the question is {instance.id[:60]}; {hint}.")
        yield instance, prediction
    if next(remaining, None) is not None:
        raise BrokenInput(f"there are more predictions than questions; {hint}.")


def _answers(answer: Callable[[Instance, Prediction], str | list[str]]) -> Writer:
    """The writer of an object id → answer, which is streamed."""

    def write(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
        ids: set[str] = set()
        with path.open("w", encoding="utf-8") as file:
            for instance, prediction in pairs:
                _check_new_id(instance, ids)
                entry = f"{json.dumps(instance.id, ensure_ascii=False)}: {json.dumps(answer(instance, prediction), ensure_ascii=False)}"
                file.write(("{\n" if len(ids) == 1 else ",\n") + entry)
            file.write("\n}\n" if ids else "{}\n")
        return ()

    return write


def _lines(line: Callable[[Instance, Prediction], Mapping[str, Any]]) -> Writer:
    """The writer of JSON lines, one per prediction."""

    def write(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
        write_lines((line(instance, prediction) for instance, prediction in pairs), path)
        return ()

    return write


def _check_new_id(instance: Instance, ids: set[str]) -> None:
    if instance.id in ids:
        raise DuplicateId(f"question {instance.id}: it occurs twice, and the file has one entry for each; drop one of them.")
    ids.add(instance.id)


def _plain_answer(_: Instance, prediction: Prediction) -> str:
    return prediction.answer


def _answer_or_empty(_: Instance, prediction: Prediction) -> str:
    """SQuAD 2.0 marks no answer by an empty string."""
    return prediction.answer if prediction.answerable else ""


def _spans(_: Instance, prediction: Prediction) -> str | list[str]:
    """The answer, or its parts."""
    return list(prediction.parts) or prediction.answer


def _spans_or_none(instance: Instance, prediction: Prediction) -> str | list[str]:
    """IIRC marks no answer by a word."""
    return (_spans(instance, prediction) if prediction.answerable else "") or NONE


def _candidate(instance: Instance, prediction: Prediction) -> str:
    """The predicted candidate as the official file writes it; for a plain answer the candidate of the same text, else the answer itself."""
    names = expressions(instance)
    if prediction.candidate is not None:
        if prediction.candidate not in names:
            raise BrokenInput(
                f"prediction {prediction.id}: {prediction.candidate[:60]!r} is not a candidate of the question; predict again."
            )
        return names[prediction.candidate]
    names_of_answer = (names[candidate.id] for candidate in instance.candidates or () if candidate.text == prediction.answer)
    return next(names_of_answer, prediction.answer)


def _hotpotqa(pairs: Iterator[Pair], path: Path, *, evidence: bool = False) -> tuple[str, ...]:
    """``answer`` and ``sp``; with ``evidence``, which no reader predicts, also an empty list of triples per question."""
    answers: dict[str, str] = {}
    support: dict[str, list[Fact]] = {}
    ids: set[str] = set()
    for instance, prediction in pairs:
        _check_new_id(instance, ids)
        answers[instance.id] = prediction.answer
        support[instance.id] = predicted_facts(instance, prediction)
    _write_object({"answer": answers, "sp": support, **({"evidence": {key: [] for key in answers}} if evidence else {})}, path)
    return ()


def _musique_line(instance: Instance, prediction: Prediction) -> dict[str, Any]:
    numbers = paragraph_numbers(instance)
    _check_known(prediction, numbers)
    return {
        "id": official_id(instance),
        "predicted_answer": prediction.answer,
        "predicted_support_idxs": sorted(numbers[key] for key in set(_paragraphs(prediction))),
        "predicted_answerable": prediction.answerable,
    }


def _dire_line(instance: Instance, prediction: Prediction, *, metric: str) -> dict[str, Any]:
    """A line of DiRe's files, with ``sub_idx`` if a transform made several instances of a question."""
    if not math.isfinite(prediction.confidence):
        raise BrokenInput(
            f"prediction {prediction.id}: its confidence is {prediction.confidence}, which cannot be written to a file; train again."
        )
    note = notes_of(instance) if metric in TRANSFORMED else None
    line: dict[str, Any] = {
        "question_id": instance.id if note is None else note["question"],
        "answer": prediction.answer,
        "answer_confidence": prediction.confidence,
        "supporting_paragraphs": _titles(instance, prediction),
        "supporting_sentences": predicted_facts(instance, prediction),
    }
    if note is not None:
        line["sub_idx"] = note["sub_idx"]
    if metric in LABELLED:
        line["sufficiency"] = prediction.sufficiency
    return line


def predicted_facts(instance: Instance, prediction: Prediction) -> list[Fact]:
    """Paragraph names and sentence numbers, in the order shown. Raises BrokenInput for a paragraph that is not shown.

    If a transform of DiRe cut sentences, the number is that among the sentences shown, and the scorer maps it to the whole paragraph. The
    scorer cannot do so for two paragraphs of the same name; then the number in the whole paragraph is written.
    """
    _check_known(prediction, {paragraph.id for paragraph in instance.paragraphs})
    sentences_of: dict[str, list[int]] = {key: [] for key in _paragraphs(prediction)}
    for key, sentence in prediction.supporting_sentences:
        sentences_of[key].append(sentence)
    removed_paragraphs = _removed_of_namesakes(instance)
    facts: dict[Fact, None] = {}
    for paragraph in instance.paragraphs:
        if paragraph.id in sentences_of:
            for sentence in sorted(sentences_of[paragraph.id]) or all_sentences(paragraph):
                facts[title_or_id(paragraph), number_in_whole(sentence, removed_paragraphs.get(paragraph.id, ()))] = None
    return list(facts)


def _titles(instance: Instance, prediction: Prediction) -> list[str]:
    ids = set(_paragraphs(prediction))
    return list(dict.fromkeys(title_or_id(paragraph) for paragraph in instance.paragraphs if paragraph.id in ids))


def _paragraphs(prediction: Prediction) -> Iterator[str]:
    """Ids of the supporting paragraphs, and of the paragraphs of supporting sentences."""
    yield from prediction.supporting
    yield from (key for key, _ in prediction.supporting_sentences)


def _check_known(prediction: Prediction, paragraph_ids: Iterable[str]) -> None:
    unknown = next(iter(set(_paragraphs(prediction)).difference(paragraph_ids)), None)
    if unknown is not None:
        raise BrokenInput(f"prediction {prediction.id}: its question has no paragraph {unknown[:60]!r}; predict on this set.")


def _removed_of_namesakes(instance: Instance) -> dict[str, list[int]]:
    """Paragraph → numbers of the sentences that DiRe's transforms cut, for paragraphs that share their name with another."""
    title_counts = Counter(map(title_or_id, instance.paragraphs))
    if len(title_counts) == len(instance.paragraphs) or not noted(instance, NAME):
        return {}
    removed_sentences: dict[str, list[int]] = {
        paragraph.id: [] for paragraph in instance.paragraphs if title_counts[title_or_id(paragraph)] > 1
    }
    for piece in notes_of(instance)["removed"] or ():
        if not isinstance(piece, str) and piece[0] in removed_sentences:
            removed_sentences[piece[0]].append(piece[1])
    return {key: sorted(numbers) for key, numbers in removed_sentences.items()}


def _strategyqa(pairs: Iterator[Pair], path: Path) -> tuple[str, ...]:
    """Answers as booleans; questions and paragraphs of steps if some prediction has any."""
    entries: dict[str, dict[str, Any]] = {}
    unclear = 0
    ids: set[str] = set()
    for instance, prediction in pairs:
        _check_new_id(instance, ids)
        answer = prediction.answer.strip().lower()
        unclear += answer not in {"yes", "no"}
        steps = [step.question for step in prediction.steps]
        entries[instance.id] = {"answer": answer == "yes", "decomposition": steps, "paragraphs": _ranked_paragraphs(prediction)}
    for task in ("decomposition", "paragraphs"):
        if not any(entry[task] for entry in entries.values()):  # the evaluator tells a task that is not done from one done badly
            for entry in entries.values():
                del entry[task]
    _write_object(entries, path)
    return (f"{unclear:,} answers are neither yes nor no; StrategyQA's file has nothing else, so they are in it as no.",) if unclear else ()


def _ranked_paragraphs(prediction: Prediction) -> list[str]:
    """The paragraphs by falling probability, or the supporting ones if there are no probabilities."""
    if prediction.paragraph_scores:
        return [key for key, _ in sorted(prediction.paragraph_scores, key=lambda entry: -entry[1])]
    return list(dict.fromkeys(_paragraphs(prediction)))


def _write_object(value: Mapping[str, Any], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)
        file.write("\n")


WRITERS: Mapping[str, Writer] = MappingProxyType(
    {
        "squad": _answers(_plain_answer),
        "squad2": _answers(_answer_or_empty),
        "hotpotqa": _hotpotqa,
        "musique": _lines(_musique_line),
        **{metric: _lines(partial(_dire_line, metric=metric)) for metric in ("dire", *TRANSFORMED)},
        "twowiki": partial(_hotpotqa, evidence=True),
        "drop": _answers(_spans),
        "iirc": _answers(_spans_or_none),
        "strategyqa": _strategyqa,
        "qangaroo": _answers(_candidate),
    }
)
"""Metric → writer of its official file."""
_PHRASE, _PHRASE_OR_CHOICE = ("span",), ("span", "boolean")
ANSWER_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "squad": _PHRASE,
        "squad2": (*_PHRASE, "none"),
        "hotpotqa": _PHRASE_OR_CHOICE,
        "musique": (*_PHRASE, "none"),
        "dire": _PHRASE_OR_CHOICE,
        "dire-probe": _PHRASE_OR_CHOICE,
        **dict.fromkeys(LABELLED, _PHRASE_OR_CHOICE),
        "twowiki": _PHRASE_OR_CHOICE,
        "drop": ("span", "spans", "number"),
        "iirc": ("span", "spans", "number", "boolean", "none"),
        "strategyqa": ("boolean",),
        "qangaroo": _PHRASE,
    }
)
"""Metric → the types of answers that its official file holds; where questions have candidates, the answer is one of these."""
OF_SENTENCES = ("hotpotqa", "twowiki", "dire", *TRANSFORMED)
"""Metrics that score supporting sentences."""
