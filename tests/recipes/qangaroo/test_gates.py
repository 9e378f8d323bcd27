"""Every gate against its definition in plain Python, and the properties that all of them share."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.rows import Adjacency
from kgqa.recipes.qangaroo import gates
from kgqa.recipes.qangaroo.baselines import FITTED, NAMES, Baselines
from kgqa.recipes.qangaroo.gates import (
    AnotherImpliedMore,
    AnswerMostMentioned,
    AnswerNamedInQuery,
    AnswerNamedInSubjectDocument,
    AnswerNotImplied,
    AnswerNotReached,
    AnswerStatedBesideSubject,
    AnswerStatedInSubjectDocument,
    AnswerTooFrequent,
    ChainAddsLittle,
    DocumentCue,
    Gate,
    NoDocumentFromSubject,
    PathLeadsAnywhere,
    QuestionGate,
    RelationSaysLittle,
    RelationSeldomImplied,
    SampleGate,
    ShortcutSuffices,
    TooFewCandidates,
    TooManyCandidates,
    TooManyDocuments,
    _doubt,
)
from kgqa.recipes.qangaroo.rejected import pass_gates
from kgqa.recipes.qangaroo.samples import Samples
from kgqa.settings.qangaroo import BiasSettings
from kgqa.traversal.base import Graph
from tests.recipes.drawing import CONFIDENCES, DOCUMENTS, ENTITIES, RELATIONS, ROLES, Record, records, to_samples, without

Pairs = set[tuple[int, int]]
Definition = Callable[[list[Record]], list[bool]]
"""For each record whether it must go."""
PAIRS = st.sets(st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, DOCUMENTS - 1)), max_size=30)
"""Entity and document."""


def rows(pairs: Pairs, count: int) -> Adjacency:
    columns = np.array(sorted(pairs), np.int32).reshape(-1, 2)
    return Adjacency.from_pairs(columns[:, 0], columns[:, 1], count)


def each(test: Callable[[Record], bool]) -> Definition:
    return lambda made: [test(record) for record in made]


def turned(pairs: Pairs) -> Pairs:
    return {(b, a) for a, b in pairs}


def without_document(pairs: Pairs) -> tuple[Gate, Definition]:
    graph = Graph(documents_of=rows(pairs, ENTITIES), entities_of=rows(turned(pairs), DOCUMENTS))
    return NoDocumentFromSubject(graph=graph), each(lambda r: not any(entity == r.head for entity, _ in pairs))


def in_own_article(pairs: Pairs, articles: dict[int, int]) -> tuple[Gate, Definition]:
    column = np.array([articles.get(entity, -1) for entity in range(ENTITIES)], np.int32)
    gate = AnswerStatedInSubjectDocument(articles=column, stated=rows(turned(pairs), DOCUMENTS))
    return gate, each(lambda r: (r.answer, articles.get(r.head, -1)) in pairs)


def beside(pairs: Pairs) -> tuple[Gate, Definition]:
    both = each(lambda r: any((r.head, d) in pairs and (r.answer, d) in pairs for d in range(DOCUMENTS)))
    return AnswerStatedBesideSubject(stating=rows(pairs, ENTITIES)), both


def named_in_query(pairs: Pairs) -> tuple[Gate, Definition]:
    return AnswerNamedInQuery(named=rows(pairs, ENTITIES)), each(lambda r: (r.head, r.answer) in pairs)


def named_in_article(pairs: Pairs, articles: dict[int, int]) -> tuple[Gate, Definition]:
    column = np.array([articles.get(entity, -1) for entity in range(ENTITIES)], np.int32)
    gate = AnswerNamedInSubjectDocument(articles=column, named=rows(turned(pairs), DOCUMENTS))
    return gate, each(lambda r: (r.answer, articles.get(r.head, -1)) in pairs)


def cap_of(sizes: list[int], share: float, of: str, *, entering: int = 0) -> int:
    """The cap by its definition: of those that enter, or the largest that holds among those that stay; never below one.

    Where less than one sample may enter for each answer, it is their mean; at least ``entering`` count as those that enter.
    """
    if of == "entering":
        return math.floor(Fraction(str(share)) * max(entering, sum(sizes))) or sum(sizes) // len(sizes)
    fitting = [cap for cap in range(1, max(sizes) + 1) if cap <= Fraction(str(share)) * sum(min(size, cap) for size in sizes)]
    return max(fitting, default=1)


def place(record: Record) -> tuple[float, int]:
    """By which samples are ordered that compete: the surest first."""
    return -record.grades[record.answer][0] if record.grades else 0, record.id


def too_frequent(share: float, of: str, entering: dict[int, int]) -> tuple[Gate, Definition]:
    """The surest samples of an answer stay; among equals those with the lowest ids."""

    def definition(made: list[Record]) -> list[bool]:
        result = []
        for record in made:
            split = [other for other in made if other.split == record.split]
            sizes = list(Counter(other.answer for other in split).values())
            cap = cap_of(sizes, share, of, entering=entering.get(record.split, 0))
            earlier = [other for other in split if other.answer == record.answer and place(other) < place(record)]
            result.append(len(earlier) >= cap)
        return result

    return AnswerTooFrequent(share=share, of=of, entering=entering), definition


def cue(limit: float, drops: str, entering: dict[int, int]) -> tuple[Gate, Definition]:
    """A number of samples, or a share of those of the split and at least two; of a surplus the surest stay."""

    def number(made: list[Record], split: int) -> int:
        arriving = max(entering.get(split, 0), sum(r.split == split for r in made))
        return int(limit) if limit >= 1 else max(2, math.floor(Fraction(str(limit)) * arriving))

    def definition(made: list[Record]) -> list[bool]:
        seen = Counter((record.split, record.answer, document) for record in made for document in record.documents)
        most = [max((seen[record.split, record.answer, document] for document in record.documents), default=0) for record in made]
        least = {record.split: min(n for n, other in zip(most, made, strict=True) if other.split == record.split) for record in made}
        limits = [number(made, record.split) for record in made]
        if drops == "all":
            limits = [max(limit, least[record.split]) for limit, record in zip(limits, made, strict=True)]
            return [n > most_there for n, most_there in zip(most, limits, strict=True)]
        stay, taken = set(), Counter[tuple[int, int, int]]()
        for most_there, record in sorted(zip(limits, made, strict=True), key=lambda of: place(of[1])):
            pairs = [(record.split, record.answer, document) for document in record.documents]
            if all(taken[pair] < most_there for pair in pairs):
                stay.add(record.id)
                taken.update(pairs)
        return [record.id not in stay for record in made]

    return DocumentCue(limit=limit, drops=drops, entering=entering), definition


def says_little(left_out: list[bool]) -> tuple[Gate, Definition]:
    return RelationSaysLittle(left_out=np.array(left_out)), each(lambda r: left_out[r.relation])


def answer_grade(record: Record) -> tuple[float, int]:
    """The confidence and the text grade of the answer's best chain."""
    assert record.grades is not None
    return record.grades[record.answer][:2]


