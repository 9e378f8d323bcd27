"""``kgqa split``: nothing is lost, nothing is shared, the same seed deals the same."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.formats.provenance import everything, note
from kgqa.formats.question_set import open_dataset
from kgqa.records import Instance
from kgqa.splits.components import BY
from tests.conftest import Cli
from tests.contents import files, leftovers
from tests.small_questions import paragraph, question, questions, write_set

SHARED: dict[str, Callable[[Instance], set[object]]] = {
    "group": lambda each: {each.group},
    "title": lambda each: {shown.title for shown in each.paragraphs if shown.title},
    "question": lambda each: {each.question.lower()},
    "answer": lambda each: {answer.lower() for answer in each.answers[:1]},
    "paragraph": lambda each: {shown.text for shown in each.paragraphs},
    "supporting-paragraph": lambda each: {shown.text for shown in each.paragraphs if shown.supporting},
    "hop": lambda each: {(step.question, step.answer) for step in each.decomposition or ()},
    "hop-answer": lambda each: {step.answer for step in each.decomposition or ()},
    "hop-entity": lambda each: set(everything(each)["compose"]["entities"]) - {None},
}
DRAWN = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 15), st.lists(st.integers(0, 15), max_size=2, unique=True)), min_size=1, max_size=30
)


def made(drawn: list[tuple[int, int, list[int]]]) -> list[Instance]:
    return [
        question(
            number, id=str(place), group=f"g{group}", provenance=note("compose", {"entities": [f"Q{number // 2}", None]}),
            paragraphs=tuple(paragraph(shown, supporting=at == 0) for at, shown in enumerate(dict.fromkeys([number, *others]))),
        )
        for place, (group, number, others) in enumerate(drawn)
    ]  # fmt: skip


def read(folder: Path) -> dict[str, list[Instance]]:
    source = open_dataset(folder)
    return {name: list(source.read(name)) for name in source.files}


def test_every_kind_has_a_test() -> None:
    assert SHARED.keys() == BY.keys()


@settings(max_examples=20, deadline=None)
@given(DRAWN, st.lists(st.sampled_from(sorted(BY)), max_size=3), st.integers(0, 100))
def test_nothing_is_lost_and_nothing_shared(drawn: list[tuple[int, int, list[int]]], by: list[str], seed: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, some = Path(name), made(drawn)
        source = write_set(
            folder / "set", train=some[: len(some) // 2 + 1], **({"dev": some[len(some) // 2 + 1 :]} if len(some) > 1 else {})
        )
        result = kgqa.split(source, out=folder / "out", by=by, seed=seed, shares=(0.5, 0.3, 0.2))
        found = read(folder / "out")
        assert sorted(each.id for each in some) == sorted(each.id for split in found.values() for each in split)
        assert {each.id: each for each in some} == {each.id: each for split in found.values() for each in split}
        assert {split: count for split, count in result.counts.items() if count} == {split: len(rows) for split, rows in found.items()}
        for kind in {"group", *by}:
            for split, rows in found.items():
                others = [each for other, more in found.items() if other != split for each in more]
                assert not set().union(*map(SHARED[kind], rows)) & set().union(*map(SHARED[kind], others)), (kind, split)


def test_the_same_seed_gives_the_same_bytes_and_another_one_another_split(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", train=questions(16))
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        kgqa.split(source, out=tmp_path / name, seed=seed)
    first, second, third = (files(tmp_path / name) for name in "abc")
    assert {name: text for name, text in first.items() if name.endswith("parquet")} == {
        name: text for name, text in second.items() if name.endswith("parquet")
    }
    assert first["train.parquet"] != third["train.parquet"]
    assert len(read(tmp_path / "a")["train"]) in {12, 13}


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--by", "titel"], ["did you mean title?"]),
        (["--by", ""], ["--by ''", "group"]),
        (["--shares", "0.8,0.1"], ["add up to 1"]),
        (["--shares", "0.8,0.3,0.1"], ["add up to 1"]),
        (["--shares", "nan,0.5,0.5"], ["add up to 1"]),
        (["--shares=-0.5,1,0.5"], ["add up to 1"]),
        (["--shares", "a,b,c"], ["not comma-separated numbers"]),
        (["--seed", "-1"], ["seed -1"]),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, cli: Cli, options: list[str], parts: list[str]) -> None:
    source = write_set(tmp_path / "set", train=questions())
    cli("split", source, "--out", tmp_path / "out", *options).sentence(*parts)
    assert not (tmp_path / "out").exists()


def test_an_out_that_is_there_an_empty_set_and_an_out_in_the_set(tmp_path: Path, cli: Cli) -> None:
    source = write_set(tmp_path / "set", train=questions())
    before = files(source)
    cli("split", source, "--out", source).sentence("--out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    cli("split", source, "--out", tmp_path / "out").sentence("already there")
    cli("split", write_set(tmp_path / "none", train=[]), "--out", tmp_path / "new").sentence("no question")
    assert files(source) == before
    assert not (tmp_path / "new").exists()
    assert not leftovers(tmp_path)


def test_what_it_prints(tmp_path: Path, cli: Cli) -> None:
    source = write_set(tmp_path / "set", train=[question(number, group="one") for number in range(8)])
    result = cli("split", source, "--out", tmp_path / "out")
    assert result.status == 0, result.err
    assert "Groups of connected questions: 1; the largest has 8 questions." in result.out
    assert "More than half of the questions are connected" in result.out


@settings(max_examples=20, deadline=None)
@given(DRAWN, st.lists(st.sampled_from(sorted(BY)), max_size=3), st.integers(0, 100))
def test_a_cut_keeps_the_rest_apart_and_counts_what_it_drops(drawn: list[tuple[int, int, list[int]]], by: list[str], seed: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, some = Path(name), made(drawn)
        result = kgqa.split(write_set(folder / "set", train=some), out=folder / "out", by=by, seed=seed, shares=(0.5, 0.3, 0.2), cut=True)
        found = read(folder / "out") if sum(result.counts.values()) else {}
    assert sum(result.counts.values()) + result.dropped == len(some)
    for kind in {"group", *by}:
        items = [{thing for each in part for thing in SHARED[kind](each)} for part in found.values()]
        assert sum(map(len, items)) == len(set().union(*items))


@pytest.mark.real_data
def test_musique_comes_apart_without_its_hops_and_their_answers(real_data: Path, tmp_path: Path) -> None:
    source = real_data / "musique" / "musique_ans_dev_2417_no_paragraphs.jsonl"
    cut = kgqa.split(source, out=tmp_path / "cut", by="hop,hop-answer", cut=True)
    assert (cut.dropped, sum(cut.counts.values())) == (0, 2_417)
    assert cut.counts == {"train": 1935, "dev": 241, "test": 241}
