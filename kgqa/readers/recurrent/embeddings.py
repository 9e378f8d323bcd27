"""Tables of pretrained word vectors: a GloVe text file, the input table of an encoder, or a static embedding model.

A reader keeps the vectors of its vocabulary. Other words are looked up in the table itself, in training and prediction alike.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from kgqa.errors import BrokenInput, InputError, MissingInput, storage_errors
from kgqa.readers.recurrent.static import NAMES, TOKENIZER, WEIGHTS, static_folder
from kgqa.readers.recurrent.vocabulary import RESERVED, Vocabulary
from kgqa.readers.transformer.encoder import load_encoder
from kgqa.runs.files import key_of

MOST_BYTES = 1 << 20
"""Of a line."""
LEAST_SIZE = 2
"""Minimum width of a vector; a line with fewer numbers is broken."""
KEPT_VECTORS = 16_384
"""Vectors of a text file that are cached."""
TEXT, PIECES = "text", "pieces"
"""Kinds of tables: a line per word, or a row per piece of a word."""
Float32 = npt.NDArray[np.float32]


class Table(Protocol):
    """Pretrained vectors of words."""

    kind: str
    key: str
    """Hash of the table's content."""
    width: int

    def rows(self, words: Sequence[str]) -> list[list[int]]:
        """For each word, the rows of the table whose mean is its vector; none if the table lacks the word."""

    def vectors(self, rows: Sequence[Sequence[int]]) -> Float32:
        """A vector per entry of :meth:`rows` (words × width); zeros for a word without rows."""


def open_table(name: str) -> Table:
    """The table ``name``: a file, a static model, or an encoder. Raises BrokenInput, MissingInput, StorageError."""
    if Path(name).is_file():
        return TextTable(Path(name))
    folder = static_folder(name)
    return _encoder_table(name) if folder is None else _static_table(folder)


def same_table(name: str, kind: str, key: str) -> Table:
    """The table that a reader was trained with. Raises MissingInput if it is gone, BrokenInput if it has changed."""
    again = "put back the one that the reader was trained with, or train the reader again."
    if kind == TEXT and not Path(name).is_file():
        raise MissingInput(f"{name}: the word vectors of this reader are no longer there; {again}")
    try:
        table = open_table(name)
    except InputError as error:
        raise MissingInput(f"{name}: the word vectors of this reader cannot be read ({str(error).rstrip('.')}); {again}") from None
    if table.key != key:
        raise BrokenInput(f"{name}: the word vectors have changed since this reader was trained; {again}")
    return table


def vocabulary_vectors(table: Table, vocabulary: Vocabulary) -> torch.Tensor:
    """A vector per word of the vocabulary, float32 (words × width); zeros for words without one, and for marks."""
    words = vocabulary.words[len(RESERVED) :]
    vectors = np.zeros((len(vocabulary), table.width), np.float32)
    vectors[len(RESERVED) :] = table.vectors(table.rows(words))
    return torch.from_numpy(vectors)


class TextTable:
    """Lines of a word and its numbers (Pennington et al. 2014). A word without a vector gets that of its lower case.

    Memory: 24 bytes per line; vectors are read from the file when they are needed.
    """

    kind = TEXT

    def __init__(self, path: Path) -> None:
        """Read the words of all lines. Raises BrokenInput with the line."""
        self._path, self.width = path, 0
        starts, hashes, start, digest = array("q"), array("q"), 0, hashlib.sha256()
        for number, line in _lines(path):
            starts.append(start)
            start += len(line)
            digest.update(line)
            # The first line of word2vec's files has two numbers: of words, and of numbers per word.
            is_head = number == 1 and [field.isdigit() for field in line.split()] == [True, True]
            hashes.append(hash("" if is_head else self._word(line, number)))
        if not self.width:
            raise BrokenInput(f"{path}: it is empty; give a file with a word and its numbers on each line.")
        self.key = digest.hexdigest()
        self._starts, found = np.array(starts, np.int64), np.array(hashes, np.int64)
        self._order = np.argsort(found, kind="stable")
        self._hashes = found[self._order]
        self._vector = lru_cache(maxsize=KEPT_VECTORS)(self._read_vector)

    def _word(self, line: bytes, number: int) -> str:
        """The word of a line; the first one determines the width. A few of the larger files have spaces in words."""
        stripped = line.rstrip()
        count = stripped.count(b" ")
        self.width = self.width or (count if count >= LEAST_SIZE else 0)
        if not self.width or count < self.width:
            raise _broken(self._path, number, f"it has {count} numbers" + (f", not {self.width}" if self.width else ""))
        word = stripped.partition(b" ")[0] if count == self.width else stripped.rsplit(b" ", self.width)[0]
        try:
            return word.decode()
        except UnicodeDecodeError:
            raise _broken(self._path, number, "it is not UTF-8") from None

    def rows(self, words: Sequence[str]) -> list[list[int]]:
        """The line of each word. Raises BrokenInput if its numbers are none."""
        lines = [self._line_of(word) for word in words]
        lines = [self._line_of(word.lower()) if line is None else line for line, word in zip(lines, words, strict=True)]
        return [[] if line is None else [line] for line in lines]

    def _line_of(self, word: str) -> int | None:
        """The last line with this word."""
        code = hash(word)
        place = int(np.searchsorted(self._hashes, code, side="right")) - 1
        while word and place >= 0 and self._hashes[place] == code:  # two words may have one hash
            line = int(self._order[place])
            if self._vector(line)[0] == word:
                return line
            place -= 1
        return None

    def _read_vector(self, line: int) -> tuple[str, Float32]:
        """A line's word and numbers."""
        with storage_errors(self._path), self._path.open("rb") as file:
            file.seek(int(self._starts[line]))
            text = file.readline(MOST_BYTES)
        word = self._word(text, line + 1)
        try:
            vector = np.array(text.rstrip().rsplit(b" ", self.width)[1:], np.float32)
        except ValueError:
            raise _broken(self._path, line + 1, "not all of its values are numbers") from None
        if not np.isfinite(vector).all():
            raise _broken(self._path, line + 1, "its numbers are not finite")
        return word, vector

    def vectors(self, rows: Sequence[Sequence[int]]) -> Float32:
        """The numbers of these lines."""
        vectors = np.zeros((len(rows), self.width), np.float32)
        for vector, lines in zip(vectors, rows, strict=True):
            for line in lines:
                vector[:] = self._vector(line)[1]
        return vectors


