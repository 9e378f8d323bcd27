"""What distractors are chosen by: topics, order of mention, and the words with which names begin."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from kgqa.arrays.rows import Adjacency
from kgqa.arrays.search import count_shared
from kgqa.recipes.qangaroo.stems import shares_stem
from kgqa.recipes.qangaroo.topics import SIZE, Topics


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
