"""Step S6 (Trivedi et al. 2022): the distractors that make a context hard: they name a bridge, or resemble the answer.

Where a hop asks by two facts, each one matters only if another entity in the context has it too. Otherwise one fact alone finds the answer,
and the hops that lead to the other are not needed. So each fact needs a paragraph about another entity that has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.draws import sample
from kgqa.recipes.musique.contexts import Stating
from kgqa.recipes.musique.wording import BOTH
from kgqa.settings.musique import ContextSettings

Rows2 = npt.NDArray[np.int32]
Branch = tuple[str, str]
"""A template and the tail of its fact."""
NO_RIVAL = "nobody else in its context has one of the two facts by which a hop asks, so that the other one is not needed"


@dataclass(frozen=True, slots=True)
class Rivals:
    """An index of the pool by the content of its paragraphs."""

    rows: Mapping[str, list[object]]
    """``answer_entity``, ``entities``, ``relations``, ``kind``, ``paragraph`` of ``single_hop``."""
    having: Mapping[Branch, Sequence[tuple[str, int]]]
    """Branch → (entity that has it, paragraph that states it)."""
    naming: Mapping[int, npt.NDArray[np.int32]]
    """Group of an answer's name → paragraphs that name it."""
    stating: Stating

    @classmethod
    def of(cls, single_hop: pa.Table, paragraphs: pa.Table, stated: pa.Table, stating: Stating) -> Rivals:
        """Index a pool; ``stated`` as in ``pool.py``."""
        place = {name: row for row, name in enumerate(paragraphs["id"].to_pylist())}
        heads_of: dict[Branch, list[tuple[str, int]]] = defaultdict(list)
        for statement in stated.to_pylist():
            if statement["paragraph"] in place:
                heads_of[statement["template"], statement["tail"]].append((statement["head"], place[statement["paragraph"]]))
        mentions = stating.mentions
        order = np.argsort(mentions.targets, kind="stable")
        groups, begin = np.unique(mentions.targets[order], return_index=True)
        naming = (
            dict(zip(groups.tolist(), np.split(mentions.sources()[order].astype(np.int32), begin[1:]), strict=True)) if len(groups) else {}
        )
        names = ("answer_entity", "entities", "relations", "kind", "paragraph")
        return cls({name: single_hop[name].to_pylist() for name in names}, heads_of, naming, stating)

    def branches(self, hops: Iterable[int]) -> list[set[int]]:
        """For each fact of each hop that asks by two facts: the paragraphs that state it of another entity."""
        result = []
        for hop in hops:
            if self.rows["kind"][hop] != BOTH:
                continue
            answer = self.rows["answer_entity"][hop]
            for branch in zip(_texts(self.rows["relations"][hop]), _texts(self.rows["entities"][hop]), strict=True):
                result.append({row for head, row in self.having.get(branch, ()) if head != answer})
        return result

    def lone(self, hops: Rows2) -> npt.NDArray[np.bool_]:
        """For each chain, whether one of its branches can have no rival in a context. Shape: chains."""
        flags = np.zeros(len(hops), np.bool_)
        kind, paragraph = (self.rows[name] for name in ("kind", "paragraph"))
        two_facts = np.array([name == BOTH for name in kind])
        for row in np.flatnonzero((two_facts[hops] & (hops >= 0)).any(axis=1)).tolist():
            chain = [hop for hop in hops[row].tolist() if hop >= 0]
            supports = {paragraph[hop] for hop in chain}
            for rivals in self.branches(chain):
                others = np.array(sorted(rivals - supports), np.int32)
                if rivals & supports or (len(others) and self.stating.silent(others, np.array(chain, np.int64)).any()):
                    continue
                flags[row] = True
                break
        return flags

    def required(self, chain: str, hops: Sequence[int], may: npt.NDArray[np.bool_], *, seed: int) -> list[int]:
        """A row for each branch of a chain, among those that ``may`` be shown."""
        picks: list[int] = []
        for number, rows in enumerate(self.branches(hops)):
            if not rows.intersection(picks):
                picks += self._sample(rows, 1, chain, hops, may, picks, purpose=f"branch {number}", seed=seed)
        return picks

    def first(
        self, chain: str, hops: Sequence[int], like: Collection[int], may: npt.NDArray[np.bool_], settings: ContextSettings, *, seed: int
    ) -> list[int]:
        """Rows before the retrieved ones: some that name a bridge, and some of ``like``, which resemble the chain's last paragraph."""
        names = {int(group) for hop in hops[:-1] for group in _row(self.stating.answers, hop)}
        bridges = {int(row) for name in names for row in self.naming.get(name, ())}
        picks = self._sample(bridges, settings.bridges, chain, hops, may, [], purpose="bridges", seed=seed)
        return picks + self._sample(set(like), settings.rivals, chain, hops, may, picks, purpose="rivals", seed=seed)

    def _sample(
        self, rows: set[int], count: int, chain: str, hops: Sequence[int], may: npt.NDArray[np.bool_], but: Sequence[int], *,
        purpose: str, seed: int,
    ) -> list[int]:  # fmt: skip
        supports = {int(str(self.rows["paragraph"][hop])) for hop in hops}
        rows_left = np.array(sorted(row for row in rows if may[row] and row not in supports and row not in but), np.int32)
        if not count or not len(rows_left):
            return []
        rows_left = rows_left[self.stating.silent(rows_left, np.array(hops, np.int64))]
        return sample(rows_left.tolist(), min(len(rows_left), count), purpose=f"{purpose} of a context", seed=seed, id=chain)


def _row(rows: object, number: int) -> npt.NDArray[np.int32]:
    offsets, targets = rows.offsets, rows.targets  # type: ignore[attr-defined]
    return targets[offsets[number] : offsets[number + 1]]


def _texts(values: object) -> list[str]:
    assert isinstance(values, list)
    return [str(value) for value in values]


def padded(rows: Sequence[Sequence[int]]) -> Rows2:
    """The rows as an array, padded with -1."""
    table = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int32)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table
