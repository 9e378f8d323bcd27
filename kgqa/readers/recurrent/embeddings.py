"""Pretrained word vectors: from a GloVe text file, or from an encoder's table of word pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from kgqa.errors import BrokenInput, storage_errors
from kgqa.readers.recurrent.vocabulary import RESERVED, Vocabulary
from kgqa.readers.transformer.encoder import load_encoder

MOST_BYTES = 1 << 20
"""Of a line."""
LEAST_SIZE = 2
"""Minimum width of a vector; a line with fewer numbers is broken."""


def word_vectors(name: str, vocabulary: Vocabulary) -> torch.Tensor:
    """A vector per word, float32 (words × width); zeros for words without one, and for marks.

    ``name``: a file, else an encoder. Raises BrokenInput, MissingInput, StorageError.
    """
    return _vectors_from_file(Path(name), vocabulary) if Path(name).is_file() else _vectors_from_encoder(name, vocabulary)


def _vectors_from_file(path: Path, vocabulary: Vocabulary) -> torch.Tensor:
    """Read lines of a word and its numbers (Pennington et al. 2014). A word without a vector gets that of its lower case.

    Only the vectors of the vocabulary are in memory. Raises BrokenInput with the line.
    """
    words = {word for word_ in vocabulary.words[len(RESERVED) :] for word in (word_, word_.lower())}
    vectors: dict[str, npt.NDArray[np.float32]] = {}
    size = 0
    for number, line in _lines(path):
        fields = line.rstrip().split(" ")
        if number == 1 and len(fields) == 2 and all(field.isdecimal() for field in fields):
            continue  # word2vec's first line: words and numbers
        size = size or len(fields) - 1
        if size < LEAST_SIZE or len(fields) <= size:
            raise _broken(path, number, f"it has {len(fields) - 1} numbers" + (f", not {size}" if size >= LEAST_SIZE else ""))
        word = " ".join(fields[:-size])  # a few of the larger files have spaces in words
        if word in words:
            vectors[word] = _vector(path, number, fields[-size:])
    if not size:
        raise BrokenInput(f"{path}: it is empty; give a file with a word and its numbers on each line.")
    table = np.zeros((len(vocabulary), size), np.float32)
    for index, word in enumerate(vocabulary.words[len(RESERVED) :], start=len(RESERVED)):
        vector = vectors.get(word, vectors.get(word.lower()))
        if vector is not None:
            table[index] = vector
    return torch.from_numpy(table)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with storage_errors(path), path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MOST_BYTES + 1), b""), start=1):
            if len(line) > MOST_BYTES:
                raise _broken(path, number, f"it is longer than {MOST_BYTES:,} bytes")
            try:
                yield number, line.decode()
            except UnicodeDecodeError:
                raise _broken(path, number, "it is not UTF-8") from None


def _vector(path: Path, number: int, fields: Sequence[str]) -> npt.NDArray[np.float32]:
    try:
        vector = np.array(fields, np.float32)
    except ValueError:
        raise _broken(path, number, "not all of its values are numbers") from None
    if not np.isfinite(vector).all():
        raise _broken(path, number, "its numbers are not finite")
    return vector


def _broken(path: Path, number: int, problem: str) -> BrokenInput:
    return BrokenInput(f"{path}, line {number:,}: this is not a word with its vector, as {problem}; fix or remove the line.")


def _vectors_from_encoder(name: str, vocabulary: Vocabulary) -> torch.Tensor:
    """The mean of the vectors of a word's pieces, from the encoder's input embeddings. Raises MissingInput, BrokenInput."""
    encoder = load_encoder(name)
    vectors = encoder.network.get_input_embeddings().weight.detach().float()
    words = list(vocabulary.words[len(RESERVED) :])
    table = torch.zeros(len(vocabulary), vectors.shape[1])
    if words:
        for index, pieces in enumerate(encoder.tokenizer(words, add_special_tokens=False)["input_ids"], start=len(RESERVED)):
            if pieces:
                table[index] = vectors[pieces].mean(dim=0)
    return table
