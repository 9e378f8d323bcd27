"""Names of a set, by kind: what a title names, what counts as a name, and where drawing begins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgqa.recipes.names.entities import TRIES, Entity, Pool, about, entity_kinds
from kgqa.recipes.names.kinds import Kind
from kgqa.records import Instance, Mention, Paragraph
from tests.recipes.contrasts.drawing import asked
from tests.recipes.contrasts.test_adversarial import SET, page, pool_of


def mentioning(title: str, text: str, **mentions: str) -> Paragraph:
    """A page of these words, some of which name an entity."""
    marks = tuple(
        Mention(entity=entity, start=text.index(message), end=text.index(message) + len(message)) for entity, message in mentions.items()
    )
    return replace(page("d2", title, text), mentions=marks)


@pytest.mark.parametrize(
    ("title", "mentions", "entity"),
    [
        ("Ann Ward", {"Q1": "Tamar", "Q2": "ANN WARD"}, "Q2"),
        ("Ann Ward (writer)", {"Q1": "Tamar", "Q2": "ANN WARD"}, "Q2"),
        ("Ann Ward", {"Q1": "Tamar", "Q3": "Jim Reed"}, None),  # as long as the title
        ("Ann Ward", {"Q2": "ANN"}, None),
        ("Ann Ward", {}, None),
    ],
)
def test_a_title_has_the_id_of_a_mention_with_its_words(title: str, mentions: dict[str, str], entity: str | None) -> None:
    assert about(mentioning(title, "ANN WARD met Jim Reed at the Tamar.", **mentions)) == Entity("Ann Ward", entity)


def test_a_paragraph_without_title_names_nothing() -> None:
    assert about(replace(mentioning("", "Ann.", Q1="Ann"), title=None)) is None


def test_yes_and_no_are_no_names() -> None:
    def drawn(answer_type: str) -> set[Entity]:
        instance = replace(SET[0], question="Which river is longer?", answers=("Yes",), answer_type=answer_type)
        return {entity for entities in pool_of([instance]).kinds.values() for entity in entities}

    assert Entity("Yes") in drawn("span")
    assert Entity("Yes") not in drawn("boolean")


def linked(paragraph: Paragraph, *others: Paragraph) -> Instance:
    """A question whose answer (Q3) stands behind Q2 in this paragraph."""
    fields: dict[str, object] = {"question": "river Novel", "answers": ("Tamar",), "answer_id": "Q3", "decomposition": None}
    return asked([paragraph, *others], chains=((("Q1", "d1", "Q2", "d2", "Q3"),),), **fields)


PLACE: Kind = ("before the answer", "river", "Q0")
UNNAMED = mentioning("Notes", "Ann Ward knew the Tamar.", Q2="Ann Ward", Q3="Tamar")
NAMING = replace(mentioning("Novel", "Novel is a book.", Q1="Novel"), id="d1")


def test_places_in_chains_tell_the_kind_only_where_no_title_names_an_entity() -> None:
    assert entity_kinds(linked(UNNAMED), "Q2") == [PLACE]
    assert pool_of([linked(UNNAMED)]).kinds[PLACE] == [Entity("Ann Ward", "Q2")]
    # Where titles name entities, an entity that none names has no kind.
    assert entity_kinds(linked(UNNAMED, NAMING), "Q2") == []
    assert PLACE not in pool_of([linked(UNNAMED, NAMING)]).kinds
    assert entity_kinds(linked(UNNAMED, NAMING), "Q1") == [("book", "book"), ("book",)]


NARROW, WIDE = ("river", "river"), ("river",)
CREEKS = [Entity(f"Creek {number}") for number in range(10)]
WATERS = [Entity(f"Water {number}") for number in range(30)]


def drawn(kinds: list[Kind], *, purpose: str = "answer", seed: int = 1, id: str = "q") -> list[Entity]:  # noqa: A002 - as Pool.draw
    pool = Pool({NARROW: CREEKS, WIDE: WATERS}, frozenset())
    return [entity for entity, _ in pool.draw(kinds, "Tamar", purpose=purpose, seed=seed, id=id)]


def test_drawing_begins_anywhere_and_goes_round() -> None:
    entities = drawn([WIDE])
    begin = WATERS.index(entities[0])
    assert entities == [*WATERS[begin:], *WATERS[:begin]]
    assert entities == drawn([WIDE])


def test_drawing_begins_elsewhere_for_another_question_purpose_and_seed() -> None:
    assert len({drawn([WIDE], id=f"q{number}")[0] for number in range(40)}) > 10
    assert len({drawn([WIDE], seed=number)[0] for number in range(40)}) > 10
    assert len({drawn([WIDE], purpose=f"p{number}")[0] for number in range(40)}) > 10


def test_the_kinds_are_drawn_from_in_the_order_given_the_narrow_one_first() -> None:
    entities = drawn([NARROW, ("lake",), WIDE])
    assert set(entities[: len(CREEKS)]) == set(CREEKS)
    assert set(entities[len(CREEKS) :]) == set(WATERS)


def test_of_a_large_kind_no_more_than_a_number_of_names_are_drawn() -> None:
    pool = Pool({WIDE: [Entity(f"Water {number}") for number in range(TRIES + 1)]}, frozenset())
    assert len(list(pool.draw([WIDE], "Tamar", purpose="answer", seed=1, id="q"))) == TRIES
