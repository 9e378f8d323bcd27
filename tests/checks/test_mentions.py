"""A mention is wrong beside the boundaries of words, and where the question knows its entity by another name that stands there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import character_tables, token_hashes, tokenize
from kgqa.arrays.words import KINDS, composed, within_word
from kgqa.checks.measures.mentions import mention_faults, tokens_of
from kgqa.formats import native
from kgqa.records import Candidate, Instance, Mention, Paragraph

Marks = Sequence[tuple[str, str]]
"""Entity and what it is called in the text, by place."""


def paragraph(text: str, marks: Marks, id: str = "p") -> Paragraph:  # noqa: A002
    """``text``, in which a ``|`` stands before and after each mention."""
    parts = text.split("|")
    mentions, at = [], 0
    for number, part in enumerate(parts):
        if number % 2:
            mentions.append(Mention(entity=marks[number // 2][0], start=at, end=at + len(part)))
            assert part == marks[number // 2][1]
        at += len(part)
    assert len(mentions) == len(marks)
    return Paragraph(
        id=id, title=None, text="".join(parts), supporting=None, mentions=tuple(mentions), sentences=None, supporting_sentences=None
    )


def question(paragraphs: Iterable[Paragraph], candidates: Marks = ()) -> Instance:
    """A question about cities, the first of the ``candidates`` its answer."""
    return Instance(
        id="q", question="Which?", paragraphs=tuple(paragraphs), answers=tuple(text for _, text in candidates[:1]),
        answer_id=candidates[0][0] if candidates else None, answer_type="candidate" if candidates else "none",
        candidates=tuple(Candidate(id=entity, text=text) for entity, text in candidates) or None, chains=None, decomposition=None,
        answerable=True, group="q", provenance=None,
    )  # fmt: skip


def faults(text: str, marks: Marks, candidates: Marks = ()) -> list[str]:
    return [fault for _, fault in mention_faults(question([paragraph(text, marks)], candidates))]


CITIES = (("lisbon", "Lisbon"), ("porto", "Porto"), ("tokyo", "東京"))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("|Lisbon| is in |Portugal|.", [("lisbon", "Lisbon"), ("pt", "Portugal")]),
        ("|Lisbon|'s castle, the |Lisbon|-based firm, (|Lisbon|), “|Lisbon|”", [("lisbon", "Lisbon")] * 4),
        ("|Lisbon's| castle and the |City of Lisbon|", [("lisbon", "Lisbon's"), ("lisbon", "City of Lisbon")]),
        ("the |Portuguese| of |Portugal|, |Portugal|, |Portugal|", [("pt", "Portuguese"), *[("pt", "Portugal")] * 3]),
        ("two |cities|, one |city|, another |city|", [("city", "cities"), ("city", "city"), ("city", "city")]),
        ("|LISBON|, once |Olisipo|. Lisbon stands there.", [("lisbon", "LISBON"), ("lisbon", "Olisipo")]),
        ("|Macao| or Macau; |Macau|, |Macau|", [("macau", "Macao"), ("macau", "Macau"), ("macau", "Macau")]),
        ("|東京|は|日本|の首都", [("tokyo", "東京"), ("jp", "日本")]),
        ("|the Nobel| Prize; the |Nobel Prize|; a |Nobel Prize|", [("n", "the Nobel"), ("n", "Nobel Prize"), ("n", "Nobel Prize")]),
        ("___|___MASK7___|_ and |___MASK7___|", [("lisbon", "___MASK7___"), ("lisbon", "___MASK7___")]),
        ("|Georgia| and |Georgia|", [("country", "Georgia"), ("state", "Georgia")]),
        ("|🎉|party", [("e", "🎉")]),
        ("|e\u0301tude| in Lisbon", [("e", "e\u0301tude")]),
    ],
)
def test_mentions_that_name_their_entity_are_sound(text: str, marks: Marks) -> None:
    assert faults(text, marks, CITIES) == []


@pytest.mark.parametrize(
    ("text", "marks", "said"),
    [
        ("L|isbon |is big", [("x", "isbon ")], "white space is at an edge"),
        ("L|isbon| is big", [("x", "isbon")], "“isbon”: it begins within a word"),
        ("in| Lisbo|n", [("x", " Lisbo")], "white space"),
        ("|Lisbo|n", [("x", "Lisbo")], "it ends within a word"),
        ("|\u200bLisbon|", [("x", "\u200bLisbon")], "white space"),
        ("|e|\u0301tude", [("x", "e")], "it ends within a word"),
        ("Lisbon is| big|", [("x", " big")], "white space"),
        ("in (|Lisbon)|", [("lisbon", "Lisbon)")], "this entity is called “Lisbon”, which stands at 4 to 10"),
        ("The |castle| of Lisbon", [("lisbon", "castle")], "this entity is called “Lisbon”, which stands at 14 to 20"),
        ("首都は東|京は|大きい", [("tokyo", "京は")], "this entity is called “東京”, which stands at 3 to 5"),
        ("|Porto| is old", [("lisbon", "Porto")], "a name of porto; this entity is called “Lisbon”"),
    ],
)
def test_mentions_that_do_not_are_wrong(text: str, marks: Marks, said: str) -> None:
    (fault,) = faults(text, marks, CITIES)
    assert said in fault


@pytest.mark.parametrize(
    ("text", "called", "names"),
    [
        ("|Brussels| is in Belgium.", ("region", "Brussels"), [("region", "Brussels-Capital Region"), ("city", "Brussels")]),
        ("two |countries|", ("country", "countries"), [("country", "country"), ("countries", "countries")]),
    ],
)
def test_a_form_of_its_own_name_may_be_another_entitys(text: str, called: tuple[str, str], names: Marks) -> None:
    assert faults(text, [called], names) == []


def test_a_name_that_is_marked_where_it_stands_is_displaced_nowhere() -> None:
    text = "|Lisbon| has a |castle|."
    assert faults(text, [("lisbon", "Lisbon"), ("lisbon", "castle")], CITIES) == []
    assert len(faults("Lisbon has a |castle|.", [("lisbon", "castle")], CITIES)) == 1


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (4, 2), (0, 10), (10, 12)])
def test_mentions_outside_their_text_are_wrong(start: int, end: int) -> None:
    text = replace(paragraph("Lisbon it", []), mentions=(Mention(entity="x", start=start, end=end),))
    assert list(mention_faults(question([text]))) == [("p", f"mention {start} to {end} in a text of 9 characters")]


def test_other_mentions_of_an_entity_tell_its_name() -> None:
    texts = [paragraph("|Braga| is old.", [("b", "Braga")], str(number)) for number in range(2)]
    wrong = paragraph("The |tower| of Braga", [("b", "tower")], "wrong")
    assert [where for where, _ in mention_faults(question([*texts, wrong]))] == ["wrong"]
    assert not list(mention_faults(question([texts[0], wrong])))  # one against one


def test_two_votes_make_another_name_of_the_same_entity() -> None:
    texts = [paragraph("The |tower| of Lisbon", [("lisbon", "tower")], str(number)) for number in range(2)]
    assert not list(mention_faults(question(texts, CITIES)))


@given(st.text(st.sampled_from("ab Lé́ñ中京は.,'-_0٣🎉𝒜\u200b\t’パーっ한솔เกาินํ្កស𠮷İıς１Ａ"), max_size=12).map(composed))
def test_boundaries_are_those_of_linking(text: str) -> None:
    data, offsets = text_buffers(pa.array([text]))
    size = max(1, int(offsets[1]))
    starts, ends = np.empty(size, np.int32), np.empty(size, np.int32)
    hashes, spelled, initials = (np.empty(size, np.uint64) for _ in range(3))
    count = tokenize(data, 0, offsets[1], *character_tables(), starts, ends, hashes, spelled, initials)
    raw = text.encode()
    tokens = [(len(raw[:start].decode()), len(raw[:end].decode())) for start, end in zip(starts[:count], ends[:count], strict=True)]
    inside = {at for start, end in tokens for at in range(start + 1, end)}
    assert [within_word(text, at) for at in range(len(text) + 1)] == [at in inside for at in range(len(text) + 1)]
    covered = {at for start, end in tokens for at in range(start, end)}
    assert [KINDS[character] == 0 for character in text] == [at not in covered for at in range(len(text))]
    same = [token_hashes(pa.array(["".join(f" {token}" for token in tokens_of(text))]))[1].tolist(), hashes[:count].tolist()]
    assert same[0] == same[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "twin"),
    [
        ("seed_wikidata", "masked"),
        *(
            pytest.param(*which, marks=pytest.mark.thorough)
            for which in (("seed_wikidata", ""), ("seed_medline", "masked"), ("seed_medline", ""))
        ),
    ],
)
@pytest.mark.parametrize("by", [0, 1, -1])
def test_generated_sets_are_sound_until_one_mention_is_shifted(domain: str, twin: str, by: int, request: pytest.FixtureRequest) -> None:
    workspace: Path = request.getfixturevalue(domain)
    (folder,) = (workspace / "datasets").iterdir()
    asked = shifted = 0
    for instance in native.read(folder / twin / "dev.parquet"):
        place = next(
            (
                (n, m)
                for n, p in enumerate(instance.paragraphs)
                for m in p.mentions or ()
                if m.start + by >= 0 and m.end + by <= len(p.text)
            ),
            None,
        )
        if place is None:
            continue
        number, mention = place
        moved = replace(mention, start=mention.start + by, end=mention.end + by)
        old = instance.paragraphs[number]
        new = replace(old, mentions=tuple(moved if each is mention else each for each in old.mentions or ()))
        paragraphs = (*instance.paragraphs[:number], new, *instance.paragraphs[number + 1 :])
        found = list(mention_faults(replace(instance, paragraphs=paragraphs)))
        assert len(found) == bool(by), (instance.id, found)
        asked, shifted = asked + 1, shifted + len(found)
    assert asked > 10
    assert shifted == (asked if by else 0)
