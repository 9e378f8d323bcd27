"""Decoder-only networks as encoders: what their tokens see, where a window is read, and what cannot work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import BrokenInput, KgqaError, SettingsError
from kgqa.records import Candidate, Instance
from kgqa.settings.reader import EncoderSettings
from tests.small_links import linked_questions
from tests.small_questions import question, questions, write_set, write_toml

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import pyarrow as pa  # noqa: E402

from kgqa.readers.transformer.batch import ReadingBatch  # noqa: E402
from kgqa.readers.transformer.encoder import load_encoder  # noqa: E402
from kgqa.readers.transformer.examples import Targets, encode  # noqa: E402
from kgqa.readers.transformer.reading import ReadingTask, supervision_of  # noqa: E402
from kgqa.readers.transformer.resizing import encoder_of  # noqa: E402
from kgqa.readers.transformer.windows import Cutter  # noqa: E402
from tests.readers.transformer import test_linked  # noqa: E402
from tests.readers.transformer.test_families import write_family  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, right, said  # noqa: E402

transformers: Any = pytest.importorskip("transformers")
YES_NO = [question(number, answers=("yes", "no")[number % 2 : number % 2 + 1], answer_type="boolean") for number in range(8)]


@pytest.fixture(scope="module", params=["llama", "qwen2"])
def decoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_family(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_family("llama", tmp_path_factory.mktemp("llama"))


def test_what_a_token_sees_is_found_out(decoder: str, tiny_encoder: str) -> None:
    assert load_encoder(decoder).causal
    assert not load_encoder(tiny_encoder).causal
    assert not encoder_of(EncoderSettings(encoder=decoder, bidirectional=True)).causal
    assert load_encoder(decoder).causal  # the setting is no property of the folder


def states(task: Any, these: list[Instance]) -> tuple[ReadingBatch, Any]:
    batch = ReadingBatch(**task.collate(pa.Table.from_batches([task.encode(these)])))
    with torch.inference_mode():
        return batch, task.network.hidden(batch)


def reading(encoder: str, some: list[Instance], **settings: Any) -> Any:
    asked = EncoderSettings(encoder=encoder, **settings)
    torch.manual_seed(2)
    task: Any = ReadingTask(encoder_of(asked), asked, supervision_of(some), Targets())
    task.network.eval()
    return task


def places(task: Any, batch: ReadingBatch) -> dict[str, Any]:
    """What is read of the hidden states, apart from spans in paragraphs."""
    options = (batch.paragraph >= 2).nonzero().flatten()
    return {"paragraph": batch.mark, "sentence": batch.sentence, "window": task.network.summaries(batch), "yes and no": options}


@pytest.mark.parametrize("bidirectional", [False, True])
def test_all_that_is_read_depends_on_question_and_paragraphs(bidirectional: bool, decoder: str) -> None:
    some = [replace(each, paragraphs=each.paragraphs[:2]) for each in YES_NO[:2]]
    task = reading(decoder, some, bidirectional=bidirectional)
    first = some[0]
    batch, hidden = states(task, [first])
    assert len(places(task, batch)["sentence"]) == 4
    assert len(places(task, batch)["yes and no"]) >= 2
    other_question = replace(first, question=first.question.replace("is the", "the is"))
    words = [replace(shown, text=shown.text.replace("is a", "a is")) for shown in first.paragraphs]
    for other in (other_question, replace(first, paragraphs=tuple(words))):
        changed_batch, changed = states(task, [other])
        assert changed_batch.lengths.tolist() == batch.lengths.tolist()
        for name, place in places(task, batch).items():
            difference = (hidden[place] - changed[places(task, changed_batch)[name]]).abs().amax(1)
            assert bool((difference > 1e-4).all()), name
    spans = (batch.paragraph >= 0).nonzero().flatten()
    _, changed = states(task, [other_question])
    assert bool(((hidden[spans] - changed[spans]).abs().amax(1) > 1e-5).all())


def test_the_order_of_a_window(decoder: str) -> None:
    encoder = load_encoder(decoder)
    tokenizer, some = encoder.tokenizer, YES_NO[:1]
    for bidirectional in (False, True):
        settings = EncoderSettings(encoder=decoder, bidirectional=bidirectional)
        [row] = encode(some, Cutter(encoder_of(settings), settings, options=True), Targets()).to_pylist()
        text = tokenizer.decode(row["ids"])
        parts = [text.index(part) for part in (some[0].question, some[0].paragraphs[0].text, some[0].paragraphs[1].text)]
        assert parts == sorted(parts)
        assert (text.index("yes no") > parts[-1]) == (not bidirectional)
        if not bidirectional:
            ends = [tokenizer.decode(row["ids"][: place + 1]) for place in row["mark"]]
            assert all(end.endswith(shown.text + tokenizer.eos_token) for end, shown in zip(ends, some[0].paragraphs, strict=True))
            sentences = [tokenizer.decode(row["ids"][: place + 1]) for place in row["sentence"]]
            assert all(sentence.rstrip().endswith(".") for sentence in sentences)


@pytest.mark.parametrize("longest", [40, 64, 1500])
def test_no_window_is_too_long(longest: int, llama: str) -> None:
    settings = EncoderSettings(encoder=llama, max_length=longest)
    cutter = Cutter(encoder_of(settings), settings, options=True)
    long = [replace(each, paragraphs=tuple(replace(p, text=p.text * 9) for p in each.paragraphs * 9)) for each in YES_NO[:2]]
    for row in encode(long, cutter, Targets()).to_pylist():
        assert max(row["lengths"]) <= longest
        assert len(row["lengths"]) > 1
        assert len(row["span_first"]) == len(row["lengths"])  # each window ends with yes and no


@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_changes_no_score(bidirectional: bool, decoder: str, tmp_path: Path) -> None:
    some = [question(number, shown=1 + number % 3) for number in range(8)]
    reader = fitted("ee", decoder, tmp_path / "fit", some, settings={"bidirectional": bidirectional, "max_length": 200}, epochs=2)
    for one, each in zip(said(reader, some), some, strict=True):
        [alone] = said(reader, [each])
        assert one.answer == alone.answer
        assert one.confidence == pytest.approx(alone.confidence, abs=1e-5)
        assert dict(one.paragraph_scores) == pytest.approx(dict(alone.paragraph_scores), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_small_task_is_learned_with_lora(bidirectional: bool, decoder: str, tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the extra [readers] is not installed")
    some = questions(4, shown=2)
    settings = {"lora_rank": 8, "bidirectional": bidirectional}
    reader = fitted(
        "ee", decoder, tmp_path / "fit", some, epochs=100, settings=settings, learning_rate=0.003, gradient_checkpointing=True
    )  # fmt: skip
    found = said(reader, some)
    assert right(found, some) == len(some)
    assert said(again(reader, "ee", decoder, tmp_path / "saved"), some) == found


EMPTY = replace(question(9), candidates=(Candidate(id="a", text=""), Candidate(id="b", text="\u200b")), question="")


@pytest.mark.parametrize("name", ["sa", "question-only", "numeric", "boolean"])
def test_other_readers_read_with_it(name: str, decoder: str, tmp_path: Path) -> None:
    some = YES_NO if name == "boolean" else questions(8, candidates=name == "question-only")
    settings: dict[str, Any] = {"bidirectional": name == "sa"} | ({"folds": 1} if name == "sa" else {})
    reader = fitted(name, decoder, tmp_path / "fit", some, settings=settings)
    asked = [*some, EMPTY, question(10, paragraphs=())]
    assert said(again(reader, name, decoder, tmp_path / "saved"), asked) == said(reader, asked)


@pytest.mark.parametrize("name", ["link-selector", "window-selector"])
def test_selectors_read_with_it(name: str, llama: str, tmp_path: Path) -> None:
    some = linked_questions()
    for bidirectional in (False, True):
        place = tmp_path / str(bidirectional)
        reader = test_linked.fitted(name, llama, place / "fit", some, settings={"bidirectional": bidirectional})
        assert said(test_linked.again(reader, name, place / "saved"), some) == said(reader, some)


def test_gpt_2_has_layers_of_its_own_kind(tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the extra [readers] is not installed")
    folder = write_family("qwen2", tmp_path)
    pieces = load_encoder(folder).rows
    torch.manual_seed(1)
    config = transformers.GPT2Config(vocab_size=pieces, n_positions=256, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    some = questions(4)
    reader: Any = fitted("ee", folder, tmp_path / "fit", some, settings={"lora_rank": 2, "layers": 1, "bidirectional": True})
    assert said(again(reader, "ee", folder, tmp_path / "saved"), some) == said(reader, some)


def test_a_run_keeps_its_attention(llama: str, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", train=questions(8), dev=questions(4))
    toml = write_toml(tmp_path / "reader.toml", "ee", llama, settings="bidirectional = true", epochs=1)
    assert kgqa.train(str(toml), folder, out=tmp_path / "run").connects is True
    assert not load_encoder(str(tmp_path / "run")).causal
    kgqa.train(str(toml), folder, out=tmp_path / "more", start_from=tmp_path / "run")
    kgqa.predict(tmp_path / "more", folder, out=tmp_path / "p.json", metric="dire")
    other = write_toml(tmp_path / "other.toml", "ee", llama, settings="bidirectional = false", epochs=1)
    with pytest.raises(SettingsError, match=r"its bidirectional is True, not False; leave the bidirectional out"):
        kgqa.train(str(other), folder, out=tmp_path / "third", start_from=tmp_path / "run")


def without_end(folder: Path) -> str:
    name = write_family("qwen2", folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    tokenizer.eos_token = None
    tokenizer.save_pretrained(name)
    return name


@pytest.mark.parametrize(("reader", "encoder", "settings", "kind", "fault"), [
    ("ee", "llama", "marks = true", SettingsError, r"marks = true: .* leave marks out, or set bidirectional = true"),
    ("ee", "bert", "bidirectional = true", SettingsError, r"bidirectional = true: .*\(bert\) see later ones already; leave it out"),
    ("question-only", "bert", "bidirectional = true", SettingsError, r"see later ones already"),
    ("ee", "llama", "positions = 4000", SettingsError, r"no table of learned positions"),
    ("decomposer", "llama", "", BrokenInput, r"encoders of the type llama cannot get a decoder"),
    ("ee", "no end", "", BrokenInput, r"no token for the beginning or the end of a text"),
])  # fmt: skip
def test_what_cannot_work_is_a_sentence(
    reader: str, encoder: str, settings: str, kind: type[KgqaError], fault: str, llama: str, tiny_encoder: str, tmp_path: Path
) -> None:
    name = {"llama": llama, "bert": tiny_encoder}.get(encoder) or without_end(tmp_path)
    folder = write_set(tmp_path / "set", train=questions(4))
    toml = write_toml(tmp_path / "reader.toml", reader, name, settings=settings, epochs=1)
    with pytest.raises(kind, match=fault) as raised:
        kgqa.train(str(toml), folder, out=tmp_path / "run")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()
