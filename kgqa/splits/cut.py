"""Splits that share nothing at the least cost: where everything hangs together, some questions have to go so that others can part.

Every item (a single-hop question, an answer, a paragraph) is put on one side; a question stays if all its items are on one side, and is
dropped otherwise. That is the cut of a hypergraph whose vertices are the items. A side is grown question by question from one end of the
graph, always by the one that drops least, and then questions that lie across are pulled to either side as long as that saves some. The
paper only says that it searches greedily (Trivedi et al. 2022, step S5); :func:`greedy` is that, to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from kgqa.arrays.hashes import MIX, mixed
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency
from kgqa.splits.components import components_of, deal

DROPPED = -1
STARTS = 8
"""Beginnings that are tried; the best result stays."""
LOOKED_AT = 48
"""Questions that lie across, of which the best is pulled next."""
ROUNDS = 30
BALANCE = 60
"""So many dropped questions it is worth to pull one of a kind of which the side has less than of others."""
NEAR = 0.05
"""A split may be so much larger or smaller than its share, of it, before anything is dropped."""
FAR = 0.5
"""So much where that is less than what mostly hangs together, which moves as a whole."""
Side = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Result of a cut: the split of each question."""

    split: Side
    """For each question its split, or ``DROPPED``."""
    kept: tuple[int, ...]
    """Questions of each split."""

    @property
    def dropped(self) -> int:
        """Questions that are in none."""
        return int((self.split == DROPPED).sum())


def leak_free(items: Adjacency, shares: tuple[float, ...], *, seed: int, kinds: Side | None = None) -> Cut:
    """Put questions into splits of about these ``shares`` of what stays, so that no two splits have an item in common.

    Nothing is dropped where what hangs together is small enough to be dealt out whole. ``items``: question → its items; ``kinds``: for each
    question a small number, of which all splits are to have their share. Memory: some 50 bytes for each item of each question. The same
    result for the same input and seed.
    """
    count = len(items.offsets) - 1
    components = components_of(items) if count else np.zeros(0, np.int32)
    whole = deal(components, shares, seed=seed) if count else np.zeros(0, np.int8)
    kept = np.bincount(whole, minlength=len(shares))
    wanted = np.array(shares) * count
    # Nearer than by one of what hangs together nothing can be that is dealt out whole.
    step = float(np.median(np.bincount(components))) if count else 0.0
    room = np.maximum(np.maximum(1, NEAR * wanted), np.minimum(step, FAR * wanted))
    if (np.abs(kept - wanted) <= room).all():
        return Cut(split=whole, kept=tuple(kept.tolist()))
    return _parted(items, shares, seed, np.zeros(count, np.int8) if kinds is None else kinds, _bisected)


def greedy(items: Adjacency, shares: tuple[float, ...], *, seed: int) -> Cut:
    """The same by one growth alone, without what is mended afterwards."""
    return _parted(items, shares, seed, np.zeros(len(items.offsets) - 1, np.int8), partial(_grown_side, looked_at=1))


def _parted(
    items: Adjacency, shares: tuple[float, ...], seed: int, kinds: Side, bisect: Callable[[Adjacency, float, int, Side], Side]
) -> Cut:
    """The first split from the others, the second one from what is left, and so on."""
    count = len(items.offsets) - 1
    split = np.full(count, DROPPED, np.int8)
    left = np.arange(count)
    for number, share in enumerate(shares[:-1]):
        rest = sum(shares[number:])
        other = 1 - share / rest if rest else 0.0
        if not len(left):
            break
        side = bisect(_compact(items.take(left)), other, seed + number, kinds[left]) if other else np.zeros(len(left), np.int8)
        split[left[side == 0]] = number
        left = left[side == 1]
    split[left] = len(shares) - 1
    return Cut(split=split, kept=tuple(int((split == number).sum()) for number in range(len(shares))))


