"""A file that is another one when it is read than when it was hashed: nothing is made of it, also where the old one is put back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import InputChanged
from kgqa.formats import question_set
from kgqa.formats.question_set import open_dataset
from kgqa.progress import Silent
from kgqa.runs.files import Watch, file_hash, known_hash
from tests.command import ROOT
from tests.contents import leftovers
from tests.recipes.musique.test_writers import composed
from tests.small_questions import questions, write_set, write_toml
from tests.small_single_hops import single_hop
from tests.test_bad_input import copy_of_seeds

SAYS = "was changed or replaced while it was read; run the same command again"


@contextmanager
def away(path: Path, other: bytes) -> Iterator[None]:
    """Another file in its place; afterwards it is there again, of the same bytes and times."""
    aside = path.with_name(f"{path.name}.aside")
    os.rename(path, aside)
    path.write_bytes(other)
    yield
    os.rename(aside, path)


def swapped(monkeypatch: pytest.MonkeyPatch, path: Path, other: bytes, *, back: bool) -> None:
    """Every reading of a set's splits finds another file."""
    read = question_set.QuestionSet.read

    def instead(self: question_set.QuestionSet, split: str) -> Iterator[Any]:
        if self.files[split] != path:
            yield from read(self, split)
        elif back:
            with away(path, other):
                yield from list(read(self, split))
        else:
            path.write_bytes(other)
            yield from read(self, split)

    monkeypatch.setattr(question_set.QuestionSet, "read", instead)


def test_stamps(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"one")
    watch = Watch([path, other, tmp_path])
    watch.check()
    (tmp_path / "c").write_bytes(b"")
    watch.check()
    with pytest.raises(InputChanged), away(path, b"two"):
        watch.check()
    with pytest.raises(InputChanged, match=f"{path}: the file {SAYS}"):  # although it is back
        watch.check()
    watch = Watch([path, other])
    other.write_bytes(b"")
    with pytest.raises(InputChanged, match="b: the file was changed"):
        watch.check()