def answer_path(record: Record) -> list[int]:
    """The roles on the answer's best path."""
    assert record.grades is not None
    return [role for role in record.grades[record.answer][2:5] if role >= 0]


def is_long(record: Record) -> bool:
    """Whether the answer's best chain has three documents."""
    assert record.grades is not None
    return record.grades[record.answer][4] >= 0


def not_implied(least: float, long: float, text: int, facts: int) -> tuple[Gate, Definition]:
    def definition(record: Record) -> bool:
        sure, stated = answer_grade(record)
        on_path = sum(role < 2 * RELATIONS for role in answer_path(record))
        return sure < (long if is_long(record) else least) or stated < text or on_path < facts

    return AnswerNotImplied(least=least, long=long, text=text, facts=facts, roles=2 * RELATIONS), each(definition)


def leads_anywhere(least: float, forwards: list[float], backwards: list[float], symmetric: list[bool]) -> tuple[Gate, Definition]:
    """Neither direction is functional enough, or likes lead to a relation that does not join likes; 0 asks for nothing."""

    def definition(record: Record) -> bool:
        path = answer_path(record)
        functional = max(math.prod(forwards[role] for role in path), math.prod(backwards[role] for role in path))
        alike = any(role < 2 * RELATIONS and symmetric[role // 2] for role in path)
        return functional < least or (least > 0 and alike and not symmetric[record.relation])

    gate = PathLeadsAnywhere(least=least, forwards=np.array(forwards), backwards=np.array(backwards), symmetric=np.array(symmetric))
    return gate, each(definition)


def adds_little(least: float, long: float, shares: dict[tuple[int, int], float]) -> tuple[Gate, Definition]:
    """Odds as quotients; of what is certain they are without end, and an answer that nobody has needs none."""

    def odds(share: float) -> float:
        return share / (1 - share) if share < 1 else math.inf

    def definition(record: Record) -> bool:
        by_chain, by_frequency = odds(answer_grade(record)[0]), odds(shares.get((record.relation, record.answer), 0.0))
        times = long if is_long(record) else least
        return times > 0 and by_chain < math.inf and by_chain < times * by_frequency

    keys = sorted(shares)
    of = np.array([(relation << 32) | answer for relation, answer in keys], np.int64)
    return ChainAddsLittle(least=least, long=long, share=np.array([shares[key] for key in keys]), of=of), each(definition)


def another_implied_more(record: Record) -> bool:
    assert record.grades is not None
    return any(grade[0] > record.grades[record.answer][0] for grade in record.grades.values())


def seldom_implied(least: float, before: list[int]) -> tuple[Gate, Definition]:
    def definition(made: list[Record]) -> list[bool]:
        left = Counter(record.relation for record in made)
        return [left[record.relation] < Fraction(str(least)) * before[record.relation] for record in made]

    return RelationSeldomImplied(least=least, samples=np.array(before)), definition


SMALL = st.integers(1, 6)
SHARES = st.sampled_from([0.001, 0.1, 0.2, 0.25, 0.29, 0.3, 0.5, 0.7, 1.0])


def most_mentioned(different: int) -> tuple[Gate, Definition]:
    """As few samples as it takes go, the least sure ones first; who counts mentions is then right no oftener than by chance."""

    def count(sample: int, candidate: int) -> int:
        return (7 * candidate + sample % different) % different

    def mentions(samples: Samples) -> np.ndarray:
        asked = samples.questions.id[samples.question_of_candidate()]
        pairs = zip(asked.tolist(), samples.candidates.targets.tolist(), strict=True)
        return np.array([count(*pair) for pair in pairs], np.float64)

    def excess(record: Record) -> Fraction:
        counts = {candidate: count(record.id, candidate) for candidate in record.chains}
        best = [candidate for candidate in counts if counts[candidate] == max(counts.values())]
        return (Fraction(1, len(best)) if record.answer in best else Fraction(0)) - Fraction(1, len(counts))

    def definition(made: list[Record]) -> list[bool]:
        gone = set()
        for split in range(3):
            here = [record for record in made if record.split == split]
            total = float(sum(map(excess, here)))
            room = math.sqrt(sum((1 - 1 / len(record.chains)) / len(record.chains) for record in here))
            for record in sorted(here, key=lambda r: (-place(r)[0], r.id)):
                if total > room + 1e-9 and excess(record) > 0 and len(here) > 1:
                    total -= float(excess(record))
                    gone.add(record.id)
            if here and gone >= {record.id for record in here}:
                gone.remove(min(here, key=lambda r: (place(r)[0], -r.id)).id)
        return [record.id in gone for record in made]

    return AnswerMostMentioned(mentions=mentions), definition


class Counted(Baselines):
    """Baselines of which each gives every candidate a number, and those that learn count answers of train too."""

    def __init__(self, modulus: int) -> None:
        self.modulus = modulus

    def score(self, name: str, learned: int, candidate: int) -> float:
        return learned + (candidate * (NAMES.index(name) + 1)) % self.modulus

    def candidate_scores(self, name: str, train: Samples, samples: Samples) -> npt.NDArray[np.float64]:
        answers = Counter(train.questions.answer.tolist()) if name in FITTED else Counter()
        return np.array([self.score(name, answers[c], c) for c in samples.candidates.targets.tolist()], np.float64)


def shortcut_suffices(position: float, count: float, train_share: float, modulus: int, least: int) -> tuple[Gate, Definition]:
    baselines = Counted(modulus)

    def is_right(name: str, train: list[Record], record: Record) -> bool:
        answers = Counter(other.answer for other in train) if name in FITTED else Counter()
        ties = {c: int(shuffling(np.array([record.id], np.uint64), np.array([c]), purpose="ties")[0]) for c in record.chains}
        return max(record.chains, key=lambda c: (baselines.score(name, answers[c], c), ties[c])) == record.answer

    def definition(made: list[Record]) -> list[bool]:
        gone = set[int]()
        for split in range(3):
            here = [record for record in made if record.split == split]
            if len(here) < least:
                continue
            train = [record for record in made if record.split == 0 and record.id not in gone]
            names = [name for name in NAMES if name not in {"random", "rule"} and (split or name not in FITTED)]
            right = {record.id: {name for name in names if is_right(name, train, record)} for record in here}
            chance = sum(1 / len(record.chains) for record in here) / len(here)
            shares = {"max-mention": count, "TF-IDF": count, "majority per query type": train_share, "document-cue": train_share}
            most = {name: max(shares.get(name, position), chance) for name in names}
            while len(left := [record for record in here if record.id not in gone]) > 1:
                excess = {name: sum(name in right[record.id] for record in left) - most[name] * len(left) for name in names}
                over = {name for name, more in excess.items() if more > 1e-9}
                if not over:
                    break
                worst = max(len(right[record.id] & over) for record in left)
                leaving = [record for record in left if len(right[record.id] & over) == worst]
                leaving.sort(key=lambda record: (grade_of(record), record.id))
                gone |= {record.id for record in leaving[: min(max(1, int(min(excess[name] for name in over))), len(left) - 1)]}
        return [record.id in gone for record in made]

    return ShortcutSuffices(position=position, count=count, train=train_share, baselines=baselines, least=least), definition


def grade_of(record: Record) -> float:
    return record.grades[record.answer][0] if record.grades else 0.0


ENTERING = st.dictionaries(st.integers(0, 2), st.integers(0, 40))
CONFIDENCE = st.sampled_from(CONFIDENCES)
MEASURES = st.lists(CONFIDENCE, min_size=ROLES, max_size=ROLES)
DROPS = st.sampled_from(["all", "surplus"])
CASES: dict[type[Gate], st.SearchStrategy[tuple[Gate, Definition]]] = {
    NoDocumentFromSubject: st.builds(without_document, PAIRS),
    AnswerStatedInSubjectDocument: st.builds(
        in_own_article, PAIRS, st.dictionaries(st.integers(0, ENTITIES - 1), st.integers(0, DOCUMENTS - 1), max_size=ENTITIES)
    ),
    AnswerStatedBesideSubject: st.builds(beside, PAIRS),
    AnswerNotReached: st.just((AnswerNotReached(), each(lambda r: not r.chains))),
    TooFewCandidates: SMALL.map(lambda n: (TooFewCandidates(minimum=n), each(lambda r: len(r.chains) < n))),
    TooManyCandidates: SMALL.map(lambda n: (TooManyCandidates(maximum=n), each(lambda r: len(r.chains) > n))),
    TooManyDocuments: SMALL.map(lambda n: (TooManyDocuments(maximum=n), each(lambda r: len(r.documents) > n))),
    AnswerTooFrequent: st.builds(too_frequent, SHARES, st.sampled_from(["entering", "kept"]), ENTERING),
    DocumentCue: st.builds(cue, st.integers(1, 4) | st.sampled_from([0.001, 0.2, 0.29, 0.3, 0.5, 0.99]), DROPS, ENTERING),
    RelationSaysLittle: st.builds(says_little, st.lists(st.booleans(), min_size=RELATIONS, max_size=RELATIONS)),
    AnswerNotImplied: st.builds(not_implied, CONFIDENCE, CONFIDENCE, st.integers(0, 2), st.integers(0, 3)),
    PathLeadsAnywhere: st.builds(
        leads_anywhere, CONFIDENCE, MEASURES, MEASURES, st.lists(st.booleans(), min_size=RELATIONS, max_size=RELATIONS)
    ),
    ChainAddsLittle: st.builds(
        adds_little,
        *[st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])] * 2,
        st.dictionaries(st.tuples(st.integers(0, RELATIONS - 1), st.integers(0, 2)), CONFIDENCE),
    ),
    AnotherImpliedMore: st.just((AnotherImpliedMore(), each(another_implied_more))),
    RelationSeldomImplied: st.builds(
        seldom_implied, st.sampled_from([0.0, 0.05, 0.25, 0.5, 1.0]), st.lists(st.integers(0, 20), min_size=RELATIONS, max_size=RELATIONS)
    ),
    AnswerMostMentioned: st.builds(most_mentioned, st.integers(1, 6)),
    ShortcutSuffices: st.builds(shortcut_suffices, *[st.sampled_from([0.1, 0.3, 0.5, 1.0])] * 3, st.integers(1, 6), st.integers(1, 4)),
    AnswerNamedInQuery: st.builds(named_in_query, st.sets(st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, ENTITIES - 1)))),
    AnswerNamedInSubjectDocument: st.builds(
        named_in_article, PAIRS, st.dictionaries(st.integers(0, ENTITIES - 1), st.integers(0, DOCUMENTS - 1), max_size=ENTITIES)
    ),
}
RECORDS = records(most=14, chains=1, answers=3).flatmap(
    lambda made: st.lists(st.booleans(), min_size=len(made), max_size=len(made)).map(
        lambda empty: [without(r, *r.chains) if none and r.id % 5 == 0 else r for r, none in zip(made, empty, strict=True)]
    )
)
GRADED = records(most=14, chains=1, answers=3, graded=True)
ABOUT_GRADES = {AnswerNotImplied, PathLeadsAnywhere, ChainAddsLittle, AnotherImpliedMore}


