"""The paragraphs that a prompt shows: those of the question, or the best of the whole set by BM25."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from kgqa.records import Instance, Paragraph
from kgqa.retrieval.bm25 import Bm25
from kgqa.training.questions import Questions

BATCH = 256
"""Questions that are searched for at once."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A question as a prompt shows it."""

    instance: Instance
    paragraphs: tuple[Paragraph, ...]
    """In the order shown."""
    own: tuple[str | None, ...]
    """For each paragraph its id in the question; None for one that the question does not have."""
    scores: tuple[tuple[str, float], ...] = ()
    """Ids of the retrieved paragraphs, with their scores by BM25."""
    by_sentence: bool = False
    """Whether sentences are numbered too."""

    @cached_property
    def places(self) -> Mapping[str, tuple[str | None, int | None]]:
        """Number in the prompt → id of the paragraph in the question, and the index of the sentence; in the order shown."""
        places: dict[str, tuple[str | None, int | None]] = {}
        for number, (paragraph, own) in enumerate(zip(self.paragraphs, self.own, strict=True), start=1):
            places[str(number)] = (own, None)
            if self.by_sentence:
                places.update({f"{number}.{sentence + 1}": (own, sentence) for sentence in range(len(paragraph.sentences or ()))})
        return places


Context = Callable[[Iterable[Instance]], Iterator[Shown]]
"""Finds the paragraphs of questions, in order."""


class InTheBox:
    """The question's own paragraphs, or none at all."""

    def __init__(self, *, by_sentence: bool, without: bool = False) -> None:
        """``without``: show no paragraph."""
        self._by_sentence, self._without = by_sentence, without

    def __call__(self, instances: Iterable[Instance]) -> Iterator[Shown]:
        """Show the paragraphs in the question's order."""
        for instance in instances:
            paragraphs = () if self._without else instance.paragraphs
            own = tuple(paragraph.id for paragraph in paragraphs)
            yield Shown(instance=instance, paragraphs=paragraphs, own=own, by_sentence=self._by_sentence)


class Retrieved:
    """The best paragraphs of a pool, by BM25 with the question as the query."""

    def __init__(self, pool: Iterable[Questions], count: int, *, by_sentence: bool) -> None:
        """Index the distinct paragraphs (title and text) of the ``pool``. Memory: all of them, and the index."""
        found: dict[tuple[str | None, str], Paragraph] = {}
        for questions in pool:
            for instance in questions:
                for paragraph in instance.paragraphs:
                    found.setdefault((paragraph.title, paragraph.text), paragraph)
        self.paragraphs = list(found.values())
        self._count, self._by_sentence = count, by_sentence
        self._index = Bm25(pa.array([f"{paragraph.title or ''} {paragraph.text}" for paragraph in self.paragraphs], pa.string()))

    def __call__(self, instances: Iterable[Instance]) -> Iterator[Shown]:
        """Show the best paragraphs, the best one first."""
        batch: list[Instance] = []
        for instance in instances:
            batch.append(instance)
            if len(batch) == BATCH:
                yield from self._search(batch)
                batch = []
        yield from self._search(batch)

    def _search(self, batch: list[Instance]) -> Iterator[Shown]:
        queries = self._index.queries(pa.array([instance.question for instance in batch], pa.string()))
        queries = self._index.queries(pa.array([instance.question for instance in batch], pa.string()))
        rows, scores = self._index.search(queries, self._count)
        for instance, numbers, values in zip(batch, rows.tolist(), scores.tolist(), strict=True):
            own = {(paragraph.title, paragraph.text): paragraph.id for paragraph in reversed(instance.paragraphs)}
            paragraphs = tuple(self.paragraphs[number] for number in numbers if number >= 0)
            ids = tuple(own.get((paragraph.title, paragraph.text)) for paragraph in paragraphs)
            ranked = tuple((key or paragraph.id, score) for key, paragraph, score in zip(ids, paragraphs, values, strict=False))
            yield Shown(instance=instance, paragraphs=paragraphs, own=ids, scores=ranked, by_sentence=self._by_sentence)
