"""``kgqa publish``: what is in a publication, and what a hub can do to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import BrokenInput, MissingInput, SettingsError, StorageError
from kgqa.formats import native
from kgqa.formats.huggingface.publication import publication
from kgqa.runs.files import file_hashes
from tests import contents
from tests.command import Outcome, run_command
from tests.conftest import Cli
from tests.hub_server import CUT, TOKEN, Hub, hub_server

REPOSITORY = "someone/capitals"
DATA = [
    "dev.parquet",
    "masked/dev.parquet",
    "masked/test.parquet",
    "masked/train.parquet",
    "rejected.parquet",
    "test.parquet",
    "train.parquet",
]
CROISSANT = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages that read it
FILES = sorted([*DATA, "README.md", "croissant.json", "manifest.json"])


@pytest.fixture
def dataset(seed_wikidata: Path) -> Path:
    return seed_wikidata / "datasets" / "wikihop"


@pytest.fixture
def own_dataset(dataset: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(dataset, tmp_path / "datasets" / "wikihop"))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    with hub_server() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        # Large files go by plain HTTP here; Xet's storage servers speak a protocol of their own.
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
        yield server


def publish(dataset: Path, *options: str, to: str = f"hub:{REPOSITORY}", command: Callable[..., Outcome] = run_command) -> Outcome:
    """The command, which never shows the token. In a process of its own it finds the hub by the environment."""
    outcome = command("publish", dataset, "--to", to, *options)
    assert TOKEN not in outcome.out + outcome.err
    return outcome


@pytest.fixture
def publish_here(hub: Hub, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Outcome]]:
    """The command in this process, where ``huggingface_hub`` has read the environment long ago."""
    from huggingface_hub import close_session, constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    yield partial(publish, command=cli)
    close_session()


class TestAFolder:
    def test_it_loads_with_datasets_which_takes_no_rejected_records(self, dataset: Path, tmp_path: Path) -> None:
        datasets = pytest.importorskip("datasets")
        result = kgqa.publish(dataset, to=tmp_path / "out")
        assert sorted(contents.files(tmp_path / "out")) == FILES == list(result.files)
        cache = str(tmp_path / "cache")
        loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=cache)
        counts = native.manifest_of(dataset)["counts"]
        assert {split: len(rows) for split, rows in loaded.items()} == {
            "train": counts["train"], "validation": counts["dev"], "test": counts["test"],
        }  # fmt: skip
        rejected = datasets.load_dataset(str(tmp_path / "out"), "rejected", cache_dir=cache)
        assert list(rejected) == ["rejected"]
        assert {"reason", "stage"} <= set(rejected["rejected"].column_names)
        # kgqa itself reads it as the dataset that it is.
        assert [i.id for i in kgqa.open_dataset(tmp_path / "out").read("dev")] == [i.id for i in kgqa.open_dataset(dataset).read("dev")]

    def test_the_manifest_has_the_hashes_of_all_files(self, dataset: Path, tmp_path: Path) -> None:
        kgqa.publish(dataset, to=tmp_path / "out")
        hashes = file_hashes(tmp_path / "out")
        hashes.pop("manifest.json")
        assert native.manifest_of(tmp_path / "out")["files"] == hashes

    @CROISSANT
    def test_it_is_valid_croissant_whose_records_can_be_read(self, dataset: Path, tmp_path: Path) -> None:
        mlcroissant = pytest.importorskip("mlcroissant")
        kgqa.publish(dataset, to=tmp_path / "out")
        described = mlcroissant.Dataset(tmp_path / "out" / "croissant.json")
        assert not described.metadata.ctx.issues.errors
        # No date: the same dataset has the same bytes, whenever it is published.
        assert [warning for warning in described.metadata.ctx.issues.warnings if "datePublished" not in warning] == []
        metadata = described.metadata
        assert (metadata.name, metadata.license, metadata.in_language) == ("wikihop", ["https://spdx.org/licenses/Apache-2.0.html"], ["en"])
        assert "@article{welbl" in metadata.cite_as
        for split in ("dev", "masked/dev"):
            whole = list(native.read(tmp_path / "out" / f"{split}.parquet"))
            records = list(described.records(split))
            assert [record[f"{split}/id"].decode() for record in records] == [instance.id for instance in whole]
            titles = [paragraph[f"{split}/paragraphs/title"].decode() for paragraph in records[0][f"{split}/paragraphs"]]
            assert titles == [paragraph.title for paragraph in whole[0].paragraphs]
        assert next(iter(described.records("rejected")))["rejected/reason"]

    def test_twice_is_the_same(self, dataset: Path, tmp_path: Path) -> None:
        for name in ("one", "two", "one"):
            kgqa.publish(dataset, to=tmp_path / name)
        assert contents.files(tmp_path / "one") == contents.files(tmp_path / "two")
        (tmp_path / "two" / "mine.txt").write_text("x")
        with pytest.raises(StorageError, match="already there; choose another --to"):
            kgqa.publish(dataset, to=tmp_path / "two")

    def test_a_published_dataset_is_published_again(self, dataset: Path, tmp_path: Path) -> None:
        first, second = tmp_path / "a" / dataset.name, tmp_path / "b" / dataset.name
        kgqa.publish(dataset, to=first)
        kgqa.publish(first, to=second)
        files = [path.relative_to(first) for path in sorted(first.rglob("*")) if path.is_file()]
        assert [path.relative_to(second) for path in sorted(second.rglob("*")) if path.is_file()] == files
        assert all((first / name).read_bytes() == (second / name).read_bytes() for name in files)

    def test_a_dry_run_writes_nothing(self, dataset: Path, tmp_path: Path) -> None:
        outcome = publish(dataset, "--dry-run", to=str(tmp_path / "out"))
        assert (outcome.status, outcome.err, contents.files(tmp_path)) == (0, "", {})
        assert all(name in outcome.out for name in FILES)
        assert "Nothing was written." in outcome.out

    def test_no_path_of_this_machine_is_published(self, own_dataset: Path, tmp_path: Path) -> None:
        manifest = native.manifest_of(own_dataset)
        manifest["passed"] |= {"domain": "/srv/jo/thesis/mine.toml", "model": r"D:\jo\model", "note": "a/b and /c"}
        (own_dataset / "manifest.json").write_text(json.dumps(manifest))
        kgqa.publish(own_dataset, to=tmp_path / "out")
        passed = native.manifest_of(tmp_path / "out")["passed"]
        assert (passed["domain"], passed["model"], passed["note"]) == ("mine.toml", "model", "a/b and /c")
        with (own_dataset / "README.md").open("a") as card:
            card.write(f"Made in {own_dataset.parent}/scripts.\n")
        with pytest.raises(SettingsError, match=r"README\.md: this text contains the folder .* of this machine"):
            kgqa.publish(own_dataset, to=tmp_path / "again")
        assert not (tmp_path / "again").exists()

    def test_no_place_in_an_object_store_is_published(self, own_dataset: Path, tmp_path: Path) -> None:
        manifest = native.manifest_of(own_dataset)
        manifest["passed"] |= {
            "source": "s3://private-bucket/team/wiki",
            "sets": ["gs://private-bucket/team/a.json", "s3://private-bucket/"],
        }
        manifest["url"] = "s3://private-bucket/team//latest/"
        (own_dataset / "manifest.json").write_text(json.dumps(manifest))
        kgqa.publish(own_dataset, to=tmp_path / "out")
        published = native.manifest_of(tmp_path / "out")
        assert (published["passed"]["source"], published["passed"]["sets"], published["url"]) == ("wiki", ["a.json", "s3"], "latest")
        assert "private-bucket" not in "".join((tmp_path / "out" / name).read_text("utf-8") for name in FILES if name not in DATA)

    def test_no_key_and_nothing_foreign_is_published(self, own_dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (own_dataset / ".env").write_text("OPENAI_API_KEY=sk-0123456789")
        assert kgqa.publish(own_dataset, to=tmp_path / "out").left_out == [".env"]
        assert not (tmp_path / "out" / ".env").exists()
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
        with (own_dataset / "README.md").open("a") as card:
            card.write("sk-0123456789\n")
        with pytest.raises(SettingsError, match="the value of OPENAI_API_KEY is in this text") as caught:
            kgqa.publish(own_dataset, to=tmp_path / "again")
        assert "sk-0123456789" not in str(caught.value)

    def test_what_is_no_finished_dataset_is_refused(self, own_dataset: Path, tmp_path: Path) -> None:
        with (own_dataset / "train.parquet").open("ab") as file:
            file.write(b"x")
        with pytest.raises(BrokenInput, match=r"train\.parquet: this is not the file that the manifest names"):
            kgqa.publish(own_dataset, to=tmp_path / "out")
        (own_dataset / "train.parquet").unlink()
        with pytest.raises(MissingInput, match=r"train\.parquet: this part of the dataset is missing"):
            kgqa.publish(own_dataset, to=tmp_path / "out")
        manifest = native.manifest_of(own_dataset)
        for spoiled in ({**manifest, "files": {**manifest["files"], "../secret.parquet": "0"}}, {**manifest, "files": {}}):
            (own_dataset / "manifest.json").write_text(json.dumps(spoiled))
            with pytest.raises(MissingInput, match="this is not a finished dataset of kgqa"):
                kgqa.publish(own_dataset, to=tmp_path / "out")
        with pytest.raises(MissingInput, match="this is not a finished dataset of kgqa"):
            kgqa.publish(tmp_path, to=tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_places_that_are_none(self, dataset: Path, tmp_path: Path) -> None:
        with pytest.raises(StorageError, match="this is inside the dataset"):
            kgqa.publish(dataset, to=dataset / "out")
        with pytest.raises(SettingsError, match="--public is for the hub"):
            kgqa.publish(dataset, to=tmp_path / "out", public=True)
        with pytest.raises(SettingsError, match="a ftp:// URL is not read here"):
            kgqa.publish(dataset, to="ftp://x/y")
        for name in ("hub:capitals", "hub:", "hub:a/b/c", "hub:some one/x", "hub:-a/b"):
            with pytest.raises(SettingsError, match="a dataset on the hub is named hub:OWNER/NAME"):
                kgqa.publish(dataset, to=name)

    @CROISSANT
    @pytest.mark.parametrize("kind", ["sufficiency", "probe"])
    def test_a_contrast_is_published_too(self, kind: str, dataset: Path, tmp_path: Path) -> None:
        mlcroissant = pytest.importorskip("mlcroissant")
        kgqa.contrast(kind, dataset, out=tmp_path / "set")
        kgqa.publish(tmp_path / "set", to=tmp_path / "out")
        assert not mlcroissant.Dataset(tmp_path / "out" / "croissant.json").metadata.ctx.issues.errors


class TestAHub:
    def test_a_new_dataset_is_private_and_arrives_in_one_commit(self, hub: Hub, dataset: Path) -> None:
        outcome = publish(dataset)
        assert (outcome.status, outcome.err) == (0, "")
        repository = hub.repositories[REPOSITORY]
        assert repository.private
        assert repository.commits == [FILES]
        files = publication(dataset, repository=REPOSITORY, page=f"{hub.address}/datasets/{REPOSITORY}")
        for name in DATA:
            assert repository.files[name] == (dataset / name).read_bytes()
        card = repository.files["README.md"].decode()
        assert f'load_dataset("{REPOSITORY}", "masked", split="train")' in card
        assert '"FOLDER"' not in card
        assert json.loads(repository.files["croissant.json"])["url"] == f"{hub.address}/datasets/{REPOSITORY}"
        assert hub.names(REPOSITORY) == list(files)
        assert TOKEN.encode() not in b"".join(repository.files.values())

    def test_again_uploads_nothing_and_a_change_uploads_what_changed(
        self, hub: Hub, own_dataset: Path, publish_here: Callable[..., Outcome]
    ) -> None:
        publish_here(own_dataset)
        uploads = list(hub.uploads)
        assert publish_here(own_dataset).status == 0
        assert (hub.uploads, len(hub.repositories[REPOSITORY].commits)) == (uploads, 1)
        with (own_dataset / "README.md").open("a") as card:
            card.write("\nSeen by the port office.\n")
        dry = publish_here(own_dataset, "--dry-run")
        assert [line.split()[-1] for line in dry.out.splitlines() if "README.md" in line or "manifest.json" in line] == ["│", "│"]
        assert publish_here(own_dataset).status == 0
        assert hub.repositories[REPOSITORY].commits[1:] == [["README.md", "manifest.json"]]
        assert hub.uploads == uploads

    def test_a_dry_run_changes_nothing(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        outcome = publish_here(dataset, "--dry-run")
        assert (outcome.status, outcome.err, hub.repositories) == (0, "", {})
        assert "(new, private): 10 files" in outcome.out
        assert {line.partition(" ")[0] for line in hub.requests} == {"GET"}

    def test_public_is_asked_for(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        assert publish_here(dataset).status == 0
        assert publish_here(dataset, "--public").status == 0
        assert not hub.repositories[REPOSITORY].private
        publish_here(dataset).sentence("this dataset is public already; give --public")
        hub.repositories.clear()
        assert publish_here(dataset, "--public").status == 0
        assert not hub.repositories[REPOSITORY].private

    def test_what_others_put_there_stays(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        publish_here(dataset)
        hub.repositories[REPOSITORY].files["notes.md"] = b"x"
        assert "There already, and kept: notes.md" in publish_here(dataset).out

    @pytest.mark.parametrize("status", [CUT, 500, 503])
    def test_a_fault_that_passes_is_not_seen(self, status: int, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        hub.fail("PUT", "/storage/", status, times=1)
        hub.fail("POST", "/preupload/", status, times=1)
        assert publish_here(dataset).status == 0
        assert hub.repositories[REPOSITORY].commits == [FILES]

    def test_what_was_uploaded_is_not_uploaded_again(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        hub.fail("POST", "/commit/", CUT)
        publish_here(dataset).sentence(
            "hub:someone/capitals: the hub cannot be reached, or the connection broke", "goes on with what is missing"
        )
        assert len(hub.uploads) == len(set(hub.uploads)) == len(DATA)
        assert hub.repositories[REPOSITORY].commits == []
        assert publish_here(dataset).status == 0
        assert len(hub.uploads) == len(DATA)
        assert hub.repositories[REPOSITORY].commits == [FILES]

    def test_some_files_that_did_not_arrive(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        hub.fail("PUT", "/storage/", 403, times=2)
        publish_here(dataset).sentence("no right to write")
        assert 0 < len(hub.uploads) < len(DATA) - 1
        assert publish_here(dataset).status == 0
        assert len(hub.uploads) == len(set(hub.uploads)) == len(DATA)

    @pytest.mark.slow  # the package tries six times, for half a minute
    def test_a_connection_that_stays_broken(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        hub.fail("PUT", "/storage/", CUT, times=1000)
        publish_here(dataset).sentence("cannot be reached, or the connection broke")
        assert hub.repositories[REPOSITORY].commits == []

    @pytest.mark.parametrize(
        ("method", "part", "status", "words"),
        [
            ("GET", "/api/whoami", 401, "does not accept the token in HF_TOKEN"),
            ("GET", "/api/datasets", 403, "no right to write there"),
            ("POST", "/api/repos/create", 403, "no right to write there; give it that right, or choose another owner"),
            ("POST", "/api/repos/create", 404, "has no such owner or dataset"),
            ("POST", "/api/repos/create", 500, "fails with status 500; wait a while"),
            ("POST", "/preupload/", 404, "has no such owner or dataset"),
            ("POST", "/commit/", 403, "no right to write"),
            ("POST", "/commit/", 412, "has changed meanwhile"),
            ("POST", "/commit/", 503, "fails with status 503"),
            ("GET", "/api/whoami", CUT, "cannot be reached, or the connection broke"),
        ],
    )
    def test_each_refusal_is_one_sentence(
        self, method: str, part: str, status: int, words: str, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]
    ) -> None:
        hub.fail(method, part, status, times=1000)
        publish_here(dataset).sentence(f"hub:{REPOSITORY}: the hub", words)

    def test_a_card_that_the_hub_refuses(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        hub.complaint = '"license" must be one of [apache-2.0]'
        publish_here(dataset).sentence('refuses what it was sent (Invalid metadata in README.md. - "license" must be one of', "fix it")
        assert hub.uploads == []

    def test_an_owner_who_is_somebody_else(self, hub: Hub, dataset: Path, publish_here: Callable[..., Outcome]) -> None:
        publish_here(dataset, to="hub:else/capitals").sentence("no right to write there; give it that right, or choose another owner")
        assert hub.repositories == {}

    def test_a_token_is_needed_and_only_the_environment_has_it(
        self, hub: Hub, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HF_TOKEN")
        (tmp_path / "huggingface").mkdir()
        (tmp_path / "huggingface" / "token").write_text(TOKEN)
        publish(dataset).sentence("needs a token with the right to write; set it as HF_TOKEN in the environment")
        monkeypatch.setenv("HF_TOKEN", "hf_wrong")
        publish(dataset).sentence("does not accept the token in HF_TOKEN")
        assert hub.repositories == {}

    def test_no_hub_at_all(self, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        publish(dataset).sentence("cannot be reached")
