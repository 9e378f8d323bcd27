"""Paragraphs that answer the last hop falsely: in place of distractors, without the answer, its aliases or the old bridge."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import SettingsError
from kgqa.formats.provenance import noted
from kgqa.recipes.contrasts.adversarial import COPIES, OWN_REASONS, adversarial
from kgqa.recipes.contrasts.invariants import adversarial_faults
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.questions import HIDDEN, UNMARKED
from kgqa.recipes.contrasts.sufficiency import sufficiency
from kgqa.recipes.names import entities
from kgqa.recipes.names.entities import Collector, Pool
from kgqa.records import Candidate, Instance, Mention, Paragraph, Step
from kgqa.runs.funnel import Rejection
from tests.recipes.contrasts.drawing import asked, faced, seeds

RIVERS = ("Tamar", "Avon", "Severn", "Mersey", "Humber", "Dee", "Tees", "Wye")
WRITERS = ("Ann Radcliffe", "Mary Wroth", "Aphra Behn", "Fanny Burney", "Jane Barker", "Eliza Haywood", "Hannah More", "Anna Seward")


def page(name: str, title: str, text: str, *, supporting: bool = False) -> Paragraph:
    return Paragraph(
        id=name, title=title, text=text, supporting=supporting, mentions=None, sentences=(0,), supporting_sentences=(0,) * supporting
    )


def novel(number: int, **changes: object) -> Instance:
    """Which river runs through the town where the writer of the novel was born? Its writer's page states it."""
    writer, river = WRITERS[number], RIVERS[number]
    paragraphs = [
        page("0", f"Novel {number}", f"Novel {number} is a book by {writer}.", supporting=True),
        page("1", writer, f"{writer} (1700 – 1750) was an English novelist. {writer.split()[1]} grew up on the {river}.", supporting=True),
        *(page(f"{place}", f"Mill {number}{place}", f"Mill {number}{place} is a mill.") for place in range(2, 10)),
    ]
    question = f"Which river did the writer of Novel {number} know?"
    fields: dict[str, object] = {"id": f"q{number}", "group": f"q{number}", "question": question, "answers": (river, f"River {river}")}
    return asked(paragraphs, **{**fields, "decomposition": None, **changes})


SET = [novel(number) for number in range(8)]


def pool_of(instances: Sequence[Instance]) -> Pool:
    collector = Collector(seed=1)
    for instance in instances:
        collector.see(instance)
    return collector.pool()


POOL = pool_of(SET)


@given(st.sampled_from(SET), seeds)
def test_copies_take_the_places_of_distractors_and_say_something_else(instance: Instance, seed: int) -> None:
    made = adversarial(instance, pool=POOL, seed=seed)
    assert isinstance(made, list)
    assert list(adversarial_faults(instance, made)) == []
    assert adversarial(instance, pool=POOL, seed=seed) == made
    note = noted(made[0], "dire")
    assert len(note["added"]) == len(note["removed"]) == COPIES
    assert len({entry["answer"] for entry in note["added"]}) == COPIES
    number = SET.index(instance)
    for entry, copy in ((entry, copy) for entry in note["added"] for copy in made[0].paragraphs if copy.id == entry["id"]):
        # The same kind of thing: another river in answer to "which river", another person for a person.
        assert entry["answer"] in RIVERS
        assert entry["bridge"][1] in WRITERS
        assert entry["bridge"][0] == WRITERS[number]
        assert copy.text == (
            f"{entry['bridge'][1]} (1700 – 1750) was an English novelist. {entry['bridge'][1].split()[1]} grew up on the {entry['answer']}."
        )
        assert copy.title == entry["bridge"][1]


def test_at_most_half_of_the_distractors_are_replaced() -> None:
    for count, copies in ((1, 1), (2, 1), (3, 1), (4, 2), (8, 4), (20, 4)):
        others = [page(f"x{place}", f"Hill {place}", f"Hill {place} is a hill.") for place in range(count)]
        made = adversarial(replace(SET[0], paragraphs=(*SET[0].paragraphs[:2], *others)), pool=POOL, seed=1)
        assert isinstance(made, list)
        assert len(noted(made[0], "dire")["added"]) == copies


