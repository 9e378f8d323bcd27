"""Encoders with fewer layers, more positions, and marks: what they read, and that they are the same after they were saved."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import kgqa
from kgqa.errors import SettingsError
from kgqa.records import Instance
from kgqa.settings.reader import CONNECTED, EncoderSettings
from tests.conftest import Cli
from tests.small_questions import paragraph, questions, write_set, write_toml

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.readers.transformer.encoder import load_encoder  # noqa: E402
from kgqa.readers.transformer.examples import Targets, encode  # noqa: E402
from kgqa.readers.transformer.resizing import encoder_of, marks_of  # noqa: E402
from kgqa.readers.transformer.windows import Cutter  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, said  # noqa: E402

POSITIONS = CONNECTED + 200


def resized(encoder: str, **settings: Any) -> Any:
    return encoder_of(EncoderSettings(encoder=encoder, **settings))


def test_new_positions_repeat_the_learned_ones(tiny_encoder: str) -> None:
    before, after = load_encoder(tiny_encoder), resized(tiny_encoder, positions=POSITIONS)
    assert (before.longest, after.longest) == (160, POSITIONS)
    table = after.network.embeddings.position_embeddings.weight
    learned = before.network.embeddings.position_embeddings.weight
    assert len(table) == POSITIONS
    assert all(torch.equal(table[place], learned[place % 160]) for place in (0, 159, 160, 161, 800, POSITIONS - 1))
    ids = before.tokenizer("the city is in the country", return_tensors="pt")["input_ids"]
    network = after.network.eval()
    torch.testing.assert_close(network(input_ids=ids).last_hidden_state, before.network.eval()(input_ids=ids).last_hidden_state)
    assert network(input_ids=torch.full((1, POSITIONS), 7)).last_hidden_state.shape[1] == POSITIONS


def test_the_first_layers_are_kept(tiny_encoder: str) -> None:
    before, after = load_encoder(tiny_encoder).network, resized(tiny_encoder, layers=1).network
    weights = before.state_dict()
    assert after.config.num_hidden_layers == len(after.encoder.layer) == 1
    assert all(torch.equal(weight, weights[name]) for name, weight in after.state_dict().items())


def connected(instance: Instance, other: Instance, reader: Any) -> bool:
    """Whether the last paragraph's support depends on the first paragraph."""
    scores = [said(reader, [each])[0].paragraph_scores[-1][1] for each in (instance, other)]
    return abs(scores[0] - scores[1]) > 1e-6


