"""DiRe: the trivial combination, the cap, all labels or nothing, any number of facts, groups of the wrong size."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from kgqa.errors import DuplicateId, InputError
from kgqa.metrics.dire import HEADINGS, SINGLE, DiReGold, DiRePrediction, dire, dire_probe, dire_probe_of_sufficiency, dire_sufficiency
from kgqa.metrics.hotpotqa import Fact, HotpotQAGold, HotpotQAPrediction, hotpotqa, titles
from tests.metrics.drawing import facts, ids, texts

ANSWER, PARAGRAPHS, SENTENCES, WITH_PARAGRAPHS, WITH_SENTENCES = HEADINGS
B, G = ("b", 0), ("g", 0)


def asked(*support: Fact, answer: str = "Cambridge", question_id: str = "q", bipartition: int = 0, label: int | None = None) -> DiReGold:
    return DiReGold(question_id=question_id, answer=answer, support=frozenset(support), bipartition=bipartition, sufficiency=label)


def said(answer: str, *sentences: Fact, confidence: float = 0.5, question_id: str = "q", label: int | None = None) -> DiRePrediction:
    support = frozenset(sentences)
    return DiRePrediction(
        question_id=question_id, answer=answer, paragraphs=titles(support), sentences=support, confidence=confidence, sufficiency=label
    )


predictions = st.builds(
    DiRePrediction, question_id=st.just("q"), answer=texts, paragraphs=st.frozensets(st.sampled_from("ABab"), max_size=3), sentences=facts,
    confidence=st.sampled_from((0.1, 0.5, 0.9)),
)  # fmt: skip


def test_worked_example_of_the_probe() -> None:
    gold = [asked(G), asked(B)]
    scores = dire_probe(gold, [said("Cambridge", G, ("a", 0), confidence=0.9), said("Harvard", B, confidence=0.4)])
    # The surer answer is right; of the three facts found together two are right: F1 2 · (2/3) / (5/3) = 4/5.
    assert scores.official == {
        "Answer Scores: f1": 100.0, "Answer Scores: em": 100.0, "Answer Scores: precision": 100.0, "Answer Scores: recall": 100.0,
        "Supporting Paragraph Scores: f1": 80.0, "Supporting Paragraph Scores: em": 0.0,
        "Supporting Paragraph Scores: precision": 66.7, "Supporting Paragraph Scores: recall": 100.0,
        "Supporting Sentence Scores: f1": 80.0, "Supporting Sentence Scores: em": 0.0,
        "Supporting Sentence Scores: precision": 66.7, "Supporting Sentence Scores: recall": 100.0,
        "Joint Answer + Supporting Paragraph Scores: f1": 80.0, "Joint Answer + Supporting Paragraph Scores: em": 0.0,
        "Joint Answer + Supporting Sentence Scores: f1": 80.0, "Joint Answer + Supporting Sentence Scores: em": 0.0,
    }  # fmt: skip
    assert scores.unrounded["Supporting Sentence Scores: precision"] == pytest.approx(200 / 3)


@pytest.mark.parametrize(("first", "second", "probe", "transformed"), [(0.6, 0.5, 1.0, 1.0), (0.5, 0.5, 1.0, 0.0), (0.4, 0.5, 0.0, 0.0)])
def test_of_equally_sure_answers_the_first_line_counts_in_the_probe_and_the_second_instance_in_the_transforms(
    first: float, second: float, probe: float, transformed: float
) -> None:
    pair = [said("Cambridge", confidence=first), said("Harvard", confidence=second)]
    assert dire_probe([asked(G), asked(B)], pair).per_record[f"{ANSWER}: em"] == {"q": probe}
    triple = [replace(pair[0], sufficiency=0), said("x", label=-1, confidence=1.0), replace(pair[1], sufficiency=0)]
    gold = [asked(G, label=0), asked(B, G, label=-1), asked(B, label=0)]
    assert dire_probe_of_sufficiency(gold, triple).per_record[f"{ANSWER}: em"] == {"q": transformed}


def numbered(items: list[Any]) -> list[Any]:
    return [replace(item, sub_idx=number) for number, item in enumerate(items)]


def test_lines_that_name_their_instance_may_be_in_another_order_than_the_instances() -> None:
    """The probe's tie is broken by the order of the lines, that of the transform's probe by the order of the gold."""
    right, wrong = numbered([said("Cambridge", label=0), said("Harvard", label=0)])
    gold = numbered([asked(G, label=0), asked(B, label=0)])
    for lines, em in (([right, wrong], 1.0), ([wrong, right], 0.0)):
        assert dire_probe(gold, lines).per_record[f"{ANSWER}: em"] == {"q": em}
        unsupported = [replace(asked(label=-1), sub_idx=2)], [replace(said("", label=-1), sub_idx=2)]
        scores = dire_probe_of_sufficiency([*gold, *unsupported[0]], [*lines, *unsupported[1]])
        assert scores.per_record[f"{ANSWER}: em"] == {"q": 0.0}


def test_three_supporting_facts_with_ties_in_every_bipartition() -> None:
    """Where all answers are equally sure, a bi-partition's first line counts; the best bi-partition counts."""
    gold = numbered([asked(G, bipartition=number) for number in (0, 1, 2, 2, 1, 0)])
    for place in range(6):
        lines = numbered([said("Cambridge" if number == place else "Harvard") for number in range(6)])
        for order in (1, -1):  # by their numbers, the lines mean the same instances from last to first
            first = place < 3 if order == 1 else place >= 3
            assert dire_probe(gold, lines[::order]).official[f"{ANSWER}: em"] == 100.0 * first
        plain = [replace(line, sub_idx=None) for line in lines]
        assert dire_probe(gold, plain).official[f"{ANSWER}: em"] == 100.0 * (place < 3)


