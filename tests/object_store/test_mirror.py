"""Copies of objects: they are what the store has, only what changed is read again, and nothing that fails leaves half a file."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kgqa.errors import BrokenInput, InputChanged, KgqaError, MissingInput, ObjectStoreError, SettingsError, StorageError
from kgqa.object_store.mirror import local_copy
from kgqa.runs.files import files_below
from tests.command import environment
from tests.conftest import SmallDisk
from tests.object_server import BUCKET, CUT, KEY_ID, SECRET, SHORT, SILENT, ObjectServer

URL = f"s3://{BUCKET}/lat"
FILES = {
    "a.tsv": b"a\tb\n" * 1000,
    "b.json": b"{}",
    "empty": b"",
    "masked/c.parquet": b"\0" * 5000,
    "packed.gz": gzip.compress(b"as it is"),
}


@pytest.fixture
def lat(objects: ObjectServer) -> ObjectServer:
    """The server with ``FILES``."""
    for name, content in FILES.items():
        objects.put(f"lat/{name}", content)
    objects.requests.clear()
    return objects


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files_below(folder)}


def reads(server: ObjectServer) -> list[str]:
    """The objects that were read since the last call, without the lists."""
    names = [match[1] for request in server.requests if (match := re.match(rf"GET /{BUCKET}/lat/([^?]+)", request))]
    server.requests.clear()
    return sorted(names)


def sentence(error: KgqaError, *parts: str) -> None:
    """One sentence with these parts, and without credentials."""
    text = str(error)
    assert text.count("\n") == 0
    assert text.endswith(".")
    for part in parts:
        assert part in text, text
    for secret in (KEY_ID, SECRET):
        assert secret not in text


def test_a_copy_has_what_the_store_has_and_the_name_of_the_prefix(lat: ObjectServer) -> None:
    lat.put("lat/.hidden/x", b"x")
    lat.put("lateral/x", b"x")
    folder = local_copy(URL)
    assert folder.name == "lat"
    assert contents(folder) == FILES
    assert reads(lat) == sorted(name for name, content in FILES.items() if content)


def test_every_byte_of_an_object_of_several_chunks_is_copied(objects: ObjectServer) -> None:
    content = os.urandom((4 << 20) + 1)
    objects.put("lat/long", content)
    single = (0, 1, 10, 127, 128, 255)
    for byte in single:  # a single byte may be the one that the buffer had before
        objects.put(f"lat/bytes/{byte}", bytes([byte]))
    folder = local_copy(URL)
    assert (folder / "long").read_bytes() == content
    assert [(folder / "bytes" / str(byte)).read_bytes() for byte in single] == [bytes([byte]) for byte in single]


def test_a_shallow_copy_has_no_objects_of_deeper_prefixes(lat: ObjectServer) -> None:
    assert contents(local_copy(URL, deep=False)) == {name: content for name, content in FILES.items() if "/" not in name}


def test_one_object_is_copied_alone(lat: ObjectServer) -> None:
    path = local_copy(f"{URL}/a.tsv")
    assert (path.name, path.read_bytes()) == ("a.tsv", FILES["a.tsv"])
    assert contents(path.parent) == {"a.tsv": FILES["a.tsv"]}


def test_only_what_changed_is_read_again_and_what_is_gone_is_removed(lat: ObjectServer) -> None:
    folder = local_copy(URL)
    reads(lat)
    assert local_copy(URL) == folder
    assert reads(lat) == []
    lat.put("lat/b.json", b"[]")  # of the same size
    lat.put("lat/new", b"new")
    lat.delete("lat/masked/c.parquet")
    assert contents(local_copy(URL)) == {
        "a.tsv": FILES["a.tsv"],
        "b.json": b"[]",
        "empty": b"",
        "new": b"new",
        "packed.gz": FILES["packed.gz"],
    }
    assert reads(lat) == ["b.json", "new"]
    assert not (folder / "masked").exists()


def test_a_copy_that_is_damaged_here_is_read_again(lat: ObjectServer) -> None:
    folder = local_copy(URL)
    (folder / "a.tsv").write_bytes(FILES["a.tsv"].replace(b"a", b"x"))
    (folder / "stray").write_bytes(b"")
    reads(lat)
    assert contents(local_copy(URL)) == FILES
    assert reads(lat) == ["a.tsv"]


def test_the_same_bucket_of_another_endpoint_has_a_copy_of_its_own(lat: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = local_copy(URL)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{lat.server}")
    assert local_copy(URL) != folder
    assert contents(folder) == contents(local_copy(URL))


@pytest.mark.parametrize(
    ("method", "part", "status"), [("GET", "a.tsv", 503), ("GET", "a.tsv", CUT), ("GET", "list-type", 503), ("HEAD", "a.tsv", 500)]
)
def test_what_fails_for_a_while_is_asked_again(lat: ObjectServer, method: str, part: str, status: int) -> None:
    lat.fail(method, part, status, times=2)
    assert contents(local_copy(URL)) == FILES
    assert not any(fault.times for fault in lat.faults), "it did fail"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "part", "status", "says"),
    [
        ("GET", "a.tsv", CUT, "the connection breaks"),
        ("GET", "list-type", SILENT, "does not answer"),
        *(
            pytest.param(*fault, marks=pytest.mark.thorough)
            for fault in (
                ("GET", "a.tsv", 503, "overloaded"),
                ("GET", "list-type", 429, "overloaded"),
                ("GET", "a.tsv", SILENT, "does not answer"),
            )
        ),
    ],
)  # fmt: skip
def test_what_fails_for_good_ends_in_bounded_time_and_goes_on_later(
    lat: ObjectServer, method: str, part: str, status: int, says: str, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = os.environ["KGQA_OBJECTS_SECONDS"]
    monkeypatch.setenv("KGQA_OBJECTS_SECONDS", "0.5")
    lat.fail(method, part, status, times=10**6)
    begin = time.monotonic()
    with pytest.raises(ObjectStoreError) as error:
        local_copy(URL)
    assert time.monotonic() - begin < 60
    monkeypatch.setenv("KGQA_OBJECTS_SECONDS", seconds)
    sentence(error.value, URL, says)
    assert not [path for path in files_below(copies) if "partial" in path.name or path.name == "a.tsv"]
    lat.faults.clear()
    assert contents(local_copy(URL)) == FILES


@pytest.mark.parametrize(
    ("status", "headers", "parts"),
    [
        (403, {}, ["refuses access", "KGQA_OBJECTS_ANONYMOUS"]),
        (301, {"x_amz_bucket_region": "eu-west-1"}, ["another region", "AWS_REGION"]),
        (400, {"x_amz_bucket_region": "eu-west-1"}, ["another region", "AWS_REGION"]),
    ],
)
@pytest.mark.parametrize(("method", "part"), [("HEAD", "/lat"), ("GET", "list-type"), ("HEAD", "a.tsv"), ("GET", "a.tsv")])
def test_a_store_that_refuses_gives_one_sentence(
    lat: ObjectServer, status: int, headers: dict[str, str], parts: list[str], method: str, part: str
) -> None:
    lat.fail(method, part, status, times=10**6, **headers)
    with pytest.raises(ObjectStoreError) as error:
        local_copy(URL)
    sentence(error.value, URL, *parts)


def test_a_key_that_the_store_does_not_know_gives_one_sentence(lat: ObjectServer) -> None:
    lat.ask("POST", "/moto-api/reset-auth", b"0")  # from now on it checks credentials
    try:
        with pytest.raises(ObjectStoreError) as error:
            local_copy(URL)
    finally:
        lat.ask("POST", "/moto-api/reset-auth", b"inf")
    sentence(error.value, URL, "refuses access")


@pytest.mark.parametrize(
    ("url", "says"),
    [("s3://no-such-bucket/lat", "no such bucket"), (f"s3://{BUCKET}/la", "no such object"), ("s3://no-such-bucket", "no such bucket")],
)
def test_a_bucket_or_prefix_that_is_not_there_gives_one_sentence(lat: ObjectServer, url: str, says: str, copies: Path) -> None:
    with pytest.raises((ObjectStoreError, MissingInput)) as error:
        local_copy(url)
    sentence(error.value, url, says)
    assert not copies.exists(), "nothing is written"


def test_a_store_that_is_away_gives_one_sentence(lat: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(ObjectStoreError) as error:
        local_copy(URL)
    sentence(error.value, URL, "does not answer", "AWS_ENDPOINT_URL")


def test_an_object_that_changes_while_it_is_read_is_refused(lat: ObjectServer) -> None:
    lat.before = lambda method, path: lat.put("lat/a.tsv", b"b\ta\n" * 1000) if method == "GET" and "a.tsv" in path else None
    with pytest.raises(InputChanged) as error:
        local_copy(URL)
    sentence(error.value, f"{URL}/a.tsv", "changed while it was read")
    lat.before = None
    assert contents(local_copy(URL)) == FILES | {"a.tsv": b"b\ta\n" * 1000}


def test_an_object_of_which_half_is_sent_is_refused(lat: ObjectServer, copies: Path) -> None:
    lat.fail("GET", "a.tsv", SHORT, times=10**6)
    with pytest.raises(ObjectStoreError) as error:
        local_copy(URL)
    sentence(error.value, f"{URL}/a.tsv", "less of the object than it announced")
    assert "a.tsv" not in [path.name for path in files_below(copies)]


def test_a_full_disk_gives_one_sentence_and_leaves_no_half(
    lat: ObjectServer, small_disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_OBJECTS", str(small_disk.path / "copies"))
    lat.put("lat/big", b"z" * (2 << 20))
    with pytest.raises(StorageError) as error:
        local_copy(URL)
    sentence(error.value, "the disk is full")
    assert {path.name for path in files_below(small_disk.path)} == {"a.tsv", "b.json", "objects.jsonl"}
    small_disk.mount("size=8m")
    assert (local_copy(URL) / "big").stat().st_size == 2 << 20


@pytest.mark.parametrize(("manifest", "field"), [("manifest.json", "files"), ("import.json", "sha256")])
def test_a_list_that_lacks_a_file_of_the_manifest_is_refused(lat: ObjectServer, manifest: str, field: str) -> None:
    lat.put(f"lat/{manifest}", f'{{"{field}": {{"a.tsv": "", "b.json": ""}}}}'.encode())
    lat.hidden.append("lat/b.json")
    with pytest.raises(ObjectStoreError) as error:
        local_copy(URL)
    sentence(error.value, f"{URL}/b.json", manifest, "does not list it")
    lat.hidden.clear()
    assert (local_copy(URL) / "b.json").read_bytes() == FILES["b.json"]


@pytest.mark.parametrize("key", ["lat/../../../evil", "lat/a.tsv/b", "lat//x", "lat/./x", "lat/a\x07b"])
def test_a_key_that_is_no_name_of_a_file_is_refused(lat: ObjectServer, key: str, copies: Path) -> None:
    lat.put(key, b"evil")
    with pytest.raises((BrokenInput, MissingInput)) as error:
        local_copy(URL)
    sentence(error.value, URL)
    assert not [path for path in copies.parent.rglob("*") if path.is_file() and path.read_bytes() == b"evil"]


@pytest.mark.parametrize(("prefix", "url"), [("", f"s3://{BUCKET}"), ("lat/", URL)])
def test_a_folder_below_a_prefix_may_have_its_name(objects: ObjectServer, prefix: str, url: str) -> None:
    name = url.removeprefix("s3://") + "/a"
    objects.put(f"{prefix}{name}", b"a")
    assert contents(local_copy(url)) == {name: b"a"}


@pytest.mark.parametrize(("key", "deep"), [("lat/deeper/a.tsv", False), ("lat/.hidden", False), ("lat/.hidden", True)])
def test_a_prefix_without_an_object_that_counts_gives_one_sentence(objects: ObjectServer, key: str, deep: bool, copies: Path) -> None:
    objects.put(key, b"a")
    with pytest.raises(MissingInput) as error:
        local_copy(URL, deep=deep)
    sentence(error.value, f"{URL}: the store has no object")
    assert not copies.exists(), "nothing is written"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_ENDPOINT_URL", f"http://someone:{SECRET}@127.0.0.1"), ("AWS_ENDPOINT_URL", "127.0.0.1:80"), ("KGQA_OBJECTS_SECONDS", "soon"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:99999"), ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:0"), ("AWS_ENDPOINT_URL", "http://a:b"),
        ("AWS_CA_BUNDLE", "/no/such/file"), ("KGQA_OBJECTS_SECONDS", "0"), ("KGQA_OBJECTS_ANONYMOUS", "yes"),
    ],
)  # fmt: skip
def test_a_setting_that_makes_no_sense_is_refused(lat: ObjectServer, name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as error:
        local_copy(URL)
    sentence(error.value, name)
    assert lat.requests == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLOUD_STORAGE_EMULATOR_ENDPOINT", "nonsense"), ("CLOUD_STORAGE_EMULATOR_ENDPOINT", "http://127.0.0.1:99999"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file"),
    ],
)  # fmt: skip
def test_a_google_setting_that_makes_no_sense_is_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as error:
        local_copy("gs://corpora/lat")
    sentence(error.value, name)


@pytest.mark.parametrize("content", ["{", '{"type": "service_account"}', '{"type": "authorized_user"}', "[]"])
def test_a_file_without_google_credentials_is_named(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key.json").write_text(content)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    monkeypatch.setenv("KGQA_OBJECTS_SECONDS", "0.2")
    with pytest.raises(ObjectStoreError) as error:
        local_copy("gs://corpora/lat")
    sentence(error.value, "gs://corpora/lat", "GOOGLE_APPLICATION_CREDENTIALS", "has no credentials of Google")


def test_missing_google_credentials_are_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GCE_METADATA_ROOT", "127.0.0.1:9")
    monkeypatch.setenv("KGQA_OBJECTS_SECONDS", "0.2")
    with pytest.raises(ObjectStoreError) as error:
        local_copy("gs://corpora/lat")
    sentence(error.value, "gs://corpora/lat", "no credentials of Google", "GOOGLE_APPLICATION_CREDENTIALS")


@pytest.mark.parametrize("name", ["a#b.tsv", "a b%20.tsv", "#"])
def test_a_key_is_taken_as_it_is_written(objects: ObjectServer, name: str) -> None:
    objects.put(f"lat/{name}", b"a")
    assert local_copy(f"{URL}/{name}").read_bytes() == b"a"
    assert contents(local_copy(URL)) == {name: b"a"}


def test_without_credentials_only_what_is_public_is_read(lat: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_OBJECTS_ANONYMOUS", "1")
    lat.put("public/a.tsv", b"public", x_amz_acl="public-read")
    signed: list[bool] = []
    lat.headers = lambda headers: signed.append("Authorization" in headers)
    assert local_copy(f"s3://{BUCKET}/public/a.tsv").read_bytes() == b"public"
    with pytest.raises(ObjectStoreError) as error:
        local_copy(f"{URL}/a.tsv")
    sentence(error.value, URL, "refuses access")
    assert signed
    assert not any(signed)
    monkeypatch.setenv("KGQA_OBJECTS_ANONYMOUS", "0")
    signed.clear()
    local_copy(URL)
    assert all(signed)


KILLED = "import sys; from kgqa.object_store.mirror import local_copy; local_copy(sys.argv[1])"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_copy_that_is_killed_goes_on_with_whole_files(lat: ObjectServer, number: int, copies: Path) -> None:
    lat.fail("GET", "b.json", SILENT, times=1)
    with subprocess.Popen([sys.executable, "-c", KILLED, URL], env=environment()) as process:
        while not lat.asked("GET", "b.json"):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
    assert process.returncode == -number
    assert [path.name for path in files_below(copies) if path.name in {"a.tsv", "b.json"}] == ["a.tsv"]
    reads(lat)
    assert contents(local_copy(URL)) == FILES
    assert "a.tsv" not in reads(lat)


@pytest.mark.slow
def test_two_processes_may_copy_the_same(lat: ObjectServer) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", KILLED, URL], env=environment()) for _ in range(2)]
    assert [process.wait(120) for process in processes] == [0, 0]
    assert contents(local_copy(URL)) == FILES


def test_credentials_are_in_no_file(lat: ObjectServer, copies: Path) -> None:
    local_copy(URL)
    for path in files_below(copies):
        assert KEY_ID.encode() not in path.read_bytes()
        assert SECRET.encode() not in path.read_bytes()
    assert all(os.stat(folder).st_mode & 0o077 == 0 for folder in copies.iterdir()), "others cannot look into a copy"
