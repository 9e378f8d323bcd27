"""Attention without the tensor of all pairs is the same as with it."""

from __future__ import annotations

import pytest
import torch

from kgqa.readers.recurrent.attention import SelfAttention, Trilinear
from kgqa.readers.recurrent.layers import Bidirectional, token_mask


def test_the_trilinear_trick_equals_the_naive_product() -> None:
    torch.manual_seed(0)
    left, right, layer = torch.randn(2, 5, 4), torch.randn(2, 3, 4), Trilinear(4)
    pairs = (left[:, :, None].expand(2, 5, 3, 4), right[:, None].expand(2, 5, 3, 4))
    weight = torch.cat([layer.left.weight[0], layer.right.weight[0], layer.both])
    torch.testing.assert_close(layer(left, right), torch.cat([*pairs, pairs[0] * pairs[1]], dim=3) @ weight)


def test_self_attention_equals_the_naive_one_and_no_token_sees_itself() -> None:
    torch.manual_seed(0)
    text, layer, length = torch.randn(5, 1, 4), SelfAttention(4), 3
    rows = text[:length, 0]
    similar = layer.key(rows).T + (rows * layer.both) @ rows.T
    found = similar.fill_diagonal_(-torch.inf).softmax(dim=1) @ rows
    seen = layer(text, token_mask(torch.tensor([length]), 5))[:length, 0]
    torch.testing.assert_close(seen, torch.cat([rows, found, rows * found], dim=1))


@pytest.mark.parametrize("cell", [torch.nn.LSTM, torch.nn.GRU])
def test_a_layer_over_padding_equals_torchs_over_each_text_alone(cell: type[torch.nn.LSTM] | type[torch.nn.GRU]) -> None:
    torch.manual_seed(0)
    layer, lengths = Bidirectional(3, 2, cell), [4, 1, 6]
    both = cell(3, 2, bidirectional=True)
    own = dict(layer.onward.state_dict())
    both.load_state_dict(own | {f"{name}_reverse": value for name, value in layer.backward_.state_dict().items()})
    texts = torch.randn(6, 3, 3)
    found = layer(texts, torch.tensor(lengths))
    for number, length in enumerate(lengths):
        torch.testing.assert_close(found[:length, number], both(texts[:length, number])[0])
