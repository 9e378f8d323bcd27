"""Each reader scores what its definition says, computed here in plain Python."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given

from kgqa.readers.lexical.choices import Choices
from kgqa.readers.lexical.cue_readers import CueReader, DocumentCue, Majority, Prior, query_type
from kgqa.readers.lexical.max_mention import mention_counts
from kgqa.readers.lexical.tf_idf import TfIdf
from kgqa.records import Instance
from tests.linking.oracle import tokens
from tests.readers.lexical.drawing import sets
from tests.readers.lexical.fitting import fitted
from tests.readers.lexical.test_readers import TAUGHT

BY_CUE = pytest.mark.parametrize("reader", [Prior, Majority, DocumentCue])


def words(text: str) -> list[str]:
    return [token.folded for token in tokens(text)]


def places(name: str, text: str) -> int:
    wanted, there = words(name), words(text)
    return sum(there[at : at + len(wanted)] == wanted for at in range(len(there))) if wanted else 0


def in_order(instances: list[Instance], scores: list[list[float]]) -> list[float]:
    assert [len(row) for row in scores] == [len(Choices.of([instance]).texts) for instance in instances]
    return [score for row in scores for score in row]


@given(sets())
def test_mentions_are_marked_ones_or_places_of_the_tokens(made: list[Instance]) -> None:
    choices = Choices.of(made)
    expected = []
    for instance in made:
        row = Choices.of([instance])
        marked = instance.candidates and any(paragraph.mentions is not None for paragraph in instance.paragraphs)
        counts = Counter(mention.entity for paragraph in instance.paragraphs for mention in paragraph.mentions or ())
        named = [sum(places(text, paragraph.text) for paragraph in instance.paragraphs) for text in row.texts]
        expected.append([float(counts[id or ""]) for id in row.ids] if marked else [float(count) for count in named])  # noqa: A001
    assert mention_counts(choices).tolist() == in_order(made, expected)


@given(sets(), sets())
def test_tf_idf_is_that_of_the_best_paragraph(train: list[Instance], made: list[Instance]) -> None:
    learned = fitted(TfIdf(), train)
    texts = {paragraph.text for instance in train for paragraph in instance.paragraphs}

    def idf(word: str) -> float:
        return math.log(max(1, len(texts)) / (sum(word in words(text) for text in texts) + 1)) + 1

    def score(instance: Instance, choice: str, text: str) -> float:
        return sum(words(text).count(word) * idf(word) for word in {*words(instance.question), *words(choice)})

    scores, best = learned.choice_scores(Choices.of(made))
    flat, before = [], 0
    for instance in made:
        for choice in Choices.of([instance]).texts:
            flat.append(([score(instance, choice, paragraph.text) for paragraph in instance.paragraphs], before))
        before += len(instance.paragraphs)
    assert len(flat) == len(scores)
    for (expected, first), mine, place in zip(flat, scores.tolist(), best.tolist(), strict=True):
        assert mine == pytest.approx(max(expected, default=0.0))
        assert (place < 0) == (not expected)
        assert not expected or expected[place - first] == pytest.approx(mine)


def cues_of(reader: type[CueReader], instance: Instance) -> set[str]:
    return {Prior: {""}, Majority: {query_type(instance)}, DocumentCue: {paragraph.text for paragraph in instance.paragraphs}}[reader]


def seen_with(reader: type[CueReader], train: list[Instance], cue: str | None) -> Counter[str]:
    """Answer → in how many training questions with this cue, or in how many at all."""
    return Counter(other.answers[0] for other in train if other.answers and (cue is None or cue in cues_of(reader, other)))


@BY_CUE
@given(train=sets(), made=sets(candidates=True))
def test_candidates_have_the_largest_count_with_a_cue(reader: type[CueReader], train: list[Instance], made: list[Instance]) -> None:
    train = [TAUGHT, *train]
    choices = Choices.of(made)
    expected: list[list[float]] = []
    for instance in made:
        counts = [seen_with(reader, train, cue) for cue in cues_of(reader, instance)]
        expected.append([float(max((count[each.text] for count in counts), default=0)) for each in instance.candidates or ()])
    assert fitted(reader(), train).choice_scores(choices).tolist() == in_order(made, expected)


@BY_CUE
@given(train=sets(), made=sets(candidates=False))
def test_without_candidates_it_is_the_most_frequent_answer(reader: type[CueReader], train: list[Instance], made: list[Instance]) -> None:
    train = [TAUGHT, *train]
    for instance, prediction in zip(made, fitted(reader(), train).answers(made), strict=True):
        counts = [count for cue in cues_of(reader, instance) if (count := seen_with(reader, train, cue))] or [
            seen_with(reader, train, None)
        ]
        most = max(max(count.values()) for count in counts)
        shares = {
            times / count.total() for count in counts for answer, times in count.items() if (answer, times) == (prediction.answer, most)
        }
        assert any(prediction.confidence == pytest.approx(share) for share in shares)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who wrote it?", "who"), ("In which year did it end?", "which"), ("How many?", "how many"), ("How?", "how"),
        ("Is it true?", "is"), ("", ""), ("Name the town where he was born.", "where"), ("country_of_citizenship who", "who"),
    ],
)  # fmt: skip
def test_the_type_of_a_question_is_its_question_word(question: str, expected: str) -> None:
    instance = Instance(
        id="q", question=question, paragraphs=(), answers=(), answer_type="span", answerable=True, group="q", provenance=None
    )
    assert query_type(instance) == expected
