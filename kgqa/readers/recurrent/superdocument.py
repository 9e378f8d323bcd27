"""All paragraphs of a question as one text, in an order drawn from the seed and the question's id (Welbl et al. 2018, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt

from kgqa.readers.recurrent.forms import split
from kgqa.readers.recurrent.vocabulary import NO, SENTENCE, SEPARATOR, START, YES, Vocabulary
from kgqa.records import Instance, Paragraph

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
MARK = 0
"""The fold of tokens that no text has."""
ABSENT = -1
"""A token's paragraph, or number in the vocabulary, where it has none."""
KEPT_TEXTS = 16_384
"""Texts whose tokens are kept, since paragraphs are shared by questions; about 3 kB each."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The tokens of one text."""

    words: Int32
    """Numbers in the vocabulary; ABSENT for those that it lacks."""
    folds: Int64
    """Equal for words that are equal in lower case, within this process."""
    starts: Int32
    ends: Int32
    unknown: tuple[str, ...]
    """The forms that the vocabulary lacks, in order, each as often as it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Superdocument:
    """A text with marks between its paragraphs; every array is as long as the text."""

    words: Int32
    """Numbers in the vocabulary; ABSENT for the ones that it lacks, whose forms are in ``unknown``."""
    folds: Int64
    unknown: list[str]
    place: Int32
    """The paragraph of each token, by its number in the Instance; ABSENT for marks and titles, which are no part of any answer."""
    starts: Int32
    """In characters of the paragraph; so are ``ends``, which are exclusive; 0 for what is not of its text."""
    ends: Int32
    order: list[int]
    """The numbers of the paragraphs that it holds, in its order."""
    marks: list[int]
    """Where the mark of each of them stands."""
    sentence_marks: list[tuple[int, int, int]]
    """Where the mark of each sentence stands, the number of its paragraph, and its own."""


class Assembler:
    """Makes superdocuments; keeps the tokens of texts that it has seen lately."""

    def __init__(self, vocabulary: Vocabulary, *, seed: int, max_length: int, sentences: bool = False) -> None:
        """``sentences``: whether sentences have marks too, where they are known."""
        self._vocabulary, self._seed, self._max_length, self._sentences = vocabulary, seed, max_length, sentences
        self.piece = lru_cache(maxsize=KEPT_TEXTS)(self._piece)

    def _piece(self, text: str) -> Piece:
        found = split(text)
        return self.of_forms(found.forms, found.starts, found.ends)

    def of_forms(self, forms: Sequence[str], starts: Int32 | None = None, ends: Int32 | None = None) -> Piece:
        """The tokens that ``forms`` are."""
        number = self._vocabulary.numbers.get
        words = np.array([number(form, ABSENT) for form in forms], np.int32)
        folds = np.array([hash(form.lower()) for form in forms], np.int64)
        unknown = tuple(forms[place] for place in np.flatnonzero(words == ABSENT).tolist())
        nowhere = np.zeros(len(forms), np.int32)
        return Piece(words, folds, nowhere if starts is None else starts, nowhere if ends is None else ends, unknown)

    def order(self, instance: Instance) -> list[int]:
        """Numbers of the paragraphs, shuffled."""
        drawn: list[int] = np.random.default_rng([self._seed, crc32(instance.id.encode())]).permutation(len(instance.paragraphs)).tolist()
        return drawn

    def assemble(self, instance: Instance) -> Superdocument:
        """The text of one question, at most ``max_length`` tokens.

        It begins with marks for itself, and for yes and no where the question has no candidates.
        """
        front = [START] if instance.candidates else [START, YES, NO]
        growing = _Growing(self._max_length)
        growing.marks(front)
        for number in self.order(instance):
            if growing.full:
                break
            self._add(growing, instance.paragraphs[number], number)
        return growing.done()

    def _add(self, growing: _Growing, paragraph: Paragraph, number: int) -> None:
        growing.begin(number)
        if paragraph.title and not paragraph.text.startswith(paragraph.title):
            growing.add(self.piece(paragraph.title), ABSENT)
        piece = self.piece(paragraph.text)
        if not (self._sentences and paragraph.sentences):
            growing.add(piece, number)
            return
        bounds = [*np.searchsorted(piece.starts, paragraph.sentences).tolist(), len(piece.words)]
        taken = 0
        for place, (first, last) in enumerate(pairwise(bounds)):
            growing.sentence(number, place)
            first = 0 if place == 0 else first  # noqa: PLW2901 - what stands before the first sentence belongs to it
            taken += growing.add(_part(piece, first, last, taken), number)


def _part(piece: Piece, first: int, last: int, known: int) -> Piece:
    """Some tokens of a piece, of whose unknown ones ``known`` come before."""
    words = piece.words[first:last]
    count = int((words == ABSENT).sum())
    return Piece(words, piece.folds[first:last], piece.starts[first:last], piece.ends[first:last], piece.unknown[known : known + count])


class _Growing:
    """A superdocument that is being put together."""

    def __init__(self, limit: int) -> None:
        self._limit, self._length = limit, 0
        self._pieces: list[tuple[Piece, int]] = []
        self._order: list[int] = []
        self._marks: list[int] = []
        self._sentences: list[tuple[int, int, int]] = []

    @property
    def full(self) -> bool:
        return self._length + 2 > self._limit

    def marks(self, words: Sequence[int]) -> None:
        nowhere = np.zeros(len(words), np.int32)
        self._put(Piece(np.array(words, np.int32), np.full(len(words), MARK, np.int64), nowhere, nowhere, ()), ABSENT)

    def begin(self, number: int) -> None:
        self._order.append(number)
        self._marks.append(self._length)
        self.marks([SEPARATOR])

    def sentence(self, number: int, place: int) -> None:
        if not self.full:
            self._sentences.append((self._length, number, place))
            self.marks([SENTENCE])

    def add(self, piece: Piece, place: int) -> int:
        """What still fits of a piece; how many unknown tokens the piece has."""
        room = self._limit - self._length
        self._put(piece if len(piece.words) <= room else _part(piece, 0, max(0, room), 0), place)
        return len(piece.unknown)

    def _put(self, piece: Piece, place: int) -> None:
        self._pieces.append((piece, place))
        self._length += len(piece.words)

    def done(self) -> Superdocument:
        pieces = [piece for piece, _ in self._pieces]
        return Superdocument(
            words=np.concatenate([piece.words for piece in pieces]),
            folds=np.concatenate([piece.folds for piece in pieces]),
            unknown=[form for piece in pieces for form in piece.unknown],
            place=np.repeat(np.array([place for _, place in self._pieces], np.int32), [len(piece.words) for piece in pieces]),
            starts=np.concatenate([piece.starts for piece in pieces]),
            ends=np.concatenate([piece.ends for piece in pieces]),
            order=self._order,
            marks=self._marks,
            sentence_marks=self._sentences,
        )
