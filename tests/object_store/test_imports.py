"""``kgqa import --out s3://…``: the same tables as in a folder, a whole import or none, and one sentence for what is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import KgqaError, ObjectStoreError
from kgqa.object_store.mirror import local_copy
from kgqa.runs.files import file_hashes
from kgqa.sources.imported import FILES
from tests.command import COMMAND, environment
from tests.conftest import Cli
from tests.object_server import BUCKET, ObjectServer
from tests.object_store.test_mirror import sentence

pytest.importorskip("duckdb")
PREFIX = "imports/lands"
URL = f"s3://{BUCKET}/{PREFIX}"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``edges.tsv`` and ``texts.jsonl``; copies of objects lie beside them."""
    monkeypatch.setenv("KGQA_OBJECTS", str(tmp_path / "first"))
    lines = ["head\trelation\ttail", *(f"land {number}\tcapital\ttown {number}" for number in range(40))]
    (tmp_path / "edges.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    texts = [f'{{"id": "d{number}", "text": "town {number} is the capital of land {number}."}}' for number in range(40)]
    (tmp_path / "texts.jsonl").write_text("\n".join(texts) + "\n", "utf-8")
    return tmp_path


def tables(folder: Path) -> dict[str, str]:
    """The hashes of the tables, and what the manifest says of its files."""
    hashes = {name: digest for name, digest in file_hashes(folder).items() if name.endswith(".parquet") and "/" not in name}
    return {**hashes, "sources": json.dumps(json.loads((folder / "import.json").read_text("utf-8"))["sources"])}


def test_two_imports_make_the_tables_that_they_make_in_a_folder(objects: ObjectServer, files: Path, cli: Cli) -> None:
    for format_, name in (("edges", "edges.tsv"), ("texts", "texts.jsonl")):
        kgqa.import_files(format_, [files / name], out=files / "local")
        said = cli("import", format_, files / name, "--out", URL)
        assert said.status == 0
        assert f"{URL}: " in said.out
    assert f"--source {URL}" in said.out
    assert [key for key in objects.keys(PREFIX) if not key.endswith("/")] == sorted(f"{PREFIX}/{name}" for name in FILES)
    assert tables(local_copy(URL)) == tables(files / "local")


def test_the_same_import_uploads_nothing_and_a_further_one_what_changed(objects: ObjectServer, files: Path) -> None:
    kgqa.import_files("edges", [files / "edges.tsv"], out=URL)
    objects.requests.clear()
    result = kgqa.import_files("edges", [files / "edges.tsv"], out=URL)
    assert (result.place, result.reused) == (URL, ["edges.tsv"])
    assert not objects.asked("PUT", "facts.parquet")
    kgqa.import_files("texts", [files / "texts.jsonl"], out=URL)
    assert objects.asked("PUT", "documents.parquet")
    assert not objects.asked("PUT", "facts.parquet")


@pytest.mark.parametrize("part", ["facts.parquet", "import.json"])
def test_an_upload_that_fails_leaves_no_import_and_goes_on_later(objects: ObjectServer, files: Path, part: str) -> None:
    kgqa.import_files("texts", [files / "texts.jsonl"], out=URL)
    objects.fail("PUT", part, 403, times=10**6)
    with pytest.raises(ObjectStoreError) as error:
        kgqa.import_files("edges", [files / "edges.tsv"], out=URL)
    sentence(error.value, URL, "refuses access")
    assert f"{PREFIX}/import.json" not in objects.keys(PREFIX)
    with pytest.raises(KgqaError):
        kgqa.generate("wikidata", source=URL, workspace=files / "workspace")
    objects.faults.clear()
    kgqa.import_files("edges", [files / "edges.tsv"], out=URL)
    for format_, name in (("texts", "texts.jsonl"), ("edges", "edges.tsv")):
        kgqa.import_files(format_, [files / name], out=files / "local")
    assert tables(local_copy(URL)) == tables(files / "local")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_upload_leaves_no_import_and_goes_on_later(objects: ObjectServer, files: Path, number: int) -> None:
    command = [*COMMAND, "import", "edges", str(files / "edges.tsv"), "--out", URL]
    with subprocess.Popen(command, env=environment()) as process:
        objects.before = lambda method, path: time.sleep(0.3 if method == "PUT" and ".parquet" in path else 0)
        while not objects.asked("PUT", "facts.parquet"):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
    objects.before = None
    assert f"{PREFIX}/import.json" not in objects.keys(PREFIX)
    kgqa.import_files("edges", [files / "edges.tsv"], out=URL)
    kgqa.import_files("edges", [files / "edges.tsv"], out=files / "local")
    assert tables(local_copy(URL)) == tables(files / "local")


def test_what_another_machine_or_somebody_else_put_there_is_kept(
    objects: ObjectServer, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kgqa.import_files("edges", [files / "edges.tsv"], out=URL)
    before = objects.get(f"{PREFIX}/import.json")
    monkeypatch.setenv("KGQA_OBJECTS", str(files / "second"))
    with pytest.raises(ObjectStoreError) as error:
        kgqa.import_files("texts", [files / "texts.jsonl"], out=URL)
    sentence(error.value, URL, "import of another machine", "choose another prefix")
    assert objects.get(f"{PREFIX}/import.json") == before
    objects.put("notes/mine.txt", b"mine")
    with pytest.raises(ObjectStoreError) as error:
        kgqa.import_files("edges", [files / "edges.tsv"], out=f"s3://{BUCKET}/notes")
    sentence(error.value, "mine.txt", "choose another prefix")
    with pytest.raises(ObjectStoreError, match="this is an object"):
        kgqa.import_files("edges", [files / "edges.tsv"], out=f"s3://{BUCKET}/notes/mine.txt")
