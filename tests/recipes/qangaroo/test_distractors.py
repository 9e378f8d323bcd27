"""What distractors are chosen by: topics, order of mention, and the words with which names begin."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from kgqa.arrays.rows import Adjacency, Rows, row_bounds
from kgqa.arrays.search import count_shared
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.distractors import HOPS, Distractors, Hops, OneObject, Ranks, Rivals, with_rivals
from kgqa.recipes.qangaroo.false_negatives import beside_answers
from kgqa.recipes.qangaroo.samples import CHAINS, Questions, Samples
from kgqa.recipes.qangaroo.stems import shares_stem
from kgqa.recipes.qangaroo.topics import SIZE, Topics
from kgqa.recipes.qangaroo.types import Types
from kgqa.settings.qangaroo import PathSettings


def strings(*texts: str) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts)])


def test_entities_are_near_the_documents_of_their_topic() -> None:
    # Two topics of six entities; each document mentions three entities of one topic.
    rng = np.random.default_rng(4)
    rows = [np.sort(rng.choice(6, 3, replace=False)) + 6 * (number % 2) for number in range(60)]
    links = Adjacency.from_pairs(np.repeat(np.arange(60), 3), np.concatenate(rows).astype(np.int32), 60)
    ids = strings(*(f"d{number}" for number in range(60)))
    topics = Topics.of(links, ids, 13)
    entity, document = np.repeat(np.arange(12, dtype=np.int32), 60), np.tile(np.arange(60, dtype=np.int32), 12)
    alike = topics.alike(entity, document)
    same = entity // 6 == document % 2
    assert alike[same].min() > alike[~same].max()
    assert topics.entities.shape == (13, SIZE)
    assert topics.alike(np.array([12], np.int32), np.array([0], np.int32))[0] == 0  # mentioned nowhere
    assert topics.alike(np.array([0], np.int32), np.array([-1], np.int32))[0] == 0  # no document
    again = Topics.of(links, ids, 13)
    assert (again.documents == topics.documents).all()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("Hungary", "He wrote for Hungarian papers.", True),
        ("political drama", "It is a television drama.", True),
        ("Hungary", "He was hungry.", False),
        ("Łódź Voivodeship", "A town in the voivodeships of old.", True),
        ("Ungarn", "Eine ungarische Stadt.", True),
        ("The", "The words of names that are short say nothing.", False),
        ("İzmir", "IZMIRLI bir yazar.", True),
        ("匈牙利", "他是一位匈牙利人。", True),
        ("匈牙利", "匈奴人在牙利。", False),
        ("北京大学", "他在北京大饭店。", True),
        ("北京大学", "他在北京的饭店。", False),
        ("国", "他是中国人。", False),  # one letter says nothing
        ("ハンガリー", "彼はハンガリー人である。", True),
        ("ハンガリー", "彼はハングルを読む。", False),
        ("京都府", "彼は京都府民である。", True),
        ("ฮังการี", "เขาเป็นชาวฮังการีคนหนึ่ง", True),
        ("ฮังการี", "เขาเป็นชาวฮังกงคนหนึ่ง", False),
        ("헝가리", "그는 헝가리인이다.", True),
        ("헝가리", "그는 헝겊을 판다.", False),
        ("헝가리", "대헝가리 왕국.", False),  # Korean has spaces: the word begins otherwise
    ],
)
def test_a_word_with_the_stem_of_a_name_reveals_it(name: str, text: str, told: bool) -> None:
    labels, texts = strings(name, "another name", "something else"), strings(text, "nothing of the kind")
    names, documents = np.zeros(3, np.int32), np.array([0, 1, -1], np.int32)
    assert shares_stem(labels, names, texts, documents).tolist() == [told, False, False]


def test_frequent_words_of_names_reveal_nothing() -> None:
    labels = strings(*(f"Museum number {'abcdefghij'[row]}" for row in range(10)))
    assert not shares_stem(labels, np.zeros(1, np.int32), strings("The museums of the town"), np.zeros(1, np.int32)).any()


def test_scripts_may_be_mixed() -> None:
    labels, texts = strings("NHKホール", "東京タワー"), strings("彼はNHKの人。", "東京タワーマンションに住む。")
    names, documents = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    assert shares_stem(labels, names, texts, documents).tolist() == [False, False, False, True]


def test_shared_targets_are_counted_up_to_a_limit() -> None:
    rows = Adjacency.from_pairs(np.array([0, 0, 0, 1, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 4, 9], np.int32), 3)
    one, other = np.array([0, 0, 1], np.int32), np.array([1, 2, 1], np.int32)
    assert count_shared(rows.offsets, rows.targets, one, other, 7).tolist() == [2, 0, 3]
    assert count_shared(rows.offsets, rows.targets, one, other, 0).tolist() == [1, 0, 1]


ARTICLES = np.array([0, 1, 2, 3, -1, -1, -1, -1, -1], np.int32)
LINKS = Adjacency.from_pairs(np.array([0, 0, 0, 1, 2, 3, 3, 3, 3]), np.array([1, 2, 3, 4, 8, 1, 5, 6, 7], np.int32), 4)
"""Article 0, about the subject, mentions 3, the bridge 1, and 2, in this order. Article 1 mentions the answer 4; article 3: 1, 5, 6, 7."""
RIVALS = [[0, 3, 5], [0, 3, 6], [0, 3, 7]]


def some_samples() -> tuple[Samples, Hops]:
    """Two samples about the same path; the second one's bridge is mentioned first. Entity 5 is a candidate already."""
    nodes = [[0, 0, 1, 1, 4], [0, 0, 2, 2, 5], [0, 0, 3, 3, 6]]
    samples = Samples(
        questions=Questions(
            id=np.array([1, 2], np.uint64), split=np.zeros(2, np.int8), head=np.zeros(2, np.int32), relation=np.zeros(2, np.int32),
            answer=np.array([4, 6], np.int32),
        ),
        candidates=Rows.from_counts(np.array([2, 1]), np.array([4, 5, 6], np.int32)),
        chains=Rows.numbering(np.ones(3, np.int64), *CHAINS),
        nodes=Rows.from_counts(np.full(3, 5), np.array(nodes, np.int32).ravel()),
        documents=Rows.from_counts(np.array([3, 2]), np.array([0, 1, 2, 0, 3], np.int32)),
    )  # fmt: skip
    hops = np.zeros(2, HOPS)
    hops["bridge"], hops["answer_document"], hops["answer"] = [1, 3], [1, 3], [4, 6]
    return samples, hops


