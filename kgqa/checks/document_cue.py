"""A document that always comes with the same answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kgqa.checks.batch import Batch
from kgqa.checks.findings import Finding
from kgqa.checks.guess_check import GuessCheck
from kgqa.checks.measures.guessing import Keys
from kgqa.metrics.normalize import normalize
from kgqa.records import Instance
from kgqa.splits.items import keys_of


class DocumentCue(GuessCheck):
    """Guesses the answer that was seen most often with a document that is shown (Welbl et al. 2018, section 3.2, cooccurrence(d, c)).

    A document is its text: ids mean nothing across questions. Memory: that of a guesser, and 8 bytes for each paragraph.
    """

    name = "document-cue"
    title = "A document gives the answer away"
    meaning = "How often the right answer is guessed from which documents are shown, by the answers that these went with elsewhere."
    remedy = "Drop questions whose documents were seen often with their answer, as WikiHop does, or use a masked twin."
    precise = False

    def __init__(self, *, seed: int) -> None:
        """No document was seen yet."""
        super().__init__(seed=seed)
        self._shown = 0

    def features(self, batch: Batch) -> tuple[npt.NDArray[np.int64], Keys]:
        """The texts of its paragraphs."""
        keys = batch.items.paragraph_keys[:, 0]
        self._shown += len(keys)
        return batch.paragraph_counts, keys

    def result(self, rng: np.random.Generator) -> Finding:
        """Does not apply where nothing is shown."""
        if not self._shown:
            return self.finding(reason="No question shows a document.")
        return super().result(rng)

    def name_of(self, feature: int, instance: Instance) -> str:
        """The document's title or beginning."""
        for paragraph, key in zip(instance.paragraphs, keys_of(normalize(p.text) for p in instance.paragraphs)[:, 0].tolist(), strict=True):
            if key == feature:
                return f"the document “{paragraph.title or paragraph.text[:60]}”"
        return "a document"
