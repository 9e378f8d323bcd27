"""Word embeddings, and recurrent layers over padded batches.

Vectors of texts are tokens × batch × width (T × B × n), as the recurrent layers need them; masks and logits are batch × tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.vocabulary import PADDING, RESERVED, UNKNOWN

LETTER_SIZE = 8
"""Width of a character's vector; ``LETTER_WIDTH``: characters per filter (Seo et al. 2017, section 3)."""
LETTER_WIDTH = 5
HIGHWAYS = 2
AT_ONCE = 4096
"""Words per forward pass when the whole vocabulary is embedded."""


def token_mask(lengths: torch.Tensor, longest: int) -> torch.Tensor:
    """True for tokens, False for padding: bool (B × longest)."""
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


class Bidirectional(nn.Module):
    """An LSTM or GRU per direction; the backward one starts at each text's own last token, so that padding has no effect.

    These are two unidirectional layers over padded texts, not a bidirectional one over packed texts. Only so does the CPU use a fused
    kernel for LSTMs, which takes a seventh of the time in training and a third in prediction. GRUs have no such kernel, and take 2.6 and
    1.8 times as long as these LSTMs.
    """

    def __init__(self, size: int, hidden: int, cell: type[nn.LSTM] | type[nn.GRU] = nn.LSTM) -> None:
        """Maps width ``size`` to 2 · ``hidden``."""
        super().__init__()
        self.onward = cell(size, hidden)
        self.backward_ = cell(size, hidden)
        for name, parameter in self.named_parameters():
            if "bias_hh" in name:
                nn.init.zeros_(parameter)
            elif "bias_ih" in name:
                # Forget little at first (Jozefowicz et al. 2015): texts are a thousand tokens long. The second gate of both decides.
                nn.init.zeros_(parameter)
                with torch.no_grad():
                    parameter[hidden : 2 * hidden] = 1.0
            elif "weight_hh" in name:
                nn.init.orthogonal_(parameter)

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """(T × B × size) → (T × B × 2 · hidden); the vectors of padding are arbitrary."""
        if vectors.is_cuda:
            # torch's autocast has cuDNN compute in half precision whatever was asked for, in which the gradients of long texts vanish.
            with torch.autocast(vectors.device.type, enabled=False):
                return self._both_directions(vectors.float(), lengths)
        return self._both_directions(vectors, lengths)

    def _both_directions(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        rows = reversed_rows(lengths, len(vectors))
        forward_states, _ = self.onward(vectors)
        backward_states, _ = self.backward_(_select_rows(vectors, rows))
        return torch.cat([forward_states, _select_rows(backward_states, rows)], dim=2)


def reversed_rows(lengths: torch.Tensor, longest: int) -> torch.Tensor:
    """Row numbers (longest · B) that reverse each text of a padded batch and leave the padding in place."""
    places = torch.arange(longest, device=lengths.device)[:, None]
    reversed_places = torch.where(places < lengths, lengths - 1 - places, places)
    return (reversed_places * len(lengths) + torch.arange(len(lengths), device=lengths.device)).flatten()


def _select_rows(vectors: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return vectors.flatten(0, 1).index_select(0, rows).view(vectors.shape)


class Highway(nn.Module):
    """A gate per number decides between the input and its transformation (Srivastava et al. 2015)."""

    def __init__(self, size: int, layers: int = HIGHWAYS) -> None:
        """Keeps the width ``size``."""
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(size, 2 * size) for _ in range(layers))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """(… × size) → (… × size)."""
        for layer in self.layers:
            new, gate = layer(vectors).chunk(2, dim=-1)
            vectors = vectors + torch.sigmoid(gate) * (torch.relu(new) - vectors)
        return vectors


class CharacterCnn(nn.Module):
    """A vector per word from its characters: convolution filters with max pooling (Kim 2014)."""

    def __init__(self, count: int, filters: int) -> None:
        """``count`` characters, ``filters`` convolution filters."""
        super().__init__()
        self.vectors = nn.Embedding(count, LETTER_SIZE, padding_idx=PADDING)
        self.filters = nn.Conv1d(LETTER_SIZE, filters, LETTER_WIDTH, padding=LETTER_WIDTH - 1)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        """(U × letters) → (U × filters)."""
        return functional.relu(self.filters(self.vectors(letters).transpose(1, 2)).amax(dim=2))


class WordEmbedder(nn.Module):
    """A vector per distinct word of a batch, from its embedding and its characters; independent of the word's context.

    Placeholders of masked sets mean nothing by themselves. In each training step they therefore change places with each other at random.

    In prediction the vectors of the whole vocabulary are computed once, and kept until the network is trained or loads other weights.
    """

    def __init__(
        self,
        spellings: torch.Tensor,
        size: int,
        *,
        letters: int,
        filters: int,
        to: int,
        dropout: float,
        pretrained: torch.Tensor | None = None,
        placeholders: Sequence[int] = (),
    ) -> None:
        """``spellings``: numbers of the characters of all words (words × LETTERS). ``placeholders``: numbers of the words that are masks.

        An embedding has ``size`` numbers, or those of a ``pretrained`` table (words × n). The table stays fixed, except for reserved words
        and placeholders, which get vectors that are learned: a table of word pieces has nearly one vector for all placeholders. Words
        without a pretrained vector share the learned one of the unknown word. The output has ``to`` numbers.
        """
        super().__init__()
        self.dropout = dropout
        self.pretrained = pretrained is not None
        self.table = nn.Embedding(len(spellings), size if pretrained is None else pretrained.shape[1], padding_idx=PADDING)
        if pretrained is None:
            nn.init.normal_(self.table.weight, std=size**-0.5)
        else:
            self.table.weight.requires_grad_(False)
            self.table.weight.copy_(pretrained)
            self.marks = nn.Parameter(torch.randn(len(RESERVED) + len(placeholders), pretrained.shape[1]) * pretrained.std())
        mark_of = torch.full((len(spellings),), -1)
        mark_of[[*range(len(RESERVED)), *placeholders]] = torch.arange(len(RESERVED) + len(placeholders))
        mark_of[UNKNOWN] = -1  # words outside the vocabulary have this number, and may have a pretrained vector
        self.register_buffer("_mark_of", mark_of, persistent=False)
        self.register_buffer("_placeholders", torch.tensor(list(placeholders), dtype=torch.int64), persistent=False)
        self.narrow = nn.Linear(self.table.embedding_dim, size) if pretrained is not None else nn.Identity()
        self.letters = CharacterCnn(letters, filters) if filters else None
        self.highway = Highway(size + filters)
        self.out = nn.Linear(size + filters, to)
        self._mark_of: torch.Tensor
        self._placeholders: torch.Tensor
        self._spellings = spellings
        self._vectors: torch.Tensor | None = None
        self._lock = Lock()
        self.register_load_state_dict_post_hook(self._forget)  # type: ignore[no-untyped-call]

    def forward(self, words: torch.Tensor, letters: torch.Tensor, unseen: torch.Tensor) -> torch.Tensor:
        """(U), (U × letters), pretrained vectors of the last N words, which are not in the vocabulary (N × n) → (U × to)."""
        if torch.is_grad_enabled() or self.training:
            self._forget()
            if self.training:
                words, letters = self._with_other_placeholders(words, letters)
            return self._embed(words, letters, unseen)
        known = len(words) - len(unseen)
        vectors = self._vocabulary_vectors(words.device)[words[:known]]
        if not len(unseen):
            return vectors
        # Words outside the vocabulary share a number, and differ by their characters and pretrained vectors.
        return torch.cat([vectors, self._embed(words[known:], letters[known:], unseen)])

    def _with_other_placeholders(self, words: torch.Tensor, letters: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The same words and letters, with placeholders permuted at random."""
        count = len(self._placeholders)
        if not count:
            return words, letters
        others = self._placeholders[torch.randperm(count, device=words.device)]
        words = torch.arange(len(self._mark_of), device=words.device).index_copy(0, self._placeholders, others)[words]
        is_placeholder = self._mark_of[words] >= len(RESERVED)
        return words, torch.where(is_placeholder[:, None], self._spellings.to(words.device)[words], letters)

    def train(self, mode: bool = True) -> WordEmbedder:
        """Set the mode. After training, the vocabulary's vectors are recomputed; between predictions they stay."""
        if mode or self.training:
            self._forget()
        return super().train(mode)

    def _forget(self, *_: object) -> None:
        """Drop the vocabulary's vectors, because the weights change."""
        self._vectors = None

    def _vocabulary_vectors(self, device: torch.device) -> torch.Tensor:
        """The vectors of the whole vocabulary (words × to), computed by the first thread that predicts."""
        with self._lock:
            if self._vectors is None or self._vectors.device != device:
                parts = torch.split(torch.arange(len(self._spellings)), AT_ONCE)
                self._vectors = torch.cat([self._embed(part.to(device), self._spellings[part].to(device), None) for part in parts])
            return self._vectors

    def _embed(self, words: torch.Tensor, letters: torch.Tensor, unseen: torch.Tensor | None) -> torch.Tensor:
        vectors = self.table(words)
        if self.pretrained:
            if unseen is not None:
                vectors = torch.cat([vectors[: len(words) - len(unseen)], unseen])
            # Marks have vectors that are learned; that of the unknown word is that of all words that the table lacks.
            mark_of = self._mark_of[words]
            is_mark = mark_of >= 0
            mark = self.marks[torch.where(is_mark, mark_of, UNKNOWN)]
            vectors = torch.where((is_mark | (vectors == 0).all(dim=1))[:, None], mark, vectors)
        vectors = self.narrow(vectors)
        if self.letters is not None:
            vectors = torch.cat([vectors, self.letters(letters)], dim=1)
        vectors = functional.dropout(vectors, self.dropout, self.training)
        outputs: torch.Tensor = self.out(self.highway(vectors))
        return outputs


def vectors_at(vectors: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The vectors (U × n) of the words at ``places`` (B × T): (T × B × n)."""
    return vectors.index_select(0, places.T.flatten()).view(places.shape[1], len(places), -1)
