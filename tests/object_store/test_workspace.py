"""A workspace in a store: any machine goes on from the stages that are finished there, with the same bytes, and nothing else counts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import KgqaError, ObjectStoreError, WorkspaceBusy, WorkspaceMismatch
from kgqa.object_store.workspace import workspace_at
from kgqa.runs.files import file_hashes, files_below
from kgqa.runs.workspace import StageRecord
from tests.command import COMMAND, environment
from tests.conftest import Cli
from tests.object_server import BUCKET, CUT, KEY_ID, SECRET, SHORT, ObjectServer

URL = f"s3://{BUCKET}/made/med"
DATASET = "made/med/datasets/medhop"
STAGES = 9


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


class Machine:
    """Folders of copies: each is the disk of another machine."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch

    def use(self, name: str) -> Path:
        """From now on, work on the machine ``name``."""
        self.monkeypatch.setenv("KGQA_OBJECTS", str(self.folder / name))
        return self.folder / name


@pytest.fixture(scope="session")
def stored(seed_medline: Path, moto_port: int, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a finished workspace has in the store: key → content."""
    from tests.object_server import object_server

    with pytest.MonkeyPatch.context() as patch, object_server(moto_port) as server:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        patch.setenv("KGQA_OBJECTS", str(tmp_path_factory.mktemp("first")))
        kgqa.generate("medline", workspace=URL)
        return {key: server.get(key) for key in server.keys("made")}


@pytest.fixture
def finished(stored: dict[str, bytes], objects: ObjectServer) -> ObjectServer:
    """The server with the finished workspace."""
    for key, content in stored.items():
        objects.put(key, content)
    objects.requests.clear()
    return objects


def data(folder: Path) -> dict[str, str]:
    """The hashes of a dataset's files; its manifest has times, and is left out."""
    return {name: digest for name, digest in file_hashes(folder).items() if name != "manifest.json"}


def sentence(error: KgqaError, *parts: str) -> None:
    text = str(error)
    assert "\n" not in text
    assert text.endswith(".")
    for part in parts:
        assert part in text, text
    for secret in (KEY_ID, SECRET):
        assert secret not in text


def uploads(server: ObjectServer) -> list[str]:
    """The keys that were put since the last call."""
    keys = [request.split()[1].partition("?")[0] for request in server.requests if request.startswith(("PUT", "POST"))]
    server.requests.clear()
    return keys


def test_the_dataset_is_that_of_a_folder_and_names_no_secret(finished: ObjectServer, seed_medline: Path) -> None:
    local = seed_medline / "datasets" / "medhop"
    for path in files_below(local):
        name = path.relative_to(local).as_posix()
        if name != "manifest.json":
            assert finished.get(f"{DATASET}/{name}") == path.read_bytes(), name
    ours, theirs = json.loads(finished.get(f"{DATASET}/manifest.json")), json.loads((local / "manifest.json").read_text("utf-8"))
    assert {key for key in ours if ours[key] != theirs[key]} <= {"seconds"}
    for key in finished.keys("made"):
        content = finished.get(key)
        assert KEY_ID.encode() not in content
        assert SECRET.encode() not in content


def test_another_machine_runs_no_stage_and_copies_the_dataset_alone(finished: ObjectServer, machine: Machine, cli: Cli) -> None:
    copies = machine.use("second")
    report = kgqa.generate("medline", workspace=URL)
    assert len(report.reused) == STAGES + 1
    assert report.place == f"{URL}/datasets/medhop"
    assert {path.name: path.read_bytes() for path in report.dataset.glob("*.*")} == {
        path.name: finished.get(f"{DATASET}/{path.name}") for path in report.dataset.glob("*.*")
    }
    assert not finished.asked("GET", "/files/"), "no table is needed"
    assert [key.rpartition("/")[2] for key in uploads(finished)] == ["run.json"]
    assert not list(copies.rglob("*.parquet.partial"))
    plan = cli("generate", "--domain", "medline", "--workspace", URL, "--dry-run")
    assert plan.out.count("finished before") == STAGES + 1
    assert uploads(finished) == []


def test_a_plan_of_another_machine_copies_nothing(finished: ObjectServer, machine: Machine, cli: Cli) -> None:
    copies = machine.use("second")
    plan = cli("generate", "--domain", "medline", "--workspace", URL, "--dry-run")
    assert plan.out.count("finished before") == STAGES + 1
    assert f"Would write {URL}/datasets/medhop" in plan.out
    assert not copies.exists()


def test_another_machine_goes_on_after_the_stages_that_are_finished(
    finished: ObjectServer, stored: dict[str, bytes], machine: Machine
) -> None:
    last = "made/med/tables/filter_samples.json"
    for key in (last, f"{DATASET}/manifest.json"):
        finished.delete(key)
    machine.use("second")
    report = kgqa.generate("medline", workspace=URL)
    assert len(report.reused) == STAGES - 1
    assert {"filter_samples", "write_dataset"}.isdisjoint(report.reused)
    for key, content in stored.items():
        if key.startswith((f"{DATASET}/", "made/med/files/")) and not key.endswith("manifest.json"):
            assert finished.get(key) == content, key
    before, after = (StageRecord.read(text) for text in (stored[last], finished.get(last)))
    assert before is not None
    assert after is not None
    assert (before.key, before.outputs, before.report) == (after.key, after.outputs, after.report)


def test_a_changed_setting_repeats_what_depends_on_it(finished: ObjectServer, machine: Machine) -> None:
    machine.use("second")
    report = kgqa.generate("medline", workspace=URL, seed=1)
    assert report.replaced
    assert "read_sources" in report.reused
    assert "filter_samples" not in report.reused
    machine.use("third")
    again = kgqa.generate("medline", workspace=URL, seed=1)
    assert len(again.reused) == STAGES + 1
    assert file_hashes(again.dataset) == file_hashes(report.dataset)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "number"),
    [
        ("tables/traverse.json", signal.SIGKILL),
        ("datasets/medhop/dev.parquet", signal.SIGTERM),
        *(
            pytest.param(part, number, marks=pytest.mark.thorough)
            for part, number in (
                ("tables/link_mentions.json", signal.SIGKILL),
                ("tables/link_mentions.json", signal.SIGTERM),
                ("tables/traverse.json", signal.SIGTERM),
                ("datasets/medhop/dev.parquet", signal.SIGKILL),
            )
        ),
    ],
)
def test_a_killed_run_goes_on_elsewhere(objects: ObjectServer, machine: Machine, seed_medline: Path, part: str, number: int) -> None:
    machine.use("first")
    with subprocess.Popen([*COMMAND, "generate", "--domain", "medline", "--workspace", URL], env=environment()) as process:
        while not objects.asked("PUT", part):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
    machine.use("second")
    report = kgqa.generate("medline", workspace=URL)
    assert "link_mentions" in report.reused or "link_mentions" in part
    assert data(report.dataset) == data(seed_medline / "datasets" / "medhop")
    machine.use("third")
    assert len(kgqa.generate("medline", workspace=URL).reused) == STAGES + 1


