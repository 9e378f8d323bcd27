"""What relations are worth asking about, from the definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.recipes.qangaroo.hops import TextHops
from kgqa.recipes.qangaroo.mining import Mined, Triples
from kgqa.recipes.qangaroo.relations import MANY, UNSTATED, RelationMeasures, relation_measures
from kgqa.rules.implied import mine_implied
from kgqa.rules.paths import mine_paths
from kgqa.settings.qangaroo import EvidenceSettings
from tests.recipes.qangaroo.mined import World, worlds
from tests.rules.drawing import Fact, Knowledge


def measured(known: Knowledge, facts: list[Fact]) -> RelationMeasures:
    """The measures of ``facts`` beside the texts of ``known``."""
    learned = replace(known, facts=facts, noise=[])
    head, relation, tail = learned.columns()
    none = np.zeros(0, np.int32)
    rules = mine_paths(learned.graph(), head, relation, tail, min_support=1, min_confidence=0.0, workers=1)
    hops = TextHops(offsets=np.zeros(1, np.int64), before=none, after=none, grades=none)
    found = Mined(hops=hops, rules=rules, implied=mine_implied(learned.graph(), head, relation, tail))
    tables = World(known=known, asked={}).tables()
    return relation_measures(Triples(head=head, relation=relation, tail=tail), found, known.relations, tables)


@given(world=worlds())
def test_the_measures_are_those_of_the_training_facts(world: World) -> None:
    facts, texts = world.training(), {(first, second) for first, second, _ in world.known.texts}
    found = measured(world.known, facts)
    for relation in range(world.known.relations):
        pairs = {(head, tail) for head, r, tail in facts if r == relation}
        subjects, objects = {head for head, _ in pairs}, {tail for _, tail in pairs}
        named = {(x, y) for x, y in texts if x in subjects and y in objects}
        counts = [int(column[relation]) for column in (found.facts, found.subjects, found.objects, found.named_together, found.stated)]
        assert counts == [len(pairs), len(subjects), len(objects), len(named), len(named & pairs)]
        assert found.objects_per_subject[relation] == len(pairs) / max(len(subjects), 1)
        lift = (len(named & pairs) / len(named)) / (len(pairs) / (len(subjects) * len(objects))) if named else 0
        assert found.text_lift[relation] == pytest.approx(lift)


@given(world=worlds(), max_objects=st.sampled_from([1.0, 1.5, 2.0]), text_lift=st.sampled_from([0.0, 1.0, 2.0]))
def test_a_relation_is_asked_about_unless_a_sentence_says_why_not(world: World, max_objects: float, text_lift: float) -> None:
    found = measured(world.known, world.training())
    verdicts = found.verdicts(EvidenceSettings(max_objects=max_objects, text_lift=text_lift))
    assert len(verdicts) == world.known.relations
    for relation, verdict in enumerate(verdicts):
        many = found.objects_per_subject[relation] > max_objects
        assert verdict == (MANY if many else UNSTATED if found.text_lift[relation] < text_lift else "")


def test_the_defaults_leave_a_functional_relation_that_texts_state_and_no_other() -> None:
    people, towns = range(10), range(10, 15)
    born = [(person, 0, 10 + person % 5) for person in people]  # texts state just these
    friends = [(person, 1, other) for person in range(12) for other in range(12) if person != other]  # eleven each
    likes = [(person, 2, 14 - person % 5) for person in people]  # no text knows of them
    texts = [(head, tail, 2) for head, _, tail in born]
    known = Knowledge(entities=15, symmetric=(False,) * 3, facts=sorted(born + friends + likes), noise=[], texts=texts)
    found = measured(known, known.facts)
    assert found.objects_per_subject.tolist() == [1, 11, 1]
    assert (found.text_lift[0], found.subjects[0], found.objects[0]) == (pytest.approx(5), len(people), len(towns))
    assert found.verdicts(EvidenceSettings()) == ["", MANY, UNSTATED]
