"""The choice that, together with the question, is most similar to a single paragraph: lexical retrieval without multi-hop reasoning.

The score is that of :mod:`kgqa.readers.lexical.paragraph_scores`, with document frequencies of the distinct training paragraphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.int32 import narrow
from kgqa.arrays.rows import Rows, find, offsets_of
from kgqa.arrays.tokens import token_hashes
from kgqa.errors import BrokenInput
from kgqa.readers import saved
from kgqa.readers.lexical.choices import Choices, Scores
from kgqa.readers.lexical.counts import Counts, read_table, write_table
from kgqa.readers.lexical.paragraph_scores import best_paragraphs, inverse_frequency
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.records import Instance
from kgqa.settings.defaults import SEED
from kgqa.training.reader import Prediction

SCHEMA = pa.schema([("token", pa.uint64()), ("count", pa.int64())])
FILE = "documents_with.parquet"


class TfIdf(LexicalReader):
    """Memory: about 100 bytes per distinct training paragraph in training; 16 bytes per distinct token."""

    name = "tf-idf"

    def __init__(self, *, seed: int = SEED) -> None:
        """An untrained reader; ``seed`` breaks ties between answers."""
        super().__init__(seed=seed)
        self._paragraph_hashes: set[int] = set()
        self._counts = Counts("token")
        self.documents = 0
        self._tokens, self._frequency = np.zeros(0, np.uint64), np.zeros(0, np.int64)

    def learn(self, instances: Sequence[Instance]) -> None:
        """Count the distinct paragraphs that contain each token."""
        texts = list(dict.fromkeys(paragraph.text for instance in instances for paragraph in instance.paragraphs))
        column = pa.array(texts, pa.string())
        hashes = text_hashes(column)
        is_new = np.array([code not in self._paragraph_hashes for code in hashes.tolist()], np.bool_)
        self._paragraph_hashes.update(hashes.tolist())
        bounds, tokens = token_hashes(column.filter(pa.array(is_new, pa.bool_())))
        row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((tokens, row))
        tokens, row = tokens[order], row[order]
        is_first = np.concatenate([[True], (tokens[1:] != tokens[:-1]) | (row[1:] != row[:-1])])[: len(tokens)]
        self._counts.add(tokens[is_first])

    def finish_learning(self) -> None:
        """Drop the paragraphs' hashes; prediction needs only frequencies."""
        table = self._counts.table()
        self.documents = len(self._paragraph_hashes)
        self._take(table)
        self._paragraph_hashes, self._counts = set(), Counts("token")

    def _take(self, table: pa.Table) -> None:
        self._tokens, self._frequency = table["token"].to_numpy(), table["count"].to_numpy()

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """The choice with the best score, and the paragraph with that score."""
        choices = Choices.of(instances)
        scores, paragraph = self.choice_scores(choices)
        ids = [paragraph.id for instance in instances for paragraph in instance.paragraphs]
        return choices.predictions(scores, seed=self.seed, supporting=[ids[place] if place >= 0 else "" for place in paragraph.tolist()])

    def choice_scores(self, choices: Choices) -> tuple[Scores, npt.NDArray[np.int64]]:
        """For each choice its score in the best paragraph, and that paragraph's index among all paragraphs of the questions; -1 if none."""
        texts = [paragraph.text for instance in choices.instances for paragraph in instance.paragraphs]
        paragraph_offsets = offsets_of([len(instance.paragraphs) for instance in choices.instances])
        columns = (texts, choices.texts, [instance.question for instance in choices.instances])
        documents, labels, question_tokens = (token_hashes(pa.array(column, pa.string())) for column in columns)
        vocabulary = np.unique(np.concatenate([labels[1], question_tokens[1]]))
        rows = []
        for bounds, tokens in (documents, labels, question_tokens):
            term_numbers = narrow(find(vocabulary, tokens), "words of questions", "predict in parts")
            rows.append(Rows(offsets=bounds, targets=term_numbers).keep(term_numbers >= 0))
        return best_paragraphs(
            Rows(offsets=choices.offsets, targets=np.arange(len(choices.texts), dtype=np.int32)),
            Rows(offsets=paragraph_offsets, targets=np.arange(len(texts), dtype=np.int32)),
            question_tokens=rows[2], texts=rows[0], labels=rows[1], idf=self._idf(vocabulary),
        )  # fmt: skip

    def _idf(self, tokens: npt.NDArray[np.uint64]) -> Scores:
        positions = find(self._tokens, tokens)
        frequency = np.where(positions >= 0, self._frequency[positions] if len(self._frequency) else 0, 0)
        # Of a token in every paragraph it is just below 1, of which N = 0 is the limit.
        return inverse_frequency(frequency, max(self.documents, 1))

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the document frequencies to ``folder``, and return the number of documents."""
        write_table(pa.table([self._tokens, self._frequency], schema=SCHEMA), folder / FILE)
        return {"documents": self.documents}

    def read(self, folder: Path, state: dict[str, Any]) -> None:
        """Read the document frequencies that :meth:`write` wrote."""
        if not isinstance(state.get("documents"), int) or state["documents"] < 0:
            raise BrokenInput(f"{folder / saved.FILE}: it does not say how many documents were counted; train the reader again.")
        self.documents = state["documents"]
        self._take(read_table(folder / FILE, SCHEMA))
