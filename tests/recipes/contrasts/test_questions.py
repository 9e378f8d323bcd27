"""Which questions can be transformed; the others are rejected with the reason that holds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given

from kgqa.errors import SettingsError
from kgqa.recipes.contrasts.facts import FactQuestion, facts_of, texts_of
from kgqa.recipes.contrasts.invariants import INVARIANTS, sufficiency_faults
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.probe_of_sufficiency import probe_of_sufficiency
from kgqa.recipes.contrasts.questions import HIDDEN, REASONS, UNANSWERABLE, UNMARKED, question_of
from kgqa.recipes.contrasts.sufficiency import sufficiency
from kgqa.recipes.contrasts.trivial import trivial
from kgqa.records import Candidate, Instance
from kgqa.runs.funnel import Rejection
from tests.recipes.contrasts.drawing import asked, faced, instances, paragraph

A, B = paragraph("a", ["Avalon is an isle. "], supporting=(0,)), paragraph("b", ["The king left. "], supporting=(0,))
C, D = paragraph("c", ["A castle. "]), paragraph("d", ["A lake. "])


def reason(instance: Instance, *, level: str = "paragraph", max_facts: int = 6) -> str | None:
    found = question_of(instance, level=level, max_facts=max_facts)
    return found.reason if isinstance(found, Rejection) else None


def test_a_question_with_two_facts_and_one_distractor_will_do() -> None:
    question = faced(asked([A, C, B]))
    assert (question.supporting, question.distractors) == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("instance", "level", "expected"),
    [
        (asked([A, B, C], answers=()), "paragraph", HIDDEN),
        (asked([A, B, C], answers=(" ",)), "paragraph", UNANSWERABLE),
        (asked([A, B, C], answerable=False), "paragraph", UNANSWERABLE),
        (asked([]), "paragraph", UNMARKED),
        (asked([A, B, replace(C, supporting=None)]), "paragraph", UNMARKED),
        (asked([A, B, C], provenance='{"hotpotqa": {"absent_facts": [["x", 0]]}}'), "paragraph", REASONS["absent"]),
        (asked([A, B, C], provenance='{"twowiki": {"supporting_facts": [["x", 0]]}}'), "paragraph", REASONS["absent"]),
        (asked([A, C]), "paragraph", REASONS["few"]),
        (asked([C, D]), "paragraph", REASONS["few"]),
        (asked([A, B]), "paragraph", REASONS["short"]),
        (asked([A, B, replace(A, id="again", supporting=False, supporting_sentences=())]), "paragraph", REASONS["twice"]),
        (asked([A, B, replace(C, sentences=None, supporting_sentences=None)]), "sentence", REASONS["sentences"]),
        (asked([A, replace(B, supporting_sentences=()), C]), "sentence", UNMARKED),
        (asked([A, B, paragraph("e", ["A gate. ", "Avalon is an isle. "])]), "sentence", REASONS["twice"]),
        (asked([A, B, replace(B, id="again"), C, D]), "paragraph", REASONS["twice"]),
        (asked([A, B, replace(B, id="again", text=" The king left.", sentences=(0,), supporting=False), C]), "paragraph", REASONS["twice"]),
        (asked([paragraph("e", ["Avalon is an isle. "] * 2, supporting=(0, 1)), B, C, D]), "sentence", REASONS["twice"]),
    ],
)
def test_what_cannot_be_transformed(instance: Instance, level: str, expected: str) -> None:
    assert reason(instance, level=level) == expected


@pytest.mark.parametrize("level", ["paragraph", "sentence"])
def test_whatever_facts_say_the_same_no_part_of_them_says_it_all(level: str) -> None:
    @given(instances(level=level, most=4, alike=True))
    def holds(instance: Instance) -> None:
        found = question_of(instance, level=level, max_facts=6)
        texts = [text.strip() for text in texts_of(instance, facts_of(instance, level))]
        if isinstance(found, Rejection):
            assert found.reason == REASONS["twice"]
            assert len(set(texts)) < len(texts)
            return
        wanted = {texts[fact] for fact in found.supporting}
        for part in sufficiency(found, seed=1):
            shown = {text.strip() for text in texts_of(part, facts_of(part, level))}
            assert (wanted <= shown) == bool(part.answers)
        made = {"probe": probe, "sufficiency": sufficiency, "probe-of-sufficiency": probe_of_sufficiency, "trivial": trivial}
        for name, transform in made.items():
            assert list(INVARIANTS[name](found, transform(found, seed=1))) == []

    holds()


def test_the_limit_of_facts_and_the_distractors_that_they_need() -> None:
    facts = [paragraph(f"f{number}", [f"Fact {number}. "], supporting=(0,)) for number in range(4)]
    others = [paragraph(f"o{number}", [f"Other {number}. "]) for number in range(3)]
    assert reason(asked([*facts, *others])) is None
    assert reason(asked([*facts, *others]), max_facts=4) is None
    assert reason(asked([*facts, *others]), max_facts=3) == REASONS["many"]
    assert reason(asked([*facts, *others[:2]])) == REASONS["short"]


def test_parts_of_questions_are_not_transformed_again_but_a_whole_question_is() -> None:
    for instance in (*probe(faced(asked([A, B, C]))), *sufficiency(faced(asked([A, B, C])), seed=1)):
        with pytest.raises(SettingsError, match="contains parts of questions"):
            question_of(instance, level="paragraph", max_facts=6)
    earlier = json.dumps({"dire": {"transform": "adversarial", "question": "q"}, "ours": {}})
    (again, *_) = probe(faced(asked([A, B, C], provenance=earlier)))
    assert json.loads(again.provenance or "")["dire"]["of"] == {"transform": "adversarial", "question": "q"}


class TestSeveralChainsToTheAnswer:
    """As in MedHop: taking one paragraph of one chain away leaves the other chain."""

    CANDIDATES = (Candidate(id="E7", text="Avalon"), Candidate(id="E8", text="Orkney"))

    def question(self, *chains: tuple[str, ...], other: tuple[str, ...] = ("s", "c", "E8")) -> Instance:
        documents = [A, B, C, D, paragraph("e", ["A ship. "], supporting=(0,)), paragraph("f", ["A sail. "], supporting=(0,))]
        marked = {name for chain in chains for name in chain[1::2]}
        paragraphs = [replace(entry, supporting=entry.id in marked, supporting_sentences=None) for entry in documents]
        return asked(paragraphs, candidates=self.CANDIDATES, chains=(chains, (other,)), answer_id="E7", answer_type="candidate")

    def test_the_shortest_is_kept_and_what_only_the_others_need_goes(self) -> None:
        question = faced(self.question(("s", "a", "x", "e", "y", "f", "E7"), ("s", "a", "x", "b", "E7"), ("s", "e", "z", "b", "E7")))
        instance = question.instance
        assert [entry.id for entry in instance.paragraphs] == ["a", "b", "c", "d"]
        assert question.dropped == ("e", "f")
        assert instance.chains == ((("s", "a", "x", "b", "E7"),), (("s", "c", "E8"),))
        made = sufficiency(question, seed=1)
        assert not list(sufficiency_faults(question, made))
        assert json.loads(made[0].provenance or "")["dire"]["dropped"] == ["e", "f"]

    def test_one_chain_alone_is_kept_as_it_is(self) -> None:
        instance = self.question(("s", "a", "x", "b", "E7"))
        question = question_of(instance, level="paragraph", max_facts=6)
        assert isinstance(question, FactQuestion)
        assert question.instance is instance
        assert question.dropped == ()

    def test_marks_that_are_not_those_of_the_chains_are_not_guessed_about(self) -> None:
        instance = self.question(("s", "a", "x", "b", "E7"))
        more = replace(instance, paragraphs=(*instance.paragraphs, replace(A, id="g", text="More.")))
        assert reason(more) == REASONS["alternatives"]
        assert reason(replace(instance, answer_id="E9")) == REASONS["alternatives"]