def records_for(kind: type[Gate]) -> st.SearchStrategy[list[Record]]:
    """What can come to a gate: grades are asked for where there are some, and each sample then has its answer, as in the filter."""
    if kind in {AnswerMostMentioned, ShortcutSuffices}:
        return GRADED | records(most=14, chains=1, answers=3)
    return GRADED if kind in ABOUT_GRADES else RECORDS | GRADED


EVERY_GATE = pytest.mark.parametrize("kind", list(CASES), ids=lambda kind: kind.__name__)


def all_gates() -> set[type[Gate]]:
    """Every class below Gate that can be used."""
    found, open_ = set(), [Gate]
    while open_:
        kind = open_.pop()
        open_ += kind.__subclasses__()
        found |= set() if inspect.isabstract(kind) or kind is Gate else {kind}
    # A dataclass with slots is made anew; the class that it was made from is still a subclass.
    return {kind for kind in found if getattr(gates, kind.__name__, kind) is kind}


def items_for(gate: Gate, made: list[Record]):  # type: ignore[no-untyped-def]
    samples = to_samples(made)
    return samples.questions if isinstance(gate, QuestionGate) else samples


def ids(items: object) -> list[int]:
    return [int(number) for number in getattr(items, "questions", items).id]  # type: ignore[attr-defined]


