"""Which samples are read depends on seed and ids alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgqa.collection.draw import draw
from kgqa.collection.reading import readings
from kgqa.errors import DuplicateId, EmptyResult, MissingInput, SettingsError
from kgqa.formats import native
from kgqa.records import Grade
from tests.contents import renew_manifest


@pytest.fixture
def wikihop(seed_wikidata: Path) -> Path:
    return seed_wikidata / "datasets" / "wikihop"


def ids(dataset: Path, split: str) -> Iterator[str]:
    for row in native.read_fields(native.split_files(dataset)[split], "id"):
        yield row["id"]


def test_a_larger_draw_begins_with_the_smaller_one(wikihop: Path) -> None:
    whole = draw(wikihop, sample=10_000, seed=7)
    assert whole.available == len(whole.splits) == sum(len(list(ids(wikihop, split))) for split in native.split_files(wikihop))
    for sample in (1, 5, 20):
        assert list(draw(wikihop, sample=sample, seed=7).splits) == list(whole.splits)[:sample]
    assert list(draw(wikihop, sample=20, seed=8).splits) != list(whole.splits)[:20]


def test_a_split_has_a_draw_of_its_own(wikihop: Path) -> None:
    drawn = draw(wikihop, sample=3, seed=7, split="dev")
    assert set(drawn.splits) <= set(ids(wikihop, "dev"))
    assert set(drawn.splits.values()) == {"dev"}
    assert drawn.available == len(list(ids(wikihop, "dev")))


def test_the_order_of_rows_and_where_they_lie_change_nothing(wikihop: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(wikihop, tmp_path / "moved"))
    for path in native.split_files(moved).values():
        table = pq.read_table(path, memory_map=False)
        turned = table.take(pa.array(range(table.num_rows - 1, -1, -1)))
        pq.write_table(turned, path, row_group_size=7)
    renew_manifest(moved)
    here, there = draw(wikihop, sample=12, seed=3), draw(moved, sample=12, seed=3)
    assert list(here.splits) == list(there.splits)
    assert [each.instance for each in readings(wikihop, here)] == [each.instance for each in readings(moved, there)]


def test_a_set_without_a_manifest_is_known_by_its_files(wikihop: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(wikihop, tmp_path / "moved"))
    (moved / "manifest.json").unlink()
    before = draw(moved, sample=2, seed=1)
    assert before.origin.content != draw(wikihop, sample=2, seed=1).origin.content
    assert draw(moved, sample=2, seed=1) == before
    pq.write_table(pq.read_table(moved / "dev.parquet", memory_map=False).slice(1), moved / "dev.parquet")
    assert draw(moved, sample=2, seed=1).origin.content != before.origin.content


@pytest.mark.parametrize(
    ("changed", "part"),
    [({"sample": 0}, "sample 0 is not between 1 and"), ({"seed": -1}, "seed -1 is not"), ({"split": "dve"}, "did you mean dev?")],
)
def test_what_cannot_be_drawn_is_one_sentence(changed: dict[str, object], part: str, wikihop: Path) -> None:
    with pytest.raises(SettingsError, match=part.replace("?", r"\?")):
        draw(wikihop, **{"sample": 1, "seed": 1, **changed})  # type: ignore[arg-type]


def test_no_dataset_and_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="holds no dataset"):
        draw(tmp_path, sample=1, seed=1)
    native.write([], tmp_path / "dev.parquet")
    with pytest.raises(EmptyResult, match="there are no samples to draw"):
        draw(tmp_path, sample=1, seed=1)
    with pytest.raises(EmptyResult, match="there are no samples in train"):
        draw(tmp_path, sample=1, seed=1, split="train")


def test_a_sample_that_is_there_twice_is_one_sentence(wikihop: Path, tmp_path: Path) -> None:
    (first, second) = native.take(native.split_files(wikihop)["train"], set(draw(wikihop, sample=2, seed=1, split="train").splits))
    native.write([first, second, first], tmp_path / "train.parquet")
    native.write([second], tmp_path / "dev.parquet")
    for split in ("train", "all"):
        with pytest.raises(DuplicateId, match="occurs twice, or in train too; generate the dataset again"):
            draw(tmp_path, sample=3, seed=1, split=split)
    assert len(draw(tmp_path, sample=3, seed=1, split="dev").splits) == 1


def test_a_hop_has_the_facts_of_both_directions(seed_wikidata: Path) -> None:
    folder = seed_wikidata / "datasets" / "wikihop"
    tables = {name: pq.read_table(seed_wikidata / "tables" / f"{name}.parquet").to_pylist() for name in ("entities", "facts", "relations")}
    relations = {row["id"]: row for row in tables["relations"]}
    names = {row["id"]: row["label"] for row in tables["entities"]}
    there: dict[tuple[str, str], set[str]] = {}
    for fact in tables["facts"]:
        relation = relations[fact["relation"]]
        there.setdefault((fact["head"], fact["tail"]), set()).add(relation["label"])
        if relation["symmetric"]:
            there.setdefault((fact["tail"], fact["head"]), set()).add(relation["label"])
    seen = set()
    for reading in readings(folder, draw(folder, sample=10_000, seed=0)):
        assert reading.knows_graph
        assert {chain for chains in reading.instance.chains or () for chain in chains} == {
            (hops[0].before, *(node for hop in hops for node in (hop.document, hop.entity)))
            for chains in reading.chains.values()
            for hops in chains
        }
        for hop in (hop for chains in reading.chains.values() for chain in chains for hop in chain):
            forward, backward = there.get((hop.before, hop.entity), set()), there.get((hop.entity, hop.before), set())
            assert (set(hop.forward), set(hop.backward)) == (forward, backward - forward)
            assert reading.names[hop.entity] == names[hop.entity]
            seen.add((bool(forward), bool(backward - forward)))
    assert len(seen) >= 3


def test_grades_are_said_in_words(wikihop: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(wikihop, tmp_path / "moved"))
    for path in native.split_files(moved).values():
        graded = []
        for found in native.read(path):
            candidates = found.candidates or ()
            surely = [0.5 if each.id == found.answer_id else i / 1024 for i, each in enumerate(candidates)]
            grades = tuple(Grade(confidence=value, path="a → b", text="t") for value in surely)
            graded.append(replace(found, grades=grades))
        native.write(graded, path)
    renew_manifest(moved)
    for reading in readings(moved, draw(moved, sample=3, seed=1)):
        last = [each for each in reading.instance.candidates or () if each.id != reading.instance.answer_id][-1]
        assert list(reading.grades) == ["the answer", f"the best other, {last.text}"]
        assert reading.grades["the answer"].startswith("0.5")
        assert not reading.knows_graph
