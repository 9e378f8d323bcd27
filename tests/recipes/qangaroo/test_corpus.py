"""Tables as arrays over rows say what the tables say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.recipes.qangaroo.corpus import Facts, article_of, expression_numbers, places, row_numbers, stated
from kgqa.recipes.qangaroo.instances import instance_ids, relation_text
from kgqa.recipes.qangaroo.search import without_same_expression
from tests.recipes.drawing import ENTITIES, Record, records, to_records, to_samples, without

ENTITY_IDS, DOCUMENT_IDS = [f"Q{i}" for i in range(5)], [f"d{i}" for i in range(4)]
SPANS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 4), st.integers(0, 4)), max_size=12).map(sorted)
"""Document, start, length, entity."""


def tables(about: list[int | None]) -> dict[str, pa.Table]:
    subjects = pa.array([None if entity is None else ENTITY_IDS[entity] for entity in about], pa.string())
    return {"entities": pa.table({"id": ENTITY_IDS}), "documents": pa.table({"id": DOCUMENT_IDS, "about": subjects})}


def table(spans: list[tuple[int, int, int, int]]) -> pa.Table:
    return pa.table(
        {
            "document": pa.array([DOCUMENT_IDS[d] for d, _, _, _ in spans], pa.string()),
            "entity": pa.array([ENTITY_IDS[e] for _, _, _, e in spans], pa.string()),
            "start": pa.array([s for _, s, _, _ in spans], pa.int32()),
            "end": pa.array([s + n for _, s, n, _ in spans], pa.int32()),
        }
    )


@given(spans=SPANS, size=st.integers(1, 5))
def test_ids_that_are_read_as_dictionaries_have_the_same_rows(spans: list[tuple[int, int, int, int]], size: int) -> None:
    plain = table(spans)
    parts = [plain.slice(at, size)["entity"].combine_chunks().dictionary_encode() for at in range(0, plain.num_rows, size)]
    coded = pa.chunked_array(parts, pa.dictionary(pa.int32(), pa.string()))
    known = tables([None] * 4)["entities"]["id"]
    assert row_numbers(coded, known).tolist() == row_numbers(plain["entity"], known).tolist()


@given(spans=SPANS)
def test_places_are_the_rows_of_each_document(spans: list[tuple[int, int, int, int]]) -> None:
    found = places(table(spans), tables([None] * 4))
    rows = list(zip(found.start.tolist(), found.end.tolist(), found.entity.tolist(), strict=True))
    parts = [rows[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    assert parts == [[(s, s + n, e) for d, s, n, e in spans if d == document] for document in range(4)]


@given(spans=SPANS)
def test_a_document_states_what_occurs_in_it(spans: list[tuple[int, int, int, int]]) -> None:
    found = stated(table(spans), tables([None] * 4))
    assert set(zip(found.sources().tolist(), found.targets.tolist(), strict=True)) == {(d, e) for d, _, _, e in spans}


@given(
    about=st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=4, max_size=4).filter(
        lambda a: len({*a} - {None}) == 4 - a.count(None)
    )
)
def test_the_article_of_an_entity_is_the_document_about_it(about: list[int | None]) -> None:
    assert article_of(tables(about)).tolist() == [about.index(entity) if entity in about else -1 for entity in range(5)]


@given(labels=st.lists(st.sampled_from(["Paris", "paris", "PARIS", "Rome", "É", "é", "Straße", "STRASSE"]), min_size=1, max_size=8))
def test_expressions_have_equal_numbers_if_and_only_if_they_are_written_alike(labels: list[str]) -> None:
    entities = pa.table({"id": [str(i) for i in range(len(labels))], "label": labels})
    numbers = expression_numbers(entities, "label").tolist()
    assert all(
        (a == b) == (x.lower() == y.lower()) for a, x in zip(numbers, labels, strict=True) for b, y in zip(numbers, labels, strict=True)
    )
    by_text = [labels[i].lower() for i in sorted(range(len(labels)), key=lambda i: numbers[i])]
    assert by_text == sorted(by_text)
    assert expression_numbers(entities, "id").tolist() == list(range(len(labels)))


NO_FACTS = Facts(head=np.empty(0, np.int32), relation=np.empty(0, np.int32), tail=np.empty(0, np.int32), turned=False)


@given(
    made=records(), numbers=st.lists(st.integers(0, 4), min_size=ENTITIES, max_size=ENTITIES), others=st.sets(st.integers(0, ENTITIES - 1))
)
def test_among_candidates_written_alike_the_answer_or_else_the_first_is_kept(
    made: list[Record], numbers: list[int], others: set[int]
) -> None:
    expected = []
    questions = sorted({(record.head, record.relation) for record in made})
    rows = sorted((head, relation, tail) for head, relation in questions for tail in others)
    columns = [np.array([row[i] for row in rows], np.int32) for i in range(3)]
    facts = Facts(head=columns[0], relation=columns[1], tail=columns[2], turned=False) if rows else NO_FACTS
    for record in made:
        taken, again = {numbers[record.answer], numbers[record.head], *(numbers[tail] for tail in others)}, []
        for candidate in record.chains:
            if candidate != record.answer:
                again += [candidate] if numbers[candidate] in taken else []
                taken.add(numbers[candidate])
        expected.append(without(record, *again))
    assert to_records(without_same_expression(to_samples(made), np.array(numbers, np.int32), facts)) == expected


@given(numbers=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_ids_show_the_hash(numbers: list[int]) -> None:
    assert instance_ids(np.array(numbers, np.uint64), "set").to_pylist() == [f"set-{number:016x}" for number in numbers]


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("place of birth", "place_of_birth"),
        ("Interacts with", "interacts_with"),
        ("part of (series) / set", "part_of_series_set"),
        ("é-x", "é_x"),
        ("cast member → place of birth", "cast_member.place_of_birth"),
        ("adjoin s / adjoins", "adjoins"),
        ("film / film of → teams / team", "film_of.team"),
        ("headquarters / citytown", "headquarters_citytown"),
        ("film / ", "film"),
    ],
)
def test_relations_are_written_as_in_the_official_queries(label: str, text: str) -> None:
    assert relation_text(label) == text
