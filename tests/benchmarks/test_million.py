"""The corpus of the benchmark of a million documents has the size and shape that it says, and the run is measured stage by stage."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.corpus import FORMS, NAME_WORDS, SHARED, write_corpus
from benchmarks.million import PROCESS, Measured, Peaks, tables
from benchmarks.process import Outcome
from kgqa.sources.wikidata import read

FILES = ("documents.jsonl", "entities.tsv", "relations.tsv", "triples.tsv")


def test_the_corpus_depends_on_its_seed_alone(tmp_path: Path) -> None:
    texts = []
    for number, seed in enumerate((3, 3, 4)):
        (tmp_path / str(number)).mkdir()
        write_corpus(tmp_path / str(number), documents=300, links=2_400, facts=900, seed=seed)
        texts.append([(tmp_path / str(number) / name).read_bytes() for name in FILES])
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_the_corpus_has_the_size_that_is_asked_for(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, documents=2_000, links=16_000, facts=6_000, seed=1)
    assert 2_000 + len(corpus.entity) == 16_000
    assert len(corpus.facts) == len(np.unique(corpus.facts, axis=0)) == 6_000
    found = dict(read(tmp_path))
    assert found["documents"].num_rows == 2_000
    assert found["facts"].num_rows == 6_000
    assert found["dropped"].num_rows == 0


@pytest.mark.parametrize("documents", [2_000, 10_000])
def test_names_are_shared_as_often_and_hubs_as_large_in_a_larger_corpus(tmp_path: Path, documents: int) -> None:
    corpus = write_corpus(tmp_path, documents=documents, links=8 * documents, facts=3 * documents, seed=2)
    alike = 1 - len(set(corpus.names)) / len(corpus.names)
    assert abs(alike - SHARED) < 0.02
    assert abs(np.mean([" " not in name for name in corpus.names]) - NAME_WORDS[0]) < 0.03
    mentioned = np.bincount(corpus.entity)
    assert 0.01 < mentioned.max() / len(corpus.entity) < 0.03


@pytest.mark.skipif(not (PROCESS / "clear_refs").exists(), reason="the peak of a stage is measured on Linux")
def test_each_stage_has_its_own_seconds_and_peak() -> None:
    peaks = Peaks()
    for stage in ("Reading", "Linking"):
        peaks.start(stage)
        peaks.finish()
    assert [name for name, *_ in peaks.stages] == ["Reading", "Linking"]
    assert all(seconds >= 0 and used >= 0 and gibibytes > 0 for _, seconds, used, gibibytes in peaks.stages)


def test_growth_is_measured_against_the_smallest_size() -> None:
    def run(seconds: float) -> Measured:
        outcome = Outcome(seconds=3 * seconds, processor=seconds, gibibytes=1.0, output="")
        counts = {"links": 1, "facts": 1, "samples": 1}
        return Measured(outcome=outcome, stages=[("Linking", 3 * seconds, seconds, 1.0)], counts=counts, load=4.0)

    whole, stages = tables({100: run(10.0), 1_000: run(130.0)})
    assert [row[-2:] for row in whole.rows] == [["1.00", "4.0"], ["1.30", "4.0"]]
    assert stages.rows == [["Linking", "30 s, 10.0 s, 1.0 GiB", "390 s, 130.0 s, 1.0 GiB", "1.30"]]


def test_texts_say_the_facts_that_they_state_in_words_that_go_with_the_relation(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, documents=2_000, links=16_000, facts=6_000, seed=1)
    texts = dict(read(tmp_path))["documents"].to_pylist()
    text = {row["id"]: row["text"] for row in texts}
    said: dict[int, Counter[str]] = {}
    mentioned = set(zip(corpus.document.tolist(), corpus.entity.tolist(), strict=True))
    for head, relation, tail in corpus.facts.tolist():
        if (head, tail) in mentioned:
            words = text[f"d:{head}"].split(f" {corpus.names[tail]} ")[0].split()[-3:]
            said.setdefault(relation, Counter())[" ".join(words)] += 1
    forms, number = max(said.values(), key=Counter.total), sum(said.values(), Counter[str]()).total()
    assert number > 500
    assert sum(count for _, count in forms.most_common(FORMS)) > 0.5 * forms.total()