@pytest.mark.parametrize(
    ("method", "part", "status"),
    [
        ("GET", "/files/", CUT),
        pytest.param("PUT", "/files/", 503, marks=pytest.mark.slow),
        pytest.param("GET", "traverse.json", 503, marks=pytest.mark.thorough),
    ],
)
def test_what_fails_for_a_while_is_asked_again(finished: ObjectServer, machine: Machine, method: str, part: str, status: int) -> None:
    machine.use("second")
    finished.fail(method, part, status, times=2)
    report = kgqa.generate("medline", workspace=URL, seed=1)
    assert "read_sources" in report.reused
    assert not any(fault.times for fault in finished.faults), "it did fail"


@pytest.mark.parametrize(
    ("method", "part", "status", "says"),
    [
        ("GET", "/files/", SHORT, "less of the object than it announced"),
        ("PUT", "datasets/medhop/manifest.json", 403, "refuses access"),
        *(
            pytest.param(*fault, marks=pytest.mark.slow)
            for fault in (
                ("PUT", "run.json", 403, "refuses access"),
                ("GET", "workspace.json", 403, "refuses access"),
                ("PUT", "run.json", 301, "another region"),
                ("GET", "tables/read_sources.json", SHORT, "less of the object than it announced"),
                ("PUT", "/files/", 403, "refuses access"),
                ("PUT", "tables/filter_samples.json", 403, "refuses access"),
                ("PUT", "datasets/medhop/dev.parquet", 403, "refuses access"),
            )
        ),
    ],
)
def test_a_store_that_fails_gives_one_sentence_and_the_run_goes_on_later(
    finished: ObjectServer, machine: Machine, seed_medline: Path, method: str, part: str, status: int, says: str
) -> None:
    last = "made/med/tables/filter_samples.json"
    outputs = {key: {*json.loads(finished.get(key))["outputs"].values()} for key in finished.keys("made/med/tables")}
    own = outputs.pop(last).difference(*outputs.values())  # the others are outputs of earlier stages, too
    for key in [last, *[f"made/med/files/{digest}.parquet" for digest in own], *finished.keys(DATASET)]:
        finished.delete(key)
    machine.use("second")
    finished.fail(method, part, status, times=10**6)
    with pytest.raises(ObjectStoreError) as error:
        kgqa.generate("medline", workspace=URL)
    sentence(error.value, f"s3://{BUCKET}/made/med", says)
    assert f"{DATASET}/manifest.json" not in finished.keys(DATASET)
    finished.faults.clear()
    machine.use("third")
    report = kgqa.generate("medline", workspace=URL)
    assert len(report.reused) >= STAGES - 1
    assert data(report.dataset) == data(seed_medline / "datasets" / "medhop")
    machine.use("fourth")
    assert len(kgqa.generate("medline", workspace=URL).reused) == STAGES + 1


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("files", "other"),
        ("datasets", "gone"),
        *(pytest.param(*both, marks=pytest.mark.slow) for both in (("files", "gone"), ("datasets", "other"))),
    ],
)
def test_an_object_that_is_not_what_its_record_says_is_named(
    finished: ObjectServer, machine: Machine, seed_medline: Path, where: str, change: str
) -> None:
    if where == "files":
        record = "made/med/tables/link_mentions.json"
        digest = json.loads(finished.get(record))["outputs"]["tables/mentions.parquet"]
        key = f"made/med/files/{digest}.parquet"
        finished.delete(f"{DATASET}/manifest.json")
        finished.delete("made/med/tables/filter_samples.json")
    else:
        record, key = f"{DATASET}/manifest.json", f"{DATASET}/dev.parquet"
    if change == "gone":
        finished.delete(key)
    else:
        content = finished.get(key)
        finished.put(key, bytes([content[0] ^ 1]) + content[1:])
    copies = machine.use("second")
    with pytest.raises(ObjectStoreError) as error:
        kgqa.generate("medline", workspace=URL)
    sentence(error.value, f"s3://{BUCKET}/{key}", f"delete s3://{BUCKET}/{record}", "missing" if change == "gone" else "is not what")
    assert not [path for path in files_below(copies) if path.name in {"mentions.parquet", "dev.parquet"} or "partial" in path.name]
    for name in {record, key} & set(finished.keys("made")):
        finished.delete(name)
    report = kgqa.generate("medline", workspace=URL)
    assert data(report.dataset) == data(seed_medline / "datasets" / "medhop")
    machine.use("third")
    assert len(kgqa.generate("medline", workspace=URL).reused) == STAGES + 1