def reason(instance: Instance, pool: Pool = POOL) -> str:
    made = adversarial(instance, pool=pool, seed=1)
    assert isinstance(made, Rejection)
    return made.reason


def test_questions_without_answer_marks_statement_bridge_distractor_or_names_are_rejected() -> None:
    first, second, *others = SET[0].paragraphs
    assert reason(replace(SET[0], answers=())) == HIDDEN
    assert reason(replace(SET[0], paragraphs=(replace(first, supporting=None), second))) == UNMARKED
    assert reason(replace(SET[0], paragraphs=(first, second))) == OWN_REASONS["no distractor"]
    assert reason(replace(SET[0], answers=("yes",), answer_type="boolean")) == OWN_REASONS["not stated"]
    assert reason(replace(SET[0], answers=("Thames",))) == OWN_REASONS["not stated"]
    assert reason(replace(SET[0], paragraphs=(replace(first, text="It is a book."), second, *others))) == OWN_REASONS["no bridge"]
    assert reason(SET[0], pool_of(SET[:1])) == OWN_REASONS["no entity"]
    spelled = replace(second, text=second.text + " The Ta-mar rose, said Ann-Radcliffe.")
    assert reason(replace(SET[0], paragraphs=(first, spelled, *others))) == OWN_REASONS["left"]


def test_the_answer_itself_may_be_what_both_paragraphs_speak_of() -> None:
    instance = replace(SET[0], question="Which writer, an English novelist, wrote Novel 0?", answers=("Ann Radcliffe",))
    made = adversarial(instance, pool=POOL, seed=1)
    assert isinstance(made, list)
    assert not list(adversarial_faults(instance, made))
    for entry in noted(made[0], "dire")["added"]:
        assert entry["answer"] == entry["bridge"][1]
        assert entry["answer"] in WRITERS


def test_what_a_title_says_in_brackets_is_not_what_its_paragraph_is_about() -> None:
    first, _, *others = SET[0].paragraphs
    film = page("1", "Kaos (2019 film)", "Kaos is a film. It was shown in 2019.", supporting=True)
    instance = replace(
        SET[0],
        question="When was the film of the book shown?",
        answers=("2019",),
        paragraphs=(replace(first, text="Kaos follows it."), film, *others),
    )
    films = [
        replace(SET[n], question="When was the film shown?", answers=(year,), paragraphs=(page("0", name, f"{name} is a film."),))
        for n, name, year in ((1, "Lumen", "2004"), (2, "Verge", "2007"))
    ]
    pool = pool_of([*SET, instance, *films])
    for seed in range(5):
        made = adversarial(instance, pool=pool, seed=seed)
        assert isinstance(made, list)
        assert list(adversarial_faults(instance, made)) == []
        for entry in noted(made[0], "dire")["added"]:
            assert (entry["bridge"][0], entry["answer"]) in {("Kaos", "2004"), ("Kaos", "2007")}
    # Where the year stands in the brackets alone, a copy has no place for another one.
    bare = replace(instance, paragraphs=(instance.paragraphs[0], replace(film, text="Kaos is a film."), *others))
    assert reason(bare, pool) == OWN_REASONS["left"]


