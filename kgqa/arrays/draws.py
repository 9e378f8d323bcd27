"""Random draws that depend on what is drawn for whom, and on nothing else: not on order, number of workers or Python's version.

For one question at a time, from the SHAKE or BLAKE2 of texts: :func:`sample` and :func:`draw` choose among a question's own things, and a
:class:`Reservoir` samples a whole set while it is read. For columns, from 64-bit hashes (``column_draws.py``, apart because compiled code
takes long to import): ``shuffling`` puts the members of each group in a random order, ``deal`` gives each a different number, and kernels
break ties by ``tie_breaker``. Datasets depend on all of them, so each keeps the hash with which it began. What is no choice among things is
elsewhere: ``splits/groups.py`` places a group by its text, and bootstraps resample with a NumPy generator, which :func:`draw` may seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b, shake_128
from heapq import heappush, heapreplace
from typing import Generic, TypeVar

Value = TypeVar("Value")


def sample(values: Sequence[Value], count: int, *, purpose: str, seed: int, id: str) -> list[Value]:  # noqa: A002 - what it is drawn for
    """``count`` of ``values`` without repetition, in random order; all of them, shuffled, where ``count`` is their number.

    ``purpose`` keeps draws apart that are made for the same ``id`` and ``seed``. The bias is below 2^-100.
    """
    left, number = list(values), draw(purpose=purpose, seed=seed, id=id, draws=count)
    drawn = []
    for _ in range(count):
        number, place = divmod(number, len(left))
        left[place], left[-1] = left[-1], left[place]
        drawn.append(left.pop())
    return drawn


def draw(*, purpose: str, seed: int, id: str, draws: int = 1) -> int:  # noqa: A002 - as above
    """A large random number, from which ``draws`` small ones can be taken as remainders."""
    # Four bytes a draw are more than any list needs; sixteen more make the remainders even.
    digest = shake_128(f"{purpose}\0{seed}\0{id}".encode("utf-8", "surrogatepass")).digest(16 + 4 * draws)
    return int.from_bytes(digest, "little")


class Reservoir(Generic[Value]):
    """A sample of at most ``limit`` different keys from a stream, each with the smallest value that came with it.

    Those with the smallest hashes: a uniform sample of the keys, whatever their order and however often each comes.
    """

    def __init__(self, limit: int, *, purpose: str, seed: int, order: Callable[[Value], tuple[str, ...]] | None = None) -> None:
        """Nothing was seen yet. ``order`` says which of two values of a key is smaller; needed unless a key has only one."""
        self._limit, self._order = limit, order
        self._salt = blake2b(f"{purpose}\0{seed}".encode(), digest_size=16).digest()
        self._values: dict[int, Value] = {}
        self._largest_first: list[int] = []

    def add(self, key: str, value: Value) -> Value | None:
        """See ``key``; returns the value that is left out for lack of room, this one or that of another key."""
        rank = int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8, key=self._salt).digest(), "big")
        if rank in self._values:
            if self._order is not None and value != self._values[rank]:
                self._values[rank] = min(self._values[rank], value, key=self._order)
            return None
        if len(self._values) < self._limit:
            self._values[rank] = value
            heappush(self._largest_first, -rank)
            return None
        if not self._limit or rank > -self._largest_first[0]:
            return value
        self._values[rank] = value
        return self._values.pop(-heapreplace(self._largest_first, -rank))

    def values(self) -> list[Value]:
        """The sample, in the order of the hashes, which is a random one."""
        return [self._values[rank] for rank in sorted(self._values)]
