"""What a set of multi-hop questions gives away and how even it is, counted without a reader: for the card, and for any set with steps.

Questions with a decomposition are looked at (``kgqa.records.Step``); shares are of the questions that a measure can be taken of.
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
    """How even one split is."""

    questions: int
    hops: dict[int, float]
    """Number of steps → share of the questions."""
    answers: int
    """Different ones."""
    answer: float
    """Share of the commonest answer; so are the next ones of the commonest last step, whole wording without names, and relation."""
    last: float
    template: float
    relation: float
    """Share of the questions' facts that are of the commonest relation; 0 where no relation is known."""


def evenness(instances: Sequence[Instance]) -> Evenness:
    """Of one split."""
    some = [instance for instance in instances if instance.decomposition]
    answers = Counter(_answer(instance) for instance in some)
    relations = Counter(relation for instance in some for relation in relations_of(instance))
    hops = Counter(len(instance.decomposition or ()) for instance in some)
    return Evenness(
        questions=len(some),
        hops={number: hops[number] / len(some) for number in sorted(hops)},
        answers=len(answers),
        answer=_most(answers),
        last=_most(Counter(_last(instance) for instance in some)),
        template=_most(Counter(without_names(instance.question) for instance in some)),
        relation=_most(relations),
    )


def _most(counts: Counter[str]) -> float:
    return max(counts.values(), default=0) / max(1, counts.total())


def relations_of(instance: Instance) -> Iterator[str]:
    """The templates of all hops of a composed question, as its note has them."""
    note = everything(instance).get("compose", {})
    for of_hop in note.get("relations", ()) if isinstance(note, dict) else ():
        yield from of_hop


def set_measures(splits: Splits) -> dict[str, list[float]]:
    """Each of ``MEASURES`` → a score between 0 and 1 for each question that it can be taken of, over all splits but where it says so.

    O(questions × paragraphs). Memory: the set.
    """
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    read = {split: [instance for instance in splits.get(split, ()) if instance.decomposition] for split in SPLITS}
    train = _shown(read["train"])
    for split, instances in read.items():
        found["last hop"] += majority(instances, _last)
        found["last hop template"] += majority(instances, _last_template)
        here = _shown(instances)
        rivals = _rivals(instances)
        for instance in instances:
            found["early answer"].append(float(_early(instance)))
            found["bridge distractor"].append(float(_names_bridge(instance)))
            found["rival"].append(float(_has_rival(instance, rivals)))
            found["seen support"].append(least_seen(instance, here))
            found["chance"].append(_chance(instance))
            if split != "train" and train:
                found["unseen support"].append(least_seen(instance, train))
    return found


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
    """A question's words but for those with a capital or a figure, which are mostly names; its first word stays."""
    words = question.split()
    kept = [word if number == 0 or word == word.lower() else "_" for number, word in enumerate(words)]
    kept = ["_" if any(letter.isdigit() for letter in word) else word.strip("?.,").lower() for word in kept]
    return " ".join(word for number, word in enumerate(kept) if word != "_" or kept[number - 1 : number] != ["_"])


def majority(instances: Sequence[Instance], key: object) -> list[float]:
    """For each question 1 if the commonest answer of the others with its key is its own; of equally common ones each counts in part."""
    assert callable(key)
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for instance in instances:
        groups[key(instance)][_answer(instance)] += 1
    scores = []
    for instance in instances:
        others, own = groups[key(instance)], _answer(instance)
        left = others[own] - 1
        most = max((count - (answer == own) for answer, count in others.items()), default=0)
        ties = sum(1 for answer, count in others.items() if count - (answer == own) == most)
        scores.append(1 / ties if most > 0 and left == most else 0.0)
    return scores


def _supports(instance: Instance) -> list[bool]:
    return [bool(paragraph.supporting) for paragraph in instance.paragraphs]


def _early(instance: Instance) -> bool:
    """Whether a supporting paragraph but that of the last step states the answer."""
    last = _last_step(instance).paragraph_id
    wanted = names(instance.answers)
    return any(
        paragraph.supporting and paragraph.id != last and Text(title_and_text(paragraph)).states(wanted)
        for paragraph in instance.paragraphs
    )


def _names_bridge(instance: Instance) -> bool:
    steps = instance.decomposition or ()
    wanted = names(step.answer for step in steps[:-1] if step.answer)
    return any(not paragraph.supporting and Text(title_and_text(paragraph)).states(wanted) for paragraph in instance.paragraphs)


def _rivals(instances: Iterable[Instance]) -> dict[str, set[str]]:
    """Paragraph of a last step → the templates that it answers."""
    found: dict[str, set[str]] = defaultdict(set)
    for instance in instances:
        place = _last_step(instance).paragraph_id
        if place is not None:
            found[place].add(_last_template(instance))
    return found


def _has_rival(instance: Instance, rivals: Mapping[str, set[str]]) -> bool:
    own = _last_template(instance)
    return any(not paragraph.supporting and own in rivals.get(paragraph.id, ()) for paragraph in instance.paragraphs)


def _shown(instances: Iterable[Instance]) -> Counter[str]:
    """How often each paragraph is shown."""
    return Counter(_text(paragraph.text) for instance in instances for paragraph in instance.paragraphs)


def _text(text: str) -> str:
    return " ".join(text.split())


def least_seen(instance: Instance, seen: Mapping[str, int]) -> float:
    """Share of the supports among as many paragraphs that were seen least; of equally seen ones each counts in part."""
    counts = [seen.get(_text(paragraph.text), 0) for paragraph in instance.paragraphs]
    supports = _supports(instance)
    wanted = sum(supports)
    if not wanted:
        return 0.0
    left, found = wanted, 0.0
    for count in sorted(set(counts)):
        same = [is_support for number, is_support in zip(counts, supports, strict=True) if number == count]
        taken = min(left, len(same))
        found += taken * sum(same) / len(same)
        left -= taken
        if not left:
            break
    return found / wanted


def _chance(instance: Instance) -> float:
    return sum(_supports(instance)) / max(1, len(instance.paragraphs))
