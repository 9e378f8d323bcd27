"""The decorator of every compiled loop, without the interpreter lock and with machine code cached on disk; and arrays that kernels grow."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np
from numba import njit
from numba.core.registry import CPUDispatcher
from numba.extending import is_jitted

from kgqa.arrays.cache import KernelCache
from kgqa.stop import MAIN, STOP

P = ParamSpec("P")
R = TypeVar("R")


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A dispatcher that delays signals: an exception between Python and machine code would leave Numba in an undefined state."""

    def __call__(self, *arguments: Any) -> Any:
        if get_ident() != MAIN:
            return _call(self, *arguments)
        STOP.depth += 1
        try:
            return _call(self, *arguments)
        finally:
            STOP.left()


_call = CPUDispatcher.__call__


@overload
def kernel(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def kernel(*, inline: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def kernel(function: Any = None, /, *, inline: bool = False) -> Any:
    """Compile ``function`` on its first call with new argument types, or load its machine code from the cache.

    ``inline`` copies it into the kernels that call it, for functions called per byte or per token. A kernel must be a function of a module
    and may use other kernels, NumPy, and constants that are numbers, dtypes or tuples of them, which
    :func:`~kgqa.arrays.fingerprint.fingerprint` can compare.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher: Any = njit(nogil=True, inline="always" if inline else "never")(function)
        if is_jitted(dispatcher):  # with NUMBA_DISABLE_JIT it is the function itself
            # As Dispatcher.enable_caching() does, but with another cache: Numba's own only notices changes of the kernel's own file.
            dispatcher._cache = KernelCache(dispatcher)
            dispatcher.__class__ = _Kernel
        return dispatcher

    return decorate(function) if function else decorate


@kernel
def grown(array, need):  # type: ignore[no-untyped-def]
    """``array`` itself if it has at least ``need`` rows, else a copy with at least twice as many rows as before; new rows are not set.

    In a loop over single entries, test first whether there is room: passing an array costs more than comparing two numbers.
    """
    if need <= len(array):
        return array
    larger = np.empty((max(need, 2 * len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