def ranks_of_links() -> Ranks:
    """The order of mentions in article 0 is 3, 1, 2."""
    pairs = zip(LINKS.sources().tolist(), LINKS.targets.tolist(), strict=True)
    mentions = sorted((document, [0, 10, 20, 0][entity] if document == 0 else entity, entity) for document, entity in pairs)
    document, start, entity = (np.array(column, np.int32) for column in zip(*mentions, strict=True))
    return Ranks(Places(offsets=row_bounds(document, 4), entity=entity, start=start, end=start + 1), ARTICLES)


class OneType:
    """All entities from 4 on have one type."""

    def alike(self, first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        return ((first >= 4) & (second >= 4)).astype(np.float64)


SEVERAL = OneObject(first=np.zeros(2, np.bool_), second=np.zeros(2, np.bool_))
NAMES = np.arange(9, dtype=np.int32)


def rivals_of(
    samples: Samples, hops: Hops, types: object, *, links: Adjacency = LINKS, usually_one: OneObject = SEVERAL,
    names: npt.NDArray[np.int32] = NAMES, most: int = 9,
) -> Rivals:  # fmt: skip
    settings = PathSettings(rivals=most)
    return Rivals.of(samples, hops, usually_one, links, ranks_of_links(), ARTICLES, cast("Types", types), names, settings)


@pytest.mark.parametrize("most", [0, 1, 9])
def test_rivals_are_in_the_article_of_an_entity_before_the_bridge(most: int) -> None:
    samples, hops = some_samples()
    rivals = rivals_of(samples, hops, OneType(), most=most)
    triples = np.stack([rivals.sample, rivals.via, rivals.entity], axis=1).tolist()
    assert len(triples) == min(most, 3)
    assert all(triple in RIVALS for triple in triples)
    harder = with_rivals(samples, rivals, hops)
    assert harder.candidates.counts().tolist() == [len({4, 5, *(entity for *_, entity in triples)}), 1]
    chains = [harder.nodes.targets[begin:end].tolist() for begin, end in pairwise(harder.nodes.offsets.tolist())]
    assert all([0, 0, via, 3, entity] in chains for _, via, entity in triples)
    assert [0, 0, 1, 1, 4] in chains
    assert chains[-1] == [0, 0, 3, 3, 6]
    assert 3 in harder.documents.targets[: harder.documents.offsets[1]] or not triples


class SameType:
    """All entities have one type."""

    def alike(self, first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        return np.ones(len(first)) * (second >= 0)


def test_neither_subject_nor_bridge_is_a_rival() -> None:
    samples, hops = some_samples()
    links = Adjacency.from_pairs(np.append(LINKS.sources(), 3), np.append(LINKS.targets, 0).astype(np.int32), 4)
    rivals = rivals_of(samples, hops, SameType(), links=links)
    assert sorted(rivals.entity[rivals.sample == 0].tolist()) == [5, 6, 7]  # the article mentions the subject 0 and the bridge 1 too


def test_a_namesake_of_the_bridge_is_no_rival() -> None:
    samples, hops = some_samples()
    names = NAMES.copy()
    names[6] = names[1]
    assert sorted(rivals_of(samples, hops, OneType(), names=names).entity.tolist()) == [5, 7]


def test_rivals_are_in_the_answers_document_too_if_the_last_relation_usually_has_one_object() -> None:
    samples, hops = some_samples()
    one = OneObject(first=SEVERAL.first, second=np.array([False, True]))
    rivals = rivals_of(samples, hops, OneType(), usually_one=one)
    beside = [row for row in zip(rivals.sample.tolist(), rivals.via.tolist(), rivals.entity.tolist(), strict=True) if row[0] == 1]
    assert sorted(beside) == [(1, 3, 5), (1, 3, 7)]  # the answer of the second sample is 6
    assert sorted(rivals.entity[rivals.sample == 0].tolist()) == [5, 6, 7]
    harder = with_rivals(samples, rivals, hops)
    chains = [harder.nodes.targets[begin:end].tolist() for begin, end in pairwise(harder.nodes.offsets.tolist())]
    assert chains[-3:] == [[0, 0, 3, 3, entity] for entity in (5, 6, 7)]


@pytest.mark.parametrize("is_functional", [False, True])
def test_only_a_second_object_of_a_relation_with_one_object_may_be_true(is_functional: bool) -> None:
    samples, hops = some_samples()
    hops["second"] = 0
    usually_one = OneObject(first=np.ones(2, np.bool_), second=np.full(2, is_functional))
    # Facts join the second sample's bridge 3 to all of 5, 6 and 7, and its second relation joins it to 5.
    possible = Adjacency.from_pairs(np.array([3, 3, 3]), np.array([5, 6, 7], np.int32), 9)
    objects = Adjacency.from_pairs(np.array([1]), np.array([5], np.int32), 2)
    rivals = rivals_of(samples, hops, OneType(), usually_one=OneObject(first=SEVERAL.first, second=np.array([False, True])))
    samples = with_rivals(samples, rivals, hops)
    choice = Distractors(
        possible=possible, linked=LINKS, mentioning=LINKS.reversed(9), articles=ARTICLES, ranks=ranks_of_links(),
        types=cast("Types", OneType()), topics=Topics.of(LINKS, strings("a", "b", "c", "d"), 9), settings=PathSettings(),
    )  # fmt: skip
    bridges = Rows.from_counts(np.array([1, 1]), np.array([1, 3], np.int32))
    nothing = np.zeros(len(samples.candidates.targets), np.bool_)
    is_dropped, _ = choice.dropped(samples, hops, bridges, objects, usually_one, nothing)
    left = samples.without_candidates(is_dropped)
    assert left.candidates.targets[left.candidates.offsets[1] :].tolist() == ([6, 7] if is_functional else [6])


@pytest.mark.parametrize(("text", "listed"), [("It borders Amal, Boma and Cua.", True), ("It borders Amal. Boma is far from Cua.", False)])
def test_a_candidate_in_a_sentence_with_the_answer_is_listed_with_it(text: str, listed: bool) -> None:
    samples, hops = some_samples()  # the first sample has the answer 4 and the candidate 5, and the second one only its answer
    start = np.array([text.index("Amal"), text.index("Boma")], np.int32)
    mentions = Places(
        offsets=np.array([0, 0, 2, 2, 2], np.int64), entity=np.array([4, 5], np.int32), start=start, end=start + 4
    )  # fmt: skip
    texts = strings("Amal and Boma.", text, "Amal and Boma.", "Amal and Boma.")
    assert beside_answers(samples, hops["answer_document"], mentions, texts).tolist() == [False, listed, False]
