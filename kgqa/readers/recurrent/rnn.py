"""The recurrent baseline of HotpotQA (Yang et al. 2018, section 5.1), as DiRe and MuSiQue built it anew.

Marks before paragraphs and sentences stand for them, and a layer over their states tells whether they support the answer (Trivedi et al.
2020, appendix B.3). The recurrent layers are GRUs, as in HotpotQA's own code.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.attention import AttentionFlow, SelfAttention
from kgqa.readers.recurrent.layers import LEAST, Bidirectional, Words, placed, valid
from kgqa.readers.recurrent.spans import Batch, Spans, answer_tokens, independent


class Rnn(nn.Module):
    """The network; its words come out as wide as its first GRU's states."""

    def __init__(self, words: Words, *, hidden: int, dropout: float) -> None:
        """``words`` gives 2 · ``hidden`` numbers."""
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
        self.start, self.end = nn.Linear(size, 1), nn.Linear(size, 1)

    def forward(self, batch: Batch) -> Spans:
        """The scores of spans, of supporting paragraphs and sentences, and of sufficiency."""
        lengths = batch["lengths"]
        read = self._read(batch)
        support = self.supporting(self._drop(read), lengths)
        starting = self.starting(self._drop(torch.cat([read, support], dim=2)), lengths)
        ending = self.ending(self._drop(torch.cat([read, starting], dim=2)), lengths)
        possible = answer_tokens(batch)
        starts, ends = (
            layer(states)[..., 0].T.float().masked_fill(~possible, LEAST) for layer, states in ((self.start, starting), (self.end, ending))
        )
        paragraphs, sentences = (support[batch[f"{group}_at"], batch[f"{group}_row"]] for group in ("paragraph", "sentence"))
        return independent(
            starts,
            ends,
            paragraphs=self.paragraph(paragraphs)[..., 0].float(),
            sentences=self.sentence(sentences)[..., 0].float(),
            sufficiency=self.sufficiency(support[0]).float(),
        )

    def _read(self, batch: Batch) -> torch.Tensor:
        """The text in the light of the question, and of itself (T × B × 2 · hidden)."""
        words = self.words(batch["words"], batch["letters"])
        lengths, questions = batch["lengths"], batch["question_lengths"]
        text = self.contextual(placed(words, batch["context"]), lengths)
        question = self.contextual(placed(words, batch["question"]), questions)
        text_valid = valid(lengths, len(text))
        seen = torch.relu(self.narrow(self.flow(self._drop(text), self._drop(question), text_valid, valid(questions, len(question)))))
        modelled = self.modelling(self._drop(seen), lengths)
        return seen + torch.relu(self.narrow_again(self.to_itself(self._drop(modelled), text_valid)))

    def _drop(self, vectors: torch.Tensor) -> torch.Tensor:
        return functional.dropout(vectors, self.dropout, self.training)


def _scorer(size: int, *, labels: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, size // 2), nn.ReLU(), nn.Linear(size // 2, labels))
