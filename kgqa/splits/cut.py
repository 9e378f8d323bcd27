"""Splits that share nothing, at the least cost: where all questions are connected, some must be dropped so that the others can be
separated.

Every item (a single-hop question, an answer, a paragraph) is assigned to one side. A question stays if all its items are on one side, and
is dropped otherwise: the cut of a hypergraph whose vertices are the items. A side grows question by question, always by the one that drops
fewest others. Then dropped questions are pulled to either side as long as that saves some. The paper only mentions a greedy search (Trivedi
et al. 2022, step S5); :func:`greedy` is that search, for comparison.
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
"""Random starts; the best result is kept."""
CANDIDATES = 48
"""Dropped questions that are sampled; the best of them is pulled next."""
ROUNDS = 30
BALANCE_BONUS = 60
"""Gain, in questions, that a question gets if its kind is under-represented on the side."""
TOLERANCE = 0.05
"""Relative deviation of a split from its share that is accepted before anything is dropped."""
WIDE_TOLERANCE = 0.5
"""The same, if it is less than the size of a typical component, which moves as a whole."""
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
        """Questions that are in no split."""
        return int((self.split == DROPPED).sum())


def leak_free(items: Adjacency, shares: tuple[float, ...], *, seed: int, kinds: Side | None = None) -> Cut:
    """Assign questions to splits of about these ``shares``, so that no two splits have an item in common.

    Nothing is dropped if the components are small enough to be assigned whole. ``items``: question → its items. ``kinds``: a small number
    per question; each split gets its share of every kind. Memory: about 50 bytes per item of a question. Deterministic for an input and a
    seed.
    """
    count = len(items.offsets) - 1
    components = components_of(items) if count else np.zeros(0, np.int32)
    dealt = deal(components, shares, seed=seed) if count else np.zeros(0, np.int8)
    sizes = np.bincount(dealt, minlength=len(shares))
    targets = np.array(shares) * count
    # Nearer than by one of what hangs together nothing can be that is dealt out whole.
    step = float(np.median(np.bincount(components))) if count else 0.0
    room = np.maximum(np.maximum(1, TOLERANCE * targets), np.minimum(step, WIDE_TOLERANCE * targets))
    if (np.abs(sizes - targets) <= room).all():
        return Cut(split=dealt, kept=tuple(sizes.tolist()))
    return _split_one_by_one(items, shares, seed, np.zeros(count, np.int8) if kinds is None else kinds, _best_side)


def greedy(items: Adjacency, shares: tuple[float, ...], *, seed: int) -> Cut:
    """The same by one greedy growth, without refinement."""
    return _split_one_by_one(items, shares, seed, np.zeros(len(items.offsets) - 1, np.int8), partial(_side_of_growth, sample_size=1))


def _split_one_by_one(
    items: Adjacency, shares: tuple[float, ...], seed: int, kinds: Side, bisect: Callable[[Adjacency, float, int, Side], Side]
) -> Cut:
    """Separate the first split from the rest, the second from what remains, and so on."""
    count = len(items.offsets) - 1
    split = np.full(count, DROPPED, np.int8)
    rows_left = np.arange(count)
    for number, share in enumerate(shares[:-1]):
        remaining_share = sum(shares[number:])
        share_of_rest = 1 - share / remaining_share if remaining_share else 0.0
        if not len(rows_left):
            break
        side = (
            bisect(_renumbered_items(items.take(rows_left)), share_of_rest, seed + number, kinds[rows_left])
            if share_of_rest
            else np.zeros(len(rows_left), np.int8)
        )
        split[rows_left[side == 0]] = number
        rows_left = rows_left[side == 1]
    split[rows_left] = len(shares) - 1
    return Cut(split=split, kept=tuple(int((split == number).sum()) for number in range(len(shares))))


def _renumbered_items(items: Adjacency) -> Adjacency:
    """The same items, numbered from 0."""
    _, numbers = np.unique(items.targets, return_inverse=True)
    return Adjacency(offsets=items.offsets, targets=numbers.astype(np.int32))


def _best_side(items: Adjacency, share: float, seed: int, kinds: Side) -> Side:
    best: Side | None = None
    for attempt in range(STARTS):
        side = _side_of_growth(items, share, seed * STARTS + attempt, kinds, sample_size=CANDIDATES)
        if best is None or _kept_questions(side, share) > _kept_questions(best, share):
            best = side
    assert best is not None
    return best


def _kept_questions(side: Side, share: float) -> float:
    """Questions that stay; the smaller side counts up to its target size, and a deficit counts twice against the cut."""
    first_size, second_size = int((side == 0).sum()), int((side == 1).sum())
    target = share * (first_size + second_size)
    return first_size + min(second_size, target) - 2 * max(0.0, target - second_size)


def _side_of_growth(items: Adjacency, share: float, seed: int, kinds: Side, *, sample_size: int) -> Side:
    rows = int(items.targets.max(initial=-1)) + 1
    questions = items.reversed(rows)
    rounds, balance = (ROUNDS, BALANCE_BONUS) if sample_size > 1 else (0, 0)
    arrays = (items.offsets, items.targets, questions.offsets, questions.targets)
    # An item of more questions than side 1 is to have stays on side 0, and its questions with it.
    is_fixed = np.zeros(len(items.offsets) - 1, np.bool_)
    is_fixed[items.sources()[questions.counts()[items.targets] > (1 + TOLERANCE) * share * len(is_fixed)]] = True
    return _bisect(*arrays, share, np.uint64(seed), sample_size, rounds, kinds, balance, is_fixed)


@kernel(inline=True)
def _is_on_one_side(across, offsets, question):  # type: ignore[no-untyped-def]
    """Whether all items of a question are on one side."""
    return across[question] == 0 or across[question] == offsets[question + 1] - offsets[question]


@kernel
def _gain_of_move(graph, question, target_side, moving_rows):  # type: ignore[no-untyped-def]
    """How many more questions stay if all items of ``question`` go to ``target_side``; nothing is changed.

    ``across``: for each question its number of items on side 1. ``moving_rows``: for each question a 0, and 0 again afterwards.
    """
    offsets, items, question_offsets, questions, side, across = graph
    gain = 0
    for at in range(offsets[question], offsets[question + 1]):
        if side[items[at]] != target_side:
            for k in range(question_offsets[items[at]], question_offsets[items[at] + 1]):
                moving_rows[questions[k]] += 1
    for at in range(offsets[question], offsets[question + 1]):
        if side[items[at]] == target_side:
            continue
        for k in range(question_offsets[items[at]], question_offsets[items[at] + 1]):
            neighbour = questions[k]
            if moving_rows[neighbour] == 0:
                continue
            on_side_one = across[neighbour] + moving_rows[neighbour] if target_side == 1 else across[neighbour] - moving_rows[neighbour]
            moving_rows[neighbour] = 0
            item_count = offsets[neighbour + 1] - offsets[neighbour]
            gain += int(on_side_one == 0 or on_side_one == item_count) - int(_is_on_one_side(across, offsets, neighbour))  # noqa: PLR1714
    return gain


@kernel
def _move(graph, question, target_side, sizes, kinds):  # type: ignore[no-untyped-def]
    """Move all items of ``question`` to ``target_side``; ``sizes`` (2 × kinds) counts the questions of each side and kind."""
    offsets, items, question_offsets, questions, side, across = graph
    for at in range(offsets[question], offsets[question + 1]):
        item = items[at]
        if side[item] == target_side:
            continue
        side[item] = target_side
        for k in range(question_offsets[item], question_offsets[item + 1]):
            neighbour = questions[k]
            item_count = offsets[neighbour + 1] - offsets[neighbour]
            sizes[0, kinds[neighbour]] -= across[neighbour] == 0
            sizes[1, kinds[neighbour]] -= across[neighbour] == item_count
            across[neighbour] += 1 if target_side == 1 else -1
            sizes[0, kinds[neighbour]] += across[neighbour] == 0
            sizes[1, kinds[neighbour]] += across[neighbour] == item_count


@kernel
def _bisect(offsets, items, question_offsets, questions, share, seed, sample_size, rounds, kinds, balance, is_fixed):  # type: ignore[no-untyped-def]
    """For each question its side, or -1. Side 1 grows to ``share`` of the kept questions, then is refined; ``is_fixed`` questions stay on
    side 0.
    """
    count = len(offsets) - 1
    side = np.zeros(len(question_offsets) - 1, np.int8)
    across = np.zeros(count, np.int32)
    sizes = np.zeros((2, int(kinds.max()) + 1 if count else 1), np.int64)
    for question in range(count):
        sizes[0, kinds[question]] += 1
    graph = (offsets, items, question_offsets, questions, side, across)
    _grow_side(graph, sizes, share, mixed(seed + np.uint64(77)), sample_size, kinds, balance, is_fixed)
    _refine(graph, sizes, share, rounds, kinds, is_fixed)
    out = np.full(count, -1, np.int8)
    for question in range(count):
        if _is_on_one_side(across, offsets, question):
            out[question] = 1 if across[question] else 0
    return out


@kernel
def _grow_side(graph, sizes, share, state, sample_size, kinds, balance, is_fixed):  # type: ignore[no-untyped-def]
    """Pull questions to side 1: the best of some sampled questions that are cut, or of some others if none is cut."""
    offsets, items, question_offsets, questions, _, across = graph
    count = len(offsets) - 1
    moving_rows = np.zeros(count, np.int32)
    queue, is_queued = np.empty(count, np.int32), is_fixed.copy()
    free_questions = np.flatnonzero(~is_fixed)  # no item of theirs is known to be on side 1
    free_count = len(free_questions)
    waiting_count = 0  # queued questions; each was cut when it was queued
    while sizes[1].sum() < share * sizes.sum() and sizes[0].sum() > 0:
        best_item, fallback, best_gain = np.int64(-1), np.int64(-1), -(1 << 60)
        # Prefer questions that are cut already: they are dropped unless they are pulled. A sample is enough, and keeps a step O(1).
        sample_count = 0
        while sample_count < sample_size and waiting_count > 0:
            state = mixed(state + MIX)
            position = np.int64(state % np.uint64(waiting_count))
            question = np.int64(queue[position])
            if _is_on_one_side(across, offsets, question):
                # Earlier moves have decided it. The last of the queue takes its position, so that sampling stays uniform.
                waiting_count -= 1
                queue[position] = queue[waiting_count]
                is_queued[question] = False
                continue
            sample_count += 1
            gain = _gain_of_move(graph, question, 1, moving_rows)
            # The kind's share on side 1 is below the kind's share overall; in integers, without a division.
            if sizes[1, kinds[question]] * sizes.sum() < sizes[1].sum() * sizes[:, kinds[question]].sum():
                gain += balance
            if gain > best_gain:
                best_item, best_gain = question, gain
        # At the start, and whenever a component is finished, nothing is cut: begin elsewhere, where least is lost.
        sample_count = 0
        while best_item < 0 and sample_count < sample_size and free_count > 0:
            state = mixed(state + MIX)
            position = np.int64(state % np.uint64(free_count))
            question = free_questions[position]
            if across[question] > 0:
                free_count -= 1
                free_questions[position] = free_questions[free_count]
                continue
            sample_count += 1
            gain = _gain_of_move(graph, question, 1, moving_rows)
            if gain > best_gain:
                fallback, best_gain = question, gain
        if best_item < 0:
            best_item = fallback
        if best_item < 0:
            break  # only fixed questions are left
        _move(graph, best_item, 1, sizes, kinds)
        # Questions that share an item with it may be cut now.
        for at in range(offsets[best_item], offsets[best_item + 1]):
            for k in range(question_offsets[items[at]], question_offsets[items[at] + 1]):
                neighbour = questions[k]
                if not is_queued[neighbour] and not _is_on_one_side(across, offsets, neighbour):
                    is_queued[neighbour] = True
                    queue[waiting_count] = neighbour
                    waiting_count += 1


@kernel
def _refine(graph, sizes, share, rounds, kinds, is_fixed):  # type: ignore[no-untyped-def]
    """Pull cut questions to either side as long as that saves questions and the sides keep about their sizes."""
    offsets, across = graph[0], graph[5]
    moving_rows = np.zeros(len(offsets) - 1, np.int32)
    for _ in range(rounds):
        total_gain = 0
        for question in range(len(offsets) - 1):
            if _is_on_one_side(across, offsets, question):
                continue
            # Try the side that is too small first, then the other, within a tolerance of its size.
            target = share * sizes.sum()
            smaller_side = 1 if sizes[1].sum() < target else 0
            for turn in range(2):
                target_side = smaller_side if turn == 0 else 1 - smaller_side
                has_room = not is_fixed[question] and sizes[1].sum() < 1.1 * target if target_side == 1 else sizes[1].sum() > 0.98 * target
                gain = _gain_of_move(graph, question, target_side, moving_rows) if has_room else 0
                if gain > 0:
                    _move(graph, question, target_side, sizes, kinds)
                    total_gain += gain
                    break
        if total_gain == 0:
            break
