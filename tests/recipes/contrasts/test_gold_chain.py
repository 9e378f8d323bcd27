"""The gold chain: what supports the answer, all of it and nothing else; and that the invariant notices anything else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given

from kgqa.errors import SettingsError
from kgqa.formats.provenance import everything, noted
from kgqa.recipes.contrasts.facts import support_of
from kgqa.recipes.contrasts.gold_chain import gold_chain, gold_chain_faults
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.questions import HIDDEN, REASONS, UNANSWERABLE, UNMARKED
from kgqa.records import Grade, Instance
from kgqa.runs.funnel import Rejection
from tests.recipes.contrasts.choices import CANDIDATES, chosen, document, multiple_choice
from tests.recipes.contrasts.drawing import asked, faced, paragraph

FIRST = document("d0", [], supporting=True)
SECOND = document("d1", [CANDIDATES[0]], supporting=True)
OTHER = document("d2", [CANDIDATES[1]], supporting=False)


def made_of(instance: Instance) -> Instance:
    found = gold_chain(instance)
    assert not isinstance(found, Rejection), found
    assert list(gold_chain_faults(instance, found)) == []
    return found[0]


def reason(instance: Instance) -> str:
    found = gold_chain(instance)
    assert isinstance(found, Rejection)
    assert found.detail
    return found.reason


@given(multiple_choice())
def test_every_question_is_kept_with_its_support_or_rejected(instance: Instance) -> None:
    supporting = [each for each in instance.paragraphs if each.supporting]
    if not instance.answerable or not supporting:
        assert reason(instance) == (UNMARKED if instance.answerable else UNANSWERABLE)
        return
    made = made_of(instance)
    assert list(made.paragraphs) == supporting
    assert (made.id, made.candidates, made.answers, made.chains) == (instance.id, instance.candidates, instance.answers, instance.chains)


@given(multiple_choice())
def test_the_invariant_notices_what_is_lost_left_turned_or_changed(instance: Instance) -> None:
    made = gold_chain(instance)
    assume(isinstance(made, list))
    assert isinstance(made, list)
    (whole,) = made
    assert list(gold_chain_faults(instance, [replace(whole, paragraphs=whole.paragraphs[1:])]))
    if len(whole.paragraphs) > 1:
        assert list(gold_chain_faults(instance, [replace(whole, paragraphs=whole.paragraphs[::-1])]))
    if len(instance.paragraphs) > len(whole.paragraphs):
        assert list(gold_chain_faults(instance, [replace(whole, paragraphs=instance.paragraphs)]))
    for changes in ({"candidates": ()}, {"answers": ("Ys",)}, {"id": "other"}, {"group": "other"}, {"chains": None}):
        assert list(gold_chain_faults(instance, [replace(whole, **changes)])), changes


def test_candidates_that_nothing_mentions_stay_and_chains_to_them_go() -> None:
    instance = chosen([OTHER, FIRST, SECOND])
    chains = (*(instance.chains or ())[:1], (("S", "d0", "x", "d2", "E1"),), (), ())
    grade = Grade(confidence=0.5, path="", text="")
    made = made_of(replace(instance, chains=chains, grades=(grade, grade, None, None)))
    assert [each.id for each in made.paragraphs] == ["d0", "d1"]
    assert made.candidates == CANDIDATES
    assert made.chains == (chains[0], (), (), ())
    assert made.grades is None


def test_all_chains_to_the_answer_are_shown() -> None:
    instance = chosen([FIRST, SECOND, replace(FIRST, id="d3"), OTHER])
    chains = ((("S", "d0", "x", "d1", "E0"), ("S", "d3", "x", "d1", "E0")), (), (), ())
    made = made_of(replace(instance, chains=chains))
    assert [each.id for each in made.paragraphs] == ["d0", "d1", "d3"]
    assert made.chains == chains


def test_a_question_without_candidates_keeps_its_steps() -> None:
    a, b, c = paragraph("a", ["A. "], supporting=(0,)), paragraph("b", ["Avalon. "], supporting=(0,)), paragraph("c", ["C. "])
    made = made_of(asked([c, b, a]))
    assert made.paragraphs == (b, a)
    assert [step.paragraph_id for step in made.decomposition or ()] == ["b", "a"]


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (chosen([FIRST, SECOND], answers=()), HIDDEN),
        (chosen([]), UNMARKED),
        (chosen([OTHER]), UNMARKED),
        (chosen([FIRST, replace(SECOND, supporting=None)]), UNMARKED),
        (chosen([FIRST, SECOND], provenance='{"hotpotqa": {"absent_facts": [["x", 0]]}}'), REASONS["absent"]),
        (replace(chosen([FIRST, SECOND, OTHER]), chains=((("S", "d0", "x", "d2", "E0"),), (), (), ())), REASONS["alternatives"]),
        (replace(asked([FIRST, SECOND]), paragraphs=(FIRST, replace(SECOND, supporting=False))), REASONS["alternatives"]),
    ],
)
def test_what_cannot_be_transformed(instance: Instance, expected: str) -> None:
    assert reason(instance) == expected


def test_what_was_done_is_noted() -> None:
    instance = chosen([OTHER, FIRST, SECOND])
    made = made_of(instance)
    note = noted(made, "dire")
    assert (note["transform"], note["question"], note["removed"], note["sufficiency"]) == ("gold-chain", "q", ["d2"], None)
    assert note["supporting"] == [list(fact) for fact in support_of(instance)]
    assert everything(made)["ours"] == {"kind": "bridge"}


def test_what_was_transformed_so_or_is_a_part_is_refused() -> None:
    with pytest.raises(SettingsError, match="made by gold-chain already"):
        gold_chain(made_of(chosen([FIRST, SECOND])))
    question = asked([paragraph("a", ["A. "], supporting=(0,)), paragraph("b", ["B. "], supporting=(0,)), paragraph("c", ["C. "])])
    with pytest.raises(SettingsError, match="parts of questions"):
        gold_chain(probe(faced(question))[0])
