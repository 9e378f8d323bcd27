"""Measures after step S8 (Trivedi et al. 2022): shortcuts and balance of multi-hop questions, counted without a reader.

Only questions with a decomposition count (``kgqa.records.Step``). A share refers to the questions where its measure is defined.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgqa.formats.provenance import everything
from kgqa.metrics.normalize import normalize
from kgqa.recipes.names.statements import Text, names, title_and_text
from kgqa.records import SPLITS, Instance, Step

REFERENCE = re.compile(r"#(\d+)")
"""Where a step names the answer to an earlier one."""
MEASURES = {
    "last hop": "answers that are the majority among the other questions of the split whose last step has the same words (#k for bridges)",
    "last hop template": "the same, with all names in the last step left out",
    "early answer": "questions one of whose earlier supporting paragraphs states the answer",
    "bridge distractor": "questions with a distractor that names the answer of an earlier step",
    "rival": "questions with a distractor that supports another question of the split with the same last template",
    "unseen support": "supporting paragraphs among as many paragraphs of the context, those shown least in train first; dev and test",
    "seen support": "supporting paragraphs among as many paragraphs of the context, those shown least in the whole split first",
    "chance": "supporting paragraphs among as many drawn ones",
}
"""Name → what is counted; all are shares."""
Splits = Mapping[str, Sequence[Instance]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evenness:
    """The balance of one split."""

    questions: int
    hops: dict[int, float]
    """Number of steps → share of the questions."""
    answers: int
    """Number of different answers."""
    answer: float
    """Share of the most common answer. The next three: of the most common last step, of the wording without names, and of the relation."""
    last: float
    template: float
    relation: float
    """Share of the most common relation among the questions' facts; 0 where no relation is known."""


def evenness(instances: Sequence[Instance]) -> Evenness:
    """The balance of one split."""
    with_steps = [instance for instance in instances if instance.decomposition]
    answers = Counter(_answer(instance) for instance in with_steps)
    relations = Counter(relation for instance in with_steps for relation in relations_of(instance))
    hops = Counter(len(instance.decomposition or ()) for instance in with_steps)
    return Evenness(
        questions=len(with_steps),
        hops={number: hops[number] / len(with_steps) for number in sorted(hops)},
        answers=len(answers),
        answer=_most(answers),
        last=_most(Counter(_last(instance) for instance in with_steps)),
        template=_most(Counter(without_names(instance.question) for instance in with_steps)),
        relation=_most(relations),
    )


def _most(counts: Counter[str]) -> float:
    return max(counts.values(), default=0) / max(1, counts.total())


def relations_of(instance: Instance) -> Iterator[str]:
    """The templates of all hops of a composed question, from its note."""
    note = everything(instance).get("compose", {})
    for of_hop in note.get("relations", ()) if isinstance(note, dict) else ():
        yield from of_hop


def set_measures(splits: Splits) -> dict[str, list[float]]:
    """Each of ``MEASURES`` → a score from 0 to 1 for each question with this measure, over all splits unless the measure says otherwise.

    O(questions × paragraphs). Memory: the dataset.
    """
    scores: dict[str, list[float]] = {name: [] for name in MEASURES}
    questions = {split: [instance for instance in splits.get(split, ()) if instance.decomposition] for split in SPLITS}
    train = _paragraph_counts(questions["train"])
    for split, instances in questions.items():
        scores["last hop"] += majority(instances, _last)
        scores["last hop template"] += majority(instances, _last_template)
        own_counts = _paragraph_counts(instances)
        rivals = _rivals(instances)
        for instance in instances:
            scores["early answer"].append(float(_early(instance)))
            scores["bridge distractor"].append(float(_names_bridge(instance)))
            scores["rival"].append(float(_has_rival(instance, rivals)))
            scores["seen support"].append(least_seen(instance, own_counts))
            scores["chance"].append(_chance(instance))
            if split != "train" and train:
                scores["unseen support"].append(least_seen(instance, train))
    return scores


