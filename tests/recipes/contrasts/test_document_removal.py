"""Document removal: what mentions a candidate stays, nothing else; and that the invariant notices anything else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given

from kgqa.errors import SettingsError
from kgqa.formats.provenance import noted
from kgqa.recipes.contrasts.document_removal import REASONS, document_removal, document_removal_faults
from kgqa.recipes.contrasts.questions import HIDDEN, UNANSWERABLE
from kgqa.records import Instance
from kgqa.runs.funnel import Rejection
from tests.recipes.contrasts.choices import CANDIDATES, PLACEHOLDERS, chosen, document, multiple_choice
from tests.recipes.contrasts.drawing import asked

FIRST = document("d0", [], supporting=True)
SECOND = document("d1", [CANDIDATES[0]], supporting=True)
OTHER = document("d2", [CANDIDATES[1]], supporting=False)


def made_of(instance: Instance) -> Instance:
    found = document_removal(instance)
    assert not isinstance(found, Rejection), found
    assert list(document_removal_faults(instance, found)) == []
    return found[0]


def reason(instance: Instance) -> str:
    found = document_removal(instance)
    assert isinstance(found, Rejection)
    assert found.detail
    return found.reason


@given(multiple_choice())
def test_every_question_is_kept_with_what_mentions_a_candidate_or_rejected(instance: Instance) -> None:
    candidates = [candidate.text for candidate in instance.candidates or ()]
    mentioning = [each for each in instance.paragraphs if any(text in each.text for text in candidates)]
    if not instance.answerable:
        assert reason(instance) == UNANSWERABLE
    elif not mentioning:
        assert reason(instance) == REASONS["nothing"]
    elif not any(instance.answers[0] in each.text for each in mentioning):
        assert reason(instance) == REASONS["no answer"]
    else:
        made = made_of(instance)
        assert list(made.paragraphs) == mentioning
        assert (made.id, made.candidates, made.answers) == (instance.id, instance.candidates, instance.answers)


@given(multiple_choice())
def test_the_invariant_notices_what_is_lost_left_turned_or_changed(instance: Instance) -> None:
    made = document_removal(instance)
    assume(isinstance(made, list))
    assert isinstance(made, list)
    (whole,) = made
    assert list(document_removal_faults(instance, [replace(whole, paragraphs=whole.paragraphs[1:])]))
    if len(whole.paragraphs) > 1:
        assert list(document_removal_faults(instance, [replace(whole, paragraphs=whole.paragraphs[::-1])]))
    if len(instance.paragraphs) > len(whole.paragraphs):
        assert list(document_removal_faults(instance, [replace(whole, paragraphs=instance.paragraphs)]))
    for changes in ({"candidates": ()}, {"answers": ("Ys",)}, {"id": "other"}, {"group": "other"}):
        assert list(document_removal_faults(instance, [replace(whole, **changes)])), changes


def test_the_first_document_of_the_chain_goes_with_the_chains_through_it() -> None:
    made = made_of(chosen([OTHER, FIRST, SECOND]))
    assert [each.id for each in made.paragraphs] == ["d2", "d1"]
    assert made.chains == ((), (), (), ())
    assert noted(made, "dire")["removed"] == ["d0"]
    assert [each.supporting for each in made.paragraphs] == [False, True]


@pytest.mark.parametrize("marked", [True, False])
def test_a_mention_is_a_marked_one_or_the_text(marked: bool) -> None:
    # What is linked by another name, and what is written but not linked, are mentions; a placeholder is the candidate's text.
    by_alias = replace(document("a", [CANDIDATES[1]], supporting=False), text="Document a tells of the sunken land.")
    by_title = replace(document("b", [], supporting=False, marked=marked), title="Camelot")
    within = replace(document("c", [], supporting=False, marked=marked), text="Camelots are none.")
    made = made_of(chosen([by_alias, by_title, within, document("d", [CANDIDATES[0]], supporting=True, marked=marked)]))
    assert [each.id for each in made.paragraphs] == ["a", "b", "d"]
    masked = [document("a", [PLACEHOLDERS[2]], supporting=False, marked=marked), document("b", [], supporting=True, marked=marked)]
    masked.append(document("c", [PLACEHOLDERS[0]], supporting=True, marked=marked))
    assert [each.id for each in made_of(chosen(masked, PLACEHOLDERS)).paragraphs] == ["a", "c"]


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (chosen([FIRST, SECOND], answers=()), HIDDEN),
        (asked([FIRST, SECOND]), REASONS["no candidates"]),
        (chosen([FIRST]), REASONS["nothing"]),
        (chosen([FIRST, OTHER]), REASONS["no answer"]),
    ],
)
def test_what_cannot_be_transformed(instance: Instance, expected: str) -> None:
    assert reason(instance) == expected


def test_the_gold_chain_can_be_thinned_too_but_not_twice() -> None:
    once = made_of(chosen([FIRST, SECOND]))
    with pytest.raises(SettingsError, match="made by document-removal already"):
        document_removal(once)
