"""Random draws that depend only on their purpose, the seed and an id: not on order, number of workers or Python's version.

Draws for one question use SHAKE or BLAKE2 of texts: :func:`sample` and :func:`draw` choose among a question's items, and a
:class:`Reservoir` samples a whole set while it is read. Draws for columns use 64-bit hashes (``column_draws.py``, a separate module because
compiled code takes long to import): ``shuffling`` puts the members of each group in random order, ``deal`` gives each a distinct number,
and kernels break ties by ``tie_breaker``. Datasets depend on all of them, so their hashes must never change. Two other modules use
randomness: ``splits/groups.py`` places a group by its text, and bootstraps resample with a NumPy generator, which :func:`draw` may seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b, shake_128
from heapq import heappush, heapreplace
from typing import Generic, TypeVar

Value = TypeVar("Value")


def sample(values: Sequence[Value], count: int, *, purpose: str, seed: int, id: str) -> list[Value]:  # noqa: A002 - what it is drawn for
    """``count`` of ``values`` without repetition, in random order; all of them, shuffled, if ``count`` is their number.

    ``purpose`` makes draws for the same ``id`` and ``seed`` independent. The bias is below 2^-100.
    """
    remaining, number = list(values), draw(purpose=purpose, seed=seed, id=id, draws=count)
    result = []
    for _ in range(count):
        number, place = divmod(number, len(remaining))
        remaining[place], remaining[-1] = remaining[-1], remaining[place]
        result.append(remaining.pop())
    return result


def draw(*, purpose: str, seed: int, id: str, draws: int = 1) -> int:  # noqa: A002 - as above
    """A large random number; remainders of it serve as ``draws`` small random numbers."""
    # Four bytes per draw are more than any list needs; sixteen more make the remainders uniform.
    digest = shake_128(f"{purpose}\0{seed}\0{id}".encode("utf-8", "surrogatepass")).digest(16 + 4 * draws)
    return int.from_bytes(digest, "little")


class Reservoir(Generic[Value]):
    """A uniform sample of at most ``limit`` distinct keys from a stream, each with its smallest value.

    It keeps the keys with the smallest hashes, so order and repetition of keys do not matter.
    """

    def __init__(self, limit: int, *, purpose: str, seed: int, order: Callable[[Value], tuple[str, ...]] | None = None) -> None:
        """``order`` is the sort key for several values of one key; it is needed only if a key has several."""
        self._limit, self._order = limit, order
        self._salt = blake2b(f"{purpose}\0{seed}".encode(), digest_size=16).digest()
        self._values: dict[int, Value] = {}
        self._largest_first: list[int] = []

    def add(self, key: str, value: Value) -> Value | None:
        """Add ``key`` with its ``value``; return the value that does not fit, this one or that of another key, else None."""
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
        """The values of the sample, in the order of their keys' hashes, which is random."""
        return [self._values[rank] for rank in sorted(self._values)]
