"""Articles that begin unlike those about subjects of a relation are told from the others, in any language."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from kgqa.arrays.rows import IntArray
from kgqa.rules.roles import RoleGraph, role_graph
from kgqa.statements import subjects
from kgqa.statements.subjects import KNOWN, unfit

PEOPLE = 60
OPENINGS = {
    "en": ("{name} (born in 19{n}) is an actor and singer", "{name} is a vegetable which is eaten with salt"),
    "de": ("{name} (geboren 19{n}) ist Schauspieler und Sänger", "{name} ist ein Gemüse, das gesalzen gegessen wird"),
    "tr": ("{name} (doğumu 19{n}) oyuncu ve şarkıcıdır", "{name} tuzla yenen bir sebzedir"),
    "zh": ("{name}（19{n}年出生）是演员和歌手", "{name}是一种加盐食用的蔬菜"),
    "ja": ("{name}（19{n}年生まれ）は俳優で歌手である", "{name}は塩をかけて食べる野菜である"),
    "th": ("{name} (เกิด 19{n}) เป็นนักแสดงและนักร้อง", "{name} เป็นผักที่กินกับเกลือ"),
    "ko": ("{name}(19{n}년 출생)은 배우이자 가수이다", "{name}은 소금을 쳐서 먹는 채소이다"),
}


def facts_alone(head: IntArray, relation: IntArray, tail: IntArray, *, relations: int, entities: int) -> RoleGraph:
    none = np.zeros(0, np.int32)
    return role_graph(head, relation, tail, symmetric=np.zeros(relations, np.bool_), texts=(none, none), grades=none, entities=entities)


@pytest.mark.parametrize("language", OPENINGS)
def test_a_vegetable_has_no_place_of_birth(language: str) -> None:
    person, vegetable = OPENINGS[language]
    texts = [person.format(name=f"N{n}", n=n + 10) for n in range(PEOPLE)]
    texts += [vegetable.format(name=f"N{n}") for n in range(PEOPLE)]
    count = 2 * PEOPLE
    # Relation 0 joins people to a town, relation 1 plants to a family; the last ten of each kind have no fact.
    known = np.array([n for n in range(count) if n % PEOPLE < PEOPLE - 10], np.int32)
    relation = (known >= PEOPLE).astype(np.int32)
    facts = facts_alone(known, relation, count + relation, relations=2, entities=count + 2)
    articles = np.array([*range(count), -1, -1], np.int32)
    asked = np.array([PEOPLE - 1, count - 1, PEOPLE - 1, count - 1, count], np.int32)
    roles = np.array([0, 0, 2, 2, 0], np.int32)
    out = unfit(pa.chunked_array([pa.array(texts)]), articles, facts, asked, roles)
    assert out.tolist() == [False, True, True, False, False]


def test_of_a_relation_with_few_subjects_nothing_is_known() -> None:
    few = KNOWN - 1
    texts = pa.chunked_array([pa.array([f"Person {n} is an actor" for n in range(few)] + ["Salt is a mineral"])])
    head = np.arange(few, dtype=np.int32)
    facts = facts_alone(head, head * 0, head * 0 + few + 1, relations=1, entities=few + 2)
    articles = np.array([*range(few + 1), -1], np.int32)
    assert not unfit(texts, articles, facts, np.array([few], np.int32), np.array([0], np.int32)).any()


def test_openings_that_are_read_in_parts_have_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pa.chunked_array([pa.array([f"Word{n % 3} and Word{n % 7} and again Word{n % 3}" for n in range(40)] + [""])])
    documents = np.array([*range(40, -1, -1)], np.int32)
    whole, count = subjects.openings(texts, documents)
    monkeypatch.setattr(subjects, "PART", 7)
    parts, again = subjects.openings(texts, documents)
    assert count == again == 1 + 1 + 7  # and, again, Word0 to Word6
    assert (parts.offsets.tolist(), parts.targets.tolist()) == (whole.offsets.tolist(), whole.targets.tolist())
    assert whole.counts().tolist()[0] == 0
    assert all(row == sorted(set(row)) for row in np.split(whole.targets, whole.offsets[1:-1]) for row in [row.tolist()])
