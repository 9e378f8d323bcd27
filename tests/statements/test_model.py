"""The model tells texts that state a relation from texts that only name both ends, in whatever language they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from kgqa.arrays.parallel import Threads
from kgqa.rules.roles import RoleGraph, role_graph
from kgqa.statements.contexts import Pairs, Texts
from kgqa.statements.model import Profiles, Statements, learn, score

SENTENCES = {
    "English": ("{a} was born in {b}.", "{a} once wrote a letter from {b}."),
    "German": ("{a} wurde in {b} geboren.", "{a} schrieb einmal einen Brief aus {b}."),
    "Turkish": ("{a}, {b} kentinde doğdu.", "{a} bir keresinde {b} kentinden mektup yazdı."),
    "Chinese": ("{a}出生于{b}。", "{a}曾经从{b}寄出一封信。"),
    "Korean": ("{a}은 {b}에서 태어났다.", "{a}은 {b}에서 편지를 썼다."),
}
"""Per language what states where somebody was born, and what only names a city."""
PEOPLE, CITIES = 600, 20


def corpus(stating: str, naming: str) -> tuple[Texts, Pairs, RoleGraph, np.ndarray]:
    """An article for each person: one city is stated, another one named, in an order drawn for each; and the facts."""
    rng = np.random.default_rng(1)
    texts, starts, ends, entities, offsets = [], [], [], [], [0]
    born = rng.integers(0, CITIES, PEOPLE)
    other = (born + rng.integers(1, CITIES, PEOPLE)) % CITIES
    for person in range(PEOPLE):
        a, sentences = f"P{person}x", [(stating, born[person]), (naming, other[person])]
        text = ""
        for template, city in sentences if rng.integers(2) else reversed(sentences):
            b = f"C{city}y"
            said = template.format(a=a, b=b)
            for entity, name in sorted(((CITIES + person, a), (int(city), b)), key=lambda pair: said.index(pair[1])):
                entities.append(entity)
                starts.append(len(text) + said.index(name))
                ends.append(starts[-1] + len(name))
            text += said + " "
        texts.append(text)
        offsets.append(len(entities))
    mentions = (np.array(offsets, np.int64), np.array(entities, np.int32), np.array(starts, np.int32), np.array(ends, np.int32))
    people = np.arange(CITIES, CITIES + PEOPLE, dtype=np.int32)
    document = np.repeat(np.arange(PEOPLE, dtype=np.int32), 2)
    before, after = np.repeat(people, 2), np.stack([born, other], axis=1).ravel().astype(np.int32)
    found = Texts.of(pa.chunked_array([texts]), mentions, people)
    none = np.zeros(0, np.int32)
    facts = role_graph(
        people, np.zeros(PEOPLE, np.int32), born.astype(np.int32), symmetric=np.zeros(1, np.bool_), texts=(none, none), grades=none,
        entities=CITIES + PEOPLE,
    )  # fmt: skip
    return found, (document, before, after), facts, np.tile([True, False], PEOPLE)


def statements(stating: str, naming: str, *, workers: int = 2) -> tuple[Statements, np.ndarray, np.ndarray]:
    """What the model says of the pairs, whether each is stated, and of which pairs it has learned."""
    found, pairs, facts, stated = corpus(stating, naming)
    profiles = Profiles.of(facts)
    learned = pairs[1] < CITIES + PEOPLE // 2
    weights = learn(found, pairs, facts, profiles, learned)
    return score(found, pairs, facts, profiles, weights, engine=Threads(workers)), stated, learned


@pytest.mark.parametrize(("stating", "naming"), SENTENCES.values(), ids=SENTENCES)
def test_stated_pairs_are_more_probable_than_named_ones(stating: str, naming: str) -> None:
    said, stated, learned = statements(stating, naming)
    sure = np.zeros(len(stated), np.float32)
    forwards = said.role == 0
    sure[said.pair[forwards]] = said.probability[forwards]
    assert (sure[stated & ~learned] > 0.9).mean() > 0.95
    assert (sure[~stated & ~learned] < 0.1).mean() > 0.95


def test_statements_do_not_depend_on_workers() -> None:
    one, other = (statements(*SENTENCES["English"], workers=workers)[0] for workers in (1, 4))
    for name in ("pair", "role", "probability"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_statements_do_not_depend_on_the_size_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on how many contexts are read at once, as they are read twice."""
    whole = statements(*SENTENCES["English"])[0]
    monkeypatch.setattr("kgqa.statements.contexts.PART", 7)
    parts = statements(*SENTENCES["English"])[0]
    assert len(whole.pair)
    for name in ("pair", "role", "probability", "lift"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_a_pair_without_a_common_sentence_has_no_context() -> None:
    texts = pa.chunked_array([["Ann rested. Bo slept. Cy met Bo."]])
    mentions = (
        np.array([0, 4]), np.array([0, 1, 2, 1], np.int32), np.array([0, 12, 22, 29], np.int32), np.array([3, 14, 24, 31], np.int32),
    )  # fmt: skip
    pairs = (np.zeros(3, np.int32), np.array([0, 2, 1], np.int32), np.array([1, 1, 0], np.int32))
    found = Texts.of(texts, mentions, np.array([-1], np.int32)).contexts(pairs)
    assert np.diff(found.offsets).tolist() == [0, 1, 0]
    about_ann = Texts.of(texts, mentions, np.array([0], np.int32)).contexts(pairs)
    assert np.diff(about_ann.offsets).tolist() == [2, 1, 0]


def test_a_role_that_only_the_pair_itself_has_is_never_predicted() -> None:
    found, pairs, _, _ = corpus(*SENTENCES["English"])
    none = np.zeros(0, np.int32)
    one = role_graph(
        pairs[1][:1], np.zeros(1, np.int32), pairs[2][:1], symmetric=np.zeros(1, np.bool_), texts=(none, none), grades=none,
        entities=CITIES + PEOPLE,
    )  # fmt: skip
    profiles = Profiles.of(one)
    weights = learn(found, pairs, one, profiles, np.ones(len(pairs[0]), np.bool_))
    assert not (score(found, pairs, one, profiles, weights).pair == 0).any()
