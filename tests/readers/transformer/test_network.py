"""Windows that are read in groups have the hidden states that each has alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.settings.reader import EncoderSettings
from tests.small_questions import paragraph, question

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import pyarrow as pa  # noqa: E402

from kgqa.readers.transformer.batch import ReadingBatch  # noqa: E402
from kgqa.readers.transformer.encoder import load_encoder  # noqa: E402
from kgqa.readers.transformer.examples import Targets  # noqa: E402
from kgqa.readers.transformer.network import LIKE_LENGTH, groups  # noqa: E402
from kgqa.readers.transformer.reading import ReadingTask, supervision_of  # noqa: E402


@given(st.lists(st.integers(1, 4096), max_size=60), st.sampled_from([1024, 16384]))
def test_groups_hold_every_window_once_and_little_padding(lengths: list[int], most: int) -> None:
    found = list(groups(lengths, most=most))
    assert sorted(number for group in found for number in group) == list(range(len(lengths)))
    for group in found:
        longest = lengths[group[0]]
        assert longest == max(lengths[number] for number in group)
        assert min(lengths[number] for number in group) >= LIKE_LENGTH * longest
        assert len(group) == 1 or len(group) * longest <= most


def test_grouped_windows_have_the_states_that_each_has_alone(tiny_encoder: str) -> None:
    some = [
        question(number, shown=shown, paragraphs=tuple(paragraph(place) for place in range(shown)))
        for number, shown in enumerate((1, 5, 0, 3))
    ]
    some.append(question(4, question="who " * 80, paragraphs=(paragraph(1), paragraph(2))))
    task: Any = ReadingTask(load_encoder(tiny_encoder), EncoderSettings(encoder=tiny_encoder), supervision_of(some), Targets())
    task.network.eval()
    table = pa.Table.from_batches([task.encode(some)])
    batch = ReadingBatch(**task.collate(table))
    with torch.inference_mode():
        together = task.network.hidden(batch)
        at = 0
        for length in batch.lengths.tolist():
            ids = batch.ids[at : at + length][None]
            example = int(batch.token_example[at])
            types = (torch.arange(length)[None] >= batch.question_tokens[example]).long()
            alone = task.network.encoder(input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=types).last_hidden_state[0]
            torch.testing.assert_close(together[at : at + length], alone, atol=2e-6, rtol=1e-5)
            at += length
    assert at == len(together)