def as_the_published_script(gold: list[DiReGold], lines: list[DiRePrediction]) -> dict[str, str]:
    """Question → the answer that counts: each instance in turn takes the last line that is left, then the strictly surer of two counts."""
    left = {instance.question_id: [line for line in lines if line.question_id == instance.question_id] for instance in gold}
    taken: dict[str, list[DiRePrediction]] = {}
    for instance in gold:
        taken.setdefault(instance.question_id, []).append(left[instance.question_id].pop())
    return {key: first.answer if first.confidence > second.confidence else second.answer for key, (first, second) in taken.items()}


@given(st.data())
def test_the_probe_prints_what_the_published_script_prints_whatever_the_order_of_lines(data: st.DataObject) -> None:
    gold = data.draw(st.permutations([asked(fact, question_id=key) for key in "pqr" for fact in (G, B)]))
    surely = st.sampled_from((0.1, 0.5, 0.5, 0.9))
    answers = st.sampled_from(("Cambridge", "Harvard"))
    lines = [said(data.draw(answers), confidence=data.draw(surely), question_id=item.question_id) for item in gold]
    if data.draw(st.booleans()):
        gold, lines = numbered(gold), numbered(lines)
    lines = data.draw(st.permutations(lines))
    counted = as_the_published_script(gold, lines)
    em = {key: float(counted[key] == "Cambridge") for key in counted}
    scores = dire_probe(gold, lines)
    assert scores.per_record[f"{ANSWER}: em"] == em
    assert scores.official[f"{ANSWER}: em"] == round(100 * sum(em.values()) / 3, 1)


@given(gold=st.dictionaries(ids, st.builds(HotpotQAGold, answer=texts, support=facts), min_size=1), said=st.dictionaries(ids, predictions))
def test_the_set_itself_scores_as_hotpotqa(gold: dict[str, HotpotQAGold], said: dict[str, DiRePrediction]) -> None:
    said = {key: replace(item, question_id=key, paragraphs=titles(item.sentences)) for key, item in said.items()}
    scores = dire(gold, said.values())
    same = hotpotqa(gold, {key: HotpotQAPrediction(answer=item.answer, support=item.sentences) for key, item in said.items()})
    assert (scores.missing, scores.extra) == (same.missing, same.extra)
    names = {ANSWER: "", PARAGRAPHS: "paragraph_", SENTENCES: "sp_", WITH_SENTENCES: "joint_"}
    for heading, prefix in names.items():
        for name, hotpot_name in (("f1", "f1"), ("em", "em"), ("precision", "prec"), ("recall", "recall")):
            if heading in SINGLE or name in {"f1", "em"}:
                assert scores.per_record[f"{heading}: {name}"] == pytest.approx(same.per_record[prefix + hotpot_name])
                assert scores.official[f"{heading}: {name}"] == pytest.approx(100 * same.unrounded[prefix + hotpot_name], abs=0.0500001)


