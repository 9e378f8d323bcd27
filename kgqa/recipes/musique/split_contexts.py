"""Step S6 (Trivedi et al. 2022): contexts for each split, with distractors from the split's own paragraphs.

Each paragraph serves as a distractor about as often as it supports, so that frequency does not reveal the supporting ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.parallel import Engine
from kgqa.recipes.musique.balance import Features
from kgqa.recipes.musique.contexts import Rows2, Stating, build_contexts
from kgqa.recipes.musique.rivals import Rivals, padded
from kgqa.settings.musique import ContextSettings

FEW_PARAGRAPHS = "too few paragraphs do not state an answer"
"""Why a chain has no context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitContexts:
    """The chains that need a context, and the pool of paragraphs."""

    queries: list[str]
    hops: Rows2
    ids: npt.NDArray[np.uint64]
    split: npt.NDArray[np.int8]
    features: Sequence[Features]
    single_hop: pa.Table
    paragraphs: pa.Table
    stating: Stating
    rivals: Rivals
    settings: ContextSettings
    seed: int
    engine: Engine

    def contexts(self, count: int, advance: Callable[[int], None]) -> Rows2:
        """``count`` rows of paragraphs for each chain; -1 in the last column where too few fit."""
        out = np.full((len(self.hops), count), -1, np.int32)
        paragraph = self.single_hop["paragraph"].to_numpy()
        is_hop = self.hops >= 0
        uses = np.zeros((3, len(self.paragraphs)), np.int64)
        np.add.at(uses, (np.broadcast_to(self.split[:, None], self.hops.shape)[is_hop], paragraph[self.hops[is_hop]]), 1)
        for number in range(3):
            members = np.flatnonzero(self.split == number)
            if not len(members):
                continue
            among = np.flatnonzero(uses[number] > 0) if self.settings.own else np.arange(len(self.paragraphs))
            out[members] = self._of_split(members, among, uses[number], count, advance)
        return out

    def lacking(self, contexts: Rows2) -> npt.NDArray[np.bool_]:
        """For each chain, whether one of its branches has no rival in its context. Shape: chains."""
        out = np.zeros(len(contexts), np.bool_)
        for row, rows in enumerate(contexts.tolist()):
            context = set(rows)
            out[row] = any(not context & branch for branch in self.rivals.branches([hop for hop in self.hops[row].tolist() if hop >= 0]))
        return out

    def _of_split(
        self, members: npt.NDArray[np.int64], among: npt.NDArray[np.int64], uses: npt.NDArray[np.int64],
        count: int, advance: Callable[[int], None],
    ) -> Rows2:  # fmt: skip
        total = int(uses.sum())
        share = (count * len(members) - total) / max(1, total)
        often = np.ceil(self.settings.reuse * share * uses).astype(np.int32)
        may = np.zeros(len(self.paragraphs), np.bool_)
        may[among] = True
        hops = [[hop for hop in hop_rows if hop >= 0] for hop_rows in self.hops[members].tolist()]
        names = [f"{int(self.ids[row]):016x}" for row in members.tolist()]
        like: dict[str, set[int]] = defaultdict(set)
        paragraph = self.single_hop["paragraph"].to_pylist()
        for row, hop_rows in zip(members.tolist(), hops, strict=True):
            like[_kind(self.features[row])].add(paragraph[hop_rows[-1]])
        # The rival of a branch may come from another split: it is one or two of twenty paragraphs.
        anywhere = np.ones(len(self.paragraphs), np.bool_)
        required_rivals = [
            self.rivals.required(name, hop_rows, anywhere, seed=self.seed) for name, hop_rows in zip(names, hops, strict=True)
        ]
        first = [
            self.rivals.first(name, hop_rows, like[_kind(self.features[row])], may, self.settings, seed=self.seed)
            for name, row, hop_rows in zip(names, members.tolist(), hops, strict=True)
        ]
        out = np.full((len(members), count), -1, np.int32)
        pending_rows = np.arange(len(members))
        # First respect the limit, then ignore it; where a split has too few paragraphs, use those of all splits.
        for rows, limit in ((among, often if self.settings.own else None), (among, None), (None, None)):
            if not len(pending_rows) or (rows is not None and len(rows) < count):
                continue
            out[pending_rows] = build_contexts(
                [self.queries[row] for row in members[pending_rows].tolist()], self.hops[members[pending_rows]], self.single_hop,
                self.paragraphs, count=count, seed=self.seed, ids=self.ids[members[pending_rows]], engine=self.engine,
                stating=self.stating, among=None if rows is None else rows.astype(np.int32),
                required=padded([required_rivals[row] for row in pending_rows.tolist()]),
                first=padded([first[row] for row in pending_rows.tolist()]), often=limit, advance=advance,
            )  # fmt: skip
            pending_rows = pending_rows[out[pending_rows, -1] < 0]
        return out


def _kind(features: Features) -> str:
    """The template of the last hop, without its names."""
    return features.template.rpartition(" / ")[2] if " / " in features.template else features.template
