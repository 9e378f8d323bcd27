"""A run that was cut off goes on and ends in the same bytes; what is finished is not done again."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import kgqa
from kgqa.recipes.qangaroo.pipeline import STAGES
from tests import contents
from tests.command import environment

NAMES = [stage.name for stage in STAGES] + ["write_dataset"]
KILL = """
import os, signal, sys
import kgqa

class Killed:
    def start(self, stage, total=None, unit=""):
        self.stage = stage
        self.kill("start")
    def advance(self, amount):
        self.kill("advance")
    def finish(self, note=""):
        self.kill("finish")
    def kill(self, step):
        if [self.stage, step] == sys.argv[2:]:
            os.kill(os.getpid(), signal.SIGKILL)

kgqa.generate("wikidata", workspace=sys.argv[1], progress=Killed())
"""
"""It kills itself at a step of its progress, while it works at a stage."""
KILL_IN_CALL = """
import os, signal, sys
import kgqa

workspace, nth, calls = sys.argv[1], int(sys.argv[2]), 0

def count(frame, event, _):
    global calls
    if event == "call" and "kgqa" in frame.f_code.co_filename:
        calls += 1
        if calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(count)
kgqa.generate("wikidata", workspace=workspace)
sys.setprofile(None)
print(calls)
"""
"""It kills itself in the n-th call of a function of kgqa in its main thread, or says how many there are."""


def wikihop(workspace: Path) -> dict[str, bytes]:
    """The dataset; workers are passed and change nothing."""
    return contents.dataset(workspace / "datasets" / "wikihop", but=("workers",))


def times(workspace: Path) -> dict[str, int]:
    """When each stage's record was written."""
    return {path.stem: path.stat().st_mtime_ns for path in (workspace / "tables").glob("*.json")}


