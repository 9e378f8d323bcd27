"""The words and letters that a network knows: counted over the training questions alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.readers.recurrent.forms import question_forms, split
from kgqa.records import Instance
from kgqa.runs.files import key_of, write_whole
from kgqa.settings.small_files import read_small

PADDING, UNKNOWN, START, SEPARATOR, SENTENCE, YES, NO = range(7)
RESERVED = ("", "<unknown>", "<start>", "<paragraph>", "<sentence>", "<yes>", "<no>")
"""Tokens that no text has; they come first, in the order of their numbers above."""
LETTERS = 16
"""Of a longer word the last ones are not read."""
MOST_LETTERS = 500
FILE = "vocabulary.json"


class Vocabulary:
    """Numbers for words as they are written, and for letters."""

    def __init__(self, words: Sequence[str], letters: Sequence[str]) -> None:
        """``words`` without the reserved ones; ``letters`` are single characters."""
        self.words = (*RESERVED, *words)
        self.letters = tuple(letters)
        self.numbers = {word: number for number, word in enumerate(self.words) if number >= len(RESERVED)}
        self._letter_numbers = {letter: number for number, letter in enumerate(letters, start=UNKNOWN + 1)}

    def __len__(self) -> int:
        """Words, the reserved ones included."""
        return len(self.words)

    @cached_property
    def key(self) -> str:
        """The same for the same words and letters."""
        return key_of("vocabulary", self.words, self.letters)

    @property
    def letter_count(self) -> int:
        """Letters, with padding and the unknown one."""
        return UNKNOWN + 1 + len(self.letters)

    @cached_property
    def spellings(self) -> npt.NDArray[np.int64]:
        """Letters of each word (words × ``LETTERS``); a reserved one has none."""
        return self.spelt(["" if number < len(RESERVED) else word for number, word in enumerate(self.words)])

    def spelt(self, forms: Sequence[str]) -> npt.NDArray[np.int64]:
        """The numbers of the letters of each form, 0 after its end (forms × ``LETTERS``)."""
        spelt = np.zeros((len(forms), LETTERS), np.int64)
        known = self._letter_numbers
        for row, form in zip(spelt, forms, strict=True):
            found = [known.get(letter, UNKNOWN) for letter in form[:LETTERS]]
            row[: len(found)] = found
        return spelt

    def save(self, folder: Path) -> None:
        """As JSON. Raises StorageError."""
        text = json.dumps({"words": self.words[len(RESERVED) :], "letters": self.letters}, ensure_ascii=False, indent=0)
        write_whole(folder / FILE, text + "\n")


def load_vocabulary(folder: Path) -> Vocabulary:
    """What :meth:`Vocabulary.save` wrote. Raises MissingInput, BrokenInput."""
    path = folder / FILE
    if not path.is_file():
        raise MissingInput(f"{path}: the reader's vocabulary is not there; train it again.")
    try:
        with storage_errors(path):
            found = json.loads(read_small(path))
        words, letters = found["words"], found["letters"]
        if not all(isinstance(word, str) for word in (*words, *letters)):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BrokenInput(f"{path}: this is not a reader's vocabulary; train the reader again.") from None
    return Vocabulary(words, letters)


def count_vocabulary(questions: Iterable[Instance], *, most: int) -> Vocabulary:
    """The ``most`` frequent words, and :data:`MOST_LETTERS` letters, of what ``questions`` show; equally frequent ones in their own order.

    A text that several questions show counts once; a word that is there but once is unknown, so that the network learns what to make of
    one. In memory are all words and a number for each text.
    """
    words: Counter[str] = Counter()
    seen: set[int] = set()
    for instance in questions:
        words.update(question_forms(instance.question))
        for paragraph in instance.paragraphs:
            code = hash((paragraph.title, paragraph.text))
            if code not in seen:
                seen.add(code)
                words.update(split(paragraph.text).forms)
                words.update(split(paragraph.title or "").forms)
    letters: Counter[str] = Counter()
    for word, count in words.items():
        letters.update(dict.fromkeys(word, count))
    return Vocabulary(_frequent(words, most, least=2), _frequent(letters, MOST_LETTERS, least=2))


def _frequent(counts: Counter[str], most: int, *, least: int) -> list[str]:
    ordered = sorted((-count, item) for item, count in counts.items() if count >= least)
    return [item for _, item in ordered[:most]]