def test_every_gate_has_a_definition_here() -> None:
    assert set(CASES) == all_gates()


@EVERY_GATE
def test_every_gate_has_a_reason_and_a_setting(kind: type[Gate]) -> None:
    assert kind.reason[0].islower() or kind.reason.startswith("a ")
    assert len(kind.reason.split()) >= 4
    assert not kind.reason.endswith(".")
    assert kind.setting.split(",")[0].strip()
    assert len({other.reason for other in CASES}) == len(CASES)


@EVERY_GATE
@given(data=st.data())
def test_every_gate_rejects_what_its_definition_says(kind: type[Gate], data: st.DataObject) -> None:
    (gate, definition), made = data.draw(CASES[kind]), data.draw(records_for(kind))
    assert gate.rejected(items_for(gate, made)).tolist() == definition(made)  # type: ignore[attr-defined]


@EVERY_GATE
@given(data=st.data())
def test_kept_and_rejected_are_the_input(kind: type[Gate], data: st.DataObject) -> None:
    (gate, definition), made = data.draw(CASES[kind]), data.draw(records_for(kind))
    kept, rejections = pass_gates(items_for(gate, made), [gate])
    assert [rejection.gate for rejection in rejections] == [kind]
    gone = ids(rejections[0].questions)
    assert sorted(ids(kept) + gone) == sorted(record.id for record in made)
    assert gone == [record.id for record, must_go in zip(made, definition(made), strict=True) if must_go]


