"""Queries about paths: each answer stands at the end of two stated hops, and nothing else in the sample does."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import kgqa
from kgqa.arrays.rows import Adjacency
from kgqa.errors import EmptyResult
from kgqa.recipes.qangaroo.distractors import HOPS
from kgqa.recipes.qangaroo.gates import _brought_down
from kgqa.recipes.qangaroo.path_queries import PathFinder, PathQueries, path_names
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.rejected import FilteredChains
from kgqa.recipes.qangaroo.types import Types
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.roles import role_graph
from kgqa.rules.synonyms import synonyms_of
from kgqa.settings.qangaroo import QUALITIES, PathSettings, QangarooSettings
from tests.command import ROOT
from tests.conftest import Cli
from tests.golden.test_golden import digest

OWN = """
extends = "wikidata"
name = "paths"
dataset = "paths"
seed_domain = "wikidata"
[qangaroo]
queries = "paths"
[qangaroo.bias]
position_share = 0.3
count_share = 0.3
train_share = 0.3
"""
SEEDS = ROOT / "seeds" / "wikidata"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The seed domain, asked about paths."""
    folder = tmp_path_factory.mktemp("paths")
    (folder / "paths.toml").write_text(OWN, "utf-8")
    kgqa.generate(folder / "paths.toml", workspace=folder / "workspace")
    return folder / "workspace"


def instances(workspace: Path) -> list[dict[str, Any]]:
    return [
        row for split in ("train", "dev", "test") for row in pq.read_table(workspace / "datasets/paths" / f"{split}.parquet").to_pylist()
    ]


def facts(workspace: Path) -> set[tuple[str, str, str]]:
    """Every fact in both directions; backwards its relation begins with ``^``."""
    rows = pq.read_table(workspace / "tables/facts.parquet").to_pylist()
    symmetric = {row["id"] for row in pq.read_table(workspace / "tables/relations.parquet").to_pylist() if row["symmetric"]}
    forwards = {(row["head"], row["relation"], row["tail"]) for row in rows}
    turned = {(tail, relation if relation in symmetric else f"^{relation}", head) for head, relation, tail in forwards}
    return forwards | turned


def test_each_answer_is_at_the_end_of_its_path_and_no_other_candidate_is(workspace: Path) -> None:
    known, samples = facts(workspace), instances(workspace)
    about = {row["id"]: row["about"] for row in pq.read_table(workspace / "tables/documents.parquet", columns=["id", "about"]).to_pylist()}
    joined = {(head, tail) for head, _, tail in known}
    assert len(samples) > 20
    for sample in samples:
        ids = [candidate["id"] for candidate in sample["candidates"]]
        (chain,) = sample["chains"][ids.index(sample["answer_id"])]
        subject, first, bridge, second, answer = chain
        one, two = json.loads(sample["provenance"])["relation"].split("/")
        assert {(subject, one, bridge), (bridge, two, answer)} <= known
        assert (about[first], about[second]) == (subject, bridge)
        bridges = {tail for head, relation, tail in known if (head, relation) == (subject, one)}
        for candidate in ids:
            assert candidate == answer or not any((each, candidate) in joined for each in bridges)
        shown = {paragraph["id"]: paragraph for paragraph in sample["paragraphs"]}
        assert shown[first]["supporting"]
        assert shown[second]["supporting"]
        assert answer not in {mention["entity"] for mention in shown[first]["mentions"]}
        assert subject not in {mention["entity"] for mention in shown[second]["mentions"]}


