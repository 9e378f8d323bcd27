"""The decorator of every compiled loop: typed, without the interpreter lock, and cached by what the machine code is made from."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, ParamSpec, TypeVar, overload

from numba import njit
from numba.core.registry import CPUDispatcher
from numba.extending import is_jitted

from kgqa.arrays.cache import KernelCache
from kgqa.stop import MAIN, STOP

P = ParamSpec("P")
R = TypeVar("R")


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A dispatcher out of which no signal's exception comes: what Numba does between Python and machine code does not expect one."""

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
    """Compile ``function`` when it is first called with arguments of new types, or take the machine code from the cache.

    ``inline`` puts it into the kernels that call it, for what is called per byte or per token. A kernel stands in a module and uses other
    kernels, NumPy, and numbers, dtypes and tuples of them: things that :func:`~kgqa.arrays.fingerprint.fingerprint` can tell apart.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        made: Any = njit(nogil=True, inline="always" if inline else "never")(function)
        if is_jitted(made):  # with NUMBA_DISABLE_JIT it is the function itself
            # What Dispatcher.enable_caching() does, but for which cache: Numba's own knows a kernel by the one file that it stands in.
            made._cache = KernelCache(made)
            made.__class__ = _Kernel
        return made

    return compiled(function) if function else compiled
