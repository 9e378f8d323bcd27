"""Greedy writing takes the most probable token each time, and more beams find a text that is at least as probable."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")
transformers: Any = pytest.importorskip("transformers")

from kgqa.readers.transformer.copying import CopyingNetwork  # noqa: E402
from kgqa.readers.transformer.decoding import decode  # noqa: E402
from kgqa.readers.transformer.encoder_decoder import EncoderDecoder, load_encoder_decoder  # noqa: E402
from kgqa.settings.seq2seq import Seq2SeqSettings  # noqa: E402

LONGEST = 12
Writing = tuple[CopyingNetwork, EncoderDecoder]


def write_t5(folder: Path, tiny_encoder: str) -> str:
    """A random T5 whose own configuration asks for longer texts."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_encoder, eos_token="[SEP]")
    tokenizer.save_pretrained(folder)
    torch.manual_seed(2)
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, pad_token_id=0,
        eos_token_id=tokenizer.eos_token_id, decoder_start_token_id=0,
    )  # fmt: skip
    network = transformers.T5ForConditionalGeneration(config)
    network.generation_config = transformers.GenerationConfig(
        min_new_tokens=9, no_repeat_ngram_size=1, num_beams=3, decoder_start_token_id=0
    )
    network.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module", params=[("bert", True), ("bert", False), ("t5", True), ("t5", False)], ids=str)
def writing(request: pytest.FixtureRequest, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Writing:
    kind, copies = request.param
    name = tiny_encoder if kind == "bert" else write_t5(tmp_path_factory.mktemp("t5"), tiny_encoder)
    torch.manual_seed(3)
    model = load_encoder_decoder(Seq2SeqSettings(encoder=name, decoder_layers=1))
    network = CopyingNetwork(model, copies=copies)
    for parameter in network.parameters():  # so that texts differ, and some end early
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return network.eval(), model


def sources(model: EncoderDecoder, count: int = 24) -> tuple[Any, Any]:
    tokens = torch.randint(5, 60, (count, 9), generator=torch.Generator().manual_seed(4))
    mask = (torch.arange(9) < 3 + torch.arange(count)[:, None] % 7).long()
    return torch.where(mask.bool(), tokens, model.pad), mask


def log_probabilities(network: CopyingNetwork, model: EncoderDecoder, source: Any, mask: Any, text: list[int]) -> Any:
    """Of each token of the text, with its end if it has one."""
    target = torch.tensor([text + [model.end] * (len(text) < LONGEST)])
    before = torch.cat([torch.tensor([[model.start]]), target[:, :-1]], 1)
    return network.of_targets(source[None], mask[None], before, target)[0]


def test_one_beam_takes_the_most_probable_token(writing: Writing) -> None:
    network, model = writing
    with torch.inference_mode():
        source, mask = sources(model)
        texts = decode(network, model, source, mask, beams=1, longest=LONGEST)
        assert len({tuple(text) for text in texts}) > 3
        for row, text in enumerate(texts):
            one, its_mask = source[row : row + 1], mask[row : row + 1]
            states, prefix = network.read(one, its_mask), [model.start]
            for _ in range(LONGEST):
                tokens = torch.tensor([prefix])
                scores = network.of_all(one, its_mask, states, tokens, network.write(states, its_mask, tokens))
                prefix.append(int(scores.argmax()))
                if prefix[-1] == model.end:
                    break
            assert text == [token for token in prefix[1:] if token not in {model.end, model.pad}]


def test_more_beams_find_texts_that_are_at_least_as_probable(writing: Writing) -> None:
    network, model = writing
    with torch.inference_mode():
        source, mask = sources(model)
        means = []
        for beams in (1, 4):
            texts = decode(network, model, source, mask, beams=beams, longest=LONGEST)
            found = [log_probabilities(network, model, source[row], mask[row], text) for row, text in enumerate(texts)]
            means.append(float(torch.stack([each.mean() for each in found]).mean()))
    assert means[1] > means[0]


def test_a_text_is_the_same_whatever_is_written_beside_it(writing: Writing) -> None:
    network, model = writing
    source, mask = sources(model, 6)

    def write(rows: slice) -> list[list[int]]:
        with torch.inference_mode():
            return decode(network, model, source[rows], mask[rows], beams=2, longest=LONGEST)

    with ThreadPoolExecutor(3) as threads:
        alone = [text for [text] in threads.map(write, [slice(row, row + 1) for row in range(6)])]
    assert alone == write(slice(0, 6))
