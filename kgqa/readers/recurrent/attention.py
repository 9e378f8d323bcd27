"""Attention between a text and its question, and of a text to itself, without a tensor of all pairs' vectors.

The trilinear similarity w · [h; u; h∘u] of every pair (Seo et al. 2017, section 2) is a sum of three products of matrices: memory is
text × question, not text × question × 6d.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.layers import LEAST


class Trilinear(nn.Module):
    """The similarity of every token of one text to every one of another."""

    def __init__(self, size: int) -> None:
        """``size`` numbers have the vectors of both."""
        super().__init__()
        self.left = nn.Linear(size, 1, bias=False)
        self.right = nn.Linear(size, 1, bias=False)
        self.both = nn.Parameter(torch.ones(size) * size**-0.5)

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """(B × T × size), (B × Q × size) → (B × T × Q)."""
        return torch.baddbmm(self.left(left) + self.right(right).transpose(1, 2), left * self.both, right.transpose(1, 2))


class AttentionFlow(nn.Module):
    """What each token of the text sees in the question, and what the question sees in the text (Seo et al. 2017, equations 1 to 4)."""

    def __init__(self, size: int) -> None:
        """From ``size`` numbers to 4 · ``size``."""
        super().__init__()
        self.similarity = Trilinear(size)

    def forward(self, text: torch.Tensor, question: torch.Tensor, text_valid: torch.Tensor, question_valid: torch.Tensor) -> torch.Tensor:
        """(T × B × size), (Q × B × size), which tokens are no padding (B × T, B × Q) → (T × B × 4 · size)."""
        text, question = text.transpose(0, 1), question.transpose(0, 1)
        similar = self.similarity(text, question).masked_fill(~question_valid[:, None], LEAST)
        to_question = similar.softmax(dim=2) @ question
        best = similar.amax(dim=2).masked_fill(~text_valid, LEAST)
        to_text = best.softmax(dim=1)[:, None] @ text
        parts = (text, to_question, text * to_question, text * to_text)
        return torch.cat([part.transpose(0, 1) for part in parts], dim=2)


class SelfAttention(nn.Module):
    """What each token sees in the other tokens (Clark and Gardner 2018; Yang et al. 2018, section 5.1): the same similarity.

    Its first part is the same for all that a token compares, and cancels; the second is one more number of the key.
    """

    def __init__(self, size: int) -> None:
        """From ``size`` numbers to 3 · ``size``."""
        super().__init__()
        self.key = nn.Linear(size, 1, bias=False)
        self.both = nn.Parameter(torch.ones(size) * size**-0.5)

    def forward(self, text: torch.Tensor, text_valid: torch.Tensor) -> torch.Tensor:
        """(T × B × size), (B × T) → (T × B × 3 · size); no token sees itself."""
        text = text.transpose(0, 1)
        query = functional.pad(text * self.both, (0, 1), value=1.0)
        key = torch.cat([text, self.key(text)], dim=2)
        length = text.shape[1]
        others = ~torch.eye(length, dtype=torch.bool, device=text.device)
        # A text of one token has no others: it sees itself.
        seen = text_valid[:, None] & (others | (text_valid.sum(dim=1) == 1)[:, None, None]) | ~text_valid[:, :, None]
        found = functional.scaled_dot_product_attention(query, key, text, attn_mask=seen, scale=1.0)
        return torch.cat([part.transpose(0, 1) for part in (text, found, text * found)], dim=2)
