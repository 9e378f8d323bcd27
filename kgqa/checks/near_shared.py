"""Near-duplicates between splits, by MinHash (``kgqa/splits/near_duplicates.py``)."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import pyarrow as pa

from kgqa.arrays.parallel import Engine
from kgqa.arrays.tokens import word_hashes
from kgqa.checks.batch import Batch
from kgqa.checks.check import Check
from kgqa.checks.findings import EXAMPLES, Example, Finding, Part
from kgqa.checks.shared import NOT_COMPARED
from kgqa.metrics.normalize import normalize
from kgqa.records import Instance
from kgqa.splits.items import keys_of, unmasked
from kgqa.splits.near_duplicates import BANDS, ROWS, THRESHOLD, WINDOW, recall
from kgqa.splits.near_shared import NearShared, NearSharedTexts
from kgqa.splits.shingles import shingle


class NearSharedCheck(Check):
    """The share of a later split's distinct texts that an earlier one has almost; the figure is that of the worst pair of splits.

    Memory grows with the distinct texts: 4 bytes a word, 24 keys of 4 bytes and about 280 bytes each.
    """

    kind: ClassVar[str]
    """Kind of the texts, as in the certificate."""
    width: ClassVar[int]
    """Words of a shingle."""
    compares: ClassVar[bool] = True
    rereads: ClassVar[bool] = True

    def __init__(self, *, seed: int) -> None:
        """Nothing was read yet."""
        super().__init__(seed=seed)
        self.texts = NearSharedTexts(width=self.width, seed=seed)
        self.shared: list[NearShared] = []
        self.engine: Engine | None = None
        """Compares the texts; None: threads."""
        self._pairs: dict[tuple[str, str], None] = {}

    def update(self, batch: Batch) -> None:
        """Keep the batch's texts, as shingles."""
        self._pairs.update(dict.fromkeys((earlier, batch.side.name) for earlier in batch.earlier))
        self.add(batch)

    @abstractmethod
    def add(self, batch: Batch) -> None:
        """Add the texts of a batch that are to be compared."""

    def result(self, rng: np.random.Generator) -> Finding:
        """Find the near-duplicates; the worst pair, and all of them as parts."""
        if not self._pairs:
            return self.finding(reason=NOT_COMPARED)
        self.shared = self.texts.shared(list(self._pairs), most=EXAMPLES, engine=self.engine)
        pairs = [pair for pair in self.shared if pair.of]
        if not pairs:
            return self.finding(reason="No question has such a text.")
        worst = max(pairs, key=lambda pair: (pair.texts / pair.of, pair.of))
        ranking = sorted(
            (-similarity, pair.later, later, pair.earlier, earlier) for pair in pairs for similarity, later, earlier in pair.most_alike
        )
        return self.share(
            worst.texts, worst.of, rng,
            parts=tuple(Part(name=f"{pair.later} has of {pair.earlier}", count=pair.texts, total=pair.of) for pair in pairs),
            parts_are="by pair of splits", note=self._how(),
            examples=tuple(
                Example(
                    split=side, id="", what=f"similarity {-similarity:.2f} with {earlier}", number=number,
                    counterpart=(earlier, other_number),
                )
                for similarity, side, number, earlier, other_number in ranking[:EXAMPLES]
            ),
        )  # fmt: skip

    def explain(self, what: str, instance: Instance, counterpart: Instance | None) -> str:
        """The most similar pair of texts of the two instances, side by side."""
        assert counterpart is not None
        text, counterpart_text = _most_alike(self.texts_of(instance), self.texts_of(counterpart), self.width)
        return f"{what} (question {counterpart.id}): “{text[:200]}” and “{counterpart_text[:200]}”"

    @abstractmethod
    def texts_of(self, instance: Instance) -> list[str]:
        """The texts of a question that are compared."""

    def _how(self) -> str:
        words = "words" if self.width == 1 else f"runs of {self.width} words"
        remark = f" {self.texts.not_compared:,} candidate pairs in large buckets were not compared." if self.texts.not_compared else ""
        return (
            f"Near-duplicates share {THRESHOLD:.0%} of their distinct {words}; {BANDS} bands of {ROWS} hashes find {recall(THRESHOLD):.1%} "
            f"of those at the threshold and more above; each is verified. In buckets of more than {WINDOW} texts only neighbours are "
            f"compared.{remark}"
        )


class NearSharedQuestions(NearSharedCheck):
    """Questions that differ in a word or two and have the same answer; one from the same template with another answer is no leak.

    A wording that comes with several answers counts once with each.
    """

    kind = "questions"
    width = 1
    name = "near-duplicate-questions"
    family = "leakage"
    title = "Almost the same question in two splits"
    meaning = "The share of a split's distinct questions that another split has in almost the same words and with the same answer."
    remedy = "Read the examples: reworded questions belong in one split; questions from a template that merely agree may stay."
    unit = "distinct questions"

    def add(self, batch: Batch) -> None:
        """Questions, labelled with their answer."""
        items = batch.items.of("wordings")
        owners = items.owner.tolist()
        # Normalised, so that of two spellings of a wording it does not matter which comes first. A relation's name is one word then, as in
        # WikiHop's located_in_the_administrative_territorial_entity: the subject makes the question.
        texts = [normalize(batch.instances[owner].question) for owner in owners]
        numbers = [batch.first + owner for owner in owners]
        answers = (unmasked(i, i.answers[0]) if i.answers else "" for i in (batch.instances[owner] for owner in owners))
        labels = keys_of(answers)[:, 0].tolist()
        self.texts.update(batch.side.name, items.keys[:, 0].tolist(), texts, numbers, labels)

    def texts_of(self, instance: Instance) -> list[str]:
        """The question as the only text to compare."""
        return [instance.question]


class NearSharedParagraphs(NearSharedCheck):
    """Paragraphs with small differences, as two versions of one article."""

    kind = "paragraphs"
    width = 3
    name = "near-duplicate-paragraphs"
    family = "overlap"
    title = "Almost the same paragraph in two splits"
    meaning = "The share of a split's distinct paragraphs that are not in another split, but almost are."
    remedy = "Take all texts from one dump, and treat versions of one text as the same when you divide."
    unit = "distinct paragraphs"

    def add(self, batch: Batch) -> None:
        """Add all paragraphs of the batch that are shown to a reader."""
        items = batch.items.of("paragraphs")
        numbers = (items.owner + batch.first).tolist()
        self.texts.update(batch.side.name, items.keys[:, 0].tolist(), batch.items.shown_texts, numbers, [0] * len(numbers))

    def texts_of(self, instance: Instance) -> list[str]:
        """The texts of all paragraphs."""
        return [paragraph.text for paragraph in instance.paragraphs]


def _most_alike(texts: list[str], other_texts: list[str], width: int) -> tuple[str, str]:
    """The pair of texts, one of each side, with the highest similarity below 1."""
    all_texts = [*texts, *other_texts]
    normalized_texts = [normalize(text) for text in all_texts]
    shingles = shingle(word_hashes(pa.array(normalized_texts, pa.string())), width=width)
    rows, columns = (part.ravel() for part in np.meshgrid(np.arange(len(texts)), np.arange(len(other_texts)) + len(texts)))
    similarities = shingles.jaccard(rows, columns)
    is_equal = np.array([normalized_texts[a] == normalized_texts[b] for a, b in zip(rows.tolist(), columns.tolist(), strict=True)])
    best = int(np.argmax(np.where(is_equal, -1.0, similarities)))
    return all_texts[rows[best]], all_texts[columns[best]]
