"""A copy with other names: nothing of the old ones is left, and what is marked stays where it says."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from kgqa.recipes.contrasts.substitution import Name, Template, person
from kgqa.recipes.names.entities import Entity
from kgqa.records import Mention, Paragraph
from tests.recipes.contrasts.drawing import paragraph

WORDS = ["Ada", "Lovelace", "ada lovelace", "Ada Lovelace", "London", "wrote", "in", "İ", "Adam", ".", ""]


@st.composite
def paragraphs(draw: st.DrawFn) -> Paragraph:
    """Words with mentions of some of them."""
    words = draw(st.lists(st.sampled_from(WORDS), max_size=8))
    entry = paragraph(
        "p", [f"{word} " for word in words], supporting=sorted(draw(st.sets(st.sampled_from(range(len(words)))))) if words else ()
    )
    chosen = draw(st.sets(st.sampled_from(range(len(words))), max_size=4)) if words else set()
    starts = entry.sentences or ()
    mentions = tuple(Mention(entity=words[i].lower(), start=starts[i], end=starts[i] + len(words[i])) for i in sorted(chosen) if words[i])
    return replace(entry, mentions=mentions)


def copied(entry: Paragraph, *swaps: tuple[Name, Entity]) -> Paragraph:
    return Template(entry, [name for name, _ in swaps]).filled([new for _, new in swaps], id="copy")


@given(paragraphs(), st.sampled_from(["Bo", "Grace Hopper", "X"]))
def test_marks_stay_on_their_words(entry: Paragraph, new: str) -> None:
    made = copied(entry, (person(("Ada Lovelace",), "london"), Entity(new, "E2")))
    assert (made.id, made.supporting, made.supporting_sentences) == ("copy", False, ())
    assert "Ada Lovelace" not in made.text
    assert len(made.sentences or ()) == len(entry.sentences or ())
    assert list(made.sentences or ()) == sorted(made.sentences or ())
    for mention in made.mentions or ():
        shown = made.text[mention.start : mention.end]
        assert shown == new if mention.entity == "E2" else shown.lower() == mention.entity
    untouched = [m for m in entry.mentions or () if m.entity in {"wrote", "in", "adam"}]
    assert len([m for m in made.mentions or () if m.entity in {"wrote", "in", "adam"}]) == len(untouched)


def test_a_person_is_replaced_with_her_surname_and_nobody_else_is() -> None:
    entry = paragraph("p", ["Ada Lovelace met Adam. ", "Lovelace wrote it; Lovelaces did not. ", "ADA LOVELACE's notes."])
    made = copied(replace(entry, title="Ada Lovelace"), (person(("Ada Lovelace",)), Entity("Grace Hopper")))
    assert made.text == "Grace Hopper met Adam. Hopper wrote it; Lovelaces did not. Grace Hopper's notes."
    assert made.title == "Grace Hopper"
    assert [made.text[start : start + 6] for start in made.sentences or ()] == ["Grace ", "Hopper", "Grace "]


def test_a_surname_is_one_in_its_own_case_only() -> None:
    entry = paragraph("p", ["Ted Young moved at a young age to YOUNG, Young said."])
    made = copied(entry, (person(("Ted Young",)), Entity("Grace Hopper")))
    assert made.text == "Grace Hopper moved at a young age to YOUNG, Hopper said."


def test_names_are_found_between_words_wherever_the_letters_come_from() -> None:
    entry = paragraph("p", ["İzmir knew ADA LOVELACE, Canada, Adam and ada. Žižek–Ada Lovelace."])
    made = copied(entry, (Name(("Ada Lovelace", "Ada")), Entity("Grace")))
    assert made.text == "İzmir knew Grace, Canada, Adam and ada. Žižek–Grace."
    assert copied(paragraph("p", ["It is, it (,) is."]), (Name((",", " ", "", "It")), Entity("X"))).text == "X is, it (,) is."


def test_a_name_in_ten_thousand_places_is_replaced_in_a_moment() -> None:
    entry = paragraph("p", ["Ann " for _ in range(10_000)])
    made = copied(entry, (Name(("Ann",)), Entity("Ivo X")))
    assert made.text == "Ivo X " * 10_000
    assert made.sentences == tuple(range(0, 60_000, 6))


def test_a_mention_of_nothing_is_no_place() -> None:
    entry = replace(paragraph("p", ["Ada lives."]), mentions=(Mention(entity="Q1", start=4, end=4),))
    assert copied(entry, (Name(("Ada",), entity="Q1"), Entity("Bo", "Q2"))).text == "Bo lives."


def test_the_last_word_of_what_is_no_person_stays() -> None:
    for name in ("University of Oxford", "Oxford", "Area 51", "The Big Red Barn Door"):
        assert not person((name,)).surname
    entry = paragraph("p", ["University of Oxford, in Oxford."])
    assert copied(entry, (person(("University of Oxford",)), Entity("Eton"))).text == "Eton, in Oxford."


def test_longer_names_win_and_touch_only_once() -> None:
    swaps = (Name(("New York", "York")), Entity("Leeds")), (Name(("New York City",)), Entity("Bath"))
    made = copied(paragraph("p", ["New York City, New York, York, Yorkshire."]), *swaps)
    assert made.text == "Bath, Leeds, Leeds, Yorkshire."


def test_mentions_of_the_entity_are_replaced_whatever_their_spelling() -> None:
    entry = replace(
        paragraph("p", ["The city slept."]), mentions=(Mention(entity="Q1", start=4, end=8), Mention(entity="Q2", start=9, end=14))
    )
    paris = Name(("Paris",), entity="Q1")
    made = copied(entry, (paris, Entity("Lyon", "Q3")))
    assert made.text == "The Lyon slept."
    assert made.mentions == (Mention(entity="Q3", start=4, end=8), Mention(entity="Q2", start=9, end=14))
    longer = copied(entry, (paris, Entity("Marseille")))
    assert longer.mentions == (Mention(entity="Q2", start=14, end=19),)


def test_a_template_knows_which_names_it_has() -> None:
    template = Template(paragraph("p", ["Ada wrote."]), [Name(("Ada",)), Name(("Grace",))])
    assert (template.has(0), template.has(1)) == (True, False)
    assert not Template(replace(paragraph("p", ["She wrote."]), title="Ada"), [Name(("Ada",))]).has(0)
    assert not Template(paragraph("p", ["Ada wrote."]), [Name(("",))]).has(0)