def test_no_subject_and_no_bridge_is_in_two_splits_and_no_query_is_asked_twice(workspace: Path) -> None:
    heads: dict[str, set[str]] = {}
    bridges: dict[str, set[str]] = {}
    asked = []
    for split in ("train", "dev", "test"):
        rows = pq.read_table(workspace / "datasets/paths" / f"{split}.parquet").to_pylist()
        notes = [json.loads(row["provenance"]) for row in rows]
        heads[split] = {note["head"] for note in notes}
        chains = (row["chains"][[each["id"] for each in row["candidates"]].index(row["answer_id"])][0] for row in rows)
        bridges[split] = {chain[2] for chain in chains}
        asked += [(note["head"], note["relation"]) for note in notes]
        asked += [(note["head"], row["answer_id"]) for note, row in zip(notes, rows, strict=True)]
    assert len(asked) == len(set(asked))
    for ends in (heads, bridges):
        assert not ends["train"] & (ends["dev"] | ends["test"])
        assert not ends["dev"] & ends["test"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes", [{"workers": 3}, {"traversal": "cypher"}, pytest.param({"workers": 1}, marks=pytest.mark.thorough)], ids=str
)
def test_neither_workers_nor_traversal_change_a_row(workspace: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    (tmp_path / "paths.toml").write_text(OWN, "utf-8")
    kgqa.generate(tmp_path / "paths.toml", workspace=tmp_path / "w", **changes)
    assert digest(tmp_path / "w/datasets/paths") == digest(workspace / "datasets/paths")


def test_a_small_set_says_which_limits_were_lifted(workspace: Path) -> None:
    manifest = json.loads((workspace / "datasets/paths/manifest.json").read_text("utf-8"))
    reasons = [row["reason"] for row in manifest["funnel"]]
    assert any("fewer than 200 samples were left, so these limits are turned off: functional," in reason for reason in reasons)
    assert any("there are too few for training" in reason for reason in reasons)
    assert any(reason.startswith("no sample was dropped from ") for reason in reasons)


def test_relations_are_not_measured_for_queries_about_paths(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "paths.toml").write_text(OWN, "utf-8")
    cli("relations", tmp_path / "paths.toml", "--workspace", tmp_path / "w").sentence("this domain asks about paths", "--recipe entailed")


def test_documents_that_state_nothing_give_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "paths.toml").write_text(OWN, "utf-8")
    source = tmp_path / "source"
    source.mkdir()
    for path in SEEDS.iterdir():
        (source / path.name).write_bytes(path.read_bytes())
    rows = [json.loads(line) for line in (SEEDS / "documents.jsonl").read_text("utf-8").splitlines()]
    (source / "documents.jsonl").write_text("".join(json.dumps({**row, "text": "Nothing."}) + "\n" for row in rows), "utf-8")
    with pytest.raises(EmptyResult):
        kgqa.generate(tmp_path / "paths.toml", source=source, workspace=tmp_path / "w")


def test_paths_are_named_by_their_relations() -> None:
    assert path_names([0, 3], [2, 0], ["director", "capital"], of=True) == ["director → capital", "capital of → director"]
    assert path_names([0, 3], [2, 0], ["P57", "P36"], of=False) == ["P57/P36", "^P36/P57"]


@pytest.mark.parametrize(
    ("labels", "likeness", "one"),
    [
        (["spouse", "people / spouse"], 50, True),
        (["director", "written by"], 50, False),  # they mean different things, whatever the graph has
        (["spouse", "people / spouse"], 1, False),  # a single pair says nothing
    ],
)
def test_relations_of_two_sources_are_synonyms_if_labels_and_facts_agree(labels: list[str], likeness: int, one: bool) -> None:
    none = np.zeros(0, np.int32)
    head = np.arange(2 * likeness, dtype=np.int32)
    graph = role_graph(
        np.concatenate([head, head[:likeness]]), np.repeat([0, 1], [2 * likeness, likeness]).astype(np.int32),
        np.full(3 * likeness, 2 * likeness, np.int32), symmetric=np.zeros(2, np.bool_), texts=(none, none), grades=none,
        entities=2 * likeness + 1,
    )  # fmt: skip
    relations = Adjacency.from_pairs(np.array([0, 2]), np.array([1, 0]), graph.role_count)
    implied = ImpliedRelations(relations=relations, support=np.full(2, likeness), typed=np.full(2, likeness))
    found = synonyms_of(graph, implied, labels).tolist()
    assert found[:4] == ([0, 1, 0, 1] if one else [0, 1, 2, 3])


