"""The recurrent baseline of HotpotQA (Yang et al. 2018, section 5.1), as DiRe and MuSiQue reimplemented it.

Marks before paragraphs and sentences represent them, and a layer over their states predicts whether they support the answer (Trivedi et al.
2020, appendix B.3). The recurrent layers are GRUs, as in HotpotQA's own code.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.attention import AttentionFlow, SelfAttention
from kgqa.readers.recurrent.layers import Bidirectional, WordEmbedder, token_mask, vectors_at
from kgqa.readers.recurrent.spans import Batch, Spans, answer_tokens, with_independent_ends
from kgqa.readers.transformer.network import SingleLinear
from kgqa.readers.transformer.segments import LEAST


class Rnn(nn.Module):
    """The network; its word vectors are as wide as the states of its first GRU."""

    def __init__(self, words: WordEmbedder, *, hidden: int, dropout: float) -> None:
        """``words`` has 2 · ``hidden`` outputs."""
        super().__init__()
        size = 2 * hidden
        self.dropout = dropout
        self.words = words
        self.contextual = Bidirectional(size, hidden, nn.GRU)
        self.flow, self.narrow = AttentionFlow(size), nn.Linear(4 * size, size)
        self.modelling = Bidirectional(size, hidden, nn.GRU)
        self.to_itself, self.narrow_again = SelfAttention(size), nn.Linear(3 * size, size)
        self.supporting, self.starting, self.ending = (
            Bidirectional(size, hidden, nn.GRU),
            Bidirectional(2 * size, hidden, nn.GRU),
            Bidirectional(2 * size, hidden, nn.GRU),
        )
        self.paragraph, self.sentence, self.sufficiency = _scorer(size), _scorer(size), _scorer(size, labels=3)
        self.start, self.end = SingleLinear(size, 1), SingleLinear(size, 1)

    def forward(self, batch: Batch) -> Spans:
        """Logits of spans, of supporting paragraphs and sentences, and of sufficiency."""
        lengths = batch["lengths"]
        text = self._contextual_states(batch)
        support = self.supporting(self._drop(text), lengths)
        starting = self.starting(self._drop(torch.cat([text, support], dim=2)), lengths)
        ending = self.ending(self._drop(torch.cat([text, starting], dim=2)), lengths)
        can_answer = answer_tokens(batch)
        starts, ends = (
            layer(states)[..., 0].T.float().masked_fill(~can_answer, LEAST)
            for layer, states in ((self.start, starting), (self.end, ending))
        )
        paragraphs, sentences = (support[batch[f"{group}_at"], batch[f"{group}_row"]] for group in ("paragraph", "sentence"))
        return with_independent_ends(
            starts,
            ends,
            paragraphs=self.paragraph(paragraphs)[..., 0].float(),
            sentences=self.sentence(sentences)[..., 0].float(),
            sufficiency=self.sufficiency(support[0]).float(),
        )

    def _contextual_states(self, batch: Batch) -> torch.Tensor:
        """The text after attention to the question and to itself (T × B × 2 · hidden)."""
        words = self.words(batch["words"], batch["letters"], batch["unseen"])
        lengths, questions = batch["lengths"], batch["question_lengths"]
        text = self.contextual(vectors_at(words, batch["context"]), lengths)
        question = self.contextual(vectors_at(words, batch["question"]), questions)
        text_valid = token_mask(lengths, len(text))
        attended = torch.relu(
            self.narrow(self.flow(self._drop(text), self._drop(question), text_valid, token_mask(questions, len(question))))
        )
        modelled_states = self.modelling(self._drop(attended), lengths)
        return attended + torch.relu(self.narrow_again(self.to_itself(self._drop(modelled_states), text_valid)))

    def _drop(self, vectors: torch.Tensor) -> torch.Tensor:
        return functional.dropout(vectors, self.dropout, self.training)


def _scorer(size: int, *, labels: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, size // 2), nn.ReLU(), SingleLinear(size // 2, labels))