def test_a_bridge_in_whose_name_the_answer_stands_is_none() -> None:
    def document(name: str, text: str, *mentions: tuple[str, str], supporting: bool = True) -> Paragraph:
        found = tuple(Mention(entity=e, start=text.index(said), end=text.index(said) + len(said)) for said, e in mentions)
        return Paragraph(id=name, title=None, text=text, supporting=supporting, mentions=found, sentences=None, supporting_sentences=None)

    documents = (
        document("d1", "An engine was known to Ada Lovelace.", ("engine", "Q1"), ("Ada Lovelace", "Q2")),
        document("d2", "Ada Lovelace was of the house of Lovelace.", ("Ada Lovelace", "Q2")),
        document("d3", "Anna Seward was of the house of Noel.", ("Anna Seward", "Q5"), ("Noel", "Q4"), supporting=False),
    )
    instance = asked(
        documents, question="house engine", answers=("Lovelace",), answer_id="Q3", answer_type="candidate", decomposition=None,
        candidates=(Candidate(id="Q3", text="Lovelace"), Candidate(id="Q4", text="Noel")),
        chains=((("Q1", "d1", "Q2", "d2", "Q3"),), ()),
    )  # fmt: skip
    assert reason(instance, pool_of([instance])) == OWN_REASONS["no bridge"]


def test_the_bridge_comes_from_the_decomposition_where_there_is_one() -> None:
    steps = (
        Step(id="a", question="Novel 0 >> protagonist", answer="Emily", paragraph_id="0", depends_on=()),
        Step(id="b", question="#1 >> river", answer="Tamar", paragraph_id="1", depends_on=("a",)),
    )
    first, second, *others = SET[0].paragraphs
    tales = replace(second, title="Tales", text="Tales is a novel: Emily loves the Tamar.")
    paragraphs = (replace(first, text="Emily is its heroine."), tales, *others)
    heroines = [replace(SET[n], decomposition=(replace(steps[0], answer=name),)) for n, name in ((1, "Pamela"), (2, "Evelina"))]
    instance = replace(SET[0], paragraphs=paragraphs, decomposition=steps)
    pool = pool_of([*SET, *heroines])
    made = adversarial(instance, pool=pool, seed=1)
    assert isinstance(made, list)
    assert not list(adversarial_faults(instance, made))
    for entry in noted(made[0], "dire")["added"]:
        assert entry["bridge"][0] == "Emily"
        assert entry["bridge"][1] in {"Pamela", "Evelina"}
    assert {copy.title for copy in made[0].paragraphs if "#" in copy.id} <= {f"Novel {number}" for number in range(1, 8)}
    # A copy with the title of the paragraph that it was made from would be the same one for scorers that go by titles.
    assert reason(replace(instance, paragraphs=(paragraphs[0], replace(tales, title="Notes"), *others)), pool) == OWN_REASONS["title"]


def document(name: str, *parts: tuple[str, str | None], title: str | None = None, supporting: bool = False) -> Paragraph:
    """Words, some of which name an entity."""
    text, mentions = "", []
    for part, entity in parts:
        if entity is not None:
            mentions.append(Mention(entity=entity, start=len(text), end=len(text) + len(part)))
        text += part
    return Paragraph(
        id=name, title=title, text=text, supporting=supporting, mentions=tuple(mentions), sentences=None, supporting_sentences=None
    )


def test_in_a_graph_the_answer_is_another_candidate_and_the_bridge_another_entity() -> None:
    documents = (
        document("d1", ("Novel", "Q1"), (" is by ", None), ("Radcliffe", "Q2"), supporting=True),
        document("d2", ("Radcliffe", "Q2"), (" and ", None), ("she", "Q2"), (" wrote in ", None), ("Paris", "Q3"), supporting=True),
        document("d3", ("Rome", "Q4"), (" delighted ", None), ("Behn", "Q5")),
        document("d4", ("Rome", "Q4"), (" is old", None), ("Novel", "Q1")),
    )
    instance = asked(
        documents, question="city Novel", answers=("Paris", "Lutetia"), answer_id="Q3", answer_type="candidate", decomposition=None,
        candidates=(Candidate(id="Q3", text="Paris"), Candidate(id="Q4", text="Rome")),
        chains=((("Q1", "d1", "Q2", "d2", "Q3"),), (("Q1", "d4", "Q5", "d3", "Q4"), ("Q1", "d4", "Q4"))),
    )  # fmt: skip
    made = adversarial(instance, pool=pool_of([instance]), seed=1)
    assert isinstance(made, list)
    assert not list(adversarial_faults(instance, made))
    note = noted(made[0], "dire")
    ((entry, gone),) = zip(note["added"], note["removed"], strict=True)
    assert (entry["answer"], entry["bridge"]) == ("Rome", ["Radcliffe", "Behn"])
    (copy,) = [paragraph for paragraph in made[0].paragraphs if paragraph.id == entry["id"]]
    assert copy.text == "Behn and Behn wrote in Rome"
    assert [(m.entity, copy.text[m.start : m.end]) for m in copy.mentions or ()] == [("Q5", "Behn"), ("Q5", "Behn"), ("Q4", "Rome")]
    assert made[0].chains == (instance.chains[0], tuple(chain for chain in instance.chains[1] if gone not in chain))  # type: ignore[index]