@pytest.mark.parametrize("name", ["ee", "context-only", "numeric", "sa"])
@pytest.mark.parametrize("positions", [None, POSITIONS])
def test_positions_connect_paragraphs(name: str, positions: int | None, tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(8)
    settings = {"positions": positions, "layers": 1}
    reader = fitted(name, tiny_encoder, tmp_path / "fit", some, settings=settings)
    first, *rest = some[0].paragraphs
    other = replace(some[0], paragraphs=(replace(first, text=paragraph(9).text), *rest))
    assert connected(some[0], other, reader) == (positions is not None)
    kept = again(reader, name, tiny_encoder, tmp_path / "saved")
    assert said(kept, some) == said(reader, some)
    assert connected(some[0], other, kept) == (positions is not None)


def test_a_long_question_set_is_one_window(tiny_encoder: str) -> None:
    """More tokens than the encoder had positions."""
    settings = EncoderSettings(encoder=tiny_encoder, positions=POSITIONS)
    long = replace(questions(1)[0], paragraphs=tuple(replace(paragraph(place % 16), id=f"p{place}") for place in range(20)))
    [row] = encode([long], Cutter(encoder_of(settings), settings, options=False), Targets()).to_pylist()
    assert len(row["lengths"]) == 1
    assert row["lengths"][0] > 160


@pytest.mark.parametrize(
    ("setting", "value", "fault"),
    [
        ("positions", 512, "the setting 'settings.positions' cannot be 512: it must be more than 1024"),
        ("positions", 5000, "the setting 'settings.positions' cannot be 5000: it must be at most 4096"),
        ("layers", 0, "the setting 'settings.layers' cannot be 0: "),
        ("layers", 3, r"layers = 3: .* has 2; use at most that many"),
        ("head_layers", 3, "the setting 'settings.head_layers' cannot be 3: "),
    ],
)
def test_a_value_that_cannot_be_is_a_sentence(setting: str, value: int, fault: str, tiny_encoder: str, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", train=questions(4))
    toml = write_toml(tmp_path / "reader.toml", "ee", tiny_encoder, settings=f"{setting} = {value}", epochs=1)
    with pytest.raises(SettingsError, match=fault) as raised:
        kgqa.train(str(toml), folder, out=tmp_path / "run")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_positions_that_max_length_forbids() -> None:
    with pytest.raises(ValidationError, match="leave one of them out"):
        EncoderSettings(positions=2048, max_length=512)


def test_positions_that_the_encoder_has(tiny_encoder: str, tmp_path: Path) -> None:
    encoder = resized(tiny_encoder, positions=POSITIONS)
    encoder.network.save_pretrained(tmp_path)
    encoder.tokenizer.save_pretrained(tmp_path)
    with pytest.raises(SettingsError, match=r"positions = 1200: .* reads 1,224 tokens already"):
        resized(str(tmp_path), positions=1200)
    assert resized(str(tmp_path), positions=2048).longest == 2048


def test_a_run_goes_on_and_predicts_with_its_positions(tiny_encoder: str, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", train=questions(8), dev=questions(4))
    toml = write_toml(tmp_path / "reader.toml", "ee", tiny_encoder, settings=f"positions = {POSITIONS}\nmarks = true", epochs=1)
    assert kgqa.train(str(toml), folder, out=tmp_path / "run").connects is True
    kgqa.predict(tmp_path / "run", folder, out=tmp_path / "p.json", metric="dire")
    kgqa.train(str(toml), folder, out=tmp_path / "more", start_from=tmp_path / "run")
    kgqa.predict(tmp_path / "more", folder, out=tmp_path / "q.json", metric="dire")
    other = write_toml(tmp_path / "other.toml", "ee", tiny_encoder, settings="positions = 2048", epochs=1)
    with pytest.raises(SettingsError, match=r"its positions is 1224, not 2048; leave the positions out"):
        kgqa.train(str(other), folder, out=tmp_path / "third", start_from=tmp_path / "run")


@pytest.mark.parametrize(("reader", "settings", "connects"), [
    ("ee", "", False), ("ee", f"positions = {POSITIONS}", True), ("sa", f"positions = {POSITIONS}", True),
    ("sa", f"positions = {POSITIONS}\nselected = 1", False), ("one-paragraph", f"positions = {POSITIONS}\nfolds = 1", False),
])  # fmt: skip
def test_a_run_says_whether_its_reader_connects_paragraphs(
    reader: str, settings: str, connects: bool, cli: Cli, tiny_encoder: str, tmp_path: Path
) -> None:
    folder = write_set(tmp_path / "set", train=questions(8))
    toml = write_toml(tmp_path / "reader.toml", reader, tiny_encoder, settings=settings, epochs=1)
    printed = " ".join(cli("train", str(toml), str(folder), "--out", str(tmp_path / "run")).out.split())
    assert ("cannot connect two" in printed) == (not connects)
    assert json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))["connects"] == connects


def test_marks_stand_before_paragraphs_and_sentences(tiny_encoder: str) -> None:
    settings = EncoderSettings(encoder=tiny_encoder, positions=POSITIONS, marks=True)
    encoder = encoder_of(settings)
    of_paragraph, of_sentence = marks_of(encoder)
    plain = settings.model_copy(update={"marks": False})
    some = questions(3)
    rows = encode(some, Cutter(encoder, settings, options=False), Targets()).to_pylist()
    plain_rows = encode(some, Cutter(encoder, plain, options=False), Targets()).to_pylist()
    for row, other, instance in zip(rows, plain_rows, some, strict=True):
        assert [row["ids"][place] for place in row["mark"]] == [of_paragraph] * len(instance.paragraphs)
        assert [row["ids"][place] for place in row["sentence"]] == [of_sentence] * sum(
            len(each.sentences or ()) for each in instance.paragraphs
        )
        assert [each for each in row["ids"] if each not in {of_paragraph, of_sentence}] == other["ids"]
        answers = {instance.paragraphs[row["paragraph"][first]].text[row["begin"][first] : row["end"][last]]
                   for first, last in zip(row["span_first"], row["span_last"], strict=True)}  # fmt: skip
        assert answers == set(instance.answers)
        assert row["mark_label"] == other["mark_label"]
        assert row["sentence_label"] == other["sentence_label"]


@pytest.mark.slow
def test_marks_and_two_layers_are_learned_and_kept(tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(8, shown=2)
    settings = {"marks": True, "head_layers": 2}
    reader = fitted("ee", tiny_encoder, tmp_path / "fit", some, epochs=150, settings=settings)
    found = said(reader, some)
    assert sum(one.answer == each.answers[0] for one, each in zip(found, some, strict=True)) >= 7
    assert said(again(reader, "ee", tiny_encoder, tmp_path / "saved"), some) == found


def test_two_layers_of_a_head(tiny_encoder: str, tmp_path: Path) -> None:
    reader: Any = fitted("ee", tiny_encoder, tmp_path / "fit", questions(4), settings={"head_layers": 2})
    names = set(reader._task.network.state_dict())
    assert {"span.0.weight", "span.2.weight", "support.2.bias", "sufficiency.0.weight"} <= names
    assert said(again(reader, "ee", tiny_encoder, tmp_path / "saved"), questions(4)) == said(reader, questions(4))


def test_the_list_of_readers_says_which_connect() -> None:
    said_of = {
        name: re.findall(r"Connects paragraphs[^.]*\.|Cannot connect paragraphs\.", text) for name, text in kgqa.list_readers().items()
    }
    assert said_of["ee"] == said_of["sa"] == said_of["numeric"]
    assert "positions" in said_of["ee"][0]
    assert said_of["one-paragraph"] == said_of["question-only"] == said_of["tf-idf"] == ["Cannot connect paragraphs."]
    assert said_of["bidaf"] == said_of["ex-ee"] == ["Connects paragraphs."]
    assert said_of["decomposer"] == said_of["link-selector"] == []
