"""The unanswerable twin: one step's answer is nowhere, everything else is as it was where it can be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import SettingsError
from kgqa.formats import musique
from kgqa.formats.provenance import noted
from kgqa.recipes.contrasts.pool import COMMON, PER_WORD, Collector, Pool
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.questions import UNANSWERABLE
from kgqa.recipes.contrasts.unanswerable import REASONS, unanswerable, unanswerable_faults
from kgqa.recipes.names.statements import names
from kgqa.records import Instance, Mention, Paragraph, Step
from kgqa.runs.funnel import Rejection
from tests.recipes.contrasts.drawing import asked, faced, seeds

TOWNS = ("Bath", "Ely", "Hull", "Leeds", "Ripon", "Truro", "Wells", "York")


def page(place: int, text: str, *, supporting: bool = False) -> Paragraph:
    return Paragraph(
        id=str(place), title=f"Page {place}", text=text, supporting=supporting, mentions=None, sentences=None, supporting_sentences=None
    )


def question(number: int, **changes: object) -> Instance:
    """Who was born where? A person's town, and the town's river."""
    town = TOWNS[number]
    paragraphs = [
        page(0, f"Carver {number} was born in {town}.", supporting=True),
        page(1, f"{town} lies on river {number}.", supporting=True),
        page(2, f"The {town}-based mill of carver {number} burned down."),
        *(page(place, f"Sentence {place} of set {number}.") for place in range(3, 8)),
    ]
    steps = (
        Step(id="s1", question=f"Carver {number} >> born in", answer=town, paragraph_id="0", depends_on=()),
        Step(id="s2", question="#1 >> river", answer=f"river {number}", paragraph_id="1", depends_on=("s1",)),
    )
    fields: dict[str, object] = {"id": f"q{number}", "group": f"q{number}", "question": f"On what river was carver {number} born?",
              "answers": (f"river {number}", f"stream {number}"), "decomposition": steps, "provenance": None, **changes}  # fmt: skip
    return asked(paragraphs, **fields)


SET = [question(number) for number in range(8)]


def pool_of(instances: Sequence[Instance], size: int = 1_000) -> Pool:
    collector = Collector(seed=1, size=size)
    for instance in instances:
        collector.see(instance)
    return collector.pool()


POOL = pool_of(SET)


@given(st.sampled_from(SET), seeds)
def test_one_step_has_no_answer_in_the_twin(instance: Instance, seed: int) -> None:
    made = unanswerable(instance, pool=POOL, seed=seed)
    assert isinstance(made, list)
    assert list(unanswerable_faults(instance, made)) == []
    assert unanswerable(instance, pool=POOL, seed=seed) == made
    kept, twin = made
    assert kept is instance
    assert (twin.id, twin.group, twin.question) == (f"{instance.id}#unanswerable", instance.group, instance.question)
    assert (twin.answers, twin.answer_type, twin.answerable) == ((), "none", False)
    note = noted(twin, "unanswerable")
    gone = {"s1": ["0", "1", "2"], "s2": ["1"]}[note["step"]]
    assert note["removed"] == note["added"] == gone
    for old, new in zip(instance.paragraphs, twin.paragraphs, strict=True):
        assert (old == new) == (old.id not in gone)
        assert new.supporting is (old.supporting and old.id not in gone)
    assert [step.paragraph_id for step in twin.decomposition or ()] == [None if place in gone else place for place in ("0", "1")]


def test_each_step_is_drawn() -> None:
    drawn = {noted(made[1], "unanswerable")["step"] for seed in range(20) for made in [unanswerable(SET[0], pool=POOL, seed=seed)]
             if isinstance(made, list)}  # fmt: skip
    assert drawn == {"s1", "s2"}


def test_an_alias_of_the_answer_goes_too() -> None:
    paragraphs = (*SET[0].paragraphs[:7], page(7, "The STREAM 0 is cold."))
    aliased = replace(SET[0], paragraphs=paragraphs, decomposition=SET[0].decomposition[1:])  # type: ignore[index]
    made = unanswerable(aliased, pool=POOL, seed=1)
    assert isinstance(made, list)
    assert noted(made[1], "unanswerable")["removed"] == ["1", "7"]


def test_invariants_notice_an_answer_a_copy_and_a_longer_context() -> None:
    made = unanswerable(SET[0], pool=POOL, seed=1)
    assert isinstance(made, list)
    kept, twin = made
    place = int(noted(twin, "unanswerable")["removed"][0])
    stating, again = list(twin.paragraphs), list(twin.paragraphs)
    stating[place] = replace(stating[place], text=SET[0].paragraphs[place].text)
    again[place] = replace(again[place], text=SET[0].paragraphs[7].text)
    assert list(unanswerable_faults(SET[0], [kept, replace(twin, paragraphs=tuple(stating))]))
    assert list(unanswerable_faults(SET[0], [kept, replace(twin, paragraphs=tuple(again))]))
    assert list(unanswerable_faults(SET[0], [kept, replace(twin, paragraphs=(*twin.paragraphs, twin.paragraphs[0]))]))
    assert list(unanswerable_faults(SET[0], [kept, replace(twin, answers=("river 0",), answerable=True)]))
    assert list(unanswerable_faults(SET[0], [replace(kept, question="?"), twin]))


def reason(instance: Instance, pool: Pool = POOL) -> str:
    made = unanswerable(instance, pool=pool, seed=1)
    assert isinstance(made, Rejection)
    return made.reason


def test_what_has_no_twin() -> None:
    step = Step(id="s", question="?", answer=None, paragraph_id=None, depends_on=())
    assert reason(replace(SET[0], decomposition=None)) == REASONS["undecomposed"]
    assert reason(replace(SET[0], decomposition=(step,))) == REASONS["undecomposed"]
    assert reason(replace(SET[0], decomposition=(replace(step, answer="yes"),))) == REASONS["undecomposed"]
    assert reason(replace(SET[0], decomposition=(replace(step, answer="Oslo"),))) == REASONS["unstated"]
    assert reason(SET[0], pool_of(SET[:1])) == REASONS["pool"]
    assert reason(replace(SET[0], answers=(), answerable=False)) == UNANSWERABLE
    with pytest.raises(SettingsError):
        unanswerable(probe(faced(question(0, answers=("Bath",))))[0], pool=POOL, seed=1)


def test_ids_that_are_no_positions_move_with_their_paragraph_and_stay_unique() -> None:
    def renamed(instance: Instance, prefix: str) -> Instance:
        steps = tuple(replace(step, paragraph_id=f"{prefix}{step.paragraph_id}") for step in instance.decomposition or ())
        return replace(instance, paragraphs=tuple(replace(p, id=f"{prefix}{p.id}") for p in instance.paragraphs), decomposition=steps)

    instances = [renamed(instance, "doc") for instance in SET]
    made = unanswerable(instances[0], pool=pool_of(instances), seed=1)
    assert isinstance(made, list)
    assert not list(unanswerable_faults(instances[0], made))
    assert all(paragraph.id.startswith("doc") for paragraph in made[1].paragraphs)


def test_the_pool_prefers_what_shares_the_rare_words_of_the_question() -> None:
    found = POOL.suitable("Which sentence is of Leeds?", 3, forbidden=names(["Bath"]), entity=None, shown=set(), seed=1, id="q")
    assert {paragraph.text for paragraph in found} == {paragraph.text for paragraph in SET[3].paragraphs[:3]}
    other = POOL.suitable("Leeds?", 3, forbidden=names(["Leeds"]), entity=None, shown={SET[0].paragraphs[0].text}, seed=1, id="q")
    assert len({paragraph.text for paragraph in other}) == 3
    assert not any("Leeds" in paragraph.text or paragraph == SET[0].paragraphs[0] for paragraph in other)
    assert len(pool_of(SET, size=10).paragraphs) == 10
    assert [p.text for p in pool_of(SET[::-1]).paragraphs] == [p.text for p in POOL.paragraphs]


@given(seeds)
def test_the_pool_begins_anywhere_and_gives_everything_once(seed: int) -> None:
    found = POOL.suitable("?", 1_000, forbidden=(), entity=None, shown=(), seed=seed, id="q")
    begin = POOL.paragraphs.index(found[0])
    assert found == [*POOL.paragraphs[begin:], *POOL.paragraphs[:begin]]


@given(st.permutations(SET[:3]))
def test_of_equal_texts_one_is_in_the_pool_whatever_comes_first(instances: list[Instance]) -> None:
    same = [replace(q, paragraphs=(replace(page(number, "A mill."), title=f"Mill {number % 2}"),)) for number, q in enumerate(SET[:3])]
    (kept,) = pool_of([same[SET.index(instance)] for instance in instances]).paragraphs
    assert (kept.title, kept.id) == ("Mill 0", "0")
    marks = [(None, True), ((), False), ((0,), True)]
    same = [
        replace(q, paragraphs=(replace(page(0, "A mill.", supporting=mark), sentences=places),))
        for q, (places, mark) in zip(SET, marks, strict=False)
    ]
    (kept,) = pool_of([same[SET.index(instance)] for instance in instances]).paragraphs
    assert (kept.sentences, kept.supporting) == ((), False)


def test_other_names_of_a_step_s_answer_go_too() -> None:
    """Of three paragraphs that name it in three ways only the one with the answer itself goes, unless the others are known."""
    shown = (page(0, "Ada was born in Riga."), page(1, "The old name is Rodenpois."), page(2, "A mill."))
    step = Step(id="1", question="Where was Ada born?", answer="Riga", paragraph_id="0", depends_on=())
    asked = replace(SET[0], paragraphs=shown, decomposition=(step,), answers=("Riga",))
    for called, gone in (({}, ["0"]), ({"1": ["Rodenpois"]}, ["0", "1"]), ({"2": ["Rodenpois"]}, ["0"])):
        made = unanswerable(asked, pool=POOL, seed=1, further_names=called)
        assert isinstance(made, list)
        assert sorted(noted(made[1], "unanswerable")["removed"]) == gone


def test_a_twin_has_the_answer_that_official_files_have() -> None:
    made = unanswerable(SET[0], pool=POOL, seed=1)
    assert isinstance(made, list)
    record = musique.to_record(made[1])
    assert (record["answerable"], record["answer"], *record["answer_aliases"]) == (False, *SET[0].answers)


def test_what_was_noted_of_a_paragraph_does_not_pass_to_the_one_in_its_place() -> None:
    by_id = {str(place): {"source": f"page {place}"} for place in range(8)}
    said = {
        "musique": {"paragraphs": by_id, "question_decomposition": {"1": {"more": 1}}},
        "beir": {"corpus": by_id, "scores": {str(place): 2 for place in range(8)}, "query": {"1": "kept"}},
        "label_studio": {"paragraphs": by_id, "candidates": {"1": {"more": 1}}},
        "recipe": "ours",
    }
    instance = replace(SET[0], provenance=json.dumps(said), decomposition=SET[0].decomposition[1:])  # type: ignore[index]
    made = unanswerable(instance, pool=POOL, seed=1)
    assert isinstance(made, list)
    assert made[0].provenance == instance.provenance
    assert noted(made[1], "unanswerable")["removed"] == ["1"]
    left = json.loads(made[1].provenance or "")
    for name, field in (("musique", "paragraphs"), ("beir", "corpus"), ("beir", "scores"), ("label_studio", "paragraphs")):
        assert left[name].pop(field) == {id: value for id, value in said[name].pop(field).items() if id != "1"}  # type: ignore[attr-defined]  # noqa: A001
    del left["unanswerable"]
    assert [left["musique"].pop("answer"), *left["musique"].pop("answer_aliases")] == list(instance.answers)
    assert left == said
    shown = musique.to_record(made[1])["paragraphs"]
    assert [passage.get("source") for passage in shown] == ["page 0", None, *(f"page {place}" for place in range(2, 8))]


def test_the_official_id_of_a_twin_does_not_depend_on_its_group() -> None:
    made = unanswerable(replace(SET[0], group="pair"), pool=POOL, seed=1)
    assert isinstance(made, list)
    assert [musique.to_record(instance)["id"] for instance in made] == ["q0", "q0"]


def test_twins_can_be_written_as_musique_writes_them() -> None:
    made = unanswerable(SET[0], pool=POOL, seed=1)
    assert isinstance(made, list)
    records = [musique.to_record(instance) for instance in made]
    assert [record["id"] for record in records] == ["q0", "q0"]
    assert [record["answerable"] for record in records] == [True, False]
    read = [musique.from_record(record, "here") for record in records]  # type: ignore[arg-type]
    assert [instance.id for instance in read] == [instance.id for instance in made]
    assert [instance.paragraphs for instance in read] == [instance.paragraphs for instance in made]


def texts(instances: Sequence[Instance], *, stated: Sequence[str] = (), entity: str | None = None) -> set[str]:
    """All that a pool of these gives for a question that shows nothing."""
    found = pool_of(instances).suitable("Which mill?", 1_000, forbidden=names(stated), entity=entity, shown=(), seed=1, id="q")
    return {paragraph.text for paragraph in found}


def showing(*paragraphs: Paragraph) -> Instance:
    return asked(paragraphs, decomposition=None)


def mentioning(place: int, text: str, entity: str) -> Paragraph:
    return replace(page(place, text), mentions=(Mention(entity=entity, start=0, end=3),))


def test_a_title_that_states_the_answer_keeps_a_paragraph_out() -> None:
    titled = showing(replace(page(0, "The mill burned down."), title="Bath (town)"), page(1, "The mill stands."))
    assert texts([titled]) == {"The mill burned down.", "The mill stands."}
    assert texts([titled], stated=["Bath"]) == {"The mill stands."}


def test_a_mention_of_the_answer_under_another_name_keeps_a_paragraph_out() -> None:
    marked = showing(mentioning(0, "She ran the mill.", "E1"), mentioning(1, "The mill stands.", "E2"))
    assert texts([marked], entity=None) == {"She ran the mill.", "The mill stands."}
    assert texts([marked], entity="E1") == {"The mill stands."}


def test_a_mention_of_the_answer_goes_with_its_step_alone() -> None:
    # What the whole question asks for has an id, the answers of other steps have none.
    marked = (*SET[0].paragraphs[:7], mentioning(7, "She is cold.", "E1"))
    instance = replace(SET[0], paragraphs=marked, answer_id="E1")
    pool = pool_of(
        [*SET, showing(*(mentioning(place, f"She was born on river {place}, as carver 0 was.", "E1") for place in range(10, 30)))]
    )
    removed = {}
    for seed in range(20):
        made = unanswerable(instance, pool=pool, seed=seed)
        assert isinstance(made, list)
        assert list(unanswerable_faults(instance, made)) == []
        note = noted(made[1], "unanswerable")
        removed[note["step"]] = note["removed"]
        is_shown = any(mention.entity == "E1" for paragraph in made[1].paragraphs for mention in paragraph.mentions or ())
        assert is_shown == (note["step"] == "s1")
    assert removed == {"s1": ["0", "1", "2"], "s2": ["1", "7"]}


@pytest.mark.parametrize(("size", "most"), [(100, PER_WORD), (3_000, int(3_000 * COMMON))])
def test_a_word_that_too_many_paragraphs_have_finds_none(size: int, most: int) -> None:
    assert (PER_WORD, COMMON) == (50, 0.02)
    said = (f"{'mill ' * (place < most)}{'ford ' * (place <= most)}{place}" for place in range(size))
    pool = pool_of([showing(*(page(place, text) for place, text in enumerate(said)))], size=size)
    assert len(pool.paragraphs) == size
    assert len(pool.holding["mill"]) == most
    assert "ford" not in pool.holding


@given(seeds)
def test_another_step_is_tried_where_the_drawn_one_cannot_be_removed(seed: int) -> None:
    first, second = SET[0].decomposition or ()
    unstated = replace(SET[0], decomposition=(replace(first, answer="Oslo"), second))
    # Three paragraphs state the first answer, and there is one that could take the place of any.
    for instance, pool in ((unstated, POOL), (SET[0], pool_of([SET[0], showing(page(0, "A mill."))]))):
        made = unanswerable(instance, pool=pool, seed=seed)
        assert isinstance(made, list)
        assert noted(made[1], "unanswerable")["step"] == "s2"


@pytest.mark.parametrize(("marks", "left"), [((True, (0,)), (False, ())), ((False, ()), (False, ())), ((None, None), (None, None))])
def test_what_is_taken_supports_nothing_and_gets_no_marks_that_it_did_not_have(
    marks: tuple[bool | None, tuple[int, ...] | None], left: tuple[bool | None, tuple[int, ...] | None]
) -> None:
    taken = replace(page(4, "A mill."), sentences=(0,), supporting=marks[0], supporting_sentences=marks[1])
    instance = replace(SET[0], decomposition=(SET[0].decomposition or ())[1:])
    made = unanswerable(instance, pool=pool_of([SET[0], showing(taken)]), seed=1)
    assert isinstance(made, list)
    assert made[1].paragraphs[1] == replace(taken, id="1", supporting=left[0], supporting_sentences=left[1])