@EVERY_GATE
@given(data=st.data())
def test_a_gate_accepts_everything_that_it_kept(kind: type[Gate], data: st.DataObject) -> None:
    (gate, _), made = data.draw(CASES[kind]), data.draw(records_for(kind))
    if isinstance(gate, AnswerTooFrequent) and gate.of == "entering":
        return  # Its share is of what arrives, which is less the second time.
    if isinstance(gate, AnswerMostMentioned | ShortcutSuffices):
        return  # So is the standard error of chance, and what a baseline learns from train.
    items = items_for(gate, made)
    if isinstance(gate, DocumentCue) and list(gate.raised(items)):
        return  # A limit that was raised to the least count there is may be raised to less where fewer are left.
    if isinstance(gate, DocumentCue) and gate.limit < 1:
        gate = replace(gate, entering=dict.fromkeys(range(3), 40))  # More than ever arrive: a share of the same the second time.
    kept, _ = pass_gates(items, [gate])
    again, rejections = pass_gates(kept, [gate])
    assert ids(again) == ids(kept)
    assert len(rejections[0].questions) == 0


@given(made=RECORDS, first=CASES[TooFewCandidates], second=CASES[AnswerTooFrequent])
def test_gates_are_passed_in_order_and_each_sees_what_the_one_before_left(
    made: list[Record], first: tuple[Gate, Definition], second: tuple[Gate, Definition]
) -> None:
    kept, rejections = pass_gates(to_samples(made), [first[0], second[0]])
    middle = [record for record, gone in zip(made, first[1](made), strict=True) if not gone]
    assert ids(kept) == [record.id for record, gone in zip(middle, second[1](middle), strict=True) if not gone]
    assert [len(rejection.questions) for rejection in rejections] == [len(made) - len(middle), len(middle) - len(kept)]


