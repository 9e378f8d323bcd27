"""A file that is another one when it is read than when it was hashed: nothing is made of it, also where the old one is put back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import InputChanged
from kgqa.formats import question_set
from kgqa.runs.files import Watch
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


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("what", ["convert", "split", "compose", "train"])
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
