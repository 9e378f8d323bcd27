"""All paragraphs of a question as one text, in an order drawn from the seed and the question's id (Welbl et al. 2018, section 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
"""The hash of tokens that occur in no text."""
ABSENT = -1
"""Stands for no paragraph, or no number in the vocabulary."""
KEPT_TEXTS = 16_384
"""Texts whose tokens are cached, since questions share paragraphs; about 3 kB each."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The tokens of one text."""

    words: Int32
    """Numbers in the vocabulary; ABSENT for unknown words."""
    lowercase_hashes: Int64
    """Equal for words that are equal in lower case; valid within this process."""
    starts: Int32
    ends: Int32
    unknown: tuple[str, ...]
    """The unknown words, in order, with repetitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Superdocument:
    """A text with marks between its paragraphs; every array is as long as the text."""

    words: Int32
    """Numbers in the vocabulary; ABSENT for unknown words, which are in ``unknown``."""
    lowercase_hashes: Int64
    unknown: list[str]
    paragraphs: Int32
    """The number of each token's paragraph in the Instance; ABSENT for marks and titles, which belong to no answer."""
    starts: Int32
    """Characters of the paragraph; so are ``ends``, which are exclusive; 0 outside paragraphs' texts."""
    ends: Int32
    order: list[int]
    """Numbers of the paragraphs in the text, in their order there."""
    marks: list[int]
    """The mark token of each of these paragraphs."""
    sentence_marks: list[tuple[int, int, int]]
    """For each sentence its mark token, the number of its paragraph, and its own number."""

    def token_spans(self, spans: Iterable[tuple[int, int, int, int]]) -> list[tuple[int, int, int]]:
        """Owner, first and last token (inclusive) of each span of characters (owner, paragraph, start, exclusive end). Sorted.

        A span is left out if a part of it is cut off at the end of the text, or if it crosses the end of a sentence that has a mark.
        """
        tokens = {number: np.flatnonzero(self.paragraphs == number) for number in self.order}
        token_spans = set()
        for owner, paragraph, start, end in spans:
            places = tokens.get(paragraph, np.zeros(0, np.int64))
            first = int(np.searchsorted(self.ends[places], start, side="right"))
            last = int(np.searchsorted(self.starts[places], end)) - 1
            if first <= last < len(places) and self.ends[places[last]] >= end and places[last] - places[first] == last - first:
                token_spans.add((owner, int(places[first]), int(places[last])))
        return sorted(token_spans)


class Assembler:
    """Builds superdocuments, with a cache of the tokens of recent texts."""

    def __init__(self, vocabulary: Vocabulary, *, seed: int, max_length: int, sentences: bool = False) -> None:
        """``sentences``: whether sentences also get marks, if they are known."""
        self._vocabulary, self._seed, self._max_length, self._sentences = vocabulary, seed, max_length, sentences
        self.piece = lru_cache(maxsize=KEPT_TEXTS)(self._piece)

    def _piece(self, text: str) -> Piece:
        forms = split(text)
        return self.of_forms(forms.forms, forms.starts, forms.ends)

    def of_forms(self, forms: Sequence[str], starts: Int32 | None = None, ends: Int32 | None = None) -> Piece:
        """The tokens of these ``forms``."""
        number = self._vocabulary.numbers.get
        words = np.array([number(form, ABSENT) for form in forms], np.int32)
        hashes = np.array([hash(form.lower()) for form in forms], np.int64)
        unknown = tuple(forms[place] for place in np.flatnonzero(words == ABSENT).tolist())
        nowhere = np.zeros(len(forms), np.int32)
        return Piece(words, hashes, nowhere if starts is None else starts, nowhere if ends is None else ends, unknown)

    def order(self, instance: Instance) -> list[int]:
        """Shuffled numbers of the paragraphs."""
        shuffled: list[int] = (
            np.random.default_rng([self._seed, crc32(instance.id.encode())]).permutation(len(instance.paragraphs)).tolist()
        )
        return shuffled

    def assemble(self, instance: Instance) -> Superdocument:
        """The text of one question, at most ``max_length`` tokens.

        It begins with a mark for the question, and marks for yes and no if the question has no candidates.
        """
        front = [START] if instance.candidates else [START, YES, NO]
        builder = _Builder(self._max_length)
        builder.marks(front)
        for number in self.order(instance):
            if builder.full:
                break
            self._add(builder, instance.paragraphs[number], number)
        return builder.build()

    def _add(self, builder: _Builder, paragraph: Paragraph, number: int) -> None:
        builder.begin(number)
        if paragraph.title and not paragraph.text.startswith(paragraph.title):
            builder.add(self.piece(paragraph.title), ABSENT)
        piece = self.piece(paragraph.text)
        if not (self._sentences and paragraph.sentences):
            builder.add(piece, number)
            return
        bounds = [*np.searchsorted(piece.starts, paragraph.sentences).tolist(), len(piece.words)]
        unknown_count = 0
        for place, (first, last) in enumerate(pairwise(bounds)):
            builder.sentence(number, place)
            first = 0 if place == 0 else first  # noqa: PLW2901 - what stands before the first sentence belongs to it
            unknown_count += builder.add(_part(piece, first, last, unknown_count), number)


def _part(piece: Piece, first: int, last: int, known_from: int) -> Piece:
    """A slice of a piece, whose unknown words come after ``known_from`` earlier ones."""
    words = piece.words[first:last]
    count = int((words == ABSENT).sum())
    return Piece(
        words,
        piece.lowercase_hashes[first:last],
        piece.starts[first:last],
        piece.ends[first:last],
        piece.unknown[known_from : known_from + count],
    )


class _Builder:
    """A superdocument under construction."""

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
        self._append(Piece(np.array(words, np.int32), np.full(len(words), MARK, np.int64), nowhere, nowhere, ()), ABSENT)

    def begin(self, number: int) -> None:
        self._order.append(number)
        self._marks.append(self._length)
        self.marks([SEPARATOR])

    def sentence(self, number: int, place: int) -> None:
        if not self.full:
            self._sentences.append((self._length, number, place))
            self.marks([SENTENCE])

    def add(self, piece: Piece, place: int) -> int:
        """Append the part of a piece that fits; return the number of unknown words in the whole piece."""
        room = self._limit - self._length
        self._append(piece if len(piece.words) <= room else _part(piece, 0, max(0, room), 0), place)
        return len(piece.unknown)

    def _append(self, piece: Piece, place: int) -> None:
        self._pieces.append((piece, place))
        self._length += len(piece.words)

    def build(self) -> Superdocument:
        pieces = [piece for piece, _ in self._pieces]
        return Superdocument(
            words=np.concatenate([piece.words for piece in pieces]),
            lowercase_hashes=np.concatenate([piece.lowercase_hashes for piece in pieces]),
            unknown=[form for piece in pieces for form in piece.unknown],
            paragraphs=np.repeat(np.array([place for _, place in self._pieces], np.int32), [len(piece.words) for piece in pieces]),
            starts=np.concatenate([piece.starts for piece in pieces]),
            ends=np.concatenate([piece.ends for piece in pieces]),
            order=self._order,
            marks=self._marks,
            sentence_marks=self._sentences,
        )