@pytest.mark.parametrize("back", [False, True])
def test_facts_are_not_read_under_the_hash_of_another_file(tmp_path: Path, back: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgqa.sources import wikidata
    from kgqa.sources.layouts import LAYOUTS

    source, workspace = copy_of_seeds(tmp_path), tmp_path / "w"
    path = source / "triples.tsv"
    fewer, read = b"".join(path.read_bytes().splitlines(keepends=True)[:300]), wikidata.read

    def instead(folder: Path, **other: Any) -> Any:
        if not back:
            path.write_bytes(fewer)
            return read(folder, **other)
        with away(path, fewer):
            return read(folder, **other)

    class Instead:
        FILES, read = wikidata.FILES, staticmethod(instead)

    with monkeypatch.context() as patched:
        patched.setattr("kgqa.recipes.preparation.LAYOUTS", {**LAYOUTS, "wikidata": Instead})
        with pytest.raises(InputChanged, match=rf"triples\.tsv: the file {SAYS}"):
            kgqa.generate("wikidata", source=source, workspace=workspace)
    assert not (workspace / "tables" / "read_sources.json").exists()
    assert not (workspace / "datasets").exists()
    kgqa.generate("wikidata", source=source, workspace=workspace)


@pytest.mark.parametrize(
    ("what", "back"),
    [
        *((what, False) for what in ("convert", "split", "compose", "train")),
        *(pytest.param(what, True, marks=pytest.mark.slow) for what in ("convert", "split", "compose", "train")),
    ],
)
def test_questions_are_not_read_under_the_hash_of_another_file(
    tmp_path: Path, what: str, back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = single_hop(tmp_path / "set") if what == "compose" else write_set(tmp_path / "set", train=questions(14), dev=questions(9))
    path = folder / "train.parquet"
    other = (
        write_set(tmp_path / "other", train=questions(8)) if what != "compose" else single_hop(tmp_path / "other", told="Or not?")
    ) / path.name
    out = tmp_path / "out"
    toml = tmp_path / "majority.toml"
    toml.write_text('reader = "majority"\n', "utf-8")
    runs: dict[str, Callable[[], object]] = {
        "convert": lambda: kgqa.convert(folder, to="native", out=out),
        "split": lambda: kgqa.split(folder, out=out, by="group"),
        "compose": lambda: kgqa.compose(folder, filter="none", workspace=out),
        "train": lambda: kgqa.train(str(toml), folder, out=out),
    }
    with monkeypatch.context() as patched:
        swapped(patched, path, other.read_bytes(), back=back)
        with pytest.raises(InputChanged, match=rf"train\.parquet: the file {SAYS}"):
            runs[what]()
    if what == "compose":
        assert not (out / "datasets").exists()
    else:
        assert not out.exists()
        assert not leftovers(tmp_path)


def test_a_network_does_not_learn_from_another_file(tmp_path: Path, tiny_encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_set(tmp_path / "set", train=questions(12), dev=questions(6))
    other = (write_set(tmp_path / "other", train=questions(8)) / "train.parquet").read_bytes()
    toml = write_toml(tmp_path / "ee.toml", "ee", tiny_encoder, epochs=1)
    with monkeypatch.context() as patched:
        swapped(patched, folder / "train.parquet", other, back=True)
        with pytest.raises(InputChanged, match=SAYS):
            kgqa.train(str(toml), folder, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    kgqa.train(str(toml), folder, out=tmp_path / "run")
    state = tmp_path / "run" / "reader" / "reader.json"
    from kgqa.readers.transformer.encoder import saved_encoder as load

    def meanwhile(place: Path) -> Any:
        os.utime(state)
        return load(place)

    monkeypatch.setattr("kgqa.readers.transformer.end_to_end.saved_encoder", meanwhile)
    with pytest.raises(InputChanged, match=rf"reader\.json: the file {SAYS}"):
        kgqa.train(str(toml), folder, out=tmp_path / "second", start_from=tmp_path / "run")


def test_what_is_scored_is_what_is_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgqa.runs.files import file_hash as hashed

    folder = write_set(tmp_path / "set", dev=questions(6))
    toml = tmp_path / "majority.toml"
    toml.write_text('reader = "majority"\n', "utf-8")
    kgqa.train(str(toml), write_set(tmp_path / "learned", train=questions(6)), out=tmp_path / "run")
    out = tmp_path / "p.json"
    kgqa.predict(tmp_path / "run", folder, out=out, metric="squad")

    def meanwhile(path: Path) -> str:
        os.utime(out)
        return hashed(path)

    monkeypatch.setattr("kgqa.commands.evaluate.file_hash", meanwhile)
    with pytest.raises(InputChanged, match=rf"p\.json: the file {SAYS}"):
        kgqa.evaluate(folder, out, metric="squad", json=tmp_path / "scores.json")
    assert not (tmp_path / "scores.json").exists()


def test_what_people_wrote_is_what_is_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    from kgqa.recipes.musique.composers import people

    single_hop(tmp_path / "set")
    result = kgqa.compose(tmp_path / "set", filter="none", composer="people", workspace=tmp_path / "w")
    assert result.tasks
    answers = tmp_path / "answers.jsonl"
    lines = [json.loads(line) for line in result.tasks.read_text("utf-8").splitlines()]
    asked = {"messages": [{}, {"content": ""}]}
    for line in lines:
        asked["messages"][1]["content"] = json.dumps({"steps": line["steps"]})
        line["question"] = composed(asked)
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    write = people.PeopleComposer.write

    def meanwhile(self: Any, *given: Any) -> Any:
        items = list(write(self, *given))
        os.utime(answers)
        return iter(items)

    monkeypatch.setattr(people.PeopleComposer, "write", meanwhile)
    with pytest.raises(InputChanged, match=rf"answers\.jsonl: the file {SAYS}"):
        kgqa.compose(tmp_path / "set", filter="none", composer="people", answers=answers, workspace=tmp_path / "w")


def trained_majority(folder: Path) -> Path:
    toml = folder / "majority.toml"
    toml.write_text('reader = "majority"\n', "utf-8")
    kgqa.train(str(toml), write_set(folder / "learned", train=questions(6)), out=folder / "run")
    return folder / "run"


@pytest.mark.parametrize("back", [False, True])
def test_questions_are_not_answered_in_place_of_others(tmp_path: Path, back: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run, folder = trained_majority(tmp_path), write_set(tmp_path / "set", dev=questions(4))
    path = folder / "dev.parquet"
    other = (write_set(tmp_path / "other", dev=questions(4)) / "dev.parquet").read_bytes()
    swapped(monkeypatch, path, other, back=back)
    with pytest.raises(InputChanged, match=rf"dev\.parquet: the file {SAYS}"):
        kgqa.predict(run, folder, out=tmp_path / "p.json", metric="squad")
    assert not (tmp_path / "p.json").exists()


def test_a_reader_that_changes_while_it_is_loaded_answers_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgqa.readers import trained

    run, folder = trained_majority(tmp_path), write_set(tmp_path / "set", dev=questions(4))
    load = trained.load_reader

    def meanwhile(*given: Any, **more: Any) -> Any:
        result = load(*given, **more)
        os.utime(next(iter(sorted((run / "reader").iterdir()))))
        return result

    monkeypatch.setattr("kgqa.commands.predict.load_reader", meanwhile)
    with pytest.raises(InputChanged, match=SAYS):
        kgqa.predict(run, folder, out=tmp_path / "p.json", metric="squad")
    assert not (tmp_path / "p.json").exists()


EXAMPLES = ROOT / "tests" / "formats" / "examples"


def beir(folder: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "beir_dev", folder))


def shards(folder: Path) -> Path:
    """Two parts of one split, of sixteen questions."""
    for part in range(2):
        write_set(folder / "data", **{f"validation-0000{part}-of-00002": questions(16)[8 * part : 8 * part + 8]})
    return folder


def with_texts(name: str) -> Callable[[Path], Path]:
    def copied(folder: Path) -> Path:
        folder.mkdir()
        for path in EXAMPLES.glob(f"{name}_dev*"):
            if path.name != "iirc_dev.jsonl":  # the outputs of a system
                shutil.copy(path, folder)
        return folder

    return copied


SEVERAL: dict[str, tuple[Callable[[Path], Path], set[str]]] = {
    "beir": (beir, {"dev.tsv", "corpus.jsonl", "queries.jsonl"}),
    "huggingface": (shards, {"validation-00000-of-00002.parquet", "validation-00001-of-00002.parquet"}),
    "iirc": (with_texts("iirc"), {"iirc_dev.json", "iirc_dev_context_articles.json"}),
    "strategyqa": (with_texts("strategyqa"), {"strategyqa_dev.json", "strategyqa_dev_paragraphs.jsonl"}),
}
"""Format → a set of it, and all files that are read."""


@pytest.mark.parametrize("name", SEVERAL)
def test_all_files_of_a_set_are_hashed_and_compared(name: str, tmp_path: Path) -> None:
    make, names = SEVERAL[name]
    folder = make(tmp_path / "set")
    opened = open_dataset(folder)
    assert opened.format == name
    assert opened.hashes() == {path.name: file_hash(path) for path in folder.rglob("*") if path.name in names}
    assert opened.hashes().keys() == names
    for path in opened.inputs:
        opened = open_dataset(folder)
        reading = opened.instances()
        next(reading)
        os.utime(path)
        with pytest.raises(InputChanged, match=f"{path.name}: the file {SAYS}"):
            list(reading)
        with pytest.raises(InputChanged):
            opened.hashes()


def copied_onto(path: Path) -> None:
    path.write_bytes(path.read_bytes().swapcase())


def put_back(path: Path) -> None:
    with away(path, b"{}\n"):
        pass


def turned_back(path: Path) -> None:
    times = path.stat()
    copied_onto(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def linked(path: Path) -> None:
    path.rename(path.with_suffix(".aside"))
    path.symlink_to(path.with_suffix(".aside"))


@pytest.mark.parametrize("change", [copied_onto, put_back, turned_back, linked, Path.unlink])
def test_a_set_that_changes_while_it_is_read_is_refused_at_its_end(change: Callable[[Path], None], tmp_path: Path) -> None:
    path = Path(shutil.copy(EXAMPLES / "hotpotqa_dev.json", tmp_path))
    reading = open_dataset(path).instances()
    next(reading)
    change(path)
    with pytest.raises(InputChanged, match=rf"hotpotqa_dev\.json: the file {SAYS}"):
        list(reading)


def test_a_change_within_a_tick_of_the_clock_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for number in range(40):
        path.write_bytes(f"{number:09d}".encode())
        watch, hashed = Watch([path]), known_hash(path)
        path.write_bytes(f"{number + 1:09d}".encode())
        with pytest.raises(InputChanged):
            watch.check()
        assert known_hash(path) == file_hash(path) != hashed


class At(Silent):
    """Progress that does something at the beginning of a stage."""

    def __init__(self, stage: str, act: Callable[[], object]) -> None:
        self._stage, self._act = stage, act

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        if stage == self._stage:
            self._act()


def test_a_file_that_an_option_names_is_not_read_under_the_hash_of_another(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "texts.tsv").write_text("1\tTitle\tAspirin inhibits COX.\n", "utf-8")
    entities = tmp_path / "entities.tsv"
    entities.write_text("1\tT1\tCHEMICAL\t6\t13\tAspirin\n1\tT2\tGENE-Y\t23\t26\tCOX\n", "utf-8")
    for what in (lambda: os.utime(entities), lambda: put_back(entities)):
        with pytest.raises(InputChanged, match=rf"entities\.tsv: the file {SAYS}"):
            kgqa.import_files(
                "drugprot", [tmp_path / "texts.tsv"], out=tmp_path / "out", options={"entities": entities}, progress=At("Parsing", what)
            )
        assert not (tmp_path / "out" / "import.json").exists()
    kgqa.import_files("drugprot", [tmp_path / "texts.tsv"], out=tmp_path / "out", options={"entities": entities})


def test_samples_are_not_loaded_or_drawn_under_the_hash_of_others(wikidata_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgqa.collection import draw as drawing
    from kgqa.formats import graph_rows

    folder = wikidata_copy / "datasets" / "wikihop"
    read, content = graph_rows.sample_rows, drawing.content_of

    def rows(*given: Any) -> Any:
        result = read(*given)
        os.utime(folder / "dev.parquet")
        return result

    def hashed(dataset: Path) -> str:
        os.utime(folder / "manifest.json")
        return content(dataset)

    monkeypatch.setattr("kgqa.formats.dataset_on_graph.sample_rows", rows)
    with pytest.raises(InputChanged, match=rf"dev\.parquet: the file {SAYS}"):
        kgqa.load(wikidata_copy, store="embedded", dataset="wikihop")
    monkeypatch.setattr(drawing, "content_of", hashed)
    with pytest.raises(InputChanged, match=rf"manifest\.json: the file {SAYS}"):
        drawing.draw(folder, sample=3, seed=1)