@given(predictions, predictions, predictions)
def test_conditional_scores_are_the_minimum_with_the_whole_question(
    first: DiRePrediction, second: DiRePrediction, original: DiRePrediction
) -> None:
    gold = [asked(("a", 0), answer="new york"), asked(("B", 1), answer="new york")]
    free = dire_probe(gold, [first, second]).per_record
    capped = dire_probe(gold, [first, second], original=[original]).per_record
    whole = dire({"q": HotpotQAGold(answer="new york", support=frozenset({("a", 0), ("B", 1)}))}, [original]).per_record
    for name in free:
        if name.startswith(SINGLE):
            assert capped[name]["q"] == min(free[name]["q"], whole[name]["q"])
        else:
            assert capped[name]["q"] <= min(free[name]["q"], whole[name]["q"]) + 1e-12


@given(st.lists(st.tuples(predictions, predictions), min_size=1, max_size=3), predictions)
def test_over_bipartitions_the_best_of_each_score_counts(
    pairs: list[tuple[DiRePrediction, DiRePrediction]], original: DiRePrediction
) -> None:
    gold = [asked(("a", 0), answer="yes", bipartition=number) for number in range(len(pairs)) for _ in range(2)]
    said = [prediction for pair in pairs for prediction in pair]
    for whole in (None, [original]):
        together = dire_probe(gold, said, original=whole).per_record
        alone = [dire_probe(gold[:2], pair, original=whole).per_record for pair in pairs]
        for name, values in together.items():
            assert values == {"q": max(single[name]["q"] for single in alone)}
    labelled = [instance for number in range(len(pairs)) for instance in (
        asked(("a", 0), answer="yes", bipartition=number, label=0), asked(answer="yes", bipartition=number, label=-1),
        asked(("a", 0), answer="yes", bipartition=number, label=0),
    )]  # fmt: skip
    # The other way round, as the two scorers break ties between answers that are equally sure.
    triples = [
        prediction
        for first, second in pairs
        for prediction in (replace(second, sufficiency=0), said_unsupported(), replace(first, sufficiency=0))
    ]
    assert dire_probe_of_sufficiency(labelled, triples).per_record == dire_probe(gold, said).per_record


def said_unsupported() -> DiRePrediction:
    return said("yes", ("a", 0), confidence=1.0, label=-1)


def transformed(count: int) -> list[DiReGold]:
    """The sufficient instance of a question with so many facts, and one for each part of them that may be left."""
    support = [(f"fact {number}", 0) for number in range(count)]
    parts = [part for size in range(1, count) for part in combinations(support, size)]
    return [asked(*support, label=1), *(asked(*part, label=0) for part in parts)]


@given(count=st.integers(2, 4), data=st.data())
def test_one_wrong_label_costs_the_whole_question(count: int, data: st.DataObject) -> None:
    gold = data.draw(st.permutations(transformed(count)))
    right = [said("Cambridge" if item.sufficiency else "nothing", *item.support, label=item.sufficiency) for item in gold]
    assert set(dire_sufficiency(gold, right).official.values()) == {100.0}
    place = data.draw(st.integers(0, len(gold) - 1))
    wrong = [replace(item, sufficiency=1 - (item.sufficiency or 0)) if number == place else item for number, item in enumerate(right)]
    assert set(dire_sufficiency(gold, wrong).official.values()) == {0.0}


def test_what_insufficient_instances_are_labelled_with_does_not_count() -> None:
    gold = [asked(("z", 0), answer="other", label=0), asked(G, B, label=1), asked(("y", 1), label=0)]
    right = [said("x", label=0), said("Cambridge", B, G, label=1), said("x", label=0)]
    assert set(dire_sufficiency(gold, right).official.values()) == {100.0}


@given(st.integers(0, 2))
def test_one_wrong_label_costs_the_bipartition(place: int) -> None:
    gold = [asked(G, label=0), asked(B, label=0), asked(label=-1)]
    right = [said("Cambridge", G, label=0), said("Cambridge", B, label=0), said("", label=-1)]
    assert set(dire_probe_of_sufficiency(gold, right).official.values()) == {100.0}
    wrong = [replace(item, sufficiency=None) if number == place else item for number, item in enumerate(right)]
    assert set(dire_probe_of_sufficiency(gold, wrong).official.values()) == {0.0}


def test_the_support_of_the_unsupported_instance_is_no_label() -> None:
    gold = [asked(G, label=0), asked(B, label=0), asked(B, G, ("z", 0), label=-1)]
    right = [said("Cambridge", G, label=0), said("Cambridge", B, label=0), said("", ("y", 0), label=-1)]
    assert dire_probe_of_sufficiency(gold, right).official[f"{SENTENCES}: em"] == 100.0


