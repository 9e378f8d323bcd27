"""BiDAF: attention in both directions between text and question, then LSTMs over the result (Seo et al. 2017).

The paper's ends depend on the text alone. The authors' code, behind their figures, lets them depend on where the answer begins: its last
LSTM also reads the mean of the text's states, weighted by the probabilities of starts. So does this one.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.attention import AttentionFlow
from kgqa.readers.recurrent.layers import Bidirectional, WordEmbedder, token_mask, vectors_at
from kgqa.readers.recurrent.spans import Batch, Spans, answer_tokens, with_independent_ends
from kgqa.readers.transformer.network import SingleLinear
from kgqa.readers.transformer.segments import LEAST


class Bidaf(nn.Module):
    """The network; its word vectors are as wide as the states of its first LSTM."""

    def __init__(self, words: WordEmbedder, *, hidden: int, dropout: float) -> None:
        """``words`` has 2 · ``hidden`` outputs."""
        super().__init__()
        size = 2 * hidden
        self.dropout = dropout
        self.words = words
        self.contextual = Bidirectional(size, hidden)
        self.flow = AttentionFlow(size)
        self.modelling = nn.ModuleList([Bidirectional(4 * size, hidden), Bidirectional(size, hidden)])
        self.ending = Bidirectional(7 * size, hidden)
        self.start_seen, self.start_modelled = SingleLinear(4 * size, 1), SingleLinear(size, 1)
        self.end_seen, self.end_modelled = SingleLinear(4 * size, 1), SingleLinear(size, 1)

    def forward(self, batch: Batch) -> Spans:
        """Logits of spans; ``batch`` as in :func:`~kgqa.readers.recurrent.collation.collate`."""
        words = self.words(batch["words"], batch["letters"], batch["unseen"])
        lengths, questions = batch["lengths"], batch["question_lengths"]
        text = self.contextual(vectors_at(words, batch["context"]), lengths)
        question = self.contextual(vectors_at(words, batch["question"]), questions)
        attended = self.flow(self._drop(text), self._drop(question), token_mask(lengths, len(text)), token_mask(questions, len(question)))
        states = attended
        for layer in self.modelling:
            states = layer(self._drop(states), lengths)
        starts = self._logits(self.start_seen(attended) + self.start_modelled(self._drop(states)), batch)
        begun = (starts.softmax(dim=1)[:, None] @ states.transpose(0, 1).float()).transpose(0, 1).to(states.dtype).expand_as(states)
        end_states = self.ending(self._drop(torch.cat([attended, states, begun, states * begun], dim=2)), lengths)
        ends = self._logits(self.end_seen(attended) + self.end_modelled(self._drop(end_states)), batch)
        return with_independent_ends(starts, ends)

    def _logits(self, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """(T × B × 1) → float32 (B × T), LEAST where no answer can be."""
        return scores[..., 0].T.float().masked_fill(~answer_tokens(batch), LEAST)

    def _drop(self, vectors: torch.Tensor) -> torch.Tensor:
        return functional.dropout(vectors, self.dropout, self.training)