@given(made=RECORDS, share=SHARES, of=st.sampled_from(["entering", "kept"]), order=st.randoms(use_true_random=False))
def test_the_answer_cap_chooses_by_id_not_by_place(made: list[Record], share: float, of: str, order) -> None:  # type: ignore[no-untyped-def]
    gate = AnswerTooFrequent(share=share, of=of)
    mixed = order.sample(made, len(made))
    kept, turned_kept = (pass_gates(to_samples(some), [gate])[0] for some in (made, mixed))
    assert sorted(ids(kept)) == sorted(ids(turned_kept))


@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=12), share=SHARES)
def test_the_answer_cap_keeps_its_promise_and_one_sample_of_each_answer(sizes: list[int], share: float) -> None:
    kinds = [answer for answer, size in enumerate(sizes) for _ in range(size)]
    made = [Record(id=i, split=0, head=0, relation=0, answer=answer, chains={answer: [(0, 0, answer)]}) for i, answer in enumerate(kinds)]
    for of in ("entering", "kept"):
        kept, _ = pass_gates(to_samples(made), [AnswerTooFrequent(share=share, of=of)])
        left = Counter(kept.questions.answer.tolist())
        assert set(left) == set(range(len(sizes)))
        whole = len(made) if of == "entering" else len(kept)
        least = sum(sizes) // len(sizes) if of == "entering" else 1
        assert all(count <= (math.floor(Fraction(str(share)) * whole) or least) for count in left.values())


@pytest.mark.parametrize(
    "gate",
    [AnswerTooFrequent(share=0.001, of="entering"), DocumentCue(limit=1), DocumentCue(limit=1, drops="surplus")],
    ids=["answer cap", "document cue", "surplus of the document cue"],
)
@given(made=RECORDS)
def test_no_filter_empties_a_split_that_has_samples(gate: SampleGate, made: list[Record]) -> None:
    kept, _ = pass_gates(to_samples(made), [gate])
    assert set(kept.questions.split.tolist()) == {record.split for record in made}


def alike(counts: dict[int, int], *, split: int = 0) -> list[Record]:
    """So many samples of each answer, with one document in all of them."""
    kinds = [answer for answer, count in counts.items() for _ in range(count)]
    return [Record(id=i, split=split, head=0, relation=0, answer=a, chains={a: [(0, 0, a)]}) for i, a in enumerate(kinds)]


def test_a_cap_of_less_than_one_sample_becomes_the_average_and_says_so() -> None:
    gate = AnswerTooFrequent(share=0.001, of="entering")
    made = to_samples(alike({1: 7, 2: 4, 3: 1}, split=1))
    assert np.bincount(pass_gates(made, [gate])[0].questions.answer).tolist() == [0, 4, 4, 1]
    assert list(gate.raised(made)) == [
        "0.001 of the 12 samples of dev is less than one; an answer keeps at most 4 of them, as many as answers have on average"
    ]


@pytest.mark.parametrize(
    ("share", "of", "counts"),
    [(0.001, "entering", {1: 2, 2: 1}), (0.1, "entering", {1: 8, 2: 2}), (0.2, "entering", {1: 8, 2: 2}), (0.001, "kept", {1: 8, 2: 2})],
)
def test_a_cap_that_needs_no_exception_gives_no_remark(share: float, of: str, counts: dict[int, int]) -> None:
    gate, made = AnswerTooFrequent(share=share, of=of), to_samples(alike(counts))
    assert list(gate.raised(made)) == []
    cap = max(1, math.floor(share * sum(counts.values())))
    assert max(np.bincount(pass_gates(made, [gate])[0].questions.answer)) == cap