def _compact(items: Adjacency) -> Adjacency:
    """The same with items numbered from 0."""
    _, numbers = np.unique(items.targets, return_inverse=True)
    return Adjacency(offsets=items.offsets, targets=numbers.astype(np.int32))


def _bisected(items: Adjacency, share: float, seed: int, kinds: Side) -> Side:
    best: Side | None = None
    for start in range(STARTS):
        side = _grown_side(items, share, seed * STARTS + start, kinds, looked_at=LOOKED_AT)
        if best is None or _worth(side, share) > _worth(best, share):
            best = side
    assert best is not None
    return best


def _worth(side: Side, share: float) -> float:
    """Questions that stay, those of the smaller part counted no further than it should be large."""
    one, other = int((side == 0).sum()), int((side == 1).sum())
    wanted = share * (one + other)
    return one + min(other, wanted) - 2 * max(0.0, wanted - other)


def _grown_side(items: Adjacency, share: float, seed: int, kinds: Side, *, looked_at: int) -> Side:
    rows = int(items.targets.max(initial=-1)) + 1
    questions = items.reversed(rows)
    rounds, balance = (ROUNDS, BALANCE) if looked_at > 1 else (0, 0)
    arrays = (items.offsets, items.targets, questions.offsets, questions.targets)
    # An item of more questions than side 1 is to have stays on side 0, and its questions with it.
    fixed = np.zeros(len(items.offsets) - 1, np.bool_)
    fixed[items.sources()[questions.counts()[items.targets] > (1 + NEAR) * share * len(fixed)]] = True
    found: Side = _cut(*arrays, share, np.uint64(seed), looked_at, rounds, kinds, balance, fixed)
    return found


@kernel(inline=True)
def _is_apart(across, offsets, question):  # type: ignore[no-untyped-def]
    """Whether all items of a question are on one side."""
    return across[question] == 0 or across[question] == offsets[question + 1] - offsets[question]


@kernel
def _change(graph, question, to, moving):  # type: ignore[no-untyped-def]
    """How many more questions stay if all items of ``question`` go to side ``to``; nothing is changed.

    ``across``: for each question its items on side 1. ``moving``: for each question a 0, which it is again afterwards.
    """
    offsets, items, question_offsets, questions, side, across = graph
    gain = 0
    for at in range(offsets[question], offsets[question + 1]):
        if side[items[at]] != to:
            for k in range(question_offsets[items[at]], question_offsets[items[at] + 1]):
                moving[questions[k]] += 1
    for at in range(offsets[question], offsets[question + 1]):
        if side[items[at]] == to:
            continue
        for k in range(question_offsets[items[at]], question_offsets[items[at] + 1]):
            other = questions[k]
            if moving[other] == 0:
                continue
            after = across[other] + moving[other] if to == 1 else across[other] - moving[other]
            moving[other] = 0
            whole = offsets[other + 1] - offsets[other]
            gain += int(after == 0 or after == whole) - int(_is_apart(across, offsets, other))  # noqa: PLR1714
    return gain


@kernel
def _move(graph, question, to, kept, kinds):  # type: ignore[no-untyped-def]
    """Do it; ``kept`` (2 × kinds) counts the questions of each side and kind."""
    offsets, items, question_offsets, questions, side, across = graph
    for at in range(offsets[question], offsets[question + 1]):
        item = items[at]
        if side[item] == to:
            continue
        side[item] = to
        for k in range(question_offsets[item], question_offsets[item + 1]):
            other = questions[k]
            whole = offsets[other + 1] - offsets[other]
            kept[0, kinds[other]] -= across[other] == 0
            kept[1, kinds[other]] -= across[other] == whole
            across[other] += 1 if to == 1 else -1
            kept[0, kinds[other]] += across[other] == 0
            kept[1, kinds[other]] += across[other] == whole


