"""What relations are worth asking about, from the definitions."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kgqa.recipes.qangaroo.relations import MANY, UNSTATED
from kgqa.rules.roles import SYMMETRIC
from kgqa.settings.qangaroo import EvidenceSettings
from tests.recipes.qangaroo.mined import World, measured, worlds
from tests.rules.drawing import Fact, Knowledge


@given(world=worlds())
def test_the_measures_are_those_of_the_training_facts(world: World) -> None:
    facts, texts = world.training(), {(first, second) for first, second, _ in world.known.texts}
    found = measured(world.known, facts)
    for relation in range(world.known.relations):
        pairs = {(head, tail) for head, r, tail in facts if r == relation}
        subjects, objects = {head for head, _ in pairs}, {tail for _, tail in pairs}
        named = {(x, y) for x, y in texts if x in subjects and y in objects}
        both = {(head, tail) for head, tail in pairs if (tail, head) in pairs}
        columns = (found.facts, found.subjects, found.objects, found.named_together, found.stated, found.turned)
        counts = [int(column[relation]) for column in columns]
        assert counts == [len(pairs), len(subjects), len(objects), len(named), len(named & pairs), len(both)]
        assert found.symmetric[relation] == (len(pairs) > 0 and len(both) / len(pairs) >= SYMMETRIC)
        assert found.objects_per_subject[relation] == len(pairs) / max(len(subjects), 1)
        assert found.subjects_per_object[relation] == len(pairs) / max(len(objects), 1)
        assert found.fewest[relation] == len(pairs) / max(len(subjects), len(objects), 1)
        lift = (len(named & pairs) / len(named)) / (len(pairs) / (len(subjects) * len(objects))) if named else 0
        assert found.text_lift[relation] == pytest.approx(lift)


@given(world=worlds(), max_objects=st.sampled_from([1.0, 1.5, 2.0]), text_lift=st.sampled_from([0.0, 1.0, 2.0]))
def test_a_relation_is_kept_unless_it_has_a_reason_for_exclusion(world: World, max_objects: float, text_lift: float) -> None:
    found = measured(world.known, world.training())
    verdicts = found.verdicts(EvidenceSettings(max_objects=max_objects, text_lift=text_lift))
    assert len(verdicts) == world.known.relations
    for relation, verdict in enumerate(verdicts):
        most = max_objects / 2 if found.symmetric[relation] else max_objects
        many = found.objects_per_subject[relation] > most and found.subjects_per_object[relation] > most
        unstated = found.named_together[relation] > 0 and found.text_lift[relation] < text_lift
        assert verdict == (MANY if many else UNSTATED if unstated else "")


def test_the_defaults_keep_only_functional_relations_that_texts_state() -> None:
    people, towns = range(10), range(10, 15)
    born = [(person, 0, 10 + person % 5) for person in people]  # texts state just these
    friends = [(person, 1, other) for person in range(12) for other in range(12) if person != other]  # eleven each
    likes = [(person, 2, 14 - person % 5) for person in people]  # texts name such pairs together, but seldom these
    texts = [(head, tail, 2) for head, _, tail in born]
    known = Knowledge(entities=15, symmetric=(False,) * 3, facts=sorted(born + friends + likes), noise=[], texts=texts)
    found = measured(known, known.facts)
    assert found.objects_per_subject.tolist() == [1, 11, 1]
    assert (found.text_lift[0], found.subjects[0], found.objects[0]) == (pytest.approx(5), len(people), len(towns))
    assert found.verdicts(EvidenceSettings()) == ["", MANY, UNSTATED]


def asked(facts: list[Fact], texts: list[tuple[int, int, int]], **settings: float) -> str:
    """The verdict of a single relation between eight entities."""
    known = Knowledge(entities=8, symmetric=(False,), facts=sorted(facts), noise=[], texts=texts)
    [verdict] = measured(known, known.facts).verdicts(EvidenceSettings.model_validate(settings))
    return verdict


def test_a_relation_without_comentions_is_not_excluded_by_lift() -> None:
    facts = [(0, 0, 4), (1, 0, 5)]
    assert asked(facts, [], text_lift=2) == ""
    assert asked(facts, [(0, 5, 2)], text_lift=2) == UNSTATED


def test_many_objects_do_no_harm_where_each_has_few_subjects() -> None:
    parts = [(head, 0, tail) for head, tails in ((0, (2, 3, 4)), (1, (5, 6, 7))) for tail in tails]
    assert asked(parts, [], max_objects=2) == ""
    assert asked([(head, 0, tail) for head in (0, 1, 2) for tail in (5, 6, 7)], [], max_objects=2) == MANY


def test_a_symmetric_relation_may_have_half_as_many() -> None:
    ring = [(one, 0, (one + step) % 8) for one in range(8) for step in (1, 2)]
    assert asked(ring, [], max_objects=3) == ""
    assert asked([(one, 0, (one + step) % 8) for one in range(8) for step in (1, 7)], [], max_objects=3) == MANY
