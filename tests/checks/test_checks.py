"""Every check finds what was planted for it and nothing in a clean set; no figure depends on the order of the questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kgqa.checks import CHECKS
from kgqa.checks.check import Check, ShareCheck
from kgqa.checks.findings import EXAMPLES, FAMILIES, STATES, Finding
from kgqa.checks.guess_check import GuessCheck
from kgqa.checks.near_shared import NearSharedCheck, NearSharedQuestions
from kgqa.checks.shared import SharedCheck
from kgqa.checks.support_position import SupportPosition
from kgqa.records import Instance
from tests.checks.sets import Maker, Splits, clean_set, findings, planted, with_answer

PLANTED = dict(planted())
NAMES = [check.name for check in CHECKS]


@pytest.fixture(scope="module")
def clean() -> Splits:
    return clean_set()


@pytest.fixture(scope="module")
def clean_findings(clean: Splits) -> dict[str, Finding]:
    return findings(clean)


def every_check(kind: type[Check] = Check) -> set[type[Check]]:
    """All that can be instantiated."""
    below = {check for child in kind.__subclasses__() for check in every_check(child)}
    return below | ({kind} if "name" in kind.__dict__ else set())


def test_every_check_is_listed_once_and_says_what_it_is() -> None:
    assert set(CHECKS) == every_check()
    assert len(set(NAMES)) == len(NAMES)
    for check in CHECKS:
        assert check.family in FAMILIES
        assert check.name not in FAMILIES
        for sentence in (check.meaning, check.remedy):
            assert sentence.endswith(".")
            assert "\n" not in sentence


def test_something_is_planted_for_every_check() -> None:
    assert set(PLANTED) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_a_clean_set(clean_findings: dict[str, Finding], name: str) -> None:
    finding = clean_findings[name]
    assert finding.applies
    assert finding.state == "none"
    if finding.family != "shortcut":
        assert finding.figure == 0
        assert not finding.examples


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_fault_is_found(clean: Splits, name: str) -> None:
    check = next(check for check in CHECKS if check.name == name)
    finding = findings(PLANTED[name](clean), checks=[check])[name]
    assert finding.state == ("counted" if finding.family == "overlap" else "found")
    share, low, high = finding.bounds
    # Two of three questions are spoilt; of their six paragraphs one.
    assert share == pytest.approx(1 / 9) if name == "near-duplicate-paragraphs" else 0.5 < share <= 1
    assert low <= share <= high
    assert 0 < len(finding.examples) <= EXAMPLES
    assert finding.total is not None
    assert finding.count is not None
    assert finding.count / finding.total == pytest.approx(share)


def figures(found: dict[str, Finding]) -> dict[str, tuple[object, ...]]:
    return {
        name: (f.figure, f.low, f.high, f.count, f.total, f.chance, [(p.name, p.count, p.total) for p in f.parts])
        for name, f in found.items()
    }


@pytest.mark.parametrize(
    "name",
    ["shared-questions", "near-duplicate-questions", "near-duplicate-paragraphs", "document-cue", "lexical-overlap", "question-words"],
)
def test_the_order_of_the_questions_changes_no_figure(clean: Splits, name: str) -> None:
    spoilt = PLANTED[name](clean)
    rng = np.random.default_rng(2)
    shuffled = {split: [instances[place] for place in rng.permutation(len(instances))] for split, instances in spoilt.items()}
    assert figures(findings(spoilt)) == figures(findings(shuffled))


def asked(question: str, answer: str) -> Instance:
    return replace(bare(Maker(1).question(question)), question=question, answers=(answer,))


@pytest.mark.parametrize(
    "train",
    [
        [("Who wrote the book of the green old sea near Oslo?", "Anna"), ("Who wrote the book of the green old sea near Oslo?", "Berta")],
        [("Who wro-te bo-ok of gre-en o-ld s-ea near Oslo?", "Berta"), ("Who wrote book of green old sea near Oslo?", "Berta")],
    ],
    ids=["one wording with two answers", "one wording in two spellings"],
)
def test_what_a_wording_comes_with_counts_in_any_order(train: list[tuple[str, str]]) -> None:
    dev = [asked("Who wrote the book of the green old sea near Oslo now?", "Berta")]
    for order in (train, train[::-1]):
        splits = {"train": [asked(*each) for each in order], "dev": dev}
        found = findings(splits, checks=[NearSharedQuestions])["near-duplicate-questions"]
        assert (found.count, found.total) == (1, 1)


def test_a_wording_counts_once_with_each_answer() -> None:
    question = "Who wrote the book of the green old sea near Oslo?"
    train = [asked(question, answer) for answer in ("Anna", "Berta", "Berta")]
    dev = [asked(f"{question} Now?", answer) for answer in ("Anna", "Berta", "Clara", "Anna")]
    found = findings({"train": train, "dev": dev}, checks=[NearSharedQuestions])["near-duplicate-questions"]
    assert (found.count, found.total) == (2, 3)


def test_the_same_questions_give_the_same_findings_and_another_seed_other_intervals(clean: Splits) -> None:
    spoilt = PLANTED["lexical-overlap"](clean)
    assert findings(spoilt) == findings(spoilt)
    one, other = (findings(spoilt, seed=seed)["lexical-overlap"] for seed in (1, 2))
    assert one.figure == other.figure
    assert (one.low, one.high) != (other.low, other.high)


def bare(instance: Instance) -> Instance:
    """Question and answer, and nothing else."""
    return replace(instance, paragraphs=(), candidates=None, decomposition=None, answer_type="span", answer_id=None)


def test_a_check_that_cannot_look_says_why_and_gives_no_figure(clean: Splits) -> None:
    found = findings({"dev": [bare(instance) for instance in clean["dev"]]})
    applying = {name for name, finding in found.items() if finding.applies}
    assert applying == {
        "answer-in-question", "question-words", "answer-type", "answer-frequency", "content-faults", "empty-fields",
        "broken-references", "degenerate-questions", "repeated-questions",
    }  # fmt: skip
    for name in set(NAMES) - applying:
        assert found[name].state == "does not apply"
        assert found[name].reason.endswith(".")
        assert found[name].low is found[name].count is found[name].total is None
    assert "on purpose" in found["empty-fields"].note


def test_one_split_is_compared_with_another_set(clean: Splits) -> None:
    spoilt = PLANTED["shared-questions"](clean)
    found = findings({"test": spoilt["dev"]}, {"other/train": clean["train"]})["shared-questions"]
    assert found.figure == pytest.approx(2 / 3)
    assert [part.name for part in found.parts] == ["test has of other/train"]


def test_splits_that_hide_their_answers_are_compared_by_wording(clean: Splits) -> None:
    spoilt = PLANTED["shared-questions"](clean)
    hidden = {**spoilt, "dev": [replace(instance, answers=(), answer_id=None) for instance in spoilt["dev"]]}
    assert findings(hidden)["shared-questions"].figure == pytest.approx(2 / 3)


def test_the_same_question_with_another_answer_is_no_leak(clean: Splits) -> None:
    found = findings(PLANTED["shared-wordings"](clean))
    assert found["shared-questions"].figure == 0
    assert found["shared-wordings"].figure == pytest.approx(2 / 3)


def test_a_question_does_not_help_to_guess_itself() -> None:
    maker = Maker(3)
    alone = {
        "dev": [with_answer(maker.question(str(number)), "Yes") if number == 0 else maker.question(str(number)) for number in range(60)]
    }
    found = findings(alone)
    for name in ("question-words", "document-cue", "answer-type", "answer-frequency"):
        assert found[name].figure == 0


def test_twins_stay_together_where_guesses_are_tried() -> None:
    maker = Maker(4)
    pairs = [(maker.question(f"{n}"), f"{n}") for n in range(60)]
    twins = {"dev": [replace(each, id=f"{name}{mark}", group=name) for each, name in pairs for mark in "ab"]}
    assert findings(twins)["document-cue"].figure == 0


def test_yes_and_no_are_guessed_by_majority_against_one_half() -> None:
    maker = Maker(6)
    boolean = [
        replace(maker.question(str(n)), answers=("yes" if n % 4 else "no",), answer_type="boolean", candidates=None, answer_id=None)
        for n in range(200)
    ]
    found = findings({"dev": boolean})["answer-type"]
    assert found.figure == pytest.approx(0.75)
    assert found.chance == pytest.approx(0.5)
    assert found.state == "found"


def test_a_small_set_finds_no_position_by_chance() -> None:
    positions = []
    for seed in range(40):
        found = findings(clean_set({"dev": 24}, seed=seed), checks=[SupportPosition])["support-position"]
        assert found.chance == pytest.approx(1 / 3)
        positions.append(found.bounds[0])
    # Chosen and tried on the same questions it would be about 0.5.
    assert np.mean(positions) == pytest.approx(1 / 3, abs=0.05)


def test_the_name_of_a_relation_makes_no_two_questions_alike(clean: Splits) -> None:
    relation = "is_located_in_or_next_to_the_same_body_of_water_as"

    def about(split: str) -> list[Instance]:
        return [replace(with_answer(i, "Danube"), question=f"{relation} x{split}{n}") for n, i in enumerate(clean[split])]

    found = findings({split: about(split) for split in clean}, checks=[NearSharedQuestions])["near-duplicate-questions"]
    assert found.figure == 0


def test_every_state_has_its_sentence(clean_findings: dict[str, Finding]) -> None:
    assert {finding.state for finding in clean_findings.values()} <= set(STATES)


def test_families_of_checks_are_what_they_are_called() -> None:
    assert all(check.family in {"leakage", "overlap"} for check in CHECKS if issubclass(check, SharedCheck | NearSharedCheck))
    assert all(check.family == "shortcut" for check in CHECKS if issubclass(check, GuessCheck))
    assert any(issubclass(check, ShareCheck) for check in CHECKS)
