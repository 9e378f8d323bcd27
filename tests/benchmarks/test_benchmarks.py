"""The benchmarks measure what they say: the competitors find the same as kgqa, and the synthetic world is the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("ahocorasick_rs", reason="pip install --group bench")
pytest.importorskip("duckdb", reason="pip install --group bench")

from benchmarks import linking, plain_python
from benchmarks.__main__ import write
from benchmarks.aho_corasick import AhoCorasick, patterns, token_form, watched_names
from benchmarks.measure import Section, Table, in_turn, ratios, spread
from benchmarks.process import ROOT, python
from benchmarks.synthetic import World, make_world
from benchmarks.traversal import bare, check, samples_of
from benchmarks.traversers import (
    CypherTraverser,
    DuckdbTraverser,
    PolarsTraverser,
    PythonTraverser,
    Traverser,
    in_database,
    world_rows,
)
from kgqa.arrays.texts import text_buffers
from kgqa.linking.dictionary import build_dictionary
from kgqa.linking.matcher import Spans, match
from kgqa.recipes.qangaroo.samples import Samples
from kgqa.settings.linking import LinkingSettings
from kgqa.store.embedded import EmbeddedStore, build


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(documents=300, links=1_800, questions=60, seed=3)


def arrays(world: World) -> list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    rows = world.graph.documents_of, world.graph.entities_of
    questions, facts = world.questions, world.facts
    return [
        *(part for row in rows for part in (row.offsets, row.targets)), world.role, questions.head, questions.relation, questions.answer,
        facts.head, facts.relation, facts.tail,
    ]  # fmt: skip


def test_the_synthetic_world_depends_on_its_seed_alone(world: World) -> None:
    again, other = (make_world(documents=300, links=1_800, questions=60, seed=seed) for seed in (3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(arrays(world), arrays(again), strict=True))
    assert not np.array_equal(world.graph.entities_of.targets, other.graph.entities_of.targets)


def test_the_synthetic_world_has_the_size_that_is_asked_for(world: World) -> None:
    mentions = world.graph.entities_of
    assert world.graph.documents == world.graph.entities == 300
    assert len(mentions.targets) + len(world.graph.documents_of.targets) == 1_800
    assert all((np.diff(mentions.targets[a:b]) > 0).all() for a, b in zip(mentions.offsets[:-1], mentions.offsets[1:], strict=True))
    assert (np.diff(world.questions.head) >= 0).all()


def test_every_synthetic_question_reaches_its_answer(world: World) -> None:
    samples = samples_of(world, workers=1)
    answers = np.bincount(samples.question_of_candidate()[samples.is_answer()], minlength=len(samples))
    assert (answers == 1).all()
    assert bare(world) > len(samples)


def test_all_traversals_find_the_same_candidates(world: World, tmp_path: Path) -> None:
    samples = samples_of(world, workers=2)
    build(tmp_path / "graph", world_rows(world))
    store = EmbeddedStore(tmp_path / "graph")
    others: dict[str, Traverser] = {
        "Python": PythonTraverser(world),
        "polars": PolarsTraverser(world),
        "DuckDB": DuckdbTraverser(world),
        "Cypher": CypherTraverser(world, store),
    }
    check(samples, world.questions, others)
    assert_same(samples, samples_of(world, workers=1, traversal=in_database(world, store)))
    store.close()


def assert_same(one: Samples, other: Samples) -> None:
    for name in ("candidates", "chains", "nodes", "documents"):
        assert np.array_equal(getattr(one, name).targets, getattr(other, name).targets), name
        assert np.array_equal(getattr(one, name).offsets, getattr(other, name).offsets), name


def test_a_traversal_that_finds_something_else_is_told(world: World) -> None:
    samples = samples_of(world, workers=1)
    wrong = PythonTraverser(world)
    wrong.known.clear()
    asked = zip(world.questions.head.tolist(), world.questions.relation.tolist(), strict=True)
    wrong.known.update((question, set()) for question in asked)
    with pytest.raises(AssertionError, match="Python finds other candidates"):
        check(samples, world.questions, {"Python": wrong})


def found_by_both(
    names: pa.Table, entities: pa.Table, texts: pa.ChunkedArray, settings: LinkingSettings
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], tuple[int, int]]:
    with watched_names() as seen:
        dictionary = build_dictionary(names, entities, settings, np.ones(entities.num_rows, np.bool_))
    ours = match(texts, dictionary, occurrences=False)
    theirs, shared = AhoCorasick.build(patterns(*seen[0], dictionary)).match(texts)
    return rows(ours.mentions), rows(theirs), (ours.shared, shared)


def rows(spans: Spans) -> list[tuple[int, ...]]:
    return list(zip(*(getattr(spans, name).tolist() for name in ("document", "start", "end", "entity")), strict=True))


def test_both_matchers_find_the_same_in_the_seed_domain() -> None:
    tables, settings = linking.read(None)
    ours, theirs, shared = found_by_both(
        tables["names"], tables["entities"], tables["documents"]["text"], settings.linking.model_copy(update={"articles": ""})
    )
    assert ours == theirs
    assert len(ours) > 100
    assert shared[0] == shared[1]


def test_both_matchers_find_the_same_in_awkward_texts() -> None:
    names = ["New York", "York", "O’Neill", "(ER)", "Élan vital", "élan", ".zip", "iPod", "K-9", "Łódź", "東京", "Art", "art", "😀 face"]
    entities = [f"Q{i}" for i in range(len(names))]
    table = pa.table({"entity": pa.array(entities), "name": pa.array(names), "source": pa.array(["label", "alias"] * 7)})
    rows_of = pa.table({"id": entities, "kind": ["entity"] * len(names), "label": names, "description": [""] * len(names)})
    texts = pa.chunked_array([[
        "new  York\nNEW YORK New York", "O'Neill o'Neill", "( ER )-negative", "élan vital Élan Vital élan", "the end .", "zip .zip", "",
        "ipod IPod K–9 k-9 K-9", "ŁÓDŹ łódź Łódź", "東京東京", "party art Art ART", "😀 face 😀 Face", "\u0001\u0002York",
    ]])  # fmt: skip
    settings = LinkingSettings(case={"label": "initial", "alias": "exact"}, exact_letters=0)
    ours, theirs, shared = found_by_both(table, rows_of, texts, settings)
    assert ours == theirs
    assert len(ours) > 10
    assert shared[0] == shared[1]


def test_token_form_marks_words_and_keeps_texts_apart() -> None:
    form = token_form(*text_buffers(pa.array(["Ab, c", "", "d"])))
    assert form.text == b"\1\1Ab\2,\1c\2\1\1d\2"
    assert form.document.tolist() == [0, 0, 0, 2]
    assert form.start.tolist() == [0, 2, 4, 0]
    assert form.end.tolist() == [2, 3, 5, 1]
    assert [form.text[a:b] for a, b in zip(form.token_begin, form.token_end, strict=True)] == [b"\1Ab\2", b",", b"\1c\2", b"\1d\2"]


def test_plain_python_counts_the_seed_domain() -> None:
    counts = plain_python.main(ROOT / "seeds" / "wikidata")
    assert counts["asked"] >= counts["reached"] >= counts["within the limits"] > 0


def test_competitors_run_in_turn_and_ratios_are_taken_within_a_round() -> None:
    order: list[str] = []
    seconds = in_turn({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=3)
    assert order == ["a", "b"] * 3
    assert {name: len(values) for name, values in seconds.items()} == {"a": 3, "b": 3}
    assert ratios([2.0, 9.0], [1.0, 3.0]) == [2.0, 3.0]
    assert spread([3.0, 1.0, 2.0]) == "2.00 (1.00–3.00)"


def test_a_program_that_fails_is_told_with_its_last_words() -> None:
    assert python(["-c", "print('well')"]).output == "well\n"
    with pytest.raises(RuntimeError, match="oh dear"):
        python(["-c", "raise SystemExit('oh dear')"])


def test_the_page_says_that_it_is_generated_and_names_no_machine(tmp_path: Path) -> None:
    table = Table(title="Speed", columns=("", "seconds"), rows=[("kgqa", "1.00")], notes=["once"])
    write(tmp_path / "benchmarks.md", [Section(title="Start", tables=[table]), Section(title="Rest", skipped="Skipped: no data.")])
    text = (tmp_path / "benchmarks.md").read_text("utf-8")
    assert "do not edit" in text.splitlines()[0]
    assert "| kgqa | 1.00 |" in text
    assert "Skipped: no data." in text
    assert str(ROOT) not in text