def test_what_was_made_can_be_transformed_again_but_not_the_other_way_round() -> None:
    made = adversarial(SET[0], pool=POOL, seed=1)
    assert isinstance(made, list)
    group = sufficiency(faced(made[0]), seed=1)
    note = noted(group[0], "dire")
    assert (note["transform"], note["of"]["transform"]) == ("sufficiency", "adversarial")
    with pytest.raises(SettingsError):
        adversarial(probe(faced(SET[0]))[0], pool=POOL, seed=1)


@given(st.permutations(SET))
def test_the_pool_does_not_depend_on_the_order_of_the_set(instances: list[Instance]) -> None:
    assert pool_of(instances) == POOL


@given(st.permutations(SET))
def test_a_pool_of_a_large_set_is_a_sample(instances: list[Instance]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entities, "PAGES", 20)
        patch.setattr(entities, "ANSWERS", 3)
        patch.setattr(entities, "PER_KIND", 2)
        pool, other = pool_of(instances), pool_of(SET)
    assert pool == other
    assert 0 < len(pool.kinds["river",]) <= 2
    assert {entity for names in pool.kinds.values() for entity in names} < {entity for names in POOL.kinds.values() for entity in names}


def test_a_masked_bridge_becomes_another_candidate_and_no_mask_of_another_question() -> None:
    masks = [f"___MASK{number}___" for number in range(4)]
    documents = (
        document("d1", ("Novel", "Q9"), (" is a novel by ", None), (masks[0], "Q0"), title="Novel", supporting=True),
        document("d2", (masks[0], "Q0"), (" is a writer who knew ", None), (masks[1], "Q1"), title=masks[0], supporting=True),
        document("d3", ("Poem", "Q8"), (" is a poem of ", None), (masks[2], "Q2"), (" and ", None), (masks[3], "Q3"), title="Poem"),
    )
    instance = asked(
        documents, question="writer Novel", answers=(masks[1],), answer_id="Q1", answer_type="candidate", decomposition=None,
        candidates=tuple(Candidate(id=f"Q{number}", text=mask) for number, mask in enumerate(masks)),
        chains=((), (("Q9", "d1", "Q0", "d2", "Q1"),), (), ()),
    )  # fmt: skip
    other = replace(
        instance,
        id="other",
        paragraphs=(document("d4", ("___MASK77___", "Q77"), (" is a writer.", None), title="___MASK77___"),),
        candidates=None,
        answers=(),
    )
    pool = pool_of([instance, other])
    assert not any("MASK" in entity.name for names in pool.kinds.values() for entity in names)
    made = adversarial(instance, pool=pool, seed=1)
    assert isinstance(made, list)
    (entry,) = noted(made[0], "dire")["added"]
    assert {entry["answer"], entry["bridge"][1]} == {masks[2], masks[3]}
    # It is one of the candidates whether or not anything tells of what kind it is.
    untold = document("d2", (masks[0], "Q0"), (" knew ", None), (masks[1], "Q1"), title=masks[0], supporting=True)
    assert isinstance(adversarial(replace(instance, paragraphs=(documents[0], untold, documents[2])), pool=pool, seed=1), list)


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("states the answer", lambda copy: replace(copy, text=f"{copy.text} Or the Tamar.")),
        ("states the answer", lambda copy: replace(copy, text=f"{copy.text} Ann Radcliffe.")),
        ("does not state the false answer", lambda copy: replace(copy, text="Nothing.")),
        ("marked as supporting", lambda copy: replace(copy, supporting=True)),
        ("has changed", lambda copy: replace(copy, id="new")),
        ("same id", lambda copy: replace(copy, id="0")),
    ],
)
def test_the_invariant_notices_a_broken_copy(said: str, change: Callable[[Paragraph], Paragraph]) -> None:
    made = adversarial(SET[0], pool=POOL, seed=1)
    assert isinstance(made, list)
    place = next(place for place, paragraph in enumerate(made[0].paragraphs) if "#" in paragraph.id)
    paragraphs = list(made[0].paragraphs)
    paragraphs[place] = change(paragraphs[place])
    assert any(said in found for found in adversarial_faults(SET[0], [replace(made[0], paragraphs=tuple(paragraphs))]))


