"""Attention between a text and its question, and of a text to itself, without a tensor of all pairs' vectors.

The trilinear similarity w · [h; u; h∘u] of every pair (Seo et al. 2017, section 2) is a sum of three matrix products. So memory is
text × question, not text × question × 6d.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.transformer.segments import LEAST


class Trilinear(nn.Module):
    """The similarity of every token of one text to every token of another."""

    def __init__(self, size: int) -> None:
        """``size``: width of the vectors of both texts."""
        super().__init__()
        self.left = nn.Linear(size, 1, bias=False)
        self.right = nn.Linear(size, 1, bias=False)
        self.both = nn.Parameter(torch.ones(size) * size**-0.5)

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """(B × T × size), (B × Q × size) → (B × T × Q)."""
        return torch.baddbmm(self.left(left) + self.right(right).transpose(1, 2), left * self.both, right.transpose(1, 2))


class AttentionFlow(nn.Module):
    """Attention from text to question and from question to text (Seo et al. 2017, equations 1 to 4)."""

    def __init__(self, size: int) -> None:
        """Maps width ``size`` to 4 · ``size``."""
        super().__init__()
        self.similarity = Trilinear(size)

    def forward(self, text: torch.Tensor, question: torch.Tensor, text_valid: torch.Tensor, question_valid: torch.Tensor) -> torch.Tensor:
        """(T × B × size), (Q × B × size), masks of valid tokens (B × T, B × Q) → (T × B × 4 · size)."""
        text, question = text.transpose(0, 1), question.transpose(0, 1)
        similarities = self.similarity(text, question).masked_fill(~question_valid[:, None], LEAST)
        to_question = similarities.softmax(dim=2) @ question
        strongest = similarities.amax(dim=2).masked_fill(~text_valid, LEAST)
        to_text = strongest.softmax(dim=1)[:, None] @ text
        parts = (text, to_question, text * to_question, text * to_text)
        return torch.cat([part.transpose(0, 1) for part in parts], dim=2)


class SelfAttention(nn.Module):
    """Attention of each token to the other tokens, with the same similarity (Clark and Gardner 2018; Yang et al. 2018, section 5.1).

    The first term of the similarity is the same for all keys of a query, and cancels in the softmax. The second is an extra column of the
    key.
    """

    def __init__(self, size: int) -> None:
        """Maps width ``size`` to 3 · ``size``."""
        super().__init__()
        self.key = nn.Linear(size, 1, bias=False)
        self.both = nn.Parameter(torch.ones(size) * size**-0.5)

    def forward(self, text: torch.Tensor, text_valid: torch.Tensor) -> torch.Tensor:
        """(T × B × size), (B × T) → (T × B × 3 · size); no token attends to itself."""
        text = text.transpose(0, 1)
        query = functional.pad(text * self.both, (0, 1), value=1.0)
        key = torch.cat([text, self.key(text)], dim=2)
        length = text.shape[1]
        is_other = ~torch.eye(length, dtype=torch.bool, device=text.device)
        # A text of one token has no others: it sees itself.
        is_visible = text_valid[:, None] & (is_other | (text_valid.sum(dim=1) == 1)[:, None, None]) | ~text_valid[:, :, None]
        attended = functional.scaled_dot_product_attention(query, key, text, attn_mask=is_visible, scale=1.0)
        return torch.cat([part.transpose(0, 1) for part in (text, attended, text * attended)], dim=2)
