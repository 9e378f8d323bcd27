"""Pretrained vectors of words: out of a GloVe text file, or out of the table of word pieces of an encoder."""

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
"""Numbers of a vector; a line with fewer is none."""


def pretrained(name: str, vocabulary: Vocabulary) -> torch.Tensor:
    """A vector for each word, float32 (words × its size); zeros for the ones that have none, and for marks.

    ``name``: a file, else an encoder. Raises BrokenInput, MissingInput, StorageError.
    """
    return of_file(Path(name), vocabulary) if Path(name).is_file() else of_encoder(name, vocabulary)


def of_file(path: Path, vocabulary: Vocabulary) -> torch.Tensor:
    """From lines of a word and its numbers (Pennington et al. 2014); a word has the vector of its lower case where it has none itself.

    Only the vectors of the vocabulary are in memory. Raises BrokenInput with the line.
    """
    wanted = {word for known in vocabulary.words[len(RESERVED) :] for word in (known, known.lower())}
    found: dict[str, npt.NDArray[np.float32]] = {}
    size = 0
    for number, line in _lines(path):
        fields = line.rstrip().split(" ")
        if number == 1 and len(fields) == 2 and all(field.isdecimal() for field in fields):
            continue  # word2vec's first line: words and numbers
        size = size or len(fields) - 1
        if size < LEAST_SIZE or len(fields) <= size:
            raise _broken(path, number, f"it has {len(fields) - 1} numbers" + (f", not {size}" if size >= LEAST_SIZE else ""))
        word = " ".join(fields[:-size])  # a few of the larger files have spaces in words
        if word in wanted:
            found[word] = _vector(path, number, fields[-size:])
    if not size:
        raise BrokenInput(f"{path}: it is empty; give a file with a word and its numbers on each line.")
    table = np.zeros((len(vocabulary), size), np.float32)
    for place, word in enumerate(vocabulary.words[len(RESERVED) :], start=len(RESERVED)):
        vector = found.get(word, found.get(word.lower()))
        if vector is not None:
            table[place] = vector
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
        raise _broken(path, number, "not all of it are numbers") from None
    if not np.isfinite(vector).all():
        raise _broken(path, number, "its numbers are not finite")
    return vector


def _broken(path: Path, number: int, what: str) -> BrokenInput:
    return BrokenInput(f"{path}, line {number:,}: this is no word with its vector, as {what}; fix or remove the line.")


def of_encoder(name: str, vocabulary: Vocabulary) -> torch.Tensor:
    """The mean of the vectors of a word's pieces, as the encoder's own table has them. Raises MissingInput, BrokenInput."""
    encoder = load_encoder(name)
    vectors = encoder.network.get_input_embeddings().weight.detach().float()
    words = list(vocabulary.words[len(RESERVED) :])
    table = torch.zeros(len(vocabulary), vectors.shape[1])
    if words:
        for place, pieces in enumerate(encoder.tokenizer(words, add_special_tokens=False)["input_ids"], start=len(RESERVED)):
            if pieces:
                table[place] = vectors[pieces].mean(dim=0)
    return table