def test_a_cue_limit_that_would_empty_a_split_is_raised_with_a_remark() -> None:
    gate, made = DocumentCue(limit=2), alike({1: 5, 2: 3})
    assert Counter(pass_gates(to_samples(made), [gate])[0].questions.answer.tolist()) == {2: 3}
    assert list(gate.raised(to_samples(made))) == [
        "with 2, nothing would be left of train; there a document may be seen with an answer 3 times"
    ]
    other = [replace(record, id=100 + record.id, split=2) for record in alike({1: 5, 2: 2})]
    assert Counter(pass_gates(to_samples(other), [gate])[0].questions.answer.tolist()) == {2: 2}
    assert list(gate.raised(to_samples(other))) == []


def test_a_share_below_two_samples_allows_two_with_a_remark() -> None:
    gate, made = DocumentCue(limit=0.01), alike({1: 3, 2: 2, 3: 1})
    assert Counter(pass_gates(to_samples(made), [gate])[0].questions.answer.tolist()) == {2: 2, 3: 1}
    said = "0.01 of the 6 samples of train is less than 2; there a document may be seen with an answer 2 times"
    assert list(gate.raised(to_samples(made))) == [said]
    assert list(gate.raised(to_samples(alike({1: 1, 2: 1})))) == []
    assert list(DocumentCue(limit=0.5).raised(to_samples(made))) == []


def test_the_published_share_is_the_published_number() -> None:
    assert DocumentCue(limit=BiasSettings().document_cue).number(43_738) == 20
    assert DocumentCue(limit=20).number(10) == 20


@pytest.mark.parametrize("value", [1.5, -1, float("nan"), float("inf")])
def test_a_cue_that_is_neither_a_share_nor_a_number_is_refused(value: float) -> None:
    with pytest.raises(ValidationError):
        BiasSettings(document_cue=value)


def test_a_share_is_meant_as_it_is_written() -> None:
    assert AnswerTooFrequent(share=0.29, of="entering").cap(np.array([60, 40])) == 29
    assert AnswerTooFrequent(share=0.29, of="kept").cap(np.array([29] * 3 + [13])) == 29


def test_the_document_cue_is_counted_within_each_split() -> None:
    made = [Record(id=i, split=i % 3, head=1, relation=0, answer=2, chains={2: [(1, 0, 2)]}) for i in range(6)]
    assert DocumentCue(limit=2).rejected(to_samples(made)).tolist() == [False] * 6
    made.append(Record(id=6, split=0, head=1, relation=0, answer=3, chains={3: [(1, 0, 3)]}))
    assert DocumentCue(limit=1).rejected(to_samples(made)).tolist() == [record.split == 0 and record.answer == 2 for record in made]


def test_a_document_is_counted_once_however_many_chains_use_it() -> None:
    made = [Record(id=0, split=0, head=1, relation=0, answer=2, chains={2: [(1, 0, 2), (1, 0, 3, 1, 2)], 3: [(1, 0, 3)]})]
    assert DocumentCue(limit=1).rejected(to_samples(made)).tolist() == [False]


def test_a_share_of_samples_that_is_just_reached_is_enough() -> None:
    made = [Record(id=i, split=0, head=1, relation=i, answer=2, chains={2: [(1, 0, 2)]}) for i in range(2)]
    assert RelationSeldomImplied(least=0.05, samples=np.array([20, 21])).rejected(to_samples(made)).tolist() == [False, True]


def test_a_cue_share_refers_to_the_entering_samples() -> None:
    made = to_samples(alike({1: 4, 2: 1}))
    assert DocumentCue(limit=0.1, entering={0: 40}).rejected(made).tolist() == [False] * 5
    assert DocumentCue(limit=0.1, entering={0: 30, 1: 40}).rejected(made).tolist() == [True] * 4 + [False]


def test_surplus_keeps_the_limit_and_all_keeps_none() -> None:
    made = to_samples(alike({1: 5, 2: 1}))
    assert DocumentCue(limit=2).rejected(made).tolist() == [True] * 5 + [False]
    assert DocumentCue(limit=2, drops="surplus").rejected(made).tolist() == [False] * 2 + [True] * 3 + [False]