def test_the_invariant_notices_another_question_or_context() -> None:
    made = adversarial(SET[0], pool=POOL, seed=1)
    assert isinstance(made, list)
    first, *others = made[0].paragraphs
    for changes in (
        {"question": "Why?"}, {"answers": ("Avon",)}, {"id": "q9"}, {"group": "q9"},
        {"paragraphs": tuple(others)}, {"paragraphs": (replace(first, text="Else."), *others)}, {"paragraphs": SET[0].paragraphs},
    ):  # fmt: skip
        assert list(adversarial_faults(SET[0], [replace(made[0], **changes)]))
    note = noted(made[0], "dire")
    same = [entry | {"bridge": [entry["bridge"][0], entry["answer"]]} for entry in note["added"]]
    changed = replace(made[0], provenance=json.dumps({"dire": note | {"added": same}}))
    assert any("new bridge entity as well" in found for found in adversarial_faults(SET[0], [changed]))


def test_an_adversarial_set_is_not_made_adversarial_again() -> None:
    made = adversarial(SET[0], pool=POOL, seed=1)
    assert isinstance(made, list)
    with pytest.raises(SettingsError, match="adversarial already"):
        adversarial(made[0], pool=POOL, seed=1)


def test_only_a_person_has_a_last_name_that_stands_alone() -> None:
    first, second, *others = SET[0].paragraphs
    school = replace(
        second, title="Ruda University", text="Ruda University is a university. This University on the Tamar is old. Ann Radcliffe saw it."
    )
    schools = [
        replace(SET[n], paragraphs=(page("0", name, f"{name} is a university."),))
        for n, name in ((1, "University of Ede"), (2, "Holt College"))
    ]
    instance = replace(SET[0], paragraphs=(replace(first, text="Novel 0 is set at Ruda University."), school, *others))
    made = adversarial(instance, pool=pool_of([*SET, *schools]), seed=1)
    assert isinstance(made, list)
    copies = [paragraph.text for paragraph in made[0].paragraphs if "#" in paragraph.id]
    assert copies
    assert all("This University on the" in copy and "Ann Radcliffe saw it" in copy for copy in copies)


def test_a_title_that_only_contains_the_answer_is_no_link() -> None:
    first, second, *others = SET[0].paragraphs
    town = replace(second, title="Royston, Tamar", text="Royston is a town on the Tamar.")
    shown = (replace(first, text="She was born in Royston, Tamar."), town, *others)
    assert reason(replace(SET[0], paragraphs=shown)) == OWN_REASONS["no bridge"]
    # What stands after the comma only tells which one it is.
    asked_for = replace(SET[0], question="Which town is she from?", answers=("Royston",), paragraphs=shown)
    towns = [replace(SET[n], paragraphs=(page("0", name, f"{name} is a town."),)) for n, name in ((1, "Ulm"), (2, "Bern"))]
    made = adversarial(asked_for, pool=pool_of([asked_for, *towns]), seed=1)
    assert isinstance(made, list)
    assert {entry["answer"] for entry in noted(made[0], "dire")["added"]} == {"Ulm", "Bern"}


