"""Commands on ``s3://`` URLs: the same bytes as from a folder, a dataset that is whole or none, one sentence for what fails."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import BrokenInput, ObjectStoreError
from kgqa.runs.files import file_hashes, files_below
from tests.command import Outcome, run_command
from tests.conftest import Cli
from tests.object_server import BUCKET, CUT, KEY_ID, SECRET, ObjectServer
from tests.small_single_hops import single_hop

SEED = Path(__file__).resolve().parents[2] / "seeds"
PUBLISHED = f"s3://{BUCKET}/published/wikihop"
PREFIX = "published/wikihop"


@pytest.fixture
def dataset(seed_wikidata: Path) -> Path:
    return seed_wikidata / "datasets" / "wikihop"


@pytest.fixture
def changed(dataset: Path, tmp_path: Path) -> Path:
    """The dataset with another card, and without its rejected questions."""
    folder = Path(shutil.copytree(dataset, tmp_path / "changed" / "wikihop"))
    (folder / "README.md").write_text((folder / "README.md").read_text("utf-8") + "\nAnother line.\n", "utf-8")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    del manifest["files"]["rejected.parquet"]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (folder / "rejected.parquet").unlink()
    return folder


def without_place(manifest: Path) -> dict[str, object]:
    """A manifest without times and the place of its source."""
    content: dict[str, object] = json.loads(manifest.read_text("utf-8"))
    del content["seconds"]
    passed = content["passed"]
    assert isinstance(passed, dict)
    del passed["source"]
    return content


def secrets_in(*folders: Path) -> list[Path]:
    return [
        path
        for folder in folders
        for path in files_below(folder)
        if {*map(path.read_bytes().count, (KEY_ID.encode(), SECRET.encode()))} != {0}
    ]


def test_a_source_in_a_store_gives_the_same_bytes_as_a_folder(objects: ObjectServer, tmp_path: Path, cli: Cli) -> None:
    source = Path(shutil.copytree(SEED / "wikidata", tmp_path / "lat"))
    objects.put_folder(source, "sources/lat")
    objects.put("sources/lat/deeper/other.tsv", b"not read")
    url = f"s3://{BUCKET}/sources/lat"
    kgqa.generate("wikidata", source=source, workspace=tmp_path / "folder")
    outcome = cli("generate", "--domain", "wikidata", "--source", url, "--workspace", tmp_path / "store")
    assert outcome.status == 0, outcome.err
    local, remote = (tmp_path / name / "datasets" / "wikihop" for name in ("folder", "store"))
    hashes = file_hashes(local)
    assert hashes.pop("manifest.json")
    assert {name: digest for name, digest in file_hashes(remote).items() if name != "manifest.json"} == hashes
    assert without_place(remote / "manifest.json") == without_place(local / "manifest.json")
    manifest = json.loads((remote / "manifest.json").read_text("utf-8"))
    assert manifest["passed"]["source"] == url
    assert manifest["inputs"] == {name: digest for name, digest in file_hashes(source).items() if name in manifest["inputs"]}
    assert len(manifest["inputs"]) == 4
    assert not objects.asked("GET", "other.tsv")
    assert str(tmp_path) not in (remote / "manifest.json").read_text("utf-8") + (remote / "README.md").read_text("utf-8")
    plan = cli("generate", "--domain", "wikidata", "--source", url, "--workspace", tmp_path / "store", "--dry-run")
    assert url in plan.out
    assert plan.out.count("finished before") == 10
    assert secrets_in(tmp_path) == []
    assert KEY_ID not in outcome.out + outcome.err + plan.out + plan.err


def test_files_to_import_may_be_objects(objects: ObjectServer, tmp_path: Path, cli: Cli) -> None:
    edges, texts = tmp_path / "edges.tsv", tmp_path / "texts.jsonl"
    edges.write_text("head\trelation\ttail\na\tr\tb\nb\tr\tc\n", "utf-8")
    texts.write_text('{"id": "d1", "title": "A", "text": "a and b"}\n', "utf-8")
    objects.put("in/edges.tsv", edges.read_bytes())
    objects.put("in/texts.jsonl", texts.read_bytes())
    for out, places in (("local", [edges, texts]), ("remote", [f"s3://{BUCKET}/in/edges.tsv", f"s3://{BUCKET}/in/texts.jsonl"])):
        for format_name, place in zip(("edges", "texts"), places, strict=True):
            outcome = cli("import", format_name, place, "--out", tmp_path / out)
            assert outcome.status == 0, outcome.err
    local, remote = (json.loads((tmp_path / out / "import.json").read_text("utf-8")) for out in ("local", "remote"))
    assert local["sha256"] == remote["sha256"]
    assert [entry.pop("url") for entry in remote["sources"]] == [f"s3://{BUCKET}/in/edges.tsv", f"s3://{BUCKET}/in/texts.jsonl"]
    assert local["sources"] == remote["sources"]


def test_sets_to_compose_from_may_be_in_a_store(objects: ObjectServer, tmp_path: Path, cli: Cli) -> None:
    source, url = single_hop(tmp_path / "set") / "train.parquet", f"s3://{BUCKET}/sets/train.parquet"
    objects.put("sets/train.parquet", source.read_bytes())
    local = kgqa.compose(source, filter="none", workspace=tmp_path / "local")
    outcome = cli("compose", url, "--filter", "none", "--workspace", tmp_path / "remote")
    assert outcome.status == 0, outcome.err
    remote = tmp_path / "remote" / "datasets" / local.dataset.name
    assert {**file_hashes(remote), "manifest.json": ""} == {**file_hashes(local.dataset), "manifest.json": ""}
    ours, theirs = (json.loads((folder / "manifest.json").read_text("utf-8")) for folder in (local.dataset, remote))
    assert (ours["passed"]["sets"], theirs["passed"]["sets"]) == (["train.parquet"], [url])
    assert ours["inputs"] == theirs["inputs"]


def test_a_published_dataset_is_read_as_its_folder_is(objects: ObjectServer, dataset: Path, tmp_path: Path, cli: Cli) -> None:
    kgqa.publish(dataset, to=tmp_path / "wikihop")
    result = kgqa.publish(dataset, to=PUBLISHED)
    assert (result.is_new, result.place, set(result.changes.values())) == (True, PUBLISHED, {"new"})
    names = [path.relative_to(tmp_path / "wikihop").as_posix() for path in files_below(tmp_path / "wikihop")]
    assert {name: objects.get(f"{PREFIX}/{name}") for name in names} == {name: (tmp_path / "wikihop" / name).read_bytes() for name in names}
    assert objects.keys(PREFIX) == sorted(f"{PREFIX}/{name}" for name in names)
    puts = [request.partition("?")[0] for request in objects.requests if request.startswith("PUT")]
    assert puts[-1] == f"PUT /{BUCKET}/{PREFIX}/manifest.json"
    assert cli("show", PUBLISHED).out == cli("show", tmp_path / "wikihop").out
    for place, name in ((PUBLISHED, "remote"), (tmp_path / "wikihop", "local")):
        outcome = cli("convert", place, "--to", "native", "--out", tmp_path / name)
        assert outcome.status == 0, outcome.err
    local, remote = (json.loads((tmp_path / name / "manifest.json").read_text("utf-8")) for name in ("local", "remote"))
    assert remote.pop("url") == PUBLISHED
    assert local == remote
    assert kgqa.open_dataset(PUBLISHED).url == PUBLISHED


def test_a_dry_run_lists_files_and_sizes_and_writes_nothing(objects: ObjectServer, dataset: Path, cli: Cli) -> None:
    outcome = cli("publish", dataset, "--to", PUBLISHED, "--dry-run")
    assert outcome.status == 0
    for part in ("train.parquet", "masked/dev.parquet", "manifest.json", "kB", "Nothing was written", PUBLISHED):
        assert part in outcome.out
    assert objects.keys() == []


def test_a_dataset_that_is_there_is_replaced_only_if_asked(objects: ObjectServer, dataset: Path, changed: Path, cli: Cli) -> None:
    kgqa.publish(dataset, to=PUBLISHED)
    objects.put(f"{PREFIX}/notes.txt", b"ours")
    objects.requests.clear()
    assert set(kgqa.publish(dataset, to=PUBLISHED).changes.values()) == {"unchanged"}
    assert not objects.asked("PUT", "")
    cli("publish", changed, "--to", PUBLISHED).sentence(PUBLISHED, "--replace")
    assert not objects.asked("PUT", "")
    result = kgqa.publish(changed, to=PUBLISHED, replace=True)
    assert result.changes["README.md"] == result.changes["manifest.json"] == "changed"
    assert result.changes["train.parquet"] == "unchanged"
    assert result.kept == ["notes.txt"]
    assert not objects.asked("PUT", "train.parquet")
    assert f"{PREFIX}/rejected.parquet" not in objects.keys(PREFIX)
    assert objects.get(f"{PREFIX}/notes.txt") == b"ours"
    assert set(kgqa.publish(changed, to=PUBLISHED).changes.values()) == {"unchanged"}
    deleted = next(number for number, request in enumerate(objects.requests) if request.startswith("DELETE") and "manifest.json" in request)
    puts = [number for number, request in enumerate(objects.requests) if re.match(r"PUT [^?]*[^/?](\?|$)", request)]  # none of a folder
    assert deleted < puts[0]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", ["manifest.json", "notes.txt"])
def test_what_others_put_there_is_never_replaced(objects: ObjectServer, dataset: Path, name: str, replace: bool) -> None:
    objects.put(f"{PREFIX}/{name}", b'{"files": {}}')
    with pytest.raises(ObjectStoreError, match=name.replace(".", r"\.")):
        kgqa.publish(dataset, to=PUBLISHED, replace=replace)
    assert objects.keys(PREFIX) == [f"{PREFIX}/{name}"]
    assert objects.get(f"{PREFIX}/{name}") == b'{"files": {}}'


def test_an_object_of_others_beside_a_dataset_is_not_replaced_either(objects: ObjectServer, dataset: Path, changed: Path) -> None:
    kgqa.publish(changed, to=PUBLISHED)
    objects.put(f"{PREFIX}/rejected.parquet", b"ours")
    with pytest.raises(ObjectStoreError, match=r"rejected\.parquet"):
        kgqa.publish(dataset, to=PUBLISHED, replace=True)
    assert objects.get(f"{PREFIX}/rejected.parquet") == b"ours"


def test_an_upload_that_breaks_leaves_no_whole_dataset_and_can_be_repeated(
    objects: ObjectServer, dataset: Path, cli: Cli, tmp_path: Path
) -> None:
    objects.fail("PUT", "test.parquet", 403, times=10**6)
    cli("publish", dataset, "--to", PUBLISHED).sentence(f"{PUBLISHED}/masked/test.parquet", "refuses access")
    left = objects.keys(PREFIX)
    assert left
    assert f"{PREFIX}/manifest.json" not in left
    objects.faults.clear()
    objects.put(f"{PREFIX}/train.parquet", (dataset / "train.parquet").read_bytes())
    with pytest.raises(BrokenInput, match="its upload did not end"):
        kgqa.open_dataset(PUBLISHED)
    cli("show", PUBLISHED).sentence(PUBLISHED, "its upload did not end")
    cli("publish", dataset, "--to", PUBLISHED).sentence("broke", "--replace")
    assert kgqa.publish(dataset, to=PUBLISHED, replace=True).is_new is False
    assert kgqa.open_dataset(PUBLISHED).format == "native"


@pytest.mark.parametrize(("method", "name"), [("DELETE", "rejected.parquet"), ("DELETE", "manifest.json"), ("PUT", "README.md")])
def test_a_replacement_that_breaks_can_be_repeated(objects: ObjectServer, dataset: Path, changed: Path, method: str, name: str) -> None:
    kgqa.publish(dataset, to=PUBLISHED)
    objects.fail(method, name, 403, times=10**6)
    with pytest.raises(ObjectStoreError, match="refuses access"):
        kgqa.publish(changed, to=PUBLISHED, replace=True)
    objects.faults.clear()
    if method == "PUT" or name == "manifest.json":
        with pytest.raises((BrokenInput, ObjectStoreError)):
            kgqa.open_dataset(PUBLISHED)
    kgqa.publish(changed, to=PUBLISHED, replace=True)
    assert kgqa.open_dataset(PUBLISHED).format == "native"
    assert f"{PREFIX}/rejected.parquet" not in objects.keys(PREFIX)


def test_a_twin_is_whole_if_the_manifest_above_it_says_so(objects: ObjectServer, dataset: Path) -> None:
    kgqa.publish(dataset, to=PUBLISHED)
    twin = kgqa.open_dataset(f"{PUBLISHED}/masked")
    assert [sample.id for sample in twin.read("dev")] == [sample.id for sample in kgqa.open_dataset(dataset / "masked").read("dev")]
    content = objects.get(f"{PREFIX}/masked/dev.parquet")
    objects.put(f"{PREFIX}/masked/dev.parquet", objects.get(f"{PREFIX}/masked/test.parquet"))
    with pytest.raises(BrokenInput, match="its upload did not end"):
        kgqa.open_dataset(f"{PUBLISHED}/masked")
    objects.put(f"{PREFIX}/masked/dev.parquet", content)
    objects.delete(f"{PREFIX}/manifest.json")
    with pytest.raises(BrokenInput, match="its upload did not end"):
        kgqa.open_dataset(f"{PUBLISHED}/masked")


def test_the_command_that_reads_a_dataset_is_quoted_for_the_shell(objects: ObjectServer, dataset: Path, cli: Cli) -> None:
    assert f"kgqa show 's3://{BUCKET}/a $b'" in cli("publish", dataset, "--to", f"s3://{BUCKET}/a $b").out


def test_a_file_that_is_not_what_the_manifest_says_is_named(objects: ObjectServer, dataset: Path, cli: Cli) -> None:
    kgqa.publish(dataset, to=PUBLISHED)
    objects.put(f"{PREFIX}/dev.parquet", (dataset / "test.parquet").read_bytes())
    cli("show", PUBLISHED).sentence(f"{PUBLISHED}/dev.parquet", "is not what manifest.json says")


def test_an_upload_of_which_the_store_lacks_a_file_gets_no_manifest(objects: ObjectServer, dataset: Path, cli: Cli) -> None:
    objects.hidden.append(f"{PREFIX}/dev.parquet")
    cli("publish", dataset, "--to", PUBLISHED).sentence(f"{PUBLISHED}/dev.parquet", "after the upload")
    assert f"{PREFIX}/manifest.json" not in objects.keys(PREFIX)


def test_an_upload_goes_on_after_a_fault_that_passes(objects: ObjectServer, dataset: Path) -> None:
    objects.fail("PUT", "train.parquet", 503, times=2)
    objects.fail("PUT", "manifest.json", CUT, times=1)
    kgqa.publish(dataset, to=PUBLISHED)
    assert kgqa.open_dataset(PUBLISHED).format == "native"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["publish", "DATASET", "--to", "s3://no-such-bucket/x"], ["s3://no-such-bucket/x", "no such bucket"]),
        (["publish", "DATASET", "--to", "s3://someone:secret@corpora/x"], ["user name or password"]),
        (["publish", "DATASET", "--to", f"s3://{BUCKET}/x", "--public"], ["--public is for the hub"]),
        (["publish", "DATASET", "--to", "elsewhere", "--replace"], ["--replace is for s3://"]),
        (["publish", "DATASET", "--to", "hub:a/b", "--replace"], ["--replace is for s3://"]),
        (["show", "s3://no-such-bucket/x"], ["no such bucket"]),
        (["show", f"s3://{BUCKET}/x"], ["no such object"]),
        (["evaluate", f"s3://{BUCKET}/x?secret=1", "predictions.json"], ["query string"]),
        (["audit", "https://user:secret@example.org/x"], ["https://"]),
        (["generate", "--domain", "wikidata", "--source", f"s3://{BUCKET}/x", "--workspace", "w"], ["no such object"]),
        (["compose", "--domain", "companies", "--source", f"s3://{BUCKET}/x", "--workspace", "w"], ["no such object"]),
        (["relations", "wikidata", "--source", f"s3://{BUCKET}/x", "--workspace", "w"], ["no such object"]),
        (["validate", "wikidata", "--source", f"s3://{BUCKET}/x", "--workspace", "w"], ["no such object"]),
        (["estimate", "wikidata", "--source", f"s3://{BUCKET}/x", "--workspace", "w"], ["no such object"]),
        (["import", "edges", f"s3://{BUCKET}/x.tsv", "--out", "tables"], ["no such object"]),
        (["import", "edges", "edges.tsv", "--out", "s3://no-such-bucket/tables"], ["s3://no-such-bucket/tables", "no such bucket"]),
        (["import", "edges", "edges.tsv", "--out", f"s3://{BUCKET}/tables"], ["edges.tsv"]),
        (["generate", "--domain", "wikidata", "--workspace", "s3://no-such-bucket/w"], ["no such bucket"]),
        (["query", "hubs", "--workspace", f"s3://{BUCKET}/none"], ["there is no graph in this workspace", f"s3://{BUCKET}/none"]),
        (["load", "--workspace", f"s3://{BUCKET}/none"], ["there is no graph in this workspace"]),
        (["generate", "--domain", "wikidata", "--workspace", "hf://o/n"], ["a hf:// URL is not read here"]),
        (["generate", "--domain", "wikidata", "--workspace", f"s3://key:{SECRET}@corpora/w"], ["user name or password"]),
        (["convert", "DATASET", "--to", "musique", "--out", f"s3://{BUCKET}/w"], ["writes on this machine"]),
        (["split", "DATASET", "--out", f"gs://{BUCKET}/w"], ["writes on this machine"]),
        (["audit", "DATASET", "--out", f"s3://{BUCKET}/w"], ["writes on this machine"]),
        (["train", "majority", "DATASET", "--out", f"s3://{BUCKET}/w"], ["writes on this machine"]),
        (["predict", "majority", "DATASET", "--out", f"s3://{BUCKET}/w"], ["writes on this machine"]),
        (["init", f"s3://{BUCKET}/w"], []),
    ],
)  # fmt: skip
def test_a_mistake_gets_one_sentence_and_leaves_nothing(
    objects: ObjectServer, dataset: Path, arguments: list[str], parts: list[str], cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "place").mkdir()
    monkeypatch.chdir(tmp_path / "place")
    sentence = cli(*[str(dataset) if argument == "DATASET" else argument for argument in arguments]).sentence(*parts)
    assert "secret" not in sentence
    assert list(Path().iterdir()) == []
    assert objects.keys() == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "SET", "--to", "musique", "--out"), ("split", "SET", "--out"),
        ("contrast", "unanswerable", "SET", "--out"), ("audit", "SET", "--out"),
        ("train", "majority", "SET", "--out"), ("predict", "majority", "SET", "--out"), ("evaluate", "SET", "predictions.json", "--json"),
        ("export", "SET", "--to", "musique", "--out"),
    ],
)  # fmt: skip
def test_a_url_to_write_to_is_refused_as_given_before_the_store_is_asked(objects: ObjectServer, arguments: list[str], cli: Cli) -> None:
    url = f"s3://{BUCKET}/results"
    cli(*[f"s3://{BUCKET}/set" if argument == "SET" else argument for argument in arguments], url).sentence(f"kgqa: {url}: kgqa writes")
    assert objects.requests == []


def test_the_command_as_a_process_of_its_own(objects: ObjectServer, dataset: Path) -> None:
    def run(*arguments: str | Path) -> Outcome:
        outcome = run_command(*arguments)
        assert KEY_ID not in outcome.out + outcome.err
        assert SECRET not in outcome.out + outcome.err
        return outcome

    assert run("publish", dataset, "--to", PUBLISHED).status == 0
    assert run("show", PUBLISHED).status == 0
    objects.fail("GET", "list-type", 403, times=10**6)
    run("show", PUBLISHED).sentence(PUBLISHED, "refuses access")


def test_a_file_url_is_the_folder_itself(dataset: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("show", dataset.resolve().as_uri()).out == cli("show", dataset).out
    kgqa.publish(dataset.as_uri(), to=(tmp_path / "published").as_uri())
    kgqa.publish(dataset, to=tmp_path / "again")
    assert file_hashes(tmp_path / "published") == file_hashes(tmp_path / "again")