def _answer(instance: Instance) -> str:
    return instance.answer_id or normalize(instance.answers[0] if instance.answers else "")


def _last_step(instance: Instance) -> Step:
    assert instance.decomposition, "questions without steps were left out"
    return instance.decomposition[-1]


def _last(instance: Instance) -> str:
    return REFERENCE.sub("#", _last_step(instance).question)


def _last_template(instance: Instance) -> str:
    return without_names(_last(instance))


def without_names(question: str) -> str:
    """The question with "_" for words that have a capital or a figure, which are mostly names; the first word stays."""
    words = question.split()
    tokens = [word if number == 0 or word == word.lower() else "_" for number, word in enumerate(words)]
    tokens = ["_" if any(letter.isdigit() for letter in word) else word.strip("?.,").lower() for word in tokens]
    return " ".join(word for number, word in enumerate(tokens) if word != "_" or tokens[number - 1 : number] != ["_"])


def majority(instances: Sequence[Instance], key: object) -> list[float]:
    """For each question 1 if its answer is the most common one of the others with its key; ties count in part."""
    assert callable(key)
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for instance in instances:
        groups[key(instance)][_answer(instance)] += 1
    scores = []
    for instance in instances:
        counts, own_answer = groups[key(instance)], _answer(instance)
        own_count = counts[own_answer] - 1
        top_count = max((count - (answer == own_answer) for answer, count in counts.items()), default=0)
        ties = sum(1 for answer, count in counts.items() if count - (answer == own_answer) == top_count)
        scores.append(1 / ties if top_count > 0 and own_count == top_count else 0.0)
    return scores


def _supports(instance: Instance) -> list[bool]:
    return [bool(paragraph.supporting) for paragraph in instance.paragraphs]


def _early(instance: Instance) -> bool:
    """Whether a supporting paragraph other than the last step's states the answer."""
    last_paragraph = _last_step(instance).paragraph_id
    answers = names(instance.answers)
    return any(
        paragraph.supporting and paragraph.id != last_paragraph and Text(title_and_text(paragraph)).states(answers)
        for paragraph in instance.paragraphs
    )


def _names_bridge(instance: Instance) -> bool:
    steps = instance.decomposition or ()
    answers = names(step.answer for step in steps[:-1] if step.answer)
    return any(not paragraph.supporting and Text(title_and_text(paragraph)).states(answers) for paragraph in instance.paragraphs)


def _rivals(instances: Iterable[Instance]) -> dict[str, set[str]]:
    """Paragraph of a last step → the templates that it answers."""
    templates: dict[str, set[str]] = defaultdict(set)
    for instance in instances:
        place = _last_step(instance).paragraph_id
        if place is not None:
            templates[place].add(_last_template(instance))
    return templates


def _has_rival(instance: Instance, rivals: Mapping[str, set[str]]) -> bool:
    template = _last_template(instance)
    return any(not paragraph.supporting and template in rivals.get(paragraph.id, ()) for paragraph in instance.paragraphs)


def _paragraph_counts(instances: Iterable[Instance]) -> Counter[str]:
    """Number of contexts with each paragraph."""
    return Counter(_text(paragraph.text) for instance in instances for paragraph in instance.paragraphs)


def _text(text: str) -> str:
    return " ".join(text.split())


def least_seen(instance: Instance, times: Mapping[str, int]) -> float:
    """Share of supports among the least seen paragraphs, as many as there are supports; ties count in part."""
    counts = [times.get(_text(paragraph.text), 0) for paragraph in instance.paragraphs]
    supports = _supports(instance)
    total = sum(supports)
    if not total:
        return 0.0
    left_count, hits = total, 0.0
    for count in sorted(set(counts)):
        ties = [is_support for number, is_support in zip(counts, supports, strict=True) if number == count]
        picks = min(left_count, len(ties))
        hits += picks * sum(ties) / len(ties)
        left_count -= picks
        if not left_count:
            break
    return hits / total


def _chance(instance: Instance) -> float:
    return sum(_supports(instance)) / max(1, len(instance.paragraphs))