@pytest.mark.parametrize(
    "content", [b"{", b'{"stage": "link_mentions"}', *(pytest.param(part, marks=pytest.mark.thorough) for part in (b"[]", b"{}"))]
)
def test_a_damaged_record_counts_for_nothing(finished: ObjectServer, machine: Machine, content: bytes) -> None:
    finished.put("made/med/tables/link_mentions.json", content)
    machine.use("second")
    report = kgqa.generate("medline", workspace=URL)
    assert "link_mentions" not in report.reused
    assert "read_sources" in report.reused


def test_a_record_that_names_a_file_elsewhere_counts_for_nothing(finished: ObjectServer, machine: Machine, tmp_path: Path) -> None:
    key = "made/med/tables/link_mentions.json"
    record = StageRecord.read(finished.get(key))
    assert record is not None
    evil = StageRecord(
        stage=record.stage, key=record.key, outputs={"../../../evil": next(iter(record.outputs.values()))}, report=record.report,
        seconds=record.seconds, made_from=record.made_from,
    )  # fmt: skip
    fields = {name: getattr(evil, name) for name in evil.__slots__}
    finished.put(key, json.dumps({**fields, "check": evil.checksum()}).encode())
    machine.use("second")
    assert "link_mentions" not in kgqa.generate("medline", workspace=URL).reused
    assert not list(tmp_path.rglob("evil"))


def test_no_list_is_needed_to_go_on(finished: ObjectServer, machine: Machine) -> None:
    finished.hidden.extend(finished.keys("made"))
    finished.delete("made/med/tables/filter_samples.json")
    machine.use("second")
    report = kgqa.generate("medline", workspace=URL)
    assert len(report.reused) == STAGES
    assert "filter_samples" not in report.reused


def test_the_workspace_of_another_domain_is_refused_and_unchanged(finished: ObjectServer, machine: Machine) -> None:
    machine.use("second")
    with pytest.raises(WorkspaceMismatch) as error:
        kgqa.generate("companies", workspace=URL)
    sentence(error.value, URL, "medline")
    assert uploads(finished) == []