@kernel
def _cut(offsets, items, question_offsets, questions, share, seed, looked_at, rounds, kinds, balance, fixed):  # type: ignore[no-untyped-def]
    """For each question its side, or -1: side 1 is grown until it has ``share`` of what stays, and then mended; never by ``fixed`` ones."""
    count = len(offsets) - 1
    side = np.zeros(len(question_offsets) - 1, np.int8)
    across = np.zeros(count, np.int32)
    kept = np.zeros((2, int(kinds.max()) + 1 if count else 1), np.int64)
    for question in range(count):
        kept[0, kinds[question]] += 1
    graph = (offsets, items, question_offsets, questions, side, across)
    _grow(graph, kept, share, mixed(seed + np.uint64(77)), looked_at, kinds, balance, fixed)
    _mend(graph, kept, share, rounds, kinds, fixed)
    out = np.full(count, -1, np.int8)
    for question in range(count):
        if _is_apart(across, offsets, question):
            out[question] = 1 if across[question] else 0
    return out


@kernel
def _grow(graph, kept, share, state, looked_at, kinds, balance, fixed):  # type: ignore[no-untyped-def]
    """Pull questions to side 1: of some that lie across the one that drops least, or of some others where none does."""
    offsets, items, question_offsets, questions, _, across = graph
    count = len(offsets) - 1
    moving = np.zeros(count, np.int32)
    waiting, is_waiting = np.empty(count, np.int32), fixed.copy()
    free = np.flatnonzero(~fixed)  # those that are not known to have anything on side 1
    others = len(free)
    many = 0  # questions that wait: they lay across when they were put there
    while kept[1].sum() < share * kept.sum() and kept[0].sum() > 0:
        chosen, found, best = np.int64(-1), np.int64(-1), -(1 << 60)
        looked = 0
        while looked < looked_at and many > 0:
            state = mixed(state + MIX)
            place = np.int64(state % np.uint64(many))
            question = np.int64(waiting[place])
            if _is_apart(across, offsets, question):
                many -= 1
                waiting[place] = waiting[many]
                is_waiting[question] = False
                continue
            looked += 1
            gain = _change(graph, question, 1, moving)
            if kept[1, kinds[question]] * kept.sum() < kept[1].sum() * kept[:, kinds[question]].sum():
                gain += balance
            if gain > best:
                chosen, best = question, gain
        looked = 0
        while chosen < 0 and looked < looked_at and others > 0:
            state = mixed(state + MIX)
            place = np.int64(state % np.uint64(others))
            question = free[place]
            if across[question] > 0:
                others -= 1
                free[place] = free[others]
                continue
            looked += 1
            gain = _change(graph, question, 1, moving)
            if gain > best:
                found, best = question, gain
        if chosen < 0:
            chosen = found
        if chosen < 0:
            break  # all that is left is fixed
        _move(graph, chosen, 1, kept, kinds)
        for at in range(offsets[chosen], offsets[chosen + 1]):
            for k in range(question_offsets[items[at]], question_offsets[items[at] + 1]):
                other = questions[k]
                if not is_waiting[other] and not _is_apart(across, offsets, other):
                    is_waiting[other] = True
                    waiting[many] = other
                    many += 1


@kernel
def _mend(graph, kept, share, rounds, kinds, fixed):  # type: ignore[no-untyped-def]
    """Pull questions that lie across to either side as long as that saves some and the sides stay about as large as they should be."""
    offsets, across = graph[0], graph[5]
    moving = np.zeros(len(offsets) - 1, np.int32)
    for _ in range(rounds):
        saved = 0
        for question in range(len(offsets) - 1):
            if _is_apart(across, offsets, question):
                continue
            wanted = share * kept.sum()
            first = 1 if kept[1].sum() < wanted else 0
            for turn in range(2):
                to = first if turn == 0 else 1 - first
                room = not fixed[question] and kept[1].sum() < 1.1 * wanted if to == 1 else kept[1].sum() > 0.98 * wanted
                gain = _change(graph, question, to, moving) if room else 0
                if gain > 0:
                    _move(graph, question, to, kept, kinds)
                    saved += gain
                    break
        if saved == 0:
            break