def test_no_name_is_taken_that_the_question_or_a_supporting_paragraph_shows() -> None:
    first, second, *others = SET[0].paragraphs
    for changes in (
        {"question": "Which river, not the Avon, did the writer of Novel 0 know?"},
        {"paragraphs": (replace(first, title="Avon"), second, *others)},
        {"paragraphs": (replace(first, text=f"{first.text} It is on the Avon."), second, *others)},
    ):
        for seed in range(4):
            made = adversarial(replace(SET[0], **changes), pool=POOL, seed=seed)
            assert isinstance(made, list)
            assert "Avon" not in {entry["answer"] for entry in noted(made[0], "dire")["added"]}


def test_what_stands_before_a_comma_is_the_name_too() -> None:
    first, second, *others = SET[0].paragraphs
    town = replace(second, title="Royston, Ohio", text="Royston is a town on the Tamar. Born in Royston, Ohio, she stayed.")
    towns = [replace(SET[n], paragraphs=(page("0", name, f"{name} is a town."),)) for n, name in ((1, "Ulm, Iowa"), (2, "Bern"))]
    instance = replace(SET[0], paragraphs=(replace(first, text="She was born in Royston, Ohio."), town, *others))
    made = adversarial(instance, pool=pool_of([*SET, *towns]), seed=1)
    assert isinstance(made, list)
    copies = [paragraph for paragraph in made[0].paragraphs if "#" in paragraph.id]
    assert {copy.title for copy in copies} == {"Ulm, Iowa", "Bern"}
    for copy in copies:
        assert copy.text.startswith(f"{copy.title} is a town on the ")
        assert "Royston" not in copy.text
    # Where the name that is replaced has nothing after a comma, the new one has not either.
    plain = replace(
        instance,
        paragraphs=(
            replace(first, text="She was born in Royston."),
            replace(town, title="Royston", text="Royston is a town on the Tamar."),
            *others,
        ),
    )
    made = adversarial(plain, pool=pool_of([*SET, *towns]), seed=1)
    assert isinstance(made, list)
    assert {copy.title for copy in made[0].paragraphs if "#" in copy.id} == {"Ulm", "Bern"}


def test_a_copy_whose_text_says_what_the_original_says_is_none() -> None:
    first, second, *others = SET[0].paragraphs
    hers = replace(second, title="Ann of Radcliffe", text="Ann Ward of Radcliffe (1764 – 1823) was an English novelist. She wrote it.")
    shown = (replace(first, text="Novel 0 is a book by Ann of Radcliffe."), hers, *others)
    assert (
        reason(replace(SET[0], question="Which writer wrote Novel 0?", answers=("Ann of Radcliffe",), paragraphs=shown))
        == OWN_REASONS["left"]
    )


def test_who_asks_for_a_person_where_the_first_name_is_one() -> None:
    def asking(number: int, answer: str) -> Instance:
        first, second, *others = SET[number].paragraphs
        told = replace(second, text=f"{second.text} {answer} owned it.")
        return replace(
            SET[number],
            question=f"Who owned the house of the writer of Novel {number}?",
            answers=(answer,),
            paragraphs=(first, told, *others),
        )

    owners = [asking(0, "Mary Shelley"), asking(1, "Jane Loudon"), asking(2, "Acme"), asking(3, "Zed Ix")]
    pool = pool_of([*owners, *SET[4:]])
    assert [entity.name for entity in pool.kinds["person", "who"]] == ["Jane Loudon"] or {
        entity.name for entity in pool.kinds["person", "who"]
    } == {"Mary Shelley", "Jane Loudon"}
    assert reason(owners[2], pool) == reason(owners[3], pool) == OWN_REASONS["no kind"]
    made = adversarial(owners[1], pool=pool, seed=1)
    assert isinstance(made, list)
    answers = {entry["answer"] for entry in noted(made[0], "dire")["added"]}
    assert answers
    assert answers <= {*WRITERS, "Mary Shelley"}
