"""Exact overlap of splits, one check for each kind of item (``kgqa/splits/items.py``)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kgqa.checks.batch import Batch
from kgqa.checks.check import Check
from kgqa.checks.findings import Example, Finding, Part
from kgqa.records import Instance
from kgqa.splits.items import KINDS, ItemBatch, texts_of
from kgqa.splits.leakage import EXAMPLES, Shared, SharedItems, Sighting

NOT_COMPARED = "There is one split only, and nothing to compare it with; give another set with --against."


class SharedCheck(Check):
    """The share of a later split's questions that have an item of an earlier split; the figure is that of the worst pair of splits.

    Memory grows with the distinct items: 24 bytes each.
    """

    kind: ClassVar[str]
    compares: ClassVar[bool] = True
    rereads: ClassVar[bool] = True

    def __init__(self, *, seed: int) -> None:
        """Nothing was read yet."""
        super().__init__(seed=seed)
        self.items = SharedItems()

    def update(self, batch: Batch) -> None:
        """Compare the batch with the splits before it."""
        self.items.update(batch.side.name, batch.items.of(self.kind), first=batch.first, earlier=batch.earlier)

    def result(self, rng: np.random.Generator) -> Finding:
        """The worst pair, and all of them as parts."""
        pairs = [pair for pair, _ in self.pairs() if pair.of]
        if not pairs:
            reason = f"The set does not say it: no question has {KINDS[self.kind]}."
            return self.finding(reason=reason if self.items.compared else NOT_COMPARED)
        worst = max(pairs, key=lambda pair: (pair.questions / pair.of, pair.of))
        sightings = sorted(self.sightings(), key=lambda pair: (-pair[0].items, pair[0].later, pair[0].number))[:EXAMPLES]
        return self.share(
            worst.questions, worst.of, rng,
            parts=tuple(Part(name=f"{pair.later} has of {pair.earlier}", count=pair.questions, total=pair.of) for pair in pairs),
            parts_are="by pair of splits",
            examples=tuple(
                Example(
                    split=sighting.later, id="", what=f"{kind} {sighting.items:,} shared with {sighting.earlier}", number=sighting.number,
                    counterpart=(sighting.earlier, sighting.counterpart),
                )
                for sighting, kind in sightings
            ),
            note=f"Worst pair: {worst.later} has of {worst.earlier}, {worst.items:,} distinct items. What is compared: {KINDS[self.kind]}.",
        )  # fmt: skip

    def pairs(self) -> list[tuple[Shared, str]]:
        """Shared items of each pair of splits, and their kind."""
        return [(pair, self.kind) for pair in self.items.shared()]

    def sightings(self) -> list[tuple[Sighting, str]]:
        """Examples, and the kind of item that was compared."""
        return [(sighting, self.kind) for sighting in self.items.sightings()]

    def explain(self, what: str, instance: Instance, counterpart: Instance | None) -> str:
        """The shared item, the first question with it, and both questions."""
        assert counterpart is not None
        kind, _, place = what.partition(" ")
        keys, other_keys = (ItemBatch([member]).of(kind).keys.tolist() for member in (instance, counterpart))
        texts = [text for text, key in zip(texts_of(instance, kind), keys, strict=True) if key in other_keys]
        return f"{place} (question {counterpart.id}): “{texts[0][:160]}” – {instance.question}"


class SharedQuestions(SharedCheck):
    """Whole questions with their answers. A split that hides its answers is compared by its wordings."""

    kind = "questions"
    name = "shared-questions"
    family = "leakage"
    title = "Questions in two splits"
    meaning = "The share of a split's questions that stand in another split too, word for word after normalisation, with the same answer."
    remedy = "Keep one of them, or put both in the same split; twins with another context belong together."

    def __init__(self, *, seed: int) -> None:
        """Nothing was read yet."""
        super().__init__(seed=seed)
        self._hidden: set[str] = set()
        self._by_wording = SharedItems()

    def update(self, batch: Batch) -> None:
        """Compare the wordings too, in case answers are hidden."""
        super().update(batch)
        if any(instance.answerable and not instance.answers for instance in batch.instances):
            self._hidden.add(batch.side.name)
        self._by_wording.update(batch.side.name, batch.items.of("wordings"), first=batch.first, earlier=batch.earlier)

    def pairs(self) -> list[tuple[Shared, str]]:
        """By wording where one of the two hides answers."""
        comparisons = zip(self.items.shared(), self._by_wording.shared(), strict=True)
        return [(wording, "wordings") if self._hides(exact) else (exact, self.kind) for exact, wording in comparisons]

    def sightings(self) -> list[tuple[Sighting, str]]:
        """The same of the examples."""
        exact = [(sighting, self.kind) for sighting in self.items.sightings() if not self._hides(sighting)]
        return exact + [(sighting, "wordings") for sighting in self._by_wording.sightings() if self._hides(sighting)]

    def _hides(self, pair: Shared | Sighting) -> bool:
        return not self._hidden.isdisjoint({pair.earlier, pair.later})


class SharedWordings(SharedCheck):
    """Questions whatever their answers: MedHop asks for another partner of the same drug in each split."""

    kind = "wordings"
    name = "shared-wordings"
    family = "overlap"
    title = "Wordings of questions in two splits"
    meaning = "The share of a split's questions that stand in another split too in the same words, whatever the answer."
    remedy = "Where the answer is another one, see that the context decides it; where the twin is unanswerable, keep both in one split."


class SharedFacts(SharedCheck):
    """Single-hop questions with their answers, or facts."""

    kind = "facts"
    name = "shared-facts"
    family = "leakage"
    title = "Facts in two splits"
    meaning = "The share of questions that need a fact, or a single-hop question with its answer, that another split needs too."
    remedy = "Divide by fact before composing questions, as MuSiQue does, so that no hop is remembered from training."


class SharedSupportingParagraphs(SharedCheck):
    """Supporting paragraphs that occur in two splits."""

    kind = "supporting-paragraphs"
    name = "shared-supporting-paragraphs"
    family = "overlap"
    title = "Supporting paragraphs in two splits"
    meaning = "The share of questions with a supporting paragraph that supports a question of another split too."
    remedy = "Divide by paragraph where you can; otherwise report scores on questions with unseen support separately."


class SharedParagraphs(SharedCheck):
    """Paragraphs that two splits show."""

    kind = "paragraphs"
    name = "shared-paragraphs"
    family = "overlap"
    title = "Paragraphs in two splits"
    meaning = "The share of questions that show a paragraph which is shown in another split too, as support or as distraction."
    remedy = "Usually none: distractors come from one pool. It matters where document cues are strong as well."


class SharedAnswers(SharedCheck):
    """Canonical answers that two splits have."""

    kind = "answers"
    name = "shared-answers"
    family = "overlap"
    title = "Answers in two splits"
    meaning = "The share of questions whose answer is the answer of a question of another split too; yes and no are left out."
    remedy = "Cap how often one answer may come, and report scores on unseen answers separately."


class SharedBridgeEntities(SharedCheck):
    """Bridge entities that occur in questions of two splits."""

    kind = "bridge-entities"
    name = "shared-bridge-entities"
    family = "overlap"
    title = "Bridge entities in two splits"
    meaning = "The share of questions whose path to the answer runs over an entity that lies on a path in another split too."
    remedy = "Divide by bridge entity if readers are to find bridges that they have never seen."
