"""Samples and rejected questions on the embedded graph: a copy that is made anew with each dataset, and counts only where it is whole."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.errors import InterruptedRun, SettingsError, StoreConflict, StoreError, UnknownId
from kgqa.runs.files import known_hash
from kgqa.runs.graph import rows_of
from kgqa.runs.workspace import Workspace
from kgqa.store import embedded
from kgqa.store.limits import Limits
from kgqa.store.samples import SCHEMA
from tests.conftest import Cli


@pytest.fixture
def workspace(seed_wikidata: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(seed_wikidata, tmp_path / "w"))


def count(workspace: Path, label: str) -> int:
    rows = kgqa.cypher(f"MATCH (n:{label}) RETURN count(n.row) AS n", workspace=workspace, limits=Limits(seconds=60)).rows
    return int(rows["n"][0].as_py())


def copied(workspace: Path, name: str, *, samples: int) -> Path:
    """The dataset under another name, with fewer samples in its training split."""
    folder = Path(shutil.copytree(workspace / "datasets" / "wikihop", workspace.parent / name))
    train = pq.read_table(folder / "train.parquet")
    pq.write_table(train.slice(0, samples), folder / "train.parquet")
    (folder / "manifest.json").write_text(json.dumps({"dataset": name}))
    return folder


def test_samples_and_rejected_questions_lie_on_the_graph(workspace: Path, cli: Cli) -> None:
    assert count(workspace, "Sample") == count(workspace, "Rejected") == 0
    loaded = kgqa.load(workspace, store="embedded", dataset="wikihop", rejected=True)
    rejected = pq.read_metadata(workspace / "datasets" / "wikihop" / "rejected.parquet").num_rows
    assert loaded.rejected == count(workspace, "Rejected") == rejected
    assert loaded.samples == count(workspace, "Sample") > 10
    assert count(workspace, "Entity") == loaded.rows["entity"]
    assert not loaded.samples_already
    result = cli("load", "--store", "embedded", "--workspace", workspace, "--dataset", "wikihop")
    assert f"and {loaded.samples} samples of wikihop (they were there already)." in result.out
    # What is asked by name looks there too.
    assert kgqa.query("samples_of_split", {"split": "dev"}, workspace=workspace).num_rows > 0


def test_why_nothing_was_found_is_said(workspace: Path, cli: Cli) -> None:
    def said(*asked: str) -> str:
        return " ".join(cli("query", *asked, "--workspace", workspace).out.partition("No rows: ")[2].split())

    here = "put it there with kgqa load --store embedded --dataset NAME"
    assert said("samples_of_split", "--split", "dev") == f"no dataset is on this graph; {here}."
    kgqa.load(workspace, store="embedded", dataset="wikihop")
    assert said("rejected_counts") == f"what a dataset's filters rejected is not on this graph; {here} --rejected."
    assert said("samples_of_split", "--split", "trian") == "there is no split 'trian' on this graph; did you mean train?"
    assert said("samples_of_split", "--split", "tra") == "there is no split 'tra' on this graph; did you mean train?"
    assert said("used_bridges", "--dataset", "nope") == "there is no dataset 'nope' on this graph; choose one of wikihop."
    assert said("sample_chain", "--sample", "Portugal").startswith("there is no sample 'Portugal' on this graph; ")
    assert said("samples_by_grade", "--minimum", "2") == "check the ids, or try another query."
    kgqa.load(workspace, store="embedded", dataset="wikihop", rejected=True)
    assert said("rejected_by_filter", "--filter", "max_candidtes") == (
        "there is no filter 'max_candidtes' on this graph; did you mean qangaroo.max_candidates?"
    )


def test_datasets_are_added_one_by_one_and_replaced_only_when_asked(workspace: Path) -> None:
    whole = kgqa.load(workspace, store="embedded", dataset="wikihop").samples
    part = copied(workspace, "part", samples=3)
    fewer = kgqa.load(workspace, store="embedded", dataset=part, rejected=True).samples
    assert whole
    assert fewer
    assert count(workspace, "Sample") == whole + fewer
    train = pq.read_table(part / "train.parquet")
    pq.write_table(train.slice(0, 2), part / "train.parquet")
    with pytest.raises(StoreConflict, match=r"other samples of part; replace them with kgqa load .* --replace\.$"):
        kgqa.load(workspace, store="embedded", dataset=part)
    assert count(workspace, "Sample") == whole + fewer
    kgqa.load(workspace, store="embedded", dataset=part, replace=True)
    assert count(workspace, "Sample") == whole + fewer - 1
    # Replaced without them, the rejected questions are gone too.
    assert count(workspace, "Rejected") == 0


def test_a_run_that_changes_the_graph_leaves_the_samples_out(workspace: Path) -> None:
    kgqa.load(workspace, store="embedded", dataset="wikihop")
    record = workspace / "tables" / "build_store.json"
    content = json.loads(record.read_text())
    (workspace / "store" / "loaded.json").write_text(
        (workspace / "store" / "loaded.json").read_text().replace(content["key"], "of another graph"), "utf-8"
    )
    assert count(workspace, "Sample") == 0
    assert not kgqa.load(workspace, store="embedded", dataset="wikihop").samples_already


def test_a_damaged_copy_is_refused_and_made_anew(workspace: Path) -> None:
    kgqa.load(workspace, store="embedded", dataset="wikihop")
    [graph] = (workspace / "store").glob("loaded-*.lbug")
    with graph.open("r+b") as file:
        file.seek(5000)
        file.write(b"xxxx")
    for use in (lambda: count(workspace, "Sample"), lambda: kgqa.load(workspace, store="embedded", dataset="wikihop")):
        with pytest.raises(StoreError, match=r"the graph with samples is damaged; kgqa load --store embedded .* --replace rebuilds it\.$"):
            use()
    kgqa.load(workspace, store="embedded", dataset="wikihop", replace=True)
    assert count(workspace, "Sample") > 10


def test_damaged_rows_of_a_dataset_are_not_added_again(workspace: Path) -> None:
    kgqa.load(workspace, store="embedded", dataset="wikihop")
    [rows] = (workspace / "store").glob("samples-*")
    part = copied(workspace, "part", samples=3)
    data = bytearray((rows / "candidate.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (rows / "candidate.parquet").write_bytes(data)
    with pytest.raises(
        StoreError, match=r"candidate\.parquet: the rows of the dataset wikihop are damaged; run kgqa load .* to make them again"
    ):
        kgqa.load(workspace, store="embedded", dataset=part)
    kgqa.load(workspace, store="embedded", dataset="wikihop", replace=True)
    kgqa.load(workspace, store="embedded", dataset=part)


def test_a_load_that_dies_before_its_last_step_leaves_what_was_there(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kgqa.load(workspace, store="embedded", dataset="wikihop")
    part = copied(workspace, "part", samples=3)
    before = count(workspace, "Sample")

    def dies(self: Workspace, path: Path, content: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Workspace, "write_json", dies)
    with pytest.raises((KeyboardInterrupt, InterruptedRun)):
        kgqa.load(workspace, store="embedded", dataset=part)
    monkeypatch.undo()
    assert count(workspace, "Sample") == before
    after = kgqa.load(workspace, store="embedded", dataset=part).samples
    assert after
    assert count(workspace, "Sample") == before + after
    assert len(list((workspace / "store").glob("loaded-*.lbug"))) == 1


@pytest.mark.slow
def test_a_load_that_is_killed_leaves_what_was_there(workspace: Path) -> None:
    kgqa.load(workspace, store="embedded", dataset="wikihop")
    part = copied(workspace, "part", samples=3)
    before = count(workspace, "Sample")
    command = [sys.executable, "-m", "kgqa", "load", "--store", "embedded", "--workspace", str(workspace), "--dataset", str(part)]
    for seconds in (0.9, 1.3, 1.7):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert count(workspace, "Sample") >= before
    after = kgqa.load(workspace, store="embedded", dataset=part).samples
    assert after
    assert count(workspace, "Sample") == before + after


def test_bad_input_is_said_in_a_sentence(workspace: Path, seed_medline: Path) -> None:
    with pytest.raises(SettingsError, match="give --dataset too"):
        kgqa.load(workspace, store="embedded")
    with pytest.raises(SettingsError, match="rejected questions are those of a dataset; give --dataset too"):
        kgqa.load(workspace, rejected=True)
    with pytest.raises(UnknownId, match="give the workspace of the dataset"):
        kgqa.load(workspace, store="embedded", dataset=seed_medline / "datasets" / "medhop")
    assert not (workspace / "store" / "loaded.json").exists()


def test_the_graph_of_an_older_kgqa_gets_one_sentence(workspace: Path) -> None:
    place = Workspace(workspace)
    record = place.finished("build_store")
    assert record is not None
    place.graph.unlink()
    # As version 4 made it: no table of sub-questions.
    newer = {"subquestion", "has_subquestion", "supported_by", "depends_on", "answers", "of_relation"}
    older = [name for name in SCHEMA if name not in newer]
    embedded.build(place.graph, rows_of(place), empty=older)
    place.record(dataclasses.replace(record, outputs={name: known_hash(place.graph) for name in record.outputs}))
    with pytest.raises(StoreError, match=r"another version of kgqa made this graph.*run kgqa generate in this workspace again"):
        kgqa.load(workspace, store="embedded", dataset="wikihop")
    with pytest.raises(StoreError, match=r"another version of kgqa made this graph.*run kgqa generate in this workspace again"):
        kgqa.query("sample_steps", {"sample": "x"}, workspace=workspace)
    assert not place.loaded.exists()
