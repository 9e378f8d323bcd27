"""2WikiMultihopQA as version 1.1 of its official script scores it (Ho et al. 2020): HotpotQA's scores and evidence triples, in percent.

Version 1.0 of the script compares only the letters of the relations. Version 1.1 without aliases computes what 1.0 intended.
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
class TwoWikiGold(hotpotqa.HotpotQAGold):
    """Gold of a question: HotpotQA's, and evidence triples."""

    answer_id: str | None
    evidence: tuple[Triple, ...]
    evidence_ids: tuple[Triple, ...] = ()
    """Entity ids around the same relations, one triple for each triple of ``evidence``; or none at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWikiPrediction(hotpotqa.HotpotQAPrediction):
    """A system's prediction; a part is None if the file has none for this question."""

    evidence: tuple[Triple, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A gold triple with every name of its head and its tail, all folded."""

    heads: frozenset[str]
    relation: str
    tails: frozenset[str]


def twowiki(gold: Mapping[str, TwoWikiGold], predictions: Mapping[str, TwoWikiPrediction], *, aliases: Aliases | None = None) -> Scores:
    """Means over all gold questions. A missing part counts 0 and makes the joint scores 0; unknown ids are ignored.

    Raises InputError if a question's evidence ids do not match its evidence.
    """
    names = aliases or {}
    folded_names = _Folded(names)
    missing, extra = unmatched(gold, predictions)
    per_record: dict[str, dict[str, float]] = {}
    for key, question in gold.items():
        prediction = predictions.get(key, TwoWikiPrediction())
        answer = NOTHING
        if prediction.answer is not None:
            answers = {question.answer, *names.get(question.answer_id or "", ())}
            answer = best([answer_overlap(prediction.answer, name) for name in answers])
        support = NOTHING if prediction.support is None else support_overlap(prediction.support, question.support)
        evidence = NOTHING
        if prediction.evidence is not None:
            evidence = evidence_overlap(prediction.evidence, _accepted_triples(key, question, folded_names))
        record(per_record, key, {"": answer, "sp_": support, "evi_": evidence, "joint_": joint(answer, support, evidence)})
    means = {name: total(values.values()) / len(gold) * 100 for name, values in per_record.items()}
    official = {name: round(value, 2) for name, value in means.items()}
    parts = missing_parts(gold, predictions, {"answer": "answer", "sp": "support", "evidence": "evidence"})
    return Scores(official=official, unrounded=means, per_record=per_record, missing=missing, missing_parts=parts, extra=extra)


def support_overlap(prediction: frozenset[Fact], gold: frozenset[Fact]) -> Overlap:
    """Overlap with titles in lower case. As in the official script, facts that differ only in case still count as two."""
    gold_facts, predicted_facts = _lower_cased(gold), _lower_cased(prediction)
    matches = sum(fact in gold_facts for fact in predicted_facts)
    misses = sum(fact not in predicted_facts for fact in gold_facts)
    precision = matches / len(predicted_facts) if predicted_facts else 0.0
    recall = matches / (matches + misses) if matches + misses else 0.0
    return Overlap(float(matches == len(predicted_facts) and not misses), harmonic(precision, recall), precision, recall)


def _lower_cased(facts: frozenset[Fact]) -> list[Fact]:
    return [(title.lower(), sentence) for title, sentence in facts]


def evidence_overlap(prediction: tuple[Triple, ...], gold: tuple[Accepted, ...]) -> Overlap:
    """Precision and recall of distinct predicted triples against the gold ones.

    As in the official script, two predictions may match the same gold triple under two names, so recall can exceed 1.
    """
    triples = {(fold(head), fold(relation), fold(tail)) for head, relation, tail in prediction}
    matches = sum(
        any(relation == triple.relation and head in triple.heads and tail in triple.tails for triple in gold)
        for head, relation, tail in triples
    )
    precision = matches / len(triples) if triples else 0.0
    recall = matches / len(gold) if gold else 0.0
    return Overlap(float(matches == len(triples) == len(gold)), harmonic(precision, recall), precision, recall)


def fold(text: str) -> str:
    """Lower case, no punctuation, single spaces; articles stay."""
    return " ".join(without_punctuation(text.lower()).split())


class _Folded(dict[str, frozenset[str]]):
    """Entity id → its folded aliases, computed on first access: entities recur, and most are never needed."""

    def __init__(self, names: Aliases) -> None:
        self._names = names

    def __missing__(self, entity: str) -> frozenset[str]:
        self[entity] = frozenset(map(fold, self._names.get(entity, ())))
        return self[entity]


def _accepted_triples(key: str, question: TwoWikiGold, names: Mapping[str, frozenset[str]]) -> tuple[Accepted, ...]:
    id_triples = question.evidence_ids or tuple(("", relation, "") for _, relation, _ in question.evidence)
    if [relation for _, relation, _ in id_triples] != [relation for _, relation, _ in question.evidence]:
        raise InputError(
            f"question {key}: its evidence ids do not have the relations of its evidence; give one id triple for each triple, or none."
        )
    return tuple(
        Accepted(
            heads=names[head_id] | {fold(head)},
            relation=fold(relation),
            tails=names[tail_id] | {fold(tail)},
        )
        for (head, relation, tail), (head_id, _, tail_id) in zip(question.evidence, id_triples, strict=True)
    )
