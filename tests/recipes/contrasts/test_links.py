"""By what the last hop is connected with the hop before, and what a copy may not say in its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgqa.formats.provenance import noted
from kgqa.recipes.contrasts.adversarial import OWN_REASONS, adversarial
from kgqa.recipes.contrasts.invariants import adversarial_faults
from kgqa.recipes.contrasts.links import Link, Supporting, links
from kgqa.recipes.names.entities import Pool
from kgqa.recipes.names.statements import names, text_of
from kgqa.records import Candidate, Instance, Mention, Paragraph, Step
from tests.recipes.contrasts.drawing import asked
from tests.recipes.contrasts.test_adversarial import POOL, RIVERS, SET, WRITERS, pool_of, reason

SEEDS = range(12)


def found(instance: Instance) -> list[Link]:
    """All links of a question to the paragraphs that state its answer."""
    wanted = names(instance.answers)
    supporting = [Supporting(paragraph, text_of(paragraph)) for paragraph in instance.paragraphs if paragraph.supporting]
    return list(links(instance, supporting, [entry for entry in supporting if entry.text.states(wanted)], wanted))


def bridges(instance: Instance) -> list[tuple[str, str]]:
    return [(link.target.id, link.bridge[0]) for link in found(instance)]


def document(name: str, *parts: str | tuple[str, str], supporting: bool = False) -> Paragraph:
    """A document of a graph: of strings, and of names with what they name."""
    text, mentions = "", []
    for part in parts:
        said, entity = part if isinstance(part, tuple) else (part, None)
        if entity is not None:
            mentions.append(Mention(entity=entity, start=len(text), end=len(text) + len(said)))
        text += said
    return Paragraph(
        id=name, title=None, text=text, supporting=supporting, mentions=tuple(mentions), sentences=None, supporting_sentences=None
    )


Chains = tuple[tuple[tuple[str, ...], ...], ...]
THROUGH = ("Q1", "d1", "Q2", "d2", "Q3")


def graph(*more: Paragraph, candidates: tuple[Candidate, ...] = (), chains: Chains = ((), (THROUGH,))) -> Instance:
    """In which city (Q3) lived the writer (Q2) of the novel (Q1)? The answer is the second candidate."""
    documents = (
        document("d1", ("Novel", "Q1"), " is by ", ("Radcliffe", "Q2"), supporting=True),
        document(
            "d2", ("Radcliffe", "Q2"), " met ", ("Behn", "Q5"), " for the ", ("Novel", "Q1"), " in ", ("Paris", "Q3"), supporting=True
        ),
        *more,
    )
    listed = (Candidate(id="Q4", text="Rome"), Candidate(id="Q3", text="Paris"), *candidates)
    fields: dict[str, object] = {"answers": ("Paris",), "answer_id": "Q3", "answer_type": "candidate", "decomposition": None}
    return asked(documents, question="city Novel", candidates=listed, chains=chains, **fields)


def test_only_chains_of_the_answer_that_end_in_its_paragraph_tell_the_bridge() -> None:
    wrong = (("Q1", "d1", "Q5", "d2", "Q4"),)
    assert [(link.target.id, link.entity, link.bridge) for link in found(graph(chains=(wrong, (THROUGH,))))] == [
        ("d2", "Q2", ("Radcliffe",))
    ]
    assert found(graph(chains=(wrong, ()))) == []
    # The subject is no bridge, and what stands in another document is none either.
    assert found(graph(chains=((), (("Q1", "d2", "Q3"), ("Q1", "d1", "Q5", "d1", "Q3"))))) == []


STEPS = (
    Step(id="a", question="Novel 0 >> protagonist", answer="Emily", paragraph_id="0", depends_on=()),
    Step(id="b", question="#1 >> river", answer="Tamar", paragraph_id="1", depends_on=("a",)),
)
FIRST, SECOND, *OTHERS = SET[0].paragraphs


def stepwise(first: Paragraph, second: Paragraph, *steps: Step) -> Instance:
    return replace(SET[0], paragraphs=(first, second, *OTHERS), decomposition=steps or STEPS)


HEROINE = replace(FIRST, text="It is about a heroine.")
NOTES = replace(SECOND, title="Notes", text="Emily loves the Tamar.")


def test_a_step_links_the_paragraph_that_it_names_and_no_other() -> None:
    assert bridges(stepwise(HEROINE, NOTES)) == [("1", "Emily")]
    for elsewhere in ("0", "2", None):
        assert bridges(stepwise(HEROINE, NOTES, STEPS[0], replace(STEPS[1], paragraph_id=elsewhere))) == []


def test_a_step_links_by_the_answer_of_a_step_before_it_that_its_paragraph_shows() -> None:
    assert bridges(stepwise(HEROINE, replace(NOTES, text="She loves the Tamar."))) == []
    # In its title or in its text.
    assert bridges(stepwise(HEROINE, replace(NOTES, title="Emily", text="She loves the Tamar."))) == [("1", "Emily")]
    assert bridges(stepwise(HEROINE, NOTES, STEPS[0], replace(STEPS[1], depends_on=()))) == []
    # The answer's own name in a longer one is no bridge.
    longer = replace(NOTES, text="Emily loves the River Tamar.")
    assert bridges(stepwise(HEROINE, longer, replace(STEPS[0], answer="River Tamar"), STEPS[1])) == []


def test_steps_come_before_titles_whichever_paragraph_comes_first() -> None:
    named = replace(SECOND, text="Ann Radcliffe wrote of Emily at the Tamar.")
    assert bridges(stepwise(FIRST, named)) == [("1", "Emily"), ("1", "Ann Radcliffe")]
    stating = replace(FIRST, text="Novel 0, which is Ann Radcliffe's, begins on the Tamar.")
    assert bridges(stepwise(stating, replace(named, title="Notes"))) == [("1", "Emily")]
    assert bridges(stepwise(stating, named)) == [("1", "Emily"), ("0", "Ann Radcliffe"), ("1", "Ann Radcliffe")]


def made(instance: Instance, *, pool: Pool, seed: int) -> Instance:
    copied = adversarial(instance, pool=pool, seed=seed)
    assert isinstance(copied, list)
    assert list(adversarial_faults(instance, copied)) == []
    return copied[0]


def added(instance: Instance, *, pool: Pool, seed: int) -> list[tuple[str, str]]:
    """The false answers with what stands in the bridge's place."""
    return [(entry["answer"], entry["bridge"][1]) for entry in noted(made(instance, pool=pool, seed=seed), "dire")["added"]]


