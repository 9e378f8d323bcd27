"""Whatever bytes a reader is given, it returns Instances or says in one sentence what is wrong; what is surely wrong is always said."""

from __future__ import annotations

import bz2
import copy
import gzip
import json
import lzma
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, KgqaError, MissingInput
from kgqa.formats.instance_json import from_row, to_row
from kgqa.formats.json import stream
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FORMATS
from tests.command import ROOT, environment
from tests.formats.mutations import DEEP, Example, dumped, examples, mutants, parsed

CONVERTED = 25
"""One of so many mutants is converted too."""
MAIN = {"beir_dev": "queries.jsonl"}
"""The file that holds the questions, where it is not the one that is opened."""
TEXT = sorted(name for name in examples() if name not in {"native", "huggingface"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["\ud800", "#1", "yes", "a\nb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that nobody else writes to, emptied by the test itself."""
    yield tmp_path / "set"
    shutil.rmtree(tmp_path / "set", ignore_errors=True)


def check_sentence(error: KgqaError, example: Example, opened: Path) -> None:
    """One sentence that names a file of the set."""
    message = str(error)
    assert message.isprintable(), message
    assert message.endswith((".", "?")), message
    assert any(Path(name).name in message for name in example.files) or str(opened) in message, message


def outcome(example: Example, folder: Path, changed: dict[str, bytes], *, recognised: bool) -> str:
    """``read``, or the kind of error; anything but sound Instances and a sentence fails."""
    shutil.rmtree(folder, ignore_errors=True)
    opened = example.write(folder, changed)
    try:
        found = list(open_dataset(opened, None if recognised else example.format).instances())
    except KgqaError as error:
        check_sentence(error, example, opened)
        return type(error).__name__
    assert found
    for instance in found:
        assert from_row(json.loads(json.dumps(to_row(instance))), "row") == instance
    assert len({instance.id for instance in found}) == len(found)
    return "read"


def test_every_format_has_an_example_that_is_recognised_as_itself(folder: Path) -> None:
    assert {example.format for example in examples().values()} == set(FORMATS)
    for name, example in examples().items():
        found = open_dataset(example.write(folder / name))
        assert (name, found.format, found.recognised) == (name, example.format, True)
        assert len(list(found.instances())) >= 2


@pytest.mark.parametrize("name", sorted(examples()))
def test_whatever_is_changed_is_read_or_named(name: str, mutant_count: int, random_seed: int, folder: Path) -> None:
    outcomes = Counter[str]()
    for number, (what, changed) in enumerate(mutants(examples()[name], mutant_count, f"{name} {random_seed}")):
        try:
            outcomes[outcome(examples()[name], folder, changed, recognised=number % 4 == 0)] += 1
            if number % CONVERTED == 0:
                check_conversion(examples()[name], folder, Random(what))
        except BaseException as error:
            error.add_note(what)
            raise
    assert sum(outcomes.values()) == mutant_count
    if mutant_count >= 1_000:  # few changes need not meet every kind
        assert outcomes["BrokenInput"] > mutant_count // 20
        assert outcomes["read"] > mutant_count // 50
        assert outcomes["MissingInput"]


def check_conversion(example: Example, folder: Path, rng: Random) -> None:
    """All of what was asked for is there afterwards, or nothing."""
    out = folder.parent / "out"
    try:
        done = kgqa.convert(
            folder / example.opened, to=rng.choice(tuple(FORMATS)), out=out, format=example.format, lossy=rng.random() < 0.5
        )
    except KgqaError:
        left = set[Path]()
    else:
        left = {path for path in out.rglob("*") if path.is_file()}
        assert left == set(done.files) != set()
    assert out.exists() == bool(left)
    shutil.rmtree(out, ignore_errors=True)
    assert {path.name for path in folder.parent.iterdir()} == {folder.name}


@cache
def fields(name: str) -> tuple[str, ...]:
    """All field names in the main file of an example."""
    value, _ = parsed(main_file(name))
    found: set[str] = set()
    todo = [value]
    while todo:
        inner = todo.pop()
        found |= inner.keys() if isinstance(inner, dict) else set()
        todo += list(inner.values()) if isinstance(inner, dict) else inner if isinstance(inner, list) else []
    return tuple(sorted(found))


def main_file(name: str) -> bytes:
    return examples()[name].files[MAIN.get(name, examples()[name].opened)]


@pytest.mark.parametrize("name", TEXT)
@given(data=st.data())
@settings(deadline=None)
def test_any_json_of_the_right_fields_is_read_or_named(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    value, lines = parsed(main_file(name))
    names = st.sampled_from(fields(name))
    inside = st.recursive(JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4), max_leaves=8)
    for _ in range(data.draw(st.integers(1, 4))):
        where: Any = value
        while isinstance(where, dict | list) and where:
            key = data.draw(st.sampled_from(sorted(where) if isinstance(where, dict) else range(len(where))))
            if not (isinstance(where[key], dict | list) and where[key]) or data.draw(st.booleans()):
                where[key] = data.draw(inside)
                break
            where = where[key]
    changed = {MAIN.get(name, examples()[name].opened): dumped(value, lines=lines)}
    folder = tmp_path_factory.getbasetemp() / "drawn"
    outcome(examples()[name], folder, changed, recognised=False)


REQUIRED: dict[str, tuple[tuple[str | int, ...], ...]] = {
    "beir_dev": ((0, "_id"), (0, "text")),
    "boolq_dev.json": (("data", 1, "paragraph"), ("data", 1, "perturbed_questions"), ("data", 1, "perturbed_questions", 0, "perturbed_q")),
    "boolq_dev.jsonl": ((0, "question"), (0, "passage")),
    "dire_dev.json": ((0, "_id"),),
    "drop_dev.json": (("*", "passage"), ("*", "qa_pairs"), ("*", "qa_pairs", 0, "query_id"), ("*", "qa_pairs", 0, "question")),
    "hotpotqa_dev.json": ((0, "_id"), (3, "question"), (3, "context")),
    "iirc_dev.json": ((0, "text"), (0, "questions"), (0, "questions", 0, "question")),
    "iirc_dev.jsonl": ((0, "question"), (0, "qa")),
    "label_studio_dev.json": ((0, "data"), (0, "data", "question"), (0, "data", "paragraphs"), (0, "annotations", 0, "result")),
    "musique_dev.jsonl": ((0, "id"), (0, "question"), (0, "paragraphs", 0, "idx"), (0, "paragraphs", 0, "paragraph_text")),
    "nq_dev.jsonl": ((0, "example_id"), (0, "question_text"), (0, "paragraph_text")),
    "qangaroo_dev.json": ((0, "id"), (0, "query"), (0, "answer"), (0, "candidates"), (0, "supports")),
    "quoref_dev.json": (
        ("data",),
        ("data", 0, "paragraphs"),
        ("data", 0, "paragraphs", 0, "context"),
        ("data", 0, "paragraphs", 0, "qas", 0, "id"),
    ),
    "squad2_dev.json": (
        ("data",),
        ("data", 0, "paragraphs"),
        ("data", 0, "paragraphs", 0, "context"),
        ("data", 0, "paragraphs", 0, "qas", 0, "id"),
    ),
    "squad_dev.json": (
        ("data",),
        ("data", 0, "paragraphs"),
        ("data", 0, "paragraphs", 0, "context"),
        ("data", 0, "paragraphs", 0, "qas", 0, "id"),
    ),
    "strategyqa_dev.json": ((0, "qid"), (0, "question")),
    "twowiki_dev.json": ((0, "_id"), (3, "question")),
}
"""Fields without which a record is none; ``*`` is the first key."""
QUESTIONS: dict[str, tuple[str | int, ...]] = {
    "boolq_dev.json": ("data",),
    "drop_dev.json": ("*", "qa_pairs"),
    "iirc_dev.json": (0, "questions"),
    "quoref_dev.json": ("data", 0, "paragraphs", 0, "qas"),
    "squad2_dev.json": ("data", 0, "paragraphs", 0, "qas"),
    "squad_dev.json": ("data", 0, "paragraphs", 0, "qas"),
}
"""Where a list of questions is; the file itself where nothing is said."""


def place(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[next(iter(value)) if key == "*" else key]
    return value


def refusal(name: str, folder: Path, data: bytes) -> KgqaError:
    """The error that an example raises whose main file holds ``data``; it must raise one."""
    example = examples()[name]
    opened = example.write(folder, {MAIN.get(name, example.opened): data})
    with pytest.raises(KgqaError) as caught:
        list(open_dataset(opened, example.format).instances())
    check_sentence(caught.value, example, opened)
    return caught.value


def test_the_table_of_fields_names_every_format_in_text() -> None:
    assert list(REQUIRED) == TEXT


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in REQUIRED.items() for path in paths])
def test_a_field_that_is_missing_is_named(name: str, path: tuple[str | int, ...], folder: Path) -> None:
    value, lines = parsed(main_file(name))
    del place(value, path[:-1])[path[-1]]
    error = refusal(name, folder, dumped(value, lines=lines))
    assert isinstance(error, InputError)
    assert str(path[-1]) in str(error)


@pytest.mark.parametrize("name", sorted(set(TEXT) - {"iirc_dev.jsonl", "boolq_dev.json"}))
def test_an_id_twice_is_named(name: str, folder: Path) -> None:
    """The records of IIRC's other form and of BoolQ's contrast set have no ids."""
    value, lines = parsed(main_file(name))
    questions = place(value, QUESTIONS.get(name, ()))
    questions.append(copy.deepcopy(questions[0]))
    assert isinstance(refusal(name, folder, dumped(value, lines=lines)), DuplicateId)


@pytest.mark.parametrize("name", sorted(set(TEXT) - set(QUESTIONS)))
def test_a_record_of_another_format_is_named(name: str, folder: Path) -> None:
    value, lines = parsed(main_file(name))
    other, _ = parsed(main_file("musique_dev.jsonl" if name == "qangaroo_dev.json" else "qangaroo_dev.json"))
    value.insert(1, other[0])
    error = refusal(name, folder, dumped(value, lines=lines))
    assert isinstance(error, MissingInput | BrokenInput)
    assert "2" in str(error)


def wrong(name: str) -> Iterator[tuple[str, bytes]]:
    """Contents that no reader may take."""
    data = main_file(name)
    value, lines = parsed(data)
    first = place(value, QUESTIONS.get(name, ()))
    for what, odd in {"NaN": float("nan"), "surrogate": "\ud800", "infinity": float("inf")}.items():
        changed = copy.deepcopy(value)
        place(changed, QUESTIONS.get(name, ()))[0]["odd"] = odd
        yield what, dumped(changed, lines=lines)
    assert first
    for what, odd in {"huge": b"9" * 5_000, "nested": b"[" * DEEP + b"]" * DEEP, "overflow": b"1e999"}.items():
        changed = copy.deepcopy(value)
        place(changed, QUESTIONS.get(name, ()))[0]["odd"] = "ODD"
        yield what, dumped(changed, lines=lines).replace(b'"ODD"', odd)
    for what, empty in {"nothing": b"", "space": b" \n", "mark": b"\xef\xbb\xbf", "list": b"[]", "object": b"{}", "null": b"null"}.items():
        yield what, empty
    end = len(data.rstrip()) - 1
    for cut in range(1, end, max(1, end // 40)):
        # A file of lines that ends with a line may be whole.
        if not (lines and b"\n" in data[cut - 1 : cut + 1]):
            yield f"cut at {cut}", data[:cut]
    yield "bytes", data[: end // 2] + b"\xff" + data[end // 2 :]
    for what, packed in {"bzip2": bz2.compress(data), "xz": lzma.compress(data), "zip": b"PK\x03\x04" + data}.items():
        yield what, packed
    yield "gzip cut short", gzip.compress(data)[:-9]
    yield "UTF-16", data.decode().encode("utf-16")


@pytest.mark.parametrize("name", TEXT)
def test_what_is_known_to_be_wrong_is_always_said(name: str, folder: Path) -> None:
    for what, data in wrong(name):
        try:
            assert isinstance(refusal(name, folder, data), InputError)
        except BaseException as error:
            error.add_note(what)
            raise


@pytest.mark.parametrize("name", ["native", "huggingface"])
def test_a_parquet_file_that_ends_early_is_named(name: str, folder: Path) -> None:
    example = examples()[name]
    ((file, data),) = example.files.items()
    for cut in range(0, len(data), len(data) // 60):
        opened = example.write(folder, {file: data[:cut]})
        with pytest.raises(BrokenInput, match="this is not a complete Parquet file"):
            list(open_dataset(opened, example.format).instances())


@pytest.mark.parametrize("name", TEXT)
def test_packed_and_marked_files_are_read_alike(name: str, folder: Path) -> None:
    example = examples()[name]
    found = list(open_dataset(example.write(folder), example.format).instances())
    file = MAIN.get(name, example.opened)
    for data in (gzip.compress(example.files[file]), b"\xef\xbb\xbf" + example.files[file]):
        assert list(open_dataset(example.write(folder, {file: data}), example.format).instances()) == found


@pytest.mark.parametrize("name", TEXT)
def test_a_record_that_never_ends_is_refused(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value, lines = parsed(main_file(name))
    place(value, QUESTIONS.get(name, ()))[0]["odd"] = "x" * 100_000
    monkeypatch.setattr(stream, "CHUNK_BYTES", 1 << 10)
    monkeypatch.setattr(stream, "RECORD_LIMIT", 1 << 14)
    monkeypatch.setattr(stream, "DOCUMENT_LIMIT", 1 << 14)
    assert "longer than" in str(refusal(name, folder, dumped(value, lines=lines)))


READ = """
import resource, sys
from kgqa.errors import KgqaError
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FORMATS, find_format
for name in FORMATS:
    find_format(name)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1600 << 20),) * 2)
try:
    list(open_dataset(sys.argv[1], sys.argv[2] or None).instances())
except KgqaError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits its memory as Linux does")
@pytest.mark.parametrize(
    ("start", "format"),
    [
        (b'[{"_id": "', "hotpotqa"),
        (b'{"data": "', "squad"),
        *(pytest.param(*which, marks=pytest.mark.thorough) for which in ((b"", "hotpotqa"), (b'{"_id": "', ""))),
    ],
)
@pytest.mark.slow
def test_two_gigabytes_without_an_end_do_not_fill_the_memory(start: bytes, format: str, tmp_path: Path) -> None:  # noqa: A002
    path = tmp_path / "big_dev.json"
    with path.open("wb") as file:
        file.write(start)
        # A hole: it reads as zeros and takes no room on the disk.
        file.truncate(2 << 30)
    command = [sys.executable, "-c", READ, str(path), format]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("big_dev.json")
    assert "longer than" in done.stdout