@pytest.mark.slow
def test_a_run_that_is_killed_anywhere_goes_on_to_the_same_bytes(
    seed_wikidata: Path, tmp_path: Path, random_seed: int, pytestconfig: pytest.Config
) -> None:
    def run(workspace: Path, nth: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", KILL_IN_CALL, str(workspace), str(nth)]
        return subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)

    whole = run(tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    expected, calls, rng = wikihop(seed_wikidata), int(whole.stdout), random.Random(random_seed)
    assert wikihop(tmp_path / "whole") == expected
    for _ in range(20 if pytestconfig.getoption("--thorough") else 3):
        workspace, nth = tmp_path / "killed", rng.randrange(calls // 50, calls * 19 // 20)
        killed = run(workspace, nth)
        assert killed.returncode == -signal.SIGKILL, (nth, killed.stderr)
        kgqa.generate("wikidata", workspace=workspace)
        assert wikihop(workspace) == expected, nth
        assert contents.leftovers(workspace) == []
        shutil.rmtree(workspace)


@pytest.mark.parametrize(
    ("stage", "step"),
    [
        pytest.param("Reading sources", "advance", marks=pytest.mark.slow),
        pytest.param("Linking mentions", "finish", marks=pytest.mark.thorough),
        pytest.param("Building the graph", "advance", marks=pytest.mark.slow),
        pytest.param("Projecting edges", "finish", marks=pytest.mark.thorough),
        pytest.param("Traversing", "advance", marks=pytest.mark.slow),
        pytest.param("Filtering and measuring shortcuts", "finish", marks=pytest.mark.thorough),
        pytest.param("Writing the dataset", "start", marks=pytest.mark.slow),
        pytest.param("Writing the dataset", "advance", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_killed_at_a_known_place_goes_on(stage: str, step: str, seed_wikidata: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    process = subprocess.run([sys.executable, "-c", KILL, workspace, stage, step], env=environment(), capture_output=True, check=False)
    assert process.returncode == -signal.SIGKILL, process.stderr
    assert not (workspace / "datasets" / "wikihop").exists()
    before = times(workspace)
    report = kgqa.generate("wikidata", workspace=workspace)
    assert report.reused == NAMES[: len(before)]
    assert {stage: times(workspace)[stage] for stage in before} == before
    assert wikihop(workspace) == wikihop(seed_wikidata)
    assert contents.leftovers(workspace) == []


def test_a_second_run_changes_no_byte(wikidata_copy: Path) -> None:
    before, when = contents.files(wikidata_copy), times(wikidata_copy)
    report = kgqa.generate("wikidata", workspace=wikidata_copy)
    assert report.reused == NAMES
    assert contents.files(wikidata_copy) == before
    assert times(wikidata_copy) == when
    assert sum(report.counts.values()) > 0
    assert report.seconds.keys() == set(NAMES)


@pytest.mark.parametrize("domain", ["wikidata", pytest.param("medline", marks=pytest.mark.slow)])
def test_the_number_of_workers_changes_no_byte(domain: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    result: Path = request.getfixturevalue(f"seed_{domain}")
    report = kgqa.generate(domain, workspace=tmp_path / "w", workers=4)
    assert contents.dataset(report.dataset, but=("workers",)) == contents.dataset(
        result / "datasets" / report.dataset.name, but=("workers",)
    )


def test_the_seed_changes_the_dataset_and_comes_back(wikidata_copy: Path) -> None:
    before = wikihop(wikidata_copy)
    report = kgqa.generate("wikidata", workspace=wikidata_copy, seed=1)
    assert report.reused == NAMES[:4]
    other = wikihop(wikidata_copy)
    assert all(other[name] != data for name, data in before.items() if name.startswith(("train", "masked/train")))
    kgqa.generate("wikidata", workspace=wikidata_copy, seed=0)
    assert wikihop(wikidata_copy) == before


@pytest.mark.parametrize(
    ("settings", "limit", "reused"),
    [
        ("", 60, 7),
        ('[qangaroo]\nrelations = ["P17", "P30"]', None, 1),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ('title = "Another"', None, 9),
                ("[qangaroo.bias]\ndocument_cue = 2", None, 8),
                ("", None, 9),
                ('[qangaroo]\nquestion = "{subject}: {relation}"', None, 9),
                ("[qangaroo]\nplaceholders = 60", None, 9),
                ("[qangaroo]\nmax_candidates = 20", None, 7),
                ("[qangaroo.splits]\ntrain = 0.5\ndev = 0.3\ntest = 0.2", None, 4),
                ("[linking]\nkeep_numbers = true", None, 1),
            )
        ),
    ],
)
def test_a_change_redoes_only_what_depends_on_it(
    settings: str, limit: int | None, reused: int, wikidata_copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text(f'extends = "wikidata"\nseed_domain = "wikidata"\n{settings}\n')
    report = kgqa.generate(tmp_path / "own.toml", workspace=wikidata_copy, limit=limit)
    expected = NAMES[:reused]
    assert report.reused == expected  # without any setting too: the card of one's own domain says other things of its texts
    again = kgqa.generate(tmp_path / "own.toml", workspace=tmp_path / "fresh", limit=limit)
    # A dataset that needs no change keeps the manifest of the run that made it.
    passed = ("workers", "domain")
    assert contents.dataset(report.dataset, but=passed) == contents.dataset(again.dataset, but=passed)


def test_a_query_in_another_role_is_another_projection(wikidata_copy: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'extends = "wikidata"\nseed_domain = "wikidata"\n[projection]\nentity_to_document = ["article_of", "article_mentions"]\n'
    )
    report = kgqa.generate(tmp_path / "own.toml", workspace=wikidata_copy)
    assert report.reused == NAMES[:3]
    assert report.counts == kgqa.generate(tmp_path / "own.toml", workspace=tmp_path / "fresh").counts


@pytest.mark.parametrize(
    ("table", "how"),
    [
        ("links", "damaged"),
        ("samples", "gone"),
        *(pytest.param(table, "damaged", marks=pytest.mark.slow) for table in ("entities", "edges", "questions", "samples", "kept")),
        *(pytest.param(table, "gone", marks=pytest.mark.thorough) for table in ("entities", "links", "edges", "questions", "kept")),
    ],
)
def test_a_table_that_is_damaged_or_gone_is_made_again(table: str, how: str, wikidata_copy: Path) -> None:
    before, path = contents.files(wikidata_copy / "tables"), wikidata_copy / "tables" / f"{table}.parquet"
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-5] + b"\0\0\0\0\0")
    report = kgqa.generate("wikidata", workspace=wikidata_copy)
    assert len(report.reused) == len(NAMES) - 1
    after = contents.files(wikidata_copy / "tables")
    assert all(after[name] == data for name, data in before.items() if name.endswith(".parquet"))


def test_what_a_killed_run_left_half_written_is_swept_away(wikidata_copy: Path) -> None:
    for name in ("datasets/.other.partial/train.parquet", "tables/.x.parquet.partial", "store/.graph.lbug.partial.wal"):
        path = wikidata_copy / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("half")
    assert kgqa.generate("wikidata", workspace=wikidata_copy).reused == NAMES
    assert contents.leftovers(wikidata_copy) == []


def test_a_graph_of_another_schema_is_built_again(wikidata_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "build_store" in kgqa.generate("wikidata", workspace=wikidata_copy).reused
    monkeypatch.setattr("kgqa.recipes.preparation.GRAPH_VERSION", 0)
    anew = kgqa.generate("wikidata", workspace=wikidata_copy)
    assert {"read_sources", "link_mentions"} <= {*anew.reused}
    assert "build_store" not in anew.reused


def test_a_store_that_was_deleted_is_built_again(wikidata_copy: Path) -> None:
    answer = kgqa.query("hubs", workspace=wikidata_copy)
    shutil.rmtree(wikidata_copy / "store")
    report = kgqa.generate("wikidata", workspace=wikidata_copy)
    assert report.reused == [name for name in NAMES if name != "build_store"]
    assert kgqa.query("hubs", workspace=wikidata_copy).equals(answer)


@pytest.mark.parametrize(
    "name",
    [
        "masked/dev.parquet",
        "manifest.json",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("train.parquet", "README.md", "rejected.parquet")),
    ],
)
def test_a_dataset_that_was_changed_by_hand_is_written_again(name: str, wikidata_copy: Path, seed_wikidata: Path) -> None:
    path = wikidata_copy / "datasets" / "wikihop" / name
    path.write_bytes(path.read_bytes() + b"x")
    assert kgqa.generate("wikidata", workspace=wikidata_copy).reused == NAMES[:-1]
    assert wikihop(wikidata_copy) == wikihop(seed_wikidata)


def test_the_plan_says_what_a_run_then_does(wikidata_copy: Path, tmp_path: Path) -> None:
    for workspace, seed in ((wikidata_copy, 0), (wikidata_copy, 3), (tmp_path / "new", 0)):
        plan = kgqa.plan("wikidata", workspace=workspace, seed=seed)
        report = kgqa.generate("wikidata", workspace=workspace, seed=seed)
        assert [state == "finished before" for _, state in plan.stages] == [name in report.reused for name in NAMES]
        assert plan.dataset == report.dataset
        assert set(plan.files) == {"documents.jsonl", "entities.tsv", "triples.tsv", "relations.tsv"}
