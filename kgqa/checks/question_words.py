"""The question's words give the answer away."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.tokens import word_hashes
from kgqa.checks.batch import Batch
from kgqa.checks.guess_check import GuessCheck
from kgqa.checks.measures.guessing import Keys
from kgqa.records import Instance


class QuestionWords(GuessCheck):
    """Guesses by the one word of the question that goes most surely with one answer; in WikiHop that is the relation's name."""

    name = "question-words"
    title = "The answer is guessed from a word of the question"
    meaning = "How often the right answer is guessed from one word of the question alone, by what went with it in other questions."
    remedy = "Cap how often an answer may come with one relation or wording."

    def features(self, batch: Batch) -> tuple[npt.NDArray[np.int64], Keys]:
        """Hashes of the question's distinct words, and the question of each."""
        bounds, words = batch.question_words
        parts = [np.unique(words[a:b]) for a, b in pairwise(bounds.tolist())]
        return np.array([len(part) for part in parts], np.int64), np.concatenate([np.empty(0, np.uint64), *parts])

    def name_of(self, feature: int, instance: Instance) -> str:
        """The word of the question that has this hash."""
        words = instance.question.replace("_", " ").split()
        for word in words:
            if feature in word_hashes(pa.array([word]))[1].tolist():
                return f"the word “{word}”"
        return "a word"