@given(st.lists(st.sampled_from((-1, 0, 1, None)), min_size=1, max_size=8))
@example([1])
@example([0, 0])
@example([1, 0, 0])
@example([1, 0, 0, 0, 0])
@example([0, 0, 0, 1, 0, 0, 0])
@example([0, -1, 0])
def test_groups_of_the_wrong_size_or_labels_are_refused(labels: list[int | None]) -> None:
    gold = [asked(G, label=label) for label in labels]
    right = [said("x", label=label) for label in labels]
    key = (len(labels), labels.count(0), labels.count(1), labels.count(-1))
    for scorer, allowed, words in (
        (dire_probe, len(labels) == 2, "bi-partition 0: it has"),
        (dire_sufficiency, key in {(3, 2, 1, 0), (7, 6, 1, 0)}, "its group has"),
        (dire_probe_of_sufficiency, key == (3, 2, 0, 1), "a group has the labels 0, 0 and -1"),
    ):
        if allowed:
            assert len(scorer(gold, right).per_record) == 16
        else:
            with pytest.raises(InputError, match=words):
                scorer(gold, right)


def test_every_instance_of_a_group_needs_its_prediction_and_other_questions_are_extra() -> None:
    gold, pair = [asked(G), asked(B)], [said("x"), said("y")]
    with pytest.raises(InputError, match="question q: its instance 1 has no prediction"):
        dire_probe(gold, pair[:1])
    with pytest.raises(InputError, match="question q: the gold data lacks instance 2"):
        dire_probe(gold, [*pair, said("z")])
    with pytest.raises(InputError, match="question q: the original predictions lack it"):
        dire_probe(gold, pair, original=[said("x", question_id="z")])
    assert dire_probe(gold, [*pair, said("z", question_id="other")]).extra == ("other",)
    with pytest.raises(DuplicateId, match="question q: it was predicted more than once"):
        dire({"q": HotpotQAGold(answer="x", support=frozenset())}, pair)


def test_predictions_may_come_in_any_order_where_both_sides_number_them() -> None:
    gold = [replace(asked(G, B, label=1), sub_idx=2), replace(asked(B, label=0), sub_idx=0), replace(asked(G, label=0), sub_idx=1)]
    right = [
        replace(said("x", label=0), sub_idx=0),
        replace(said("Cambridge", B, G, label=1), sub_idx=2),
        replace(said("y", label=0), sub_idx=1),
    ]
    assert set(dire_sufficiency(gold, right).official.values()) == {100.0}
    with pytest.raises(DuplicateId, match="question q: its instance 2 occurs twice"):
        dire_sufficiency([gold[0], *gold], right)


@pytest.mark.real_data
def test_the_published_example_is_scored_and_its_incomplete_groups_are_refused(real_data: Path) -> None:
    folder = real_data / "hotpotqa" / "dire_fixtures"

    def instances(name: str) -> list[DiReGold]:
        return [
            replace(
                asked(
                    *map(tuple, record["supporting_facts"]),
                    answer=record["answer"],
                    question_id=record["_id"],
                    label=record.get("sufficiency"),
                ),
                sub_idx=record.get("sub_idx"),
            )
            for record in json.loads((folder / name).read_text("utf-8"))
        ]

    (original,) = instances("hotpotqa_fixture.json")
    whole = said("Cambridge", *original.support, question_id="123")
    question = HotpotQAGold(answer=original.answer, support=original.support)
    assert set(dire({"123": question}, [whole]).official.values()) == {100.0}
    probe = instances("probe_of_hotpotqa_fixture.json")
    pair = [said("Cambridge", *instance.support, question_id="123") for instance in probe]
    assert set(dire_probe(probe, pair, original=[whole]).official.values()) == {100.0}
    # The fixtures show two of the three instances of either group.
    for name, scorer in (
        ("transformed_hotpotqa_fixture.json", dire_sufficiency), ("probe_of_transformed_hotpotqa_fixture.json", dire_probe_of_sufficiency),
    ):  # fmt: skip
        shown = instances(name)
        assert len(shown) == 2
        with pytest.raises(InputError, match="question 123"):
            scorer(shown, [replace(whole, sub_idx=instance.sub_idx, sufficiency=instance.sufficiency) for instance in shown])