def test_the_bridge_under_another_name_is_no_false_answer() -> None:
    same = Candidate(id="Q2", text="Mrs Ward")
    others = document("d3", ("Rome", "Q4"), " delighted ", ("Fanny", "Q7"))
    instance = graph(others, candidates=(same,), chains=((), (THROUGH,), ()))
    pool = pool_of([graph(others, chains=((("Q1", "d1", "Q7", "d3", "Q4"),), ()))])
    assert {added(instance, pool=pool, seed=seed)[0] for seed in SEEDS} == {("Rome", "Fanny")}
    # The same name of something else is one.
    other = replace(instance, candidates=(*(instance.candidates or ())[:2], replace(same, id="Q8")))
    assert {answer for seed in SEEDS for answer, _ in added(other, pool=pool, seed=seed)} == {"Rome", "Mrs Ward"}


@pytest.mark.parametrize(("entity", "taken"), [("Q2", {"Fanny"}), ("Q3", {"Fanny"}), ("Q8", {"Fanny", "Ward"})])
def test_neither_answer_nor_bridge_under_another_name_takes_the_place_of_the_bridge(entity: str, taken: set[str]) -> None:
    others = document("d3", ("Rome", "Q4"), " delighted ", ("Fanny", "Q7"), " and ", ("Ward", entity))
    pool = pool_of([graph(others, chains=((("Q1", "d1", "Q7", "d3", "Q4"), ("Q1", "d1", entity, "d3", "Q4")), ()))])
    instance = graph(document("d4", "Rain fell."))
    assert {bridge for seed in SEEDS for _, bridge in added(instance, pool=pool, seed=seed)} == taken


def test_what_takes_the_place_of_the_bridge_is_none_of_the_false_answers() -> None:
    taught = replace(SECOND, text="Ann Radcliffe was an English novelist. She was taught by Mary Wroth.")
    instance = replace(
        SET[0], question="Which novelist taught the writer of Novel 0?", answers=("Mary Wroth",), paragraphs=(FIRST, taught, *OTHERS)
    )
    for seed in SEEDS:
        pairs = added(instance, pool=POOL, seed=seed)
        answers, others = {answer for answer, _ in pairs}, {bridge for _, bridge in pairs}
        assert answers | others <= {*WRITERS} - {"Ann Radcliffe", "Mary Wroth"}
        assert answers.isdisjoint(others)


def test_the_last_step_tells_what_kind_of_thing_is_asked_for() -> None:
    vague = replace(SET[0], question="What did the writer of Novel 0 know?")
    assert reason(vague) == OWN_REASONS["no kind"]
    step = Step(id="b", question="#1 >> river", answer="Tamar", paragraph_id="1", depends_on=())
    earlier = replace(step, id="a", question="Novel 0 >> novelist")
    for question in (vague.question, "Which novelist is of Novel 0?"):
        pairs = added(replace(vague, question=question, decomposition=(earlier, step)), pool=POOL, seed=1)
        assert {answer for answer, _ in pairs} <= {*RIVERS}
    # A step with another answer tells nothing of this one.
    assert reason(replace(vague, decomposition=(replace(step, answer="Emily"),))) == OWN_REASONS["no kind"]


@pytest.mark.parametrize(("title", "is_replaced"), [("Tales", True), ("Tales.", False)])
def test_a_title_that_is_a_sentence_stays(title: str, is_replaced: bool) -> None:
    tales = replace(SECOND, title=title, text="Tales is a novel: Emily loves the Tamar.")
    heroines = [replace(SET[n], decomposition=(replace(STEPS[0], answer=name),)) for n, name in ((1, "Pamela"), (2, "Evelina"))]
    copied = made(stepwise(HEROINE, tales), pool=pool_of([*SET, *heroines]), seed=1)
    found_titles = {paragraph.title for paragraph in copied.paragraphs if "#" in paragraph.id}
    assert found_titles
    assert (title not in found_titles) == is_replaced
