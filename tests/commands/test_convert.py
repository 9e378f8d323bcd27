"""``kgqa convert``: what was written is read again and compared, and nothing half-written is left."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.errors import BrokenInput, EmptyResult, GoldLost, KgqaError, MissingInput, SettingsError, StorageError
from kgqa.formats import native
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FORMATS
from kgqa.records import Instance
from tests.command import COMMAND, ROOT, environment
from tests.conftest import Cli, SmallDisk

RECORD: dict[str, Any] = {
    "_id": "q1",
    "question": "Which river flows through the town where the mill of Aldern stands?",
    "answer": "the Sill",
    "type": "bridge",
    "level": "easy",
    "supporting_facts": [["Mill of Aldern", 1], ["Harne", 0]],
    "context": [
        ["Mill of Aldern", ["The mill of Aldern grinds rye.", " It stands in Harne."]],
        ["Harne", ["Harne lies on the Sill."]],
        ["Harne", ["Harne is also a breed of sheep."]],
    ],
}


def hotpotqa(folder: Path, *ids: str, name: str = "some_dev.json") -> Path:
    path = folder / name
    path.write_text(json.dumps([{**RECORD, "_id": key} for key in ids or ("q1", "q2")]), "utf-8")
    return path


def test_to_our_own_form_and_back_nothing_is_lost(tmp_path: Path) -> None:
    path = hotpotqa(tmp_path)
    there = kgqa.convert(path, to="native", out=tmp_path / "native")
    assert (there.source.format, there.source.recognised, there.counts, there.changed) == ("hotpotqa", True, {"dev": 2}, {})
    assert {file.name for file in there.files} == {"dev.parquet", "README.md", "manifest.json"}
    back = kgqa.convert(tmp_path / "native", to="hotpotqa", out=tmp_path / "again.json")
    assert (back.source.format, back.changed, back.files) == ("native", {}, (tmp_path / "again.json",))
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(path.read_text("utf-8"))
    manifest = json.loads((tmp_path / "native" / "manifest.json").read_text("utf-8"))
    assert (manifest["from"], manifest["counts"], list(manifest["inputs"])) == ("hotpotqa", {"dev": 2}, ["some_dev.json"])
    kgqa.convert(tmp_path / "native", to="native", out=tmp_path / "again")
    assert kgqa.open_dataset(tmp_path / "again").origin == "hotpotqa"


def test_what_a_format_cannot_hold_is_counted(seed_wikidata: Path, tmp_path: Path) -> None:
    dataset = seed_wikidata / "datasets" / "wikihop"
    counts = {split: pq.read_metadata(path).num_rows for split, path in native.split_files(dataset).items()}
    with pytest.raises(GoldLost, match=r"lose gold: .*candidates \("):
        kgqa.convert(dataset, to="hotpotqa", out=tmp_path / "h")
    assert not (tmp_path / "h").exists()
    result = kgqa.convert(dataset, to="hotpotqa", out=tmp_path / "h", lossy=True)
    assert result.counts == counts
    total = sum(counts.values())
    for part in ("candidates", "chains", "paragraph ids", "mentions", "answer_id", "note recipe"):
        assert result.changed[part] == total
    assert result.changed["answers"] < total  # where there are aliases
    assert not {"question", "texts", "titles", "supporting paragraphs"} & set(result.changed)
    assert {path.name for path in result.files} == {f"{split}.json" for split in counts}


def a_format(monkeypatch: pytest.MonkeyPatch, read_again: Callable[[list[Instance]], Iterable[Instance]]) -> str:
    """A format that is native but for the questions that come back."""
    name = "faulty"
    module = ModuleType(f"kgqa.formats.{name}")
    settings = {"PURPOSE": "a fault", "SUFFIX": ".parquet", "write": native.write, "read": lambda path: read_again(list(native.read(path)))}
    module.__dict__.update(settings)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(FORMATS, name, module.__name__)
    return name


def renamed(*instances: Instance) -> list[Instance]:
    return [replace(instance, id=f"no. {number}") for number, instance in enumerate(instances)]


@pytest.mark.parametrize(
    ("read_again", "changed"),
    [
        (lambda found: [*found, found[2]], {"more than there were": 1}),
        (lambda found: [*found, replace(found[2], id="q4")], {"more than there were": 1}),
        (lambda found: [found[0], found[0], *found[1:]], {"more than there were": 1}),
        (lambda found: [found[0], *found], {"more than there were": 1}),
        (lambda found: [*found, *found], {"more than there were": 3}),
        (lambda found: [*renamed(*found), found[0]], {"id": 3, "more than there were": 1}),
        (lambda found: [*renamed(*found), *found], {"id": 3, "more than there were": 3}),
        (lambda found: renamed(*found), {"id": 3}),
        (lambda found: found[1:], {"not there at all": 1}),
        (lambda found: [found[0], found[0], found[2]], {"more than there were": 1, "not there at all": 1}),
        (lambda found: [found[1], replace(found[2], id="x", question="?")], {"id": 1, "question": 1, "not there at all": 1}),
        (lambda found: [], {"not there at all": 3}),
        (lambda found: found[::-1], {}),
    ],
)
def test_what_comes_back_too_often_or_not_at_all_is_counted(
    read_again: Callable[[list[Instance]], Iterable[Instance]], changed: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = hotpotqa(tmp_path, "q1", "q2", "q3")
    result = kgqa.convert(source, to=a_format(monkeypatch, read_again), out=tmp_path / "out")
    assert (result.counts, result.changed) == ({"dev": 3}, changed)


def test_the_command_says_that_there_are_more(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    name = a_format(monkeypatch, lambda found: [*found, *found])
    result = cli("convert", hotpotqa(tmp_path), "--to", name, "--out", tmp_path / "out")
    assert re.search(r"more than there were\W+2\W", result.out)


def test_equal_titles_are_not_merged(tmp_path: Path) -> None:
    (first, _) = open_dataset(hotpotqa(tmp_path)).instances()
    assert [(paragraph.title, paragraph.supporting) for paragraph in first.paragraphs] == [
        ("Mill of Aldern", True),
        ("Harne", True),
        ("Harne", False),
    ]


def test_the_command_says_what_it_recognised_and_what_was_lost(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    result = cli("convert", hotpotqa(tmp_path), "--to", "native", "--out", tmp_path / "n")
    assert result.status == 0, result.err
    assert "From hotpotqa (recognised) to native: dev 2" in result.out
    assert "every question is unchanged" in result.out
    result = cli(
        "convert", seed_wikidata / "datasets" / "wikihop", "--from", "native", "--to", "hotpotqa", "--out", tmp_path / "h", "--lossy"
    )
    assert "From native (as named) to hotpotqa" in result.out
    assert "chains" in result.out


@pytest.mark.parametrize(
    ("error", "part", "arguments"),
    [
        (SettingsError, "format 'hotpot' is not known; did you mean hotpotqa?", {"to": "hotpot"}),
        (SettingsError, "format 'x' is not known", {"to": "native", "format": "x"}),
        (BrokenInput, "instance q1: QAngaroo has only questions with candidates", {"to": "qangaroo"}),
        (MissingInput, "the field 'id' is missing", {"to": "native", "format": "qangaroo"}),
    ],
)
def test_what_cannot_be_done_leaves_nothing(error: type[KgqaError], part: str, arguments: dict[str, str], tmp_path: Path) -> None:
    path = hotpotqa(tmp_path)
    with pytest.raises(error) as caught:
        kgqa.convert(path, out=tmp_path / "out", **arguments)  # type: ignore[arg-type]
    assert part in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_what_is_there_is_not_replaced(tmp_path: Path) -> None:
    path = hotpotqa(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for out in (path, tmp_path / "full"):
        before = path.read_bytes()
        with pytest.raises(StorageError, match="already there"):
            kgqa.convert(path, to="hotpotqa", out=out)
        assert path.read_bytes() == before
    (tmp_path / "empty").mkdir()
    kgqa.convert(path, to="native", out=tmp_path / "empty")


def test_a_folder_of_files_is_a_set_with_splits(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    hotpotqa(folder, "a", name="x_train.json")
    hotpotqa(folder, "b", name="x_validation.json")
    assert {split: path.name for split, path in open_dataset(folder).files.items()} == {"train": "x_train.json", "dev": "x_validation.json"}
    assert kgqa.convert(folder, to="native", out=tmp_path / "n").counts == {"train": 1, "dev": 1}
    with pytest.raises(SettingsError, match=r"the set has 2 splits \(train, dev\), give a folder"):
        kgqa.convert(folder, to="hotpotqa", out=tmp_path / "n.json")
    hotpotqa(folder, "c", name="notes.json")
    with pytest.raises(BrokenInput, match=r"notes.json: its name does not contain a split"):
        open_dataset(folder)
    (folder / "notes.json").rename(folder / "x_test.json")
    (folder / "x_test.json").write_text('[{"id": "w", "query": "q", "candidates": [], "supports": []}]', "utf-8")
    with pytest.raises(BrokenInput, match=r"several formats \(x_train.json is hotpotqa, .* x_test.json is qangaroo"):
        open_dataset(folder)
    (folder / "x_test.json").unlink()
    hotpotqa(folder, "d", name="y_dev.json")
    with pytest.raises(BrokenInput, match=r"both x_validation.json and y_dev.json are its dev split"):
        open_dataset(folder)


def test_nothing_that_is_a_set(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="there is no such file or folder"):
        open_dataset(tmp_path / "none")
    with pytest.raises(MissingInput, match="no file here is named train, dev or test"):
        open_dataset(tmp_path)
    (tmp_path / "x.json").write_text('[{"unknown": 1}]')
    with pytest.raises(BrokenInput, match=r"no known format has these fields \(unknown\)"):
        open_dataset(tmp_path / "x.json")


def test_a_set_without_questions(seed_wikidata: Path, tmp_path: Path) -> None:
    native.write([], tmp_path / "dev.parquet")
    with pytest.raises(EmptyResult, match="has no questions"):
        kgqa.convert(tmp_path / "dev.parquet", to="hotpotqa", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_leaves_nothing(tmp_path: Path, small_disk: SmallDisk) -> None:
    path = hotpotqa(tmp_path, *(f"q{number}" for number in range(4000)))
    with pytest.raises(StorageError, match="the disk is full"):
        kgqa.convert(path, to="hotpotqa", out=small_disk.path / "out")
    assert not list(small_disk.path.iterdir())


def test_a_file_that_would_stand_beside_the_new_one_is_not_replaced(tmp_path: Path) -> None:
    examples = ROOT / "tests" / "formats" / "examples" / "strategyqa_dev.json"
    beside = tmp_path / "new_paragraphs.jsonl"
    beside.write_text("mine", "utf-8")
    with pytest.raises(StorageError, match=r"new_paragraphs.jsonl: this is already there"):
        kgqa.convert(examples, to="strategyqa", out=tmp_path / "new.json")
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [(beside.name, "mine")]
    beside.unlink()
    assert kgqa.convert(examples, to="strategyqa", out=tmp_path / "new.json").changed == {}
    assert {path.name for path in tmp_path.iterdir()} == {"new.json", beside.name}


def test_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / "set\udcff"
    folder.mkdir()
    hotpotqa(folder, "a", name="x_dev.json")
    kgqa.convert(folder, to="native", out=tmp_path / "native")
    assert "set\\udcff" in (tmp_path / "native" / "README.md").read_text("utf-8")
    for number, to in enumerate(("native", "huggingface", "beir", "hotpotqa")):
        assert kgqa.convert(folder, to=to, out=tmp_path / f"{number}\udcff").counts == {"dev": 1}
        assert [instance.id for instance in open_dataset(tmp_path / f"{number}\udcff").instances()] == ["a"]


def test_the_hub_reads_the_card_of_a_converted_and_a_split_set(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    source = ROOT / "tests" / "formats" / "examples" / "strategyqa_dev.json"
    converted = kgqa.convert(source, to="native", out=tmp_path / "native")
    kgqa.split(tmp_path / "native", out=tmp_path / "split", by="question", shares=(0.5, 0.0, 0.5))
    for folder in (tmp_path / "native", tmp_path / "split"):
        card = hub.DatasetCard.load(folder / "README.md")
        files = [data["path"] for data in card.data.configs[0]["data_files"]]
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        assert sorted(files) == sorted(f"{split}.parquet" for split, count in manifest["counts"].items() if count)
        assert (card.data.size_categories, manifest["content"] in card.text) == (["n<1K"], True)
        assert set(manifest["files"]) == {path.name for path in folder.iterdir()} - {"manifest.json"}
    assert converted.counts["dev"] > 0


def test_a_set_from_a_pipe_is_refused(tmp_path: Path, cli: Cli) -> None:
    os.mkfifo(tmp_path / "pipe")
    for named in ((), ("--from", "native"), ("--from", "beir"), ("--from", "hotpotqa")):
        result = cli("convert", tmp_path / "pipe", *named, "--to", "native", "--out", tmp_path / "x")
        result.sentence("pipe: this is a pipe or device", "write it to a file first")
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_a_reader_who_goes_away_changes_nothing_that_is_written(tmp_path: Path) -> None:
    path = hotpotqa(tmp_path)
    for number, arguments in enumerate((["convert", "--to", "native"], ["audit"], ["audit", "--fail-on", "answer-in-question<1"])):
        command = [*COMMAND, *arguments, str(path), "--out", str(tmp_path / f"out{number}")]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            assert run.stdout
            assert run.stderr
            run.stdout.close()
            assert run.stderr.read() == b""
        assert run.returncode == ("--fail-on" in arguments)
        assert (tmp_path / f"out{number}" / ("audit.json" if "audit" in arguments else "manifest.json")).is_file()


@pytest.mark.parametrize(
    ("to", "out", "part"),
    [
        ("hotpotqa", "x.jsonl", "hotpotqa is written as a folder, or a file that ends in .json; choose another --out"),
        ("native", "x.parquet", "native is written as a folder"),
        ("hotpotqa", "x.json.gz", "hotpotqa is written as"),
    ],
)
def test_no_folder_is_called_like_a_file(to: str, out: str, part: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        kgqa.convert(hotpotqa(tmp_path), to=to, out=tmp_path / out)
    assert part in str(error.value)


def test_a_place_that_cannot_be(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hotpotqa(tmp_path)
    cli("convert", path, "--to", "native", "--out", "/proc/x/y").sentence("there is no such file or folder, and none can be made")
    cli("convert", "", "--to", "native", "--out", tmp_path / "x").sentence("the dataset has no name")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    cli("convert", path, "--to", "native", "--out", "x").sentence("none can be made")


def test_a_place_inside_the_set_that_is_read_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    path = hotpotqa(folder, "a", name="x_dev.json")
    for out in ("test.json", "new", "sub/../new", "sub/new"):
        with pytest.raises(SettingsError, match=r"this is inside the set that is read, .*set; choose another --out\."):
            kgqa.convert(folder, to="hotpotqa", out=folder / out)
    assert [entry.name for entry in folder.iterdir()] == [path.name]
    kgqa.convert(path, to="hotpotqa", out=folder / "y.json")


def test_a_mount_point_is_no_place_for_a_finished_folder(tmp_path: Path, small_disk: SmallDisk, cli: Cli) -> None:
    path = hotpotqa(tmp_path)
    cli("convert", path, "--to", "native", "--out", small_disk.path).sentence("disk: this is a mount point", "choose a folder inside it")
    assert list(small_disk.path.iterdir()) == []
    assert cli("convert", path, "--to", "native", "--out", small_disk.path / "new").status == 0


def test_links_that_lead_in_a_circle(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    hotpotqa(folder)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for out in ("loop/x", "loop/x.json", "loop/x/y"):
        cli("convert", folder, "--to", "hotpotqa", "--out", tmp_path / out).sentence("the links in this path lead in a circle")
        cli("contrast", "probe", folder, "--out", tmp_path / out).sentence("the links in this path lead in a circle")
        cli("audit", folder, "--out", tmp_path / out).sentence("the links in this path lead in a circle")


def test_folders_that_were_made_for_nothing_go_again(tmp_path: Path, small_disk: SmallDisk, cli: Cli) -> None:
    path = hotpotqa(tmp_path, *(f"q{number}" for number in range(2000)))
    predictions = tmp_path / "p.json"
    predictions.write_text(json.dumps({"answer": {f"q{number}": "Sill" for number in range(2000)}, "sp": {}}))
    small_disk.mount("size=64k")
    (small_disk.path / "kept").mkdir()
    for command in (
        ("convert", path, "--to", "hotpotqa", "--out", small_disk.path / "kept" / "a" / "b"),
        ("convert", path, "--to", "hotpotqa", "--out", small_disk.path / "kept" / "a" / "b.json"),
        ("evaluate", path, predictions, "--json", small_disk.path / "kept" / "a" / "b" / "scores.json"),
        ("audit", path, "--out", small_disk.path / "kept" / "a" / "b"),
    ):
        cli(*command).sentence("the disk is full")
        assert [entry.relative_to(small_disk.path).as_posix() for entry in small_disk.path.rglob("*")] == ["kept"]


def test_what_is_called_after_paragraphs_may_hold_questions(tmp_path: Path) -> None:
    hotpotqa(tmp_path, name="train.json")
    hotpotqa(tmp_path, "q3", name="dev_with_paragraphs.json")
    texts = tmp_path / "train_paragraphs.jsonl"
    line = '{"evidence_id": "Mill-1", "title": "Mill", "contents": "The mill grinds rye."}\n'
    for said in (line, '{"Mill-1": {"title": "Mill", "content": "The mill grinds rye."}}', "{}", "", "[1", '{"Mill-1": {"tit'):
        texts.write_text(said)
        assert set(open_dataset(tmp_path).files) == {"train", "dev"}, said
    squad = {"data": [{"paragraphs": [{"context": "Rye.", "qas": [{"id": "a", "question": "?", "answers": []}]}]}]}
    texts.rename(tmp_path / "test_paragraphs.json").write_text(json.dumps(squad, indent=1))
    with pytest.raises(BrokenInput, match="its files are of several formats"):
        open_dataset(tmp_path)


def test_masked_files_are_the_set_where_there_are_no_others(tmp_path: Path) -> None:
    hotpotqa(tmp_path, name="dev.masked.json")
    assert open_dataset(tmp_path).files == {"dev": tmp_path / "dev.masked.json"}
    hotpotqa(tmp_path, name="train.json")
    assert set(open_dataset(tmp_path).files) == {"train"}


def test_a_split_is_not_left_out_unseen(tmp_path: Path) -> None:
    hotpotqa(tmp_path, name="train.json")
    for name in ("dev.json.bz2", "dev.jsonl.xz", "dev.JSON.ZIP", "my_dev.json.zst", "dev_context_articles.json.bz2"):
        (tmp_path / name).touch()
        with pytest.raises(
            BrokenInput, match=rf"{name}: the only compressed files that kgqa reads are gzip files; decompress it, or move it away\."
        ):
            open_dataset(tmp_path)
        (tmp_path / name).unlink()
    for name in ("train.json.zip", "dev.json.zip.md5", "cache.jsonl.zst", "dev_paragraphs.json.bz2"):
        (tmp_path / name).touch()
    assert set(open_dataset(tmp_path).files) == {"train"}
    hotpotqa(tmp_path, "q3", name="dev.json")
    with pytest.raises(SettingsError, match="format '' is not known"):
        open_dataset(tmp_path, "")
    kgqa.convert(tmp_path, to="native", out=tmp_path.parent / "native")
    (tmp_path.parent / "native" / "dev.parquet").unlink()
    with pytest.raises(MissingInput, match=r"dev.parquet: this part of the dataset is missing, which its manifest names"):
        open_dataset(tmp_path.parent / "native")
    assert len(list(open_dataset(tmp_path.parent / "native" / "train.parquet").instances())) == 2
    (tmp_path.parent / "native" / "manifest.json").write_text('{"counts": {"train": 2, "dev": 0}}')
    assert set(open_dataset(tmp_path.parent / "native").files) == {"train"}


@pytest.mark.slow
def test_two_runs_into_the_same_place(tmp_path: Path) -> None:
    path = hotpotqa(tmp_path, *(f"q{number}" for number in range(3000)))
    command = [*COMMAND, "convert", str(path), "--to", "native", "--out", str(tmp_path / "out")]
    runs = [subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    items = [run.communicate(timeout=60)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]  # both wrote the same
    assert items == ["", ""]
    assert {entry.name for entry in tmp_path.iterdir()} == {"out", path.name}


@pytest.mark.parametrize(("to", "out"), [("native", "out"), ("hotpotqa", "out"), ("hotpotqa", "out.json"), ("label_studio", "out")])
def test_what_a_killed_run_had_finished_is_its_own(to: str, out: str, tmp_path: Path) -> None:
    """Be it whole or lacking a file."""
    path, place = hotpotqa(tmp_path), tmp_path / out
    first = kgqa.convert(path, to=to, out=place)
    before = {file: file.read_bytes() for file in first.files}
    again = kgqa.convert(path, to=to, out=place)
    assert (again.files, again.counts) == (first.files, first.counts)
    assert {file: file.read_bytes() for file in again.files} == before
    hotpotqa(tmp_path, "q1", "q3")
    with pytest.raises(StorageError, match="this is already there; choose another --out, or remove it"):
        kgqa.convert(path, to=to, out=place)
    assert {file: file.read_bytes() for file in again.files} == before
    assert {entry.name for entry in tmp_path.iterdir()} == {path.name, out}


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.slow
def test_a_run_that_is_told_to_end_leaves_nothing(told: signal.Signals, tmp_path: Path) -> None:
    path = hotpotqa(tmp_path, *(f"q{number}" for number in range(20_000)))
    command = [*COMMAND, "convert", str(path), "--to", "label_studio", "--out", str(tmp_path / "out")]
    before = signal.signal(told, signal.SIG_DFL)  # tests that run under nohup ignore SIGHUP, and so would what they start
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    signal.signal(told, before)
    with process:
        while process.poll() is None and not list(tmp_path.glob(".out.*")):
            time.sleep(0.01)
        process.send_signal(told)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + told, "kgqa: stopped; run the same command again.\n")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
