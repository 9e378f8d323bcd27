"""``gs://`` on a server with Google's protocol."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

import kgqa
from kgqa.errors import MissingInput, ObjectStoreError
from kgqa.object_store.address import ObjectAddress
from kgqa.object_store.mirror import local_copy
from kgqa.object_store.service import Service
from kgqa.runs.files import file_hashes
from tests.ports import free_port

BUCKET = "corpora"
START = "from gcp_storage_emulator.__main__ import main; main()"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of the server, which takes longer to start than a test."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-c", START, "start", "--host", "127.0.0.1", "--port", str(port), "--in-memory"]
    with subprocess.Popen([*command, "--default-bucket", BUCKET], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                assert server.poll() is None, "the server did not start"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


@pytest.fixture
def service(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The server, with an empty bucket."""
    with urlopen(f"{address}/wipe?keep-buckets=true", timeout=60):
        pass
    monkeypatch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", address)
    monkeypatch.setenv("KGQA_OBJECTS_ANONYMOUS", "1")
    monkeypatch.setenv("KGQA_OBJECTS_SECONDS", "0.2")
    monkeypatch.setenv("KGQA_OBJECTS", str(tmp_path / "copies"))
    return Service.of(ObjectAddress(scheme="gs", bucket=BUCKET, key="lat"))


def test_objects_are_copied_and_only_a_changed_one_again(service: Service) -> None:
    service.write("a.tsv", iter([b"a" * 10, b"b"]))
    service.write("deep/b.tsv", iter([b"b"]))
    folder = local_copy(f"gs://{BUCKET}/lat")
    assert {name: (folder / name).read_bytes() for name in file_hashes(folder)} == {"a.tsv": b"a" * 10 + b"b", "deep/b.tsv": b"b"}
    before = (folder / "deep" / "b.tsv").stat()
    service.write("a.tsv", iter([b"c" * 11]))
    assert (local_copy(f"gs://{BUCKET}/lat") / "a.tsv").read_bytes() == b"c" * 11
    assert (folder / "deep" / "b.tsv").stat() == before
    assert local_copy(f"gs://{BUCKET}/lat/deep/b.tsv").read_bytes() == b"b"


def test_a_workspace_goes_on_on_another_machine(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = kgqa.generate("companies", workspace=f"gs://{BUCKET}/lat/work")
    service.delete("work/datasets/" + first.dataset.name + "/manifest.json")
    monkeypatch.setenv("KGQA_OBJECTS", str(tmp_path / "second"))
    second = kgqa.generate("companies", workspace=f"gs://{BUCKET}/lat/work")
    assert len(second.reused) == len(second.seconds) - 1, "the dataset is written again from the tables"
    hashes = file_hashes(first.dataset)
    assert {**file_hashes(second.dataset), "manifest.json": hashes["manifest.json"]} == hashes


def test_a_dataset_is_published_and_read(service: Service, seed_wikidata: Path, tmp_path: Path) -> None:
    dataset, url = seed_wikidata / "datasets" / "wikihop", f"gs://{BUCKET}/published/wikihop"
    kgqa.publish(dataset, to=tmp_path / "wikihop")
    assert kgqa.publish(dataset, to=url).is_new
    assert set(kgqa.publish(dataset, to=url).changes.values()) == {"unchanged"}
    assert kgqa.show(url) == kgqa.show(dataset)
    assert file_hashes(local_copy(url)) == file_hashes(tmp_path / "wikihop")


@pytest.mark.parametrize("url", [f"gs://{BUCKET}/nothing", "gs://no-such-bucket/lat"])
def test_what_is_not_there_gives_one_sentence(service: Service, url: str) -> None:
    with pytest.raises(MissingInput, match=f"{url}: the store has no such object"):
        local_copy(url)


def test_a_store_that_is_away_gives_one_sentence(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ObjectStoreError, match=r"does not answer.*CLOUD_STORAGE_EMULATOR_ENDPOINT"):
        local_copy(f"gs://{BUCKET}/lat")
