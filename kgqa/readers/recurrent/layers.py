"""Words to vectors, and recurrent layers over padded batches.

Vectors of texts are tokens × batch × numbers (T × B × n), as the recurrent layers want them; masks and logits are batch × tokens.
"""

from __future__ import annotations

from threading import Lock

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.vocabulary import PADDING, RESERVED, UNKNOWN

LEAST = -1e30
"""Stands for the logarithm of zero, with which gradients would not be numbers."""
LETTER_SIZE = 8
"""Numbers of a letter's vector, and the width of its filters (Seo et al. 2017, section 3)."""
LETTER_WIDTH = 5
HIGHWAYS = 2
AT_ONCE = 4096
"""Words whose vectors are computed at once."""


def valid(lengths: torch.Tensor, longest: int) -> torch.Tensor:
    """Which tokens are not padding: bool (B × longest)."""
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


class Bidirectional(nn.Module):
    """An LSTM or GRU in each direction, the second from each text's own last token, so that padding has no effect.

    Two of one direction over padded texts, not one over packed ones: on the CPU only that way has a fused kernel for LSTMs, which takes a
    seventh of the time in training and a third in prediction. GRUs have none, and take 2.6 and 1.8 times as long as such LSTMs.
    """

    def __init__(self, size: int, hidden: int, cell: type[nn.LSTM] | type[nn.GRU] = nn.LSTM) -> None:
        """From ``size`` numbers to 2 · ``hidden``."""
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
        """(T × B × size) → (T × B × 2 · hidden); what stands beyond a text's length means nothing."""
        if vectors.is_cuda:
            # torch's autocast has cuDNN compute in half precision whatever was asked for, in which the gradients of long texts vanish.
            with torch.autocast(vectors.device.type, enabled=False):
                return self._both(vectors.float(), lengths)
        return self._both(vectors, lengths)

    def _both(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        rows = mirrored(lengths, len(vectors))
        onward, _ = self.onward(vectors)
        backward, _ = self.backward_(_taken(vectors, rows))
        return torch.cat([onward, _taken(backward, rows)], dim=2)


def mirrored(lengths: torch.Tensor, longest: int) -> torch.Tensor:
    """For each token of a padded batch the row that takes its place when texts are reversed, padding staying: (longest · B)."""
    places = torch.arange(longest, device=lengths.device)[:, None]
    turned = torch.where(places < lengths, lengths - 1 - places, places)
    return (turned * len(lengths) + torch.arange(len(lengths), device=lengths.device)).flatten()


def _taken(vectors: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return vectors.flatten(0, 1).index_select(0, rows).view(vectors.shape)


class Highway(nn.Module):
    """Each number is what it was or something new, as a gate decides (Srivastava et al. 2015)."""

    def __init__(self, size: int, layers: int = HIGHWAYS) -> None:
        """From ``size`` numbers to as many."""
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(size, 2 * size) for _ in range(layers))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Of any shape whose last dimension is ``size``."""
        for layer in self.layers:
            new, gate = layer(vectors).chunk(2, dim=-1)
            vectors = vectors + torch.sigmoid(gate) * (torch.relu(new) - vectors)
        return vectors


class Letters(nn.Module):
    """A vector for each word from its letters: filters over them, of each the largest value (Kim 2014)."""

    def __init__(self, count: int, filters: int) -> None:
        """``count`` characters, ``filters`` convolution filters."""
        super().__init__()
        self.vectors = nn.Embedding(count, LETTER_SIZE, padding_idx=PADDING)
        self.filters = nn.Conv1d(LETTER_SIZE, filters, LETTER_WIDTH, padding=LETTER_WIDTH - 1)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        """(U × letters) → (U × filters)."""
        return functional.relu(self.filters(self.vectors(letters).transpose(1, 2)).amax(dim=2))


class Words(nn.Module):
    """A vector for each different word of a batch; nothing here depends on where a word stands, so that each is computed once."""

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
    ) -> None:
        """``spellings``: the letters of all words (words × letters).

        A word has ``size`` numbers, or those of a ``pretrained`` table, which stays as it is; ``to`` numbers come out.
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
            self.marks = nn.Parameter(torch.randn(len(RESERVED), pretrained.shape[1]) * pretrained.std())
        self.narrow = nn.Linear(self.table.embedding_dim, size) if pretrained is not None else nn.Identity()
        self.letters = Letters(letters, filters) if filters else None
        self.highway = Highway(size + filters)
        self.out = nn.Linear(size + filters, to)
        self._spellings = spellings
        self._key: tuple[object, ...] = ()
        self._vectors = torch.empty(0)
        self._lock = Lock()

    def forward(self, words: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
        """(U), (U × letters) → (U × to)."""
        if torch.is_grad_enabled() or self.training:
            # Fused optimisers change weights without a new version of them.
            self._key = ()
            return self._computed(words, letters)
        return self._kept(words, letters)

    def _kept(self, words: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
        """The same in prediction: the whole vocabulary's are computed at once, and stay until a weight is loaded or learns."""
        with self._lock:
            key = (torch.is_autocast_enabled(words.device.type), *((weight.data_ptr(), weight._version) for weight in self.parameters()))
            if self._key != key:
                everything = torch.split(torch.arange(len(self._spellings)), AT_ONCE)
                parts = [self._computed(part.to(words.device), self._spellings[part].to(words.device)) for part in everything]
                self._key, self._vectors = key, torch.cat(parts)
        found = self._vectors[words]
        # Words that are not in the vocabulary share a number, and differ by their letters.
        new = torch.nonzero(words == UNKNOWN)[:, 0]
        if len(new):
            found[new] = self._computed(words[new], letters[new])
        return found

    def _computed(self, words: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
        vectors = self.table(words)
        if self.pretrained:
            # Marks have vectors that are learned; that of the unknown word is also that of words that the table lacks.
            is_mark = words < len(RESERVED)
            mark = self.marks[torch.where(is_mark, words, UNKNOWN)]
            vectors = torch.where((is_mark | (vectors == 0).all(dim=1))[:, None], mark, vectors)
        vectors = self.narrow(vectors)
        if self.letters is not None:
            vectors = torch.cat([vectors, self.letters(letters)], dim=1)
        vectors = functional.dropout(vectors, self.dropout, self.training)
        found: torch.Tensor = self.out(self.highway(vectors))
        return found


def placed(vectors: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The vectors (U × n) of the words at ``places`` (B × T): (T × B × n)."""
    return vectors.index_select(0, places.T.flatten()).view(places.shape[1], len(places), -1)
