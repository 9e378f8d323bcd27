"""2WikiMultihopQA as version 1.1 of its official script scores it (Ho et al. 2020): HotpotQA's scores and evidence triples, in percent.

Version 1.0 of the script compares the letters of the relations only; version 1.1 without aliases is what it was meant to be.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kgqa.errors import InputError
from kgqa.metrics import hotpotqa
from kgqa.metrics.hotpotqa import Fact, answer_overlap, record
from kgqa.metrics.normalize import without_punctuation
from kgqa.metrics.overlap import NOTHING, Overlap, best, harmonic, joint
from kgqa.metrics.scores import Scores, missing_parts, total, unmatched

Triple = tuple[str, str, str]
"""Head, relation and tail, as text."""
Aliases = Mapping[str, Collection[str]]
"""Entity id → its other names, demonyms among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(hotpotqa.Question):
    """Gold of a question: HotpotQA's, and evidence triples."""

    answer_id: str | None
    evidence: tuple[Triple, ...]
    evidence_ids: tuple[Triple, ...] = ()
    """Entity ids around the same relations, one triple for each of ``evidence``; or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction(hotpotqa.Prediction):
    """What a system says; None where it says nothing about it."""

    evidence: tuple[Triple, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A gold triple with every name of its head and its tail, all folded."""

    heads: frozenset[str]
    relation: str
    tails: frozenset[str]


def twowiki(gold: Mapping[str, Question], predictions: Mapping[str, Prediction], *, aliases: Aliases | None = None) -> Scores:
    """Means over all gold questions: what is missing counts 0, and makes the joint scores 0; unknown ids are ignored.

    InputError where a question's evidence ids do not fit its evidence.
    """
    names = aliases or {}
    folded = _Folded(names)
    missing, extra = unmatched(gold, predictions)
    per_record: dict[str, dict[str, float]] = {}
    for key, question in gold.items():
        predicted = predictions.get(key, Prediction())
        answer = NOTHING
        if predicted.answer is not None:
            answers = {question.answer, *names.get(question.answer_id or "", ())}
            answer = best([answer_overlap(predicted.answer, name) for name in answers])
        support = NOTHING if predicted.support is None else support_overlap(predicted.support, question.support)
        evidence = NOTHING
        if predicted.evidence is not None:
            evidence = evidence_overlap(predicted.evidence, _accepted(key, question, folded))
        record(per_record, key, {"": answer, "sp_": support, "evi_": evidence, "joint_": joint(answer, support, evidence)})
    found = {name: total(values.values()) / len(gold) * 100 for name, values in per_record.items()}
    official = {name: round(value, 2) for name, value in found.items()}
    parts = missing_parts(gold, predictions, {"answer": "answer", "sp": "support", "evidence": "evidence"})
    return Scores(official=official, unrounded=found, per_record=per_record, missing=missing, missing_parts=parts, extra=extra)


def support_overlap(predicted: frozenset[Fact], gold: frozenset[Fact]) -> Overlap:
    """Titles in lower case. As in the official script, facts that differ in case only are still two."""
    wanted, given = _lower_cased(gold), _lower_cased(predicted)
    found = sum(fact in wanted for fact in given)
    lost = sum(fact not in given for fact in wanted)
    precision = found / len(given) if given else 0.0
    recall = found / (found + lost) if found + lost else 0.0
    return Overlap(float(found == len(given) and not lost), harmonic(precision, recall), precision, recall)


def _lower_cased(facts: frozenset[Fact]) -> list[Fact]:
    return [(title.lower(), sentence) for title, sentence in facts]


def evidence_overlap(predicted: tuple[Triple, ...], gold: tuple[Accepted, ...]) -> Overlap:
    """How many different predicted triples are one of the gold ones, over either count.

    As in the official script, two predictions may be the same gold triple under two names, and recall may then exceed 1.
    """
    given = {(fold(head), fold(relation), fold(tail)) for head, relation, tail in predicted}
    found = sum(
        any(relation == right.relation and head in right.heads and tail in right.tails for right in gold) for head, relation, tail in given
    )
    precision = found / len(given) if given else 0.0
    recall = found / len(gold) if gold else 0.0
    return Overlap(float(found == len(given) == len(gold)), harmonic(precision, recall), precision, recall)


def fold(text: str) -> str:
    """Lower case, no punctuation, single spaces; articles stay."""
    return " ".join(without_punctuation(text.lower()).split())


class _Folded(dict[str, frozenset[str]]):
    """Entity id → its other names, folded when first asked for: entities come again and most are never asked for."""

    def __init__(self, names: Aliases) -> None:
        self._names = names

    def __missing__(self, entity: str) -> frozenset[str]:
        self[entity] = frozenset(map(fold, self._names.get(entity, ())))
        return self[entity]


def _accepted(key: str, question: Question, names: Mapping[str, frozenset[str]]) -> tuple[Accepted, ...]:
    known = question.evidence_ids or tuple(("", relation, "") for _, relation, _ in question.evidence)
    if [relation for _, relation, _ in known] != [relation for _, relation, _ in question.evidence]:
        raise InputError(
            f"question {key}: its evidence ids do not have the relations of its evidence; give one id triple for each triple, or none."
        )
    return tuple(
        Accepted(
            heads=names[head_id] | {fold(head)},
            relation=fold(relation),
            tails=names[tail_id] | {fold(tail)},
        )
        for (head, relation, tail), (head_id, _, tail_id) in zip(question.evidence, known, strict=True)
    )
