"""The breakdown: groups make up the whole, and each dimension says what it is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import kgqa
from kgqa.formats import native
from kgqa.records import Step
from kgqa.scoring.breakdown import SHAPES, UNKNOWN, documents_on_chain, in_order, shape_of
from kgqa.scoring.report import Evaluation
from tests.scoring.families import BY_METRIC, FAMILIES, NAMES, Family, hotpot, musique, musique_line, write

DEPENDENCIES: dict[str, list[tuple[int, ...]]] = {
    "2hop": [(), (0,)],
    "3hop1": [(), (0,), (1,)],
    "3hop2": [(), (), (0, 1)],
    "4hop1": [(), (0,), (1,), (2,)],
    "4hop2": [(), (), (0, 1), (2,)],
    "4hop3": [(), (0,), (), (1, 2)],
    "other, 1 step": [()],
    "other, 3 steps": [(), (), ()],
    "other, 4 steps": [(), (0,), (), (0, 1)],
}


def steps(dependencies: list[tuple[int, ...]]) -> list[Step]:
    return [
        Step(id=f"s{place}", question="", answer=None, paragraph_id=None, depends_on=tuple(f"s{number}" for number in numbers))
        for place, numbers in enumerate(dependencies)
    ]


@pytest.mark.parametrize("shape", DEPENDENCIES)
def test_shapes(shape: str) -> None:
    assert shape_of(steps(DEPENDENCIES[shape])) == shape
    assert set(SHAPES.values()) <= DEPENDENCIES.keys()


@given(st.sampled_from(sorted(SHAPES.values())), st.data())
def test_a_shape_is_the_same_in_any_order_that_builds_on_what_was_before(shape: str, data: st.DataObject) -> None:
    left, moved = steps(DEPENDENCIES[shape]), list[Step]()
    while left:
        seen = {step.id for step in moved}
        moved.append(data.draw(st.sampled_from([step for step in left if seen.issuperset(step.depends_on)])))
        left.remove(moved[-1])
    assert shape_of(moved) == shape


def dimensions(done: Evaluation) -> dict[str, dict[str, int]]:
    return {dimension.name: {group.value: group.questions for group in dimension.groups} for dimension in done.breakdown}


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_the_groups_make_up_the_whole(family: Family, tmp_path: Path) -> None:
    gold, file = family.write(tmp_path, family.worked)
    done = kgqa.evaluate(gold, file, **family.options(tmp_path, beside=True))
    assert done.breakdown
    for dimension in done.breakdown:
        for name in {name for group in dimension.groups for name in group.scores}:
            whole = done.intervals[name].mean
            parts = [(group.questions, group.scores[name].mean) for group in dimension.groups if name in group.scores]
            if len(done.scores.per_record[name]) == done.questions:
                assert sum(count * mean for count, mean in parts) / sum(count for count, _ in parts) == pytest.approx(whole)


def test_what_hotpotqa_has(tmp_path: Path) -> None:
    records = [hotpot("h1"), hotpot("h2", type="comparison", answer="yes"), hotpot("h3", supporting_facts=[["Oats", 0]], level="easy")]
    (tmp_path / "x_dev.json").write_text(json.dumps(records), "utf-8")
    done = kgqa.evaluate(tmp_path / "x_dev.json", write(tmp_path / "p.json", {"answer": {"h1": "Sill", "h2": "no"}, "sp": {}}))
    assert dimensions(done) == {
        "hops": {"1": 1, "2": 2},
        "answer type": {"span": 2, "boolean": 1},
        "type": {"bridge": 2, "comparison": 1},
        "level": {"hard": 2, "easy": 1},
    }
    assert {dimension.name: dimension.basis for dimension in done.breakdown}["hops"] == "supporting paragraphs"
    (by_type,) = [dimension for dimension in done.breakdown if dimension.name == "type"]
    assert [group.scores["em"].mean for group in by_type.groups] == [0.5, 0.0]


def test_what_musique_has(tmp_path: Path) -> None:
    chain = musique("a")["question_decomposition"]
    longer = [*chain, {"id": 3, "question": "#1 and #2", "answer": "x", "paragraph_support_idx": 1}]
    records = [musique("2hop__1_2"), musique("4hop3__1"), musique("a"), musique("b", question_decomposition=longer)]
    (tmp_path / "x_dev.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    file = write(tmp_path / "p.jsonl", [musique_line(record["id"], "Sill", 0, 1) for record in records])
    found = dimensions(kgqa.evaluate(tmp_path / "x_dev.jsonl", file))
    assert found == {"hops": {"2": 3, "3": 1}, "answer type": {"span": 4}, "shape": {"2hop": 2, "4hop3": 1, "other, 3 steps": 1}}


def test_what_the_unanswerable_twin_lacks_its_other_has(tmp_path: Path) -> None:
    family = FAMILIES[4]
    gold, file = family.write(tmp_path)
    found = dimensions(kgqa.evaluate(gold, file))
    assert found == {"hops": {"2": 2}, "answer type": {"span": 2}, "shape": {"2hop": 2}}


def test_what_the_others_have(tmp_path: Path) -> None:
    found = {}
    for name in ("twowiki", "strategyqa", "qangaroo", "drop", "iirc", "squad2"):
        family = BY_METRIC[name]
        gold, file = family.write(tmp_path)
        found[name] = dimensions(kgqa.evaluate(gold, file))
    assert found["twowiki"]["type"] == {"compositional": 2}
    assert found["strategyqa"]["shape"] == {"2hop": 2}
    assert found["qangaroo"]["relation"] == {"river": 3}
    assert found["drop"]["answer type"] == {"span": 1, "number": 1, "spans": 1}
    assert found["iirc"]["answer type"] == {"boolean": 1, "number": 1, "span": 1, "none": 1}
    assert found["squad2"] == {"hops": {"1": 1, UNKNOWN: 2}, "answer type": {"span": 1, "none": 2}}


def test_documents_on_the_chain(seed_wikidata: Path) -> None:
    dataset = seed_wikidata / "datasets" / "wikihop" / "dev.parquet"
    for instance in native.read(dataset):
        supporting = sum(bool(paragraph.supporting) for paragraph in instance.paragraphs)
        assert documents_on_chain(instance) == supporting


@given(st.lists(st.sampled_from(["2", "10", "3hop1", "bridge", "comparison", UNKNOWN, "other, 5 steps"])))
def test_numbers_by_number_others_by_count_unknown_last(values: list[str]) -> None:
    order = in_order({f"q{number}": value for number, value in enumerate(values)})
    assert sorted(order) == sorted(set(values))
    numbers = [value for value in order if value[0].isdigit()]
    assert order[: len(numbers)] == numbers == [value for value in ("2", "3hop1", "10") if value in values]
    rest = [value for value in order[len(numbers) :] if value != UNKNOWN]
    counts = Counter(values)
    assert rest == sorted(rest, key=lambda value: (-counts[value], value))
    assert UNKNOWN not in order[:-1]


@given(st.lists(st.text("²٣1a ", max_size=4) | st.sampled_from(["", "²", "9" * 5000, "9" * 5001, "1" * 5001, "07", "7"])))
def test_any_text_has_its_place_whoever_comes_first(values: list[str]) -> None:
    order = in_order(dict(enumerate(values)))  # type: ignore[arg-type]
    assert sorted(order) == sorted(set(values))
    assert order == in_order(dict(enumerate(reversed(values))))  # type: ignore[arg-type]
    assert [value[:1] in tuple("0123456789") for value in order] == sorted(
        (value[:1] in tuple("0123456789") for value in order), reverse=True
    )


def test_an_empty_type_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "x_dev.json").write_text(json.dumps([hotpot("h1", type="", level="²"), hotpot("h2", level="9" * 5000)]), "utf-8")
    found = dimensions(kgqa.evaluate(tmp_path / "x_dev.json", write(tmp_path / "p.json", {"answer": {"h1": "Sill"}, "sp": {}})))
    assert found["type"] == {"bridge": 1, UNKNOWN: 1}
    assert list(found["level"]) == ["9" * 5000, "²"]
