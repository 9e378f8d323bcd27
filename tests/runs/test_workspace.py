"""A workspace: whole files or none, one run at a time, and never another's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from kgqa.errors import StorageError, WorkspaceBusy, WorkspaceError, WorkspaceMismatch
from kgqa.runs.files import discard, file_hash, key_of, new_folder
from kgqa.runs.workspace import FORMAT, StageRecord, Workspace
from tests.command import ROOT
from tests.contents import files, leftovers

INPUTS = {"a.tsv": "1"}
LOCK = """
import sys, time
from pathlib import Path
from kgqa.runs.workspace import Workspace

with Workspace(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def finish(workspace: Workspace, stage: str = "read", key: str = "k") -> StageRecord:
    """A stage with one table."""
    name = workspace.write_table("t", pa.table({"x": [1, 2]}))
    record = StageRecord(stage=stage, key=key, outputs={name: file_hash(workspace.path / name)}, report={}, seconds=0.1)
    workspace.record(record)
    return record


def test_a_new_workspace_is_claimed_and_recognised(tmp_path: Path) -> None:
    for _ in range(2):
        with Workspace(tmp_path / "w") as workspace:
            workspace.claim(domain="d", inputs=INPUTS)
            finish(workspace)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"format": FORMAT + 1}, f"another version of kgqa (format {FORMAT + 1}, this one has {FORMAT})"),
        ({"domain": "other"}, "belongs to the domain other, not d"),
    ],
)
def test_the_workspace_of_another_domain_is_refused_and_unchanged(change: dict[str, object], part: str, tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        workspace.claim(domain="d", inputs=INPUTS)
        finish(workspace)
        path = tmp_path / "w" / "workspace.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        before = files(tmp_path / "w")
        with pytest.raises(WorkspaceMismatch) as error:
            workspace.claim(domain="d", inputs=INPUTS)
        assert part in str(error.value)
        assert "choose another --workspace" in str(error.value)
        assert files(tmp_path / "w") == before


def test_changed_input_is_reported_once(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        assert workspace.claim(domain="d", inputs=INPUTS) == []
        finish(workspace)
        assert workspace.changes(domain="d", inputs=INPUTS) == []
        assert workspace.changes(domain="d", inputs={"a.tsv": "2", "b.tsv": "1"}) == ["a.tsv", "b.tsv"]
        assert workspace.claim(domain="d", inputs={"a.tsv": "2", "b.tsv": "1"}) == ["a.tsv", "b.tsv"]
        assert workspace.claim(domain="d", inputs={"a.tsv": "2", "b.tsv": "1"}) == []


def test_a_stage_with_the_same_input_is_finished_under_another_key(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        old = finish(workspace)
        assert workspace.finished("read", "other", made_from="") is None
        workspace.record(replace(old, made_from="m"))
        assert workspace.finished("read", "other") is None
        assert workspace.finished("read", "other", made_from="n") is None
        found = workspace.finished("read", "other", made_from="m")
        assert found
        assert found.key == "k"
        path = workspace.tables / "read.json"
        path.write_text(path.read_text("utf-8").replace('"m"', '"n"'), "utf-8")
        assert workspace.finished("read", "other", made_from="n") is None  # edited


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"format": 1}', b'{"format": 1, "domain": "d", "inputs": [1]}']
)
def test_a_damaged_workspace_file_is_reported(content: bytes, tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        finish(workspace)
        (tmp_path / "w" / "workspace.json").write_bytes(content)
        with pytest.raises(
            WorkspaceMismatch, match=r"workspace\.json: the file is damaged; choose another --workspace, or delete this one\.$"
        ):
            workspace.claim(domain="d", inputs=INPUTS)


def test_a_workspace_without_finished_stages_is_free(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        workspace.claim(domain="d", inputs=INPUTS)
        workspace.claim(domain="d", inputs={"a.tsv": "mended"})
        assert json.loads((tmp_path / "w" / "workspace.json").read_text())["inputs"] == {"a.tsv": "mended"}


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(WorkspaceError, match="not empty and is not a kgqa workspace"), Workspace(tmp_path):
        pass
    assert list(files(tmp_path)) == ["thesis.txt"]


def test_a_run_that_ends_before_its_first_table_does_not_lock_itself_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The disk is full just when the folder for the tables is made.
    workspace, real = Workspace(tmp_path / "w"), Path.mkdir

    def full(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        if self.name == "tables":
            raise OSError(28, "No space left on device", str(self))
        real(self, mode, parents, exist_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", full)
        with pytest.raises(StorageError, match="the disk is full"), workspace:
            pass
    with workspace:
        pass


def test_a_file_in_the_place_of_the_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("x")
    with pytest.raises(WorkspaceError, match="this is not a folder"), Workspace(tmp_path / "w"):
        pass
    with pytest.raises(StorageError, match="a file"), Workspace(tmp_path / "w" / "below"):
        pass
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(WorkspaceError, match="is broken"), Workspace(tmp_path / "link"):
        pass
    with pytest.raises(StorageError, match="too long"), Workspace(tmp_path / ("x" * 300)):
        pass


def test_only_one_run_at_a_time(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", LOCK, str(tmp_path / "w")], cwd=ROOT, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        try:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(WorkspaceBusy, match="another run uses this workspace; wait"), Workspace(tmp_path / "w"):
                pass
        finally:
            other.kill()
    with Workspace(tmp_path / "w"):
        pass


def test_a_stage_is_finished_while_its_files_are_as_written(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        record = finish(workspace)
        assert workspace.finished("read", "k") == workspace.finished("read") == replace(record, check=record.checksum())
        assert workspace.finished("read", "another") is None
        table = tmp_path / "w" / "tables" / "t.parquet"
        table.write_bytes(table.read_bytes()[:-1] + b"x")
        assert workspace.finished("read", "k") is None
        finish(workspace)
        (tmp_path / "w" / "tables" / "read.json").write_text("{")
        assert workspace.finished("read", "k") is None
        finish(workspace)
        workspace.forget("read")
        assert workspace.finished("read", "k") is None


def test_a_replaced_path_is_either_new_or_unchanged(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        for target in (tmp_path / "w" / "file", tmp_path / "w" / "folder"):

            def make(partial: Path, content: str, target: Path = target) -> None:
                if target.name == "folder":
                    partial.mkdir()
                    partial = partial / "inner"
                partial.write_text(content)

            def fail(partial: Path, target: Path = target) -> None:
                make(partial, "half", target)
                partial.with_name(partial.name + ".wal").write_text("beside")
                raise RuntimeError("in the middle")

            with pytest.raises(RuntimeError):
                workspace.replace(target, fail)
            assert not target.exists()
            for content in ("one", "two"):
                workspace.replace(target, lambda partial, content=content, make=make: make(partial, content))  # type: ignore[misc]
            before = files(tmp_path / "w")
            with pytest.raises(RuntimeError):
                workspace.replace(target, fail)
            assert files(tmp_path / "w") == before
            assert b"two" in before.values()
            assert leftovers(tmp_path / "w") == []


def test_discarding_removes_a_file_and_only_its_companions(tmp_path: Path) -> None:
    for name in (".g.partial", ".g.partial.wal", ".gh.partial", "g"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".g.partial.shadow").mkdir()
    discard(tmp_path / ".g.partial")
    assert sorted(files(tmp_path)) == [".gh.partial", "g"]
    shutil.rmtree(tmp_path)


def test_keys_depend_on_every_part() -> None:
    assert key_of("a", {"x": 1, "y": 2}) == key_of("a", {"y": 2, "x": 1})
    assert len({key_of("a", 1), key_of("a", 2), key_of("a1"), key_of(["a", 1]), key_of("a", None), key_of("é")}) == 6


def test_a_dataset_set_aside_by_a_killed_run_comes_back(tmp_path: Path) -> None:
    place = Workspace(tmp_path / "w")
    with place:
        aside = place.path / "datasets" / ".wikihop.old.partial"
        aside.mkdir(parents=True)
        (aside / "train.parquet").write_text("old", "utf-8")
        place.sweep()
        assert (place.path / "datasets" / "wikihop" / "train.parquet").read_text("utf-8") == "old"
        aside.mkdir()
        place.sweep()
        assert [path.name for path in (place.path / "datasets").iterdir()] == ["wikihop"]


def test_a_record_that_was_edited_does_not_count(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        finish(workspace)
        path = workspace.tables / "read.json"
        record = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**record, "report": {"rows": 9}}), "utf-8")
        assert workspace.finished("read", "k") is None


def test_another_tools_files_are_left_alone(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        for name in ("sub/.download.partial", "notes/.a.partial-notes"):
            (workspace.path / name).parent.mkdir(exist_ok=True)
            (workspace.path / name).write_text("x")
        workspace.sweep()
        assert (workspace.path / "sub" / ".download.partial").is_file()
        assert (workspace.path / "notes" / ".a.partial-notes").is_file()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".lock").touch()
    with pytest.raises(WorkspaceError, match="not a kgqa workspace"), Workspace(tmp_path / "other"):
        pass


@pytest.mark.parametrize("kind", ["a full folder", "an empty folder", "a file", "a link"])
def test_a_path_that_appears_during_writing_is_not_replaced(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def other_run() -> None:
        if kind.endswith("folder"):
            out.mkdir()
        if kind == "a full folder":
            (out / "theirs").touch()
        elif kind == "a file":
            out.write_text("theirs")
        elif kind == "a link":
            out.symlink_to(tmp_path)

    def run() -> None:
        with new_folder(out) as partial:
            partial.mkdir()
            (partial / "ours").touch()
            other_run()

    if kind == "an empty folder":
        run()
        assert [path.name for path in out.iterdir()] == ["ours"]
    else:
        with pytest.raises(StorageError, match=r"out: this is already there; choose another --out, or remove it\."):
            run()
        assert not out.is_dir() or not (out / "ours").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_root_is_no_new_folder() -> None:
    with pytest.raises(StorageError, match="/: this is the root of the file system; choose another --out"), new_folder(Path("/")):
        pass