def test_surplus_keeps_the_best_graded_samples() -> None:
    sure = [0.25, 0.75, 0.5, 0.75, 0.25]
    made = [replace(record, grades={1: (grade, 0, 0, 0, -1, -1, 0.0)}) for record, grade in zip(alike({1: 5}), sure, strict=True)]
    other = Record(id=9, split=0, head=0, relation=0, answer=2, chains={2: [(0, 0, 2)]}, grades={2: (0.0, 0, 0, 0, -1, -1, 0.0)})
    rejected = DocumentCue(limit=2, drops="surplus").rejected(to_samples([*made, other]))
    assert rejected.tolist() == [True, False, True, False, True, False]


def test_a_rejected_sample_does_not_count_against_later_ones() -> None:
    seen = [(0,), (0,), (0, 1), (1,), (1,), (2,)]
    made = [Record(id=i, split=0, head=0, relation=0, answer=1, chains={1: [(0, d, 1) for d in of]}) for i, of in enumerate(seen)]
    rejected = DocumentCue(limit=2, drops="surplus").rejected(to_samples(made))
    assert rejected.tolist() == [False, False, True, False, False, False]


@given(made=RECORDS, order=st.randoms(use_true_random=False))
def test_the_surplus_of_the_document_cue_is_chosen_by_id_not_by_place(made: list[Record], order) -> None:  # type: ignore[no-untyped-def]
    gate, mixed = DocumentCue(limit=2, drops="surplus"), order.sample(made, len(made))
    kept, mixed_kept = (pass_gates(to_samples(some), [gate])[0] for some in (made, mixed))
    assert sorted(ids(kept)) == sorted(ids(mixed_kept))


def sample(relation: int, sure: float, *path: int) -> Record:
    """A sample of ``relation`` whose answer has one graded chain with these roles."""
    return Record(id=0, split=0, head=0, relation=relation, answer=1, chains={1: [(0, 0, 1)]},
                  grades={1: (sure, 2, *path, *[-1] * (4 - len(path)), 0.0)})  # type: ignore[dict-item]  # fmt: skip


@pytest.mark.parametrize(("path", "rejected"), [((0, 6), False), ((0, 2, 4), True)])
def test_chains_of_three_documents_have_limits_of_their_own(path: tuple[int, ...], rejected: bool) -> None:
    made = to_samples([sample(0, 0.5, *path)])
    of = np.array([(0 << 32) | 1])
    gates = [
        AnswerNotImplied(least=0.25, long=0.75, text=0, facts=0, roles=2 * RELATIONS),
        ChainAddsLittle(least=1.0, long=3.0, share=np.array([0.5]), of=of),
    ]
    assert [gate.rejected(made).tolist() for gate in gates] == [[rejected]] * 2


def test_a_path_is_as_functional_as_its_better_direction() -> None:
    forwards, backwards = np.full(ROLES, 0.5), np.full(ROLES, 0.25)
    gate = PathLeadsAnywhere(least=0.25, forwards=forwards, backwards=backwards, symmetric=np.zeros(RELATIONS, np.bool_))
    paths = [(0,), (0, 2), (0, 2, 4)]
    assert [gate.rejected(to_samples([sample(0, 1.0, *path)])).tolist() for path in paths] == [[False], [False], [True]]
    turned_gate = replace(gate, forwards=backwards, backwards=forwards)
    assert [turned_gate.rejected(to_samples([sample(0, 1.0, *path)])).tolist() for path in paths] == [[False], [False], [True]]


@pytest.mark.parametrize(("least", "relation", "rejected"), [(0.1, 0, True), (0.1, 1, False), (0.0, 0, False)])
def test_a_symmetric_relation_is_allowed_only_on_paths_of_symmetric_relations(least: float, relation: int, rejected: bool) -> None:
    one = np.ones(ROLES)
    gate = PathLeadsAnywhere(least=least, forwards=one, backwards=one, symmetric=np.array([False, True, False]))
    assert gate.rejected(to_samples([sample(relation, 1.0, 0, 2)])).tolist() == [rejected]


def test_the_least_useful_samples_are_doubted_first_and_without_an_estimate_the_worst_graded() -> None:
    rows = alike({1: 5})[:2]
    by_grade = to_samples([replace(row, grades={1: (sure, 0, 0, 0, -1, -1, 0.0)}) for row, sure in zip(rows, (0.75, 0.5), strict=True)])
    by_use = to_samples(
        [replace(row, grades={1: (sure, 0, 0, 0, -1, -1, use)}) for row, sure, use in zip(rows, (0.75, 0.5), (0.25, 0.5), strict=True)]
    )
    assert _doubt(by_grade).tolist() == [-0.75, -0.5]
    assert _doubt(by_use).tolist() == [-0.25, -0.5]