@pytest.mark.parametrize("part", [pytest.param("tables/traverse.json", marks=pytest.mark.slow), "datasets/medhop/manifest.json"])
def test_of_two_runs_the_earlier_ends(objects: ObjectServer, machine: Machine, part: str) -> None:
    machine.use("first")

    def begin_another(method: str, path: str) -> None:
        if method in {"GET", "HEAD"} and part in path:
            objects.put("made/med/run.json", b'{"run": "another"}')

    objects.before = begin_another
    with pytest.raises(WorkspaceBusy) as error:
        kgqa.generate("medline", workspace=URL)
    sentence(error.value, URL, "another run has begun")
    assert f"made/med/{part}" not in objects.keys("made")
    assert objects.get("made/med/run.json") == b'{"run": "another"}'


def test_a_store_that_loses_what_it_took_is_named(objects: ObjectServer, machine: Machine) -> None:
    machine.use("first")
    objects.before = lambda method, path: (
        objects.delete("made/med/run.json") if (method, path.endswith("run.json")) == ("HEAD", True) else None
    )
    with pytest.raises(ObjectStoreError) as error:
        kgqa.generate("medline", workspace=URL)
    sentence(error.value, f"{URL}/run.json", "has it no more")
    assert objects.keys("made/med/tables") == []


def test_two_runs_of_one_machine_exclude_each_other(finished: ObjectServer, machine: Machine) -> None:
    machine.use("first")
    with workspace_at(URL), pytest.raises(WorkspaceBusy) as error:
        kgqa.generate("medline", workspace=URL)
    sentence(error.value, URL, "another run on this machine")


def test_commands_read_the_workspace(finished: ObjectServer, seed_medline: Path, machine: Machine, cli: Cli, tmp_path: Path) -> None:
    machine.use("second")
    remote, local = (cli("query", "hubs", "--workspace", place) for place in (URL, seed_medline))
    assert (remote.status, remote.err) == (0, "")
    assert remote.out.splitlines()[-3:] == local.out.splitlines()[-3:]
    for name, place in (("remote", URL), ("local", seed_medline)):
        assert cli("export", "--to", "graphml", tmp_path / name, "--workspace", place, "--dataset", "medhop").status == 0
    assert (tmp_path / "remote").read_bytes() == (tmp_path / "local").read_bytes()
    loaded = cli("load", "--store", "embedded", "--workspace", URL, "--dataset", f"{URL}/datasets/medhop")
    assert (loaded.status, "291 samples" in loaded.out) == (0, True), loaded.err
    assert cli("show", f"{URL}/datasets/medhop").status == 0
    assert uploads(finished) == []
    shutil.copytree(seed_medline, tmp_path / "copy")
    measured = ("relations", "medline", "--recipe", "entailed", "--workspace")
    remote, local = (cli(*measured, place) for place in (URL, tmp_path / "copy"))
    assert (remote.status, remote.err) == (0, "")
    assert remote.out.splitlines()[-3:] == local.out.splitlines()[-3:]
    uploads(finished)
    assert cli(*measured, URL).status == 0
    assert uploads(finished) == [f"/{BUCKET}/made/med/run.json"], "relations is a run; the others only read"


@pytest.mark.slow
def test_composing_goes_on_elsewhere(objects: ObjectServer, machine: Machine) -> None:
    place = f"s3://{BUCKET}/made/composed"
    machine.use("first")
    first = kgqa.compose(domain="companies", workspace=place, filter="none")
    machine.use("second")
    second = kgqa.compose(domain="companies", workspace=place, filter="none")
    assert len(second.reused) == len(second.seconds)
    assert file_hashes(second.dataset) == file_hashes(first.dataset)
    assert second.place == f"{place}/datasets/{second.dataset.name}"


def test_the_copy_of_a_machine_whose_upload_failed_is_uploaded_later(objects: ObjectServer, machine: Machine) -> None:
    machine.use("first")
    objects.fail("PUT", "tables/build_store.json", 403, times=10**6)
    with pytest.raises(ObjectStoreError):
        kgqa.generate("medline", workspace=URL)
    objects.faults.clear()
    assert any(key.endswith(".lbug") for key in uploads(objects))
    report = kgqa.generate("medline", workspace=URL)
    assert report.reused == ["read_sources", "link_mentions", "build_store"]
    assert not any(key.endswith(".lbug") for key in uploads(objects)), "the upload of a stage goes on with what is missing"
    assert "made/med/tables/build_store.json" in objects.keys("made")


def test_others_cannot_look_into_the_copy(finished: ObjectServer, machine: Machine) -> None:
    copies = machine.use("second")
    kgqa.generate("medline", workspace=URL)
    assert all(os.stat(folder).st_mode & 0o077 == 0 for folder in copies.iterdir())
    shutil.rmtree(copies)
