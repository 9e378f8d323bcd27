"""The stage that shows paragraphs: each split from its own ones, none much oftener a distractor than others for each time it supports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.recipes.musique.contexts import Rows2, Stating, build_contexts
from kgqa.recipes.musique.evening import Features
from kgqa.recipes.musique.rivals import Rivals, padded
from kgqa.settings.musique import ContextSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The chains that are to be shown, and the pool."""

    queries: list[str]
    hops: Rows2
    ids: npt.NDArray[np.uint64]
    split: npt.NDArray[np.int8]
    known: Sequence[Features]
    single_hop: pa.Table
    paragraphs: pa.Table
    stating: Stating
    rivals: Rivals
    settings: ContextSettings
    seed: int
    workers: int

    def contexts(self, count: int, advance: Callable[[int], None]) -> Rows2:
        """``count`` rows of paragraphs for each chain; -1 at the end where too few fit."""
        out = np.full((len(self.hops), count), -1, np.int32)
        own = self.single_hop["paragraph"].to_numpy()
        used = self.hops >= 0
        uses = np.zeros((3, len(self.paragraphs)), np.int64)
        np.add.at(uses, (np.broadcast_to(self.split[:, None], self.hops.shape)[used], own[self.hops[used]]), 1)
        for number in range(3):
            mine = np.flatnonzero(self.split == number)
            if not len(mine):
                continue
            among = np.flatnonzero(uses[number] > 0) if self.settings.own else np.arange(len(self.paragraphs))
            out[mine] = self._of_split(mine, among, uses[number], count, advance)
        return out

    def lacking(self, shown: Rows2) -> npt.NDArray[np.bool_]:
        """For each chain whether one of its branches has no rival among the paragraphs."""
        out = np.zeros(len(shown), np.bool_)
        for row, rows in enumerate(shown.tolist()):
            there = set(rows)
            out[row] = any(not there & some for some in self.rivals.branches([hop for hop in self.hops[row].tolist() if hop >= 0]))
        return out

    def _of_split(
        self, mine: npt.NDArray[np.int64], among: npt.NDArray[np.int64], uses: npt.NDArray[np.int64],
        count: int, advance: Callable[[int], None],
    ) -> Rows2:  # fmt: skip
        total = int(uses.sum())
        share = (count * len(mine) - total) / max(1, total)
        often = np.ceil(self.settings.reuse * share * uses).astype(np.int32)
        may = np.zeros(len(self.paragraphs), np.bool_)
        may[among] = True
        hops = [[hop for hop in some if hop >= 0] for some in self.hops[mine].tolist()]
        names = [f"{int(self.ids[row]):016x}" for row in mine.tolist()]
        like: dict[str, set[int]] = defaultdict(set)
        own = self.single_hop["paragraph"].to_pylist()
        for row, some in zip(mine.tolist(), hops, strict=True):
            like[_kind(self.known[row])].add(own[some[-1]])
        # The rival of a branch may be another split's: of twenty paragraphs it is one or two.
        every = np.ones(len(self.paragraphs), np.bool_)
        needed = [self.rivals.needed(name, some, every, seed=self.seed) for name, some in zip(names, hops, strict=True)]
        first = [
            self.rivals.first(name, some, like[_kind(self.known[row])], may, self.settings, seed=self.seed)
            for name, row, some in zip(names, mine.tolist(), hops, strict=True)
        ]
        out = np.full((len(mine), count), -1, np.int32)
        left = np.arange(len(mine))
        # First as often as is even, then oftener, and where a split has too few paragraphs, those of all.
        for rows, limit in ((among, often if self.settings.own else None), (among, None), (None, None)):
            if not len(left) or (rows is not None and len(rows) < count):
                continue
            out[left] = build_contexts(
                [self.queries[row] for row in mine[left].tolist()], self.hops[mine[left]], self.single_hop, self.paragraphs, count=count,
                seed=self.seed, ids=self.ids[mine[left]], workers=self.workers, stating=self.stating,
                among=None if rows is None else rows.astype(np.int32), needed=padded([needed[row] for row in left.tolist()]),
                first=padded([first[row] for row in left.tolist()]), often=limit, advance=advance,
            )  # fmt: skip
            left = left[out[left, -1] < 0]
        return out


def _kind(known: Features) -> str:
    """What the last hop asks, without its names."""
    return known.template.rpartition(" / ")[2] if " / " in known.template else known.template
