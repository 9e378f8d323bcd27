"""Each baseline scores what its definition in section 6.1 says, computed here in plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.rows import Rows
from kgqa.recipes.qangaroo.baselines import NAMES as ALL_NAMES, BaselineData, Baselines, document_cue, majority, max_mention
from kgqa.recipes.qangaroo.samples import GRADE, Samples
from kgqa.recipes.qangaroo.shortcuts import FAR
from tests.linking.oracle import tokens
from tests.recipes.drawing import DOCUMENTS, ENTITIES, RELATIONS, Record, records, to_samples

WORDS = st.lists(st.sampled_from(["walla", "new", "York", "of", "born", "Éire", "x"]), min_size=1, max_size=3).map(" ".join)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """What baselines look at, in plain lists."""

    texts: list[str]
    labels: list[str]
    relations: list[str]
    links: list[dict[int, int]]
    """Per document: entity → how often."""
    articles: list[int]
    """Per entity the document about it, or -1."""

    def data(self) -> BaselineData:
        pairs = [(e, n) for part in self.links for e, n in sorted(part.items())]
        rows = Rows.from_counts(np.array([len(part) for part in self.links]), np.array([e for e, _ in pairs], np.int32))
        texts, labels, relations = (pa.chunked_array([pa.array(part, pa.string())]) for part in (self.texts, self.labels, self.relations))
        counts = np.array([n for _, n in pairs], np.int64)
        return BaselineData(
            links=rows, link_counts=counts, texts=texts, labels=labels, relation_labels=relations,
            first_places=np.array([place(d, e) for d, part in enumerate(self.links) for e in sorted(part)], np.int32),
            articles=np.array(self.articles, np.int32),
        )  # fmt: skip


def place(document: int, entity: int) -> int:
    """Where a document first mentions an entity; another order than that of the entities, without ties."""
    return 7 * (entity + document) % 13


CORPORA = st.builds(
    Corpus,
    texts=st.lists(st.lists(WORDS, max_size=4).map(", ".join), min_size=DOCUMENTS, max_size=DOCUMENTS),
    labels=st.lists(WORDS, min_size=ENTITIES, max_size=ENTITIES),
    relations=st.lists(WORDS, min_size=RELATIONS, max_size=RELATIONS),
    links=st.lists(st.dictionaries(st.integers(0, ENTITIES - 1), st.integers(1, 5), max_size=4), min_size=DOCUMENTS, max_size=DOCUMENTS),
    articles=st.lists(st.integers(-1, DOCUMENTS - 1), min_size=ENTITIES, max_size=ENTITIES),
)
MADE = records(most=10, chains=1, answers=4)
Scores = list[dict[int, float]]
"""Per sample: candidate → score."""


def words(text: str) -> list[str]:
    return [token.folded for token in tokens(text)]


def plain_scores(name: str, made: list[Record], train: list[Record], corpus: Corpus) -> Scores:
    """The definitions."""

    def score(record: Record, candidate: int) -> float:
        if name == "max-mention":
            return sum(corpus.links[d].get(candidate, 0) for d in record.documents)
        if name == "majority per query type":
            return sum(other.relation == record.relation and other.answer == candidate for other in train)
        if name == "document-cue":
            return max(sum(other.answer == candidate and d in other.documents for other in train) for d in record.documents)
        if name == "TF-IDF":
            asked = {*words(corpus.labels[record.head]), *words(corpus.relations[record.relation]), *words(corpus.labels[candidate])}
            return max(sum(words(corpus.texts[d]).count(word) * idf(word) for word in asked) for d in record.documents)
        if name == "first bridge":
            return float(candidate in corpus.links[bridge]) if (bridge := first_bridge(record)) is not None else 0.0
        if name == "nearest candidate":
            return -distances(record).get(candidate, FAR)
        if name == "shared entities":
            mine = {e for d in own(record) for e in corpus.links[d]}
            theirs = {e for d in record.documents if d not in own(record) and candidate in corpus.links[d] for e in corpus.links[d]}
            return len((mine & theirs) - {candidate})
        return 0.0

    def own(record: Record) -> set[int]:
        return {chain[1] for chains in record.chains.values() for chain in chains}

    def first_bridge(record: Record) -> int | None:
        ways = [
            (place(d, e), d, e, article)
            for d in own(record)
            for e in corpus.links[d]
            if (article := corpus.articles[e]) in record.documents and article != d and e != record.head
            and any(candidate in corpus.links[article] for candidate in record.chains)
        ]  # fmt: skip
        return min(ways)[3] if ways else None

    def distances(record: Record) -> dict[int, int]:
        reached, left = {e: 1 for d in own(record) for e in corpus.links[d]}, set(record.documents) - own(record)
        for step in range(2, 7):
            new = {d for d in left if any(reached.get(e) == step - 1 for e in corpus.links[d])}
            left -= new
            reached = {**{e: step for d in new for e in corpus.links[d]}, **reached}
        return reached

    def idf(word: str) -> float:
        return math.log(len(corpus.texts) / (sum(word in words(text) for text in corpus.texts) + 1)) + 1

    return [{candidate: score(record, candidate) for candidate in record.chains} for record in made]


def as_plain(samples: Samples, scores: np.ndarray) -> Scores:
    flat = list(zip(samples.candidates.targets.tolist(), scores.tolist(), strict=True))
    return [dict(flat[a:b]) for a, b in zip(samples.candidates.offsets[:-1], samples.candidates.offsets[1:], strict=True)]


def split(made: list[Record], number: int) -> list[Record]:
    return [record for record in made if record.split == number]


NAMES = ALL_NAMES[:-1]
"""Without that for graded samples."""


def test_the_rule_baseline_uses_only_grades() -> None:
    made = [Record(id=i, split=1, head=0, relation=0, answer=1, chains={1: [(0, 0, 1)], 2: [(0, 1, 2)]}) for i in range(8)]
    corpus = Corpus(texts=["x"] * 2, labels=["x"] * 3, relations=["x"], links=[{}, {}], articles=[-1] * 3)
    samples = to_samples(made)
    grades = np.zeros(len(samples.candidates.targets), GRADE)
    grades["confidence"] = np.where(samples.is_answer(), [0.9, 0.9] * 6 + [0.1, 0.1] * 2, 0.5)
    scores = Baselines(corpus.data()).scores(samples.with_grades(grades), rng=np.random.default_rng(1))
    assert {score.baseline for score in scores} == set(ALL_NAMES)
    assert [score.accuracy for score in scores if score.baseline == "rule"] == [0.75, None]


@pytest.mark.parametrize("name", NAMES)
@given(made=MADE, corpus=CORPORA)
def test_every_baseline_scores_by_its_definition(name: str, made: list[Record], corpus: Corpus) -> None:
    train, held_out = to_samples(split(made, 0)), to_samples(split(made, 1))
    found = as_plain(held_out, Baselines(corpus.data()).candidate_scores(name, train, held_out))
    expected = plain_scores(name, split(made, 1), split(made, 0), corpus)
    assert [list(part) for part in found] == [list(part) for part in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert list(mine.values()) == pytest.approx(list(theirs.values()))


@given(made=MADE, corpus=CORPORA, seed=st.integers(0, 3))
def test_accuracy_is_that_of_the_best_scored_candidate_with_ties_broken_by_hash(made: list[Record], corpus: Corpus, seed: int) -> None:
    scores = Baselines(corpus.data()).scores(to_samples(made), rng=np.random.default_rng(seed))
    assert [(s.baseline, s.split) for s in scores] == [(name, part) for part in ("dev", "test") for name in NAMES]
    for score in scores:
        held_out = split(made, 1 if score.split == "dev" else 2)
        assert score.samples == len(held_out)
        if not held_out:
            assert (score.accuracy, score.low, score.high, score.chance) == (None, None, None, None)
            continue
        assert score.chance == pytest.approx(np.mean([1 / len(record.chains) for record in held_out]))
        if score.baseline == "TF-IDF":
            continue  # Sums of floats in another order; its scores are compared above.
        expected = plain_scores(score.baseline, held_out, split(made, 0), corpus)
        right = 0
        for record, by_candidate in zip(held_out, expected, strict=True):
            ties = {c: int(shuffling(np.array([record.id], np.uint64), np.array([c]), purpose="ties")[0]) for c in by_candidate}
            right += max(by_candidate, key=lambda c, by=by_candidate, ties=ties: (by[c], ties[c])) == record.answer  # type: ignore[misc]
        assert score.accuracy == right / len(held_out)
        assert score.low is not None
        assert score.high is not None
        assert 0 <= score.low <= score.accuracy <= score.high <= 1


def test_scores_are_the_same_for_the_same_generator() -> None:
    made = [Record(id=i, split=i % 3, head=0, relation=0, answer=1 + i % 2, chains={1: [(0, 0, 1)], 2: [(0, 1, 2)]}) for i in range(30)]
    corpus = Corpus(texts=["x"] * 2, labels=["x"] * 3, relations=["x"], links=[{}, {}], articles=[-1] * 3)
    first, second = (Baselines(corpus.data()).scores(to_samples(made), rng=np.random.default_rng(5)) for _ in range(2))
    assert first == second


def test_the_random_baseline_is_right_as_often_as_chance() -> None:
    ids = np.random.default_rng(1).integers(0, 2**63, 4000).tolist()
    chains = {candidate: [(0, 0, candidate)] for candidate in (1, 2, 3, 4)}
    made = [Record(id=number, split=1, head=0, relation=0, answer=3, chains=chains) for number in ids]
    corpus = Corpus(texts=["x"], labels=["x"] * 5, relations=["x"], links=[{}], articles=[-1] * 5)
    scores = Baselines(corpus.data()).scores(to_samples(made), rng=np.random.default_rng(0))
    random = next(score for score in scores if score.baseline == "random")
    assert random.accuracy == pytest.approx(0.25, abs=0.03)
    assert random.chance == 0.25
    assert random.low is not None
    assert random.high is not None
    assert random.low < 0.25 < random.high
    assert 0.01 < random.high - random.low < 0.04


def test_links_to_other_entities_than_candidates_do_not_count() -> None:
    made = [Record(id=1, split=1, head=0, relation=0, answer=1, chains={1: [(0, 0, 1)], 2: [(0, 1, 2)]})]
    links: list[dict[int, int]] = [{0: 9, 1: 1, 5: 7}, {1: 1, 2: 3}]
    corpus = Corpus(texts=["", ""], labels=["x"] * 6, relations=["x"], links=links, articles=[-1] * 6)
    assert max_mention(to_samples(made), corpus.data()).tolist() == [2, 3]


def test_nothing_is_learnt_from_an_empty_training_split() -> None:
    made = to_samples([Record(id=1, split=1, head=0, relation=0, answer=1, chains={1: [(0, 0, 1)], 2: [(0, 1, 2)]})])
    assert majority(to_samples([]), made).tolist() == [0, 0]
    assert document_cue(to_samples([]), made).tolist() == [0, 0]