def test_each_quality_is_stricter_than_the_one_before() -> None:
    large, balanced, strict = (PathSettings.model_validate({"quality": quality}) for quality in QUALITIES)
    assert large.useful < balanced.useful < strict.useful
    for name in ("functional", "first_functional", "stated", "read", "lift"):
        assert getattr(large, name) < getattr(balanced, name) == getattr(strict, name)
    for name in ("relation_share", "per_documents", "per_hop"):
        assert getattr(large, name) > getattr(balanced, name) == getattr(strict, name)
    assert PathSettings.model_validate({"quality": "strict", "read": 0.5}).read == 0.5


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 200), st.floats(0.05, 0.9))
def test_just_enough_samples_are_rejected_to_bring_every_baseline_down(seed: int, baselines: int, samples: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    right = rng.random((baselines, samples)) < rng.random((baselines, 1))
    gone = _brought_down(right, np.full(baselines, share), np.zeros(samples, np.float32), rng.permutation(samples).astype(np.uint64))
    left = right[:, ~gone]
    assert left.shape[1] >= 1
    assert left.shape[1] == 1 or (left.sum(axis=1) <= share * left.shape[1] + 1e-6).all()
    if (right.sum(axis=1) <= share * samples).all():
        assert not gone.any()


def hops_of(rows: list[tuple[int, int, int, float, bool]], functionality: list[float]) -> list[tuple[int, int, int]]:
    """The ``before, after, role`` that may stand on a chain; rows are ``before, after, role, probability, fact`` of document 0."""
    before, after, role, probability, fact = (np.array(column) for column in zip(*rows, strict=True))
    none = np.zeros(0, np.int32)
    facts = role_graph(none, none, none, symmetric=np.zeros(1, np.bool_), texts=(none, none), grades=none, entities=9)
    statements = Statements(
        document=np.zeros(len(rows), np.int32), before=before.astype(np.int32), after=after.astype(np.int32), role=role.astype(np.int32),
        probability=probability.astype(np.float32), lift=np.full(len(rows), 5, np.float32), fact=fact,
    )  # fmt: skip
    finder = PathFinder({}, statements, facts, np.array(functionality), np.arange(2, dtype=np.int32), QangarooSettings(), seed=0)
    return finder._hops().select("before", "after", "role").rows()


def test_one_last_relation_in_either_direction_ends_at_most_its_share_and_the_most_useful_queries_stay() -> None:
    roles, useful = [0, 1, 0, 1, 0, 1, 2, 2, 2, 2], [0.2, 0.9, 0.4, 0.8, 0.3, 0.5, 0.1, 0.1, 0.1, 0.1]
    rows = [
        {
            "subject": n, "document": n, "first": 4, "first_class": 4, "bridge": n, "answer_document": 20 + n, "second": role,
            "second_class": role, "answer": 40 + n, "confidence": 0.5, "useful": value,
        }
        for n, (role, value) in enumerate(zip(roles, useful, strict=True))
    ]  # fmt: skip
    none = np.zeros(0, np.int32)
    facts = role_graph(none, none, none, symmetric=np.zeros(3, np.bool_), texts=(none, none), grades=none, entities=60)
    paths = PathSettings(relation_share=0.4, answer_share=1.0, min_queries=1)
    settings = QangarooSettings(paths=paths)
    statements = Statements(
        document=none, before=none, after=none, role=none, probability=none.astype(np.float32), lift=none.astype(np.float32),
        fact=none.astype(np.bool_),
    )  # fmt: skip
    finder = PathFinder({}, statements, facts, np.ones(6), np.arange(6, dtype=np.int32), settings, seed=0)
    chains = FilteredChains("paths", pl.DataFrame(rows))
    finder._keep_varied(chains)
    assert chains["subject"].tolist() == [1, 2, 3, 5, 6, 7, 8, 9]


def test_for_a_functional_role_only_the_most_probable_object_counts() -> None:
    rows = [(0, 1, 0, 0.8, False), (0, 2, 0, 0.7, True), (3, 2, 0, 0.7, True)]
    assert hops_of(rows, [0.9, 0.9]) == [(0, 1, 0), (3, 2, 0)]
    assert hops_of(rows, [0.4, 0.9]) == [(0, 2, 0), (3, 2, 0)]  # of several objects only facts


def test_among_roles_for_the_same_words_only_the_most_probable_counts() -> None:
    assert hops_of([(0, 1, 0, 0.9, True), (0, 1, 1, 0.6, True)], [0.9, 0.9]) == [(0, 1, 0)]
    assert hops_of([(0, 1, 0, 0.9, True), (0, 1, 1, 0.87, True)], [0.9, 0.9]) == [(0, 1, 0), (0, 1, 1)]


def test_a_fact_needs_a_lower_probability_than_another_statement() -> None:
    least, read = QangarooSettings().paths.stated, QangarooSettings().paths.read
    assert least < read
    between = (least + read) / 2
    assert hops_of([(0, 1, 0, between, False), (2, 3, 0, between, True), (4, 5, 0, least / 2, True)], [0.9, 0.9]) == [(2, 3, 0)]


def test_objects_are_joined_by_the_second_relation_or_one_that_implies_it() -> None:
    # The query is about relation 0; relation 1 implies it, relation 2 does not. Facts join the bridge 10 to 20, 21 and 22, texts to 23, 24.
    head, relation, tail = (np.array(column, np.int32) for column in ([10, 10, 10], [0, 1, 2], [20, 21, 22]))
    none = np.zeros(0, np.int32)
    facts = role_graph(head, relation, tail, symmetric=np.zeros(3, np.bool_), texts=(none, none), grades=none, entities=60)
    statements = Statements(
        document=np.zeros(2, np.int32), before=np.full(2, 10, np.int32), after=np.array([23, 24], np.int32), role=np.zeros(2, np.int32),
        probability=np.array([0.6, 0.4], np.float32), lift=np.zeros(2, np.float32), fact=np.zeros(2, np.bool_),
    )  # fmt: skip
    implied = ImpliedRelations(
        relations=Adjacency.from_pairs(np.array([2, 4]), np.array([0, 0], np.int32), facts.role_count),
        support=np.array([9, 4]), typed=np.array([10, 10]),
    )  # fmt: skip
    finder = PathFinder(
        {}, statements, facts, np.ones(facts.role_count), np.arange(facts.role_count, dtype=np.int32), QangarooSettings(), seed=0
    )
    hops = np.zeros(1, HOPS)
    hops["bridge"] = 10
    queries = cast(PathQueries, SimpleNamespace(hops=hops))
    assert finder.objects(queries, implied).targets.tolist() == [20, 21, 23]


@pytest.mark.parametrize(("functionality", "expected"), [(0.4, [10, 11, 12]), (0.9, [10, 11])])
def test_an_entity_of_the_bridges_type_may_be_a_bridge_unless_the_first_relation_has_one_object(
    functionality: float, expected: list[int]
) -> None:
    # Subject 1's document 0 mentions 12, 13 and the bridge 10. A fact joins the subject to 10, and a text may join it to 11.
    head, relation, tail = (np.array(column, np.int32) for column in ([1], [0], [10]))
    none = np.zeros(0, np.int32)
    facts = role_graph(head, relation, tail, symmetric=np.zeros(1, np.bool_), texts=(none, none), grades=none, entities=20)
    statements = Statements(
        document=np.zeros(1, np.int32), before=np.ones(1, np.int32), after=np.array([11], np.int32), role=np.zeros(1, np.int32),
        probability=np.array([0.2], np.float32), lift=np.zeros(1, np.float32), fact=np.zeros(1, np.bool_),
    )  # fmt: skip
    finder = PathFinder(
        {}, statements, facts, np.full(2, functionality), np.arange(2, dtype=np.int32), QangarooSettings(), seed=0
    )  # fmt: skip
    hops = np.zeros(1, HOPS)
    hops["subject"], hops["bridge"] = 1, 10
    queries = cast(PathQueries, SimpleNamespace(hops=hops, questions=[None]))
    linked = Adjacency.from_pairs(np.zeros(3, np.int64), np.array([10, 12, 13], np.int32), 1)
    # 12 is of the bridge's type, 13 is not.
    types = cast(Types, SimpleNamespace(alike=lambda first, _: (first != 13).astype(np.float64)))
    assert finder.bridges(queries, linked, types).targets.tolist() == expected
