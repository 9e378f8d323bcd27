"""The words and characters that a network knows, counted over the training questions only."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.readers.recurrent.forms import is_placeholder, question_forms, split
from kgqa.records import Instance
from kgqa.runs.files import key_of, write_whole
from kgqa.settings.small_files import read_small

PADDING, UNKNOWN, START, SEPARATOR, SENTENCE, YES, NO = range(7)
RESERVED = ("", "<unknown>", "<start>", "<paragraph>", "<sentence>", "<yes>", "<no>")
"""Tokens that occur in no text; they come first, in the order of their numbers above."""
LETTERS = 16
"""Characters per word; the rest of a longer word is ignored."""
MOST_LETTERS = 500
FILE = "vocabulary.json"


class Vocabulary:
    """Numbers of words, case-sensitive, and of characters."""

    def __init__(self, words: Sequence[str], letters: Sequence[str]) -> None:
        """``words`` without the reserved ones; ``letters`` are single characters."""
        self.words = (*RESERVED, *words)
        self.letters = tuple(letters)
        self.numbers = {word: number for number, word in enumerate(self.words) if number >= len(RESERVED)}
        self._letter_numbers = {letter: number for number, letter in enumerate(letters, start=UNKNOWN + 1)}

    def __len__(self) -> int:
        """Number of words, including the reserved ones."""
        return len(self.words)

    @cached_property
    def key(self) -> str:
        """Hash of the words and characters."""
        return key_of("vocabulary", self.words, self.letters)

    @property
    def letter_count(self) -> int:
        """Number of characters, including padding and unknown."""
        return UNKNOWN + 1 + len(self.letters)

    @cached_property
    def spellings(self) -> npt.NDArray[np.int64]:
        """Character numbers of each word (words × ``LETTERS``); reserved words have none."""
        return self.spell(["" if number < len(RESERVED) else word for number, word in enumerate(self.words)])

    @cached_property
    def placeholders(self) -> tuple[int, ...]:
        """Numbers of the words that are placeholders of a masked set."""
        return tuple(number for word, number in self.numbers.items() if is_placeholder(word))

    def spell(self, forms: Sequence[str]) -> npt.NDArray[np.int64]:
        """The numbers of the characters of each form, 0 after its end (forms × ``LETTERS``)."""
        spellings = np.zeros((len(forms), LETTERS), np.int64)
        for row, form in zip(spellings, forms, strict=True):
            numbers = [self._letter_numbers.get(letter, UNKNOWN) for letter in form[:LETTERS]]
            row[: len(numbers)] = numbers
        return spellings

    def save(self, folder: Path) -> None:
        """Write the vocabulary as JSON. Raises StorageError."""
        text = json.dumps({"words": self.words[len(RESERVED) :], "letters": self.letters}, ensure_ascii=False, indent=0)
        write_whole(folder / FILE, text + "\n")


def load_vocabulary(folder: Path) -> Vocabulary:
    """Read what :meth:`Vocabulary.save` wrote. Raises MissingInput, BrokenInput."""
    path = folder / FILE
    if not path.is_file():
        raise MissingInput(f"{path}: the reader's vocabulary is missing; train it again.")
    try:
        with storage_errors(path):
            content = json.loads(read_small(path))
        words, letters = content["words"], content["letters"]
        if not all(isinstance(word, str) for word in (*words, *letters)):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BrokenInput(f"{path}: this is not a reader's vocabulary; train the reader again.") from None
    return Vocabulary(words, letters)


def count_vocabulary(questions: Iterable[Instance], *, most: int) -> Vocabulary:
    """The ``most`` frequent words and :data:`MOST_LETTERS` characters of the ``questions``, ties in alphabetical order.

    A text that several questions show counts once. A word that occurs only once is unknown, so that the network learns to handle unknown
    words. A placeholder of a masked set never is. Memory: all words, and a number per text.
    """
    words: Counter[str] = Counter()
    seen_texts: set[int] = set()
    for instance in questions:
        words.update(question_forms(instance.question))
        for paragraph in instance.paragraphs:
            code = hash((paragraph.title, paragraph.text))
            if code not in seen_texts:
                seen_texts.add(code)
                words.update(split(paragraph.text).forms)
                words.update(split(paragraph.title or "").forms)
    letters: Counter[str] = Counter()
    for word, count in words.items():
        letters.update(dict.fromkeys(word, count))
    placeholders = Counter({word: words.pop(word) for word in [*words] if is_placeholder(word)})
    frequent_placeholders = _frequent(placeholders, most, least=1)
    frequent_words = _frequent(words, max(0, most - len(frequent_placeholders)), least=2)
    return Vocabulary([*frequent_placeholders, *frequent_words], _frequent(letters, MOST_LETTERS, least=2))


def _frequent(counts: Counter[str], most: int, *, least: int) -> list[str]:
    items = sorted((-count, item) for item, count in counts.items() if count >= least)
    return [item for _, item in items[:most]]
