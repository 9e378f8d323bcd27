"""The four transforms that take facts away, for any number of facts at both levels; and that their invariants notice what breaks them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.formats.provenance import everything, noted
from kgqa.recipes.contrasts.facts import FactQuestion, facts_of, support_of, texts_of
from kgqa.recipes.contrasts.instances import showing
from kgqa.recipes.contrasts.invariants import INVARIANTS
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.probe_of_sufficiency import probe_of_sufficiency
from kgqa.recipes.contrasts.sufficiency import sufficiency
from kgqa.recipes.contrasts.transforms import BY_FACTS
from kgqa.recipes.contrasts.trivial import trivial
from kgqa.records import Candidate, Grade, Instance
from tests.recipes.contrasts.drawing import any_question, asked, faced, paragraph, seeds

Transform = Callable[..., list[Instance]]
TRANSFORMS: dict[str, Transform] = {
    "probe": probe, "sufficiency": sufficiency, "probe-of-sufficiency": probe_of_sufficiency, "trivial": trivial,
}  # fmt: skip
CANDIDATE = Candidate(id="", text="a place")
EVERY = pytest.mark.parametrize("name", TRANSFORMS)


def note(instance: Instance) -> dict[str, Any]:
    return noted(instance, "dire")


def shown(question: FactQuestion, instance: Instance) -> list[str]:
    return texts_of(instance, facts_of(instance, question.level))


def support(question: FactQuestion) -> set[str]:
    return set(texts_of(question.instance, [question.facts[fact] for fact in question.supporting]))


def removed(question: FactQuestion, instance: Instance) -> set[str]:
    gone = Counter(shown(question, question.instance))
    gone.subtract(shown(question, instance))
    assert min(gone.values()) >= 0
    return {text for text, count in gone.items() if count}


def test_every_transform_has_an_invariant_and_a_test() -> None:
    assert set(TRANSFORMS) == set(INVARIANTS) == BY_FACTS


@EVERY
@given(question=any_question, seed=seeds)
def test_invariants_hold_for_any_number_of_facts(name: str, question: FactQuestion, seed: int) -> None:
    made = TRANSFORMS[name](question, seed=seed)
    assert list(INVARIANTS[name](question, made)) == []
    assert TRANSFORMS[name](question, seed=seed) == made


@EVERY
@given(question=any_question, seed=seeds, data=st.data())
def test_invariants_notice_a_lost_a_swapped_and_a_doubled_instance(
    name: str, question: FactQuestion, seed: int, data: st.DataObject
) -> None:
    made = TRANSFORMS[name](question, seed=seed)
    place = data.draw(st.integers(0, len(made) - 1))
    assert list(INVARIANTS[name](question, made[:place] + made[place + 1 :]))
    whole = replace(made[place], paragraphs=question.instance.paragraphs)
    assert list(INVARIANTS[name](question, [*made[:place], whole, *made[place + 1 :]]))
    if len(made[place].paragraphs) > 1:
        turned = replace(made[place], paragraphs=made[place].paragraphs[::-1])
        assert list(INVARIANTS[name](question, [*made[:place], turned, *made[place + 1 :]]))
    assert list(INVARIANTS[name](question, [*made, made[place]]))


@given(any_question)
def test_the_probe_divides_the_facts_in_every_way(question: FactQuestion) -> None:
    made, facts = probe(question), support(question)
    assert len(made) == 2 ** len(facts) - 2
    kept = [frozenset(facts - removed(question, instance)) for instance in made]
    assert len(set(kept)) == len(kept)
    for first, second in zip(kept[::2], kept[1::2], strict=True):
        assert first | second == facts
        assert not first & second
    assert [note(instance)["bipartition"] for instance in made] == [number // 2 for number in range(len(made))]
    assert all(note(instance)["sufficiency"] is None for instance in made)


@given(any_question, seeds)
def test_sufficiency_has_one_context_that_suffices_and_all_are_as_long(question: FactQuestion, seed: int) -> None:
    made, facts = sufficiency(question, seed=seed), support(question)
    assert len(made) == 2 ** len(facts) - 1
    assert [note(instance)["sufficiency"] for instance in made] == [1] + [0] * (len(made) - 1)
    assert {len(shown(question, instance)) for instance in made} == {len(question.facts) - len(facts) + 1}
    distractors = removed(question, made[0])
    assert not distractors & facts
    for instance in made[1:]:
        # Appendix A.3: what goes besides a part of the facts is of the distractors that the sufficient context lacks.
        assert removed(question, instance) - facts <= distractors
        assert (instance.answers, instance.answer_id, instance.answer_type, instance.answerable) == ((), None, "none", False)
        assert all(entry.supporting is None and entry.supporting_sentences is None for entry in instance.paragraphs)
        # Steps name answers and paragraphs, chains the way to them.
        assert (instance.decomposition, instance.chains) == (None, None)
    assert (made[0].answers, made[0].answerable) == (question.instance.answers, True)


@given(any_question, seeds)
def test_the_probe_of_sufficiency_takes_one_distractor_more_than_what_it_probes(question: FactQuestion, seed: int) -> None:
    facts = support(question)
    probed = {frozenset(removed(question, entry) & facts): removed(question, entry) - facts for entry in sufficiency(question, seed=seed)}
    made = probe_of_sufficiency(question, seed=seed)
    assert len(made) == 3 * (2 ** (len(facts) - 1) - 1)
    assert {len(shown(question, instance)) for instance in made} == {len(question.facts) - len(facts)}
    for instance in made:
        gone, also = removed(question, instance) & facts, removed(question, instance) - facts
        if note(instance)["sufficiency"] == 0:
            assert probed[frozenset(gone)] < also <= probed[frozenset()]
            assert len(also - probed[frozenset(gone)]) == 1
        else:
            assert (gone, also, instance.answers) == (facts, set(), ())


@given(any_question, seeds)
def test_trivial_copies_keep_everything_but_a_distractor(question: FactQuestion, seed: int) -> None:
    made = trivial(question, seed=seed)
    gone = [removed(question, instance) for instance in made]
    assert all(len(one) == 1 and not one & support(question) for one in gone)
    assert len(set(map(frozenset, gone))) == min(3, len(question.distractors))
    assert {(instance.answers, instance.answerable) for instance in made} == {(question.instance.answers, True)}


@EVERY
@given(question=any_question, seed=seeds)
def test_what_is_noted_is_what_was_done(name: str, question: FactQuestion, seed: int) -> None:
    made = TRANSFORMS[name](question, seed=seed)
    texts = dict(zip(map(str, question.name_facts(range(len(question.facts)))), shown(question, question.instance), strict=True))
    for number, instance in enumerate(made):
        values = note(instance)
        assert (values["question"], values["transform"], values["level"], values["sub_idx"]) == ("q", name, question.level, number)
        assert {texts[str(fact)] for fact in values["removed"]} == removed(question, instance)
        assert values["answers"] == list(question.instance.answers)
        assert values["supporting"] == [list(fact) for fact in support_of(question.instance)]
        assert everything(instance)["ours"] == {"kind": "bridge"}
        assert (instance.group, instance.question) == (question.instance.group, question.instance.question)
        assert json.loads(instance.provenance or "") == everything(instance)
    assert len({instance.id for instance in made}) == len(made)


@EVERY
@given(question=any_question, seed=seeds)
def test_what_refers_to_a_paragraph_that_is_gone_is_gone_too(name: str, question: FactQuestion, seed: int) -> None:
    for instance in TRANSFORMS[name](question, seed=seed):
        there = {entry.id for entry in instance.paragraphs}
        if name == "sufficiency" and not instance.answers:
            continue
        before = {step.id: step.paragraph_id for step in question.instance.decomposition or ()}
        assert [step.paragraph_id for step in instance.decomposition or ()] == [
            place if place in there else None for place in before.values()
        ]


def test_chains_through_a_removed_document_are_gone() -> None:
    paragraphs = [paragraph("a", ["A. "], supporting=(0,)), paragraph("b", ["B. "], supporting=(0,)), paragraph("c", ["C. "])]
    chains = ((("s", "a", "x", "b", "E7"),), (("s", "a", "y", "c", "E8"), ("s", "c", "E8")))
    candidates = tuple(replace(CANDIDATE, id=name) for name in ("E7", "E8"))
    instance = asked(paragraphs, chains=chains, candidates=candidates, answer_id="E7", answer_type="candidate")
    without_a, without_b = probe(faced(instance))
    assert without_a.chains == ((), (("s", "c", "E8"),))
    assert without_b.chains == ((), chains[1])
    assert without_a.candidates == candidates
    whole, *parts = sufficiency(faced(instance), seed=1)
    assert whole.chains == (chains[0], ())
    assert [part.chains for part in parts] == [None, None]


def test_grades_stay_only_where_all_chains_do() -> None:
    paragraphs = [paragraph(name, [f"{name}. "], supporting=(0,) if name in "ab" else ()) for name in "abcd"]
    chains = ((("s", "a", "x", "b", "E7"),), (("s", "c", "E8"),))
    candidates = tuple(replace(CANDIDATE, id=name) for name in ("E7", "E8"))
    grades = (Grade(confidence=0.5, path="place of birth", text="in one sentence"), None)
    instance = asked(paragraphs, chains=chains, candidates=candidates, grades=grades, answer_id="E7", answer_type="candidate")
    assert showing(instance, tuple(paragraphs[:3]), removed_facts=["d"]).grades == grades
    assert showing(instance, (*paragraphs[:2], paragraphs[3]), removed_facts=["c"]).grades is None
    assert {part.grades for part in probe(faced(instance))} == {None}
    seen = set()
    for seed in range(20):
        whole, *parts = sufficiency(faced(instance), seed=seed)
        assert whole.grades == (grades if whole.chains == chains else None)
        assert {part.grades for part in parts} == {None}
        seen.add(whole.grades)
    assert seen == {grades, None}


def test_the_answer_is_a_label_only_where_a_fact_that_is_there_states_it() -> None:
    paragraphs = [paragraph("a", ["He went to Avalon. "], supporting=(0,)), paragraph("b", ["He left. "], supporting=(0,))]
    paragraphs.append(paragraph("c", ["Avalon is far. "]))
    without_a, without_b = probe(faced(asked(paragraphs)))
    assert (without_a.answers, without_a.answerable, without_a.answer_type) == ((), False, "none")
    assert (without_b.answers, without_b.answerable, without_b.answer_type) == (("Avalon", "Isle of Apples"), True, "span")
    # A comparison's yes is in no text, and every supporting fact has a part in it; an alias, a title, or a mention of the answer's entity
    # is enough.
    boolean = faced(asked(paragraphs, answers=("yes",), answer_type="boolean"))
    assert [instance.answers for instance in probe(boolean)] == [("yes",), ("yes",)]
    assert not list(INVARIANTS["probe"](boolean, probe(boolean)))
    alias = [replace(paragraphs[0], text="He went to the isle of apples. ", mentions=None), *paragraphs[1:]]
    assert [bool(instance.answers) for instance in probe(faced(asked(alias)))] == [False, True]
    titled = [paragraphs[1], replace(paragraphs[0], text="He went. ", mentions=None, title="Avalon"), paragraphs[2]]
    assert [bool(instance.answers) for instance in probe(faced(asked(titled)))] == [True, False]
    mentioned = [replace(paragraphs[0], text="He went to that place."), *paragraphs[1:]]
    found = probe(faced(asked(mentioned, answer_id="E7")))
    assert [(bool(instance.answers), instance.answer_id) for instance in found] == [(False, None), (True, "E7")]


def test_the_invariant_notices_an_insufficient_context_that_names_steps_or_chains() -> None:
    question = faced(asked([paragraph("a", ["A. "], supporting=(0,)), paragraph("b", ["B. "], supporting=(0,)), paragraph("c", ["C. "])]))
    whole, part, *others = sufficiency(question, seed=1)
    for named in ({"decomposition": question.instance.decomposition}, {"chains": ()}, {"grades": ()}):
        assert list(INVARIANTS["sufficiency"](question, [whole, replace(part, **named), *others]))


@given(any_question, seeds)
def test_texts_are_shared_and_not_copied(question: FactQuestion, seed: int) -> None:
    if question.level == "paragraph":
        texts = {id(entry.text) for entry in question.instance.paragraphs}
        made = [*probe(question), *sufficiency(question, seed=seed)]
        assert {id(entry.text) for instance in made for entry in instance.paragraphs} <= texts


def test_the_draw_depends_on_the_question_and_the_seed() -> None:
    paragraphs = [paragraph("a", ["A. "], supporting=(0,)), paragraph("b", ["B. "], supporting=(0,))]
    paragraphs += [paragraph(f"d{number}", [f"D{number}. "]) for number in range(8)]
    drawn = {
        (key, seed): note(sufficiency(faced(asked(paragraphs, id=key)), seed=seed)[0])["removed"][0] for key in "qrst" for seed in range(25)
    }
    counts = Counter(drawn.values())
    # 100 draws from eight distractors: each is drawn, and none much more often than 12 or 13 times.
    assert len(counts) == 8
    assert max(counts.values()) < 30
    assert len({tuple(drawn[key, seed] for seed in range(25)) for key in "qrst"}) == 4