class PieceTable:
    """A vector per piece of a tokenizer; a word has the mean of its pieces, unless one of them is the tokenizer's unknown one."""

    kind = PIECES

    def __init__(self, weights: torch.Tensor, names: Sequence[str], pieces: Callable[[list[str]], list[list[int]]], unknown: int | None):
        """``weights`` (pieces × width); ``names`` of the pieces, for the hash; ``pieces`` splits words, without special tokens."""
        self._weights, self._pieces, self._unknown = weights.detach(), pieces, unknown
        digest = hashlib.sha256(self._weights.contiguous().view(torch.uint8).numpy().data).hexdigest()
        self.key, self.width = key_of(digest, str(weights.dtype), list(names)), int(weights.shape[1])

    def rows(self, words: Sequence[str]) -> list[list[int]]:
        """The pieces of each word."""
        return [[] if self._unknown in row else row for row in self._pieces(list(words))] if words else []

    def vectors(self, rows: Sequence[Sequence[int]]) -> Float32:
        """The mean of the vectors of these pieces."""
        vectors = np.zeros((len(rows), self.width), np.float32)
        for vector, pieces in zip(vectors, rows, strict=True):
            if len(pieces):
                vector[:] = self._weights[list(pieces)].float().mean(dim=0).numpy()
        return vectors


class KeptTable:
    """Some vectors of another table, which read no file and can be pickled."""

    def __init__(self, table: Table, words: Iterable[Sequence[int]]) -> None:
        """``words``: entries of :meth:`Table.rows` that :meth:`vectors` will be asked for."""
        self.kind, self.key, self.width = table.kind, table.key, table.width
        distinct = sorted({tuple(rows) for rows in words})
        self._place = {rows: place for place, rows in enumerate(distinct)}
        self._vectors = torch.from_numpy(table.vectors(distinct))

    def rows(self, words: Sequence[str]) -> list[list[int]]:
        """Not known here."""
        raise NotImplementedError("words are encoded where the table is")

    def vectors(self, rows: Sequence[Sequence[int]]) -> Float32:
        """The kept vectors."""
        vectors: Float32 = self._vectors[[self._place[tuple(each)] for each in rows]].numpy()
        return vectors


def _encoder_table(name: str) -> PieceTable:
    """The input embeddings of an encoder. Raises MissingInput, BrokenInput."""
    encoder = load_encoder(name)
    tokenizer, weights = encoder.tokenizer, encoder.network.get_input_embeddings().weight  # the other layers are not kept
    number_of = tokenizer.get_vocab()

    def pieces(words: list[str]) -> list[list[int]]:
        found: list[list[int]] = tokenizer(words, add_special_tokens=False)["input_ids"]
        return found

    return PieceTable(weights, sorted(number_of, key=number_of.__getitem__), pieces, tokenizer.unk_token_id)


def _static_table(folder: Path) -> PieceTable:
    """The table of a static model. Raises BrokenInput."""
    from safetensors import SafetensorError, safe_open
    from tokenizers import Tokenizer

    path = folder / WEIGHTS
    try:
        with storage_errors(path), safe_open(str(path), "pt") as file:
            keys = [*file.keys()]
            names = [key for key in keys if key in NAMES]
            weights = file.get_tensor(names[0]) if len(names) == 1 and "mapping" not in keys else None
    except SafetensorError as error:
        raise BrokenInput(f"{path}: these weights cannot be read ({error}); use the folder of a complete model.") from None
    if weights is None or weights.ndim != 2 or not weights.is_floating_point():
        raise BrokenInput(f"{path}: this is not a table with a vector for each piece; use a static embedding model with one.")
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # what the library raises for a broken file is of no type of its own
        raise BrokenInput(f"{folder / TOKENIZER}: the tokenizer cannot be loaded ({error}); use the folder of a complete model.") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    number_of = tokenizer.get_vocab()
    if max(number_of.values(), default=0) >= len(weights):
        raise BrokenInput(f"{folder}: its tokenizer has more tokens than its {len(weights):,} vectors; use the folder of a complete model.")
    unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")

    def pieces(words: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch(words, add_special_tokens=False)]

    return PieceTable(weights, sorted(number_of, key=number_of.__getitem__), pieces, unknown)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with storage_errors(path), path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MOST_BYTES + 1), b""), start=1):
            if len(line) > MOST_BYTES:
                raise _broken(path, number, f"it is longer than {MOST_BYTES:,} bytes")
            yield number, line


def _broken(path: Path, number: int, problem: str) -> BrokenInput:
    return BrokenInput(f"{path}, line {number:,}: this is not a word with its vector, as {problem}; fix or remove the line.")
