"""StrategyQA: accuracy, SARI by hand and by properties, recall over annotators, tasks that are not done."""

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import InputError, MissingInput, UnknownId
from kgqa.metrics.strategyqa import StrategyQAGold, StrategyQAPrediction, recall, sari, strategyqa

SENTENCES = st.lists(st.sampled_from(("is", "it", "x?", "?", "the")), max_size=7).map(" ".join)
ASKED = StrategyQAGold(question="Is it?", answer=True, decomposition=("What is it?", "Is #1?"), evidence=(frozenset("ab"), frozenset()))


def test_worked_example() -> None:
    gold = {"a": ASKED, "b": ASKED}
    right = StrategyQAPrediction(answer=True, decomposition=ASKED.decomposition, paragraphs=("a",))
    scores = strategyqa(
        gold, {"a": right, "b": StrategyQAPrediction(answer=False, decomposition=ASKED.decomposition, paragraphs=("b", "a"))}
    )
    assert scores.official == {"Accuracy": 0.5, "SARI": 1.0, "Recall@10": 0.75}
    assert scores.per_record["Recall@10"] == {"a": 0.5, "b": 1.0}


@pytest.mark.parametrize(
    ("source", "prediction", "target", "value"),
    [
        ("g f c b e f g c g", "d f d a a a b d", "f e f c c", 0.4569444444444444),
        ("d c c b f d a a", "g c c a g", "d c f c g a", 0.5694444444444445),
        ("f a b a d d e", "c a a c e", "f b e", 0.561111111111111),
    ],
)
def test_the_last_digit_is_the_same_where_sums_make_up_for_rounding(
    source: str, prediction: str, target: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``sum`` does from Python 3.12 on, and did not where the evaluator runs."""
    monkeypatch.setattr(builtins, "sum", math.fsum)
    assert sari(source, prediction, target) == value


def test_sari_by_hand() -> None:
    # One token each: nothing of "a" is kept, rightly (0/0 = 1); "b" was added and "c" should have been: 0; "a" was deleted, rightly: 1.
    # Longer n-grams: there are none, 0/0 = 1 throughout.
    assert sari("a", "b", "c") == pytest.approx((1 + 3 / 4 + 1) / 3)
    # Kept "a" of "a" and "b", rightly: 1; added nothing, rightly: 1; deleted "b", which should have stayed: precision 0, and so for "a b".
    assert sari("a b", "a", "a b") == pytest.approx(((2 / 3 + 0 + 1 + 1) / 4 + 1 + (0 + 0 + 1 + 1) / 4) / 3)


@given(SENTENCES, SENTENCES)
def test_the_target_itself_has_the_best_score(source: str, target: str) -> None:
    assert sari(source, target, target) == 1.0


@given(SENTENCES, SENTENCES, SENTENCES)
def test_sari_is_a_share_and_takes_n_grams_as_sets_of_tokens(source: str, prediction: str, target: str) -> None:
    score = sari(source, prediction, target)
    assert 0 <= score <= 1
    assert score == sari(source.replace("?", " ?"), f"  {prediction} ", target.replace(" ", "\n"))


def test_deletion_has_no_recall() -> None:
    # Deleting one of the two tokens that should go is fully precise; deleting the third is not.
    assert sari("x y z", "y z", "z") > sari("x y z", "x y", "z")
    assert sari("a b", "", "c d") == pytest.approx((1 + (0 + 0 + 1 + 1) / 4 + 1) / 3)


@given(st.lists(st.sampled_from("abcdefghijklmnop"), unique=True), st.lists(st.frozensets(st.sampled_from("abcdefghijklmnop")), max_size=3))
def test_recall_is_that_of_the_best_annotator_among_the_first_ten(paragraphs: list[str], evidence: list[frozenset[str]]) -> None:
    single = [recall(paragraphs, [wanted]) for wanted in evidence]
    assert recall(paragraphs, evidence) == max(single, default=0.0)
    for wanted, score in zip(evidence, single, strict=True):
        assert score == (sum(paragraph in wanted for paragraph in paragraphs[:10]) / len(wanted) if wanted else 0.0)


def test_the_eleventh_paragraph_is_not_looked_at() -> None:
    assert recall([*"0123456789", "a"], [frozenset("a9")]) == 0.5
    assert recall([*"012345678", "a"], [frozenset("a9")]) == 0.5


def test_a_task_that_nobody_does_is_0_and_has_no_records() -> None:
    scores = strategyqa({"a": ASKED}, {"a": StrategyQAPrediction(answer=True)})
    assert scores.official == {"Accuracy": 1.0, "SARI": 0.0, "Recall@10": 0.0}
    assert list(scores.per_record) == ["Accuracy"]
    with pytest.raises(InputError, match="SARI: 1 predictions lack what it scores, others have it: b"):
        strategyqa(
            {"a": ASKED, "b": ASKED}, {"a": StrategyQAPrediction(answer=True, decomposition=("x",)), "b": StrategyQAPrediction(answer=True)}
        )


def test_missing_and_extra_ids_are_refused_as_by_the_evaluator() -> None:
    said = StrategyQAPrediction(answer=True)
    with pytest.raises(MissingInput, match="1 of 2 questions have no prediction: b"):
        strategyqa({"a": ASKED, "b": ASKED}, {"a": said})
    with pytest.raises(UnknownId, match="for other questions: c"):
        strategyqa({"a": ASKED}, {"a": said, "c": said})


@pytest.mark.real_data
def test_gold_decompositions_and_evidence_of_the_dev_set(real_data: Path) -> None:
    gold = {
        record["qid"]: StrategyQAGold(
            question=record["question"],
            answer=record["answer"],
            decomposition=tuple(record["decomposition"]),
            evidence=tuple(
                frozenset(paragraph for step in annotator for found in step if isinstance(found, list) for paragraph in found)
                for annotator in record["evidence"]
            ),
        )
        for record in json.loads((real_data / "strategyqa" / "dev.json").read_text("utf-8"))
    }
    assert len(gold) == 229
    # Ids in the order of their names, so that an annotator with more than ten paragraphs loses the same ones each time.
    found = {key: tuple(sorted(min(filter(None, asked.evidence), key=len, default=()))) for key, asked in gold.items()}
    predictions = {
        key: StrategyQAPrediction(answer=asked.answer, decomposition=asked.decomposition, paragraphs=found[key])
        for key, asked in gold.items()
    }
    scores = strategyqa(gold, predictions)
    assert scores.official["Accuracy"] == scores.official["SARI"] == 1.0
    assert scores.per_record["Recall@10"] == {key: float(bool(paragraphs)) for key, paragraphs in found.items()}
